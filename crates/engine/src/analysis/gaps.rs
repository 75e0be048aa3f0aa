//! Parts of a text that the reader could not read, and loops that multiply without end.

use super::effects::{EffectExtractor, Text};
use crate::model::effect::{EffectKind, Target, TargetPath};
use reflex_shell::{Gap, UnknownReason, Value};

/// Adds an effect for each fork bomb, and for each part of the text that is unread.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    for origin in &text.reading.multiplying {
        extractor.push(extractor.effect(EffectKind::Exhaust).at(*origin));
    }
    text.reading.gaps.iter().for_each(|gap| extractor.gap(gap, text.source));
}

impl EffectExtractor<'_> {
    /// Adds the effect of a part that the reader could not read.
    fn gap(&mut self, gap: &Gap, text: &str) {
        let effect = match gap.why {
            UnknownReason::Limit => self.effect(EffectKind::ExceedLimit),
            UnknownReason::Unparsed => self.effect(EffectKind::Unreadable),
            UnknownReason::Unfinished => self.effect(EffectKind::Unreadable).mark("unfinished"),
            UnknownReason::NotEvaluated => {
                let written = Value::text(gap.origin.span.slice(text), gap.origin);
                self.effect(EffectKind::RunUnknown).target(Target::new(written, TargetPath::None))
            }
            UnknownReason::Branches | UnknownReason::Arithmetic | UnknownReason::Input => return,
        };
        self.push(effect.at(gap.origin));
    }
}
