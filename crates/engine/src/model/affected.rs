//! The files or objects that a call affects: loses, replaces, reads or sends.

/// The files or other objects that a call affects.
///
/// A set that cannot be worked out is [`Affected::Unknown`]. [`Affected::Nothing`] means that the call certainly affects
/// none.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Affected<T> {
    /// None.
    Nothing,
    /// These, and no others.
    These(T),
    /// A set that cannot be worked out.
    Unknown,
}

impl<T: Default> Affected<T> {
    /// Returns the set; `None` if it is unknown.
    pub fn known(self) -> Option<T> {
        match self {
            Affected::Nothing => Some(T::default()),
            Affected::These(all) => Some(all),
            Affected::Unknown => None,
        }
    }
}

impl<T> Affected<T> {
    /// Whether it is known that there are none.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Affected::Nothing)
    }

    /// Whether it is known that there are some.
    pub fn is_something(&self) -> bool {
        matches!(self, Affected::These(_))
    }
}

impl<T> Affected<Vec<T>> {
    /// Applies a function to each member.
    pub fn map<U>(self, of_each: impl FnMut(T) -> U) -> Affected<Vec<U>> {
        self.known().map(|all| all.into_iter().map(of_each).collect::<Vec<U>>()).into()
    }

    /// Keeps the members that satisfy a condition.
    pub fn filter(self, is_meant: impl FnMut(&T) -> bool) -> Affected<Vec<T>> {
        self.known().map(|all| all.into_iter().filter(is_meant).collect::<Vec<T>>()).into()
    }

    /// Returns the set unless it has more members than this; else it is unknown.
    pub fn at_most(self, members: usize) -> Affected<Vec<T>> {
        match self {
            Affected::These(all) if all.len() > members => Affected::Unknown,
            set @ (Affected::Nothing | Affected::These(_) | Affected::Unknown) => set,
        }
    }
}

impl<T> From<Vec<T>> for Affected<Vec<T>> {
    fn from(all: Vec<T>) -> Affected<Vec<T>> {
        if all.is_empty() { Affected::Nothing } else { Affected::These(all) }
    }
}

impl<T> From<Option<T>> for Affected<T>
where
    Affected<T>: From<T>,
{
    fn from(known: Option<T>) -> Affected<T> {
        known.map_or(Affected::Unknown, Affected::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Affected;

    fn set(known: Option<Vec<u8>>) -> Affected<Vec<u8>> {
        known.into()
    }

    #[test]
    fn an_empty_set_is_nothing_and_an_unknown_one_is_not() {
        assert_eq!(set(Some(Vec::new())), Affected::Nothing);
        assert_eq!(set(None), Affected::Unknown);
        assert_eq!(set(Some(vec![1])).filter(|one| *one > 1), Affected::Nothing);
        assert_eq!(set(None).filter(|_| false), Affected::Unknown);
    }

    #[test]
    fn a_set_beyond_a_limit_is_unknown_instead_of_shorter() {
        assert_eq!(set(Some(vec![1, 2])).at_most(1), Affected::Unknown);
        assert_eq!(set(Some(vec![1, 2])).at_most(2), Affected::These(vec![1, 2]));
    }
}
