//! A person's answer from the page: the same approval or refusal that `reflex approve` and `reflex deny` write.

use crate::waiting::visible;
use reflex_host::answers::{
    Reaches, covers, give, obstacle, once, refuse, reject, scoped, usual_length, waiting, written_length,
};
use reflex_host::person::Person;
use reflex_host::signing::Signer;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::{Host, Instead};
use serde::Deserialize;

/// An answer as sent by the page.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Answer {
    /// The call's id.
    pub(crate) id: String,
    /// Exact identity of the call that was shown: by now another call may be waiting under the same id.
    pub(crate) exact: String,
    /// The `until` of the call when its answer was begun; 0 if no hook waited for it then.
    pub(crate) until: u64,
    /// `allow` or `deny`.
    pub(crate) decision: String,
    /// Scope of an approval; `once` if empty.
    pub(crate) scope: String,
    /// Duration in the notation of the command line; the default duration of the scope if empty.
    #[serde(rename = "for")]
    pub(crate) length: String,
    pub(crate) reason: String,
    /// Message to the agent with a refusal.
    pub(crate) message: String,
    /// Command that the agent should run instead, with a refusal.
    pub(crate) command: String,
}

/// The reason for rejecting an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The answer is invalid.
    Words(String),
    /// The call does not wait any more, or was replaced by another.
    Gone,
    /// The call cannot be approved.
    Refused(String),
    /// The answer could not be logged or written.
    Failed(String),
}

impl Answer {
    /// Returns the call that was shown, if it is still waiting.
    fn call(&self, store: &Store) -> Result<Pending, Problem> {
        let call = waiting(store).into_iter().find(|call| call.id == self.id);
        call.filter(|call| call.exact == self.exact).ok_or(Problem::Gone)
    }

    fn grant(&self, call: &Pending, person: &Person) -> Result<Grant, Problem> {
        let name = if self.scope.is_empty() { Scope::Once.name() } else { &self.scope };
        let scope = Scope::named(name).ok_or_else(|| Problem::Words(format!("unknown scope `{name}`")))?;
        let length = match self.length.trim() {
            "" => usual_length(scope),
            written => written_length(written).map_err(Problem::Words)?,
        };
        if let Some(why) = obstacle(call) {
            return Err(Problem::Refused(why));
        }
        scoped(once(call, person, self.reason.trim()), call, scope, length).map_err(Problem::Refused)
    }

    fn instead(&self, host: &Host, call: &Pending) -> Result<Instead, Problem> {
        host.instead(call, self.command.trim()).map_err(Problem::Refused)
    }

    /// Describes in a sentence what an approval would let run, or the verdict on the command in place of the call.
    pub(crate) fn preview(&self, host: &Host, person: &Person) -> Result<String, Problem> {
        let call = self.call(&host.store())?;
        if self.decision == "deny" && !self.command.trim().is_empty() {
            let Instead { message, verdict } = self.instead(host, &call)?;
            return Ok(format!("The agent receives: {message}. Judged: {verdict}."));
        }
        self.grant(&call, person).map(|grant| covers(&grant))
    }

    /// Writes the answer and returns the outcome as a sentence.
    pub(crate) fn take(&self, host: &Host, person: &Person, signer: &Signer) -> Result<String, Problem> {
        let call = self.call(&host.store())?;
        let shown = Pending { until: self.until, ..call.clone() };
        let outcome = self.outcome(host, &shown, (person, signer))?;
        Ok(format!("{}: {outcome}", visible(&call.title())))
    }

    fn outcome(
        &self,
        host: &Host,
        call: &Pending,
        (person, signer): (&Person, &Signer),
    ) -> Result<&'static str, Problem> {
        let (message, command) = (self.message.trim(), self.command.trim());
        let store = &host.store();
        match self.decision.as_str() {
            "allow" if command.is_empty() => {
                let grant = self.grant(call, person)?;
                give(store, (call, &grant), signer).map(Reaches::approved).map_err(Problem::Failed)
            }
            "deny" if !command.is_empty() => {
                let instead = self.instead(host, call)?;
                refuse(store, (call, person), &instead.message, signer).map(Reaches::refused).map_err(Problem::Failed)
            }
            "deny" if message.is_empty() => {
                reject(store, call, person, self.reason.trim()).map_err(Problem::Failed)?;
                Ok("denied; it stays blocked")
            }
            "deny" => refuse(store, (call, person), message, signer).map(Reaches::refused).map_err(Problem::Failed),
            "allow" => Err(Problem::Words("`command` is only valid with `deny`: the agent receives it instead".into())),
            other => Err(Problem::Words(format!("unknown decision `{other}`; known: allow, deny"))),
        }
    }
}

/// The answer to a call: `None` while it waits.
pub(crate) fn outcome(store: &Store, id: &str) -> Option<Grant> {
    store.grants().into_iter().find(|grant| grant.id == id && grant.vouched)
}
