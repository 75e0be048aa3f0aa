//! Files that a program reads unasked, each form converted to a text in a supported language: notebooks, task lists,
//! builds in languages without a parser of their own.

use super::language::language_by_itself;
use super::quotes;
use crate::analysis::compiled;
use crate::analysis::config_files;
use crate::text::command_lines::command_lines;
use crate::text::yaml;
use reflex_shell::{ExecTarget, Language, work};
use reflex_tables::Tables;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a file that a command requests.
pub(super) struct Wanted {
    /// The command's words, including names of tasks.
    pub(super) names: Vec<String>,
    /// Variables that the call sets, in addition to those among its words.
    pub(super) assignments: Vec<(String, String)>,
    /// Whether only named tasks run.
    pub(super) only: bool,
    /// Arguments passed to a Python task.
    pub(super) arguments: &'static str,
}

/// The tables, the path of a file and its content.
type File<'f> = (Tables, &'f str, &'f str);

/// Returns the parts of a file that run, and their language.
pub(super) fn read(form: &str, file: File<'_>, wanted: &Wanted) -> Option<(Language, String)> {
    let (tables, path, text) = file;
    work::spend_bytes(text.len(), 40);
    let shell = |text: String| Some((Language::Shell, text));
    match form {
        "compiled" => shell(compiled::commands(text)),
        "calls" => {
            let text = if wanted.only { chosen(text, &wanted.names) } else { text.to_owned() };
            shell(compiled::commands_of_calls(&text))
        }
        "notebook" => Some((Language::Python, notebook(text))),
        "keys" => shell(config_files::commands::commands_of(tables, path, text)),
        "texts" => shell(quotes::commands_in_quotes(tables, path, text)),
        "processes" => shell(processes(text)),
        "settings" => shell(settings(tables, path, text, ExecTarget::Here)),
        "workflow" => shell(settings(tables, path, text, ExecTarget::Remote)),
        "taskfile" => shell(taskfile(text, wanted)),
        "toml-tasks" => shell(toml_tasks(text, &wanted.names)),
        "commands" => shell(listed_commands(text)),
        "marked" => shell(command_lines(text).into_iter().map(|(_, line)| format!("( {line}\n)\n")).collect()),
        "generate" => shell(directives(text)),
        "debugger" => shell(debugger(text)),
        "bundler" => Some((Language::JavaScript, emptied(text)?)),
        "itself" => Some((language_by_itself(path, text)?, text.to_owned())),
        "ruby" if wanted.only => Some((Language::Ruby, chosen(text, &wanted.names))),
        "python" if !wanted.arguments.is_empty() => Some((Language::Python, called(text, wanted))),
        form => Some((Language::named(form)?, text.to_owned())),
    }
}

/// Returns the code of a notebook's cells. `!x` and `%%bash` are shell code.
fn notebook(text: &str) -> String {
    let Ok(json) = serde_json::from_str::<Json>(text) else { return String::new() };
    let mut code = String::new();
    for cell in json.get("cells").and_then(Json::as_array).into_iter().flatten() {
        if cell.get("cell_type").and_then(Json::as_str) != Some("code") {
            continue;
        }
        let source = match cell.get("source") {
            Some(Json::Array(lines)) => lines.iter().filter_map(Json::as_str).collect::<String>(),
            Some(Json::String(text)) => text.clone(),
            _ => continue,
        };
        if let Some(script) = source.strip_prefix("%%bash").or_else(|| source.strip_prefix("%%sh")) {
            let script = script.split_once('\n').map_or("", |(_, script)| script);
            code.push_str(&format!("import os\nos.system({})\n", Json::from(script)));
            continue;
        }
        for line in source.lines() {
            match line.trim_start().strip_prefix('!') {
                Some(command) => code.push_str(&format!("__import__('os').system({})\n", Json::from(command))),
                None if line.trim_start().starts_with('%') => {}
                None => code.extend([line, "\n"]),
            }
        }
    }
    code
}

