//! A person's answer from the page: the same approval or refusal that `reflex approve` and `reflex deny` write.

use crate::waiting::visible;
use reflex_host::answers::{
    AnswerError, covers, give, obstacle, once, refuse, reject, scoped, usual_length, waiting, written_length,
};
use reflex_host::person::Person;
use reflex_host::signing::Signer;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::{Host, Instead, NotInstead};
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
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// The name is that of no scope.
    #[error("unknown scope `{0}`")]
    Scope(String),
    /// The decision is not an answer.
    #[error("unknown decision `{0}`; known: allow, deny")]
    Decision(String),
    /// A command was sent with an approval.
    #[error("`command` is only valid with `deny`: the agent receives it instead")]
    CommandApproved,
    /// The call does not wait any more, or was replaced by another.
    #[error("this call no longer waits, or was replaced by another")]
    Gone,
    /// The command cannot run in place of the call.
    #[error(transparent)]
    Instead(#[from] NotInstead),
    /// The call cannot be answered like that, or the answer could not be written.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

impl Answer {
    /// Returns the call that was shown, if it is still waiting.
    fn call(&self, store: &Store) -> Result<Pending, Problem> {
        let call = waiting(store).into_iter().find(|call| call.id == self.id);
        call.filter(|call| call.exact == self.exact).ok_or(Problem::Gone)
    }

    fn grant(&self, call: &Pending, person: &Person) -> Result<Grant, Problem> {
        let name = if self.scope.is_empty() { Scope::Once.name() } else { &self.scope };
        let scope = Scope::named(name).ok_or_else(|| Problem::Scope(name.to_owned()))?;
        let length = match self.length.trim() {
            "" => usual_length(scope),
            written => written_length(written)?,
        };
        if let Some(why) = obstacle(call) {
            return Err(AnswerError::Obstacle(why).into());
        }
        Ok(scoped(once(call, person, self.reason.trim()), call, scope, length)?)
    }

    fn instead(&self, host: &Host, call: &Pending) -> Result<Instead, Problem> {
        Ok(host.instead(call, self.command.trim())?)
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
                Ok(give(store, (call, &grant), signer)?.approved())
            }
            "deny" if !command.is_empty() => {
                let instead = self.instead(host, call)?;
                Ok(refuse(store, (call, person), &instead.message, signer)?.refused())
            }
            "deny" if message.is_empty() => {
                reject(store, call, person, self.reason.trim())?;
                Ok("denied; it stays blocked")
            }
            "deny" => Ok(refuse(store, (call, person), message, signer)?.refused()),
            "allow" => Err(Problem::CommandApproved),
            other => Err(Problem::Decision(other.to_owned())),
        }
    }
}

/// The answer to a call: `None` while it waits.
pub(crate) fn outcome(store: &Store, id: &str) -> Option<Grant> {
    store.grants().into_iter().find(|grant| grant.id == id && grant.vouched)
}
