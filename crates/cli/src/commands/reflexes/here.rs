//! Where a command about reflexes works, and how it says that it failed.

use crate::status;
use crate::terminal::output::complain;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::catalog::Home;
use reflex_host::{Host, Mode};
use std::path::PathBuf;

/// Where we are.
pub(super) struct Here {
    pub(super) host: Host,
    pub(super) workspace: PathBuf,
    pub(super) cwd: PathBuf,
}

impl Here {
    pub(super) fn new() -> Here {
        let host = Host::new(Mode::default());
        let workspace = PathBuf::from(host.placed(Event::default()).workspace);
        let cwd = std::env::current_dir().unwrap_or_else(|_| workspace.clone());
        Here { host, workspace, cwd }
    }

    /// The list that the command is about.
    pub(super) fn home(&self, matches: &ArgMatches) -> Home {
        if matches.get_flag("user") { self.of_user() } else { Home::of_workspace(&self.workspace) }
    }

    pub(super) fn of_user(&self) -> Home {
        Home::of_user(self.host.folders())
    }
}

/// What went wrong, for a person's terminal.
pub(super) fn failed(problem: &str) -> u8 {
    complain(&visible(problem));
    status::FOUND
}
