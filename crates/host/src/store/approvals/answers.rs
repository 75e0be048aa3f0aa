//! Actions of a person on a waiting call. Every interface uses them, and each ends in a signed approval or refusal.
//! Texts are returned unescaped: the caller makes hidden characters visible.

use super::{Grant, Pending, Scope};
use crate::store::signing::{Signer, SigningError};
use crate::store::state::Store;
use crate::system::clock::{duration, local, now};
use crate::system::fault::Fault;
use crate::system::person::Person;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::io;

/// A person's action on a call did not happen.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The action cannot be recorded in the audit log.
    #[error("not done, because it cannot be logged: {0}")]
    Unlogged(io::Error),
    /// An approval or refusal cannot be written.
    #[error("the answer cannot be written: {0}")]
    Unwritten(io::Error),
    /// A file of the call or its approval cannot be removed.
    #[error("its file cannot be removed: {0}")]
    Unremoved(io::Error),
    /// An answer cannot be signed.
    #[error(transparent)]
    Unsigned(#[from] SigningError),
    /// Only an approval of one call goes without a reason.
    #[error("an approval for more than one call needs --reason")]
    NoReason,
    /// A core rule stopped the call.
    #[error("a core rule stopped this call: it can only be approved once")]
    Core,
    /// The call has no session, task or repository for this scope.
    #[error("this call belongs to no {}", .0.name())]
    OutOfScope(Scope),
    /// The text is not a duration, or it is too long.
    #[error("invalid duration `{0}` (e.g. 10m, 2h; max 365d)")]
    Duration(String),
    /// The reason why an approval of the call would not hold, as a sentence without its full stop.
    #[error("{0}")]
    Obstacle(String),
    /// The text typed as a proof is not the id of the call.
    #[error("that is not the id of the call")]
    OtherId,
}

impl AnswerError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            AnswerError::NoReason | AnswerError::Duration(_) => Fault::Request,
            AnswerError::Core | AnswerError::OutOfScope(_) | AnswerError::Obstacle(_) | AnswerError::OtherId => {
                Fault::State
            }
            AnswerError::Unsigned(error) => error.fault(),
            AnswerError::Unlogged(_) | AnswerError::Unwritten(_) | AnswerError::Unremoved(_) => Fault::Machine,
        }
    }
}

/// Default lifetime of an approval of one call, in milliseconds.
const FEW_MINUTES: u64 = 15 * 60_000;

/// Maximum lifetime of an approval, in milliseconds.
const MAX_LENGTH: u64 = 365 * DAY;

const DAY: u64 = 86_400_000;

/// The calls that were refused or asked about and were not approved: first those whose hook waits for the answer, then
/// those that were stopped earlier, which a later approval lets run when they are tried again. Both newest first.
pub fn waiting(store: &Store) -> Vec<Pending> {
    let mut all: Vec<Pending> = store.pending().into_iter().map(|call| awaited(store, call)).collect();
    all.extend(store.lapsed_calls());
    all.sort_by_key(|call| (!call.waits(), Reverse(call.time)));
    all
}

/// The call with the time until which a hook waits for its answer.
pub fn awaited(store: &Store, call: Pending) -> Pending {
    let until = if call.until > 0 { store.wait_end(&call.id).map_or(0, |end| end.until) } else { 0 };
    Pending { until, ..call }
}

/// Returns the number of calls whose hook waits now, and of those that were stopped earlier.
pub fn counts(calls: &[Pending]) -> (usize, usize) {
    let now = calls.iter().filter(|call| call.waits()).count();
    (now, calls.len() - now)
}

