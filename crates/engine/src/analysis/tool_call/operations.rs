//! Tools that correspond to an operation of a program: their name and arguments are converted to one command line of
//! that program.
//!
//! The words and keys of each operation are data (`library/tools/programs.yaml`).

use super::texts;
use crate::model::words::{WordList, Words};
use reflex_tables::Tables;
use reflex_tables::views::{LinePiece, Operation};
use serde_json::{Map, Value as Json};

/// The contents of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallWords<'s> {
    /// Words of the tool's own name.
    pub(super) tool_words: &'s [String],
    /// All words, including those of the server and of verbs in the arguments.
    pub(super) words: &'s [String],
    pub(super) fields: &'s Map<String, Json>,
}

/// Returns the command line of the first operation that matches a call.
pub(super) fn line(call: CallWords<'_>, tables: Tables) -> Option<String> {
    let table = tables.library().tools().operations();
    let running = WordList::RunningVerbs.read(tables);
    let found = || call.words.iter().flat_map(|word| table.get(word).iter().map(move |entry| (word, entry)));
    // An operation with a verb takes precedence over one that only names the program.
    let is_bare = |bare: bool| found().filter(move |(_, entry)| entry.bare() == bare);
    let mut fits = is_bare(false).chain(is_bare(true)).filter(|(word, entry)| call.is(*entry, word, running));
    fits.next().map(|(_, entry)| call.line(entry))
}

impl CallWords<'_> {
    fn is(&self, entry: Operation<'static>, program: &str, running: Words) -> bool {
        let has_word = |word: &str| self.words.iter().any(|other| other == word);
        let has_words = entry.says().iter().all(|group| group.iter().any(has_word));
        let known = |word: &String| word == program || running.has(word);
        // A command run in a container is not a command line of the program that manages the container.
        let within = ["container", "containerid", "containername", "pod", "podname"].iter().any(|key| self.has(key));
        let within = within && self.tool_words.iter().any(|word| word == "exec");
        let is_bare = !entry.bare() || (!within && self.tool_words.iter().all(known));
        has_words && is_bare && entry.needs().iter().all(|group| group.iter().any(|key| self.has(key)))
    }

    fn line(&self, entry: Operation<'static>) -> String {
        let mut words: Vec<String> = Vec::new();
        for piece in entry.line().iter() {
            for word in self.piece(piece) {
                // A complete command line already begins with the program of the entry.
                let begun = words.as_slice().first().and_then(|program| word.strip_prefix(program.as_str()));
                let rest = begun.and_then(|rest| rest.strip_prefix(' ')).filter(|_| words.len() == 1);
                let word = rest.map_or_else(|| word.clone(), str::to_owned);
                let is_reported = word.starts_with("--") && words.contains(&word);
                words.extend((!is_reported).then_some(word));
            }
        }
        words.join(" ")
    }

    fn piece(&self, piece: LinePiece<'static>) -> Vec<String> {
        let (before, after) = (piece.before(), piece.after());
        let keys = || piece.keys().iter();
        let texts = match piece.how() {
            "flag" => return keys().any(|key| self.has(key)).then(|| before.trim().to_owned()).into_iter().collect(),
            "spoken" => return self.matched_word(keys()).iter().map(|_| before.trim().to_owned()).collect(),
            "said" => self.matched_word(keys()),
            "raw" => keys().find_map(|key| self.value(key)).map(raw).into_iter().collect(),
            "word" => keys().find_map(|key| self.value(key)).map(written).unwrap_or_default(),
            _ => return vec![before.to_owned()],
        };
        texts.into_iter().filter(|text| !text.is_empty()).map(|text| format!("{before}{text}{after}")).collect()
    }

    fn matched_word<'k>(&self, mut known: impl Iterator<Item = &'k str>) -> Vec<String> {
        let word = known.find(|known| self.words.iter().any(|other| other == known));
        word.map(str::to_owned).into_iter().collect()
    }

    /// Returns whether a key is given: `force`, or with this value: `mode=hard`.
    fn has(&self, key: &str) -> bool {
        let (key, wanted) = key.split_once('=').unwrap_or((key, ""));
        match self.value(key) {
            None | Some(Json::Null | Json::Bool(false)) => false,
            Some(Json::String(text)) if wanted.is_empty() => !matches!(text.as_str(), "" | "false" | "no" | "0"),
            Some(Json::String(text)) => text.eq_ignore_ascii_case(wanted),
            Some(Json::Number(number)) if wanted.is_empty() => number.as_i64() != Some(0) || key == "pid",
            Some(Json::Number(number)) => number.to_string() == wanted,
            Some(Json::Array(items)) => !items.is_empty() && wanted.is_empty(),
            Some(Json::Object(_) | Json::Bool(true)) => wanted.is_empty(),
        }
    }

    /// Returns the value of a key, here or one level below.
    fn value(&self, key: &str) -> Option<&Json> {
        let of = |fields: &'_ Map<String, Json>| -> Option<String> {
            fields.keys().find(|name| plain(name).eq(key.chars())).cloned()
        };
        let here = of(self.fields).and_then(|name| self.fields.get(&name));
        let mut below = self.fields.values().filter_map(Json::as_object);
        here.or_else(|| below.find_map(|inner| of(inner).and_then(|name| inner.get(&name))))
    }
}

/// Returns a key in lower case, without separators.
fn plain(key: &str) -> impl Iterator<Item = char> {
    key.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase())
}

/// Returns a value as words of a command line.
fn written(value: &Json) -> Vec<String> {
    match value {
        Json::Null | Json::Bool(_) => Vec::new(),
        Json::Number(number) => vec![number.to_string()],
        Json::String(text) => vec![texts::word(&texts::decoded(text))],
        Json::Array(items) => items.iter().flat_map(written).collect(),
        Json::Object(fields) => pairs(fields),
    }
}

/// Returns a mount as `SOURCE:TARGET` words: `{"/": {"bind": "/host"}}`, `{"source": "/", "target": "/host"}`.
fn pairs(fields: &Map<String, Json>) -> Vec<String> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key).and_then(Json::as_str));
    let from = text(&["source", "Source", "host", "hostPath", "host_path", "src"]);
    let to = text(&["target", "Target", "destination", "containerPath", "container_path", "container", "dst"]);
    if let (Some(from), Some(to)) = (from, to) {
        return vec![texts::word(&format!("{from}:{to}"))];
    }
    let bound = |value: &Json| value.get("bind").and_then(Json::as_str).or(value.as_str()).map(str::to_owned);
    fields.iter().filter_map(|(key, value)| Some(texts::word(&format!("{key}:{}", bound(value)?)))).collect()
}

/// Returns a text unchanged, a list as words, an object as options.
fn raw(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(fields) => fields.iter().filter_map(option).collect::<Vec<_>>().join(" "),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => written(value).join(" "),
    }
}

/// Returns an option of an object such as `{"grace-period": 0, "force": true}`.
fn option((key, value): (&String, &Json)) -> Option<String> {
    let key = key.trim_start_matches('-');
    match value {
        Json::Bool(true) => Some(format!("--{key}")),
        Json::Bool(false) | Json::Null => None,
        Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            Some(format!("--{key}={}", written(value).join(",")))
        }
    }
}