/// Returns the commands in settings that are also read when they are written.
fn settings(tables: Tables, path: &str, text: &str, site: ExecTarget) -> String {
    let later = config_files::deferred(tables, path, text).unwrap_or_default();
    let shell_scripts = later.scripts.iter().filter(|script| script.language == Language::Shell);
    shell_scripts.filter(|script| script.site == site).map(|script| format!("( {}\n)\n", script.text)).collect()
}

/// Returns the named tasks of a Taskfile, with their dependencies.
fn taskfile(text: &str, wanted: &Wanted) -> String {
    let mut tasks: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    // A word of the call takes precedence over a variable of the file, and that over the environment.
    let set = wanted.names.iter().filter_map(|word| word.split_once('='));
    let mut names: Vec<(String, String)> = set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    names.push(("CLI_ARGS".to_owned(), "$@".to_owned()));
    for (keys, value) in yaml::entries(text) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        match keys.as_slice() {
            ["vars" | "env", name] => names.push(((*name).to_owned(), value)),
            ["tasks", name, "vars" | "env", inner] => {
                tasks.entry((*name).to_owned()).or_default();
                names.push(((*inner).to_owned(), value));
            }
            ["tasks", name, "deps"] | ["tasks", name, "deps" | "cmds", "task"] => {
                let needs = value.split(|ch: char| " ,[]\"'{}".contains(ch)).filter(|need| !need.is_empty());
                tasks.entry((*name).to_owned()).or_default().0.extend(needs.map(str::to_owned));
            }
            ["tasks", name, "cmds" | "cmd"] | ["tasks", name, "cmds", "cmd" | "defer"] | ["tasks", name]
                if !value.is_empty() =>
            {
                let lines = &mut tasks.entry((*name).to_owned()).or_default().1;
                match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
                    Some(list) => lines.extend(texts_of(list).map(str::to_owned)),
                    None => lines.push(value),
                }
            }
            _ => {}
        }
    }
    names.extend(wanted.assignments.iter().cloned());
    let mut waiting: Vec<String> = wanted.names.iter().filter(|name| tasks.contains_key(*name)).cloned().collect();
    if waiting.is_empty() {
        waiting.push("default".to_owned());
    }
    let (mut done, mut script) = (BTreeSet::new(), String::new());
    while let Some(name) = waiting.pop() {
        let Some((needs, lines)) = tasks.get(&name).filter(|_| done.insert(name.clone())) else { continue };
        script.extend(lines.iter().map(|line| format!("( {}\n)\n", with_names(line, &names))));
        waiting.extend(needs.iter().cloned());
    }
    script
}

/// Replaces `{{.NAME}}` by its value.
fn with_names(line: &str, names: &[(String, String)]) -> String {
    let mut line = line.replace("{{ .", "{{.").replace(" }}", "}}");
    for (name, value) in names {
        if !work::spend_bytes(line.len(), 2) {
            break;
        }
        line = line.replace(&format!("{{{{.{name}}}}}"), value);
    }
    line
}

/// Returns the tasks of a TOML file: `[tasks.NAME]` with `run`, or `NAME = "…"` below `[tasks]`.
fn toml_tasks(text: &str, wanted: &[String]) -> String {
    let mut section = "";
    let mut script = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let task = section.rsplit_once("tasks").map_or("", |(_, name)| name.trim_matches(['.', '"', '\'']));
        let name = if task.is_empty() { key.trim() } else { task };
        let runs = section.contains("tasks") && (task.is_empty() || matches!(key.trim(), "run" | "cmd" | "shell"));
        if runs && wanted.iter().any(|wanted| wanted == name) {
            script.extend(texts_of(value).map(|text| format!("( {text}\n)\n")));
        }
    }
    script
}

/// Returns the quoted strings of a value.
fn texts_of(value: &str) -> impl Iterator<Item = &str> {
    let quote = if value.trim_start().trim_start_matches('[').trim_start().starts_with('\'') { '\'' } else { '"' };
    value.split(quote).skip(1).step_by(2)
}