/// Removes the calls that no hook waits for from the list; they stay blocked. Returns their number.
///
/// # Errors
/// It cannot be logged or a file cannot be removed.
pub fn clear(store: &Store, person: &Person) -> Result<usize, AnswerError> {
    let earlier: Vec<Pending> = waiting(store).into_iter().filter(|call| !call.waits()).collect();
    if earlier.is_empty() {
        return Ok(0);
    }
    let ids: Vec<&str> = earlier.iter().map(|call| call.id.as_str()).collect();
    record(store, "cleared", json!({"pending": ids, "by": person.name}))?;
    earlier.iter().try_for_each(|call| store.forget_pending(&call.id)).map_err(AnswerError::Unremoved)?;
    Ok(earlier.len())
}

/// Records a person's action in the audit log. An action that cannot be recorded must not happen.
///
/// # Errors
/// The record cannot be written.
pub fn record(store: &Store, kind: &'static str, fields: Value) -> Result<(), AnswerError> {
    store.note(kind, fields).map_err(AnswerError::Unlogged)
}

/// An approval of this call, for its next attempt.
pub fn once(call: &Pending, person: &Person, reason: &str) -> Grant {
    let time = now();
    Grant {
        id: call.id.clone(),
        allow: true,
        exact: call.exact.clone(),
        scope: Scope::Once,
        within: call.holder(),
        time,
        expires: time + FEW_MINUTES,
        uses: 0,
        used_for: String::new(),
        used: 0,
        by: person.name.clone(),
        reason: reason.into(),
        text: call.text.clone(),
        vouched: true,
    }
}

/// Extends an approval to more than one call.
///
/// # Errors
/// The reason why this call cannot be approved with this scope.
pub fn scoped(once: Grant, call: &Pending, scope: Scope, length: u64) -> Result<Grant, AnswerError> {
    if scope != Scope::Once && once.reason.trim().is_empty() {
        return Err(AnswerError::NoReason);
    }
    if scope != Scope::Once && call.core {
        return Err(AnswerError::Core);
    }
    let within = match scope {
        Scope::Once | Scope::Session => call.holder(),
        Scope::Task => call.task.clone(),
        Scope::Repository => call.workspace.clone(),
    };
    if scope != Scope::Once && within.is_empty() {
        return Err(AnswerError::OutOfScope(scope));
    }
    let time = now();
    let exact = call.mark(scope).to_owned();
    Ok(Grant { scope, exact, within, time, expires: time + length, ..once })
}

/// Default lifetime of an approval by scope, in milliseconds. An approval for a task also ends with the task, one for a
/// repository when it is revoked.
pub fn usual_length(scope: Scope) -> u64 {
    match scope {
        Scope::Once => FEW_MINUTES,
        Scope::Session => DAY,
        Scope::Task | Scope::Repository => MAX_LENGTH,
    }
}

/// The default lifetime in words.
pub fn usual_length_in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Once => "15m",
        Scope::Session => "1d",
        Scope::Task => "until the task ends",
        Scope::Repository => "365d, or until revoked",
    }
}

/// Parses the lifetime of an approval in milliseconds, as a person writes it.
///
/// # Errors
/// It is not a duration, or too long.
pub fn written_length(written: &str) -> Result<u64, AnswerError> {
    duration(written)
        .filter(|length| (1..=MAX_LENGTH).contains(length))
        .ok_or_else(|| AnswerError::Duration(written.to_owned()))
}

/// The reason why a person cannot approve a call that they have seen.
pub fn obstacle(call: &Pending) -> Option<String> {
    if !call.is_complete {
        return Some("this call is too long to be kept in full: run it yourself if you want it".into());
    }
    if let Some(loose) = call.bound.iter().find(|bound| !bound.firm) {
        let shown = &loose.shown;
        return Some(format!("Reflex could not detect a change of what this call does ({shown}): run it yourself"));
    }
    let other = call.bound.iter().find(|bound| !bound.still_holds())?;
    let path = &other.path;
    Some(format!(
        "{path} has changed since this call was blocked, so an approval would not hold: let the agent try again"
    ))
}

