//! Modules of anybody, one after the other, each in an interpreter that nobody has used.
//!
//! Setting one up takes longer than asking a module. So where several modules follow each other it is set up once, and
//! before each module its memory is made what it was then, byte for byte: what the module before did is gone with it.

use crate::answer::{Problem, Report};
use crate::call::Call;
use crate::chain::Limits;
use crate::loader::CORE;
use crate::module::Module;
use crate::natives::Asks;
use crate::region::{Image, Region};
use crate::sandbox::{Interpreter, Message, is_asked};
use reflex_types::Needs;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Modules of a chain that are asked in one thread.
pub(crate) struct Row {
    modules: Arc<Vec<Module>>,
    call: Arc<Call>,
    limits: Limits,
    asks: Sender<Message>,
    /// The modules that can begin from the same, where there are several, and what they need together.
    alike: Vec<usize>,
    needs: Needs,
    first: Option<(Rc<Interpreter>, Image)>,
}

impl Row {
    pub(crate) fn new(
        modules: Arc<Vec<Module>>,
        places: Range<usize>,
        (call, limits, asks): (Arc<Call>, Limits, Sender<Message>),
    ) -> Row {
        let mut row = Row { modules, call, limits, asks, alike: Vec::new(), needs: Needs::default(), first: None };
        for index in places {
            let Some(module) = row.modules.get(index).filter(|module| is_asked(module, index, &row.call)) else {
                continue;
            };
            let needs = module.needs();
            // What was granted of the environment is part of the interpreter.
            if !needs.process {
                row.alike.push(index);
                row.needs = row.needs.and(needs);
            }
        }
        if row.alike.len() < 2 || !limits.leave {
            row.alike.clear();
        }
        row
    }

    /// Asks a module.
    pub(crate) fn ask(&mut self, index: usize) -> Option<Report> {
        let modules = Arc::clone(&self.modules);
        let module = modules.get(index)?;
        let mut report = Report { module: module.name.clone(), index, said: None, ticks: 0, printed: Vec::new() };
        if !is_asked(module, index, &self.call) {
            return Some(report);
        }
        let is_alike = self.alike.contains(&index);
        match if is_alike { self.untouched(index) } else { self.set_up(index, module.needs()) } {
            Err(problem) => report.said = Some(Err(problem)),
            Ok(interpreter) => {
                report.said = interpreter.ask(module, index, &self.call).transpose();
                (report.ticks, report.printed) = interpreter.spent();
            }
        }
        Some(report)
    }

    /// The interpreter that all that are alike begin from.
    fn untouched(&mut self, index: usize) -> Result<Rc<Interpreter>, Problem> {
        if let Some((interpreter, image)) = &self.first {
            interpreter.renew(image);
            interpreter.admit(index);
            return Ok(Rc::clone(interpreter));
        }
        let interpreter = self.set_up(index, self.needs)?;
        self.first = interpreter.image(self.imports_core()).map(|image| (Rc::clone(&interpreter), image));
        Ok(interpreter)
    }

    fn imports_core(&self) -> bool {
        let names_it = |module: &Module| module.files.iter().any(|(_, text)| text.contains(CORE));
        self.alike.iter().filter_map(|index| self.modules.get(*index)).any(names_it)
    }

    fn set_up(&self, index: usize, needs: Needs) -> Result<Rc<Interpreter>, Problem> {
        let asks = Asks::Thread(self.asks.clone());
        let region = Rc::new(Region::new(self.limits.memory));
        let chain = (&self.modules, Some(index));
        Interpreter::new(chain, needs, (&self.call, asks), (self.limits, &region)).map(Rc::new)
    }
}
