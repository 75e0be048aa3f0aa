//! Scan result for a text that may contain instructions.

/// Minimum score at which a text is reported.
pub const REPORTED_FROM: u32 = 50;

/// A range of bytes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
}

/// Scan result for a text that may contain instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Injection {
    /// Total weight of the signs; see [`REPORTED_FROM`].
    pub score: u32,
    /// The signs that counted, the heaviest first.
    pub signs: Vec<Sign>,
    /// Number of bytes that were not scanned, if the text exceeds the limits.
    pub unread: usize,
}

/// An indication of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// `override`, `role`, `hidden`, …: only the heaviest sign of each family counts.
    pub family: String,
    /// Name of the cue, or a description of the observation.
    pub name: String,
    /// Its contribution to the score.
    pub weight: u32,
    /// Its position in the text.
    pub span: Span,
}

impl Injection {
    /// Whether the score reaches [`REPORTED_FROM`].
    pub fn is_reported(&self) -> bool {
        self.score >= REPORTED_FROM
    }
}
