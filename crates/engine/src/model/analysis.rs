//! The analysis of an event: its parsed texts, its effects, and the files that it runs or writes.

use crate::model::effect::{Effect, Id};
use crate::model::mounts::MountTable;
use reflex_shell::{Command, CommandId, Reading};
use std::rc::Rc;

/// The effects of an event, computed once and shared by all detectors.
#[derive(Debug, Default)]
pub struct Analysis {
    /// One reading per action of the event; empty if the action is not a shell text.
    pub readings: Vec<Reading>,
    /// All effects of the event, in the order in which they are found.
    pub effects: Vec<Effect>,
    /// Files whose text the call runs or writes, in the order in which they are found.
    pub scripts: Vec<Script>,
}

impl Analysis {
    /// Assigns an id to every effect and target.
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

    /// Returns the command of an effect.
    pub fn command(&self, effect: &Effect) -> Option<&Command> {
        self.reading(effect)?.commands.get(effect.command?)
    }

    /// Returns the reading that contains an effect: that of its action's text, or of a script.
    pub fn reading(&self, effect: &Effect) -> Option<&Reading> {
        self.reading_of(effect.action, effect.script)
    }

    /// Returns the reading of an action's text, or of a script.
    pub(crate) fn reading_of(&self, action: usize, script: Option<usize>) -> Option<&Reading> {
        match script {
            Some(script) => self.scripts.get(script).map(|script| &script.reading),
            None => self.readings.get(action),
        }
    }

    /// Returns the texts that run: those of the actions and of the scripts.
    pub(crate) fn texts_that_run(&self) -> impl Iterator<Item = &Reading> {
        let scripts = self.scripts.iter().filter(|script| script.usage != Usage::Written);
        self.readings.iter().chain(scripts.map(|script| &script.reading))
    }
}

/// A file whose text the call runs or writes.
#[derive(Debug)]
pub struct Script {
    /// The path of the file.
    pub path: String,
    /// The file's text, or the recipes of the tasks that are run.
    pub text: String,
    /// Its commands.
    pub reading: Reading,
    /// The reason for reading it.
    pub usage: Usage,
    /// Whether a client or tool starts it by itself, without a call that would be judged.
    pub(crate) is_unasked: bool,
    /// Its initial working directory, if known.
    pub(crate) folder: Option<String>,
    /// The mounts of the place in which it runs, if that is not this machine.
    pub(crate) place: Option<Rc<MountTable>>,
    /// The action of the event that runs or writes it.
    pub(crate) action: usize,
    /// The length of the chain of scripts that leads to this one; 1 if the call itself starts it.
    pub(crate) level: usize,
    /// The command that starts it, if exactly one does.
    pub(crate) starter: Option<Starter>,
    /// Commands in it that can change files which only running it determines.
    pub(crate) unclear: Vec<Option<CommandId>>,
}

/// The position of a command, for example of the one that starts a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Starter {
    /// Index of the script, or `None` for the call's own text.
    pub(crate) script: Option<usize>,
    /// The id of the command in that text.
    pub(crate) command: Option<CommandId>,
}

/// The role of a script in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// The file is run.
    Run,
    /// Tasks that the file defines are run.
    Task,
    /// The file is only written.
    Written,
}

impl Script {
    /// Returns the position of a byte of the text: `x.sh:3`, or the file of a task.
    pub fn place(&self, at: u32) -> String {
        let before = self.text.get(..at as usize).unwrap_or("");
        match self.usage {
            Usage::Run | Usage::Written => format!("{}:{}", self.path, before.matches('\n').count() + 1),
            Usage::Task => self.path.clone(),
        }
    }
}
