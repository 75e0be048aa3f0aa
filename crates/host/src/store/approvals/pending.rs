//! A call that did not run and waits for a person's decision.

use super::scope::Scope;
use crate::store::appeal::Appeal;
use crate::store::bound::Bound;
use crate::store::fields::{list, number, text};
use crate::system::clock::now;
use crate::system::digest::digest;
use crate::system::random;
use serde_json::{Map, Value, json};

/// A call that was refused or asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pending {
    /// Seven alphanumeric characters, short enough to type.
    pub id: String,
    /// The id of its record.
    pub record: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// The time when it was first listed, in milliseconds since 1970.
    pub listed: u64,
    /// `ask` or `deny`.
    pub decision: String,
    /// The agent.
    pub client: String,
    /// The agent's id of the session.
    pub session: String,
    /// The id of the task that a person declared; empty if none was declared.
    pub task: String,
    /// The root of the project.
    pub workspace: String,
    /// The working directory.
    pub cwd: String,
    /// The agent's name of the tool.
    pub tool: String,
    /// The risk: `low`, `medium`, `high`, `critical` or `none`.
    pub risk: String,
    /// The id of the copy of what it would lose; empty if nothing was copied.
    pub kept: String,
    /// The text that would run, without secrets.
    pub text: String,
    /// The file and the difference that an edit would make, line by line; empty for other calls.
    pub diff: String,
    /// Whether `text`, `parts` and `effects` are complete; else they were too long to store.
    pub is_complete: bool,
    /// The parts of a compound command, as they would run.
    pub parts: Vec<String>,
    /// The effects of the call in words, with the state of the files that it would change.
    pub effects: Vec<String>,
    /// The reasons of the decision.
    pub reasons: Vec<String>,
    /// The parts of the text that the reasons refer to.
    pub guilty: Vec<String>,
    /// Time until which a hook waits for the answer, in milliseconds since 1970; 0 if none waits.
    pub until: u64,
    /// Ids of the decisive findings.
    pub findings: Vec<String>,
    /// Whether one of them is of the core tier.
    pub core: bool,
    /// The fingerprint by which a retry is recognized.
    pub exact: String,
    /// The fingerprint for approvals of more than one call, in which the content that the call pushes may change.
    pub lasting: String,
    /// The files and other inputs that direct the call, in the state they had.
    pub bound: Vec<Bound>,
    /// The agent's id of the call; empty if it has none.
    pub call: String,
    /// The call as a universal event, if it is stored completely and contains no secret.
    pub again: Option<Map<String, Value>>,
    /// Appeals against the refusal.
    pub appeals: Vec<Appeal>,
}

/// A short id for a call: easy to type and impossible to predict.
pub(crate) fn short_id() -> String {
    const LENGTH: usize = 7;
    random::token(LENGTH)
}

impl Pending {
    /// The JSON form.
    pub fn json(&self) -> Value {
        json!({
            "schema": "reflex/pending-v1", "id": self.id, "record": self.record, "time": self.time,
            "listed": self.listed, "decision": self.decision, "agent": self.client, "session": self.session, "task": self.task,
            "workspace": self.workspace, "cwd": self.cwd, "tool": self.tool, "risk": self.risk, "kept": self.kept, "text": self.text, "diff": self.diff, "whole": self.is_complete, "parts": self.parts,
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
            listed: number(map, "listed"),
            decision: text(map, "decision"),
            client: text(map, "agent"),
            session: text(map, "session"),
            task: text(map, "task"),
            workspace: text(map, "workspace"),
            cwd: text(map, "cwd"),
            tool: text(map, "tool"),
            risk: text(map, "risk"),
            kept: text(map, "kept"),
            text: text(map, "text"),
            diff: text(map, "diff"),
            is_complete: map.get("whole").and_then(Value::as_bool).unwrap_or(false),
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

    /// The lines that a person reads before an answer: the text, or the difference that an edit would make.
    pub fn lines(&self) -> Vec<&str> {
        let text = if self.diff.is_empty() { &self.text } else { self.diff.trim_end() };
        text.split('\n').collect()
    }

    /// Says what is kept of the files that the call would lose; `None` if it would lose none.
    pub fn keeping(&self) -> Option<String> {
        let is_lost = |bound: &Bound| bound.shown.starts_with("loses ") || bound.shown.starts_with("writes over ");
        match self.kept.as_str() {
            "" => self.bound.iter().any(is_lost).then(|| "nothing: an approved call loses it for good".to_owned()),
            id => Some(format!("a copy: `reflex undo {id}` brings it back")),
        }
    }

    /// The risk, the tool and the agent, for a heading: `high risk, Bash, by codex`.
    pub fn heading(&self) -> String {
        let risk =
            if matches!(self.risk.as_str(), "" | "none") { String::new() } else { format!("{} risk, ", self.risk) };
        let tool = if self.tool.is_empty() { String::new() } else { format!("{}, ", self.tool) };
        format!("{risk}{tool}by {}", self.client)
    }

    /// The beginning of the call on one line, for a sentence about it.
    pub fn title(&self) -> String {
        const MAX_CHARS: usize = 60;
        let line = self.text.lines().next().unwrap_or("");
        let end = line.char_indices().nth(MAX_CHARS).map_or(line.len(), |(end, _)| end);
        let cut = if end < self.text.trim_end().len() { "…" } else { "" };
        format!("{}{cut}", line.get(..end).unwrap_or(""))
    }

    /// Whether a hook waits for the answer now, as far as [`answers::waiting`](super::answers::waiting) found.
    pub fn waits(&self) -> bool {
        self.until > now()
    }

    /// The holder of an approval for one call or a session: this agent and session, or this agent and project if it
    /// names no session.
    pub fn holder(&self) -> String {
        let client: String = self.client.split_whitespace().collect();
        match self.session.as_str() {
            "" => format!("{client} in {}", self.workspace),
            session => format!("{client} session {session}"),
        }
    }

    /// The fingerprint that an approval of this scope is bound to.
    pub fn mark(&self, scope: Scope) -> &str {
        if scope == Scope::Once { &self.exact } else { &self.lasting }
    }

    /// A digest of the agent's ids of the session and the call; `None` if the call has none.
    pub(super) fn name(&self) -> Option<String> {
        let names = || format!("{} {} {}", self.client, self.session, self.call);
        (!self.call.is_empty()).then(|| digest(&names()))
    }
}
