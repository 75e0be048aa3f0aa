//! What an agent lets a hook say: one table per agent, its lines by moment, word, mode and version.

use reflex_engine::{Event, Moment};

/// What an agent lets a hook say at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCapabilities {
    /// Whether a refusal is honoured.
    pub deny: bool,
    /// How a question reaches a person.
    pub ask: Ask,
    /// Whether words can be given to the agent without a decision.
    pub advise: bool,
    /// Whether the call can be replaced.
    pub rewrite: bool,
}

/// How a question reaches a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The agent has a prompt of its own.
    Native,
    /// It cannot; a question becomes a refusal with instructions.
    Never,
}

impl HookCapabilities {
    /// Nothing is heard.
    pub const NONE: HookCapabilities = HookCapabilities { deny: false, ask: Ask::Never, advise: false, rewrite: false };
    /// A refusal and nothing else.
    pub const DENY: HookCapabilities = HookCapabilities { deny: true, ..HookCapabilities::NONE };
    /// Words without a decision.
    pub const ADVISE: HookCapabilities = HookCapabilities { advise: true, ..HookCapabilities::NONE };
    /// A refusal, or words without a decision.
    pub const DENY_ADVISE: HookCapabilities = HookCapabilities { advise: true, ..HookCapabilities::DENY };
    /// A refusal, a question, or words without a decision.
    pub const DENY_ASK_ADVISE: HookCapabilities =
        HookCapabilities { ask: Ask::Native, ..HookCapabilities::DENY_ADVISE };
}

/// One line of the table of what an agent lets a hook say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// At this moment,
    pub moment: Moment,
    /// for these of the agent's words (all of them if empty),
    pub words: &'static [&'static str],
    /// in these of its permission modes (all of them if empty),
    pub modes: &'static [&'static str],
    /// in versions older than this (all of them if empty; a version that is not told is taken for new),
    pub before: &'static str,
    /// a hook can say this.
    pub can: HookCapabilities,
    /// The case with the real client that showed it, or the line of the document that says it.
    pub proof: &'static str,
}

impl Line {
    /// A line for every word, mode and version.
    pub const fn new(moment: Moment, can: HookCapabilities, proof: &'static str) -> Line {
        Line { moment, words: &[], modes: &[], before: "", can, proof }
    }

    /// Whether the line is for this event.
    pub(crate) fn fits(&self, event: &Event) -> bool {
        let mode = event.mode.as_deref().unwrap_or("");
        self.moment == event.moment
            && (self.words.is_empty() || self.words.contains(&event.word.as_str()))
            && (self.modes.is_empty() || self.modes.contains(&mode))
            && (self.before.is_empty()
                || event.version.as_deref().is_some_and(|version| is_older(version, self.before)))
    }
}

/// Whether a version comes before another: numbers are compared from the left; what is no number ends a version.
pub fn is_older(version: &str, than: &str) -> bool {
    let parts = |text: &str| -> Vec<u64> { text.split(['.', '-']).map_while(|part| part.parse().ok()).collect() };
    let (version, than) = (parts(version), parts(than));
    !version.is_empty() && version < than
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, than, older) in [
            ("2.1.9", "2.1.10", true),
            ("2.1.10", "2.1.9", false),
            ("2.1.295", "2.1.295", false),
            ("1.0", "1.0.1", true),
            ("2-1-8", "2.1.9", true),
            ("dev", "2.1.9", false),
        ] {
            assert_eq!(is_older(version, than), older, "{version} {than}");
        }
    }

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
