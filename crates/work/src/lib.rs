//! One budget of work for a whole call: all readers and all that judges draw from it, so that many small expansions cost
//! no more together than one large one.
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
//! Work is counted, not timed: the same call takes the same. A unit is about a thousand instructions. Beside what is
//! spent by name, memory that was handed out counts, where somebody measures it: whatever grows takes memory.

use std::cell::{Cell, RefCell};

/// Bytes of memory that count as one unit.
const BYTES: u64 = 128;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static METER: Cell<Option<fn() -> usize>> = const { Cell::new(None) };
    /// Whether more was asked for than there was.
    static ENDED: Cell<bool> = const { Cell::new(false) };
    /// What the meter may show at most.
    static MAX_BYTES: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The first part that was left unread because of another limit.
    static UNREAD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on the memory that this tells counts as work too.
pub fn measure_memory(meter: fn() -> usize) {
    METER.set(Some(meter));
}

/// Does something that may spend so many units. Within another budget it draws from that.
pub fn within<T>(most: u64, run: impl FnOnce() -> T) -> T {
    if LEFT.get() != u64::MAX {
        return run();
    }
    /// Ends the budget however the work ends.
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
    set(most);
    run()
}

/// Does something that may be left out with at most so many units of those that are left. That they were not enough, or
/// that a part was left unread, is not told.
pub fn aside<T>(most: u64, run: impl FnOnce() -> T) -> T {
    let (left, bytes, ended) = (LEFT.get(), MAX_BYTES.get(), ENDED.get());
    if left == u64::MAX {
        return run();
    }
    let unread = UNREAD.take();
    let share = most.min(left);
    set(share);
    let result = run();
    LEFT.set(left - (share - LEFT.get().min(share)));
    MAX_BYTES.set(bytes);
    ENDED.set(ended);
    UNREAD.set(unread);
    result
}

/// So many units are there from here on, whatever was spent before: what was understood is still to be judged.
pub fn reserve(units: u64) {
    if LEFT.get() < units {
        set(units);
    }
}

fn set(units: u64) {
    LEFT.set(units.min(u64::MAX - 1));
    MAX_BYTES.set(memory().saturating_add(units.saturating_mul(BYTES)));
}

/// Takes so many units; whether there were as many. Once there were not, there are none.
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

/// The same for work on so many bytes, at about so many instructions for each.
pub fn spend_bytes(bytes: usize, each: u64) -> bool {
    spend((bytes as u64).saturating_mul(each) / 1000 + 1)
}

/// Whether the budget has ended once, even if more was reserved since.
pub fn has_ended() -> bool {
    LEFT.get() != u64::MAX && ENDED.get()
}

/// Tells that instructions (code, scripts, recipes, aliases) were left unread because of a limit of whoever reads them,
/// and which: `the chain of scripts behind `x` is longer than 64 files`.
pub fn cut(what: impl FnOnce() -> String) {
    if LEFT.get() != u64::MAX {
        UNREAD.with_borrow_mut(|unread| {
            unread.get_or_insert_with(what);
        });
    }
}

/// What was left unread first because of another limit than the budget.
pub fn unread() -> Option<String> {
    UNREAD.with_borrow(Clone::clone)
}

/// Whether nothing is left.
pub fn is_over() -> bool {
    LEFT.get() == 0
}

/// What is left; `None` where nothing is counted.
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
        let told = within(10, || {
            let before = unread();
            cut(|| "first".into());
            cut(|| "second".into());
            (before, unread())
        });
        assert_eq!(told, (None, Some("first".into())));
        assert_eq!(within(10, unread), None);
    }
}
