//! Tools with the name of a program: their arguments are the program's words.

use super::name::Name;
use super::slots::Slots;
use super::texts;
use reflex_shell::{Program, Programs};
use serde_json::Value as Json;

/// Returns the command lines of a tool with a program's name. Returns none for other tools, or if the arguments are
/// already a complete command line.
pub(super) fn lines(name: &Name, slots: &Slots<'_>, programs: Programs) -> Vec<String> {
    if let Some(line) = of_aws(name, slots) {
        return vec![line];
    }
    let Some(program) = program(name, programs) else { return Vec::new() };
    let found = slots.lines();
    let is_complete = found.iter().any(|line| texts::is_command(line, programs));
    match found.as_slice() {
        [] if !slots.arguments.is_empty() => vec![format!("{program} {}", slots.arguments.join(" "))],
        [line] if !is_complete => vec![format!("{program} {line}")],
        _ => Vec::new(),
    }
}

/// Returns the program whose name the tool has: alone, or next to words that only express that something is run.
fn program(name: &Name, programs: Programs) -> Option<&str> {
    let known = |word: &&String| Program::find(programs, word).is_some();
    let first = name.words.first().filter(known)?;
    let alone = name.words.len() == 1;
    (alone || name.is_bare(first)).then_some(first.as_str())
}

/// Reads `use_aws {"service_name": "s3", "operation_name": "delete-bucket"}`.
fn of_aws(name: &Name, slots: &Slots<'_>) -> Option<String> {
    let fields = slots.fields.filter(|_| name.words.iter().any(|word| word == "aws"))?;
    let text = |keys: [&str; 3]| keys.iter().find_map(|key| fields.get(*key).and_then(Json::as_str));
    let service = text(["service_name", "service", "serviceName"])?;
    let operation = text(["operation_name", "operation", "operationName"])?;
    let service = if service == "s3" { "s3api" } else { service };
    Some(format!("aws {} {}", texts::word(service), texts::word(operation)))
}
