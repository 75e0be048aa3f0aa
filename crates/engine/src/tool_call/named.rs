//! A tool that has the name of a program: what it is given are the program's words.

use super::name::Name;
use super::slots::Slots;
use super::texts;
use reflex_shell::Program;
use reflex_tables::Node;
use serde_json::Value as Json;

/// Subcommands of git by which work can be lost or others are reached.
const OF_GIT: [&str; 10] =
    ["push", "reset", "clean", "checkout", "restore", "switch", "stash", "branch", "rebase", "rm"];

/// The command lines of a tool with a program's name; none where it has not, or where its arguments say it themselves.
pub(super) fn lines(name: &Name, slots: &Slots<'_>, programs: Node<'static>) -> Vec<String> {
    if let Some(line) = of_git(name, slots).or_else(|| of_aws(name, slots)) {
        return vec![line];
    }
    let Some(program) = program(name, programs) else { return Vec::new() };
    let given = slots.lines();
    let is_whole = given.iter().any(|line| texts::is_command(line, programs));
    match given.as_slice() {
        [] if !slots.arguments.is_empty() => vec![format!("{program} {}", slots.arguments.join(" "))],
        [line] if !is_whole => vec![format!("{program} {line}")],
        _ => Vec::new(),
    }
}

/// The program whose name the tool has: alone, or beside words that only say that something is run.
fn program<'n>(name: &'n Name, programs: Node<'static>) -> Option<&'n str> {
    let known = |word: &&String| Program::find(programs, word).is_some();
    let first = name.words.first().filter(known)?;
    let alone = name.words.len() == 1;
    (alone || name.is_bare(first)).then_some(first.as_str())
}

/// `git_push {"remote": "origin", "force": true}`
fn of_git(name: &Name, slots: &Slots<'_>) -> Option<String> {
    let at = name.words.iter().position(|word| word == "git")?;
    let sub = name.words.get(at + 1).filter(|word| OF_GIT.contains(&word.as_str()))?;
    let fields = slots.fields?;
    let mut words = vec!["git".to_owned(), sub.clone()];
    let options = [
        ("force", "--force"),
        ("hard", "--hard"),
        ("delete", "--delete"),
        ("directories", "-d"),
        ("all", "--all"),
        ("mirror", "--mirror"),
        ("prune", "--prune"),
    ];
    let given = |key: &str| fields.get(key).is_some_and(|value| value == &Json::Bool(true));
    words.extend(options.iter().filter(|(key, _)| given(key)).map(|(_, option)| (*option).to_owned()));
    let text = |key: &&str| fields.get(*key).and_then(Json::as_str);
    let mode = ["mode", "operation", "action"].iter().find_map(text);
    let mode =
        mode.filter(|mode| ["hard", "soft", "mixed", "merge", "keep", "delete", "drop", "clear", "pop"].contains(mode));
    words.extend(mode.map(|mode| if *sub == "stash" { mode.to_owned() } else { format!("--{mode}") }));
    let operands = ["remote", "branch", "branch_name", "branchName", "ref", "refspec", "target", "commit"];
    words.extend(operands.iter().filter_map(text).map(texts::word));
    words
        .extend(slots.paths.iter().filter(|path| Some(path.as_str()) != text(&"target")).map(|path| texts::word(path)));
    Some(words.join(" "))
}

/// `use_aws {"service_name": "s3", "operation_name": "delete-bucket"}`
fn of_aws(name: &Name, slots: &Slots<'_>) -> Option<String> {
    let fields = slots.fields.filter(|_| name.words.iter().any(|word| word == "aws"))?;
    let text = |keys: [&str; 3]| keys.iter().find_map(|key| fields.get(*key).and_then(Json::as_str));
    let service = text(["service_name", "service", "serviceName"])?;
    let operation = text(["operation_name", "operation", "operationName"])?;
    let service = if service == "s3" { "s3api" } else { service };
    Some(format!("aws {} {}", texts::word(service), texts::word(operation)))
}
