//! A person's approval or refusal of a call, and the calls that it covers.

use super::pending::Pending;
use super::scope::Scope;
use crate::store::fields::{number, text};
use serde_json::{Map, Value, json};

/// Maximum time in milliseconds between the hooks of an agent that are asked about one call.
const AT_ONCE: u64 = 10_000;

/// A person's approval or refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The id of the call that it answers.
    pub id: String,
    /// Whether the call may run.
    pub allow: bool,
    /// The fingerprint that a call must have.
    pub exact: String,
    /// The scope.
    pub scope: Scope,
    /// The session, task or project in which it holds, depending on the scope.
    pub within: String,
    /// Creation time in milliseconds since 1970.
    pub time: u64,
    /// Expiry in milliseconds since 1970.
    pub expires: u64,
    /// Number of uses.
    pub uses: u64,
    /// Digest of the agent's ids of the session and call of the last use. Several hooks may be asked about one call.
    pub used_for: String,
    /// Time of the last use in milliseconds since 1970.
    pub used: u64,
    /// The person: name or number of the user, and the terminal.
    pub by: String,
    /// The reason.
    pub reason: String,
    /// The text of the call as shown to the person.
    pub text: String,
    /// Whether it is signed, if a signature is required.
    pub vouched: bool,
}

impl Grant {
    /// The JSON form.
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
            by: text(map, "by"),
            reason: text(map, "reason"),
            text: text(map, "text"),
            vouched: false,
        })
    }

    /// Whether it approves this call now.
    pub fn covers(&self, call: &Pending, now: u64) -> bool {
        let within = match self.scope {
            Scope::Once => self.within == call.holder() && (self.uses == 0 || self.was_just_used_for(call, now)),
            Scope::Session => self.within == call.holder(),
            Scope::Task => self.within == call.task && !call.task.is_empty(),
            Scope::Repository => self.within == call.workspace && !call.workspace.is_empty(),
        };
        // An approval of a call that a core rule stopped holds once.
        let held = self.scope == Scope::Once || !call.core;
        self.allow && within && held && now < self.expires && self.time <= now && self.exact == call.mark(self.scope)
    }

    /// Whether it refuses this call now.
    pub fn refuses(&self, call: &Pending, now: u64) -> bool {
        let is_it = self.within == call.holder() && self.exact == call.exact;
        !self.allow && is_it && self.time <= now && now < self.expires
    }

    /// Whether it would cover this call if its only use had ended without an answer.
    pub(super) fn covers_unused(&self, call: &Pending, now: u64) -> bool {
        Grant { uses: 0, ..self.clone() }.covers(call, now)
    }

    /// Whether another hook of the agent used it for this very call a moment ago.
    pub(super) fn was_just_used_for(&self, call: &Pending, now: u64) -> bool {
        call.name().is_some_and(|name| name == self.used_for) && self.used <= now && now - self.used <= AT_ONCE
    }
}
