//! Tasks that a project defines in a file of its own: the commands of `make clean` or `npm run build`.

use reflex_shell::work;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of tasks followed for one call. Exceeding it is reported.
const MAX_TASKS: usize = 8192;

/// Maximum depth of variables whose values contain variables. Exceeding it is reported.
const MAX_ROUNDS: usize = 64;

/// Maximum length in bytes of a line with its variables expanded. Exceeding it is reported.
const MAX_LINE: usize = 64 * 1024;

/// Instructions for reading a byte of such a file.
const READ: u64 = 40;

/// A kind of file that defines tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskFile {
    Makefile,
    Justfile,
    Package,
    Composer,
}

impl TaskFile {
    /// Returns the kind that a `run-task` effect names by one of its flags.
    pub(crate) fn named(flags: &[&str]) -> Option<TaskFile> {
        flags.iter().find_map(|flag| match *flag {
            "makefile" => Some(TaskFile::Makefile),
            "justfile" => Some(TaskFile::Justfile),
            "package" => Some(TaskFile::Package),
            "composer" => Some(TaskFile::Composer),
            _ => None,
        })
    }

    /// Names of the file, in order of precedence.
    pub(crate) fn file_names(self) -> &'static [&'static str] {
        match self {
            TaskFile::Makefile => &["GNUmakefile", "makefile", "Makefile"],
            TaskFile::Justfile => &["justfile", "Justfile", ".justfile"],
            TaskFile::Package => &["package.json"],
            TaskFile::Composer => &["composer.json"],
        }
    }

    /// Returns the shell text of all tasks that run only by name, without those that an install runs.
    pub(crate) fn others(self, text: &str) -> String {
        let lifecycle: &[&str] = match self {
            TaskFile::Package => &LIFECYCLE,
            TaskFile::Composer => &COMPOSER_LIFECYCLE,
            TaskFile::Makefile | TaskFile::Justfile => return String::new(),
        };
        let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else { return String::new() };
        let scripts = package.get("scripts").and_then(serde_json::Value::as_object);
        let called = scripts.into_iter().flatten().filter(|(name, _)| !lifecycle.contains(&name.as_str()));
        called.flat_map(|(_, script)| commands(script)).map(|text| format!("( {text}\n)\n")).collect()
    }

    /// Returns the shell text of these tasks and of their dependencies, or of the file's first task if none is named.
    /// The words that the call passes to the task are its positional parameters.
    pub(crate) fn recipe(self, text: &str, wanted: &[String]) -> String {
        work::spend_bytes(text.len(), READ);
        match self {
            TaskFile::Makefile => lines_of(&makefile(text, wanted), wanted),
            TaskFile::Justfile => lines_of(&justfile(text, wanted.first()), wanted),
            TaskFile::Package => package(text, wanted, &LIFECYCLE),
            TaskFile::Composer => package(text, wanted, &COMPOSER_LIFECYCLE),
        }
    }
}

/// A task: its dependencies, and its lines, each of which runs in a shell of its own.
#[derive(Debug, Default)]
struct Task {
    needs: Vec<String>,
    lines: Vec<String>,
    /// The parameters of a recipe in a justfile, with their defaults.
    parameters: Vec<(String, String)>,
}

#[derive(Default)]
struct Tasks {
    first: Option<String>,
    tasks: BTreeMap<String, Task>,
    /// The variables of a makefile; `None` for other files, where a dollar sign is the shell's.
    variables: Option<BTreeMap<String, String>>,
}

fn lines_of(file: &Tasks, wanted: &[String]) -> String {
    let mut waiting: Vec<String> = wanted.iter().filter(|name| !name.contains('=')).rev().cloned().collect();
    if waiting.is_empty() {
        waiting.extend(file.first.clone());
    }
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut text = String::new();
    while let Some(name) = waiting.pop() {
        let Some(task) = file.tasks.get(&name) else { continue };
        if done.contains(&name) {
            continue;
        }
        if done.len() >= MAX_TASKS {
            work::cut(|| format!("more than {MAX_TASKS} tasks would run"));
            break;
        }
        for line in &task.lines {
            let lines = file.variables.as_ref().map(|variables| put_in(line, variables));
            let lines = lines.unwrap_or_else(|| vec![line.clone()]);
            text.extend(lines.iter().map(|line| format!("( {line}\n)\n")));
        }
        waiting.extend(task.needs.iter().rev().cloned());
        done.insert(name);
    }
    text
}

