//! A chain of modules: asked in their order, the first that does not pass decides, and one that fails stops no other.

use crate::answer::{Limit, Problem, Report, Said};
use crate::call::Call;
use crate::module::{Module, OnError};
use crate::sandbox::{self, Message};
use serde_json::Value;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What one module may take for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the interpreter's counter may run out: ten thousand steps each, in regular expressions too.
    pub ticks: u64,
    /// Bytes of memory, with all that the interpreter needs itself.
    pub memory: usize,
    /// Bytes of the interpreter's stack.
    pub stack: usize,
    /// Bytes of a decision.
    pub output: usize,
    /// Real time: what no counter sees is cut here.
    pub watchdog: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ticks: 1000,
            memory: 32 << 20,
            stack: 256 << 10,
            output: 64 << 10,
            watchdog: Duration::from_millis(600),
        }
    }
}

/// Modules in their order.
pub struct Chain {
    modules: Arc<Vec<Module>>,
    limits: Limits,
}

/// What a chain says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The first decision that is no pass.
    pub said: Said,
    /// Whose it is.
    pub by: Option<usize>,
    /// What would come behind a yes to it: the first decision that is no pass among the modules after.
    pub behind: Option<(usize, Said)>,
    /// What follows from modules that gave no decision; it neither decides for the chain nor ends it, unless nobody else
    /// decides.
    pub failed: Vec<(usize, Said)>,
    /// What became of each module that was asked.
    pub reports: Vec<Report>,
}

impl Chain {
    /// A chain of these modules.
    pub fn new(modules: Vec<Module>, limits: Limits) -> Chain {
        Chain { modules: Arc::new(modules), limits }
    }

    /// Its modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Asks the modules about a call. Those after one that denies are not asked; those after one that asks or changes
    /// are, for a yes must not hide what they say.
    pub fn run(&self, call: Call) -> Outcome {
        self.run_with(call, &|_| Value::Null)
    }

    /// The same; `lazily` gives fields of the context that cost something, once a module looks at them: what
    /// [`Call::lazy`] names, and below it with a dot (`reflex.git`).
    pub fn run_with(&self, call: Call, lazily: &dyn Fn(&str) -> Value) -> Outcome {
        let mut outcome = Outcome::default();
        let call = Arc::new(call);
        let mut next = 0;
        while next < self.modules.len() {
            next = self.run_from(next, &call, lazily, &mut outcome);
        }
        if outcome.by.is_none() {
            let denied = outcome.failed.iter().find(|(_, said)| matches!(said, Said::Deny { .. }));
            if let Some((index, said)) = denied.or(outcome.failed.first()).cloned() {
                (outcome.by, outcome.said) = (Some(index), said);
            }
        }
        outcome
    }

    /// Asks the modules from one on, in a thread that is left behind if it does not come back. Gives the next to ask.
    fn run_from(&self, first: usize, call: &Arc<Call>, lazily: &dyn Fn(&str) -> Value, outcome: &mut Outcome) -> usize {
        let (send, receive) = channel();
        let (modules, limits, asked) = (Arc::clone(&self.modules), self.limits, Arc::clone(call));
        let work = move || {
            for (index, module) in modules.iter().enumerate().skip(first) {
                let report = sandbox::ask(module, index, &asked, (limits, &send));
                if send.send(Message::Report(report)).is_err() {
                    return;
                }
            }
        };
        let started = thread::Builder::new().stack_size(STACK).spawn(work);
        let mut next = first;
        while let Some(module) = self.modules.get(next) {
            let heard = if started.is_ok() { self.heard(&receive, lazily) } else { None };
            let lost = heard.is_none();
            let report = heard.unwrap_or_else(|| Report {
                module: module.name.clone(),
                index: next,
                said: Some(Err(Problem::Cut(Limit::Watchdog))),
                ticks: 0,
                printed: Vec::new(),
            });
            next += 1;
            let done = outcome.take(module, report, call);
            if done {
                return self.modules.len();
            }
            if lost {
                return next;
            }
        }
        next
    }
}

impl Chain {
    /// The next report, if it comes in time. Fields that a module looks at meanwhile are given.
    fn heard(&self, receive: &Receiver<Message>, lazily: &dyn Fn(&str) -> Value) -> Option<Report> {
        let mut left = self.limits.watchdog;
        loop {
            let begun = Instant::now();
            match receive.recv_timeout(left).ok()? {
                Message::Report(report) => return Some(report),
                Message::Wanted(field, answer) => {
                    // What is asked of us is not the module's time.
                    left = left.checked_sub(begun.elapsed())?;
                    let _ = answer.send(lazily(&field).to_string());
                }
            }
        }
    }
}

/// The stack of the thread: the interpreter's own and what the reader of commands needs. Pages that are never touched
/// cost nothing.
const STACK: usize = 16 << 20;

impl Outcome {
    /// Takes what a module said; gives whether nothing after it can count.
    fn take(&mut self, module: &Module, report: Report, call: &Call) -> bool {
        let said = match &report.said {
            None => Said::Pass,
            Some(Ok(said)) => said.clone(),
            Some(Err(problem)) => {
                let said = failed(module, problem, call);
                let counts = (said != Said::Pass).then_some((report.index, said));
                self.failed.extend(counts);
                Said::Pass
            }
        };
        let index = report.index;
        self.reports.push(report);
        if said == Said::Pass {
            return false;
        }
        if self.by.is_none() {
            let done = matches!(said, Said::Deny { .. });
            (self.said, self.by) = (said, Some(index));
            return done;
        }
        self.behind = Some((index, said));
        true
    }
}

/// What holds for a module that gave no decision.
fn failed(module: &Module, problem: &Problem, call: &Call) -> Said {
    let reason = format!("the reflex `{}` could not answer: {problem}", module.name);
    match module.on_error {
        OnError::Deny => Said::Deny { reason },
        OnError::Ask => Said::Ask { reason },
        OnError::Skip => Said::Pass,
        OnError::Default if call.acts && module.enforces() => Said::Ask { reason },
        OnError::Default => Said::Pass,
    }
}