/// The time at which an agent gets to know of a person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaches {
    /// Now: a hook waits for it.
    Hook,
    /// When the agent tries the call again: no hook waited when the answer was begun.
    NextTry,
    /// The same, but a hook waited when the answer was begun, and has ended since.
    TooLate,
}

impl Reaches {
    /// Whom an answer to a call reaches that a person was shown in this state.
    fn of(store: &Store, shown: &Pending) -> Reaches {
        match store.wait_end(&shown.id) {
            Some(_) => Reaches::Hook,
            None if shown.until > 0 => Reaches::TooLate,
            None => Reaches::NextTry,
        }
    }

    /// The result of an approval, in words.
    pub fn approved(self) -> &'static str {
        match self {
            Reaches::Hook => "approved; it runs now",
            Reaches::NextTry => "approved; it runs when its agent tries it again",
            Reaches::TooLate => "too late for this try: its hook has ended. Approved for the next one",
        }
    }

    /// The result of a refusal with a message, in words.
    pub fn refused(self) -> &'static str {
        match self {
            Reaches::Hook => "denied; its agent gets that now",
            Reaches::NextTry => "denied; its agent gets that when it tries it again",
            Reaches::TooLate => "too late for this try: its hook has ended. Denied for the next one",
        }
    }
}

/// Describes the calls that an approval lets run, in a sentence.
pub fn covers(grant: &Grant) -> String {
    let holds = match grant.scope {
        Scope::Once => format!("once, for {}", grant.within),
        Scope::Session | Scope::Task | Scope::Repository => {
            format!("in this {} ({})", grant.scope.name(), grant.within)
        }
    };
    let length = grant.expires.saturating_sub(now()).div_ceil(60_000);
    format!("Approving runs exactly this {holds}, until {} ({length} min).", local(grant.expires))
}

/// Records an approval in the log, then writes it. `call` is the call as the person was shown it.
///
/// # Errors
/// It cannot be logged or written; the call is then not approved.
pub fn give(store: &Store, (call, grant): (&Pending, &Grant), signer: &Signer) -> Result<Reaches, AnswerError> {
    let bound = call.bound.iter().map(|bound| &bound.shown).collect::<Vec<_>>();
    let reaches = Reaches::of(store, call);
    let fields = json!({"pending": grant.id, "of": call.record, "scope": grant.scope.name(), "expires": grant.expires,
        "by": grant.by, "reason": grant.reason, "bound": bound, "late": reaches == Reaches::TooLate});
    record(store, "approval", fields)?;
    store.forget_old_grants();
    store.answer(call, grant, signer).map_err(AnswerError::Unwritten)?;
    Ok(reaches)
}

/// Removes a call from the list: it stays blocked, and an approval of it ends.
///
/// # Errors
/// It cannot be logged or written.
pub fn reject(store: &Store, call: &Pending, person: &Person, reason: &str) -> Result<(), AnswerError> {
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": reason});
    record(store, "denial", fields)?;
    store.revoke(&call.id).and(store.forget_pending(&call.id)).map_err(AnswerError::Unremoved)
}

/// Refuses a call with a message to the agent, which is sent now and when the agent retries within the lifetime of an
/// approval. The agent receives it as a person's words, so it is signed like an approval.
///
/// # Errors
/// It cannot be logged or written.
pub fn refuse(
    store: &Store,
    (call, person): (&Pending, &Person),
    message: &str,
    signer: &Signer,
) -> Result<Reaches, AnswerError> {
    let message: String = message.chars().take(MAX_MESSAGE).collect();
    let reaches = Reaches::of(store, call);
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": message,
        "late": reaches == Reaches::TooLate});
    record(store, "denial", fields)?;
    let no = Grant { allow: false, ..once(call, person, &message) };
    store.answer(call, &no, signer).map_err(AnswerError::Unwritten)?;
    Ok(reaches)
}

/// Maximum number of characters of a message to an agent.
const MAX_MESSAGE: usize = 400;
