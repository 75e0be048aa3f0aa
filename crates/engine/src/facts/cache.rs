//! What is remembered of the facts of one call, and the facts about targets that it holds.

use crate::analysis::aliases::Aliases;
use crate::facts::connection::Pointed;
use crate::facts::fact::Fact;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, Id};
use crate::model::event::Event;
use crate::model::path::{self, Folders, Place, is_within};
use crate::model::session::{RemnantKind, Taint};
use crate::model::truth::Ternary;
use crate::model::vouched::Vouched;
use crate::model::world::{Known, Names, ResolvedPath, World};
use reflex_tables::Tables;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// What was worked out about effects or targets, by their id. What has no id is worked out each time.
pub(super) struct Memo<T>(RefCell<Vec<Option<Rc<T>>>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RefCell::default())
    }
}

impl<T> Memo<T> {
    pub(super) fn get(&self, id: Id, work_out: impl FnOnce() -> T) -> Rc<T> {
        let Some(index) = id.index() else { return Rc::new(work_out()) };
        if let Some(Some(known)) = self.0.borrow().get(index) {
            return Rc::clone(known);
        }
        let new = Rc::new(work_out());
        let mut known = self.0.borrow_mut();
        if known.len() <= index {
            known.resize_with(index + 1, || None);
        }
        known.get_mut(index).into_iter().for_each(|place| *place = Some(Rc::clone(&new)));
        new
    }
}

/// The facts of one call.
pub struct Facts<'a> {
    /// What is judged.
    pub event: &'a Event,
    /// What it would do.
    pub analysis: &'a Analysis,
    /// The compiled library.
    pub tables: Tables,
    pub(crate) world: &'a dyn World,
    pub(super) aliases: OnceCell<Aliases>,
    /// What each target stands for.
    pub(super) seen: Memo<Seen>,
    pub(super) regenerable: RefCell<HashMap<String, Ternary>>,
    /// What calls of the session wrote.
    pub(super) written: OnceCell<BTreeSet<String>>,
    /// How many files were looked at to tell what a build has made.
    pub(super) surveyed: Cell<usize>,
    /// The patterns of classes, by their place in the library.
    pub(super) places: RefCell<BTreeMap<usize, Rc<[Places]>>>,
    /// What else the call does: many effects ask the same.
    pub(super) accompanied: RefCell<BTreeMap<Accompanied, Ternary>>,
    /// Where each effect's command points.
    pub(super) pointed: Memo<Pointed>,
    pub(super) temporary: Vec<String>,
    /// What earlier calls left behind.
    pub(super) past: OnceCell<Vec<Taint>>,
    /// Folders that people's policies make as good as the workspace.
    pub(super) roots: Vec<(String, Vouched)>,
    /// Which questions stand in `asked` already.
    pub(super) told: RefCell<BTreeSet<(Fact, Id)>>,
    /// Questions that were asked, with their answers: what `explain` shows.
    pub(super) asked: RefCell<Asked>,
    /// Names of what would be lost, for reasons.
    pub(super) lost: RefCell<Names>,
    /// What mends the repository that could not be read.
    pub(super) mend: RefCell<String>,
}

/// Where a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// In the library.
    Library,
    /// In the layer of this number.
    Layer(usize),
    /// In rules that are asked without a policy.
    Alone,
}

/// A condition on what else an action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Accompanied {
    pub(crate) action: usize,
    /// Whose condition it is.
    pub(crate) source: Source,
    /// Which one it is there.
    pub(crate) record: u32,
}

/// The lines of `explain` in their order, each once.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) lines: Vec<String>,
    pub(super) known: BTreeSet<String>,
}

/// Patterns of paths of a class, and of those that are none of it.
pub(super) struct Places {
    pub(super) paths: Vec<Cow<'static, [u8]>>,
    pub(super) except: Vec<Cow<'static, [u8]>>,
}

/// What a target stands for.
pub(super) struct Seen {
    /// Where it leads.
    pub(super) real: ResolvedPath,
    /// Where that lies.
    pub(super) place: Place,
    /// Every path that is meant: where it leads, what is written, what it lands on in a folder, what it is a copy of.
    pub(super) paths: Vec<String>,
    /// How many of them are meant for certain; the others may be.
    pub(super) sure: usize,
    /// The pattern of paths that is meant, absolute.
    pub(super) pattern: Option<Pattern>,
    /// The answers about classes so far, by their place in the library.
    pub(super) classes: RefCell<BTreeMap<usize, Ternary>>,
}