/// Parses explicit rules with their recipes, and the variables that the file sets.
fn makefile(text: &str, wanted: &[String]) -> Tasks {
    let joined = text.replace("\\\n", " ");
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut file = Tasks::default();
    let mut current: Vec<String> = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            for target in &current {
                let task = file.tasks.entry(target.clone()).or_default();
                task.lines.push(recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$@", target));
            }
        } else if let Some((name, value)) = assignment(line) {
            let adds = line.split_once('=').is_some_and(|(before, _)| before.ends_with('+'));
            match variables.get_mut(&name).filter(|_| adds) {
                Some(known) => known.push_str(&format!(" {value}")),
                None => drop(variables.insert(name, value)),
            }
        } else if let Some((targets, rest)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#'])) {
            let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
            current = targets.split_whitespace().map(str::to_owned).collect();
            for target in &current {
                let task = file.tasks.entry(target.clone()).or_default();
                task.needs.extend(needs.split_whitespace().map(str::to_owned));
                task.lines.extend((!inline.is_empty()).then(|| inline.trim().to_owned()));
                if file.first.is_none() && !target.starts_with('.') && !target.contains('%') {
                    file.first = Some(target.clone());
                }
            }
        }
    }
    variables.extend(wanted.iter().filter_map(|word| assignment(word)));
    file.variables = Some(variables);
    file
}

/// Parses `NAME = value`, `NAME := value` or `NAME ?= value`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim().trim_start_matches("export ").trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name.then(|| (name.to_owned(), value.trim().to_owned()))
}

/// Variables set by `make`, by every machine, or by the person who installs something.
const NEVER_EMPTY: [&str; 22] = [
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TMP",
    "LANG",
    "TERM",
    "MAKE",
    "MAKEFLAGS",
    "MAKECMDGOALS",
    "MAKEFILE_LIST",
    "CURDIR",
    "SHELL",
    "VPATH",
    "DESTDIR",
    "OS",
    "CC",
    "CXX",
    "RM",
];

/// Maximum number of variable references examined.
const MAX_NAMES: usize = 512;

/// Returns the variables that a makefile uses and never sets.
pub(crate) fn never_set(text: &str) -> BTreeSet<String> {
    let is_part = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
    let mut set: BTreeSet<&str> = BTreeSet::new();
    for (before, _) in text.match_indices('=').map(|(at, _)| text.split_at(at)) {
        let before = before.trim_end_matches([':', '?', '+', '!']).trim_end_matches([' ', '\t']);
        let begin = before.rfind(|ch| !is_part(ch)).map_or(0, |at| at + 1);
        set.extend(before.get(begin..));
    }
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("define "));
    set.extend(named.map(|rest| rest.split([' ', '=']).next().unwrap_or(rest)));
    let called = text.match_indices("$(").chain(text.match_indices("${")).take(MAX_NAMES);
    let called = called.filter_map(|(at, _)| {
        let inside = text.get(at + 2..)?;
        let end = inside.find(|ch| !is_part(ch))?;
        let is_complete = inside.get(end..)?.starts_with([')', '}']) && !text.get(..at)?.ends_with('$');
        inside.get(..end).filter(|name| is_complete && name.len() > 1)
    });
    let is_unset = |name: &&str| !set.contains(name) && !NEVER_EMPTY.contains(name);
    called.filter(is_unset).map(str::to_owned).collect()
}

/// Returns the files that a line of a makefile includes.
pub(crate) fn included(line: &str) -> Option<std::str::SplitWhitespace<'_>> {
    let line = line.trim_start_matches(' ');
    let names = ["include ", "-include ", "sinclude "].iter().find_map(|word| line.strip_prefix(word))?;
    Some(names.split(" #").next().unwrap_or(names).split_whitespace())
}

/// Returns the patterns of folders that contain a project's packages.
pub(crate) fn workspaces(text: &str) -> Vec<String> {
    let package = serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    let field = package.get("workspaces").map(|field| field.get("packages").unwrap_or(field));
    let patterns = field.and_then(serde_json::Value::as_array).into_iter().flatten();
    patterns.filter_map(|pattern| pattern.as_str()).map(str::to_owned).collect()
}

/// Returns the possible texts of a recipe line: `$(NAME)` becomes its value, `$(shell x)` a substitution, `$$` a dollar
/// sign, and `$(if …)` its first branch, with the second as a text of its own. Variables that the file does not set are
/// left to the environment.
fn put_in(line: &str, variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut names = Names { variables, open: Vec::new(), length: 0, others: Vec::new(), is_over: false };
    let line = names.expand(line);
    if names.is_over {
        work::cut(|| format!("a recipe line is longer than {MAX_LINE} bytes after its variables are expanded"));
    }
    let mut lines = vec![line];
    lines.append(&mut names.others);
    lines
}

