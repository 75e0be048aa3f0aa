//! Files and URLs in the arguments of a tool that is otherwise unknown.

use super::agent_paths::agent_path_value;
use super::effects::EffectExtractor;
use crate::model::effect::{EffectKind, Target};
use serde_json::Value as Json;

/// Maximum number of texts examined in one call.
const MAX_TEXTS: usize = 256;

/// Maximum length of a path in bytes.
const MAX_PATH: usize = 4096;

impl EffectExtractor<'_> {
    /// Adds a `path-argument` effect for paths.
    pub(super) fn paths_in(&mut self, arguments: &str) {
        let Ok(json) = serde_json::from_str::<Json>(arguments) else { return };
        let mut texts: Vec<&str> = Vec::new();
        texts_of(&json, &mut texts);
        let folder = self.event.cwd.clone();
        let paths = texts.iter().filter_map(|text| path_of(text));
        let targets: Vec<Target> =
            paths.map(|path| self.target(EffectKind::PathArgument, agent_path_value(path), &folder)).collect();
        if !targets.is_empty() {
            self.push(self.effect(EffectKind::PathArgument).targets(targets).mark("argument"));
        }
    }

    /// Adds `fetch` effects for URLs.
    pub(super) fn addresses_in(&mut self, arguments: &str) {
        let Ok(json) = serde_json::from_str::<Json>(arguments) else { return };
        let mut texts: Vec<&str> = Vec::new();
        texts_of(&json, &mut texts);
        for url in texts.iter().filter(|text| is_url(text)) {
            self.push(self.effect_on(EffectKind::Fetch, url));
        }
    }
}

fn texts_of<'j>(json: &'j Json, texts: &mut Vec<&'j str>) {
    match json {
        Json::String(text) if texts.len() < MAX_TEXTS => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Json::Object(fields) => fields.values().for_each(|value| texts_of(value, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Returns the path if the complete text is one. A bare name may be a file of the project.
fn path_of(text: &str) -> Option<&str> {
    let text = text.strip_prefix("file://").or(text.strip_prefix('@')).unwrap_or(text);
    let leads = ["/", "~/", "./", "../", "\\\\"].iter().any(|start| text.starts_with(start));
    let drive = matches!(text.as_bytes(), [ch, b':', b'\\' | b'/', ..] if ch.is_ascii_alphabetic());
    let named = !text.contains(char::is_whitespace) && !text.contains("://") && text.contains(['.', '/']);
    let is_path = text.len() <= MAX_PATH && !text.contains('\n') && (leads || drive || named);
    is_path.then_some(text).filter(|text| !text.starts_with("//"))
}

fn is_url(text: &str) -> bool {
    let start = text.get(..8).or(text.get(..7)).unwrap_or("").to_ascii_lowercase();
    (start.starts_with("http://") || start.starts_with("https://")) && !text.contains(char::is_whitespace)
}
