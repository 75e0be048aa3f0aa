//! Pauses of the guard, which only a person begins and ends.

use super::signing::signed::Signer;
use super::signing::statement::Kind;
use super::state::Store;
use crate::system::clock;
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::PathBuf;

/// A period in which the guard gives no verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// End in milliseconds since 1970.
    pub until: u64,
    /// The reason.
    pub reason: String,
    /// The person who paused the guard.
    pub by: String,
    /// The project in which it holds; empty for all projects.
    pub within: String,
}

impl Pause {
    /// Whether it holds in this project.
    pub fn holds_in(&self, workspace: &str) -> bool {
        self.within.is_empty() || self.within == workspace
    }

    /// The place, for a sentence: ` in /repo`, or an empty text.
    pub fn place(&self) -> String {
        if self.within.is_empty() { String::new() } else { format!(" in {}", self.within) }
    }
}

/// Maximum length of a pause, in milliseconds.
pub const MAX_PAUSE: u64 = 8 * 3_600_000;

impl Store {
    fn pause_file(&self) -> PathBuf {
        self.folder.join("off.json")
    }

    /// The current pause of the guard, if any.
    pub fn pause(&self) -> Option<Pause> {
        if !self.may_loosen {
            return None;
        }
        let map: Map<String, Value> = serde_json::from_str(&fs::read_to_string(self.pause_file()).ok()?).ok()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let (from, until) = (map.get("from")?.as_u64()?, map.get("until")?.as_u64()?);
        let now = clock::now();
        // A clock that was set back does not extend it.
        let runs = from <= now && now < until && until - from <= MAX_PAUSE;
        let pause = runs.then(|| Pause { until, reason: text("reason"), by: text("by"), within: text("within") })?;
        self.counts(Kind::Pause, &map).then_some(pause)
    }

    /// Ends the pause.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn end_pause(&self) -> io::Result<()> {
        match fs::remove_file(self.pause_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Pauses the guard until a time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin_pause(&self, pause: &Pause, signer: &Signer) -> io::Result<()> {
        let Pause { until, reason, by, within } = pause;
        let fields = json!({
            "schema": "reflex/off-v1", "from": clock::now(), "until": until, "reason": reason, "by": by, "within": within,
        });
        self.put_signed(&self.pause_file(), (signer, Kind::Pause), &fields)
    }
}
