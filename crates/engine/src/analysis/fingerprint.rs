//! Identity of calls.

use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, Target};
use crate::model::event::{Action, Event};
use sha2::{Digest, Sha256};

/// The identity of a call, and the digests of the content that it writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Hash of the action and its resolved targets: the first 16 bytes of a SHA-256, in hexadecimal.
    pub exact: String,
    /// SHA-256 of the content that each action writes, in hexadecimal; empty for an action that writes nothing.
    pub contents: Vec<String>,
}

/// Returns the fingerprint of a call.
pub(crate) fn fingerprint(event: &Event, analysis: &Analysis) -> Fingerprint {
    let effects: Vec<String> = analysis.effects.iter().map(effect_and_targets).collect();
    let contents: Vec<String> = event.actions.iter().map(content_digest).collect();
    // The digest represents the content, which may be long. The record needs that digest too.
    let texts = event.actions.iter().flat_map(|action| action_texts(action).take(texts_before_content(action)));
    let exact = [event.cwd.as_str(), &event.tool].into_iter().chain(texts).chain(contents.iter().map(String::as_str));
    Fingerprint { exact: digest(exact.chain(effects.iter().map(String::as_str))), contents }
}

/// Returns the number of an action's texts that precede its content.
fn texts_before_content(action: &Action) -> usize {
    if action.content().is_some() { 2 } else { usize::MAX }
}

fn content_digest(action: &Action) -> String {
    action.content().map(|content| hexadecimal(&Sha256::digest(content.as_bytes()))).unwrap_or_default()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn effect_and_targets(effect: &Effect) -> String {
    let targets: Vec<String> = effect.targets.iter().map(Target::shown).collect();
    format!("{} {}", effect.kind.name(), targets.join("\u{1f}"))
}

/// Returns the action's kind and its texts.
pub(crate) fn action_texts(action: &Action) -> impl Iterator<Item = &str> {
    let texts = match action {
        Action::Shell { command, language } => ["shell", command, language.name(), ""],
        Action::Read { path } => ["read", &path.text, "", ""],
        Action::Search { path, arguments } => ["search", &path.text, arguments, ""],
        Action::Write { path, content } => ["write", &path.text, content, ""],
        Action::Edit { path, content, removed, .. } => ["edit", &path.text, content, removed],
        Action::Delete { path } => ["delete", &path.text, "", ""],
        Action::Fetch { url } => ["fetch", url, "", ""],
        Action::McpCall { server, tool, arguments } => ["mcp", server, tool, arguments],
        Action::Prompt { text } => ["prompt", text, "", ""],
        Action::SpawnAgent { prompt } => ["agent", prompt, "", ""],
        Action::Skill { name } => ["skill", name, "", ""],
        Action::Input { text } => ["input", text, "", ""],
        Action::Other { arguments } => ["other", arguments, "", ""],
    };
    texts.into_iter()
}

/// Returns the first 16 bytes of the SHA-256 of these parts, in hexadecimal.
pub(crate) fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length prefix keeps the boundaries of the parts unambiguous.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hexadecimal(hash.finalize().get(..16).unwrap_or_default())
}
