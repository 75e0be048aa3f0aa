//! A chain of modules. They run in order; the first decision other than a pass counts, and a failed module stops no
//! other.

use crate::model::answer::{Limit, ModuleDecision, Problem, Report};
use crate::model::call::Call;
use crate::model::limits::Limits;
use crate::model::message::Message;
use crate::model::module::{Module, OnError};
use crate::natives::lent::Lent;
use crate::natives::tools::Asks;
use crate::sandbox::{self, Interpreter};
use reflex_types::Needs;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

/// An ordered list of modules with their limits.
pub struct Chain {
    modules: Arc<Vec<Module>>,
    limits: Limits,
}

/// The result of running a chain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The first decision that is not a pass.
    pub decision: ModuleDecision,
    /// Index of the module that made it.
    pub by: Option<usize>,
    /// The decision that follows if a person approves `decision`: the next one that is not a pass.
    pub after: Option<(usize, ModuleDecision)>,
    /// Decisions that follow from failed modules. They do not end the chain, and count only if no other module decides.
    pub failed: Vec<(usize, ModuleDecision)>,
    /// Reports of the modules that were run.
    pub reports: Vec<Report>,
}

impl Chain {
    /// Returns a chain of these modules.
    pub fn new(modules: Vec<Module>, limits: Limits) -> Chain {
        let bytes = |module: &Module| module.files.iter().map(|(_, text)| text.len()).sum();
        let limits = limits.for_text(modules.iter().map(bytes).max().unwrap_or(0));
        Chain { modules: Arc::new(modules), limits }
    }

    /// Returns its modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Runs the modules on a call. A denial ends the chain. After a question or a modification the chain continues, as
    /// an approval must not hide the decisions of later modules.
    pub fn run(&self, call: Call) -> Outcome {
        self.run_with(call, &|_| Value::Null)
    }

    /// Runs the modules with lazily computed context fields. `lazily` returns a field of [`Call::lazy`], or a field
    /// below one (`reflex.git`), when a module first reads it.
    pub fn run_with(&self, call: Call, lazily: &dyn Fn(&str) -> Value) -> Outcome {
        let mut outcome = Outcome::default();
        let call = Arc::new(call);
        let (mut next, ours) = (0, Ours::new(self, &call));
        while next < self.modules.len() {
            next = if ours.has(next) {
                ours.ask(next, lazily, &mut outcome)
            } else {
                self.run_from(next, (&call, &ours), lazily, &mut outcome)
            };
        }
        if outcome.by.is_none() {
            let denied = outcome.failed.iter().find(|(_, decision)| matches!(decision, ModuleDecision::Deny { .. }));
            if let Some((index, decision)) = denied.or(outcome.failed.first()).cloned() {
                (outcome.by, outcome.decision) = (Some(index), decision);
            }
        }
        outcome
    }

