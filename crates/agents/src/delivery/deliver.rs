//! What is done with a verdict now, given what the agent lets a hook say. What cannot be said is said more strictly.

use crate::model::abilities::{Ask, HookCapabilities};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use reflex_engine::{Decision, Event, Verdict, next_steps};

impl Agent {
    /// Fits a verdict to what this agent lets a hook say about this payload: never looser than the verdict.
    pub fn deliver(&self, payload: &Payload<'_>, event: &Event, verdict: &Verdict) -> Delivery {
        let abilities = self.abilities(event);
        let rewrite = verdict.rewrite.as_ref().filter(|_| abilities.rewrite);
        match rewrite.and_then(|rewrite| self.replaced(payload, event, rewrite)) {
            Some(arguments) => Delivery::Replace { arguments, reason: replacement(verdict) },
            None => deliver(event, verdict, abilities),
        }
    }
}

/// Fits a verdict to the agent's abilities where no other call can be put in place of this one: never looser than the
/// verdict.
pub fn deliver(event: &Event, verdict: &Verdict, abilities: HookCapabilities) -> Delivery {
    // What holds for the call as it is, where none can be put in its place.
    let least = if verdict.rewrite.is_some() { Decision::Ask } else { Decision::Pass };
    let decided = verdict.decision.max(least);
    // A yes in the agent's own dialogue would hide what stands behind it.
    let unasked = decided == Decision::Ask && (abilities.ask == Ask::Never || verdict.behind.is_some());
    let decision = if unasked { Decision::Deny } else { decided };
    let mut reason = match decision {
        Decision::Pass => joined(verdict.news()),
        Decision::Ask | Decision::Deny => joined(verdict.reasons.iter().map(String::as_str)),
    };
    if decision != Decision::Pass && !verdict.asked.is_empty() {
        reason.push(' ');
        reason.push_str(&verdict.asked);
    } else if unasked && abilities.ask == Ask::Never {
        reason.push_str(" This agent cannot ask here, so the call is blocked: ask the user in your reply.");
    }
    if let Some(way) = next_steps(event, decision, verdict.pending.as_deref()) {
        reason.push(' ');
        reason.push_str(&way);
    }
    Delivery::Say { decision, reason }
}

/// The agent has to know that what runs is not what it wrote.
fn replacement(verdict: &Verdict) -> String {
    let bare = |reason: &String| {
        let begins = ["Blocked: ", "Needs approval: "];
        begins.iter().find_map(|begin| reason.strip_prefix(begin)).unwrap_or(reason).to_owned()
    };
    let reasons: Vec<String> = verdict.reasons.iter().map(bare).collect();
    format!("Warning: this call was changed before it ran. {}", joined(reasons.iter().map(String::as_str)))
}

fn joined<'s>(sentences: impl Iterator<Item = &'s str>) -> String {
    let mut sentences: Vec<&str> = sentences.take(MAX_REASONS).collect();
    let last = sentences.len().saturating_sub(1);
    sentences.iter_mut().take(last).for_each(|sentence| *sentence = sentence.trim_end_matches('.'));
    sentences.join("; ")
}

/// An agent reads the strictest few.
pub const MAX_REASONS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_engine::Rewrite;

    #[test]
    fn what_cannot_be_said_is_said_more_strictly() {
        let rewrite = Some(Rewrite { fields: vec![("command".into(), "ls".into())] });
        for decision in [Decision::Pass, Decision::Ask, Decision::Deny] {
            for ask in [Ask::Native, Ask::Never] {
                for rewrite in [None, rewrite.clone()] {
                    let verdict = Verdict { decision, rewrite: rewrite.clone(), ..Verdict::default() };
                    let abilities = HookCapabilities { deny: true, ask, advise: true, rewrite: true };
                    let delivery = deliver(&Event::default(), &verdict, abilities);
                    let (said, _) = delivery.said();
                    assert!(said >= decision, "{decision:?} was said as {said:?}");
                    assert!(rewrite.is_none() || said >= Decision::Ask);
                    assert!(ask == Ask::Native || said != Decision::Ask);
                }
            }
        }
    }
}
