//! The facts of one call: its context, what was computed for it, and what was asked.

use super::call::Call;
use super::connection::Pointed;
use super::fact::Fact;
use super::memo::Memo;
use super::regenerable::BuildMemo;
use crate::model::affected::Affected;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, Id, Target};
use crate::model::event::Event;
use crate::model::truth::Ternary;
use crate::model::vouched::Vouched;
use crate::model::world::{Names, Unreadable, World};
use reflex_tables::Tables;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Maximum number of queries that are listed; a call may have tens of thousands of targets.
const MAX_ASKED: usize = 1000;

/// The facts of one call.
pub struct Facts<'a> {
    /// The judged event.
    pub event: &'a Event,
    /// The analysis of the event.
    pub analysis: &'a Analysis,
    /// The compiled library.
    pub tables: Tables,
    pub(crate) call: Call<'a>,
    pub(super) builds: BuildMemo,
    /// Files that the call generates and does not write otherwise.
    pub(super) generated: OnceCell<HashSet<String>>,
    /// The moved files that each effect writes over, by the effect's index.
    pub(super) buried: OnceCell<HashMap<usize, Vec<String>>>,
    /// The destination of each effect's command.
    pub(super) pointed: Memo<Pointed>,
    /// Answers to conditions on the call's other effects, shared by all effects.
    accompanied: RefCell<BTreeMap<Accompanied, Ternary>>,
    /// Queries that are already in `asked`.
    recorded: RefCell<BTreeSet<(Fact, Id)>>,
    /// Queries with their answers, for the output of `explain`.
    asked: RefCell<Asked>,
    /// Names that would be lost, for the reasons of a verdict.
    lost: RefCell<Names>,
    /// The command that repairs the unreadable repository.
    mend: RefCell<String>,
}

/// The origin of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The library.
    Library,
    /// The layer with this number.
    Layer(usize),
    /// Rules that are evaluated without a policy.
    Alone,
}

/// A condition on the other effects of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Accompanied {
    pub(crate) action: usize,
    /// The origin of the condition.
    pub(crate) source: Source,
    /// Number of the condition in its origin.
    pub(crate) record: u32,
}

/// The lines of `explain` in order, without duplicates.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) lines: Vec<String>,
    pub(super) known: BTreeSet<String>,
}

impl<'a> Facts<'a> {
    /// Returns the facts about `event`, queried from `world`.
    pub fn new(event: &'a Event, analysis: &'a Analysis, tables: Tables, world: &'a dyn World) -> Facts<'a> {
        Facts {
            event,
            analysis,
            tables,
            call: Call::new(event, analysis, tables, world),
            builds: BuildMemo::default(),
            generated: OnceCell::new(),
            buried: OnceCell::new(),
            pointed: Memo::default(),
            accompanied: RefCell::default(),
            recorded: RefCell::default(),
            asked: RefCell::default(),
            lost: RefCell::default(),
            mend: RefCell::default(),
        }
    }

    /// Adds folders that count like the workspace; `~/` is the home folder.
    pub(crate) fn with_roots<'r>(mut self, roots: impl Iterator<Item = (&'r str, Vouched)>) -> Facts<'a> {
        self.call.add_roots(roots);
        self
    }

    /// Lists a query with its answer.
    pub(super) fn record(&self, fact: Fact, target: Option<&Target>, truth: Ternary) {
        if self.asked.borrow().lines.len() >= MAX_ASKED {
            return;
        }
        let id = target.map_or(Id::default(), |target| target.id);
        if self.recorded.borrow_mut().insert((fact, id)) {
            let about = target.map_or(String::new(), |target| format!(" {}", target.shown()));
            let line = format!("{}{about}: {}", fact.name(), truth.name());
            let mut asked = self.asked.borrow_mut();
            if asked.known.insert(line.clone()) {
                asked.lines.push(line);
            }
        }
    }

    /// Returns the queries so far, with their answers.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().lines.clone()
    }

    /// Returns the first queries for a finding. The limit keeps calls with thousands of targets readable.
    pub(crate) fn asked_lately(&self) -> Vec<String> {
        const MAX_LINES: usize = 100;
        self.asked.borrow().lines.iter().take(MAX_LINES).cloned().collect()
    }

    /// Whether there are such names; they are kept for the reasons of the verdict.
    pub(super) fn are_lost(&self, names: Affected<Names>) -> Ternary {
        match names {
            Affected::Nothing => Ternary::No,
            Affected::Unknown => Ternary::Unknown,
            Affected::These(names) => {
                *self.lost.borrow_mut() = names;
                Ternary::Yes
            }
        }
    }

    /// Whether there is such a defect; it is kept for the reasons of the verdict.
    pub(super) fn is_defect(&self, found: Option<Unreadable>) -> Ternary {
        let Some(Unreadable { reason, mend }) = found else { return Ternary::No };
        *self.lost.borrow_mut() = Names { names: vec![reason], count: 1, more: false };
        *self.mend.borrow_mut() = mend;
        Ternary::Yes
    }

    /// Returns the names that the last conditions found to be lost, and clears them.
    pub(crate) fn take_lost(&self) -> Names {
        self.lost.take()
    }

    /// Returns the command that repairs the repository which a condition found unreadable.
    pub(crate) fn mend(&self) -> String {
        self.mend.borrow().clone()
    }

    /// Whether an effect of an action satisfies a condition.
    pub(crate) fn also(&self, asked: Accompanied, fits: &dyn Fn(&Effect) -> Ternary) -> Ternary {
        if let Some(known) = self.accompanied.borrow().get(&asked) {
            return *known;
        }
        reflex_shell::work::spend(1 + self.analysis.effects.len() as u64 / 4);
        let others = self.analysis.effects.iter().filter(|other| other.action == asked.action);
        let answers = others.map(fits);
        let truth = answers.max().unwrap_or(Ternary::No);
        self.accompanied.borrow_mut().insert(asked, truth);
        truth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fake_world::FakeWorld;

    #[test]
    fn names_are_kept_for_the_message_only_if_they_are_lost() {
        let (event, analysis, world) = (Event::default(), Analysis::default(), FakeWorld::default());
        let facts = Facts::new(&event, &analysis, Tables::EMPTY, &world);
        let names = Names { names: vec!["a.txt".to_owned()], count: 1, more: false };
        assert_eq!(facts.are_lost(Affected::These(names.clone())), Ternary::Yes);
        assert_eq!(facts.are_lost(Affected::Nothing), Ternary::No);
        assert_eq!(facts.are_lost(Affected::Unknown), Ternary::Unknown);
        assert_eq!(facts.take_lost(), names);
        assert_eq!(facts.take_lost(), Names::default());
    }
}
