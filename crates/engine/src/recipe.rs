//! Tasks that a project names in a file of its own: what `make clean` or `npm run build` runs.

use std::collections::BTreeMap;

/// More tasks than these are not walked for one call.
const MOST_TASKS: usize = 64;

/// Names may stand for texts with names in them this many times.
const MOST_ROUNDS: usize = 4;

/// A kind of file that names tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskFile {
    Makefile,
    Justfile,
    Package,
    Composer,
}

impl TaskFile {
    /// The kind that a `run-task` effect names by one of its flags.
    pub(crate) fn named(flags: &[&str]) -> Option<TaskFile> {
        flags.iter().find_map(|flag| match *flag {
            "makefile" => Some(TaskFile::Makefile),
            "justfile" => Some(TaskFile::Justfile),
            "package" => Some(TaskFile::Package),
            "composer" => Some(TaskFile::Composer),
            _ => None,
        })
    }

    /// The names that such a file may have, the first that is there counts.
    pub(crate) fn file_names(self) -> &'static [&'static str] {
        match self {
            TaskFile::Makefile => &["GNUmakefile", "makefile", "Makefile"],
            TaskFile::Justfile => &["justfile", "Justfile", ".justfile"],
            TaskFile::Package => &["package.json"],
            TaskFile::Composer => &["composer.json"],
        }
    }

    /// The shell text of all tasks that somebody must call by name: those of an install run by themselves.
    pub(crate) fn others(self, text: &str) -> String {
        let lifecycle: &[&str] = match self {
            TaskFile::Package => &LIFECYCLE,
            TaskFile::Composer => &COMPOSER_LIFECYCLE,
            TaskFile::Makefile | TaskFile::Justfile => return String::new(),
        };
        let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else { return String::new() };
        let scripts = package.get("scripts").and_then(serde_json::Value::as_object);
        let called = scripts.into_iter().flatten().filter(|(name, _)| !lifecycle.contains(&name.as_str()));
        called.take(MOST_TASKS).flat_map(|(_, script)| commands(script)).map(|text| format!("( {text}\n)\n")).collect()
    }

    /// The shell text of these tasks and of all that they need; the first of the file if none is named.
    pub(crate) fn recipe(self, text: &str, wanted: &[String]) -> String {
        match self {
            TaskFile::Makefile => lines_of(&makefile(text, wanted), wanted),
            TaskFile::Justfile => lines_of(&justfile(text), wanted),
            TaskFile::Package => package(text, wanted, &LIFECYCLE),
            TaskFile::Composer => package(text, wanted, &COMPOSER_LIFECYCLE),
        }
    }
}

/// One task: what it needs first, and the lines that it runs, each in a shell of its own.
#[derive(Debug, Default)]
struct Task {
    needs: Vec<String>,
    lines: Vec<String>,
}

#[derive(Default)]
struct Tasks {
    first: Option<String>,
    tasks: BTreeMap<String, Task>,
}

fn lines_of(file: &Tasks, wanted: &[String]) -> String {
    let mut waiting: Vec<String> = wanted.iter().filter(|name| !name.contains('=')).rev().cloned().collect();
    if waiting.is_empty() {
        waiting.extend(file.first.clone());
    }
    let mut done: Vec<String> = Vec::new();
    let mut text = String::new();
    while let Some(name) = waiting.pop() {
        let Some(task) = file.tasks.get(&name) else { continue };
        if done.contains(&name) || done.len() >= MOST_TASKS {
            continue;
        }
        for line in &task.lines {
            text.push_str(&format!("( {line}\n)\n"));
        }
        waiting.extend(task.needs.iter().rev().cloned());
        done.push(name);
    }
    text
}

/// Explicit rules with their recipes; variables are put in where the file says what they are.
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
            variables.insert(name, value);
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
    for line in file.tasks.values_mut().flat_map(|task| task.lines.iter_mut()) {
        *line = put_in(line, &variables);
    }
    file
}

/// `NAME = value`, `NAME := value`, `NAME ?= value`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim().trim_start_matches("export ").trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name.then(|| (name.to_owned(), value.trim().to_owned()))
}

