//! Where the guard keeps its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where the guard keeps its files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME/reflex`
    pub config: PathBuf,
    /// `$XDG_STATE_HOME/reflex`
    pub state: PathBuf,
    /// `$XDG_CACHE_HOME/reflex`
    pub cache: PathBuf,
}

impl Folders {
    /// By the environment, as the XDG base directory specification says.
    pub fn of_environment() -> Folders {
        let given = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = given.or_else(home_by_password_database).unwrap_or_else(|| "/".into());
        let folder = |variable: &str, default: &str| {
            let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            given.unwrap_or_else(|| home.join(default)).join("reflex")
        };
        Folders {
            config: folder("XDG_CONFIG_HOME", ".config"),
            state: folder("XDG_STATE_HOME", ".local/state"),
            cache: folder("XDG_CACHE_HOME", ".cache"),
            home,
        }
    }

    /// Whether the environment leads to another configuration than the password database: whoever starts us could have
    /// moved it, so what lies there may only tighten.
    pub fn moved_config(&self) -> bool {
        is_elsewhere(&self.config, ".config/reflex")
    }

    /// The same of what the guard keeps.
    pub(crate) fn moved_state(&self) -> bool {
        is_elsewhere(&self.state, ".local/state/reflex")
    }
}

fn is_elsewhere(folder: &Path, usual: &str) -> bool {
    // Tests have no entry of their own in the password database.
    if cfg!(debug_assertions) && std::env::var_os("REFLEX_TEST_OWN_HOME").is_some() {
        return false;
    }
    home_by_password_database().is_none_or(|home| folder != home.join(usual))
}

/// The home that `/etc/passwd` names for this user.
fn home_by_password_database() -> Option<PathBuf> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    HOME.get_or_init(home_of_user).clone()
}

fn home_of_user() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let database = fs::read_to_string("/etc/passwd").ok()?;
    let of_user = |line: &&str| line.split(':').nth(2) == Some(&user);
    database.lines().find(of_user)?.split(':').nth(5).map(PathBuf::from)
}
