//! Judges an event under a policy: by its effects before it runs, by its content afterwards.

use reflex_engine::{Decision, Engine, Event, ExtraDetector, Judgement, Moment, NONE, Policy, Verdict, World};

/// Judges a call that has not run by its effects, and any other event by its content and people's rules.
pub(crate) fn judged(event: &Event, policy: Option<&Policy>, world: &dyn World) -> Judgement {
    judged_further(event, policy, world, NONE)
}

/// The same, with an extra detector.
pub(crate) fn judged_further(
    event: &Event,
    policy: Option<&Policy>,
    world: &dyn World,
    further: ExtraDetector<'_>,
) -> Judgement {
    let engine = |policy| Engine::new(reflex_library::tables(), policy);
    match policy {
        Some(policy) if event.moment.is_before_execution() => engine(policy).judge_with(event, world, further),
        Some(policy) if matches!(event.moment, Moment::AfterTool | Moment::Prompt) || !policy.layers().is_empty() => {
            engine(policy).judge_incoming(event, world, further)
        }
        _ => unjudged(Decision::Pass),
    }
}

/// A decision without an analysis, with full confidence.
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
