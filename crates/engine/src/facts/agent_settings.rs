//! An agent's settings file, parsed as strictly as the agent does: what the agent would drop, where, and why.

mod json;
mod types;

use crate::text::glob;
use json::{Dialect, Json, Kind, read};
use reflex_tables::Tables;
use reflex_tables::views::SettingsForm;
use serde_json::Value;
use std::fmt;

/// The format in which a client reads one of its files: an entry of `library/settings`.
#[derive(Debug, Clone, Copy)]
pub struct SettingsFormat(SettingsForm<'static>);

/// The position and reason of a client's rejection of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unloadable {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Unloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.why)
    }
}

impl SettingsFormat {
    /// Returns the format of the file at this path; `None` if unknown.
    pub fn for_path(tables: Tables, path: &str, home: &str) -> Option<SettingsFormat> {
        let fits = |form: &SettingsForm<'static>| form.paths().iter().any(|pattern| glob::fits(pattern, path, home));
        tables.library().settings().iter().find(fits).map(SettingsFormat)
    }

    /// Returns all known formats.
    pub fn all(tables: Tables) -> impl Iterator<Item = SettingsFormat> {
        tables.library().settings().iter().map(SettingsFormat)
    }

    /// Returns its name in the library.
    pub fn name(self) -> &'static str {
        self.0.form()
    }

    /// Returns the agent that reads the file.
    pub fn agent(self) -> &'static str {
        self.0.agent()
    }

    /// Returns the version of the client with which the format was observed.
    pub fn version(self) -> &'static str {
        self.0.version()
    }

    /// Whether the client refuses to start with an unreadable text, including a project's, or loses all hooks.
    pub fn stops(self) -> bool {
        self.0.stops()
    }

    /// Returns the paths of files of this format: relative to the home folder with `~/`, otherwise to a project.
    pub fn paths(self) -> impl Iterator<Item = &'static str> {
        self.0.paths().iter()
    }

    /// Returns other files that the client's hooks depend on, in the notation of [`SettingsFormat::paths`].
    pub fn beside(self) -> impl Iterator<Item = &'static str> {
        self.0.with().iter()
    }

    /// Returns the variables that make the client skip the user's hooks.
    pub fn variables(self) -> impl Iterator<Item = &'static str> {
        self.0.variables().iter()
    }

    /// Returns the settings that the hooks depend on; all settings if that is unknown.
    pub fn weighty(self, value: &Value) -> Value {
        let keys: Vec<&str> = self.0.weighty().iter().collect();
        let Some(map) = value.as_object().filter(|_| !keys.is_empty()) else { return value.clone() };
        let weighty = map.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        weighty.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Parses a text as the client does.
    ///
    /// # Errors
    /// The position and the reason for which the client rejects the file.
    pub fn load(self, bytes: &[u8]) -> Result<Value, Unloadable> {
        let decoded = String::from_utf8_lossy(bytes);
        let at = |at: usize, why: String| placed(&decoded, at, why);
        if matches!(decoded, std::borrow::Cow::Owned(_)) && !self.reads("bytes") {
            let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
            return Err(placed(&decoded, at, "invalid UTF-8".into()));
        }
        let text = decoded.strip_prefix(MARK).unwrap_or(&decoded);
        let marked = decoded.len() - text.len();
        if marked > 0 && !self.reads("mark") {
            return Err(at(0, "a byte-order mark".into()));
        }
        if self.0.format() != "json" {
            return Ok(Value::String(text.to_owned()));
        }
        if text.trim().is_empty() && self.reads("empty") {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        let value = read(text, self.dialect()).map_err(|(place, why)| at(place + marked, why))?;
        self.check(&value).map_err(|(place, why)| at(place + marked, why))?;
        Ok(value.plain())
    }

    /// Returns the same settings in a text that the client accepts; `None` if safe edits are not sufficient.
    pub fn repaired(self, bytes: &[u8]) -> Option<String> {
        let decoded = std::str::from_utf8(bytes).ok()?;
        let text = decoded.strip_prefix(MARK).unwrap_or(decoded);
        let before = read(text, Dialect::LENIENT).ok()?.plain();
        let mended = bare(text);
        let after = self.load(mended.as_bytes()).ok()?;
        (before == after).then_some(mended)
    }

    fn reads(self, what: &str) -> bool {
        self.0.reads().iter().any(|known| known == what)
    }

    fn dialect(self) -> Dialect {
        let [comments, commas, twice, halves] = ["comments", "commas", "twice", "halves"].map(|key| self.reads(key));
        Dialect { comments, commas, twice, halves }
    }

    fn check(self, value: &Json) -> Result<(), json::Broken> {
        let Kind::Map(entries) = &value.kind else { return Err((value.at, "settings that are not a map".into())) };
        let known = self.0.known();
        let is_known = |key: &str| known.is_empty() || known.iter().any(|name| name == key);
        if let Some((key, value)) = entries.iter().find(|(key, _)| !is_known(key)) {
            return Err((value.at, format!("unknown key `{key}`")));
        }
        let events: Vec<&str> = self.0.events().iter().collect();
        self.0.types().iter().try_for_each(|line| types::check(value, line, &events))
    }
}

/// The byte-order mark, which some editors prepend to a text.
const MARK: char = '\u{feff}';

fn placed(text: &str, at: usize, why: String) -> Unloadable {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").trim_start_matches(MARK).chars().count() + 1;
    Unloadable { line, column, why }
}

/// Returns the text without comments and trailing commas; all other characters stay.
fn bare(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(ch) = rest.chars().next() {
        let length = match ch {
            '"' => quoted(rest),
            '/' if rest.starts_with("//") => {
                kept.truncate(kept.trim_end_matches([' ', '\t']).len());
                rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or("");
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.get(rest.find("*/").map_or(rest.len(), |end| end + 2)..).unwrap_or("");
                continue;
            }
            '}' | ']' => {
                without_last_comma(&mut kept);
                1
            }
            ch => ch.len_utf8(),
        };
        kept.push_str(rest.get(..length).unwrap_or(""));
        rest = rest.get(length..).unwrap_or("");
    }
    kept
}

fn without_last_comma(kept: &mut String) {
    let end = kept.trim_end().len();
    if kept.get(..end).is_some_and(|text| text.ends_with(',')) {
        kept.remove(end - 1);
    }
}

/// Returns the length in bytes of the quoted string at the start of a text.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        if byte == b'"' && !escaped {
            return index + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    text.len()
}
