//! Judges an event under a policy: by its effects before it runs, by its content afterwards.

use reflex_engine::{
    Decision, Event, ExtraDetector, Judgement, Moment, NONE, Policy, Verdict, World, judge_incoming, judge_with,
};

/// Judges what has not run by its effects, all else by what it brings and by people's rules.
pub(crate) fn judged(event: &Event, policy: Option<&Policy>, world: &dyn World) -> Judgement {
    judged_further(event, policy, world, NONE)
}

/// The same with a detector from outside.
pub(crate) fn judged_further(
    event: &Event,
    policy: Option<&Policy>,
    world: &dyn World,
    further: ExtraDetector<'_>,
) -> Judgement {
    let tables = reflex_library::tables();
    match policy {
        Some(policy) if event.moment.is_before_execution() => judge_with(event, policy, tables, world, further),
        Some(policy) if matches!(event.moment, Moment::AfterTool | Moment::Prompt) || !policy.layers().is_empty() => {
            judge_incoming(event, policy, tables, world, further)
        }
        _ => unjudged(Decision::Pass),
    }
}

/// A decision that no judgement stands behind.
pub(crate) fn unjudged(decision: Decision) -> Judgement {
    let verdict = Verdict { decision, confidence: 100, ..Verdict::default() };
    Judgement {
        analysis: Default::default(),
        verdict,
        asked: Vec::new(),
        weighed: Vec::new(),
        fingerprint: Default::default(),
        step: Default::default(),
        latency: Default::default(),
        left: Vec::new(),
    }
}
