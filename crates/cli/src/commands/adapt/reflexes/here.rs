//! Context of the commands about reflexes.

use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::catalog::Home;
use reflex_host::{Context, Host, Mode};
use std::path::PathBuf;

/// The host, the workspace and the working directory of a command.
pub(super) struct Here {
    pub(super) host: Host,
    pub(super) workspace: PathBuf,
    pub(super) cwd: PathBuf,
}

impl Here {
    pub(super) fn new(context: &Context) -> Here {
        let host = context.host(Mode::default());
        let workspace = PathBuf::from(host.placed(Event::default()).workspace);
        let cwd = std::env::current_dir().unwrap_or_else(|_| workspace.clone());
        Here { host, workspace, cwd }
    }

    /// Returns the list that the command uses.
    pub(super) fn home(&self, matches: &ArgMatches) -> Home {
        if matches.get_flag("user") { self.of_user() } else { Home::of_workspace(&self.workspace) }
    }

    pub(super) fn of_user(&self) -> Home {
        Home::of_user(self.host.folders())
    }
}
