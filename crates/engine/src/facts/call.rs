//! The judged call, the machine, and what is known about the paths of the call so far: the base of every source of facts.

use super::meaning::{Distinct, Seen};
use super::memo::Memo;
use crate::analysis::aliases::{self, Aliases};
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, Target, TargetPath};
use crate::model::event::{AgentPath, Event};
use crate::model::path::{self, Folders, Place, is_within};
use crate::model::session::{RemnantKind, Taint};
use crate::model::vouched::Vouched;
use crate::model::world::World;
use reflex_shell::Value;
use reflex_tables::Tables;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// The judged call and the machine. A value that more than one source needs is computed here, once.
pub(crate) struct Call<'a> {
    pub(crate) event: &'a Event,
    pub(crate) analysis: &'a Analysis,
    pub(crate) tables: Tables,
    pub(crate) world: &'a dyn World,
    aliases: OnceCell<Aliases>,
    /// The meaning of each target.
    pub(super) seen: Memo<Seen>,
    /// The same meanings by their content: thousands of targets may be the same path.
    pub(super) distinct: RefCell<HashSet<Distinct>>,
    /// The patterns of classes, by their index in the library.
    pub(super) places: RefCell<BTreeMap<usize, Rc<[Places]>>>,
    temporary: Vec<String>,
    /// The remnants of earlier calls.
    past: OnceCell<Vec<Taint>>,
    /// Files that calls of the session wrote.
    written: OnceCell<BTreeSet<String>>,
    /// Folders that policies treat like the workspace, with whether a person vouches for them.
    roots: Vec<(String, Vouched)>,
}

/// Path patterns of a class, and of its exceptions.
pub(super) struct Places {
    pub(super) paths: Vec<Cow<'static, [u8]>>,
    pub(super) except: Vec<Cow<'static, [u8]>>,
}

impl<'a> Call<'a> {
    pub(super) fn new(event: &'a Event, analysis: &'a Analysis, tables: Tables, world: &'a dyn World) -> Call<'a> {
        Call {
            event,
            analysis,
            tables,
            world,
            aliases: OnceCell::new(),
            seen: Memo::default(),
            distinct: RefCell::default(),
            places: RefCell::default(),
            temporary: world.temporary(),
            past: OnceCell::new(),
            written: OnceCell::new(),
            roots: Vec::new(),
        }
    }

    /// Adds folders that count like the workspace; `~/` is the home folder.
    pub(super) fn add_roots<'r>(&mut self, roots: impl Iterator<Item = (&'r str, Vouched)>) {
        let home = &self.event.home;
        // The home folder or a folder above it is never a project folder.
        let roots = roots.map(|(root, vouched)| (absolute_root(root, home), vouched));
        self.roots = roots.filter(|(root, _)| !is_within(home, root)).collect();
    }

    /// Returns the workspace, the folders for temporary files and those that policies add.
    pub(crate) fn roots(&self) -> Vec<String> {
        let workspace = Some(self.event.workspace.clone()).filter(|workspace| !workspace.is_empty());
        let added = self.roots.iter().filter(|(_, vouched)| vouched.holds()).map(|(root, _)| root.clone());
        workspace.into_iter().chain(self.temporary.iter().cloned()).chain(added).collect()
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

    /// Returns the folder of a target that is a path, else that of the effect's command.
    pub(super) fn folder_of(&self, effect: &Effect, target: Option<&Target>) -> String {
        let lies = target.and_then(Target::path).map(str::to_owned);
        lies.or_else(|| effect.folder.clone()).unwrap_or_else(|| self.event.cwd.clone())
    }

    /// Returns the remnants of earlier calls of the session.
    pub(crate) fn past(&self) -> &[Taint] {
        self.past.get_or_init(|| self.world.remnants())
    }

    /// Whether the session has received a text with instructions. Later calls may follow them instead of the person.
    pub(crate) fn is_tainted(&self) -> bool {
        self.past().iter().any(|known| known.kind == RemnantKind::Orders)
    }

    /// Returns the files that calls of the session wrote.
    pub(super) fn written_files(&self) -> &BTreeSet<String> {
        self.written.get_or_init(|| self.world.written())
    }

    pub(super) fn aliases(&self) -> &Aliases {
        self.aliases
            .get_or_init(|| Aliases::from_analysis(self.analysis, self.folders(), &|name| self.world.variable(name)))
    }

    /// Returns the path that a word of an effect's command names, if known.
    pub(crate) fn lexical(&self, value: &Value, effect: &Effect) -> Option<String> {
        let cwd = effect.folder.as_deref()?;
        match path::lexical(value, Folders { cwd, ..self.folders() }, &|name| self.world.variable(name)) {
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        }
    }

    /// Returns the link that an effect creates, and its target.
    pub(crate) fn link(&self, effect: &Effect) -> Option<(String, String)> {
        aliases::made_link(effect, self.folders(), &|name| self.world.variable(name))
    }

    /// Whether the path exists.
    pub(crate) fn exists(&self, path: &str) -> Option<bool> {
        self.world.real(path, true).exists
    }

    /// Whether the path does not exist.
    pub(crate) fn is_missing(&self, file: &AgentPath) -> bool {
        let path = path::absolute(&file.with_slashes(), &self.event.cwd);
        self.exists(&path) == Some(false)
    }

    /// Resolves an absolute path, symlinks followed.
    pub(crate) fn real_path(&self, path: &str) -> String {
        self.world.real(path, true).path
    }

    /// Returns a path for display: relative to the workspace if it is inside.
    pub(super) fn display_name(&self, path: &str) -> String {
        let relative = path.strip_prefix(self.event.workspace.as_str()).and_then(|rest| rest.strip_prefix('/'));
        relative.filter(|_| !self.event.workspace.is_empty()).unwrap_or(path).to_owned()
    }
}

/// Returns the path of a folder that counts like the workspace; `~/` is the home folder.
fn absolute_root(root: &str, home: &str) -> String {
    match root.strip_prefix("~/") {
        Some(rest) => path::absolute(rest, home),
        None => path::absolute(root, "/"),
    }
}
