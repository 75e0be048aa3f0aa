//! Answers that an agent honors: one table per agent, its lines keyed by moment, event name, mode and version.

use crate::version::is_older;
use reflex_engine::{Event, Moment};

/// The answers that an agent honors at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCapabilities {
    /// Whether a refusal is honored.
    pub deny: bool,
    /// Whether a question reaches a person.
    pub ask: Ask,
    /// Whether the agent accepts text without a decision.
    pub advise: bool,
    /// Whether the call can be replaced.
    pub rewrite: bool,
}

/// The agent's support for questions to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The agent has its own prompt.
    Native,
    /// The agent cannot ask; a question becomes a refusal with instructions.
    Never,
}

impl HookCapabilities {
    /// No answer is honored.
    pub const NONE: HookCapabilities = HookCapabilities { deny: false, ask: Ask::Never, advise: false, rewrite: false };
    /// Only a refusal is honored.
    pub const DENY: HookCapabilities = HookCapabilities { deny: true, ..HookCapabilities::NONE };
    /// Only text without a decision is accepted.
    pub const ADVISE: HookCapabilities = HookCapabilities { advise: true, ..HookCapabilities::NONE };
    /// A refusal, or text without a decision.
    pub const DENY_ADVISE: HookCapabilities = HookCapabilities { advise: true, ..HookCapabilities::DENY };
    /// A refusal, a question, or text without a decision.
    pub const DENY_ASK_ADVISE: HookCapabilities =
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY_ADVISE };
}

/// One line of an agent's table. It matches an event by moment, event name, mode and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The moment that the line applies to.
    pub moment: Moment,
    /// Event names that the line applies to; all if empty.
    pub words: &'static [&'static str],
    /// Permission modes that the line applies to; all if empty.
    pub modes: &'static [&'static str],
    /// Version before which the line applies; all versions if empty. An unknown version is treated as a new one.
    pub before: &'static str,
    /// The answers that the agent honors.
    pub can: HookCapabilities,
    /// The test case with the real client that showed it, or the sentence of the documentation that states it.
    pub proof: &'static str,
}

impl Line {
    /// Returns a line for all event names, modes and versions.
    pub const fn new(moment: Moment, can: HookCapabilities, proof: &'static str) -> Line {
        Line { moment, words: &[], modes: &[], before: "", can, proof }
    }

    /// Returns whether the line matches this event.
    pub(crate) fn fits(&self, event: &Event) -> bool {
        let mode = event.mode.as_deref().unwrap_or("");
        self.moment == event.moment
            && (self.words.is_empty() || self.words.contains(&event.word.as_str()))
            && (self.modes.is_empty() || self.modes.contains(&mode))
            && (self.before.is_empty()
                || event.version.as_deref().is_some_and(|version| is_older(version, self.before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_holds_and_without_one_nothing_is_heard() {
        let table = [
            Line {
                before: "2.0",
                can: HookCapabilities::DENY,
                ..Line::new(Moment::BeforeTool, HookCapabilities::NONE, "")
            },
            Line { words: &["x"], ..Line::new(Moment::BeforeTool, HookCapabilities::ADVISE, "") },
            Line::new(Moment::BeforeTool, HookCapabilities::DENY_ADVISE, ""),
        ];
        let event = |word: &str, version: Option<&str>| Event {
            word: word.into(),
            version: version.map(str::to_owned),
            ..Event::default()
        };
        let of = |table: &[Line], event: &Event| {
            table.iter().find(|line| line.fits(event)).map_or(HookCapabilities::NONE, |line| line.can)
        };
        assert_eq!(of(&table, &event("x", Some("1.9"))), HookCapabilities::DENY);
        assert_eq!(of(&table, &event("x", None)), HookCapabilities::ADVISE);
        assert_eq!(of(&table, &event("y", Some("2.0"))), HookCapabilities::DENY_ADVISE);
        assert_eq!(of(&table, &Event { moment: Moment::Stop, ..event("x", None) }), HookCapabilities::NONE);
    }
}
