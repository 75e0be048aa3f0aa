//! What a person's answer to a waiting call does, wherever it was given: each ends in the signed yes or no. The texts
//! are as they came: whoever shows them makes visible what hides.

use super::approvals::{Grant, Pending, Scope};
use super::signing::Signer;
use super::state::Store;
use crate::system::clock::{duration, local, now};
use crate::system::person::Person;
use serde_json::{Value, json};

/// A yes to one call holds so long if nothing else is said.
const FEW_MINUTES: u64 = 15 * 60_000;

/// No yes holds longer.
const LONGEST: u64 = 365 * DAY;

const DAY: u64 = 86_400_000;

/// The calls that were refused or asked about and have no person's yes, newest first.
pub fn waiting(store: &Store) -> Vec<Pending> {
    let grants = store.grants();
    let mut all = store.pending();
    let answered = |grant: &Grant| grant.vouched && (grant.uses > 0 || now() < grant.expires);
    all.retain(|call| !grants.iter().any(|grant| grant.id == call.id && answered(grant)));
    all
}

/// Notes in the audit log what a person does; what cannot be recorded is not done.
///
/// # Errors
/// It cannot be logged.
pub fn record(store: &Store, kind: &'static str, fields: Value) -> Result<(), String> {
    store.note(kind, fields).map_err(|error| format!("not done, because it cannot be logged: {error}"))
}

/// A yes to this call, the next time it comes.
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
        taken: false,
        by: person.name.clone(),
        reason: reason.into(),
        text: call.text.clone(),
        vouched: true,
    }
}

/// The same for more than one call.
///
/// # Errors
/// Why such a yes cannot be given to this call.
pub fn scoped(once: Grant, call: &Pending, scope: Scope, length: u64) -> Result<Grant, String> {
    if scope != Scope::Once && once.reason.trim().is_empty() {
        return Err("an approval for more than one call needs --reason".into());
    }
    if scope != Scope::Once && call.core {
        return Err("a core rule stopped this call: it can only be approved once".into());
    }
    let within = match scope {
        Scope::Once | Scope::Session => call.holder(),
        Scope::Task => call.task.clone(),
        Scope::Repository => call.workspace.clone(),
    };
    if scope != Scope::Once && within.is_empty() {
        return Err(format!("this call belongs to no {}", scope.name()));
    }
    let time = now();
    let exact = call.mark(scope).to_owned();
    Ok(Grant { scope, exact, within, time, expires: time + length, ..once })
}

/// How long a yes holds that names no time: a task's ends with the task, a repository's once it is revoked.
pub fn usual_length(scope: Scope) -> u64 {
    match scope {
        Scope::Once => FEW_MINUTES,
        Scope::Session => DAY,
        Scope::Task | Scope::Repository => LONGEST,
    }
}

/// The same in words.
pub fn usual_length_in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Once => "15m",
        Scope::Session => "1d",
        Scope::Task => "until the task ends",
        Scope::Repository => "365d, or until revoked",
    }
}

/// How long a yes holds, as a person writes it.
///
/// # Errors
/// That is no time, or too long.
pub fn written_length(written: &str) -> Result<u64, String> {
    duration(written)
        .filter(|length| (1..=LONGEST).contains(length))
        .ok_or_else(|| format!("invalid duration `{}` (e.g. 10m, 2h; max 365d)", written))
}

/// Why nobody can say yes to a call, although they saw it.
pub fn obstacle(call: &Pending) -> Option<String> {
    if !call.whole {
        return Some("this call is too long to be kept in full: run it yourself if you want it".into());
    }
    if let Some(loose) = call.bound.iter().find(|bound| !bound.firm) {
        let shown = &loose.shown;
        return Some(format!("nobody could tell a change of what this call does ({shown}): run it yourself"));
    }
    let other = call.bound.iter().find(|bound| !bound.still_holds())?;
    let path = &other.path;
    Some(format!(
        "{path} has changed since this call was blocked, so an approval would not hold: let the agent try again"
    ))
}

/// What a yes lets run, in a sentence.
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

/// Writes a yes, first into the log.
///
/// # Errors
/// It cannot be logged or written; then it is none.
pub fn give(store: &Store, (call, grant): (&Pending, &Grant), signer: &Signer) -> Result<(), String> {
    let bound = call.bound.iter().map(|bound| &bound.shown).collect::<Vec<_>>();
    let fields = json!({"pending": grant.id, "of": call.record, "scope": grant.scope.name(), "expires": grant.expires,
        "by": grant.by, "reason": grant.reason, "bound": bound});
    record(store, "approval", fields)?;
    store.forget_old_grants();
    store.grant(grant, signer).map_err(|error| format!("the approval cannot be written: {error}"))
}

/// Takes a call off the list: it stays blocked, and a yes to it ends.
///
/// # Errors
/// It cannot be logged or written.
pub fn reject(store: &Store, call: &Pending, person: &Person, reason: &str) -> Result<(), String> {
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": reason});
    record(store, "denial", fields)?;
    store.revoke(&call.id).and(store.forget_pending(&call.id)).map_err(|error| error.to_string())
}

/// The same with words that the agent is told, now and when it tries again within the time that a yes would hold. What
/// an agent hears as a person's words is signed like a yes.
///
/// # Errors
/// It cannot be logged or written.
pub fn refuse(
    store: &Store,
    (call, person): (&Pending, &Person),
    message: &str,
    signer: &Signer,
) -> Result<(), String> {
    let message: String = message.chars().take(MAX_MESSAGE).collect();
    let fields = json!({"pending": call.id, "of": call.record, "by": person.name, "reason": message});
    record(store, "denial", fields)?;
    let no = Grant { allow: false, ..once(call, person, &message) };
    let written = store.grant(&no, signer).and_then(|()| store.forget_pending(&call.id));
    written.map_err(|error| error.to_string())
}

/// A message to an agent has so many letters.
const MAX_MESSAGE: usize = 400;
