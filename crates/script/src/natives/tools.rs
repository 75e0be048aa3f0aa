//! State of one interpreter: its call and its counters.

use super::lent::Lent;
use crate::model::answer::Missed;
use crate::model::call::Call;
use crate::model::manifest::Capabilities;
use crate::model::message::Message;
use rquickjs::{Ctx, Exception, Result};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Maximum number of recorded lines of a module, and of characters per line.
const MAX_LINES: usize = 50;

const MAX_CHARACTERS: usize = 500;

/// Maximum number of recorded requests without a grant.
const MAX_MISSED: usize = 8;

/// Bytes processed by native functions that count as one tick of the interpreter.
pub(super) const BYTES_A_TICK: usize = 10_000;

/// Turns of the job queue that count as one tick of the interpreter.
const TURNS_A_TICK: u64 = 200;

/// State of one interpreter.
pub(crate) struct Tools {
    call: RefCell<Arc<Call>>,
    /// Grants of the current module.
    pub(super) granted: RefCell<Capabilities>,
    /// Number of ticks of the interpreter and of native functions, and their maximum.
    pub(crate) ticks: Cell<u64>,
    max_ticks: Cell<u64>,
    /// Turns of the job queue that are not charged yet; fewer than [`TURNS_A_TICK`].
    turns: Cell<u64>,
    pub(crate) printed: RefCell<Vec<String>>,
    /// Requests without a grant.
    pub(crate) missed: RefCell<Vec<Missed>>,
    /// Source of lazy fields; `None` without a call.
    pub(crate) asks: RefCell<Option<Box<Asks>>>,
    /// State of the random number generator; zero before the first number.
    chance: Cell<u64>,
}

/// Source of lazily computed context fields.
pub(crate) enum Asks {
    /// Another thread, which waits for requests.
    Thread(Sender<Message>),
    /// The caller on this thread.
    Here(Lent),
}

impl Tools {
    pub(crate) fn new(max_ticks: u64) -> Tools {
        Tools {
            call: RefCell::new(Arc::new(Call::tool_call(Value::Null))),
            granted: RefCell::default(),
            ticks: Cell::new(0),
            max_ticks: Cell::new(max_ticks),
            turns: Cell::new(0),
            printed: RefCell::default(),
            missed: RefCell::default(),
            asks: RefCell::default(),
            chance: Cell::new(0),
        }
    }

    /// Starts another call.
    pub(crate) fn begin(&self, call: &Arc<Call>, asks: Asks, max_ticks: u64) {
        self.call.replace(Arc::clone(call));
        self.asks.replace(Some(Box::new(asks)));
        self.max_ticks.set(max_ticks);
    }

    /// Starts another module, with its counters at zero.
    pub(crate) fn next(&self, granted: Capabilities) {
        self.granted.replace(granted);
        self.ticks.set(0);
        self.turns.set(0);
    }

    pub(super) fn call(&self) -> Arc<Call> {
        Arc::clone(&self.call.borrow())
    }

    pub(crate) fn is_out_of_ticks(&self) -> bool {
        self.ticks.get() > self.max_ticks.get()
    }

    pub(crate) fn charge(&self, ticks: usize) {
        self.ticks.set(self.ticks.get().saturating_add(ticks as u64));
    }

    /// Charges the work of a native function before it begins. The interpreter checks its counter only once in ten
    /// thousand steps, so a native function fails immediately if no steps are left.
    pub(super) fn afford(&self, ctx: &Ctx<'_>, bytes: usize) -> Result<()> {
        self.charge_bytes(bytes);
        if self.is_out_of_ticks() { Err(Exception::throw_message(ctx, "no steps are left")) } else { Ok(()) }
    }

    /// Charges turns of the job queue. The interpreter counts the steps within a turn, but not the cost of the turn.
    pub(crate) fn turn(&self, turns: u64) {
        let turns = self.turns.get() + turns;
        self.charge(usize::try_from(turns / TURNS_A_TICK).unwrap_or(usize::MAX));
        self.turns.set(turns % TURNS_A_TICK);
    }

    pub(super) fn charge_bytes(&self, bytes: usize) {
        self.charge(bytes / BYTES_A_TICK);
    }

    /// Returns the working directory of the call.
    pub(super) fn cwd(&self) -> String {
        self.call().context.get("cwd").and_then(Value::as_str).unwrap_or("/").to_owned()
    }

    /// Returns a random number from 0 (inclusive) to 1 (exclusive). The interpreter's own generator is seeded when the
    /// interpreter is created, which for a prebuilt one always gives the same seed.
    pub(super) fn random(&self) -> f64 {
        let mut chance = self.chance.get();
        if chance == 0 {
            chance = RandomState::new().build_hasher().finish() | 1;
        }
        // Marsaglia's xorshift; the upper 53 bits form the number.
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        self.chance.set(chance);
        (chance >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Records a request without a grant.
    pub(super) fn miss(&self, missed: Missed) {
        let mut all = self.missed.borrow_mut();
        if all.len() < MAX_MISSED && !all.contains(&missed) {
            all.push(missed);
        }
    }

    pub(super) fn print(&self, words: &[String]) {
        let mut printed = self.printed.borrow_mut();
        if printed.len() < MAX_LINES {
            let line = words.join(" ");
            printed.push(line.chars().take(MAX_CHARACTERS).collect());
        }
    }

    /// Returns a field's JSON, computed once for all modules of a call.
    pub(super) fn wanted(&self, field: &str) -> Arc<str> {
        let text = self.call().worked_out(field, || match self.asks.borrow().as_deref() {
            None => "null".into(),
            Some(Asks::Here(lent)) => lent.ask(field).to_string(),
            Some(Asks::Thread(asks)) => {
                let (send, receive) = channel();
                let asked = asks.send(Message::Wanted(field.to_owned(), send));
                asked.ok().and_then(|()| receive.recv().ok()).unwrap_or_else(|| "null".into())
            }
        });
        self.charge_bytes(text.len());
        text
    }
}
