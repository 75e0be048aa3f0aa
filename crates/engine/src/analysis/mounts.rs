//! Commands that run in a container, a sandbox or below another root: their effects on a path mounted from this machine
//! are effects on this machine, and their effects on the content of a volume are effects on the volume.

use super::compose::{self, Ground, Service};
use super::effects::{EffectExtractor, Ran};
use crate::model::effect::{Effect, EffectKind, Target, TargetKind, TargetPath};
use crate::model::mounts::{
    Lies, MAX_MOUNTS, Mount, MountTable, Source, Written, on_both_sides, shared, volume, written,
};
use crate::model::path;
use reflex_shell::{Command, CommandId, ExecTarget, Invocation, Origin, Piece, Selector, Stdin, Value, work};
use reflex_tables::views::{EffectEntry, RunEntry};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Cost of finding the place of a command, in units of [`work`].
const ENTERS: u64 = 2;

/// Maximum number of compose files read for one command. Exceeding it is reported.
const MAX_FILES: usize = 16;

/// Effects that only read a path, which a read-only mount permits.
const READING: [EffectKind; 9] = [
    EffectKind::Read,
    EffectKind::SendFile,
    EffectKind::RunFile,
    EffectKind::RunSqlFile,
    EffectKind::PathArgument,
    EffectKind::GuardReference,
    EffectKind::LoadLibrary,
    EffectKind::Compile,
    EffectKind::ExposeSecret,
];

/// Effects after which a file may have another content.
const WRITING: [EffectKind; 8] = [
    EffectKind::Overwrite,
    EffectKind::Populate,
    EffectKind::Append,
    EffectKind::Edit,
    EffectKind::Truncate,
    EffectKind::Move,
    EffectKind::Delete,
    EffectKind::DiscardChanges,
];

/// A compose project: its folder, and its files with their texts.
pub(super) struct Project {
    pub(super) folder: String,
    pub(super) files: Vec<(String, String)>,
}

impl Project {
    pub(super) fn services(&self, home: &str) -> BTreeMap<String, Service> {
        let texts: Vec<String> = self.files.iter().map(|(_, text)| text.clone()).collect();
        compose::services(&texts, Ground { folder: &self.folder, home })
    }
}

