//! A question that only its asker can answer, lent to an interpreter for as long as one call lasts.
#![allow(unsafe_code, reason = "the interpreter's functions outlive what they may ask during a call")]

use serde_json::Value;
use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;

type Answers = dyn Fn(&str) -> Value;

/// Who answers, while somebody does.
#[derive(Default)]
pub(crate) struct Lent(Cell<Option<NonNull<Answers>>>);

impl Lent {
    /// Works while `answers` can be asked.
    pub(crate) fn during<T>(&self, answers: &dyn Fn(&str) -> Value, work: impl FnOnce() -> T) -> T {
        // SAFETY: only the lifetime differs, and the place is emptied before `answers` ends, whatever `work` does.
        let answers: &'static Answers = unsafe { mem::transmute::<&dyn Fn(&str) -> Value, &'static Answers>(answers) };
        let _end = End(&self.0, self.0.replace(Some(NonNull::from(answers))));
        work()
    }

    /// The answer; `null` where nobody is there.
    pub(crate) fn ask(&self, field: &str) -> Value {
        // SAFETY: what stands here is lent by a `during` that has not ended.
        self.0.get().map_or(Value::Null, |answers| unsafe { answers.as_ref() }(field))
    }
}

/// Puts back who was there before.
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
