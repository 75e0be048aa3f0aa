//! The sentences in which a verdict explains a finding, and the steps that it leaves to a person.

use crate::model::event::{Event, Moment};
use crate::model::finding::{Decision, Finding};
use crate::model::reason::Reason;

/// Returns the harm and the remedy, followed by the trigger and the rule.
pub(super) fn reason_for(decision: Decision, finding: &Finding) -> Reason {
    let begin = match decision {
        Decision::Pass => "Warning",
        Decision::Ask => "Needs approval",
        Decision::Deny => "Blocked",
    };
    let Finding { id, category, message, remedy, .. } = finding;
    let part = part(finding);
    let remedy = if remedy.is_empty() { String::new() } else { sentence(remedy) };
    if finding.by_stranger {
        let part = if part == IT { String::new() } else { format!("{part}. ") };
        let harm = format!("{begin}: {part}{message}");
        let full = if remedy.is_empty() { harm.clone() } else { format!("{harm} {remedy}") };
        return Reason { harm, remedy, rule: String::new(), full };
    }
    // "Blocked: would delete …"
    let harm = message.strip_prefix("It ").filter(|rest| rest.starts_with("would ")).unwrap_or(message);
    let is_ended = harm.ends_with(['.', '!', '?']);
    if !is_ended && remedy.is_empty() && finding.category == "reflex" {
        // A module author's message is kept as written, without an added period.
        let full = format!("{begin}: {harm} ({part} matches safety pattern `{id}`, category: {category})");
        return Reason { harm: format!("{begin}: {harm}"), remedy, rule: id.clone(), full };
    }
    let harm = format!("{begin}: {harm}{}", if is_ended { "" } else { "." });
    let space = if remedy.is_empty() { "" } else { " " };
    let full = format!("{harm}{space}{remedy} {part} matches safety pattern `{id}` (category: {category}).");
    Reason { harm, remedy, rule: id.clone(), full }
}

/// Returns a warning about data that is kept under an id. It needs no remedy: the call runs and can be undone.
pub(super) fn as_kept(warning: Reason, command: &str) -> Reason {
    let loss = warning.harm.strip_prefix("Warning: ").unwrap_or(&warning.harm);
    let harm = format!("Kept (`{command}` restores it): {loss}");
    let full = format!(
        "Warning: kept first; the user can run `{command}` to restore it. {}",
        sentence(warning.full.strip_prefix("Warning: ").unwrap_or(&warning.full))
    );
    Reason { harm, remedy: String::new(), rule: warning.rule, full }
}

/// The subject if no part of a call can be quoted.
const IT: &str = "It";

/// Returns the quoted part of a call that triggered; a session or a text has none.
fn part(finding: &Finding) -> String {
    let command = finding.command.trim();
    if command.is_empty() { IT.into() } else { format!("`{command}`") }
}

/// Returns a remedy as a sentence with a capital and a period, regardless of its author's style.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    first.chain(chars).chain(end.chars()).collect()
}

/// Returns the steps by which a person lets a denied call run, for an agent that was not informed of them in this
/// session. A person at a terminal reads no orders to an agent.
pub fn next_steps(event: &Event, decision: Decision, pending: Option<&str>) -> Option<String> {
    if decision != Decision::Deny || event.moment == Moment::Stop || event.is_for_person() {
        return None;
    }
    Some(match pending {
        Some(id) => format!(
            "Only the user can do that, in their own terminal; ask for it with `reflex appeal {id} --because REASON`. Do not \
             work around a block."
        ),
        None => "The user can run it in their own terminal. Do not work around a block.".to_owned(),
    })
}
