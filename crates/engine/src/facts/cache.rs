//! What is remembered of the facts of one call, and the facts about targets that it holds.

use crate::analysis::aliases::{self, Aliases};
use crate::analysis::clones::cloned;
use crate::facts::connection::{self, Pointed};
use crate::facts::switches::Change;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::Event;
use crate::model::guard::GUARD_PROGRAMS;
use crate::model::path::{self, Folders, Place, is_below, is_within, parent};
use crate::model::session::{Remnant, RemnantKind};
use crate::model::truth::Truth;
use crate::model::vouched::Vouched;
use crate::model::world::{Known, Look, Names, Real, Untracked, World};
use crate::text::glob;
use reflex_shell::{Command, Piece, Site, Value};
use reflex_tables::Node;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The patterns of classes by address and length of their word.
pub(super) type PatternsOfClasses = BTreeMap<(usize, usize), Rc<[Places]>>;

/// The facts of one call.
pub struct Facts<'a> {
    /// What is judged.
    pub event: &'a Event,
    /// What it would do.
    pub analysis: &'a Analysis,
    /// The compiled library.
    pub tables: Node<'static>,
    pub(crate) world: &'a dyn World,
    aliases: OnceCell<Aliases>,
    /// What each target stands for, by its place in memory: targets stay where they are while a call is judged.
    seen: RefCell<BTreeMap<usize, Rc<Seen>>>,
    regenerable: RefCell<HashMap<String, Truth>>,
    /// The patterns of classes, by the place of their word in memory.
    places: RefCell<PatternsOfClasses>,
    /// What else the call does, by condition and action: many effects ask the same.
    accompanied: RefCell<BTreeMap<Accompanied, Truth>>,
    /// Where each effect's command points, by its place in memory.
    pointed: RefCell<BTreeMap<usize, Rc<Pointed>>>,
    temporary: Vec<String>,
    /// What earlier calls left behind.
    past: OnceCell<Vec<Remnant>>,
    /// Folders that people's policies make as good as the workspace.
    roots: Vec<(String, Vouched)>,
    /// Which questions stand in `asked` already, by their word and target.
    told: RefCell<BTreeSet<(usize, usize)>>,
    /// Questions that were asked, with their answers: what `explain` shows.
    asked: RefCell<Asked>,
    /// Names of what would be lost, for reasons.
    lost: RefCell<Names>,
    /// What mends the repository that could not be read.
    mend: RefCell<String>,
}

/// A condition by its place in memory, and an action.
pub(super) type Accompanied = ((usize, u32), usize);

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
    pub(super) real: Real,
    /// Where that lies.
    pub(super) place: Place,
    /// Every path that is meant: where it leads, what is written, what it lands on in a folder, what it is a copy of.
    pub(super) paths: Vec<String>,
    /// How many of them are meant for certain; the others may be.
    pub(super) sure: usize,
    /// The pattern of paths that is meant, absolute.
    pub(super) pattern: Option<Pattern>,
    /// The answers about classes so far, by the place of their word in memory.
    pub(super) classes: RefCell<BTreeMap<usize, Truth>>,
}

/// Paths of which only a pattern is known.
pub(super) enum Pattern {
    /// As the shell expands it.
    Written(String),
    /// All that lies in a folder which is copied or read as a whole.
    Tree(String),
}

/// Classes that only take danger away: every path that may be meant must belong to them, not any.
pub(super) const HARMLESS: [&str; 2] = ["caches", "agent-notes"];

/// Commands that run a command that runs a command: more are not looked at for what they set.
pub(super) const MOST_WRAPPERS: usize = 16;

/// More files than these that land in one folder are not looked at one by one.
pub(super) const MOST_LANDINGS: usize = 64;

/// More questions than these are not listed: nobody reads on, and a call may have tens of thousands of targets.
pub(super) const MOST_ASKED: usize = 1000;

/// Branches that everybody protects.
pub(super) const PROTECTED: [&str; 8] =
    ["main", "master", "trunk", "develop", "production", "prod", "release", "stable"];

