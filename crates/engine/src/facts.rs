//! Facts about targets, asked of the world at most once each and remembered for the call.

use crate::analyze::Analysis;
use crate::condition::{self, Subject};
use crate::effect::{Effect, EffectKind, Target, TargetPath};
use crate::event::Event;
use crate::path::{self, Folders, Place, is_within, parent};
use crate::truth::Truth;
use crate::world::{Known, Names, Real, Untracked, World};
use reflex_shell::Site;
use reflex_tables::Node;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The facts of one call.
pub struct Facts<'a> {
    /// What is judged.
    pub event: &'a Event,
    /// What it would do.
    pub analysis: &'a Analysis,
    /// The compiled library.
    pub tables: Node<'static>,
    world: &'a dyn World,
    real: RefCell<BTreeMap<(String, bool), Real>>,
    regenerable: RefCell<BTreeMap<String, Truth>>,
    /// Whether a path belongs to a class, by both: many rules ask the same.
    classes: RefCell<BTreeMap<(String, String), bool>>,
    /// What else the call does, by condition and action: many effects ask the same.
    accompanied: RefCell<BTreeMap<(u32, usize), Truth>>,
    temporary: Vec<String>,
    /// The links that the call makes.
    links: Vec<&'a Effect>,
    /// Which questions stand in `asked` already, by their word and target.
    told: RefCell<BTreeSet<(usize, usize)>>,
    /// Questions that were asked, with their answers: what `explain` shows.
    asked: RefCell<Vec<String>>,
    /// Names of what would be lost, for reasons.
    lost: RefCell<Names>,
}

/// Branches that everybody protects.
const PROTECTED: [&str; 8] = ["main", "master", "trunk", "develop", "production", "prod", "release", "stable"];

impl<'a> Facts<'a> {
    /// Facts about `event`, asked of `world`.
    pub fn new(event: &'a Event, analysis: &'a Analysis, tables: Node<'static>, world: &'a dyn World) -> Facts<'a> {
        Facts {
            event,
            analysis,
            tables,
            world,
            real: RefCell::default(),
            regenerable: RefCell::default(),
            classes: RefCell::default(),
            accompanied: RefCell::default(),
            temporary: world.temporary(),
            links: analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Link).collect(),
            told: RefCell::default(),
            asked: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    /// The questions that were asked so far, with their answers.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    /// The names of what would be lost that the last conditions found; forgets them.
    pub fn take_lost(&self) -> Names {
        self.lost.take()
    }

    /// Whether the target belongs to a class: a place, a property of its path, or a class of the library.
    pub fn is(&self, effect: &Effect, target: &Target, class: &str) -> Truth {
        if effect.site != Site::Here {
            return elsewhere(target, class);
        }
        let TargetPath::Known { text, contents, .. } = &target.path else {
            return Truth::from(class == "unknown" && target.path == TargetPath::Unknown);
        };
        match class {
            "contents" => return Truth::from(*contents),
            "pattern" => return Truth::from(target.is_pattern()),
            "device" => return Truth::from(text.starts_with("/dev/")),
            "guard" => return Truth::from(self.is_guard(effect, target)),
            _ => {}
        }
        let real = self.real(effect, target).path;
        if Place::ALL.iter().any(|(_, name)| *name == class) {
            return Truth::from(self.place(&real).name() == class);
        }
        if class == "system" && (is_within(&real, &self.event.home) || is_within(&real, &self.event.workspace)) {
            // The home of root lies among the system's folders, and a project may too.
            return Truth::No;
        }
        if class == "git-internals" && target.is_pattern() {
            // `.*` is also `.git`.
            let folder = path::absolute(".git", parent(text));
            if path::glob(text.as_bytes(), folder.as_bytes()) && !text.ends_with("/*") {
                return Truth::Yes;
            }
        }
        let inside = contents.then(|| format!("{real}/x"));
        Truth::from(
            self.in_class(class, &real)
                || inside.is_some_and(|inside| self.in_class(class, &inside))
                || (real != *text && self.in_class(class, text)),
        )
    }

