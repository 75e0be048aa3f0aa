//! Turns a verdict into an answer that the agent supports. An unsupported answer is replaced by a stricter one.

use crate::delivery::message::{bare, message};
use crate::model::abilities::{Ask, HookCapabilities};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use reflex_engine::{Decision, Event, Moment, Reason, Verdict, next_steps};

impl Agent {
    /// Adapts a verdict to the answers that this agent supports for this payload. The result is never weaker than the
    /// verdict.
    pub fn deliver(&self, payload: &Payload<'_>, event: &Event, verdict: &Verdict) -> Delivery {
        let abilities = self.abilities(event);
        let rewrite = verdict.rewrite.as_ref().filter(|_| abilities.rewrite);
        match rewrite.and_then(|rewrite| self.replaced(payload, event, rewrite)) {
            Some(arguments) => Delivery::Replace { arguments, reason: replacement(verdict) },
            None => deliver(event, verdict, abilities),
        }
    }
}

/// Adapts a verdict to the agent's abilities if the call cannot be replaced. The result is never weaker than the
/// verdict.
pub fn deliver(event: &Event, verdict: &Verdict, abilities: HookCapabilities) -> Delivery {
    // A rewrite that cannot be delivered requires at least a question about the original call.
    let least = if verdict.rewrite.is_some() { Decision::Ask } else { Decision::Pass };
    let decided = verdict.decision.max(least);
    if comes_too_late(event, decided, abilities) {
        // At `Stop`, the text is for the person.
        let asks = decided == Decision::Ask && event.moment != Moment::Stop;
        return Delivery::Reply { decision: Decision::Pass, reason: afterwards(verdict, asks) };
    }
    // An approval in the agent's own prompt would hide the decision that follows it.
    let unasked = decided == Decision::Ask && (abilities.ask == Ask::Never || verdict.after.is_some());
    let decision = if unasked { Decision::Deny } else { decided };
    let reasons: Vec<&Reason> = match decision {
        Decision::Pass => verdict.news().collect(),
        Decision::Ask | Decision::Deny => verdict.reasons.iter().collect(),
    };
    let note = match decision {
        Decision::Pass => "",
        Decision::Ask | Decision::Deny if !verdict.asked.is_empty() => &verdict.asked,
        Decision::Ask | Decision::Deny if unasked && abilities.ask == Ask::Never && !event.is_for_person() => {
            "This agent cannot ask here, so the call is blocked: ask the user in your reply."
        }
        Decision::Ask | Decision::Deny => "",
    };
    let pending = verdict.pending.as_deref().filter(|_| decision == Decision::Deny);
    let mut reason = message(&reasons, note, pending);
    if let Some(steps) = next_steps(event, decision, pending).filter(|_| !verdict.knows_steps) {
        reason.push(' ');
        reason.push_str(&steps);
    }
    Delivery::Reply { decision, reason }
}

/// Returns whether it is too late to refuse or ask. The verdict is then reported to the agent or the person.
fn comes_too_late(event: &Event, decided: Decision, abilities: HookCapabilities) -> bool {
    match event.moment {
        Moment::BeforeTool | Moment::PermissionRequest | Moment::SettingsChange | Moment::Prompt => false,
        // A refusal keeps a stopping agent at work; a question to the person does not.
        Moment::Stop => match decided {
            Decision::Ask => abilities.advise,
            Decision::Deny => !abilities.deny,
            Decision::Pass => false,
        },
        Moment::AfterTool | Moment::SessionStart | Moment::SessionEnd | Moment::Subagent | Moment::Other => {
            decided != Decision::Pass && !abilities.deny
        }
    }
}

/// Composes the text about an event that has already happened.
fn afterwards(verdict: &Verdict, asks: bool) -> String {
    let warned = |reason: &Reason| Reason { harm: format!("Warning: {}", bare(&reason.harm)), ..reason.clone() };
    let reasons: Vec<Reason> = verdict.reasons.iter().map(warned).collect();
    let reasons: Vec<&Reason> = reasons.iter().chain(verdict.news()).collect();
    message(&reasons, if asks { "Tell the user." } else { "" }, None)
}

/// Composes the text about a replaced call, so that the agent knows that the executed call differs from its own.
fn replacement(verdict: &Verdict) -> String {
    let bared = |reason: &Reason| Reason { harm: bare(&reason.harm).to_owned(), ..reason.clone() };
    let reasons: Vec<Reason> = verdict.reasons.iter().map(bared).collect();
    let reasons: Vec<&Reason> = reasons.iter().collect();
    format!("Warning: this call was changed before it ran. {}", message(&reasons, "", None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_engine::Rewrite;

    #[test]
    fn what_has_happened_is_told_and_not_refused() {
        let answer = |moment, decision, abilities| {
            let event = Event { moment, ..Event::default() };
            let verdict =
                Verdict { decision, reasons: vec![Reason::plain("Blocked: it is bad.")], ..Verdict::default() };
            let delivery = deliver(&event, &verdict, abilities);
            let (decision, reason) = delivery.reply();
            (decision, reason.to_owned())
        };
        for moment in [Moment::AfterTool, Moment::SessionStart] {
            let actual = answer(moment, Decision::Deny, HookCapabilities::ADVISE);
            assert_eq!(actual, (Decision::Pass, "Warning: it is bad.".to_owned()));
            let actual = answer(moment, Decision::Ask, HookCapabilities::ADVISE);
            assert_eq!(actual, (Decision::Pass, "Warning: it is bad. Tell the user.".to_owned()));
        }
        assert_eq!(answer(Moment::Stop, Decision::Deny, HookCapabilities::DENY).0, Decision::Deny);
        assert_eq!(answer(Moment::Stop, Decision::Ask, HookCapabilities::DENY_ADVISE).0, Decision::Pass);
        assert_eq!(answer(Moment::BeforeTool, Decision::Deny, HookCapabilities::NONE).0, Decision::Deny);
    }

    #[test]
    fn what_cannot_be_said_is_said_more_strictly() {
        let rewrite = Some(Rewrite { fields: vec![("command".into(), "ls".into())] });
        for decision in [Decision::Pass, Decision::Ask, Decision::Deny] {
            for ask in [Ask::Native, Ask::Never] {
                for rewrite in [None, rewrite.clone()] {
                    let verdict = Verdict { decision, rewrite: rewrite.clone(), ..Verdict::default() };
                    let abilities = HookCapabilities { deny: true, ask, advise: true, rewrite: true };
                    let delivery = deliver(&Event::default(), &verdict, abilities);
                    let (actual, _) = delivery.reply();
                    assert!(actual >= decision, "{decision:?} became {actual:?}");
                    assert!(rewrite.is_none() || actual >= Decision::Ask);
                    assert!(ask == Ask::Native || actual != Decision::Ask);
                }
            }
        }
    }
}
