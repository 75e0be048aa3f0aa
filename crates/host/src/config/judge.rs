//! Judges an event under the policy in force.

use reflex_engine::{Decision, Engine, Event, JudgeOptions, Judgement, Policy};

/// Judges an event. Without a policy it passes.
pub(crate) fn judge<'a>(event: &Event, policy: Option<&Policy>, options: impl Into<JudgeOptions<'a>>) -> Judgement {
    let Some(policy) = policy else { return Judgement::unjudged(Decision::Pass) };
    Engine::new(reflex_library::tables(), policy).judge(event, options)
}
