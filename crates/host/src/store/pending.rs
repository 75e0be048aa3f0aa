//! A call that did not run and waits for a person to decide.

use super::appeal::Appeal;
use super::bound::Bound;
use super::fields::{list, number, text};
use super::scope::Scope;
use crate::system::digest::digest;
use crate::system::random;
use serde_json::{Map, Value, json};

/// A call that was refused or asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pending {
    /// Seven letters and digits, as a person types them.
    pub id: String,
    /// The id of its record.
    pub record: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// `ask` or `deny`.
    pub decision: String,
    /// The agent.
    pub client: String,
    /// Its name for the session.
    pub session: String,
    /// The task that a person declared, if there is one.
    pub task: String,
    /// The root of the project.
    pub workspace: String,
    /// The folder it would run in.
    pub cwd: String,
    /// What would run, without secrets.
    pub text: String,
    /// Whether `text`, `parts` and `effects` are all of it, or were too long to keep.
    pub whole: bool,
    /// The parts of a compound, as they would run.
    pub parts: Vec<String>,
    /// What it would do.
    pub effects: Vec<String>,
    /// Why it was refused.
    pub reasons: Vec<String>,
    /// The parts of the text that they are about.
    pub guilty: Vec<String>,
    /// Milliseconds since 1970 until which a hook waits for the answer; 0 where none does.
    pub until: u64,
    /// Ids of the findings that decided.
    pub findings: Vec<String>,
    /// Whether one of them is of the core tier.
    pub core: bool,
    /// What makes a retry the same call.
    pub exact: String,
    /// The same for a yes that holds more often than once: what the call pushes may change.
    pub lasting: String,
    /// What it takes its orders from, as that was.
    pub bound: Vec<Bound>,
    /// The agent's own name for the call; empty if it has none.
    pub call: String,
    /// The call itself as a universal event, where all of it is kept and no secret is in it.
    pub again: Option<Map<String, Value>>,
    /// Requests that it may run.
    pub appeals: Vec<Appeal>,
}

/// A short name for a call that a person can type and nobody can foretell.
pub(crate) fn short_id() -> String {
    const LETTERS: usize = 7;
    random::token(LETTERS)
}

impl Pending {
    /// Its form for machines.
    pub fn json(&self) -> Value {
        json!({
            "schema": "reflex/pending-v1", "id": self.id, "record": self.record, "time": self.time,
            "decision": self.decision, "agent": self.client, "session": self.session, "task": self.task,
            "workspace": self.workspace, "cwd": self.cwd, "text": self.text, "whole": self.whole, "parts": self.parts,
            "effects": self.effects, "reasons": self.reasons, "guilty": self.guilty, "until": self.until, "findings": self.findings, "core": self.core,
            "exact": self.exact, "lasting": self.lasting, "again": self.again, "holder": self.holder(),
            "bound": self.bound.iter().map(Bound::json).collect::<Vec<_>>(),
            "appeals": self.appeals.iter().map(Appeal::json).collect::<Vec<_>>(),
        })
    }

    pub(super) fn from_json(map: &Map<String, Value>) -> Pending {
        let items = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
        Pending {
            id: text(map, "id"),
            record: text(map, "record"),
            time: number(map, "time"),
            decision: text(map, "decision"),
            client: text(map, "agent"),
            session: text(map, "session"),
            task: text(map, "task"),
            workspace: text(map, "workspace"),
            cwd: text(map, "cwd"),
            text: text(map, "text"),
            // A file of an older version holds at most 4096 bytes of each text.
            whole: map.get("whole").and_then(Value::as_bool).unwrap_or_else(|| text(map, "text").len() < 4096),
            parts: list(map, "parts"),
            effects: list(map, "effects"),
            reasons: list(map, "reasons"),
            guilty: list(map, "guilty"),
            until: number(map, "until"),
            findings: list(map, "findings"),
            core: map.get("core").and_then(Value::as_bool).unwrap_or(true),
            exact: text(map, "exact"),
            lasting: text(map, "lasting"),
            bound: items("bound").filter_map(Bound::from_json).collect(),
            call: String::new(),
            again: map.get("again").and_then(Value::as_object).cloned(),
            appeals: items("appeals").filter_map(Appeal::from_json).collect(),
        }
    }

    /// Who may use a yes to one call or for a session: this agent in this session, or in this project where it names no
    /// session.
    pub fn holder(&self) -> String {
        let client: String = self.client.split_whitespace().collect();
        match self.session.as_str() {
            "" => format!("{client} in {}", self.workspace),
            session => format!("{client} session {session}"),
        }
    }

    /// What a yes of this scope is bound to.
    pub fn mark(&self, scope: Scope) -> &str {
        if scope == Scope::Once { &self.exact } else { &self.lasting }
    }

    /// A digest of the agent's own names for the call, where it has such.
    pub(super) fn name(&self) -> Option<String> {
        let names = || format!("{} {} {}", self.client, self.session, self.call);
        (!self.call.is_empty()).then(|| digest(&names()))
    }
}
