//! The agents' settings files on this machine: plans changes and writes files atomically.

use super::client_trust::Wish;
use super::client_version::installed_version;
use super::error::{TrustError, WiringError};
use super::lasting::{SettleError, lasting};
use crate::config::asking::Asking;
use crate::config::load;
use crate::store::signing::{InForce, PublicKey};
use crate::system::context::Context;
use crate::system::digest::digest;
use crate::system::files::make_folder;
use crate::system::folders::{Folders, real};
use crate::system::os;
use reflex_agents::settings::{SettingsError, guard_hooks, older_guards, without_older_guards};
use reflex_agents::{AGENTS, Agent, HookCommand, Limit, Settings, SettingsFile, Start};
use reflex_engine::agent_settings::{SettingsFormat, Unloadable};
use reflex_git::project_root;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The byte-order mark.
const MARK: &str = "\u{feff}";

/// One settings file of an agent.
pub struct Wiring {
    agent: &'static Agent,
    settings: &'static Settings,
    form: &'static SettingsFile,
    /// Index of the file among the agent's settings files.
    number: usize,
    file: PathBuf,
    /// The project, for a project's settings file.
    project: Option<PathBuf>,
    context: Context,
    /// The key in the hook entry; none in a project, whose entry is shared.
    key: InForce,
}

/// The state of the plugin `reflex-guard` in an agent, by its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plugin {
    /// It is installed and enabled.
    Enabled,
    /// The settings disable it.
    Disabled,
    /// The settings enable it, but it is not installed.
    Missing,
}

/// The text of a file before and after a change; `None` for a missing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The current text.
    pub before: Option<String>,
    /// The new text.
    pub after: Option<String>,
}

impl Wiring {
    /// The settings of every agent with a known hook format.
    pub fn all(context: &Context) -> Vec<Wiring> {
        let key = context.store().key_in_force().clone();
        let known = AGENTS.iter().filter_map(|agent| Some((agent, agent.settings?)));
        let files = known.flat_map(|(agent, settings)| {
            settings.files.iter().enumerate().map(move |(number, form)| (agent, settings, form, number))
        });
        let wiring = |(agent, settings, form, number): (_, _, &'static SettingsFile, _)| Wiring {
            agent,
            settings,
            form,
            number,
            file: file_of(form, &context.folders().home_of_agents),
            project: None,
            context: context.clone(),
            key: key.clone(),
        };
        files.map(wiring).collect()
    }