impl EffectExtractor<'_> {
    /// Returns the mounts of each command's place, in the order of the commands; `None` for commands on this machine or
    /// in a place without mounts from it. The result is empty if every command runs on this machine.
    pub(super) fn tables(&self, commands: &[Command]) -> Vec<Option<Rc<MountTable>>> {
        if self.place.is_none() && commands.iter().all(|command| command.parent.is_none()) {
            return Vec::new();
        }
        let mut tables: Vec<Option<Rc<MountTable>>> = Vec::with_capacity(commands.len());
        // The commands that one wrapper runs share its table.
        let mut made: BTreeMap<(CommandId, ExecTarget), Option<Rc<MountTable>>> = BTreeMap::new();
        for command in commands {
            let parent = command.parent.and_then(|id| Some((id, commands.get(id)?)));
            let table = match parent {
                None => self.place.clone(),
                Some((id, parent)) => {
                    let key = (id, command.site);
                    let known = made.get(&key).cloned();
                    known.unwrap_or_else(|| {
                        let outer = tables.get(id).cloned().flatten();
                        let table = self.entered((id, parent), command, outer);
                        made.insert(key, table.clone());
                        table
                    })
                }
            };
            tables.push(table);
        }
        tables
    }

    /// Returns the table of a command that another one runs.
    fn entered(
        &self,
        (id, parent): (CommandId, &Command),
        command: &Command,
        outer: Option<Rc<MountTable>>,
    ) -> Option<Rc<MountTable>> {
        let Some(invocation) = &parent.invocation else { return outer };
        work::spend(ENTERS);
        let runs = invocation.grammars.iter().rev().flat_map(|grammar| grammar.runs());
        let is_entry = |entry: &RunEntry<'static>| {
            leads_elsewhere(*entry) && reflex_shell::applies(entry.conditions(), invocation)
        };
        let Some(entry) = runs.filter(is_entry).last() else { return outer };
        let has_site = entry.site().is_some();
        if has_site && command.site == ExecTarget::Here {
            // The site is this machine after all: the root itself, or the host by its own name.
            return outer;
        }
        if has_site && command.site == ExecTarget::Remote && command.site != parent.site {
            return None;
        }
        if has_site && parent.site != ExecTarget::Here && outer.is_none() {
            // The mounts come from an unknown place.
            return None;
        }
        let ran_folder = self.folder(parent);
        let ran = Ran { id, command: parent, folder: ran_folder.as_deref() };
        let (mounts, folder) = self.mounts(ran, invocation, entry);
        let kept = entry.fresh_unless();
        let fresh = !kept.is_absent() && !kept.iter().any(|key| invocation.has_option(key));
        if mounts.is_empty() && !fresh {
            return outer.filter(|_| !has_site || parent.site == command.site);
        }
        Some(Rc::new(MountTable { mounts, outer, transparent: !has_site, folder, fresh }))
    }

    /// Returns the mounts of a wrapper, from its options and from the files of its project, and its folder.
    fn mounts(&self, ran: Ran<'_>, invocation: &Invocation, entry: RunEntry<'static>) -> (Vec<Mount>, Option<String>) {
        let selected =
            |selector: Option<&str>| Selector(selector.unwrap_or_default()).values(invocation, &ran.command.words);
        let (mut mounts, mut folder) = (Vec::new(), None);
        for root in selected(entry.tree()) {
            mounts.push(Mount { inside: "/".into(), source: self.source(ran, root, true), read_only: false });
        }
        if let Some(name) = selected(entry.service()).first().and_then(Value::literal) {
            let services = self.services(ran);
            if let Some(service) = services.get(&*name) {
                mounts.extend(self.mounts_of(service));
                folder.clone_from(&service.folder);
            }
        }
        if let Some(name) = selected(entry.container()).first().and_then(Value::literal) {
            let services = self.services(ran);
            if let Some((_, service)) = services.iter().find(|(service, fields)| fields.is_named(service, &name)) {
                mounts.extend(self.mounts_of(service));
                folder.clone_from(&service.folder);
            }
        }
        if entry.workspace().is_some() {
            let workspace = selected(entry.workspace())
                .pop()
                .and_then(|workspace| self.path_of(ran, workspace).path().map(str::to_owned));
            if let Some(project) = workspace.or_else(|| ran.folder.map(str::to_owned)) {
                let inside = format!("/workspaces/{}", path::name_of(&project));
                folder = Some(inside.clone());
                mounts.push(Mount { inside, source: Source::Path(project), read_only: false });
            }
        }
        for (pairs, read_only) in [(entry.pairs(), false), (entry.read_only_pairs(), true)] {
            for pair in selected(pairs).chunks_exact(2).take(MAX_MOUNTS) {
                let [source, inside] = pair else { continue };
                let Some(inside) = self.path_of(ran, inside.clone()).path().map(str::to_owned) else { continue };
                mounts.push(Mount { inside, source: self.source(ran, source.clone(), true), read_only });
            }
        }
        for spec in selected(entry.mounts()) {
            if mounts.len() >= MAX_MOUNTS || !work::spend(4) {
                work::cut(|| format!("more than {MAX_MOUNTS} folders are mounted by one command"));
                break;
            }
            let same = || on_both_sides(&spec).filter(|_| entry.same_path());
            if let Some(mount) = written(&spec).or_else(same) {
                let source = self.source(ran, mount.source, mount.is_path);
                mounts.push(Mount { inside: path::absolute(&mount.inside, "/"), source, read_only: mount.read_only });
            }
        }
        // A project's own images start in the folder where the project is mounted.
        let is_project = |mount: &&Mount| matches!(&mount.source, Source::Path(path) if *path == self.event.workspace);
        let folder = folder.or_else(|| mounts.iter().find(is_project).map(|mount| mount.inside.clone()));
        (mounts, folder)
    }

    /// Adds the folders of this machine that a container shares. Volumes are its own.
    pub(super) fn shares(
        &mut self,
        ran: Ran<'_>,
        entry: EffectEntry<'static>,
        (values, flags): (Vec<Value>, &[&'static str]),
    ) {
        let plain = |value: Value| Written { source: value, inside: String::new(), read_only: false, is_path: true };
        let is_plain = entry.plain();
        let mounts: Vec<Written> = match is_plain {
            true => values.into_iter().map(plain).collect(),
            false => values.iter().filter_map(shared).collect(),
        };
        for (read_only, flag) in [(false, "writable"), (true, "read-only")] {
            let meant = mounts.iter().filter(|mount| mount.read_only == read_only);
            let folders = meant.filter(|mount| mount.is_path || volume(&mount.source).is_none());
            let folders = folders.filter(|mount| !self.is_unset(&mount.source));
            let targets: Vec<Target> =
                folders.take(MAX_MOUNTS).map(|mount| self.path_of(ran, mount.source.clone())).collect();
            if targets.is_empty() || !work::spend(targets.len() as u64) {
                continue;
            }
            let mut flags = [flags, &[flag]].concat();
            flags.sort_unstable();
            self.push(self.effect_of(ran, EffectKind::ShareFolder).targets(targets).marks(flags));
        }
    }

    /// Returns the mounts of a service of a compose file.
    pub(super) fn mounts_of(&self, service: &Service) -> Vec<Mount> {
        let specs = service.volumes.iter().take(MAX_MOUNTS).map(|text| Value::text(text.as_str(), Origin::default()));
        let mounts = specs.filter_map(|spec| written(&spec)).map(|mount| {
            let source = match volume(&mount.source) {
                Some(name) => Source::Volume(name),
                None => mount
                    .source
                    .literal()
                    .map_or(Source::Unknown(mount.source.clone()), |text| Source::Path(path::absolute(&text, "/"))),
            };
            Mount { inside: path::absolute(&mount.inside, "/"), source, read_only: mount.read_only }
        });
        mounts.collect()
    }

    fn source(&self, ran: Ran<'_>, source: Value, is_path: bool) -> Source {
        if let Some(name) = volume(&source).filter(|_| !is_path) {
            return Source::Volume(name);
        }
        let written = source.clone();
        if self.is_unset(&source) {
            return Source::Unknown(written);
        }
        match self.path_of(ran, source).path {
            TargetPath::Known { text, .. } => Source::Path(text),
            TargetPath::None | TargetPath::Unknown => Source::Unknown(written),
        }
    }

    /// Returns whether a path begins with a variable that has no value here. It has one where the call is meant to run.
    fn is_unset(&self, source: &Value) -> bool {
        let first = source.pieces.first().map(|(piece, _)| piece);
        matches!(first, Some(Piece::Variable(name)) if self.variable(name).is_none_or(|value| value.is_empty()))
    }

    /// Returns the services of the project that a compose command works on.
    pub(super) fn services(&self, ran: Ran<'_>) -> BTreeMap<String, Service> {
        let Some(project) = self.project(ran, &|file| self.world.content(file)) else { return BTreeMap::new() };
        project.services(&self.event.home)
    }

    /// Returns the volumes that a compose command removes with its project; `None` if its files are not known, or may
    /// be written by the same call.
    pub(super) fn project_volumes(&self, ran: Ran<'_>) -> Option<Vec<Value>> {
        let project = self.project(ran, &|file| self.world.content(file))?;
        let invocation = ran.command.invocation.as_ref()?;
        let is_named = |(name, _): &(String, Value)| name == "COMPOSE_FILE";
        let is_elsewhere = ran.command.assignments.iter().any(is_named) || self.variable("COMPOSE_FILE").is_some();
        let named = invocation.values("file", &ran.command.words).len();
        let is_complete = if named > 0 { project.files.len() == named } else { !is_elsewhere };
        if !is_complete || project.files.iter().any(|(file, _)| self.is_written(file)) {
            return None;
        }
        let texts: Vec<String> = project.files.into_iter().map(|(_, text)| text).collect();
        let volumes = compose::volumes(&texts)?;
        Some(volumes.into_iter().map(|name| Value::text(name, ran.command.origin)).collect())
    }

    /// Whether an earlier command of the same action writes the file.
    fn is_written(&self, file: &str) -> bool {
        let is_it = |target: &Target| target.path().is_some_and(|path| path == file || path::is_within(file, path));
        let mut effects = self.effects.iter().filter(|effect| effect.action == self.action);
        effects.any(|effect| WRITING.contains(&effect.kind) && effect.targets.iter().any(is_it))
    }

    /// Returns the project that a compose command works on: the named files, else the usual ones in its folder or
    /// above.
    pub(super) fn project(&self, ran: Ran<'_>, content: &dyn Fn(&str) -> Option<String>) -> Option<Project> {
        let folder = ran.folder?;
        let invocation = ran.command.invocation.as_ref()?;
        let paths_of = |key: &str| -> Vec<String> {
            let values = invocation.values(key, &ran.command.words).into_iter();
            values.filter_map(|value| self.path_of(ran, value).path().map(str::to_owned)).collect()
        };
        let named = paths_of("file");
        let project_folder = paths_of("project-directory").pop();
        if let Some(first) = named.first() {
            if named.len() > MAX_FILES {
                work::cut(|| format!("more than {MAX_FILES} compose files are given to one command"));
            }
            let folder = project_folder.unwrap_or_else(|| path::parent(first).to_owned());
            let fed = |file: &str| match &ran.command.stdin {
                Stdin::Text(text) if path::name_of(file) == "-" => Some(text.literal()?.into_owned()),
                Stdin::Text(_) | Stdin::Inherited | Stdin::Pipe(..) | Stdin::File(_) => content(file),
            };
            let files = named.into_iter().take(MAX_FILES).filter_map(|file| Some((fed(&file)?, file)));
            return Some(Project { folder, files: files.map(|(text, file)| (file, text)).collect() });
        }
        let start = project_folder.unwrap_or_else(|| folder.to_owned());
        let mut above = std::iter::successors(Some(start.as_str()), |at| {
            (*at != self.event.workspace && *at != "/" && *at != self.event.home).then(|| path::parent(at))
        });
        let first_in = |at: &str, names: &[&str]| {
            let mut files = names.iter().map(|name| path::absolute(name, at));
            files.find_map(|file| Some((content(&file).filter(|_| work::spend(10))?, file)))
        };
        above.find_map(|at| {
            let [main, further] = compose::USUAL;
            let found: Vec<_> = [first_in(at, main), first_in(at, further)].into_iter().flatten().collect();
            let files: Vec<_> = found.into_iter().map(|(text, file)| (file, text)).collect();
            (!files.is_empty()).then(|| Project { folder: at.to_owned(), files })
        })
    }

    /// Maps the effects from `first` on to this machine, if their place has mounts from it.
    pub(super) fn mapped(&mut self, first: usize, table: &MountTable) {
        let effects = self.effects.split_off(first.min(self.effects.len()));
        let inside = |target: &Target| lies(table, target, &self.event.home) == Lies::Inside;
        let ends_inside = |effect: &Effect| {
            effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place") && effect.targets.iter().all(inside)
        };
        let leaves = !table.transparent && effects.iter().any(ends_inside);
        for mut effect in effects {
            if leaves && effect.kind == EffectKind::Move && !effect.targets.iter().all(inside) {
                // Moving a path into the place removes it here, folders recursively.
                effect.kind = EffectKind::Delete;
                effect.flags.extend((!effect.flags.contains(&"recursive")).then_some("recursive"));
            }
            if !work::spend(2 + effect.targets.len() as u64) {
                self.effects.push(effect);
                continue;
            }
            self.map(effect, table);
        }
    }

    fn map(&mut self, mut effect: Effect, table: &MountTable) {
        if table.is_here() {
            effect.site = ExecTarget::Here;
        } else if effect.site == ExecTarget::Here && !table.transparent {
            effect.site = ExecTarget::Container;
        }
        if effect.kind.target_kind() == TargetKind::Name {
            if effect.kind == EffectKind::InstallGlobal && table.is_thrown_away() {
                effect.flags.push("thrown-away");
            }
            return self.effects.push(effect);
        }
        let reads = READING.contains(&effect.kind);
        let mut here: Vec<Target> = Vec::new();
        let mut inside: Vec<Target> = Vec::new();
        let mut volumes: Vec<String> = Vec::new();
        for mut target in std::mem::take(&mut effect.targets) {
            if let (None, TargetPath::Unknown, Some(at)) = (&effect.folder, &target.path, &table.folder) {
                target = self.path_target(target.value, Some(at));
            }
            if effect.kind == EffectKind::Delete && effect.flags.contains(&"recursive") {
                for mount in target.path().into_iter().flat_map(|folder| table.below(folder)) {
                    match (table.lies(&mount.inside), mount.read_only) {
                        (Lies::Here { path, read_only: false }, false) => here.push(at(&target, path)),
                        (Lies::Volume { name, .. }, false) => volumes.push(name),
                        _ => {}
                    }
                }
            }
            match lies(table, &target, &self.event.home) {
                Lies::Here { path, read_only } if reads || !read_only => here.push(at(&target, path)),
                Lies::Somewhere { value, read_only: false } if !reads => {
                    here.push(Target::new(value, TargetPath::Unknown));
                }
                Lies::Volume { name, is_complete: true, read_only: false } if effect.kind == EffectKind::Delete => {
                    volumes.push(name);
                    inside.push(target);
                }
                Lies::Here { .. } | Lies::Volume { .. } | Lies::Somewhere { .. } | Lies::Inside => inside.push(target),
            }
        }
        if !volumes.is_empty() {
            let named = volumes.into_iter().map(|name| Target::new(Value::text(name, effect.origin), TargetPath::None));
            self.effects.push(Effect {
                kind: EffectKind::DestroyContainer,
                targets: named.collect(),
                flags: vec!["data"],
                argument: None,
                ..effect.clone()
            });
        }
        if !inside.is_empty() || here.is_empty() {
            self.effects.push(Effect { targets: inside, ..effect.clone() });
        }
        if !here.is_empty() {
            let folder = effect.folder.as_deref().and_then(|folder| match table.lies(folder) {
                Lies::Here { path, .. } => Some(path),
                Lies::Volume { .. } | Lies::Somewhere { .. } | Lies::Inside => None,
            });
            self.effects.push(Effect { targets: here, site: ExecTarget::Here, folder, ..effect });
        }
    }
}

/// Whether an entry runs its command in another place, or with folders of this machine.
fn leads_elsewhere(entry: RunEntry<'static>) -> bool {
    let places = [entry.site(), entry.mounts(), entry.tree(), entry.service(), entry.container(), entry.workspace()];
    places.iter().chain(&[entry.pairs(), entry.read_only_pairs()]).any(Option::is_some)
}

/// Returns the location of a target. A home folder inside is not this machine's, but one that a mount names.
fn lies(table: &MountTable, target: &Target, home: &str) -> Lies {
    let Some(text) = target.path() else { return Lies::Inside };
    let of_home = match target.value.pieces.first() {
        Some((Piece::Home(user), _)) => user.is_empty(),
        Some((Piece::Variable(name), _)) => name == "HOME",
        Some(_) | None => false,
    };
    let below = text.strip_prefix(home).filter(|_| of_home && !table.transparent);
    let Some(below) = below else { return table.lies(text) };
    let homes = table.homes();
    let found = homes.iter().map(|home| table.lies(&format!("{home}{below}"))).find(|found| *found != Lies::Inside);
    found.unwrap_or(Lies::Inside)
}

/// Returns the same target with its path on this machine.
fn at(target: &Target, path: String) -> Target {
    let (follows, contents) = match &target.path {
        TargetPath::Known { follows, contents, .. } => (*follows, *contents),
        TargetPath::None | TargetPath::Unknown => (false, false),
    };
    Target::new(target.value.clone(), TargetPath::Known { text: path, climbing: None, follows, contents })
}
