//! Judges recorded calls again, with the facts of now, under the policy in force and under another.

use super::host::Host;
use super::replay_case::recorded;
use crate::config::Candidate;
use reflex_agents::universal;
use reflex_engine::Verdict;
use serde_json::{Map, Value};

impl Host {
    /// The verdicts about a recorded call: under the layers in force, and with the candidate in place of the user's
    /// policy. Both use the facts of now, so that the policy alone makes the difference. `None` if the record does not
    /// hold the full call.
    pub fn backtest(&self, record: &Map<String, Value>, candidate: &Candidate) -> Option<(Verdict, Verdict)> {
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        // A record lists each of several actions, but a call is read from a single one.
        let [_] = record.get("actions")?.as_array()?.as_slice() else { return None };
        let mut event = universal::read(&recorded(record)?).ok()?;
        event.client = text("agent");
        event.workspace = text("workspace");
        event.cwd = Some(text("cwd")).filter(|cwd| !cwd.is_empty()).unwrap_or_else(|| event.workspace.clone());
        let event = self.settled(event);
        let loaded = self.layers(&event.workspace);
        let world = self.world(&event, &loaded);
        let before = self.judge_in(&event, &world, &loaded).verdict;
        let after = self.judge_in(&event, &world, &candidate.within(&loaded)).verdict;
        Some((before, after))
    }
}