impl<'a> Facts<'a> {
    /// Facts about `event`, asked of `world`.
    pub fn new(event: &'a Event, analysis: &'a Analysis, tables: Node<'static>, world: &'a dyn World) -> Facts<'a> {
        Facts {
            event,
            analysis,
            tables,
            world,
            aliases: OnceCell::new(),
            seen: RefCell::default(),
            regenerable: RefCell::default(),
            places: RefCell::default(),
            accompanied: RefCell::default(),
            pointed: RefCell::default(),
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
    pub fn with_roots<'r>(mut self, roots: impl Iterator<Item = (&'r str, Vouched)>) -> Facts<'a> {
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
    pub fn take_lost(&self) -> Names {
        self.lost.take()
    }

    /// What mends the repository that a condition found unreadable.
    pub(crate) fn mend(&self) -> String {
        self.mend.borrow().clone()
    }

    /// Whether the target belongs to a class: a place, a property of its path, or a class of the library.
    pub fn is(&self, effect: &Effect, target: &Target, class: &str) -> Truth {
        if effect.site != Site::Here {
            return elsewhere(target, class);
        }
        let TargetPath::Known { text, contents, climbing, .. } = &target.path else {
            return Truth::from(class == "unknown" && target.path == TargetPath::Unknown);
        };
        match class {
            "contents" => return Truth::from(*contents),
            "climbing" => return Truth::from(climbing.is_some()),
            "pattern" => return Truth::from(target.is_pattern()),
            "device" => return Truth::from(text.starts_with("/dev/")),
            "guard" => return Truth::from(self.is_guard(effect, target)),
            "guard-program" => return Truth::from(self.is_guard_program(effect, target)),
            _ => {}
        }
        let seen = self.seen(effect, target);
        if Place::ALL.iter().any(|(_, name)| *name == class) {
            return Truth::from(seen.place.name() == class);
        }
        let key = class.as_ptr() as usize;
        if let Some(known) = seen.classes.borrow().get(&key) {
            return *known;
        }
        let truth = self.class(&seen, class);
        seen.classes.borrow_mut().insert(key, truth);
        truth
    }

    pub(super) fn class(&self, seen: &Seen, class: &str) -> Truth {
        let real = &seen.real.path;
        if class == "system" && (is_within(real, &self.event.home) || is_within(real, &self.event.workspace)) {
            // The home of root lies among the system's folders, and a project may too.
            return Truth::No;
        }
        let belongs = |path: &String| self.in_class(class, path);
        if HARMLESS.contains(&class) {
            return Truth::from(seen.paths.iter().take(seen.sure).all(belongs));
        }
        if seen.paths.iter().any(belongs) {
            return Truth::Yes;
        }
        seen.pattern.as_ref().map_or(Truth::No, |pattern| self.may_belong(class, pattern))
    }

    /// Whether a path that the pattern stands for belongs to the class: by what is there if that can be listed.
    pub(super) fn may_belong(&self, class: &str, pattern: &Pattern) -> Truth {
        let places = self.tables.get("places").get(class);
        let mut patterns = places.items().flat_map(|place| place.get("paths").texts());
        let home = &self.event.home;
        let written = match pattern {
            Pattern::Written(written) => written,
            Pattern::Tree(tree) => return Truth::from(patterns.any(|one| holds(tree, one, home))),
        };
        if !patterns.any(|one| meets(written, one, home)) {
            return Truth::No;
        }
        reflex_shell::work::spend(50);
        if let Some(there) = self.world.expand(written) {
            reflex_shell::work::spend(there.len() as u64 * 2);
            return Truth::from(there.iter().any(|path| self.in_class(class, path)));
        }
        // `.*` is whatever is hidden. A repository has its own folder there; whether it has others is not known.
        let last = path::name_of(written);
        let everything = [".*", ".?", ".["].iter().any(|start| last.starts_with(start));
        if everything && class != "git-internals" { Truth::Unknown } else { Truth::Yes }
    }

    /// Whether an effect of an action fits a condition.
    pub(crate) fn also(&self, action: usize, condition: Node<'_>, fits: &dyn Fn(&Effect) -> Truth) -> Truth {
        let key = (condition.identity(), action);
        if let Some(known) = self.accompanied.borrow().get(&key) {
            return *known;
        }
        reflex_shell::work::spend(1 + self.analysis.effects.len() as u64 / 4);
        let others = self.analysis.effects.iter().filter(|other| other.action == action);
        let answers = others.map(fits);
        let truth = answers.max().unwrap_or(Truth::No);
        self.accompanied.borrow_mut().insert(key, truth);
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
            return Place::of(path, self.folders(), &self.temporary);
        }
        let [cwd, workspace, home] =
            [&self.event.cwd, &self.event.workspace, &self.event.home].map(|folder| folder.to_lowercase());
        let folders = Folders { cwd: &cwd, start: &cwd, workspace: &workspace, home: &home };
        Place::of(&path.to_lowercase(), folders, &self.temporary)
    }

    /// Where the target really leads: a removed, moved or made link is itself the target, everything else goes through it.
    pub fn real(&self, effect: &Effect, target: &Target) -> Real {
        self.seen(effect, target).real.clone()
    }

    pub(super) fn seen(&self, effect: &Effect, target: &Target) -> Rc<Seen> {
        let key = std::ptr::from_ref(target) as usize;
        if let Some(seen) = self.seen.borrow().get(&key) {
            return Rc::clone(seen);
        }
        reflex_shell::work::spend(4);
        let seen = Rc::new(self.look(effect, target));
        self.seen.borrow_mut().insert(key, Rc::clone(&seen));
        seen
    }

    pub(super) fn look(&self, effect: &Effect, target: &Target) -> Seen {
        let real = self.follow(effect, target);
        let text = target.path().unwrap_or("");
        let mut paths = vec![real.path.clone()];
        let sure;
        let landings = self.landings(effect, target, &real);
        if let (Some(true), false) = (real.is_folder.or(self.is_folder(target, &real)), landings.is_empty()) {
            paths = landings;
            sure = paths.len();
        } else {
            paths.extend(landings);
            sure = 1;
        }
        let place = paths.first().map_or(Place::Unknown, |path| self.place(path));
        if real.path != text {
            paths.push(text.to_owned());
        }
        if matches!(target.path, TargetPath::Known { contents: true, .. }) {
            paths.push(format!("{}/x", real.path));
        }
        let given = effect.kind == EffectKind::Touch && effect.flags.contains(&"argument");
        if given || matches!(effect.kind, EffectKind::Read | EffectKind::SendFile | EffectKind::RunFile) {
            paths.extend(self.aliases().sources(text));
            paths.extend(self.copied_before(&real.path));
        }
        let pattern = self.pattern(effect, target, &real, paths.first().map_or(text, String::as_str));
        Seen { real, place, paths, sure, pattern, classes: RefCell::default() }
    }

    pub(super) fn pattern(&self, effect: &Effect, target: &Target, real: &Real, lands: &str) -> Option<Pattern> {
        let TargetPath::Known { contents, .. } = target.path else { return None };
        if target.is_pattern() {
            let deep = target.value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(glob) if glob == "**"));
            let everything = match (contents, deep) {
                (true, true) => "/**",
                (true, false) => "/*",
                (false, _) => "",
            };
            // Of everything in a folder a search shows only what it looks for.
            if contents && effect.flags.contains(&"searched") {
                return None;
            }
            return Some(Pattern::Written(format!("{}{everything}", real.path.trim_end_matches('/'))));
        }
        let has = |flag| effect.flags.contains(&flag);
        if effect.kind == EffectKind::Overwrite && has("place") && (has("recursive") || has("archive")) {
            return Some(Pattern::Tree(lands.to_owned()));
        }
        let taken = matches!(effect.kind, EffectKind::Read | EffectKind::SendFile);
        if !taken || effect.command.is_none() || has("searched") {
            return None;
        }
        let whole = [Place::Root, Place::Home, Place::Workspace, Place::Temporary].contains(&self.place(&real.path));
        (!whole).then(|| Pattern::Tree(real.path.clone()))
    }

    /// What earlier calls of the session left behind.
    pub(crate) fn past(&self) -> &[Remnant] {
        self.past.get_or_init(|| self.world.remnants())
    }

    /// Whether a text with orders was heard in this session. What follows may be its wish and not the person's.
    pub(crate) fn is_tainted(&self) -> bool {
        self.past().iter().any(|known| known.kind == RemnantKind::Orders)
    }

    /// What the file is a copy of that an earlier call made, or what was packed into it.
    pub(super) fn copied_before(&self, path: &str) -> impl Iterator<Item = String> {
        let copies = self.past().iter().filter(move |known| known.kind == RemnantKind::Copy);
        let path = path.to_owned();
        copies.filter(move |known| is_within(&path, &known.path)).map(|known| known.from.clone())
    }

    /// The path that a word of an effect's command names, where that is known.
    pub(crate) fn lexical(&self, value: &Value, effect: &Effect) -> Option<String> {
        let cwd = effect.folder.as_deref()?;
        match path::lexical(value, Folders { cwd, ..self.folders() }, &|name| self.world.variable(name)) {
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        }
    }

    /// The link that an effect makes, and where it leads.
    pub(crate) fn link(&self, effect: &Effect) -> Option<(String, String)> {
        aliases::made_link(effect, self.folders(), &|name| self.world.variable(name))
    }

    /// Whether the path was fetched by an earlier call, or lies in a folder that this call or an earlier one cloned.
    pub(super) fn was_fetched(&self, path: &str) -> bool {
        let own = self.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Fetch);
        let mut own = own.filter_map(|effect| cloned(self.analysis, effect, self.tables));
        let holds = |known: &Remnant| known.kind == RemnantKind::Fetched && is_within(path, &known.path);
        own.any(|known| holds(&known)) || self.past().iter().any(holds)
    }

    /// What a copy or move into a folder writes there.
    pub(super) fn landings(&self, effect: &Effect, target: &Target, real: &Real) -> Vec<String> {
        let placed = effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place");
        if !placed || real.is_folder == Some(false) || target.path().is_none() {
            return Vec::new();
        }
        let sources = aliases::sources(effect, self.analysis).filter_map(Target::path);
        let names = sources.map(path::name_of).filter(|name| !name.is_empty());
        names.take(MOST_LANDINGS).map(|name| path::absolute(name, &real.path)).collect()
    }

    /// Whether the target is a folder, told without looking.
    pub(super) fn is_folder(&self, target: &Target, real: &Real) -> Option<bool> {
        let follows = matches!(target.path, TargetPath::Known { follows: true, .. });
        let known = matches!(self.place(&real.path), Place::Root | Place::Home | Place::Workspace);
        (follows || known).then_some(true)
    }

    pub(super) fn aliases(&self) -> &Aliases {
        self.aliases.get_or_init(|| Aliases::of(self.analysis, self.folders(), &|name| self.world.variable(name)))
    }

    pub(super) fn follow(&self, effect: &Effect, target: &Target) -> Real {
        let TargetPath::Known { text, climbing, follows, .. } = &target.path else {
            return Real { path: String::new(), exists: None, is_folder: None };
        };
        let itself = matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link);
        let written = self.aliases().linked(effect, climbing.as_ref().unwrap_or(text), *follows || !itself);
        let fixed = fixed_part(&written);
        let mut real = self.world.real(fixed, *follows || !itself || written.ends_with(".."));
        // What does not exist has no links in it.
        real.path = path::absolute(&real.path, "/");
        if fixed.len() < written.len() {
            real.path = path::absolute(written.get(fixed.len()..).unwrap_or("").trim_start_matches('/'), &real.path);
        }
        real
    }

    pub(super) fn is_guard(&self, effect: &Effect, target: &Target) -> bool {
        let seen = self.seen(effect, target);
        let (real, own) = (&seen.real.path, self.world.guard());
        let whole = matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Move | EffectKind::ChangePermissions | EffectKind::ChangeOwner
        );
        let beside = matches!(self.place(real), Place::Outside | Place::Temporary);
        // Whoever deletes a home or the root takes the guard along, but that is not the news about it.
        let takes_along = |file: &String| whole && beside && is_within(file, real);
        let within = |path: &String| own.iter().any(|file| is_within(path, file)) || self.in_class("guard", path);
        own.iter().any(takes_along) || seen.paths.iter().any(within)
    }

    /// Whether a program that is run is the guard's under another name: by what the call itself links, copies or
    /// prints into it, or by what lies there.
    pub(super) fn is_guard_program(&self, effect: &Effect, target: &Target) -> bool {
        let text = target.path().unwrap_or("");
        if GUARD_PROGRAMS.contains(&path::name_of(text)) {
            return false;
        }
        let poured = aliases::poured_into(self.analysis, text);
        let seen = self.seen(effect, target);
        let mut sources = seen.paths.iter().chain(&poured);
        let is_own = |path: &String| {
            let named = GUARD_PROGRAMS.contains(&path::name_of(path));
            named && (self.world.guard().contains(path) || self.in_class("guard", path))
        };
        sources.any(is_own) || self.world.is_guard_program(&seen.real.path)
    }

    pub(super) fn in_class(&self, class: &str, path: &str) -> bool {
        let folded = self.world.folds_case().then(|| (path.to_lowercase(), self.event.home.to_lowercase()));
        let (path, home) =
            folded.as_ref().map_or((path, self.event.home.as_str()), |(path, home)| (path.as_str(), home.as_str()));
        let path = glob::Compared::new(path, home);
        let fits = |pattern: &Cow<'static, [u8]>| path.fits(pattern);
        let places = self.places(class);
        places.iter().any(|place| place.paths.iter().any(fits) && !place.except.iter().any(fits))
    }

    /// Whether a variable is taken away by which the programs that an agent starts are known.
    pub(super) fn takes_mark_off(&self, effect: &Effect, target: Option<&Target>) -> bool {
        let takes = |value: &Value| value.literal().is_none_or(|text| text.is_empty());
        let name = target.and_then(|target| target.value.literal());
        effect.argument.as_ref().is_none_or(takes) && name.is_some_and(|name| self.in_class("agent-variable", &name))
    }

    /// Whether the action runs something of which nobody knows what it does: a file whose text is not known, and where
    /// one variable alone is taken away also a program that is not known and does not lie among the system's.
    pub(super) fn reaches_unread(&self, effect: &Effect) -> bool {
        let sites: &[Site] = if effect.flags.contains(&"host") { &[Site::Here, Site::Remote] } else { &[Site::Here] };
        // Tests run without variables, and in terminals: there a project's own file is no reason, unless the session made it.
        let common = effect.flags.contains(&"ignore") || effect.flags.contains(&"terminal");
        let is_system = |path: &str| self.in_class("system", path);
        let is_own = |path: &str| {
            let is_there = is_below(path, &self.event.workspace) && self.world.real(path, true).exists != Some(false);
            let within = |at: &&str| is_below(at, &self.event.workspace);
            let mut above = std::iter::successors(Some(path), |at| Some(parent(at))).take_while(within);
            (is_there && self.is_from_before(path) != Some(false)) || above.any(|at| self.is_named_like_built(at))
        };
        let is_unread = |path: &str| {
            let is_read = self.analysis.scripts.iter().any(|script| script.path == path);
            let is_known = is_read || is_system(path) || (common && is_own(path));
            !is_known
        };
        let own = self.analysis.effects.iter().filter(|other| other.action == effect.action);
        let runs = |other: &&Effect| matches!(other.kind, EffectKind::RunFile | EffectKind::RunUnknown);
        let mut paths = own
            .filter(|other| sites.contains(&other.site))
            .filter(runs)
            .flat_map(|other| other.targets.iter().map(Target::path));
        if paths.any(|path| path.is_none_or(is_unread)) {
            return true;
        }
        let other = |command: &Command| {
            let by_path = command.words.first().is_none_or(|word| word.prefix().contains('/'));
            let by_name = command.invocation.is_none() && !command.name.is_empty() && !by_path;
            by_name
                && command.site == Site::Here
                && self.world.program(&command.name).is_none_or(|path| !is_system(&path))
        };
        let reading = self.analysis.reading(effect).filter(|_| effect.kind == EffectKind::SetVariable);
        reading.is_some_and(|reading| reading.commands.iter().any(other))
    }

    /// The patterns of a class, taken out of the library once: a call may have thousands of targets.
    pub(super) fn places(&self, class: &str) -> Rc<[Places]> {
        let key = (class.as_ptr() as usize, class.len());
        if let Some(known) = self.places.borrow().get(&key) {
            return Rc::clone(known);
        }
        let folds = self.world.folds_case();
        let pattern = |pattern: Node<'static>| match folds {
            true => Cow::Owned(pattern.text().to_lowercase().into_bytes()),
            false => Cow::Borrowed(pattern.bytes()),
        };
        let patterns = |list: Node<'static>| list.items().map(pattern).collect();
        let places = self.tables.get("places").get(class).items();
        let places: Rc<[Places]> = places
            .map(|place| Places { paths: patterns(place.get("paths")), except: patterns(place.get("except")) })
            .collect();
        self.places.borrow_mut().insert(key, Rc::clone(&places));
        places
    }

    /// A fact of this name about the target, or about the effect as a whole.
    pub fn fact(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Truth {
        let truth = self.ask(effect, target, name);
        if self.asked.borrow().lines.len() >= MOST_ASKED {
            return truth;
        }
        // The words and targets of a call stay where they are while it is judged.
        let place = target.map_or(0, |target| std::ptr::from_ref(target) as usize);
        if self.told.borrow_mut().insert((name.as_ptr() as usize, place)) {
            let about = target.map_or(String::new(), |target| format!(" {}", target.shown()));
            let line = format!("{name}{about}: {}", truth.name());
            let mut asked = self.asked.borrow_mut();
            if asked.known.insert(line.clone()) {
                asked.lines.push(line);
            }
        }
        truth
    }

    pub(super) fn ask(&self, effect: &Effect, target: Option<&Target>, name: &str) -> Truth {
        let folder = self.folder_of(effect, target);
        match name {
            "stashes" if self.stashes_first() => Truth::Yes,
            "stashes" => truth(self.world.stashes(&folder).map(|count| count > 0)),
            "unreadable" => self.is_unreadable(effect, target),
            "protected-branch" => self.is_protected(&folder, target),
            "production" => Truth::from(self.is_production(&self.pointed(effect))),
            "local" => Truth::from(self.is_local(&self.pointed(effect))),
            "unmerged" => self.is_unmerged(&folder, target),
            "fetched" => Truth::from(self.was_fetched(&self.started_in(effect, target).unwrap_or(folder))),
            "orders-heard" => Truth::from(self.is_tainted()),
            "writes-guard" => Truth::from(target.is_some_and(|target| self.writes_guard(effect, target) == Truth::Yes)),
            "may-write-guard" => {
                Truth::from(target.is_some_and(|target| self.writes_guard(effect, target) == Truth::Unknown))
            }
            "hooks-off" => truth(target.map(|target| self.hooks(effect, target) == Change::Off)),
            "guard-put-away" => target.map_or(Truth::Unknown, |target| self.puts_guard_away(effect, target)),
            "hooks-kept" => truth(target.map(|target| self.hooks(effect, target) == Change::Beside)),
            "agent-variable" => Truth::from(self.takes_mark_off(effect, target)),
            "reaches-unread" => Truth::from(self.reaches_unread(effect)),
            "secret-seen" => Truth::from(self.past().iter().any(|known| known.kind == RemnantKind::Seen)),
            _ => match target.filter(|target| target.path().is_some()) {
                Some(target) => self.file_fact(effect, target, name),
                None => Truth::Unknown,
            },
        }
    }

    /// What the effect's command points to, so far as that is known.
    pub(super) fn pointed(&self, effect: &Effect) -> Rc<Pointed> {
        let key = std::ptr::from_ref(effect) as usize;
        if let Some(known) = self.pointed.borrow().get(&key) {
            return Rc::clone(known);
        }
        let pointed = Rc::new(self.find_pointed(effect));
        self.pointed.borrow_mut().insert(key, Rc::clone(&pointed));
        pointed
    }

    pub(super) fn find_pointed(&self, effect: &Effect) -> Pointed {
        let Some(reading) = self.analysis.reading(effect) else { return Pointed::default() };
        let command = |id: Option<usize>| reading.commands.get(id?);
        let commands: Vec<_> =
            std::iter::successors(command(effect.command), |inner| command(inner.parent)).take(MOST_WRAPPERS).collect();
        let effects = &self.analysis.effects;
        let at = effects.iter().position(|other| std::ptr::eq(other, effect)).unwrap_or(effects.len());
        // What sets variables stands behind the commands, in its own order.
        let sets = |other: &&Effect| {
            let (set, used) = (other.origin, effect.origin);
            other.kind == EffectKind::SetVariable
                && (set.derivation != used.derivation || set.span.start <= used.span.start)
        };
        let (earlier, later) = effects.split_at_checked(at).unwrap_or((effects, &[]));
        let before = earlier.iter().chain(later.iter().filter(sets)).take(connection::MOST_EFFECTS + 1).collect();
        connection::Text { event: self.event, world: self.world, before }.pointed(effect.site, &commands)
    }

    pub(super) fn is_production(&self, pointed: &Pointed) -> bool {
        let parts = pointed.hosts.iter().chain(&pointed.names).flat_map(|name| name.split(['/', ':']));
        parts.map(str::to_owned).any(|name| self.in_class("production-name", &name))
    }

    /// Every host must be this machine: what a project's files say of one proves nothing about another.
    pub(super) fn is_local(&self, pointed: &Pointed) -> bool {
        let here = pointed.hosts.iter().all(|name| self.in_class("local-name", name));
        here && !pointed.unclear && !pointed.hosts.is_empty() && !self.is_production(pointed)
    }

    /// Whether the same call stashes something: it is not there yet.
    pub(super) fn stashes_first(&self) -> bool {
        let commands = self.analysis.readings.iter().flat_map(|reading| &reading.commands);
        let paths = commands.filter_map(|command| command.invocation.as_ref().map(|invocation| &invocation.path));
        paths.into_iter().any(|path| matches!(path.as_slice(), ["stash"] | ["stash", "push" | "save"]))
    }

    pub(super) fn folder_of(&self, effect: &Effect, target: Option<&Target>) -> String {
        let lies = target.and_then(Target::path).map(str::to_owned);
        lies.or_else(|| effect.folder.clone()).unwrap_or_else(|| self.event.cwd.clone())
    }

    /// The folder that an agent is told to work in: its target is no path of the effect's.
    pub(super) fn started_in(&self, effect: &Effect, target: Option<&Target>) -> Option<String> {
        let target = target.filter(|_| effect.flags.contains(&"with-directory"))?;
        self.lexical(&target.value, effect)
    }

    pub(super) fn file_fact(&self, effect: &Effect, target: &Target, name: &str) -> Truth {
        let real = self.real(effect, target);
        let path = &*self.meant(effect, &real);
        match name {
            // `git checkout WORD` takes a commit if there is one of that name, else the file.
            "uncommitted" if effect.flags.contains(&"word") && self.is_commit(&real.path, target) => Truth::No,
            "exists" => truth(real.exists),
            "tracked" => truth(self.world.is_tracked(path)),
            "ignored" => truth(self.world.is_ignored(path)),
            "new-secret" => self.is_new_secret(effect, target, path),
            "regenerable" => self.is_regenerable(path),
            "uncommitted" if effect.kind == EffectKind::DiscardChanges && !comes_from_elsewhere(effect) => {
                self.names(self.world.unstaged(path), target)
            }
            "uncommitted" => self.names(self.uncommitted(effect, path), target),
            "untracked" => self.loose(effect, target, &real, untracked_kind(effect)),
            "ignored-data" => self.loose(effect, target, &real, Untracked::Ignored),
            "from-before" => truth(self.is_from_before(path)),
            _ => Truth::Unknown,
        }
    }

    /// Whether the repository that the effect is about is there and cannot be read. What is written over needs no look at
    /// all that git has.
    pub(super) fn is_unreadable(&self, effect: &Effect, target: Option<&Target>) -> Truth {
        let look = match effect.kind == EffectKind::Overwrite || effect.kind == EffectKind::Truncate {
            true => Look::Quick,
            false => Look::Whole,
        };
        let real = target.filter(|target| target.path().is_some()).map(|target| self.real(effect, target).path);
        let known = real.unwrap_or_else(|| self.folder_of(effect, None));
        // Git's own commands are about the repository of the folder itself, not of what lies above it.
        let inner = if effect.kind == EffectKind::Delete || look == Look::Quick { "" } else { "/." };
        let Some(found) = self.world.unreadable(&format!("{}{inner}", fixed_part(&known)), look) else {
            return Truth::No;
        };
        *self.lost.borrow_mut() = Names { names: vec![found.reason], count: 1, more: false };
        *self.mend.borrow_mut() = found.mend;
        Truth::Yes
    }

    /// Whether git would take up a project's secrets from this folder that it does not have yet.
    pub(super) fn is_new_secret(&self, effect: &Effect, target: &Target, folder: &str) -> Truth {
        const NAMES: [&str; 5] = [".env", ".env.local", ".env.production", ".env.prod", ".env.staging"];
        // Most that is added is one file after the other: no look at the disk for those.
        let named = |known: &str| !known.is_empty() && known == folder;
        let is_folder = named(&self.event.workspace) || effect.folder.as_deref().is_some_and(named);
        if !is_folder && path::name_of(folder).contains('.') {
            return Truth::No;
        }
        let forced = effect.flags.contains(&"force");
        let names = NAMES.iter().map(|name| path::absolute(name, folder));
        let taken_up = |path: &String| {
            self.world.real(path, true).exists == Some(true)
                && self.world.is_tracked(path) == Some(false)
                && (forced || self.world.is_ignored(path) == Some(false))
        };
        let names: Vec<String> = names.filter(taken_up).collect();
        self.names(Some(Names { count: names.len(), names, more: false }), target)
    }

    /// Whether git does not track something of the target that a build does not make again.
    pub(super) fn loose(&self, effect: &Effect, target: &Target, real: &Real, which: Untracked) -> Truth {
        let path = self.meant(effect, real);
        let names = self.world.untracked(&path, which);
        if names.as_ref().is_some_and(Names::any) && self.is_link(effect, target, real) {
            return Truth::No;
        }
        self.names(self.lasting(&path, names), target)
    }

    /// The path that facts are about: the whole work tree where the effect is about all of it, else without a pattern.
    /// A folder with a repository of its own is one thing to the outer one; what discards in it means what lies in it.
    pub(super) fn meant<'r>(&self, effect: &Effect, real: &'r Real) -> Cow<'r, str> {
        let discards = matches!(effect.kind, EffectKind::DiscardChanges | EffectKind::DiscardUntracked);
        let fixed = fixed_part(&real.path);
        let is_whole = effect.flags.contains(&"whole");
        let root = (discards || is_whole).then(|| self.world.work_tree(fixed)).flatten();
        match root.filter(|root| is_whole || root == fixed) {
            Some(root) if root == self.event.workspace => Cow::Owned(root),
            Some(root) => Cow::Owned(format!("{root}/.")),
            None => Cow::Borrowed(fixed),
        }
    }

    /// Whoever deletes a submodule deletes what only its own work tree has.
    pub(super) fn uncommitted(&self, effect: &Effect, path: &str) -> Known<Names> {
        let has = |flag| effect.flags.contains(&flag);
        let own = if has("submodules") { Names::default() } else { self.world.uncommitted(path)? };
        if (effect.kind != EffectKind::Delete || has("name")) && !has("submodules") {
            return Some(own);
        }
        // What lies in it is meant: the folder itself belongs to the outer work tree.
        let inner: Vec<String> = self.world.submodules(path).iter().map(|folder| format!("{folder}/.")).collect();
        let fresh = |inner: &String| self.world.untracked(inner, Untracked::Ordinary);
        Some(
            inner
                .iter()
                .flat_map(|inner| [self.world.uncommitted(inner), fresh(inner)])
                .flatten()
                .fold(own, Names::and),
        )
    }

    /// Whether what git does not have of the file is older than the session: all of it, or its last changes. A tracked
    /// file was there before, whatever has taken its place since.
    pub(super) fn is_from_before(&self, path: &str) -> Known<bool> {
        let age = self.world.age(path)?;
        if self.world.is_tracked(path) == Some(false) {
            return Some(age.is_older);
        }
        let is_dated = |known: &Remnant| known.kind == RemnantKind::Dated && known.path == path;
        Some(age.is_untouched || self.past().iter().any(is_dated))
    }

    pub(super) fn is_commit(&self, path: &str, target: &Target) -> bool {
        let word = target.value.literal().unwrap_or_default();
        self.world.names_commit(path, &word) != Some(false)
    }

    /// A link that is itself removed takes nothing along.
    pub(super) fn is_link(&self, effect: &Effect, target: &Target, real: &Real) -> bool {
        let itself =
            effect.kind == EffectKind::Delete && matches!(target.path, TargetPath::Known { follows: false, .. });
        itself && !target.is_pattern() && self.world.real(&real.path, true).path != real.path
    }

    /// Whether there are any; remembers the names for the reason. With a pattern only those that it fits count.
    pub(super) fn names(&self, names: Known<Names>, target: &Target) -> Truth {
        let Some(mut names) = names else { return Truth::Unknown };
        if let Some(pattern) = target.path().filter(|path| fixed_part(path).len() < path.len()) {
            let names_folder = &self.event.workspace;
            let fits = |name: &String| {
                let file = path::absolute(name, names_folder);
                let above = |folder: &str| glob::glob(pattern.as_bytes(), folder.as_bytes());
                std::iter::successors(Some(file.as_str()), |at| (*at != "/").then(|| parent(at))).any(above)
            };
            let all_named = names.count == names.names.len();
            names.names.retain(fits);
            if all_named {
                names.count = names.names.len();
            }
        }
        if !names.any() {
            return Truth::No;
        }
        *self.lost.borrow_mut() = names;
        Truth::Yes
    }

    /// Without what a build makes again.
    pub(super) fn lasting(&self, path: &str, names: Known<Names>) -> Known<Names> {
        let mut names = names?;
        let before = names.names.len();
        let regenerable = |name: &String| {
            let file = path::absolute(name, &self.event.workspace);
            let above =
                std::iter::successors(Some(file.as_str()), |at| (*at != "/" && *at != path).then(|| parent(at)));
            above.into_iter().any(|at| self.is_regenerable(at) == Truth::Yes)
        };
        names.names.retain(|name| !regenerable(name));
        names.count -= before - names.names.len();
        Some(names)
    }

    /// A build or dependency folder by its name, with its manifest beside it, and not tracked.
    pub(super) fn is_regenerable(&self, path: &str) -> Truth {
        if let Some(known) = self.regenerable.borrow().get(path) {
            return *known;
        }
        let truth = self.ask_regenerable(path);
        self.regenerable.borrow_mut().insert(path.to_owned(), truth);
        truth
    }

    /// The folder itself, or one that it lies in.
    pub(super) fn ask_regenerable(&self, path: &str) -> Truth {
        let compared = glob::Compared::new(path, &self.event.home);
        let fits = |pattern: Node<'_>| compared.fits(pattern.bytes());
        for place in
            self.tables.get("places").get("regenerable").items().filter(|place| place.get("paths").items().any(fits))
        {
            let beside: Vec<&str> = place.get("beside").texts().collect();
            let manifest = beside.is_empty()
                || [parent(path), &self.event.workspace]
                    .iter()
                    .any(|at| self.world.has_one_of(at, &beside) != Some(false));
            if manifest && self.world.is_ignored(path) != Some(false) && !self.is_newly_ignored(path) {
                return Truth::Yes;
            }
        }
        if path == "/" || path == self.event.workspace { Truth::No } else { self.is_regenerable(parent(path)) }
    }

    /// Whether a path is called as what a build makes.
    pub(crate) fn is_named_like_built(&self, path: &str) -> bool {
        self.in_class("regenerable", path)
    }

    /// Whether the session itself had the folder ignored, which was there before: no build need have made it.
    pub(super) fn is_newly_ignored(&self, path: &str) -> bool {
        let name = path::name_of(path);
        let names = |known: &&Remnant| known.from.split(' ').any(|word| word == name);
        let told = self.past().iter().filter(|known| known.kind == RemnantKind::Ignoring).any(|known| names(&known));
        told && self.world.is_of_session(path) == Some(false)
    }

    pub(super) fn branch_name(&self, folder: &str, target: Option<&Target>) -> Option<String> {
        let shown = target.map(|target| target.value.shown()).unwrap_or_default();
        let name = shown.rsplit(':').next().unwrap_or("").trim_start_matches("refs/heads/").to_owned();
        if name.is_empty() || name == "HEAD" || name == "the current branch" {
            return self.world.branch(folder)?;
        }
        Some(name)
    }

    pub(super) fn is_protected(&self, folder: &str, target: Option<&Target>) -> Truth {
        let Some(name) = self.branch_name(folder, target) else { return Truth::Unknown };
        let own = self.world.protected(folder);
        let known = PROTECTED.contains(&name.as_str()) || name.starts_with("release/") || own.contains(&name);
        Truth::from(known)
    }

    pub(super) fn is_unmerged(&self, folder: &str, target: Option<&Target>) -> Truth {
        let Some(name) = target.map(|target| target.value.shown()) else { return Truth::Unknown };
        let count = self.world.only_on(folder, &name);
        if let Some(count) = count.filter(|count| *count > 0) {
            *self.lost.borrow_mut() =
                Names { names: vec![format!("{count} commits that are only on {name}")], count: 1, more: false };
        }
        truth(count.map(|count| count > 0))
    }
}

