//! Limits the number of targets of a call. Exceeding it is reported.

use super::effects::Input;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Event;
use crate::model::path;

/// Maximum number of targets of a call, in total.
const MAX_TARGETS: usize = 20_000;

/// Maximum number of targets of one command. A person names fewer, and each costs up to 150,000 instructions.
const MAX_OF_EFFECT: usize = 2048;

/// Drops targets beyond [`MAX_OF_EFFECT`] and [`MAX_TARGETS`] and adds a gap for them. Targets outside the project have
/// budgets of their own, and the home folder and those above it are always kept: they cannot hide among other paths.
pub(super) fn limit_targets(input: Input<'_>, analysis: &mut Analysis) {
    let Event { workspace, home, .. } = input.event;
    let holds_home =
        |target: &Target| target.path().is_some_and(|path| path::is_within(home, path.trim_end_matches("/*")));
    let inside = |target: &Target| target.path().is_some_and(|path| path::is_within(path, workspace));
    let (mut left, mut left_outside) = (MAX_TARGETS, MAX_TARGETS);
    let mut cut: Vec<Effect> = Vec::new();
    for effect in &mut analysis.effects {
        let before = effect.targets.len();
        if before <= left.min(MAX_OF_EFFECT) {
            left -= before;
            continue;
        }
        let (mut own, mut own_outside) = (MAX_OF_EFFECT, MAX_OF_EFFECT);
        effect.targets.retain(|target| {
            if holds_home(target) {
                return true;
            }
            let (left, own) =
                if inside(target) { (&mut left, &mut own) } else { (&mut left_outside, &mut own_outside) };
            let keeps = *left > 0 && *own > 0;
            *left = left.saturating_sub(1);
            *own = own.saturating_sub(1);
            keeps
        });
        if effect.targets.len() < before {
            cut.push(Effect { kind: EffectKind::ExceedLimit, targets: Vec::new(), ..effect.clone() });
        }
    }
    cut.truncate(1);
    analysis.effects.append(&mut cut);
}