/// Returns the lines below `commands =`, in the format of tox.
fn listed_commands(text: &str) -> String {
    let mut script = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        let is_deeper = line.starts_with([' ', '\t']);
        let (key, value) = line.split_once('=').unwrap_or(("", ""));
        if !is_deeper {
            is_inside = matches!(key.trim(), "commands" | "commands_pre" | "commands_post");
        }
        let command = if is_deeper { line.trim() } else { value.trim() };
        if is_inside && !command.is_empty() && !command.starts_with('#') {
            script.push_str(&format!("( {}\n)\n", command.trim_start_matches(['-', '!', ' '])));
        }
    }
    script
}

/// Returns the processes of a Procfile: `web: COMMAND`.
fn processes(text: &str) -> String {
    let commands = text.lines().filter_map(|line| line.split_once(": "));
    commands.map(|(_, command)| format!("( {command}\n)\n")).collect()
}

/// Returns the commands of `//go:generate COMMAND` lines.
fn directives(text: &str) -> String {
    let commands = text.lines().filter_map(|line| line.strip_prefix("//go:generate "));
    commands.map(|command| format!("( {command}\n)\n")).collect()
}

/// Keys that make a bundler empty a folder first, each with the key of that folder.
const EMPTIED: [(&str, &str); 2] = [("emptyOutDir", "outDir"), ("clean", "path")];

/// Returns the settings of a bundler, followed by the deletion of the folder that it empties. The folder's value is
/// evaluated with the names of the file.
fn emptied(text: &str) -> Option<String> {
    let value = |key: &str| {
        let mut places = text.match_indices(key).map(|(at, _)| text.split_at(at));
        places.find_map(|(before, rest)| {
            let is_key = !before.ends_with(|ch: char| ch.is_alphanumeric() || "_.$".contains(ch));
            let value = rest.get(key.len()..)?.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')?;
            is_key.then(|| expression(value.trim_start()))
        })
    };
    let folder =
        EMPTIED.iter().find_map(|(empties, folder)| value(folder).filter(|_| value(empties) == Some("true")))?;
    // The settings themselves are read as code elsewhere; only their names count here.
    Some(format!("{text}\n;require('fs').rmSync({folder}, {{recursive: true}});\n"))
}

