//! Approval by a person of settings that loosen a judgement.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

/// Whether a person vouches for a setting that may loosen. Checking may require verifying a signature, so it happens at
/// most once, and only if the answer can change a verdict.
#[derive(Clone)]
pub struct Vouched(State);

#[derive(Clone)]
enum State {
    Known(bool),
    Open(Rc<Open>),
}

struct Open {
    answer: OnceCell<bool>,
    find_out: Box<dyn Fn() -> bool>,
}

impl Vouched {
    /// A person vouches for it.
    pub const APPROVED: Vouched = Vouched(State::Known(true));

    /// No person vouches for it.
    pub const NO: Vouched = Vouched(State::Known(false));

    /// Returns an unverified claim; `find_out` verifies it on first use.
    pub fn claimed(find_out: impl Fn() -> bool + 'static) -> Vouched {
        Vouched(State::Open(Rc::new(Open { answer: OnceCell::new(), find_out: Box::new(find_out) })))
    }

    /// Whether a person vouches for it. Call it last, after all other conditions for loosening hold.
    pub fn holds(&self) -> bool {
        match &self.0 {
            State::Known(known) => *known,
            State::Open(open) => *open.answer.get_or_init(|| (open.find_out)()),
        }
    }

    /// Returns the current knowledge: an unverified claim counts as true. For records, which must not add to the cost
    /// of a call.
    pub fn so_far(&self) -> bool {
        match &self.0 {
            State::Known(known) => *known,
            State::Open(open) => open.answer.get().copied().unwrap_or(true),
        }
    }
}

impl fmt::Debug for Vouched {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match &self.0 {
            State::Known(known) => Some(*known),
            State::Open(open) => open.answer.get().copied(),
        };
        to.debug_tuple("Vouched").field(&known).finish()
    }
}

impl PartialEq for Vouched {
    fn eq(&self, other: &Vouched) -> bool {
        match (&self.0, &other.0) {
            (State::Known(one), State::Known(other)) => one == other,
            (State::Open(one), State::Open(other)) => Rc::ptr_eq(one, other),
            (State::Known(_), State::Open(_)) | (State::Open(_), State::Known(_)) => false,
        }
    }
}

impl Eq for Vouched {}

#[cfg(test)]
mod tests {
    use super::Vouched;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn a_claim_is_looked_into_once_and_only_when_it_matters() {
        let asked = Rc::new(Cell::new(0));
        let count = Rc::clone(&asked);
        let claim = Vouched::claimed(move || {
            count.set(count.get() + 1);
            false
        });
        assert!(claim.so_far());
        assert_eq!(asked.get(), 0);
        assert!(!claim.holds() && !claim.clone().holds());
        assert!(!claim.so_far());
        assert_eq!(asked.get(), 1);
    }
}