/// Paths of which only a pattern is known.
pub(super) enum Pattern {
    /// As the shell expands it.
    Written(String),
    /// All that lies in a folder which is copied or read as a whole.
    Tree(String),
}

impl<'a> Facts<'a> {
    /// Facts about `event`, asked of `world`.
    pub fn new(event: &'a Event, analysis: &'a Analysis, tables: Tables, world: &'a dyn World) -> Facts<'a> {
        Facts {
            event,
            analysis,
            tables,
            world,
            aliases: OnceCell::new(),
            seen: Memo::default(),
            regenerable: RefCell::default(),
            written: OnceCell::new(),
            surveyed: Cell::default(),
            places: RefCell::default(),
            accompanied: RefCell::default(),
            pointed: Memo::default(),
            temporary: world.temporary(),
            past: OnceCell::new(),
            roots: Vec::new(),
            told: RefCell::default(),
            asked: RefCell::default(),
            lost: RefCell::default(),
            mend: RefCell::default(),
        }
    }

    /// The same with folders that are as good as the workspace: `~/` is the home.
    pub(crate) fn with_roots<'r>(mut self, roots: impl Iterator<Item = (&'r str, Vouched)>) -> Facts<'a> {
        let home = &self.event.home;
        let absolute = |root: &str| match root.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, home),
            None => path::absolute(root, "/"),
        };
        // The home itself or what lies above it is no project's folder.
        let roots = roots.map(|(root, vouched)| (absolute(root), vouched));
        self.roots = roots.filter(|(root, _)| !is_within(home, root)).collect();
        self
    }

    /// The workspace, the folders for temporary files and those that policies add.
    pub(crate) fn roots(&self) -> Vec<String> {
        let workspace = Some(self.event.workspace.clone()).filter(|workspace| !workspace.is_empty());
        let added = self.roots.iter().filter(|(_, vouched)| vouched.holds()).map(|(root, _)| root.clone());
        workspace.into_iter().chain(self.temporary.iter().cloned()).chain(added).collect()
    }

    /// The questions that were asked so far, with their answers.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().lines.clone()
    }

    /// The first of them, for a finding: of a call with thousands of targets nobody reads them all again and again.
    pub(crate) fn asked_lately(&self) -> Vec<String> {
        const MOST: usize = 100;
        self.asked.borrow().lines.iter().take(MOST).cloned().collect()
    }

    /// The names of what would be lost that the last conditions found; forgets them.
    pub(crate) fn take_lost(&self) -> Names {
        self.lost.take()
    }

    /// What mends the repository that a condition found unreadable.
    pub(crate) fn mend(&self) -> String {
        self.mend.borrow().clone()
    }

    /// Whether an effect of an action fits a condition.
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

    pub(super) fn folders(&self) -> Folders<'a> {
        Folders {
            cwd: &self.event.cwd,
            start: &self.event.cwd,
            workspace: &self.event.workspace,
            home: &self.event.home,
        }
    }

    pub(super) fn place(&self, path: &str) -> Place {
        let mut added = self.roots.iter().filter(|(root, _)| is_within(path, root));
        if let Some((root, _)) = added.find(|(_, vouched)| vouched.holds()) {
            return if path == root { Place::Workspace } else { Place::Inside };
        }
        if !self.world.folds_case() {
            return Place::from_path(path, self.folders(), &self.temporary);
        }
        let [cwd, workspace, home] =
            [&self.event.cwd, &self.event.workspace, &self.event.home].map(|folder| folder.to_lowercase());
        let folders = Folders { cwd: &cwd, start: &cwd, workspace: &workspace, home: &home };
        Place::from_path(&path.to_lowercase(), folders, &self.temporary)
    }

    /// What earlier calls of the session left behind.
    pub(crate) fn past(&self) -> &[Taint] {
        self.past.get_or_init(|| self.world.remnants())
    }

    /// Whether a text with orders was heard in this session. What follows may be its wish and not the person's.
    pub(crate) fn is_tainted(&self) -> bool {
        self.past().iter().any(|known| known.kind == RemnantKind::Orders)
    }

    pub(super) fn aliases(&self) -> &Aliases {
        self.aliases
            .get_or_init(|| Aliases::from_analysis(self.analysis, self.folders(), &|name| self.world.variable(name)))
    }
}

pub(super) fn truth(known: Known<bool>) -> Ternary {
    known.map_or(Ternary::Unknown, Ternary::from)
}
