//! Three-valued logic: yes, no and unknown.

/// The value of a condition. `and` is the minimum, `or` the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ternary {
    /// The condition does not hold.
    No,
    /// The value is unknown.
    Unknown,
    /// The condition holds.
    Yes,
}

impl From<bool> for Ternary {
    fn from(holds: bool) -> Ternary {
        if holds { Ternary::Yes } else { Ternary::No }
    }
}

impl From<Option<bool>> for Ternary {
    fn from(known: Option<bool>) -> Ternary {
        known.map_or(Ternary::Unknown, Ternary::from)
    }
}

impl Ternary {
    /// Returns its name.
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