/// Whether what replaces a file does not come out of the index of its own repository: what is staged is lost too.
pub(super) fn comes_from_elsewhere(effect: &Effect) -> bool {
    ["staged", "git-dir", "work-tree"].iter().any(|flag| effect.flags.contains(flag))
}

pub(super) fn truth(known: Known<bool>) -> Truth {
    known.map_or(Truth::Unknown, Truth::from)
}

pub(super) fn untracked_kind(effect: &Effect) -> Untracked {
    if effect.kind != EffectKind::DiscardUntracked {
        return Untracked::Ordinary;
    }
    match (effect.flags.contains(&"ignored"), effect.flags.contains(&"only-ignored")) {
        (_, true) => Untracked::Ignored,
        (true, false) => Untracked::All,
        (false, false) => Untracked::Ordinary,
    }
}

/// Whether a path may fit both a pattern as the shell expands it and one of the library. A pattern of the library that
/// may begin anywhere counts only where the shell's one names what is hidden: `*.json` is not meant to be a
/// `credentials.json`.
pub(super) fn meets(written: &str, library: &str, home: &str) -> bool {
    let searched = written.contains("/**/") || written.ends_with("/**");
    let anchored = match library.strip_prefix("~/") {
        Some(rest) => Some(format!("{home}/{rest}")),
        None => library.starts_with('/').then(|| library.to_owned()),
    };
    if let Some(library) = anchored {
        let (from, of_class) = (fixed_part(written), fixed_part(&library));
        if !is_within(from, of_class) {
            // A search through everything is meant for what it names, and not for all that it could find.
            let named = library.strip_suffix("/**").filter(|_| searched).unwrap_or(&library);
            return is_within(of_class, from) && (!searched || names(written)) && glob::may_meet(written, named);
        }
        return glob::may_meet(written, &library);
    }
    let parts: Vec<&str> = written.split('/').collect();
    let starred = parts.iter().position(|part| part.contains(['*', '?', '['])).unwrap_or(0);
    let named = match library.split_once('/') {
        Some((first, _)) => starred.checked_sub(1).and_then(|at| parts.get(at)).is_some_and(|part| *part == first),
        None => names(written) && path::name_of(written).starts_with('.'),
    };
    named && glob::may_meet(written, &format!("/**/{library}"))
}

