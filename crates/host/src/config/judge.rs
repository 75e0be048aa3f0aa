//! Judges an event under the policy in force.

use reflex_engine::{Decision, Engine, Event, ExtraDetector, Judgement, NONE, Policy, World};

/// Judges an event. Without a policy it passes.
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
    let Some(policy) = policy else { return Judgement::unjudged(Decision::Pass) };
    Engine::new(reflex_library::tables(), policy).judge_any(event, world, further)
}