/// Returns the expression at the start of a text, up to the comma or bracket that ends it.
fn expression(text: &str) -> &str {
    let mut depth = 0_usize;
    let end = text.find(|ch: char| {
        let ends = depth == 0 && matches!(ch, ',' | '}' | '\n' | ';' | ')' | ']');
        depth += usize::from(matches!(ch, '(' | '[' | '{'));
        depth = depth.saturating_sub(usize::from(matches!(ch, ')' | ']' | '}')));
        ends
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or("").trim_end()
}

/// Returns the commands that a debugger's script passes to a shell.
fn debugger(text: &str) -> String {
    let words = ["shell ", "!", "pipe ", "platform shell ", "make "];
    let command = |line: &str| {
        let word = words.iter().find(|word| line.starts_with(**word))?;
        Some(format!("( {}\n)\n", if *word == "make " { line } else { line.get(word.len()..)? }))
    };
    text.lines().map(str::trim).filter_map(command).collect()
}

/// Returns a Python task file followed by calls of the requested tasks.
fn called(text: &str, wanted: &Wanted) -> String {
    let mut calls = String::new();
    let mut is_task = false;
    for line in text.lines() {
        if line.starts_with('@') {
            is_task |= line.contains("task") || line.contains("session") || line.contains("command");
        } else if let Some(rest) = line.strip_prefix("def ") {
            let name = rest.split(['(', ' ']).next().unwrap_or("");
            let stated = |wanted: &String| wanted.replace('-', "_") == name;
            if std::mem::take(&mut is_task) && wanted.names.iter().any(stated) {
                calls.push_str(&format!("{name}({})\n", wanted.arguments));
            }
        }
    }
    format!("{text}\n{calls}")
}

/// Returns a build file without the blocks of tasks that are neither named nor needed by a named task. A block begins
/// with `task` and ends in the same column.
fn chosen(text: &str, wanted: &[String]) -> String {
    let last = |name: &str| name.rsplit(':').next().unwrap_or(name).to_owned();
    let mut meant: BTreeSet<String> = wanted.iter().map(|name| last(name)).collect();
    if meant.is_empty() {
        meant.insert("default".to_owned());
    }
    let lines: Vec<&str> = text.lines().collect();
    // The dependencies of a task are on its first line.
    for line in lines.iter().rev().chain(&lines) {
        if let Some((name, needs)) = task_on(line).filter(|(name, _)| meant.contains(name)) {
            drop(name);
            meant.extend(needs);
        }
    }
    let mut kept = String::with_capacity(text.len());
    let mut skips: Option<usize> = None;
    for line in lines {
        let column = line.len() - line.trim_start().len();
        if let Some(begin) = skips {
            let ends = column == begin && (line.trim_start().starts_with("end") || line.trim_start().starts_with('}'));
            if ends {
                skips = None;
            }
            continue;
        }
        let opens = line.trim_end().ends_with(['{', '|']) || line.trim_end().ends_with(" do");
        if let Some((name, _)) = task_on(line)
            && opens
            && !meant.contains(&name)
        {
            skips = Some(column);
            continue;
        }
        kept.extend([line, "\n"]);
    }
    kept
}

/// Returns the task that a line begins, and the other names on the line.
fn task_on(line: &str) -> Option<(String, Vec<String>)> {
    let line = line.trim_start();
    let rest = ["task ", "task(", "tasks.register(", "tasks.register<", "tasks.create("]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let rest = rest.split_once('>').filter(|_| line.starts_with("tasks.register<")).map_or(rest, |(_, rest)| rest);
    let mut names = rest
        .split(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-'))
        .filter(|name| !name.is_empty())
        .map(str::to_owned);
    Some((names.next()?, names.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: &str, text: &str, names: &[&str], expected: &str) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let wanted = Wanted { names, assignments: Vec::new(), only: true, arguments: "" };
        let read = read(form, (Tables::EMPTY, "/repo/x", text), &wanted).map(|(_, text)| text);
        assert_eq!(read.unwrap_or_default(), expected, "{form}");
    }

    #[test]
    fn only_what_is_named_runs() {
        let text =
            "vars:\n  D: x\ntasks:\n  a:b:\n    deps: [c]\n    cmds:\n      - rm {{ .D }}\n  c: rm c\n  d: rm d\n";
        check("taskfile", text, &["a:b"], "( rm x\n)\n( rm c\n)\n");
        check("taskfile", text, &[], "");
        check("toml-tasks", "[tasks.a]\nrun = [\"rm a\", \"rm b\"]\n[tasks]\nc = \"rm c\"\n", &["c"], "( rm c\n)\n");
        let text = "task a: [:b] do\n  x\nend\ntask :b do\n  y\nend\ntask :c do\n  z\nend\nw\n";
        check("ruby", text, &["n:a"], "task a: [:b] do\n  x\nend\ntask :b do\n  y\nend\nw\n");
    }

    #[test]
    fn what_runs_of_other_files() {
        check(
            "commands",
            "[testenv]\ndeps = x\ncommands =\n    - rm a\n    rm b\n[x]\n",
            &[],
            "( rm a\n)\n( rm b\n)\n",
        );
        check("generate", "package a\n//go:generate rm a\n// go:generate rm b\n", &[], "( rm a\n)\n");
        check("debugger", "shell rm a\nset x\n!rm b\n", &[], "( rm a\n)\n( rm b\n)\n");
        check("notebook", "no json", &[], "");
        check("bundler", "{ outDir: 'a', emptyOutDir: false }", &[], "");
        let text = "{ outDir: join(h(), 'a'), emptyOutDir: true }";
        check("bundler", text, &[], &format!("{text}\n;require('fs').rmSync(join(h(), 'a'), {{recursive: true}});\n"));
    }
}
