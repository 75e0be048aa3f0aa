//! One work budget for an entire call: all parsers and detectors draw from it, so that many small expansions cost no
//! more together than one large one.
//!
//! ```
//! use reflex_work::{has_ended, spend, within};
//!
//! let ended = within(10, || {
//!     while spend(3) {}
//!     has_ended()
//! });
//! assert!(ended);
//! ```
//!
//! Work is counted, not timed: the same call always costs the same. A unit is about a thousand instructions. If a meter
//! is set, allocated memory also counts, so that growth that no parser accounts for is limited too.
//!
//! The budget is in thread-local cells; otherwise every parser of every crate would have to hand it on. It belongs to a
//! call and not to the process: [`within`] begins and clears it, and one thread judges a call from start to end. Calls on
//! other threads and later calls on this thread never see it.

use std::cell::{Cell, RefCell};

/// Bytes of memory that count as one unit.
const BYTES: u64 = 128;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static METER: Cell<Option<fn() -> usize>> = const { Cell::new(None) };
    /// Whether spending exceeded the budget.
    static ENDED: Cell<bool> = const { Cell::new(false) };
    /// Maximum value of the meter in bytes.
    static MAX_BYTES: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The first part left unread because of a limit other than the budget.
    static UNREAD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the meter of allocated bytes. From now on, memory counts as work, too.
pub fn measure_memory(meter: fn() -> usize) {
    METER.set(Some(meter));
}

/// Runs work with a budget of `limit` units. Inside an enclosing budget, `limit` is ignored and that budget is spent.
pub fn within<T>(limit: u64, run: impl FnOnce() -> T) -> T {
    if LEFT.get() != u64::MAX {
        return run();
    }
    /// Clears the budget on return and on panic.
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            LEFT.set(u64::MAX);
            MAX_BYTES.set(u64::MAX);
        }
    }
    let _ended = Ended;
    ENDED.set(false);
    UNREAD.take();
    set(limit);
    run()
}

/// Runs optional work with at most `limit` of the remaining units. If they do not suffice, neither [`has_ended`] nor
/// [`unread`] reports it.
pub fn aside<T>(limit: u64, run: impl FnOnce() -> T) -> T {
    let (left, bytes, ended) = (LEFT.get(), MAX_BYTES.get(), ENDED.get());
    if left == u64::MAX {
        return run();
    }
    let unread = UNREAD.take();
    let share = limit.min(left);
    set(share);
    let result = run();
    LEFT.set(left - (share - LEFT.get().min(share)));
    MAX_BYTES.set(bytes);
    ENDED.set(ended);
    UNREAD.set(unread);
    result
}

/// Raises the remaining budget to at least `units`, so that what was parsed can be judged even if parsing spent it all.
pub fn reserve(units: u64) {
    if LEFT.get() < units {
        set(units);
    }
}

fn set(units: u64) {
    LEFT.set(units.min(u64::MAX - 1));
    MAX_BYTES.set(memory().saturating_add(units.saturating_mul(BYTES)));
}

/// Spends units. Returns false if the budget is exceeded; then no units remain.
pub fn spend(units: u64) -> bool {
    match LEFT.get() {
        u64::MAX => true,
        left if left > units && memory() <= MAX_BYTES.get() => {
            LEFT.set(left - units);
            true
        }
        _ => {
            LEFT.set(0);
            ENDED.set(true);
            false
        }
    }
}

/// Spends units for work on `bytes` bytes, at about `each` instructions per byte.
pub fn spend_bytes(bytes: usize, each: u64) -> bool {
    spend((bytes as u64).saturating_mul(each) / 1000 + 1)
}

/// Whether the budget was exceeded, even if more units were reserved since.
pub fn has_ended() -> bool {
    LEFT.get() != u64::MAX && ENDED.get()
}

/// Reports instructions (code, scripts, recipes, aliases) that a parser left unread because of a limit of its own, such
/// as `the chain of scripts that ends in x is longer than 64 files`. Only the first report is kept.
pub fn cut(what: impl FnOnce() -> String) {
    if LEFT.get() != u64::MAX {
        UNREAD.with_borrow_mut(|unread| {
            unread.get_or_insert_with(what);
        });
    }
}

/// The first part left unread because of a limit other than the budget, as reported by [`cut`].
pub fn unread() -> Option<String> {
    UNREAD.with_borrow(Clone::clone)
}

/// Whether no units remain.
pub fn is_over() -> bool {
    LEFT.get() == 0
}

/// The remaining units; `None` without a budget.
pub fn left() -> Option<u64> {
    Some(LEFT.get()).filter(|left| *left != u64::MAX)
}

fn memory() -> u64 {
    METER.get().map_or(0, |meter| meter() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_left_out_ends_without_a_word() {
        within(100, || {
            aside(10, || {
                while spend(1) {}
                cut(|| "a".into());
            });
            assert_eq!((has_ended(), unread(), left()), (false, None, Some(90)));
            aside(1000, || while spend(1) {});
            assert_eq!((has_ended(), left()), (false, Some(0)));
        });
    }

    #[test]
    fn a_budget_ends_once_and_for_all_that_draw_from_it() {
        assert!(spend(u64::MAX) && !is_over(), "outside of a budget nothing is counted");
        let done = within(10, || {
            let inner = within(1000, || [spend(6), spend(6), spend(1)]);
            let ended = (is_over(), has_ended());
            reserve(2);
            (inner, ended, (is_over(), has_ended()), spend(1))
        });
        assert_eq!(done, ([true, false, false], (true, true), (false, true), true));
        assert!(spend(1) && !is_over());
    }

    #[test]
    fn what_is_left_unread_is_told_once_and_forgotten_with_the_budget() {
        cut(|| "outside".into());
        assert_eq!(unread(), None, "outside of a budget nothing is kept");
        let outcome = within(10, || {
            let before = unread();
            cut(|| "first".into());
            cut(|| "second".into());
            (before, unread())
        });
        assert_eq!(outcome, (None, Some("first".into())));
        assert_eq!(within(10, unread), None);
    }
}
