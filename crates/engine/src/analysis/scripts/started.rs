//! Containers described by a file of the project: the mounts, rights and commands of a compose file or a development
//! container when it starts.

use super::queued_text::{Counted, QueuedText};
use super::resolver::ScriptResolver;
use crate::analysis::compose::Service;
use crate::analysis::config_files;
use crate::analysis::config_files::later::DeferredExecution;
use crate::analysis::dockerfile;
use crate::analysis::effects::Ran;
use crate::analysis::mounts::Project;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::mounts::{Mount, MountTable, Source};
use crate::model::path;
use reflex_shell::{ExecTarget, Value, work};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Files of a development container, relative to the project's folder.
const DEV_CONTAINERS: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

impl ScriptResolver<'_> {
    /// Adds the services that a compose command starts.
    pub(super) fn started(&mut self, index: usize) {
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
            if !text.is_empty() {
                self.enqueue(self.text_of_service(&effect, file, text, service));
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

    /// Returns the commands of a service, as they run at its place.
    fn text_of_service(&self, effect: &Effect, path: String, text: String, service: &Service) -> QueuedText {
        let mut none = Vec::new();
        let mounts = self.extractor(effect, &mut none).mounts_of(service);
        QueuedText {
            folder: service.folder.clone(),
            place: Some(Rc::new(MountTable { mounts, ..MountTable::default() })),
            counted: Counted::BeyondContainer,
            ..QueuedText::new(path, text, effect.action, self.level(effect) + 1)
        }
    }

    /// Reads the commands that the build of an image runs. Of their effects only the sending of the project's files
    /// reaches beyond the image.
    pub(super) fn image(&mut self, index: usize) {
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
        if build.script.is_empty() || build.mounts.is_empty() {
            return;
        }
        let ignored = content(&path::absolute(".dockerignore", context)).unwrap_or_default();
        let below = format!("{}/", context.trim_end_matches('/'));
        self.enqueue(QueuedText {
            folder: Some("/".into()),
            place: Some(Rc::new(MountTable { mounts: build.mounts, fresh: true, ..MountTable::default() })),
            counted: Counted::OfImage { below, ignored },
            reports_gaps: false,
            ..QueuedText::new(file, build.script, effect.action, self.level(&effect) + 1)
        });
    }

    /// Reads the commands of a development container: those on this machine before it starts, and those in it
    /// afterwards.
    pub(super) fn dev_container(&mut self, index: usize) {
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
            let here = script.site == ExecTarget::Here;
            if here && is_reported {
                continue;
            }
            self.enqueue(QueuedText {
                language: script.language,
                folder: Some(if here { folder.clone() } else { inside.clone() }),
                place: (!here).then(|| Rc::clone(&table)),
                counted: if here { Counted::All } else { Counted::BeyondContainer },
                ..QueuedText::new(file.clone(), script.text, effect.action, self.level(&effect) + 1)
            });
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
