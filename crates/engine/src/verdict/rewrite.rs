//! Judges a replacing call as if the agent had made it.

use crate::model::event::{Action, AgentPath, Event};
use crate::model::finding::{Decision, Rewrite};
use crate::model::verdict::Verdict;

/// Maximum number of times that a rewrite is rewritten; beyond it the rewrite is dropped.
const MAX_ROUNDS: usize = 2;

/// Keeps a rewrite only if it would pass on its own.
pub(crate) fn judge_again(event: &Event, verdict: &mut Verdict, judge: &dyn Fn(&Event) -> Verdict) {
    let mut rewrite = verdict.rewrite.take();
    for _ in 0..=MAX_ROUNDS {
        let Some(one) = rewrite.take() else { return };
        let Some(changed) = one.applied(event) else {
            verdict.chain.push("the call in its place has fields that this call has not".into());
            return;
        };
        let again = judge(&changed);
        if again.decision == Decision::Pass {
            verdict.chain.push("the call in its place was judged, and passes".into());
            verdict.rewrite = Some(one);
            return;
        }
        if again.rewrite.is_none() {
            let why = again.reasons.first().map_or("", |reason| &reason.full);
            verdict.chain.push(format!("the call in its place does not pass: {why}"));
            return;
        }
        rewrite = again.rewrite;
    }
    verdict.chain.push("the call in its place would be rewritten again and again".into());
}

impl Rewrite {
    /// Returns the event with these fields; `None` unless it has exactly one action with all of them.
    pub fn applied(&self, event: &Event) -> Option<Event> {
        let mut changed = event.clone();
        let [action] = changed.actions.as_mut_slice() else { return None };
        for (field, text) in &self.fields {
            let slot = match (field.as_str(), &mut *action) {
                ("command", Action::Shell { command, .. }) => command,
                ("content", Action::Write { content, .. } | Action::Edit { content, .. }) => content,
                ("url", Action::Fetch { url }) => url,
                ("prompt", Action::Prompt { text } | Action::SpawnAgent { prompt: text }) => text,
                ("file_path", Action::Write { path, .. } | Action::Edit { path, .. } | Action::Read { path }) => {
                    *path = AgentPath::new(text.clone());
                    continue;
                }
                _ => return None,
            };
            slot.clone_from(text);
        }
        Some(changed)
    }
}
