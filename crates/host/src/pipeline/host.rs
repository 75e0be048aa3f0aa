//! [`Host`]: places an event on this machine and judges it under the policy in force.

use crate::config::judge::judge;
use crate::config::{self, Loaded, Mode, PresentFolders};
use crate::reflexes::Reflexes;
use crate::store::Store;
use crate::system::context::Context;
use crate::system::folders::Folders;
use crate::world::{LocalWorld, canonical};
use reflex_engine::{AgentPath, Authority, Event, Judgement, World, is_within};
use reflex_git::project_root;
use std::path::Path;

/// This machine, as the guard uses it.
pub struct Host {
    context: Context,
    pub(super) mode: Mode,
}

impl Context {
    /// This machine, judged under this mode.
    pub fn host(&self, mode: Mode) -> Host {
        Host { context: self.clone(), mode }
    }
}

impl Host {
    /// The guard that this machine is judged for.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn wait_for(&self, seconds: u64) {
        self.context.wait_for(seconds);
    }

    /// The path and content of the file that a call writes if it gives up after a tool has run. The next call moves it
    /// into the log.
    pub fn overdue(&self, agent: &str) -> (std::path::PathBuf, String) {
        self.store().overdue(agent)
    }

    /// The guard's store on disk.
    pub fn store(&self) -> Store {
        self.context.store()
    }

    /// Completes an event: working directory, project, home.
    pub fn placed(&self, mut event: Event) -> Event {
        for folder in [&mut event.cwd, &mut event.workspace, &mut event.home] {
            *folder = AgentPath::new(folder.as_str()).with_slashes();
        }
        if !reflex_engine::is_absolute(&event.cwd) {
            let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
            event.cwd = shown(&here.join(&event.cwd));
        }
        if event.home.is_empty() {
            event.home = shown(&self.folders().home);
        }
        if event.workspace.is_empty() {
            let variable = reflex_agents::find(&event.client).and_then(|agent| agent.project_variable);
            let project =
                variable.and_then(|name| self.context.environment().get(name)).filter(|path| path.starts_with('/'));
            event.workspace = project.unwrap_or_else(|| event.cwd.clone());
            event.workspace = project_root(&event.workspace, &event.home);
        }
        // Symlinks are resolved once, here; paths compared with these folders are resolved too.
        let cwd = match event.started {
            // The kernel names the working directory of a process without symlinks.
            Some(_) => event.cwd.clone(),
            None => canonical(Path::new(&event.cwd)).map_or_else(|_| event.cwd.clone(), |path| shown(&path)),
        };
        let real = |folder: &str| match folder {
            _ if folder == event.cwd => cwd.clone(),
            // If the path to this folder has no symlink, the paths to its ancestors have none either.
            _ if cwd == event.cwd && is_within(&cwd, folder) => folder.to_owned(),
            _ => canonical(Path::new(folder)).map_or_else(|_| folder.to_owned(), |path| shown(&path)),
        };
        (event.workspace, event.home) = (real(&event.workspace), real(&event.home));
        event.cwd = cwd;
        event.declared = self.store().declared(&event);
        event
    }

    /// The same for a call that is judged. The root, the home and its ancestors never count as a project, whoever names
    /// them; otherwise every file in them would count as the project's own.
    pub fn settled(&self, event: Event) -> Event {
        let mut event = self.placed(event);
        if is_too_wide(&event.workspace, &event.home) {
            let below = project_root(&event.cwd, &event.home);
            event.workspace = if is_too_wide(&below, &event.home) { NOWHERE.into() } else { below };
            event.declared = self.store().declared(&event);
        }
        event
    }

    /// The reflexes for a call; `None` if no folder names any.
    pub(super) fn reflexes(&self, event: &Event, present: PresentFolders, store: &Store) -> Option<Reflexes> {
        Reflexes::load(self.folders(), (Path::new(&event.workspace), Path::new(&event.cwd)), present, store)
    }

    /// The layers of people's rules and policies in force in a workspace.
    pub fn layers(&self, workspace: &str) -> Vec<Loaded> {
        config::load(self.folders(), Path::new(workspace), &self.store())
    }

    /// The event with its calls of unknown tools translated into actions, as it is judged.
    pub fn unfolded(&self, event: Event) -> Event {
        reflex_engine::unfolded(&event, reflex_library::tables()).into_owned()
    }

    /// Judges an event in another world, by these layers besides the library.
    pub fn judge_in(&self, event: &Event, world: &dyn World, layers: &[Loaded]) -> Judgement {
        judge(event, self.mode.policy(layers).as_ref(), world)
    }

    /// The facts of this machine for an event, under these layers.
    pub(super) fn world(&self, event: &Event, loaded: &[Loaded]) -> LocalWorld<'_> {
        LocalWorld::new(&self.context, &event.workspace, self.guard_with(loaded))
    }

    /// The facts of this machine for a workspace, without a session or people's rules.
    pub(super) fn plain_world(&self, workspace: &str) -> LocalWorld<'_> {
        LocalWorld::new(&self.context, workspace, self.guard())
    }

    /// The guard's own folders, and those that the environment would select. Both are protected.
    pub(crate) fn guard(&self) -> Vec<String> {
        let folders = self.folders();
        let current = [&folders.config, &folders.state, &folders.cache, &folders.program];
        current.into_iter().chain(&folders.elsewhere).map(|path| shown(path)).collect()
    }

    /// The same, with further folders of the rules of the user and the administrator.
    pub(crate) fn guard_with(&self, loaded: &[Loaded]) -> Vec<String> {
        let further = loaded.iter().filter(|one| one.layer.authority != Authority::Project);
        self.guard().into_iter().chain(further.map(|one| shown(&one.place.folder))).collect()
    }

    /// The folders of the guard's files.
    pub fn folders(&self) -> &Folders {
        self.context.folders()
    }
}

/// The workspace of a call outside of any project: every path is outside of it.
const NOWHERE: &str = "/nonexistent";

/// Whether a folder is the root, the parent of all homes, or contains this home.
fn is_too_wide(folder: &str, home: &str) -> bool {
    ["/", "/home", "/Users"].contains(&folder) || is_within(home, folder)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
