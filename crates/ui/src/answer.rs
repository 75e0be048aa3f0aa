//! A person's answer from the page: the same yes or no as `reflex approve` and `reflex deny` write.

use reflex_host::answers::{
    covers, give, obstacle, once, refuse, reject, scoped, usual_length, waiting, written_length,
};
use reflex_host::person::Person;
use reflex_host::signing::Signer;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::{Host, Mode};
use serde::Deserialize;

/// What the page sends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Answer {
    /// The call's id.
    pub(crate) id: String,
    /// What made the call the one that was shown: under its id another may wait by now.
    pub(crate) exact: String,
    /// `allow` or `deny`.
    pub(crate) decision: String,
    /// For what a yes holds; `once` where nothing is said.
    pub(crate) scope: String,
    /// How long, as a person writes it; the scope's usual time where nothing is said.
    #[serde(rename = "for")]
    pub(crate) length: String,
    pub(crate) reason: String,
    /// What the agent is told with a no.
    pub(crate) message: String,
    /// What the agent shall run instead, with a no.
    pub(crate) command: String,
}

/// Why an answer is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The words make no answer.
    Words(String),
    /// The call waits no more, or is another by now.
    Gone,
    /// A yes to it cannot be given.
    Refused(String),
    /// It could not be logged or written.
    Failed(String),
}

impl Answer {
    /// The call that was seen, if it still waits.
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

    /// What a yes would let run, in a sentence.
    pub(crate) fn preview(&self, store: &Store, person: &Person) -> Result<String, Problem> {
        let call = self.call(store)?;
        self.grant(&call, person).map(|grant| covers(&grant))
    }

    /// Writes the answer; what became of it, in a sentence.
    pub(crate) fn take(&self, store: &Store, person: &Person, signer: &Signer) -> Result<&'static str, Problem> {
        let call = self.call(store)?;
        let (message, command) = (self.message.trim(), self.command.trim());
        match self.decision.as_str() {
            "allow" if command.is_empty() => {
                let grant = self.grant(&call, person)?;
                give(store, (&call, &grant), signer).map_err(Problem::Failed)?;
                Ok("approved; a hook that waits lets it run now")
            }
            "deny" if !command.is_empty() => {
                let words = Host::new(Mode::default()).instead(&call, command).map_err(Problem::Refused)?;
                refuse(store, (&call, person), &words, signer).map_err(Problem::Failed)?;
                Ok("the agent is told to run that instead")
            }
            "deny" if message.is_empty() => {
                reject(store, &call, person, self.reason.trim()).map_err(Problem::Failed)?;
                Ok("denied; it stays blocked")
            }
            "deny" => {
                refuse(store, (&call, person), message, signer).map_err(Problem::Failed)?;
                Ok("denied, and the agent is told")
            }
            "allow" => {
                Err(Problem::Words("another command comes with a no: the agent is told to run it instead".into()))
            }
            other => Err(Problem::Words(format!("unknown decision `{other}`; known: allow, deny"))),
        }
    }
}

/// What a call came to: `None` while it waits.
pub(crate) fn outcome(store: &Store, id: &str) -> Option<Grant> {
    store.grants().into_iter().find(|grant| grant.id == id && grant.vouched)
}
