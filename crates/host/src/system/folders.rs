//! The folders of the guard's files.

use super::os;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folders of the guard's files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// `~/.config/reflex`
    pub config: PathBuf,
    /// `~/.local/state/reflex`
    pub state: PathBuf,
    /// `~/.cache/reflex`
    pub cache: PathBuf,
    /// `~/.local/share/reflex-guard`, for the program that hook entries name. The web framework of the same name keeps
    /// its tools in `~/.local/share/reflex`.
    pub program: PathBuf,
    /// The folders that the environment would select, if they differ from these.
    pub elsewhere: Vec<PathBuf>,
    /// Whether only the environment names the home, which the parent process may have forged.
    unproven: bool,
}

/// The home from the command line's `--home`.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// The home from `--home`, which must be passed on to child processes too.
pub fn chosen_home() -> Option<&'static Path> {
    CHOSEN.get().map(PathBuf::as_path)
}

impl Folders {
    /// Deletes the guard's data: the audit log, approvals, backups and caches. A person's own rules stay.
    ///
    /// # Errors
    /// The folder that cannot be deleted, and the reason.
    pub fn purge(&self) -> Result<(), String> {
        for folder in [&self.state, &self.cache] {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(format!("{}: {error}", folder.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The folders below the home from `--home`.
    pub(super) fn at(home: PathBuf) -> Folders {
        let _ = CHOSEN.set(home);
        Folders::of_user()
    }

    /// The folders below the home from `--home`, else below that of the user database. An agent or a repository may
    /// have set the environment of a hook, so `HOME` counts only if neither names a home, and `XDG_*` never counts.
    pub fn of_user() -> Folders {
        let mut folders = Folders::below(home());
        folders.unproven = proven_home().is_none();
        folders.elsewhere = folders.named_by_environment();
        folders
    }

    /// The default folders below a home.
    pub fn below(home: PathBuf) -> Folders {
        Folders {
            config: home.join(".config/reflex"),
            state: home.join(".local/state/reflex"),
            cache: home.join(".cache/reflex"),
            program: home.join(".local/share/reflex-guard"),
            home,
            elsewhere: Vec::new(),
            unproven: false,
        }
    }

    /// Whether only the environment names the home. Files below it may tighten but not loosen.
    pub fn may_only_tighten(&self) -> bool {
        self.unproven
    }

    fn named_by_environment(&self) -> Vec<PathBuf> {
        let home = environment("HOME").unwrap_or_else(|| self.home.clone());
        let folder =
            |variable: &str, usual: &str| environment(variable).unwrap_or_else(|| home.join(usual)).join("reflex");
        let named = [
            (folder("XDG_CONFIG_HOME", ".config"), &self.config),
            (folder("XDG_STATE_HOME", ".local/state"), &self.state),
            (folder("XDG_CACHE_HOME", ".cache"), &self.cache),
        ];
        named.into_iter().filter(|(named, proven)| named != *proven).map(|(named, _)| named).collect()
    }
}

/// The user's home: that of `--home`, else that of the user database, else that of the environment.
pub(crate) fn home() -> PathBuf {
    proven_home().or_else(|| environment("HOME")).unwrap_or_else(|| "/".into())
}

/// The home below which agents keep their settings: that of `--home`, else that of the environment, which agents use
/// too.
pub(crate) fn home_of_agents() -> PathBuf {
    CHOSEN.get().cloned().or_else(|| environment("HOME")).unwrap_or_else(home)
}

/// Whether the user's home is this folder or lies below it, also if a link names one of them. Such a folder is not a
/// project: its settings are the user's.
pub fn contains_home(folder: &Path) -> bool {
    let folder = real(folder);
    [home(), home_of_agents()].iter().any(|home| real(home).starts_with(&folder))
}

/// The path without links; the path as it is if it does not exist.
pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn proven_home() -> Option<PathBuf> {
    CHOSEN.get().cloned().or_else(home_in_user_database)
}

/// The absolute path in an environment variable.
fn environment(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|path: &OsString| Path::new(path).is_absolute()).map(PathBuf::from)
}

/// The home of this user in the system's user database.
fn home_in_user_database() -> Option<PathBuf> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    HOME.get_or_init(|| os::home_of_user().filter(|home| home.is_absolute())).clone()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;
    use crate::store::Store;
    use crate::store::pause::Pause;
    use std::fs;

    #[test]
    fn a_home_that_only_the_environment_names_loosens_nothing() {
        let home = std::env::temp_dir().join(format!("reflex-unproven-{}", std::process::id()));
        let mut folders = Folders::below(home.clone());
        let pause = Pause { until: u64::MAX, reason: "x".into(), by: "x".into(), within: String::new() };
        let until = crate::system::clock::now() + 60_000;
        let store = Store::new(&folders);
        let unsigned = store.signer(|| None).unwrap();
        store.begin_pause(&Pause { until, ..pause }, &unsigned).unwrap();
        assert!(Store::new(&folders).pause().is_some());
        folders.unproven = true;
        assert!(Store::new(&folders).pause().is_none());
        fs::remove_dir_all(&home).unwrap();
    }
}
