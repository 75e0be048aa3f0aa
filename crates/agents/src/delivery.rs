//! What is done with a verdict now, given what the agent lets a hook say. What cannot be said is said more strictly.

use crate::{Abilities, Ask};
use reflex_engine::{Decision, Verdict, way_on};

/// What is said to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The answer, now.
    Say {
        /// What the agent is told to do.
        decision: Decision,
        /// Why: the reasons of the verdict, or its advice if the call may run.
        reason: String,
    },
}

/// Fits a verdict to the agent's abilities: never looser than the verdict.
pub fn deliver(event: &reflex_engine::Event, verdict: &Verdict, abilities: Abilities) -> Delivery {
    let asked = verdict.decision == Decision::Ask;
    // A yes in the agent's own dialogue would hide what stands behind it.
    let unasked = asked && (abilities.ask == Ask::Never || verdict.behind.is_some());
    let unrewritten = verdict.rewrite.is_some() && !abilities.rewrite;
    let decision = if unasked || unrewritten { Decision::Deny } else { verdict.decision };
    let mut sentences = if decision == Decision::Pass { verdict.advice.clone() } else { verdict.reasons.clone() };
    sentences.truncate(MOST_REASONS);
    let last = sentences.len().saturating_sub(1);
    sentences.iter_mut().take(last).for_each(|sentence| sentence.truncate(sentence.trim_end_matches('.').len()));
    let mut reason = sentences.join("; ");
    if unasked && abilities.ask == Ask::Never {
        reason.push_str(" This agent cannot ask here, so it is refused: ask the person in your answer.");
    }
    if let Some(way) = way_on(event, decision, verdict.pending.as_deref()) {
        reason.push(' ');
        reason.push_str(&way);
    }
    Delivery::Say { decision, reason }
}

/// An agent reads the strictest few.
const MOST_REASONS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_engine::{Event, Rewrite};

    #[test]
    fn what_cannot_be_said_is_said_more_strictly() {
        let rewrite = Some(Rewrite { fields: vec![("command".into(), "ls".into())] });
        for decision in [Decision::Pass, Decision::Ask, Decision::Deny] {
            for ask in [Ask::Native, Ask::Never] {
                for (rewrite, can_rewrite) in [(None, false), (rewrite.clone(), false), (rewrite.clone(), true)] {
                    let verdict = Verdict { decision, rewrite: rewrite.clone(), ..Verdict::default() };
                    let abilities = Abilities { deny: true, ask, advise: true, rewrite: can_rewrite };
                    let Delivery::Say { decision: said, .. } = deliver(&Event::default(), &verdict, abilities);
                    assert!(said >= decision, "{decision:?} was said as {said:?}");
                    let unsayable =
                        (decision == Decision::Ask && ask == Ask::Never) || (rewrite.is_some() && !can_rewrite);
                    assert_eq!(said == Decision::Deny, unsayable || decision == Decision::Deny);
                }
            }
        }
    }
}
