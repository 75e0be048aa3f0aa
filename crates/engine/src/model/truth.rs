//! Three answers: yes, no, and that it cannot be known.

/// The answer to a condition. `and` is the least of two, `or` the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ternary {
    /// It does not hold.
    No,
    /// It cannot be known.
    Unknown,
    /// It holds.
    Yes,
}

impl From<bool> for Ternary {
    fn from(holds: bool) -> Ternary {
        if holds { Ternary::Yes } else { Ternary::No }
    }
}

impl Ternary {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Ternary::No => "no",
            Ternary::Unknown => "unknown",
            Ternary::Yes => "yes",
        }
    }

    pub(crate) fn not(self) -> Ternary {
        match self {
            Ternary::No => Ternary::Yes,
            Ternary::Unknown => Ternary::Unknown,
            Ternary::Yes => Ternary::No,
        }
    }
}
