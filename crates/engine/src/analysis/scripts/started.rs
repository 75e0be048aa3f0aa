//! Containers described by a file of the project: the mounts, rights and commands of a compose file or a development
//! container when it starts.

use super::{DeferredExecution, Found, ScriptResolver, Usage};
use crate::analysis::compose::Service;
use crate::analysis::config_files;
use crate::analysis::dockerfile;
use crate::analysis::effects::Ran;
use crate::analysis::mounts::Project;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::mounts::{Mount, MountTable, Source};
use crate::model::path;
use reflex_shell::{CallInput, ExecTarget, Language, Value, work};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Effects of a starting container that reach beyond it. All others end with it.
const BEYOND: [EffectKind; 9] = [
    EffectKind::DestroyDatabase,
    EffectKind::DestroyRemote,
    EffectKind::DestroyContainer,
    EffectKind::GiveShell,
    EffectKind::MineCrypto,
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::SendFile,
    EffectKind::Sql,
];

/// Files of a development container, relative to the project's folder.
const DEV_CONTAINERS: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

impl ScriptResolver<'_> {
    /// Adds the services that a compose command starts.
    pub(super) fn started(&mut self, index: usize, level: usize) {
        let Some(effect) = self.analysis.effects.get(index).cloned() else { return };
        let Some(project) = self.project(&effect) else { return };
        let services = project.services(&self.event.home);
        let changed = project.files.iter().any(|(file, text)| self.is_changed(file, text));
        let profiles = self.option_values(&effect, "profile");
        let named = effect.targets.iter().map(|target| target.value.shown());
        let first = effect.targets.first().map(|target| target.value.shown());
        for name in with_needed(&services, named.collect(), &profiles) {
            let Some(service) = services.get(&name) else { continue };
            let mut opened = self.opened(&effect, service);
            if !changed {
                // The content is committed, so only rights that give this machine away are reported again.
                opened.retain(|opening| self.gives_machine_away(opening, service));
                opened.iter_mut().for_each(|opening| opening.flags.push("committed"));
            }
            self.analysis.effects.extend(opened);
            let is_overridden = effect.flags.contains(&"given") && Some(&name) == first.as_ref();
            let text = if is_overridden { String::new() } else { service.text() };
            let file = project.files.last().map(|(file, _)| file.clone()).unwrap_or_default();
            if !text.is_empty() && self.has_room(&file) {
                self.inside(&effect, level, (file, text), service);
            }
        }
    }

    fn project(&self, effect: &Effect) -> Option<Project> {
        let content = |file: &str| self.written_by_text(effect, file).or_else(|| self.content(effect, file));
        let command = self.analysis.command(effect)?;
        let mut none = Vec::new();
        let extractor = self.extractor(effect, &mut none);
        let folder = extractor.folder(command);
        extractor.project(Ran { id: effect.command?, command, folder: folder.as_deref() }, &content)
    }

    fn option_values(&self, effect: &Effect, key: &str) -> Vec<String> {
        let command = self.analysis.command(effect);
        let invocation = command.and_then(|command| Some((command, command.invocation.as_ref()?)));
        let values = invocation.map(|(command, invocation)| invocation.values(key, &command.words));
        values.unwrap_or_default().iter().map(Value::shown).collect()
    }

    /// Returns whether a file differs from the committed version. A changed file may have been written by the agent.
    fn is_changed(&self, file: &str, text: &str) -> bool {
        let committed = self.world.is_tracked(file) == Some(true)
            && self.world.uncommitted(file).is_nothing()
            && self.world.content(file).as_deref() == Some(text);
        !committed
    }

    /// Returns whether an opening gives a service full access to this machine: the root or the home folder writable,
    /// control of its containers, or all rights together with its processes.
    fn gives_machine_away(&self, opening: &Effect, service: &Service) -> bool {
        let all_rights = || ["privileged", "host"].iter().all(|word| service.opened.iter().any(|right| right == word));
        let contains_home = |folder: &str| path::is_within(&self.event.home, folder);
        let control = |path: &str| path.ends_with(".sock");
        let mut shared = opening.targets.iter().filter_map(Target::path);
        let writable = opening.flags.contains(&"writable");
        writable && shared.any(|path| contains_home(path) || control(path))
            || opening.kind == EffectKind::OpenContainer && all_rights()
    }

    /// Returns the rights and mounts that a service has on this machine, as the options of `docker run` would give
    /// them.
    fn opened(&self, effect: &Effect, service: &Service) -> Vec<Effect> {
        let one = |kind: EffectKind, target: Target, flags: Vec<&'static str>| Effect {
            kind,
            targets: vec![target],
            flags,
            ..effect.clone()
        };
        let named = |text: &str| Target::new(Value::text(text, effect.origin), TargetPath::None);
        let rights = service.opened.iter().map(|word| match word.as_str() {
            "privileged" => one(EffectKind::OpenContainer, named(word), Vec::new()),
            word => one(EffectKind::OpenContainer, named(word), vec!["capability"]),
        });
        let mut none = Vec::new();
        let mounts = self.extractor(effect, &mut none).mounts_of(service);
        let folders = mounts.into_iter().filter_map(|mount| {
            let Source::Path(text) = mount.source else { return None };
            let value = Value::text(text.as_str(), effect.origin);
            let path = TargetPath::Known { text, climbing: None, follows: false, contents: false };
            let flag = if mount.read_only { "read-only" } else { "writable" };
            Some(one(EffectKind::ShareFolder, Target::new(value, path), vec![flag]))
        });
        rights.chain(folders).collect()
    }

    /// Reads the commands of a service at its place.
    fn inside(&mut self, effect: &Effect, level: usize, (path, text): (String, String), service: &Service) {
        let mut none = Vec::new();
        let mounts = self.extractor(effect, &mut none).mounts_of(service);
        let first = self.analysis.effects.len();
        let found = Found {
            path,
            text,
            language: Language::Shell,
            usage: Usage::Task,
            input: CallInput::default(),
            folder: service.folder.clone(),
            assignments: Vec::new(),
            place: Some(Rc::new(MountTable { mounts, ..MountTable::default() })),
        };
        self.read(effect.action, level, found);
        self.report_gaps(true);
        self.keep_beyond(first);
    }

    /// Keeps the effects before `first` and those after it that outlast the container.
    fn keep_beyond(&mut self, first: usize) {
        let mut index = 0;
        self.analysis.effects.retain(|effect| {
            index += 1;
            index <= first || BEYOND.contains(&effect.kind) || effect.site == ExecTarget::Here
        });
    }

    /// Reads the commands that the build of an image runs. Of their effects only the sending of the project's files
    /// reaches beyond the image.
    pub(super) fn image(&mut self, index: usize, level: usize) {
        let Some(effect) = self.analysis.effects.get(index).filter(|effect| effect.script.is_none()).cloned() else {
            return;
        };
        let (Some(context), Some(folder)) = (effect.targets.first().and_then(Target::path), &effect.folder) else {
            return;
        };
        let named = self.option_values(&effect, "file").pop().map(|file| path::absolute(&file, folder));
        let file = named.unwrap_or_else(|| path::absolute("Dockerfile", context));
        let content = |file: &str| self.written_by_text(&effect, file).or_else(|| self.content(&effect, file));
        let Some(text) = content(&file) else { return };
        let build = dockerfile::build(&text, context);
        if build.script.is_empty() || build.mounts.is_empty() || !self.has_room(&file) {
            return;
        }
        let ignored = content(&path::absolute(".dockerignore", context)).unwrap_or_default();
        let below = format!("{}/", context.trim_end_matches('/'));
        let first = self.analysis.effects.len();
        let found = Found {
            path: file,
            text: build.script,
            language: Language::Shell,
            usage: Usage::Task,
            input: CallInput::default(),
            folder: Some("/".into()),
            assignments: Vec::new(),
            place: Some(Rc::new(MountTable { mounts: build.mounts, fresh: true, ..MountTable::default() })),
        };
        self.read(effect.action, level, found);
        let is_copied = |target: &Target| {
            let relative = target.path().and_then(|path| path.strip_prefix(&below));
            relative.is_none_or(|relative| !dockerfile::is_ignored(&ignored, relative))
        };
        let mut position = 0;
        self.analysis.effects.retain_mut(|effect| {
            position += 1;
            if position <= first {
                return true;
            }
            effect.targets.retain(is_copied);
            effect.kind == EffectKind::SendFile && effect.site == ExecTarget::Here && !effect.targets.is_empty()
        });
    }

    /// Reads the commands of a development container: those on this machine before it starts, and those in it
    /// afterwards.
    pub(super) fn dev_container(&mut self, index: usize, level: usize) {
        let Some(effect) = self.analysis.effects.get(index).cloned() else { return };
        let Some(folder) = effect.folder.clone() else { return };
        let workspace = self.option_values(&effect, "workspace").pop();
        let folder = workspace.map_or_else(|| folder.clone(), |workspace| path::absolute(&workspace, &folder));
        let named = self.option_values(&effect, "file").pop().map(|file| path::absolute(&file, &folder));
        let usual = DEV_CONTAINERS.iter().map(|file| path::absolute(file, &folder));
        let content = |file: &String| self.written_by_text(&effect, file).or_else(|| self.content(&effect, file));
        let mut files = named.into_iter().chain(usual);
        let Some((file, text)) = files.find_map(|file| Some((content(&file)?, file)).map(|(text, file)| (file, text)))
        else {
            return;
        };
        let Some(later) = config_files::deferred(self.tables, &file, &text) else { return };
        let DeferredExecution { settings, scripts } = later;
        if self.is_changed(&file, &text) {
            let effects = settings.into_iter().map(|(flags, value)| Effect::configured(effect.action, flags, &value));
            self.analysis.effects.extend(effects);
        }
        // Commands that run here before the build are already read as part of the files that programs read unasked in
        // this folder.
        let is_reported = effect.folder.as_deref() == Some(folder.as_str())
            && file.ends_with("devcontainer.json")
            && path::is_within(&file, &folder);
        let inside = format!("/workspaces/{}", path::name_of(&folder));
        let mount = Mount { inside: inside.clone(), source: Source::Path(folder.clone()), read_only: false };
        let table = Rc::new(MountTable { mounts: vec![mount], ..MountTable::default() });
        for script in scripts {
            if !self.has_room(&file) {
                return;
            }
            let here = script.site == ExecTarget::Here;
            if here && is_reported {
                continue;
            }
            let first = self.analysis.effects.len();
            let found = Found {
                path: file.clone(),
                text: script.text,
                language: script.language,
                usage: Usage::Task,
                input: CallInput::default(),
                folder: Some(if here { folder.clone() } else { inside.clone() }),
                assignments: Vec::new(),
                place: (!here).then(|| Rc::clone(&table)),
            };
            self.read(effect.action, level, found);
            self.report_gaps(true);
            if !here {
                self.keep_beyond(first);
            }
        }
    }
}

/// Returns the named services, or all services that no profile excludes, with their dependencies.
fn with_needed(services: &BTreeMap<String, Service>, named: Vec<String>, profiles: &[String]) -> BTreeSet<String> {
    let asked = |service: &Service| {
        service.profiles.is_empty() || service.profiles.iter().any(|profile| profiles.contains(profile))
    };
    let all = || services.iter().filter(|(_, service)| asked(service)).map(|(name, _)| name.clone()).collect();
    let mut waiting: Vec<String> = if named.is_empty() { all() } else { named };
    let mut started = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        let needs = services.get(&name).map(|service| service.needs.clone()).unwrap_or_default();
        if work::spend(1) && started.insert(name) {
            waiting.extend(needs);
        }
    }
    started
}
