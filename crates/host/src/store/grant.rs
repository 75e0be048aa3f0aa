//! A person's yes or no to a call, and the calls that it covers.

use super::fields::{number, text};
use super::pending::Pending;
use super::scope::Scope;
use serde_json::{Map, Value, json};

/// All hooks of an agent are asked about one call within this time.
const AT_ONCE: u64 = 10_000;

/// A person's yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The id of the call it answers.
    pub id: String,
    /// Whether the call may run.
    pub allow: bool,
    /// What the call must be.
    pub exact: String,
    /// For what it holds.
    pub scope: Scope,
    /// The session, task or project it holds in, by its scope.
    pub within: String,
    /// Milliseconds since 1970 when it was given.
    pub time: u64,
    /// Milliseconds since 1970 when it ends.
    pub expires: u64,
    /// How often it was used.
    pub uses: u64,
    /// The agent's own name for the call it was used for last, with the session. Several hooks may be asked about one call.
    pub used_for: String,
    /// Milliseconds since 1970 when it was used last.
    pub used: u64,
    /// Whether the hook that used it last has not said yet that the call may run.
    pub taken: bool,
    /// Who gave it: the user's name or number, and the terminal.
    pub by: String,
    /// Why.
    pub reason: String,
    /// What was shown to the person.
    pub text: String,
    /// Whether it is signed, where it has to be.
    pub vouched: bool,
}

impl Grant {
    /// Its form for machines.
    pub fn json(&self) -> Value {
        json!({
            "schema": "reflex/grant-v1", "id": self.id, "allow": self.allow, "exact": self.exact,
            "scope": self.scope.name(), "within": self.within, "time": self.time, "expires": self.expires,
            "uses": self.uses, "used_for": self.used_for, "used": self.used, "by": self.by, "reason": self.reason, "text": self.text,
        })
    }

    pub(super) fn from_json(map: &Map<String, Value>) -> Option<Grant> {
        Some(Grant {
            id: text(map, "id"),
            allow: map.get("allow")?.as_bool()?,
            exact: text(map, "exact"),
            scope: Scope::named(map.get("scope")?.as_str()?)?,
            within: text(map, "within"),
            time: number(map, "time"),
            expires: number(map, "expires"),
            uses: number(map, "uses"),
            used_for: text(map, "used_for"),
            used: number(map, "used"),
            taken: map.get("taken").and_then(Value::as_bool).unwrap_or(false),
            by: text(map, "by"),
            reason: text(map, "reason"),
            text: text(map, "text"),
            vouched: false,
        })
    }

    /// Whether it answers this call now.
    pub fn covers(&self, call: &Pending, now: u64) -> bool {
        let within = match self.scope {
            Scope::Once => self.within == call.holder() && (self.uses == 0 || self.was_just_used_for(call, now)),
            Scope::Session => self.within == call.holder(),
            Scope::Task => self.within == call.task && !call.task.is_empty(),
            Scope::Repository => self.within == call.workspace && !call.workspace.is_empty(),
        };
        // What a person lets pass of the core, passes once.
        let held = self.scope == Scope::Once || !call.core;
        self.allow && within && held && now < self.expires && self.time <= now && self.exact == call.mark(self.scope)
    }

    /// Whether it says no to this call now.
    pub fn refuses(&self, call: &Pending, now: u64) -> bool {
        let is_it = self.within == call.holder() && self.exact == call.exact;
        !self.allow && is_it && self.time <= now && now < self.expires
    }

    /// Whether it would answer this call if the one hook that took it is gone without an answer.
    pub(super) fn covers_again(&self, call: &Pending, now: u64) -> bool {
        self.taken && self.uses == 1 && Grant { uses: 0, ..self.clone() }.covers(call, now)
    }

    /// Another hook of the agent was asked about this very call a moment ago, and let it pass.
    pub(super) fn was_just_used_for(&self, call: &Pending, now: u64) -> bool {
        call.name().is_some_and(|name| name == self.used_for) && self.used <= now && now - self.used <= AT_ONCE
    }
}
