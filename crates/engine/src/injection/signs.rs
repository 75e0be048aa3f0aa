//! What is known of a text that may give orders.

/// From this score on a text is told.
pub const TOLD_FROM: u32 = 50;

/// Bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub start: usize,
    /// The one behind the last.
    pub end: usize,
}

/// What is known of a text that may give orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Injection {
    /// What its signs weigh together; see [`TOLD_FROM`].
    pub score: u32,
    /// Each sign that counted: what it is, what it weighs, where it stands. Heaviest first.
    pub signs: Vec<Sign>,
    /// Bytes that were not looked at, in a text that is longer than what is.
    pub unread: usize,
}

/// One sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// `override`, `role`, `hidden`, …: of each family only the heaviest counts.
    pub family: String,
    /// The cue's name, or what was seen.
    pub name: String,
    /// Its part of the score.
    pub weight: u32,
    /// Where it stands in the text.
    pub span: Span,
}

impl Injection {
    /// Whether the text is to be told of.
    pub fn is_told(&self) -> bool {
        self.score >= TOLD_FROM
    }
}