/// Expansion of the variables of a makefile.
struct Names<'a> {
    variables: &'a BTreeMap<String, String>,
    /// Variables being expanded. A variable that refers to itself is left unexpanded.
    open: Vec<String>,
    length: usize,
    /// Branches other than the expanded ones.
    others: Vec<String>,
    is_over: bool,
}

impl Names<'_> {
    fn expand(&mut self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            self.takes(before.len() + 1);
            if self.is_over {
                return expanded;
            }
            expanded.push_str(before);
            let Some((inside, after)) = in_brackets(after) else {
                expanded.push('$');
                rest = after.strip_prefix('$').unwrap_or(after);
                continue;
            };
            expanded.push_str(&self.called(inside));
            rest = after;
        }
        self.takes(rest.len());
        expanded.push_str(rest);
        expanded
    }

    /// Counts bytes, and stops a line that grows without limit.
    fn takes(&mut self, chars: usize) {
        self.length += chars;
        self.is_over |= self.length > MAX_LINE || !work::spend_bytes(chars, 100);
    }

    /// Returns the value of a variable or function call.
    fn called(&mut self, inside: &str) -> String {
        let (function, arguments) = inside.split_once([' ', '\t']).unwrap_or((inside, ""));
        match function {
            _ if arguments.is_empty() => self.named(inside),
            "shell" => format!("$({})", self.expand(arguments)),
            "if" => self.branch(arguments),
            "or" | "and" | "strip" | "firstword" | "lastword" | "abspath" | "realpath" | "wildcard" | "sort" => {
                let words = self.expand(&arguments.replace(',', " "));
                let mut words = words.split_whitespace();
                match function {
                    "firstword" | "or" => words.next().unwrap_or("").to_owned(),
                    "lastword" | "and" => words.next_back().unwrap_or("").to_owned(),
                    _ => words.collect::<Vec<_>>().join(" "),
                }
            }
            _ => format!("${{{inside}}}"),
        }
    }

    fn named(&mut self, name: &str) -> String {
        let name = self.expand(name);
        let known = self.variables.get(&name).filter(|_| !self.open.contains(&name));
        let Some(value) = known else { return format!("${{{name}}}") };
        if self.open.len() >= MAX_ROUNDS {
            self.is_over = true;
            return String::new();
        }
        self.open.push(name);
        let value = self.expand(value);
        self.open.pop();
        value
    }

    /// The condition need not be known, since either branch may run.
    fn branch(&mut self, arguments: &str) -> String {
        let mut parts = arguments.splitn(3, ',');
        let (condition, first, second) = (parts.next(), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        // Commands in the condition run too.
        let condition = self.expand(condition.unwrap_or(""));
        let first = self.expand(first);
        let second = self.expand(second);
        self.others.extend([condition.contains("$(").then_some(condition), Some(second)].into_iter().flatten());
        self.others.retain(|text| !text.trim().is_empty());
        first
    }
}

/// Splits a text that begins with a bracket into the content of the brackets and the rest.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let (open, close) = match text.as_bytes().first()? {
        b'(' => (b'(', b')'),
        b'{' => (b'{', b'}'),
        _ => return None,
    };
    let mut depth = 0_usize;
    let end = text.bytes().position(|byte| {
        depth += usize::from(byte == open);
        depth -= usize::from(byte == close);
        depth == 0
    })?;
    Some((text.get(1..end)?, text.get(end + 1..)?))
}

/// Parses the recipes of a justfile. `{{name}}` is a variable that the file may set, or a parameter of the recipe.
fn justfile(text: &str, called: Option<&String>) -> Tasks {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut file = Tasks::default();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            let Some(task) = current.as_ref().and_then(|name| file.tasks.get_mut(name)) else { continue };
            task.lines.push(line.trim().trim_start_matches(['@', '-']).to_owned());
        } else if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ");
            variables.insert(name.to_owned(), just_value(value, &variables));
        } else if let Some((head, needs)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
            let mut words = head.split_whitespace();
            let name = words.next().unwrap_or("").trim_start_matches('@').to_owned();
            let parameters = words.map(just_parameter).collect();
            let needs = needs.split_whitespace().filter(|need| *need != "&&").map(str::to_owned).collect();
            file.first.get_or_insert_with(|| name.clone());
            file.tasks.insert(name.clone(), Task { needs, lines: Vec::new(), parameters });
            current = Some(name);
        }
    }
    let called = called.or(file.first.as_ref()).cloned();
    for (task, Task { lines, parameters, .. }) in &mut file.tasks {
        let is_called = called.as_ref() == Some(task);
        for line in lines {
            *line = line.replace("{{", "${").replace("}}", "}").replace("${ ", "${").replace(" }", "}");
            for (at, (name, default)) in parameters.iter().enumerate() {
                let value = match name.strip_prefix(['*', '+']) {
                    Some(_) if is_called => format!("${{@:{}}}", at + 1),
                    None if is_called => format!("${{{}:-{default}}}", at + 1),
                    Some(_) | None => default.clone(),
                };
                *line = line.replace(&format!("${{{}}}", name.trim_start_matches(['*', '+'])), &value);
            }
            for (name, value) in &variables {
                *line = line.replace(&format!("${{{name}}}"), value);
            }
        }
    }
    file
}