/// Whether a folder that is taken as a whole holds a folder of what a pattern of the library means. Everybody's home
/// holds some of it.
pub(super) fn holds(tree: &str, library: &str, home: &str) -> bool {
    let Some(rest) = library.strip_prefix("~/") else {
        return library.split_once('/').is_some_and(|(first, _)| first == path::name_of(tree) && !first.is_empty());
    };
    let below = tree.strip_prefix(home).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|folder| !folder.is_empty() && is_below(rest, folder))
}

/// Whether the last part of a pattern begins with a name, or at least with the dot of what is hidden.
pub(super) fn names(written: &str) -> bool {
    let last = path::name_of(written);
    last.starts_with('.') || last.find(['*', '?', '[']).unwrap_or(last.len()) > 1
}

/// The path up to the last part without a pattern.
pub(super) fn fixed_part(path: &str) -> &str {
    let Some(at) = path.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[')) else { return path };
    let before = path.get(..at).unwrap_or("");
    match before.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => before.get(..slash).unwrap_or("/"),
    }
}

/// On another system only the roots are known.
pub(super) fn elsewhere(target: &Target, class: &str) -> Truth {
    let root = match target.path() {
        Some("/") => "root",
        _ if target.value.pieces.len() == 1 && target.value.shown() == "~" => "home",
        _ => "elsewhere",
    };
    Truth::from(class == root)
}
