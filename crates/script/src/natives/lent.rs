//! A callback lent to an interpreter for the duration of one call.
#![allow(unsafe_code, reason = "the interpreter's functions outlive what they may ask during a call")]

use serde_json::Value;
use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;

type Answers = dyn Fn(&str) -> Value;

/// The current callback, if any.
#[derive(Default)]
pub(crate) struct Lent(Cell<Option<NonNull<Answers>>>);

impl Lent {
    /// Runs `work` with `answers` as the callback.
    pub(crate) fn during<T>(&self, answers: &dyn Fn(&str) -> Value, work: impl FnOnce() -> T) -> T {
        // SAFETY: only the lifetime differs, and `End` resets the cell before `answers` ends, even if `work` panics.
        let answers: &'static Answers = unsafe { mem::transmute::<&dyn Fn(&str) -> Value, &'static Answers>(answers) };
        let _end = End(&self.0, self.0.replace(Some(NonNull::from(answers))));
        work()
    }

    /// Returns the answer; `null` without a callback.
    pub(crate) fn ask(&self, field: &str) -> Value {
        // SAFETY: the pointer was set by a `during` that has not returned.
        self.0.get().map_or(Value::Null, |answers| unsafe { answers.as_ref() }(field))
    }
}

/// Restores the previous callback.
struct End<'a>(&'a Cell<Option<NonNull<Answers>>>, Option<NonNull<Answers>>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_lent_answers_until_the_end() {
        let lent = Lent::default();
        assert_eq!(lent.ask("a"), Value::Null);
        let inner = |field: &str| Value::from(format!("inner {field}"));
        let outer = |field: &str| Value::from(format!("outer {field}"));
        lent.during(&outer, || {
            assert_eq!(lent.during(&inner, || lent.ask("a")), "inner a");
            assert_eq!(lent.ask("a"), "outer a");
        });
        assert_eq!(lent.ask("a"), Value::Null);
    }
}
