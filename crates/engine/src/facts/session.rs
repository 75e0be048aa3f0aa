//! Facts about the session: what earlier calls fetched, showed and changed.

use super::call::Call;
use crate::analysis::clones::cloned;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::path::is_within;
use crate::model::session::{RemnantKind, Taint};
use crate::model::world::Known;

/// The session and its calls.
#[derive(Clone, Copy)]
pub(crate) struct SessionFacts<'f> {
    pub(super) call: &'f Call<'f>,
}

impl SessionFacts<'_> {
    /// Whether the content that git does not have is older than the session: the complete file, or its last changes. A
    /// tracked file existed before, even if another file has replaced it since.
    pub(super) fn is_from_before(&self, path: &str) -> Known<bool> {
        let age = self.call.world.age(path)?;
        if self.call.world.is_tracked(path) == Some(false) {
            return Some(age.is_older);
        }
        let is_dated = |known: &Taint| known.kind == RemnantKind::Dated && known.path == path;
        Some(age.is_untouched || self.call.past().iter().any(is_dated))
    }

    /// Whether a call fetched what the effect works on: its target, or the folder in which it starts an agent.
    pub(super) fn was_fetched(&self, effect: &Effect, target: Option<&Target>) -> bool {
        let path = self.started_in(effect, target).unwrap_or_else(|| self.call.folder_of(effect, target));
        self.is_fetched(&path)
    }

    /// Returns the folder that an agent is started in; its target is not a path of the effect.
    fn started_in(&self, effect: &Effect, target: Option<&Target>) -> Option<String> {
        let target = target.filter(|_| effect.flags.contains(&"with-directory"))?;
        self.call.lexical(&target.value, effect)
    }

    /// Whether the session has shown a secret.
    pub(super) fn has_shown_secret(&self) -> bool {
        self.call.past().iter().any(|known| known.kind == RemnantKind::Seen)
    }

    /// Whether a call of this session wrote the file.
    pub(super) fn has_written(&self, program: &str) -> bool {
        self.call.analysis.effects.iter().any(|effect| writes(effect, program))
            || self.call.written_files().contains(program)
            || self.call.world.is_of_session(program) == Some(true)
    }

    /// Whether an earlier call fetched the path, or it is in a folder that this call or an earlier one cloned.
    fn is_fetched(&self, path: &str) -> bool {
        let fetched = self.call.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Fetch);
        let mut fetched = fetched.filter_map(|effect| cloned(self.call.analysis, effect, self.call.tables));
        let holds = |known: &Taint| known.kind == RemnantKind::Fetched && is_within(path, &known.path);
        fetched.any(|known| holds(&known)) || self.call.past().iter().any(holds)
    }
}

fn writes(effect: &Effect, path: &str) -> bool {
    [EffectKind::Overwrite, EffectKind::Edit].contains(&effect.kind)
        && effect.targets.iter().any(|target| target.path() == Some(path))
}