    /// Whether an effect of the same action fits a condition.
    pub(crate) fn also(&self, effect: &Effect, condition: Node<'_>) -> Truth {
        let key = (condition.identity(), effect.action);
        if let Some(known) = self.accompanied.borrow().get(&key) {
            return *known;
        }
        let others = self.analysis.effects.iter().filter(|other| other.action == effect.action);
        let answers = others.map(|effect| condition::evaluate(condition, Subject { effect, target: None }, self));
        let truth = answers.max().unwrap_or(Truth::No);
        self.accompanied.borrow_mut().insert(key, truth);
        truth
    }

    fn folders(&self) -> Folders<'a> {
        Folders {
            cwd: &self.event.cwd,
            start: &self.event.cwd,
            workspace: &self.event.workspace,
            home: &self.event.home,
        }
    }

    fn place(&self, path: &str) -> Place {
        Place::of(path, self.folders(), &self.temporary)
    }

    /// Where the target really leads: a removed or moved link is itself the target, everything else goes through it.
    pub fn real(&self, effect: &Effect, target: &Target) -> Real {
        let TargetPath::Known { text, climbing, follows, .. } = &target.path else {
            return Real { path: String::new(), exists: None, is_folder: None };
        };
        let itself = matches!(effect.kind, EffectKind::Delete | EffectKind::Move);
        let linked = self.linked(climbing.as_ref().unwrap_or(text), *follows || !itself);
        let written = &linked;
        let key = (fixed_part(written).to_owned(), *follows || !itself || written.ends_with(".."));
        if let Some(real) = self.real.borrow().get(&key) {
            return real.clone();
        }
        let mut real = self.world.real(&key.0, key.1);
        // What does not exist has no links in it.
        real.path = path::absolute(&real.path, "/");
        if key.0.len() < written.len() {
            real.path = path::absolute(written.get(key.0.len()..).unwrap_or("").trim_start_matches('/'), &real.path);
        }
        self.real.borrow_mut().insert(key, real.clone());
        real
    }

    /// The path with the links that the same call makes followed: they are not there yet.
    fn linked(&self, path: &str, follow: bool) -> String {
        let mut path = path.to_owned();
        for effect in &self.links {
            let (Some(link), Some(leads_to)) = (effect.targets.first().and_then(Target::path), &effect.argument) else {
                continue;
            };
            let inside = if follow { is_within(&path, link) } else { path::is_below(&path, link) };
            let folders = Folders { cwd: parent(link), ..self.folders() };
            let TargetPath::Known { text, .. } = path::lexical(leads_to, folders, &|name| self.world.variable(name))
            else {
                continue;
            };
            if inside {
                path = path::absolute(path.get(link.len()..).unwrap_or("").trim_start_matches('/'), &text);
            }
        }
        path
    }

    fn is_guard(&self, effect: &Effect, target: &Target) -> bool {
        let real = self.real(effect, target).path;
        let own = self.world.guard();
        // Whoever deletes a home or the root takes the guard along, but that is not the news about it.
        let takes_along = effect.kind == EffectKind::Delete && self.place(&real) == Place::Outside;
        let covers = |file: &String| is_within(&real, file) || (takes_along && is_within(file, &real));
        own.iter().any(covers) || self.in_class("guard", &real)
    }

    fn in_class(&self, class: &str, path: &str) -> bool {
        let key = (class.to_owned(), path.to_owned());
        if let Some(known) = self.classes.borrow().get(&key) {
            return *known;
        }
        let belongs = self.fits_class(class, path);
        self.classes.borrow_mut().insert(key, belongs);
        belongs
    }

    fn fits_class(&self, class: &str, path: &str) -> bool {
        self.tables.get("places").get(class).items().any(|place| {
            let fits = |pattern: &str| path::fits(pattern, path, &self.event.home);
            place.get("paths").texts().any(fits) && !place.get("except").texts().any(fits)
        })
    }

    /// A fact of this name about the target, or about the effect as a whole.
    pub fn fact(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Truth {
        let truth = self.ask(effect, target, name);
        // The words and targets of a call stay where they are while it is judged.
        let place = target.map_or(0, |target| std::ptr::from_ref(target) as usize);
        if self.told.borrow_mut().insert((name.as_ptr() as usize, place)) {
            let about = target.map_or(String::new(), |target| format!(" {}", target.shown()));
            let line = format!("{name}{about}: {}", truth.name());
            if !self.asked.borrow().contains(&line) {
                self.asked.borrow_mut().push(line);
            }
        }
        truth
    }

    fn ask(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Truth {
        let folder = self.folder_of(effect, target);
        match name {
            "stashes" if self.stashes_first() => Truth::Yes,
            "stashes" => truth(self.world.stashes(&folder).map(|count| count > 0)),
            "protected-branch" => self.is_protected(&folder, target),
            "unmerged" => self.is_unmerged(&folder, target),
            _ => match target.filter(|target| target.path().is_some()) {
                Some(target) => self.file_fact(effect, target, name),
                None => Truth::Unknown,
            },
        }
    }

    /// Whether the same call stashes something: it is not there yet.
    fn stashes_first(&self) -> bool {
        let commands = self.analysis.readings.iter().flat_map(|reading| &reading.commands);
        let paths = commands.filter_map(|command| command.invocation.as_ref().map(|invocation| &invocation.path));
        paths.into_iter().any(|path| matches!(path.as_slice(), ["stash"] | ["stash", "push" | "save"]))
    }

    fn folder_of(&self, effect: &Effect, target: Option<&Target>) -> String {
        let lies = target.and_then(Target::path).map(str::to_owned);
        lies.or_else(|| effect.folder.clone()).unwrap_or_else(|| self.event.cwd.clone())
    }

    fn file_fact(&self, effect: &Effect, target: &Target, name: &str) -> Truth {
        let real = self.real(effect, target);
        let whole = effect.flags.contains(&"whole").then(|| self.world.work_tree(&real.path)).flatten();
        let path = whole.as_deref().unwrap_or(fixed_part(&real.path));
        match name {
            "exists" => truth(real.exists),
            "tracked" => truth(self.world.is_tracked(path)),
            "regenerable" => self.is_regenerable(path),
            "uncommitted" if effect.kind == EffectKind::DiscardChanges && !effect.flags.contains(&"staged") => {
                self.names(self.world.unstaged(path), target)
            }
            "uncommitted" => self.names(self.world.uncommitted(path), target),
            "untracked" | "ignored-data" if self.is_link(effect, target, &real) => Truth::No,
            "untracked" => self.names(self.lasting(path, self.world.untracked(path, untracked_kind(effect))), target),
            "ignored-data" => self.names(self.lasting(path, self.world.untracked(path, Untracked::Ignored)), target),
            _ => Truth::Unknown,
        }
    }

    /// A link that is itself removed takes nothing along.
    fn is_link(&self, effect: &Effect, target: &Target, real: &Real) -> bool {
        let itself =
            effect.kind == EffectKind::Delete && matches!(target.path, TargetPath::Known { follows: false, .. });
        itself && !target.is_pattern() && self.world.real(&real.path, true).path != real.path
    }

    /// Remembers the names for the reason; with a pattern only those that it fits count.
    fn names(&self, names: Known<Names>, target: &Target) -> Truth {
        let Some(mut names) = names else { return Truth::Unknown };
        if let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) {
            let names_folder = &self.event.workspace;
            let fits = |name: &String| {
                let file = path::absolute(name, names_folder);
                let above = |folder: &str| path::glob(pattern.as_bytes(), folder.as_bytes());
                std::iter::successors(Some(file.as_str()), |at| (*at != "/").then(|| parent(at))).any(above)
            };
            let all_named = names.count == names.names.len();
            names.names.retain(fits);
            if all_named {
                names.count = names.names.len();
            }
        }
        if names.count == 0 {
            return Truth::No;
        }
        *self.lost.borrow_mut() = names;
        Truth::Yes
    }

    /// Without what a build makes again.
    fn lasting(&self, path: &str, names: Known<Names>) -> Known<Names> {
        let mut names = names?;
        let before = names.names.len();
        let regenerable = |name: &String| {
            let file = path::absolute(name, &self.event.workspace);
            let above =
                std::iter::successors(Some(file.as_str()), |at| (*at != "/" && *at != path).then(|| parent(at)));
            above.into_iter().any(|at| self.is_regenerable(at) == Truth::Yes)
        };
        names.names.retain(|name| !regenerable(name));
        if names.names.is_empty() {
            return Some(Names::default());
        }
        names.count -= before - names.names.len();
        Some(names)
    }

    /// A build or dependency folder by its name, with its manifest beside it, and not tracked.
    fn is_regenerable(&self, path: &str) -> Truth {
        if let Some(known) = self.regenerable.borrow().get(path) {
            return *known;
        }
        let truth = self.ask_regenerable(path);
        self.regenerable.borrow_mut().insert(path.to_owned(), truth);
        truth
    }

    fn ask_regenerable(&self, path: &str) -> Truth {
        let fits = |pattern: &str| {
            std::iter::successors(Some(path), |at| (*at != "/" && *at != self.event.workspace).then(|| parent(at)))
                .find(|at| path::fits(pattern, at, &self.event.home))
                .map(str::to_owned)
        };
        for place in self.tables.get("places").get("regenerable").items() {
            let Some(folder) = place.get("paths").texts().find_map(fits) else { continue };
            let beside: Vec<&str> = place.get("beside").texts().collect();
            let manifest = beside.is_empty()
                || [parent(&folder), &self.event.workspace]
                    .iter()
                    .any(|at| self.world.has_one_of(at, &beside) != Some(false));
            if manifest && self.world.is_ignored(&folder) != Some(false) {
                return Truth::Yes;
            }
        }
        Truth::No
    }

    fn branch_name(&self, folder: &str, target: Option<&Target>) -> Option<String> {
        let shown = target.map(|target| target.value.shown()).unwrap_or_default();
        let name = shown.rsplit(':').next().unwrap_or("").trim_start_matches("refs/heads/").to_owned();
        if name.is_empty() || name == "HEAD" || name == "the current branch" {
            return self.world.branch(folder)?;
        }
        Some(name)
    }

    fn is_protected(&self, folder: &str, target: Option<&Target>) -> Truth {
        let Some(name) = self.branch_name(folder, target) else { return Truth::Unknown };
        let own = self.world.protected(folder);
        let known = PROTECTED.contains(&name.as_str()) || name.starts_with("release/") || own.contains(&name);
        Truth::from(known)
    }

    fn is_unmerged(&self, folder: &str, target: Option<&Target>) -> Truth {
        let Some(name) = target.map(|target| target.value.shown()) else { return Truth::Unknown };
        let count = self.world.only_on(folder, &name);
        if let Some(count) = count.filter(|count| *count > 0) {
            *self.lost.borrow_mut() =
                Names { names: vec![format!("{count} commits that are only on {name}")], count: 1 };
        }
        truth(count.map(|count| count > 0))
    }
}

fn truth(known: Known<bool>) -> Truth {
    known.map_or(Truth::Unknown, Truth::from)
}

fn untracked_kind(effect: &Effect) -> Untracked {
    if effect.kind != EffectKind::DiscardUntracked {
        return Untracked::Ordinary;
    }
    match (effect.flags.contains(&"ignored"), effect.flags.contains(&"only-ignored")) {
        (_, true) => Untracked::Ignored,
        (true, false) => Untracked::All,
        (false, false) => Untracked::Ordinary,
    }
}

/// The path up to the last part without a pattern.
fn fixed_part(path: &str) -> &str {
    let Some(at) = path.find(['*', '?', '[']) else { return path };
    let before = path.get(..at).unwrap_or("");
    match before.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => before.get(..slash).unwrap_or("/"),
    }
}

/// On another system only the roots are known.
fn elsewhere(target: &Target, class: &str) -> Truth {
    let root = match target.path() {
        Some("/") => "root",
        _ if target.value.pieces.len() == 1 && target.value.shown() == "~" => "home",
        _ => "elsewhere",
    };
    Truth::from(class == root)
}
