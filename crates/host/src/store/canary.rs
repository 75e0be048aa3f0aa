//! Awaited canaries, the hooks that saw them, and the last result of each real client.

use super::redact::{self, put};
use super::search::Search;
use super::state::Store;
use crate::system::clock;
use reflex_engine::{Action, Decision, Event};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The rule that refuses a canary.
pub const CANARY: &str = "guard/canary";

/// The stored decision about a canary that was refused.
pub(crate) const REFUSED: &str = "deny";

/// The stored decision about a canary that was not refused.
const PASSED: &str = "pass";

/// The result of starting a real client with a canary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// `claude`, …
    pub agent: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// The state that was proven: `PROVEN`, `OFF`, …
    pub state: String,
    /// The name of the outcome: `proven`, `refusal-ignored`, …
    pub outcome: String,
    /// The client's version; empty if it reported none.
    pub version: String,
    /// The folder in which it was started.
    pub folder: String,
}

/// Upper bound for the number of canaries that are awaited at once.
const MAX_AWAITED: usize = 64;

impl Store {
    fn live(&self) -> PathBuf {
        self.folder.join("live")
    }

    fn awaited(&self, nonce: &str) -> PathBuf {
        self.live().join(format!("{nonce}.awaited"))
    }

    /// Registers a canary, so that a hook that sees it records its decision.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn await_canary(&self, nonce: &str) -> io::Result<()> {
        self.forget_old_canaries();
        put(&self.awaited(nonce), &redact::Kept::trusted(""))
    }

    /// Removes the canaries of killed runs.
    fn forget_old_canaries(&self) {
        const OLD: Duration = Duration::from_secs(600);
        let is_old = |entry: &fs::DirEntry| {
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
            entry.file_name().to_string_lossy().ends_with(".awaited") && age.is_some_and(|age| age > OLD)
        };
        let entries = fs::read_dir(self.live()).into_iter().flatten().flatten();
        entries.filter(is_old).for_each(|entry| drop(fs::remove_file(entry.path())));
    }

    /// The hook's decision about the canary, if a hook saw it. The canary is then no longer awaited, and its refusal no
    /// longer waits for a person.
    pub(crate) fn canary(&self, nonce: &str) -> Option<String> {
        let file = self.awaited(nonce);
        let text = fs::read_to_string(&file).unwrap_or_default();
        // A remaining file is harmless: a nonce is never used again.
        let _ = fs::remove_file(&file);
        for call in self.pending().into_iter().filter(|call| call.text.contains(nonce)) {
            let _ = self.forget_pending(&call.id);
        }
        let seen: Option<Map<String, Value>> = serde_json::from_str(&text).ok();
        let decision = seen.and_then(|seen| seen.get("decision").and_then(Value::as_str).map(str::to_owned));
        decision.or_else(|| self.is_in_log(nonce).then(|| PASSED.to_owned()))
    }

    /// An older hook does not recognize canaries, but the call is in its log.
    fn is_in_log(&self, nonce: &str) -> bool {
        let search = Search { texts: vec![nonce.to_owned()], ..Search::default() };
        self.log().search(&search, 1).is_ok_and(|found| !found.is_empty())
    }

    /// Records that a hook saw a canary. Only awaited canaries are written, so that an agent cannot fill the disk with
    /// them.
    pub(crate) fn canary_seen(&self, event: &Event, decision: Decision) {
        let Ok(entries) = fs::read_dir(self.live()) else { return };
        let names = entries.take(MAX_AWAITED).flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let nonces: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".awaited")?.to_owned())).collect();
        let Some(nonce) = nonces.iter().find(|nonce| event.actions.iter().any(|action| calls(action, nonce))) else {
            return;
        };
        let decision = if decision == Decision::Deny { REFUSED } else { PASSED };
        let text = json!({"agent": event.client, "decision": decision, "time": clock::now()});
        let _ = put(&self.awaited(nonce), &self.kept(&text));
    }

    /// Stores the result of a client, replacing the previous one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep_proof(&self, kept: &Kept) -> io::Result<()> {
        let text = json!({
            "schema": "reflex/live-v1", "agent": kept.agent, "time": kept.time, "state": kept.state,
            "outcome": kept.outcome, "version": kept.version, "folder": kept.folder,
        });
        put(&self.live().join(format!("{}.json", kept.agent)), &self.kept(&text))
    }

    /// The last result of an agent's real client.
    pub fn proof(&self, agent: &str) -> Option<Kept> {
        let text = fs::read_to_string(self.live().join(format!("{agent}.json"))).ok()?;
        let map: Map<String, Value> = serde_json::from_str(&text).ok()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let (time, agent) = (map.get("time")?.as_u64()?, text("agent")?);
        let (state, outcome) = (text("state")?, text("outcome")?);
        Some(Kept { agent, time, state, outcome, version: text("version")?, folder: text("folder")? })
    }
}

fn calls(action: &Action, nonce: &str) -> bool {
    if let Action::Shell { command, .. } = action {
        command.split_whitespace().any(|word| word == nonce)
    } else {
        false
    }
}