/// Parses `mode`, `mode='x'`, `*args` or `$mode`.
fn just_parameter(word: &str) -> (String, String) {
    let (name, default) = word.split_once('=').unwrap_or((word, ""));
    (name.replace('$', ""), default.trim_matches(['"', '\'']).to_owned())
}

/// Returns the value of a justfile variable: strings, other variables and function calls, joined by `+` and `/`.
fn just_value(value: &str, variables: &BTreeMap<String, String>) -> String {
    let mut converted = String::new();
    let mut rest = value.trim();
    while let Some(ch) = rest.chars().next().filter(|_| converted.len() < MAX_LINE) {
        let after = rest.get(ch.len_utf8()..).unwrap_or("");
        let (part, after) = match ch {
            '"' | '\'' => after.split_once(ch).unwrap_or((after, "")),
            '`' => {
                let (command, after) = after.split_once('`').unwrap_or((after, ""));
                converted.push_str(&format!("$({command})"));
                ("", after)
            }
            '/' => ("/", after),
            '#' => break,
            ch if ch.is_alphanumeric() || ch == '_' => {
                let end = rest.find(|ch: char| !(ch.is_alphanumeric() || "_-".contains(ch)));
                let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
                match after.trim_start().strip_prefix('(').and_then(|inside| inside.split_once(')')) {
                    Some((arguments, after)) => {
                        converted.push_str(&just_call(name, arguments));
                        ("", after)
                    }
                    None => {
                        match variables.get(name) {
                            Some(known) => converted.push_str(known),
                            None => converted.push_str(&format!("${{{name}}}")),
                        }
                        ("", after)
                    }
                }
            }
            _ => ("", after),
        };
        converted.push_str(part);
        rest = after;
    }
    converted
}

/// Returns the shell form of a justfile function call.
fn just_call(name: &str, arguments: &str) -> String {
    let mut texts = arguments.split(['"', '\'']).skip(1).step_by(2);
    let first = texts.next().unwrap_or("");
    match (name, texts.next()) {
        ("env_var" | "env", None) => format!("${{{first}}}"),
        ("env_var_or_default" | "env", Some(otherwise)) => format!("${{{first}:-{otherwise}}}"),
        ("home_directory" | "home_dir", _) => "$HOME".to_owned(),
        ("justfile_directory" | "invocation_directory", _) => "$PWD".to_owned(),
        _ => format!("${{{name}()}}"),
    }
}

/// Scripts that an install runs, in the `package.json` of a package.
const LIFECYCLE: [&str; 6] = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare"];

/// Scripts that an install of a PHP project runs.
const COMPOSER_LIFECYCLE: [&str; 8] = [
    "pre-install-cmd",
    "post-install-cmd",
    "pre-update-cmd",
    "post-update-cmd",
    "post-autoload-dump",
    "pre-autoload-dump",
    "post-root-package-install",
    "post-create-project-cmd",
];

/// Returns a script of `package.json` with its `pre` and `post` scripts; for `install`, the lifecycle scripts.
fn package(text: &str, wanted: &[String], lifecycle: &[&str]) -> String {
    let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else { return String::new() };
    let script = |name: &String| package.get("scripts")?.get(name);
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        match name.as_str() {
            "install" => names.extend(lifecycle.iter().copied().map(String::from)),
            name => names.extend([format!("pre{name}"), name.to_owned(), format!("post{name}")]),
        }
    }
    let text = |name: &String| {
        let arguments = if wanted.contains(name) { " \"$@\"" } else { "" };
        let commands = script(name).map(commands).unwrap_or_default();
        commands.into_iter().map(|text| format!("( {text}{arguments}\n)\n")).collect::<String>()
    };
    names.iter().map(text).collect()
}

