//! A call may name more targets than are looked at: the rest is cut off, and that is told.

use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::path;

/// Targets of a call that are looked at, in all: a person names fewer.
const MAX_TARGETS: usize = 20_000;

/// More than [`MAX_TARGETS`] are not looked at, which is a gap of its own. Those outside of the project are dropped
/// last: among tens of thousands of files one home is not to be hidden.
pub(super) fn limit_targets(analysis: &mut Analysis, workspace: &str) {
    let inside = |target: &Target| target.path().is_some_and(|path| path::is_within(path, workspace));
    let (mut left, mut left_outside) = (MAX_TARGETS, MAX_TARGETS);
    let mut cut: Vec<Effect> = Vec::new();
    for effect in &mut analysis.effects {
        let before = effect.targets.len();
        if before <= left {
            left -= before;
            continue;
        }
        effect.targets.retain(|target| {
            let left = if inside(target) { &mut left } else { &mut left_outside };
            let keeps = *left > 0;
            *left = left.saturating_sub(1);
            keeps
        });
        if effect.targets.len() < before {
            cut.push(Effect { kind: EffectKind::ExceedLimit, targets: Vec::new(), ..effect.clone() });
        }
    }
    cut.truncate(1);
    analysis.effects.append(&mut cut);
}
