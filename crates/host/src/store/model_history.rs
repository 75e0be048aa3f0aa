//! The user's prompts and the model's refusals in a session under auto-pilot. One file per session, one line per entry:
//! a JSON list of a word and a text.

use super::redact::{Clean, Redactor};
use super::session::SessionKey;
use super::state::Store;
use crate::system::files::{make_folder, private, put_as_it_is};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Number of consecutive refusals that end auto-pilot for the session.
pub(crate) const MAX_REFUSALS: usize = 3;

/// Number of recent prompts that are included in a question.
const PROMPTS: usize = 5;

/// Maximum length of a stored prompt, in bytes.
const MAX_PROMPT: usize = 4000;

/// Maximum number of lines. A longer file ends auto-pilot for the session.
const MAX_LINES: usize = 2000;

/// The state of auto-pilot in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Judged {
    /// The user's last prompts, oldest first, without secrets.
    pub(crate) prompts: Vec<String>,
    /// The fingerprints of refused calls.
    refused: Vec<String>,
    /// Number of refusals since the last call that was allowed.
    row: usize,
    /// Whether auto-pilot has ended.
    pub(crate) has_ended: bool,
}

impl Judged {
    fn read(text: &str) -> Judged {
        let mut judged = Judged { has_ended: text.lines().count() > MAX_LINES, ..Judged::default() };
        for (word, entry) in text.lines().filter_map(|line| serde_json::from_str::<(String, String)>(line).ok()) {
            match word.as_str() {
                "prompt" => judged.prompts.push(entry),
                "allow" => judged.row = 0,
                "refuse" => {
                    judged.row += 1;
                    judged.has_ended |= judged.row >= MAX_REFUSALS;
                    judged.refused.push(entry);
                }
                // Written by a later version.
                _ => {}
            }
        }
        judged.prompts.drain(..judged.prompts.len().saturating_sub(PROMPTS));
        judged
    }

    /// Whether this very call was refused before in the session.
    pub(crate) fn has_refused(&self, exact: &str) -> bool {
        self.refused.iter().any(|refused| refused == exact)
    }
}

impl Store {
    fn judged_file(&self, key: SessionKey<'_>) -> PathBuf {
        self.sessions().join(format!("{}.judged", SessionKey { role: None, subagent: None, ..key }.file()))
    }

    /// The state of auto-pilot in a session. An unreadable file ends it.
    pub(crate) fn judged(&self, key: SessionKey<'_>) -> Judged {
        match fs::read_to_string(self.judged_file(key)) {
            Ok(text) => Judged::read(&text),
            Err(error) => Judged { has_ended: error.kind() != io::ErrorKind::NotFound, ..Judged::default() },
        }
    }

    /// Stores a prompt of the user.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep_prompt(&self, redactor: &Redactor<'_>, key: SessionKey<'_>, prompt: &str) -> io::Result<()> {
        self.add_judged(key, "prompt", &redactor.cleaned(prompt, MAX_PROMPT))
    }

    /// Stores the model's decision about a call, by its fingerprint.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep_choice(
        &self,
        redactor: &Redactor<'_>,
        key: SessionKey<'_>,
        (is_allowed, exact): (bool, &str),
    ) -> io::Result<()> {
        self.add_judged(key, if is_allowed { "allow" } else { "refuse" }, &redactor.digest_made(exact))
    }

    fn add_judged(&self, key: SessionKey<'_>, word: &'static str, text: &Clean) -> io::Result<()> {
        make_folder(&self.sessions())?;
        let line = format!("{}\n", json!([word, **text]));
        let mut file = private().append(true).create(true).open(self.judged_file(key))?;
        // One write, because hooks of the same session may write concurrently.
        file.write_all(line.as_bytes())
    }

    fn measured_file(&self) -> PathBuf {
        self.folder.join("judge.json")
    }

    /// The figures of `reflex judge eval` for this model and version of the question.
    pub fn measured(&self, judge: &str) -> Option<Map<String, Value>> {
        let text = fs::read_to_string(self.measured_file()).ok()?;
        let measured: Map<String, Value> = serde_json::from_str(&text).ok()?;
        measured.get(judge)?.as_object().cloned()
    }

    /// Stores the figures of a model.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_measured(&self, judge: &str, figures: Value) -> io::Result<()> {
        let text = fs::read_to_string(self.measured_file()).unwrap_or_default();
        let mut measured: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        measured.insert(judge.to_owned(), figures);
        put_as_it_is(&self.measured_file(), self.kept(&Value::Object(measured)).text())
    }
}
