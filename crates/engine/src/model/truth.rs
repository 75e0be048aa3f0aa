//! Three answers: yes, no, and that it cannot be known.

/// The answer to a condition. `and` is the least of two, `or` the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not hold.
    No,
    /// It cannot be known.
    Unknown,
    /// It holds.
    Yes,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }
}

impl Truth {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Truth::No => "no",
            Truth::Unknown => "unknown",
            Truth::Yes => "yes",
        }
    }

    pub(crate) fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
            Truth::Yes => Truth::No,
        }
    }
}