/// Returns one command, or a list of them. `@name` and PHP class names are not followed.
fn commands(script: &serde_json::Value) -> Vec<&str> {
    let several = script.as_array().map(|list| list.iter().filter_map(|command| command.as_str()).collect());
    let commands: Vec<&str> = several.unwrap_or_else(|| script.as_str().into_iter().collect());
    commands.into_iter().filter(|text| !text.starts_with('@') && !text.contains("::")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: TaskFile, text: &str, wanted: &[&str], recipe: &str) {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(file.recipe(text, &wanted), recipe);
    }

    #[test]
    fn a_makefile_runs_the_target_and_what_it_needs() {
        let text = "OUT := build\nall: lib\n\t@echo $@\nlib:\n\tcd src && \\\n  make $(OUT)\nclean: ; rm -rf $(OUT) $$HOME $(X)\n";
        check(TaskFile::Makefile, text, &[], "( echo all\n)\n( cd src &&    make build\n)\n");
        check(TaskFile::Makefile, text, &["clean"], "( rm -rf build $HOME ${X}\n)\n");
        check(TaskFile::Makefile, text, &["clean", "OUT=/x"], "( rm -rf /x $HOME ${X}\n)\n");
        check(TaskFile::Makefile, "a: b\nb: a\n\tx\n", &["a"], "( x\n)\n");
        check(TaskFile::Makefile, "F := $(F) -g\nF += -O\na:\n\tcc $(F) $$(x)\n", &[], "( cc ${F} -g -O $(x)\n)\n");
        let text = "N = $(firstword ~/src x)\na:\n\t$(if $(Q),rm -rf $(N),echo $(strip  b ))\n";
        check(TaskFile::Makefile, text, &[], "( rm -rf ~/src\n)\n( echo b\n)\n");
    }

    #[test]
    fn what_nothing_sets_is_empty() {
        let text =
            "AA ?= x\nb: CC = y\ndefine DD\nendef\nb:\n\trm $(AA) $(BB)/* ${CC} $(DD) $(MAKE) $$(EE) $(FF:a=b) $@\n";
        assert_eq!(never_set(text).into_iter().collect::<Vec<_>>(), ["BB"]);
    }

    #[test]
    fn a_line_that_doubles_is_reported() {
        let doubles: String = (1..60).map(|at| format!("A{at}=$(A{})$(A{})\n", at - 1, at - 1)).collect();
        for value in ["x", ""] {
            let text = format!("A0={value}\n{doubles}a:\n\t$(if $(A59),rm x)\n");
            let unread = work::within(100_000, || {
                TaskFile::Makefile.recipe(&text, &[]);
                (work::unread(), work::is_over())
            });
            assert!(unread.0.is_some(), "{value} {unread:?}");
        }
    }

    #[test]
    fn what_is_included_and_where_packages_lie() {
        let names = |line| included(line).map(|names| names.collect::<Vec<_>>());
        assert_eq!(names("-include a.mk b.mk # c"), Some(vec!["a.mk", "b.mk"]));
        assert_eq!(names("includes: x"), None);
        for text in [r#"{"workspaces": ["a/*"]}"#, r#"{"workspaces": {"packages": ["a/*"]}}"#] {
            assert_eq!(workspaces(text), ["a/*"]);
        }
        assert!(workspaces("{}").is_empty() && workspaces("no json").is_empty());
    }

    #[test]
    fn a_justfile_runs_the_recipe_and_what_it_needs() {
        let text = "d := env_var('HOME') / 'x'\nall := d + 's'\nclean:\n  rm {{d}} {{ all }}\n";
        check(TaskFile::Justfile, text, &["clean"], "( rm ${HOME}/x ${HOME}/xs\n)\n");
        let text = "dir := \"out\"\nbuild mode='x': clean\n  @cargo build {{mode}}\nclean:\n  rm -rf {{dir}}\n";
        check(TaskFile::Justfile, text, &["build"], "( cargo build ${1:-x}\n)\n( rm -rf out\n)\n");
        check(TaskFile::Justfile, "a B *C:\n  rm {{B}} {{C}}\n", &["a"], "( rm ${1:-} ${@:2}\n)\n");
    }

    #[test]
    fn a_script_runs_with_those_around_it() {
        let text = r#"{"scripts": {"prebuild": "a", "build": "b", "postinstall": "c"}}"#;
        check(TaskFile::Package, text, &["build"], "( a\n)\n( b \"$@\"\n)\n");
        check(TaskFile::Package, text, &["install"], "( c\n)\n");
        check(TaskFile::Package, "no json", &["x"], "");
        let text = r#"{"scripts": {"x": ["a", "@x", "Some\\\\Class::call"], "post-install-cmd": "b"}}"#;
        check(TaskFile::Composer, text, &["x"], "( a \"$@\"\n)\n");
        check(TaskFile::Composer, text, &["install"], "( b\n)\n");
    }
}
