//! The cache of the facts of one call, and the facts about its targets.

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
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Values computed for effects or targets, by their id. Values for items without an id are computed each time.
pub(super) struct Memo<T>(RefCell<Vec<Option<Rc<T>>>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RefCell::default())
    }
}

impl<T> Memo<T> {
    pub(super) fn get(&self, id: Id, work_out: impl FnOnce() -> Rc<T>) -> Rc<T> {
        let Some(index) = id.index() else { return work_out() };
        if let Some(Some(known)) = self.0.borrow().get(index) {
            return Rc::clone(known);
        }
        let new = work_out();
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
    /// The judged event.
    pub event: &'a Event,
    /// The analysis of the event.
    pub analysis: &'a Analysis,
    /// The compiled library.
    pub tables: Tables,
    pub(crate) world: &'a dyn World,
    pub(super) aliases: OnceCell<Aliases>,
    /// The meaning of each target.
    pub(super) seen: Memo<Seen>,
    /// The same meanings by their content: thousands of targets may be the same path.
    pub(super) distinct: RefCell<HashSet<Distinct>>,
    pub(super) regenerable: RefCell<HashMap<String, Ternary>>,
    /// Files that the call generates and does not write otherwise.
    pub(super) generated: OnceCell<HashSet<String>>,
    /// Files that calls of the session wrote.
    pub(super) written: OnceCell<BTreeSet<String>>,
    /// The moved files that each effect writes over, by the effect's index.
    pub(super) buried: OnceCell<HashMap<usize, Vec<String>>>,
    /// Number of files that were examined to detect build results.
    pub(super) surveyed: Cell<usize>,
    /// The patterns of classes, by their index in the library.
    pub(super) places: RefCell<BTreeMap<usize, Rc<[Places]>>>,
    /// Answers to conditions on the call's other effects, shared by all effects.
    pub(super) accompanied: RefCell<BTreeMap<Accompanied, Ternary>>,
    /// The destination of each effect's command.
    pub(super) pointed: Memo<Pointed>,
    pub(super) temporary: Vec<String>,
    /// The remnants of earlier calls.
    pub(super) past: OnceCell<Vec<Taint>>,
    /// Folders that policies treat like the workspace, with whether a person vouches for them.
    pub(super) roots: Vec<(String, Vouched)>,
    /// Queries that are already in `asked`.
    pub(super) recorded: RefCell<BTreeSet<(Fact, Id)>>,
    /// Queries with their answers, for the output of `explain`.
    pub(super) asked: RefCell<Asked>,
    /// Names that would be lost, for the reasons of a verdict.
    pub(super) lost: RefCell<Names>,
    /// The command that repairs the unreadable repository.
    pub(super) mend: RefCell<String>,
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

/// Path patterns of a class, and of its exceptions.
pub(super) struct Places {
    pub(super) paths: Vec<Cow<'static, [u8]>>,
    pub(super) except: Vec<Cow<'static, [u8]>>,
}

/// The meaning of a target.
pub(super) struct Seen {
    /// The resolved path.
    pub(super) real: ResolvedPath,
    /// The class of the resolved path's location.
    pub(super) place: Place,
    /// Every path that is meant: the resolved path, the path as written, its landing place in a folder, the source of a
    /// copy.
    pub(super) paths: Vec<String>,
    /// Number of leading `paths` that are certain; the others are possible.
    pub(super) sure: usize,
    /// The absolute pattern that is meant, if any.
    pub(super) pattern: Option<Pattern>,
    /// Whether the content of every file that the pattern means is shown or sent.
    pub(super) is_taken_whole: bool,
    /// Class answers so far, by the class's index in the library.
    pub(super) classes: RefCell<BTreeMap<usize, Ternary>>,
}

/// A meaning that is compared by its content, without the answers about it.
pub(super) struct Distinct(pub(super) Rc<Seen>);

impl Distinct {
    fn content(&self) -> (&ResolvedPath, &[String], usize, Option<&Pattern>, bool) {
        (&self.0.real, &self.0.paths, self.0.sure, self.0.pattern.as_ref(), self.0.is_taken_whole)
    }
}

impl PartialEq for Distinct {
    fn eq(&self, other: &Distinct) -> bool {
        self.content() == other.content()
    }
}

impl Eq for Distinct {}

impl Hash for Distinct {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.paths.hash(state);
    }
}

/// Paths of which only a pattern is known.
#[derive(PartialEq, Eq)]
pub(super) enum Pattern {
    /// A pattern that the shell expands.
    Written(String),
    /// Everything in a folder that is copied or read recursively.
    Tree(String),
}

impl<'a> Facts<'a> {
    /// Returns the facts about `event`, queried from `world`.
    pub fn new(event: &'a Event, analysis: &'a Analysis, tables: Tables, world: &'a dyn World) -> Facts<'a> {
        Facts {
            event,
            analysis,
            tables,
            world,
            aliases: OnceCell::new(),
            seen: Memo::default(),
            distinct: RefCell::default(),
            regenerable: RefCell::default(),
            generated: OnceCell::new(),
            written: OnceCell::new(),
            buried: OnceCell::new(),
            surveyed: Cell::default(),
            places: RefCell::default(),
            accompanied: RefCell::default(),
            pointed: Memo::default(),
            temporary: world.temporary(),
            past: OnceCell::new(),
            roots: Vec::new(),
            recorded: RefCell::default(),
            asked: RefCell::default(),
            lost: RefCell::default(),
            mend: RefCell::default(),
        }
    }

    /// Adds folders that count like the workspace; `~/` is the home folder.
    pub(crate) fn with_roots<'r>(mut self, roots: impl Iterator<Item = (&'r str, Vouched)>) -> Facts<'a> {
        let home = &self.event.home;
        let absolute = |root: &str| match root.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, home),
            None => path::absolute(root, "/"),
        };
        // The home folder or a folder above it is never a project folder.
        let roots = roots.map(|(root, vouched)| (absolute(root), vouched));
        self.roots = roots.filter(|(root, _)| !is_within(home, root)).collect();
        self
    }

    /// Returns the workspace, the folders for temporary files and those that policies add.
    pub(crate) fn roots(&self) -> Vec<String> {
        let workspace = Some(self.event.workspace.clone()).filter(|workspace| !workspace.is_empty());
        let added = self.roots.iter().filter(|(_, vouched)| vouched.holds()).map(|(root, _)| root.clone());
        workspace.into_iter().chain(self.temporary.iter().cloned()).chain(added).collect()
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

    /// Returns the remnants of earlier calls of the session.
    pub(crate) fn past(&self) -> &[Taint] {
        self.past.get_or_init(|| self.world.remnants())
    }

    /// Whether the session has received a text with instructions. Later calls may follow them instead of the person.
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