    /// Runs modules that are not Reflex's own, starting at `first`, in a thread that is abandoned if it does not
    /// return. Returns the index of the next module to run.
    fn run_from(
        &self,
        first: usize,
        (call, ours): (&Arc<Call>, &Ours<'_>),
        lazily: &dyn Fn(&str) -> Value,
        outcome: &mut Outcome,
    ) -> usize {
        let (send, receive) = channel();
        let (modules, limits, asked) = (Arc::clone(&self.modules), self.limits, Arc::clone(call));
        let end = (first..modules.len()).find(|index| ours.has(*index)).unwrap_or(modules.len());
        let work = move || {
            for index in first..end {
                let report = ask_alone((&modules, index), &asked, limits, &send);
                if report.is_none_or(|report| send.send(Message::Report(report)).is_err()) {
                    return;
                }
            }
        };
        let started = thread::Builder::new().stack_size(STACK).spawn(work);
        let mut next = first;
        while let Some(module) = self.modules.get(next).filter(|_| next < end) {
            let received = if started.is_ok() { self.next_report(&receive, lazily) } else { None };
            let lost = received.is_none();
            let report = received.unwrap_or_else(|| Report {
                decision: Some(Err(Problem::Cut(Limit::Watchdog))),
                ..Report::new(module, next)
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
    /// Returns the next report, or `None` after the timeout. Answers requests for lazy fields while waiting.
    fn next_report(&self, receive: &Receiver<Message>, lazily: &dyn Fn(&str) -> Value) -> Option<Report> {
        let mut left = self.limits.watchdog;
        loop {
            let begun = Instant::now();
            match receive.recv_timeout(left).ok()? {
                Message::Report(report) => return Some(report),
                Message::Wanted(field, answer) => {
                    // Time spent on the host's side does not count against the module.
                    left = left.checked_sub(begun.elapsed())?;
                    let _ = answer.send(lazily(&field).to_string());
                }
            }
        }
    }
}

/// Runs a module in a fresh interpreter.
fn ask_alone(
    (modules, index): (&Arc<Vec<Module>>, usize),
    call: &Arc<Call>,
    limits: Limits,
    send: &Sender<Message>,
) -> Option<Report> {
    let module = modules.get(index)?;
    let mut report = Report::new(module, index);
    if !sandbox::is_asked(module, index, call) {
        return Some(report);
    }
    let needs = module.needs();
    match Interpreter::new(needs, limits) {
        Err(problem) => report.decision = Some(Err(problem)),
        Ok(interpreter) => {
            interpreter.begin((modules, Some(index)), (call, Asks::Thread(send.clone())), limits);
            report.decision = interpreter.ask(module, call).transpose();
            interpreter.report(&mut report);
            let is_to_keep = module.is_to_keep && matches!(report.decision, None | Some(Ok(_)));
            report.code = is_to_keep.then(|| interpreter.code(module)).flatten();
        }
    }
    Some(report)
}

/// Stack size of the thread in bytes, for the interpreter and the command parser. Untouched pages cost nothing.
const STACK: usize = 16 << 20;

/// Reflex's own modules of a chain that leave no state. They run on the calling thread in one shared interpreter. Their
/// steps and memory are limited like those of any module, but not their time, as they are known to return.
struct Ours<'a> {
    chain: &'a Chain,
    call: &'a Arc<Call>,
    /// Indexes in the chain of Reflex's own modules.
    places: Vec<usize>,
    needs: Needs,
    kept: RefCell<Option<Interpreter>>,
}

impl<'a> Ours<'a> {
    fn new(chain: &'a Chain, call: &'a Arc<Call>) -> Ours<'a> {
        let mut needs = Needs::default();
        let mut places = Vec::new();
        let asked = |(index, module): &(usize, &Module)| module.is_ours && sandbox::is_asked(module, *index, call);
        for (index, module) in chain.modules.iter().enumerate().filter(asked) {
            let module_needs = module.needs();
            if module_needs.leaves_nothing() {
                needs = needs.and(module_needs);
                places.push(index);
            }
        }
        Ours { chain, call, places, needs, kept: RefCell::default() }
    }

    fn has(&self, index: usize) -> bool {
        self.places.contains(&index)
    }

    /// Runs one of them. Returns the index of the next module to run.
    fn ask(&self, index: usize, lazily: &dyn Fn(&str) -> Value, outcome: &mut Outcome) -> usize {
        let (modules, limits) = (&self.chain.modules, self.chain.limits);
        let Some(module) = modules.get(index) else { return modules.len() };
        let mut report = Report::new(module, index);
        let kept = self.kept.borrow_mut().take().map(Ok);
        let new = || {
            let interpreter = Interpreter::new(self.needs, limits)?;
            interpreter.begin((modules, None), (self.call, Asks::Here(Lent::default())), limits);
            Ok(interpreter)
        };
        match kept.unwrap_or_else(new) {
            Err(problem) => report.decision = Some(Err(problem)),
            Ok(interpreter) => {
                report.decision = interpreter.ask_here(module, self.call, lazily).transpose();
                interpreter.report(&mut report);
                let is_sound = matches!(report.decision, None | Some(Ok(_))) && interpreter.is_idle();
                self.kept.replace(Some(interpreter).filter(|_| is_sound));
            }
        }
        let done = outcome.take(module, report, self.call);
        if done { modules.len() } else { index + 1 }
    }
}

impl Outcome {
    /// Records a module's decision. Returns whether the chain is done.
    fn take(&mut self, module: &Module, report: Report, call: &Call) -> bool {
        let decision = match &report.decision {
            None => ModuleDecision::Pass,
            Some(Ok(decision)) => decision.clone(),
            Some(Err(problem)) => {
                let decision = failed(module, problem, call);
                let counts = (decision != ModuleDecision::Pass).then_some((report.index, decision));
                self.failed.extend(counts);
                ModuleDecision::Pass
            }
        };
        let index = report.index;
        self.reports.push(report);
        if decision == ModuleDecision::Pass {
            return false;
        }
        if self.by.is_none() {
            let done = matches!(decision, ModuleDecision::Deny { .. });
            (self.decision, self.by) = (decision, Some(index));
            return done;
        }
        self.after = Some((index, decision));
        true
    }
}

/// Returns the decision for a module that failed.
fn failed(module: &Module, problem: &Problem, call: &Call) -> ModuleDecision {
    let reason = format!("the reflex `{}` could not answer: {problem}", module.name);
    match module.on_error {
        OnError::Deny => ModuleDecision::Deny { reason },
        OnError::Ask => ModuleDecision::Ask { reason },
        OnError::Skip => ModuleDecision::Pass,
        OnError::Default if call.acts && module.enforces() => ModuleDecision::Ask { reason },
        OnError::Default => ModuleDecision::Pass,
    }
}
