//! Variables and shell options that a text sets.

use super::effects::{EffectExtractor, Text};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use reflex_shell::{Setting, Value};

/// Adds an effect for each variable that the text sets or unsets.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    for setting in &text.reading.settings {
        let is_loaded = setting.origin.derivation.is_some() && text.reading.is_loaded(setting.origin);
        extractor.push(extractor.setting(setting).marks(is_loaded.then_some("loaded")));
    }
}

impl EffectExtractor<'_> {
    fn setting(&self, setting: &Setting) -> Effect {
        let name = Target::new(Value::text(setting.name.clone(), setting.origin), TargetPath::None);
        let effect = self.effect(EffectKind::SetVariable).target(name).argument(setting.value.clone());
        effect.at(setting.origin).on(setting.site)
    }
}
