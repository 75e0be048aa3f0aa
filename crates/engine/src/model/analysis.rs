//! What an event would do: its texts as they were read, the effects, and the files that it runs or writes.

use crate::model::effect::{Effect, Id};
use crate::model::mounts::MountTable;
use reflex_shell::{Command, Reading};
use std::rc::Rc;

/// What an event would do, worked out once and shared by all detectors.
#[derive(Debug, Default)]
pub struct Analysis {
    /// One for each action of the event; empty for those that are no shell text.
    pub readings: Vec<Reading>,
    /// Everything that would happen.
    pub effects: Vec<Effect>,
    /// Files whose text the call runs or writes, in the order in which they are found.
    pub scripts: Vec<Script>,
}

impl Analysis {
    /// Gives every effect and target its id.
    pub(crate) fn number(&mut self) {
        let mut targets = 0;
        for (index, effect) in self.effects.iter_mut().enumerate() {
            effect.id = Id::at(index);
            for target in &mut effect.targets {
                target.id = Id::at(targets);
                targets += 1;
            }
        }
    }

    /// The command of an effect.
    pub fn command(&self, effect: &Effect) -> Option<&Command> {
        self.reading(effect)?.commands.get(effect.command?)
    }

    /// The reading in which an effect stands: of its action's text, or of a script.
    pub fn reading(&self, effect: &Effect) -> Option<&Reading> {
        match effect.script {
            Some(script) => self.scripts.get(script).map(|script| &script.reading),
            None => self.readings.get(effect.action),
        }
    }
}

/// A file of which the call runs or writes the text.
#[derive(Debug)]
pub struct Script {
    /// The file.
    pub path: String,
    /// What was read: the file's text, or the recipes of the tasks that are run.
    pub text: String,
    /// What it would run.
    pub reading: Reading,
    /// Why it is read.
    pub usage: Usage,
    /// The folder in which it begins, if that is known.
    pub(crate) folder: Option<String>,
    /// The mounts of the place in which it runs, if that is not this machine.
    pub(crate) place: Option<Rc<MountTable>>,
    /// How many scripts stand between the call and this one.
    pub(crate) level: usize,
}

/// What a call does with a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// The file is run.
    Run,
    /// Tasks that the file names are run.
    Task,
    /// The file is only written.
    Written,
}

impl Script {
    /// Where a byte of the text stands: `x.sh:3`, or the file of a task.
    pub fn place(&self, at: u32) -> String {
        let before = self.text.get(..at as usize).unwrap_or("");
        match self.usage {
            Usage::Run | Usage::Written => format!("{}:{}", self.path, before.matches('\n').count() + 1),
            Usage::Task => self.path.clone(),
        }
    }
}
