//! The server that provides a tool: the command or address under its name in a client's settings.

use super::Binder;
use reflex_engine::How;
use reflex_git::regular_file;
use serde_json::Value;
use std::path::Path;

/// Maximum depth of nested settings that are searched.
const MAX_LEVELS: usize = 6;

/// Maximum size of a settings file, in bytes. A client may keep much else in it.
const MAX_SETTINGS: usize = 16 * 1024 * 1024;

impl Binder<'_> {
    pub(super) fn server(&mut self, name: &str, path: &str) {
        let Some(bytes) = regular_file(Path::new(path), MAX_SETTINGS) else {
            // The file cannot be searched, so all of it is bound.
            return self.file(path, How::Configured);
        };
        let text = String::from_utf8_lossy(&bytes);
        let entries = match serde_json::from_str::<Value>(&text) {
            Ok(value) => {
                let mut found = Vec::new();
                entries(&value, name, MAX_LEVELS, &mut found);
                found
            }
            Err(_) if path.ends_with(".toml") => vec![Value::String(sections(&text, name))],
            Err(_) => return self.file(path, How::Configured),
        };
        for entry in entries.iter().filter(|entry| entry.as_str() != Some("")) {
            self.binding.keys.push(format!("server {name} {path} {entry}"));
            let near = self.near(path);
            self.show(format!("asks the server {name} as {near} names it: {}", short(entry)));
            let mut words = Vec::new();
            texts(entry, &mut words);
            for word in words.iter().filter(|word| word.contains(['/', '.'])) {
                let file = Path::new(&self.event.workspace).join(word);
                if file.is_file() {
                    self.file(&file.to_string_lossy(), How::Runs);
                }
            }
        }
    }
}

/// All entries of this name that start a server or point to one. Names are compared by their alphanumeric characters,
/// because clients write the others differently.
fn entries(value: &Value, name: &str, levels: usize, found: &mut Vec<Value>) {
    let Some(map) = value.as_object().filter(|_| levels > 0) else { return };
    for (key, inner) in map {
        let leads = ["command", "url", "httpUrl", "serverUrl", "args"].iter().any(|key| inner.get(key).is_some());
        if leads && plain(key) == plain(name) {
            found.push(inner.clone());
        } else {
            entries(inner, name, levels - 1, found);
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The sections of a TOML file whose heading names the server.
fn sections(text: &str, name: &str) -> String {
    let mut is_named = false;
    let lines = text.lines().filter(|line| {
        if let Some(heading) = line.trim().strip_prefix('[') {
            is_named = heading.split(['.', ']', '[']).any(|part| plain(part) == plain(name));
        }
        is_named
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The command or address of the entry. Its other fields may be secret.
fn short(entry: &Value) -> String {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let args = entry.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    match ["url", "httpUrl", "serverUrl"].iter().find_map(|key| text(key)) {
        Some(url) => url.to_owned(),
        None => text("command").into_iter().chain(args).collect::<Vec<_>>().join(" "),
    }
}