/// `$(NAME)` by its value, `$(shell x)` by what the shell calls it, `$$` by one dollar. What the file does not say is
/// left to the environment.
fn put_in(line: &str, variables: &BTreeMap<String, String>) -> String {
    let mut line = line.replace("$$", "\u{1}").replace("$(shell ", "\u{1}(");
    for _ in 0..MOST_ROUNDS {
        let mut next = String::with_capacity(line.len());
        let mut rest = line.as_str();
        let mut changed = false;
        while let Some((before, behind)) = rest.split_once('$') {
            next.push_str(before);
            let close = match behind.as_bytes().first() {
                Some(b'(') => Some(')'),
                Some(b'{') => Some('}'),
                _ => None,
            };
            let name = close.and_then(|close| behind.get(1..)?.split_once(close));
            let Some((name, after)) = name else {
                next.push('$');
                rest = behind;
                continue;
            };
            match variables.get(name) {
                Some(value) => next.push_str(&value.replace("$$", "\u{1}").replace("$(shell ", "\u{1}(")),
                None => next.push_str(&format!("\u{1}{{{name}}}")),
            }
            (changed, rest) = (true, after);
        }
        next.push_str(rest);
        line = next;
        if !changed || line.len() > crate::world::MOST_CONTENT {
            break;
        }
    }
    line.replace('\u{1}', "$")
}

/// Recipes of a justfile; `{{name}}` is a variable that the file may set.
fn justfile(text: &str) -> Tasks {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut file = Tasks::default();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            let Some(task) = current.as_ref().and_then(|name| file.tasks.get_mut(name)) else { continue };
            task.lines.push(line.trim().trim_start_matches(['@', '-']).to_owned());
        } else if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ");
            variables.insert(name.to_owned(), value.trim().trim_matches(['"', '\'']).to_owned());
        } else if let Some((head, needs)) = line.split_once(':').filter(|_| !line.starts_with('#')) {
            let name = head.split_whitespace().next().unwrap_or("").trim_start_matches('@').to_owned();
            let needs = needs.split_whitespace().filter(|need| *need != "&&").map(str::to_owned).collect();
            file.first.get_or_insert_with(|| name.clone());
            file.tasks.insert(name.clone(), Task { needs, lines: Vec::new() });
            current = Some(name);
        }
    }
    for line in file.tasks.values_mut().flat_map(|task| task.lines.iter_mut()) {
        *line = line.replace("{{", "${").replace("}}", "}").replace("${ ", "${").replace(" }", "}");
        for (name, value) in &variables {
            *line = line.replace(&format!("${{{name}}}"), value);
        }
    }
    file
}

/// What an install runs by itself, in a package's own file.
const LIFECYCLE: [&str; 6] = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare"];

/// The same of a project of PHP.
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

/// A script of `package.json` with those that run before and behind it.
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
    names.iter().filter_map(script).flat_map(commands).map(|text| format!("( {text}\n)\n")).collect()
}

/// One command, or a list of them. `@name` and the name of a class of PHP are not followed.
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
    }

    #[test]
    fn a_justfile_runs_the_recipe_and_what_it_needs() {
        let text = "dir := \"out\"\nbuild mode='x': clean\n  @cargo build {{mode}}\nclean:\n  rm -rf {{dir}}\n";
        check(TaskFile::Justfile, text, &["build"], "( cargo build ${mode}\n)\n( rm -rf out\n)\n");
    }

    #[test]
    fn a_script_runs_with_those_around_it() {
        let text = r#"{"scripts": {"prebuild": "a", "build": "b", "postinstall": "c"}}"#;
        check(TaskFile::Package, text, &["build"], "( a\n)\n( b\n)\n");
        check(TaskFile::Package, text, &["install"], "( c\n)\n");
        check(TaskFile::Package, "no json", &["x"], "");
        let text = r#"{"scripts": {"x": ["a", "@x", "Some\\\\Class::call"], "post-install-cmd": "b"}}"#;
        check(TaskFile::Composer, text, &["x"], "( a\n)\n");
        check(TaskFile::Composer, text, &["install"], "( b\n)\n");
    }
}
