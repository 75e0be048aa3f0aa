//! What makes two calls the same: exactly, in shape, or in goal.

use crate::analyze::Analysis;
use crate::effect::{Effect, Target};
use crate::event::{Action, Event};
use reflex_shell::Command;
use sha2::{Digest, Sha256};

/// Three notions of sameness, each the first 16 bytes of a SHA-256 in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// The same action with the same resolved targets.
    pub exact: String,
    /// The same programs, subcommands and options, whatever the values.
    pub shape: String,
    /// The same effects on the same targets, however it is spelled.
    pub goal: String,
}

/// The fingerprint of a call.
pub(crate) fn of(event: &Event, analysis: &Analysis) -> Fingerprint {
    let targets: Vec<String> = analysis.effects.iter().map(effect_and_targets).collect();
    let mut exact = vec![event.cwd.clone(), event.tool.clone()];
    exact.extend(event.actions.iter().map(action_text));
    exact.extend(targets.iter().cloned());
    let shape: Vec<String> =
        match analysis.readings.iter().flat_map(|reading| &reading.commands).map(shape_of).collect::<Vec<_>>() {
            commands if commands.is_empty() => vec![event.tool.clone()],
            commands => commands,
        };
    let mut goal = targets;
    goal.sort();
    goal.dedup();
    Fingerprint { exact: digest(&exact), shape: digest(&shape), goal: digest(&goal) }
}

fn effect_and_targets(effect: &Effect) -> String {
    let targets: Vec<String> = effect.targets.iter().map(Target::shown).collect();
    format!("{} {}", effect.kind.name(), targets.join("\u{1f}"))
}

fn shape_of(command: &Command) -> String {
    let mut words = vec![command.name.as_str()];
    if let Some(invocation) = &command.invocation {
        words.extend(&invocation.path);
        let mut keys: Vec<&str> = invocation.options.iter().map(|option| option.key).collect();
        keys.sort_unstable();
        words.extend(keys);
    }
    words.join(" ")
}

fn action_text(action: &Action) -> String {
    match action {
        Action::Shell { command } => format!("shell {command}"),
        Action::Read { path } => format!("read {}", path.text),
        Action::Search { path } => format!("search {}", path.text),
        Action::Write { path, content } => format!("write {} {content}", path.text),
        Action::Edit { path, content } => format!("edit {} {content}", path.text),
        Action::Delete { path } => format!("delete {}", path.text),
        Action::Fetch { url } => format!("fetch {url}"),
        Action::McpCall { server, tool, arguments } => format!("mcp {server} {tool} {arguments}"),
        Action::Prompt { text } => format!("prompt {text}"),
        Action::SpawnAgent { prompt } => format!("agent {prompt}"),
        Action::Skill { name } => format!("skill {name}"),
        Action::Input { text } => format!("input {text}"),
        Action::Other { arguments } => format!("other {arguments}"),
    }
}

fn digest(parts: &[String]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length first: parts cannot run into each other.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
