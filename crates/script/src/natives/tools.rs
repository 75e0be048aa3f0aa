//! What stands beside one interpreter: its call, and what is counted of it.

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

/// Lines of a module that are kept, and letters of each.
const MAX_LINES: usize = 50;

const MAX_LETTERS: usize = 500;

/// So much of what a module asks for in vain is noted.
const MAX_MISSED: usize = 8;

/// Bytes that one of our functions works through count as one of the interpreter's rounds.
pub(super) const BYTES_A_TICK: usize = 10_000;

/// Turns of the queue that count as one of the interpreter's rounds.
const TURNS_A_TICK: u64 = 200;

/// What stands beside one interpreter.
pub(crate) struct Tools {
    call: RefCell<Arc<Call>>,
    /// What the module that is asked was granted.
    pub(super) granted: RefCell<Capabilities>,
    /// How often the interpreter's counter ran out, with what our own functions did, and how often it may.
    pub(crate) ticks: Cell<u64>,
    most: Cell<u64>,
    /// Turns of the queue since the last of them was charged.
    turns: Cell<u64>,
    pub(crate) printed: RefCell<Vec<String>>,
    /// What was asked for and not given.
    pub(crate) missed: RefCell<Vec<Missed>>,
    /// Who is asked for what costs something; nobody as long as there is no call.
    pub(crate) asks: RefCell<Option<Box<Asks>>>,
    /// What the next random number comes from; zero before the first.
    chance: Cell<u64>,
}

/// Who knows fields of the context that cost something.
pub(crate) enum Asks {
    /// Another thread, which waits.
    Thread(Sender<Message>),
    /// Whoever asks this module.
    Here(Lent),
}

impl Tools {
    pub(crate) fn new(most: u64) -> Tools {
        Tools {
            call: RefCell::new(Arc::new(Call::tool_call(Value::Null))),
            granted: RefCell::default(),
            ticks: Cell::new(0),
            most: Cell::new(most),
            turns: Cell::new(0),
            printed: RefCell::default(),
            missed: RefCell::default(),
            asks: RefCell::default(),
            chance: Cell::new(0),
        }
    }

    /// Another call.
    pub(crate) fn begin(&self, call: &Arc<Call>, asks: Asks, most: u64) {
        self.call.replace(Arc::clone(call));
        self.asks.replace(Some(Box::new(asks)));
        self.most.set(most);
    }

    /// Another module.
    pub(crate) fn next(&self, granted: Capabilities) {
        self.granted.replace(granted);
        self.ticks.set(0);
        self.turns.set(0);
    }

    pub(super) fn call(&self) -> Arc<Call> {
        Arc::clone(&self.call.borrow())
    }

    pub(crate) fn is_out_of_ticks(&self) -> bool {
        self.ticks.get() > self.most.get()
    }

    pub(crate) fn charge(&self, ticks: usize) {
        self.ticks.set(self.ticks.get().saturating_add(ticks as u64));
    }

    /// Charges the work of one of our own functions before it begins. The interpreter looks at its counter once in ten
    /// thousand steps: who has nothing left is refused here and now.
    pub(super) fn afford(&self, ctx: &Ctx<'_>, bytes: usize) -> Result<()> {
        self.charge_bytes(bytes);
        if self.is_out_of_ticks() { Err(Exception::throw_message(ctx, "there are no steps left")) } else { Ok(()) }
    }

    /// A turn of the queue: the interpreter counts what is done in it, and not what it takes to come and go.
    pub(crate) fn turn(&self, turns: u64) {
        let turns = self.turns.get() + turns;
        self.charge(usize::try_from(turns / TURNS_A_TICK).unwrap_or(usize::MAX));
        self.turns.set(turns % TURNS_A_TICK);
    }

    pub(super) fn charge_bytes(&self, bytes: usize) {
        self.charge(bytes / BYTES_A_TICK);
    }

    /// The folder of the call.
    pub(super) fn cwd(&self) -> String {
        self.call().context.get("cwd").and_then(Value::as_str).unwrap_or("/").to_owned()
    }

    /// From zero to below one. The interpreter's own numbers begin with the moment in which it was made, which for one that
    /// is part of the program is always the same.
    pub(super) fn random(&self) -> f64 {
        let mut chance = self.chance.get();
        if chance == 0 {
            chance = RandomState::new().build_hasher().finish() | 1;
        }
        // Marsaglia's xorshift, of which the upper 53 bits make a number.
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        self.chance.set(chance);
        (chance >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Notes what the module asked for and is not given.
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
            printed.push(line.chars().take(MAX_LETTERS).collect());
        }
    }

    /// A field's JSON: worked out once for all modules of a call.
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