    /// The settings of the project around a folder, for every agent that has project settings. The home has none: it is
    /// not a project. A file that is also the user's own is omitted, as in a repository that the home links to.
    pub fn of_project_around(context: &Context, folder: &Path) -> Vec<Wiring> {
        let folders = context.folders();
        let root = PathBuf::from(project_root(&folder.to_string_lossy(), &real(&folders.home).to_string_lossy()));
        if folders.is_home_within(&root) {
            return Vec::new();
        }
        let wiring = |agent: &'static Agent| {
            let settings = agent.settings?;
            let file = |form: &SettingsFile| root.join(form.folder).join(form.name);
            let existing = settings.project.iter().find(|form| file(form).exists());
            let form = existing.or(settings.project.first())?;
            let (file, project) = (file(form), Some(root.clone()));
            if settings.files.iter().any(|of_user| real(&file_of(of_user, &folders.home_of_agents)) == real(&file)) {
                return None;
            }
            Some(Wiring {
                agent,
                settings,
                form,
                number: 0,
                file,
                project,
                context: context.clone(),
                key: InForce::Unprotected,
            })
        };
        AGENTS.iter().filter_map(wiring).collect()
    }

    /// The project whose settings these are; `None` for the user's.
    pub fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// The agent's name.
    pub fn agent(&self) -> &'static str {
        self.agent.name
    }

    /// The agent.
    pub(crate) fn adapter(&self) -> &'static Agent {
        self.agent
    }

    /// The description of the agent's settings.
    pub(crate) fn settings(&self) -> &'static Settings {
        self.settings
    }

    /// The folders of the guard's files.
    pub(crate) fn folders(&self) -> &Folders {
        self.context.folders()
    }

    /// The home in which the agents look up their files.
    pub(crate) fn home_of_agents(&self) -> &Path {
        &self.folders().home_of_agents
    }

    /// The folder of the guard's state.
    pub(crate) fn state(&self) -> &Path {
        &self.folders().state
    }

    /// The environment variable that overrides the file's folder.
    pub(crate) fn variable(&self) -> Option<&'static str> {
        self.form.variable
    }

    /// The agent's folder, which contains its files.
    pub(crate) fn folder(&self) -> PathBuf {
        match &self.project {
            Some(project) => project.join(self.form.folder),
            None => folder_of(self.form, self.home_of_agents()),
        }
    }

    /// The agent's folder in the home.
    pub(crate) fn user_folder(&self) -> PathBuf {
        self.settings.files.first().map_or_else(|| self.folder(), |form| folder_of(form, self.home_of_agents()))
    }

    /// Calls that never reach a hook of the agent.
    pub fn limits(&self) -> &'static [Limit] {
        self.agent.limits
    }

    /// Whether this is the agent with that name or alias.
    pub fn is_for(&self, name: &str) -> bool {
        reflex_agents::find(name).is_some_and(|agent| agent.name == self.agent.name)
    }

    /// Whether the agent is present on this machine: its folder in the home, or its program on the `PATH`.
    pub fn is_installed(&self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has = |folder: PathBuf| self.settings.programs.iter().any(|program| folder.join(program).is_file());
        self.settings.folders.iter().any(|folder| self.home_of_agents().join(folder).is_dir())
            || std::env::split_paths(&path).any(has)
    }

    /// The managed settings file of this system, if the agent has one.
    pub(crate) fn managed_file(&self) -> Option<&'static str> {
        let managed = self.settings.managed?;
        Some(if std::env::consts::OS == "macos" { managed.on_macos } else { managed.file })
            .filter(|file| !file.is_empty())
    }

    /// Whether the managed settings have the hook, for every user of this machine.
    pub(crate) fn is_managed(&self) -> bool {
        let text = self.managed_file().and_then(|file| fs::read_to_string(file).ok());
        text.is_some_and(|text| !guard_hooks(&text).is_empty())
    }

    /// The state of the agent's plugin, by the strongest of its settings files that names it. A project's file counts
    /// only if the agent has installed the plugin for this user.
    pub(crate) fn plugin(&self, project: &Path) -> Option<Plugin> {
        let form = self.settings.plugin?;
        let of_project = self.settings.project.iter().flat_map(|form| {
            let folder = project.join(form.folder);
            [folder.join(form.name), folder.join(form.name.replace(".json", ".local.json"))]
        });
        let files = std::iter::once(self.user_folder().join(self.form.name)).chain(of_project);
        let is_enabled = files.filter_map(|file| (form.is_enabled)(&fs::read_to_string(file).ok()?)).next_back()?;
        if !is_enabled {
            return Some(Plugin::Disabled);
        }
        let list = fs::read_to_string(self.user_folder().join(form.installed));
        let folder = list.ok().and_then(|list| (form.folder)(&list));
        let has_hooks = folder.is_some_and(|folder| Path::new(&folder).join(form.hooks).is_file());
        Some(if has_hooks { Plugin::Enabled } else { Plugin::Missing })
    }

    /// Whether the agent writes this file when it trusts the hook, so that `init` leaves it alone.
    pub fn is_written_by_agent(&self) -> bool {
        self.form.by_agent
    }

    /// Makes the agent trust the installed hook; `None` if it requires no trust. Changes that the agent writes
    /// meanwhile are recorded, so that they can be reverted.
    ///
    /// # Errors
    /// The reason why the hook is not trusted.
    pub fn trust(&self) -> Option<Result<(), TrustError>> {
        // A project has to be trusted before its hooks, and only a person may do that.
        let trust = self.settings.trust.filter(|_| !self.form.by_agent && self.project.is_none())?;
        let kept: Vec<Wiring> = Wiring::all(&self.context)
            .into_iter()
            .filter(|wiring| wiring.is_for(self.agent.name) && wiring.form.by_agent)
            .collect();
        let before: Vec<Option<String>> = kept.iter().map(|wiring| wiring.read().unwrap_or(None)).collect();
        let done = super::client_trust::ask(trust, self.home_of_agents(), Wish::Have);
        for (wiring, before) in kept.iter().zip(before) {
            let after = wiring.read().unwrap_or(None);
            if after.is_some() && after != before {
                // A missing copy only prevents the undo, not the trust.
                let _ = wiring.remember(&Change { before, after });
            }
        }
        Some(done)
    }

    /// A note for the person after the installation; empty if not needed.
    pub fn afterwards(&self) -> &'static str {
        if self.project.is_some() { self.settings.project_needs } else { self.settings.afterwards }
    }

    /// The settings file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The change that installs the hook.
    ///
    /// # Errors
    /// The file cannot be read, its agent would drop it, or the path of this program cannot be found.
    pub fn install(&self) -> Result<Change, WiringError> {
        let before = self.read()?;
        let after = self.with_hook(before.as_deref().unwrap_or(""))?;
        Ok(Change { after: Some(after), before })
    }

    /// As [`Wiring::install`], and removes hooks of older guards.
    ///
    /// # Errors
    /// As [`Wiring::install`].
    pub fn install_in_place_of_older(&self) -> Result<Change, WiringError> {
        let before = self.read()?;
        let text = before.as_deref().unwrap_or("");
        let alone = if older_guards(text).is_empty() {
            text.to_owned()
        } else {
            without_older_guards(text).map_err(|source| self.format_error(source))?
        };
        let after = self.with_hook(&alone)?;
        Ok(Change { after: Some(after), before })
    }

    /// As [`Wiring::install`], for a file that its agent would drop for a comment, a comma or a byte-order mark: these
    /// are removed first.
    ///
    /// # Errors
    /// As [`Wiring::install`], and if the file has errors that a program must not repair.
    pub fn install_repaired(&self) -> Result<Change, WiringError> {
        if self.unloadable().is_none() {
            return self.install();
        }
        let bytes = fs::read(&self.file).map_err(|source| WiringError::Unread { file: self.file.clone(), source })?;
        let repaired = self.reading().and_then(|form| form.repaired(&bytes));
        let Some(repaired) = repaired else { return self.install() };
        let after = self.with_hook(&repaired)?;
        Ok(Change { after: Some(after), before: Some(String::from_utf8_lossy(&bytes).into_owned()) })
    }

    /// The same wiring with another key, or with none.
    #[must_use]
    pub fn with_key(self, key: Option<PublicKey>) -> Wiring {
        Wiring { key: key.map_or(InForce::Unprotected, InForce::Key), ..self }
    }

    /// The home in the hook entry. A project's entry is shared, and a home that only the environment names must not be
    /// written.
    fn named_home(&self) -> Option<String> {
        let is_user_wide = self.project.is_none() && !self.folders().may_only_tighten();
        is_user_wide.then(|| self.folders().home.to_string_lossy().into_owned())
    }

    /// Seconds that the policy of the user lets a hook wait; 0 in a project's entry, which is shared.
    fn wait(&self) -> u32 {
        if self.project.is_some() {
            return 0;
        }
        let asking = Asking::from_layers(&load(self.folders(), Path::new("/"), &self.context.store()));
        u32::try_from(asking.wait(true).as_secs()).unwrap_or(u32::MAX)
    }

    fn with_hook(&self, text: &str) -> Result<String, WiringError> {
        // A byte-order mark that the agent accepts is kept.
        let (mark, text) = text.strip_prefix(MARK).map_or(("", text), |text| (MARK, text));
        let (binary, home) = (binary_path(self.folders())?, self.named_home());
        if let Some(why) = self.key.problem() {
            let (file, why) = (self.file.clone(), why.to_owned());
            return Err(WiringError::Key { file, why, remedy: self.key.remedy() });
        }
        let key = if let InForce::Key(key) = &self.key { Some(key.to_string()) } else { None };
        let wait = self.wait();
        let client = installed_version(self.settings);
        let command = HookCommand {
            binary: &binary,
            home: home.as_deref(),
            key: key.as_deref(),
            wait,
            client: client.as_deref(),
        };
        let after = (self.form.install)(text, command).map_err(|source| self.format_error(source))?;
        Ok(format!("{mark}{after}"))
    }

    /// The format in which the agent reads the file, if known.
    pub(crate) fn reading(&self) -> Option<SettingsFormat> {
        let around = self.project.as_deref().unwrap_or(self.home_of_agents());
        let usual = around.join(self.form.folder).join(self.form.name);
        SettingsFormat::for_path(
            reflex_library::tables(),
            &usual.to_string_lossy(),
            &self.home_of_agents().to_string_lossy(),
        )
    }

    /// The place and reason for which the agent would drop the file; `None` if it accepts it, or the file is missing.
    pub(crate) fn unloadable(&self) -> Option<Unloadable> {
        // In an empty file, the hook becomes the content.
        let bytes = fs::read(&self.file).ok().filter(|bytes| !bytes.trim_ascii().is_empty())?;
        self.reading()?.load(&bytes).err()
    }

    /// The remedy for a file that the agent would drop.
    pub fn repair(&self) -> String {
        let scope = if self.project.is_some() { " --scope project" } else { "" };
        let bytes = fs::read(&self.file).unwrap_or_default();
        match (self.reading().and_then(|form| form.repaired(&bytes)), self.unloadable()) {
            (Some(_), _) => format!("reflex init --agent {}{scope} --repair", self.agent.name),
            (None, Some(place)) => format!(
                "mend line {} of {}, then reflex init --agent {}{scope}",
                place.line,
                self.file.display(),
                self.agent.name
            ),
            (None, None) => format!("mend the file, then reflex init --agent {}{scope}", self.agent.name),
        }
    }

    /// The guard's hooks in the file, even if the agent drops the file.
    pub fn hooks(&self) -> Vec<(String, Start)> {
        let text = self.text().unwrap_or(None).unwrap_or_default();
        guard_hooks(text.strip_prefix(MARK).unwrap_or(&text))
    }

    /// The change that removes the hook: restores the original bytes if the file has not changed since the
    /// installation.
    ///
    /// # Errors
    /// As [`Wiring::install`].
    pub fn remove(&self) -> Result<Change, WiringError> {
        let before = self.text()?;
        let Some(text) = before.as_deref() else { return Ok(Change { before: None, after: None }) };
        if let Some(original) = self.original(text) {
            return Ok(Change { before, after: original });
        }
        let (mark, text) = text.strip_prefix(MARK).map_or(("", text), |text| (MARK, text));
        let after = (self.form.remove)(text).map_err(|source| self.format_error(source))?;
        Ok(Change { after: after.map(|after| format!("{mark}{after}")), before })
    }

    /// Whether `init` installed the hook in this file and `uninstall` has not removed it since.
    pub fn was_installed(&self) -> bool {
        self.memory().exists()
    }

    /// Whether the file only lacks a hook, while a passphrase is kept from an earlier installation.
    pub(crate) fn is_detached(&self) -> bool {
        self.key == InForce::Detached && self.hooks().is_empty() && self.unloadable().is_none()
    }

    /// The program that the hooks start, if it is not there.
    pub(crate) fn missing_program(&self) -> Option<String> {
        let programs = self.hooks().into_iter().filter_map(|(_, start)| start.program());
        programs.filter(|program| Path::new(program).is_absolute()).find(|program| !Path::new(program).exists())
    }

    /// Whether the installed hook starts a program other than this one.
    pub fn starts_another_program(&self) -> bool {
        let current = binary_path(self.folders()).ok();
        self.hooks().iter().filter_map(|(_, start)| start.program()).any(|program| Some(program) != current)
    }

    /// Writes the change and records the text before it, until the hook is removed.
    ///
    /// # Errors
    /// The file or its copy cannot be written.
    pub fn write(&self, change: &Change) -> Result<(), WiringError> {
        let failed = |file: &Path, source: io::Error| WiringError::Unwritten { file: file.to_owned(), source };
        match &change.after {
            Some(after) => {
                let is_out = guard_hooks(after.strip_prefix(MARK).unwrap_or(after)).is_empty();
                if !is_out {
                    self.remember(change).map_err(|error| failed(&self.memory(), error))?;
                }
                write_atomically(&self.file, after, mode_of(&self.file)).map_err(|error| failed(&self.file, error))?;
                if is_out {
                    let _ = fs::remove_file(self.memory());
                }
                Ok(())
            }
            None => self.take_away().map_err(|error| failed(&self.file, error)),
        }
    }

    /// Removes a file that only we wrote, and our record of it. Its folder goes too if it is then empty.
    fn take_away(&self) -> io::Result<()> {
        let file = followed(&self.file);
        fs::remove_file(&file)?;
        // A non-empty folder stays, and so do its parents. In a project, empty parents go too: git does not track them.
        let around = file.ancestors().skip(1).take_while(|folder| Some(*folder) != self.project.as_deref());
        let levels = if self.project.is_some() { usize::MAX } else { 1 };
        let _ = around.take(levels).try_for_each(fs::remove_dir);
        let _ = fs::remove_file(self.memory());
        Ok(())
    }

    fn format_error(&self, source: SettingsError) -> WiringError {
        WiringError::Format { file: self.file.clone(), source }
    }

    /// Reads the text. Fails if its agent would drop the file.
    fn read(&self) -> Result<Option<String>, WiringError> {
        let Some(Unloadable { line, column, why }) = self.unloadable() else { return self.text() };
        let outcome = match self.reading().is_some_and(SettingsFormat::stops) {
            true => "does not start with such a file",
            false => "ignores such a file and runs none of its hooks",
        };
        let (file, title, repair) = (self.file.clone(), self.agent.title, self.repair_text());
        Err(WiringError::Dropped { file, line, column, why, title, outcome, repair })
    }

    fn repair_text(&self) -> String {
        let repair = self.repair();
        if repair.starts_with("reflex") { format!("`{repair}` shows and makes the change") } else { repair }
    }

    fn text(&self) -> Result<Option<String>, WiringError> {
        match fs::read_to_string(&self.file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WiringError::Unread { file: self.file.clone(), source }),
        }
    }

    fn memory(&self) -> PathBuf {
        let number = if self.number == 0 { String::new() } else { format!("-{}", self.number + 1) };
        let place = self.project.as_ref().map(|project| format!("-{}", digest(&project.to_string_lossy())));
        let place = place.unwrap_or_default();
        self.folders().state.join("wiring").join(format!("{}{number}{place}.json", self.agent.name))
    }

    /// The first original text is kept when the hook is installed again. A restored text never has a hook of ours.
    fn remember(&self, change: &Change) -> io::Result<()> {
        let original = match change.before.as_deref().and_then(|text| self.original(text)) {
            Some(original) => original,
            None => change
                .before
                .as_deref()
                .and_then(|text| (self.form.remove)(text).unwrap_or_else(|_| Some(text.to_owned()))),
        };
        let memory =
            json!({"schema": "reflex/wiring-v1", "file": self.file, "before": original, "after": change.after});
        let path = self.memory();
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        write_atomically(&path, &memory.to_string(), 0o600)
    }

    /// The text of the file before our installation, if the file still has the text that we wrote.
    fn original(&self, text: &str) -> Option<Option<String>> {
        let memory: Value = serde_json::from_str(&fs::read_to_string(self.memory()).ok()?).ok()?;
        if memory.get("after")?.as_str()? != text || memory.get("file")?.as_str()? != self.file.to_string_lossy() {
            return None;
        }
        Some(memory.get("before")?.as_str().map(str::to_owned))
    }
}

/// The path of this program for hook entries.
pub(crate) fn binary_path(folders: &Folders) -> Result<String, SettleError> {
    Ok(lasting(folders)?.to_string_lossy().into_owned())
}

pub(super) fn file_of(form: &SettingsFile, home: &Path) -> PathBuf {
    folder_of(form, home).join(form.name)
}

fn folder_of(form: &SettingsFile, home: &Path) -> PathBuf {
    let named = form.variable.and_then(std::env::var_os).map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.unwrap_or_else(|| home.join(form.folder))
}

pub(super) fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).map_or(0o600, |data| os::mode_of(&data))
}

/// Writes a file atomically through a temporary file next to it. A symlink is followed, not replaced.
pub(crate) fn write_atomically(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let path = followed(path);
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = folder.join(format!(".{name}.reflex-{}", std::process::id()));
    let mut file = os::options_with_mode(mode).write(true).create_new(true).open(&beside)?;
    let written =
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The target of a symlink, even if it does not exist.
fn followed(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(next);
    }
    path
}
