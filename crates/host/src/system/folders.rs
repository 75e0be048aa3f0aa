//! The folders of the guard's files.

use super::environment::Environment;
use super::os;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder with the guard's data cannot be deleted.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", folder.display())]
pub struct PurgeError {
    /// Its path.
    pub folder: PathBuf,
    /// The reason.
    pub source: std::io::Error,
}

/// The folders of the guard's files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The user's home: that of `--home`, else that of the user database, else that of the environment.
    pub home: PathBuf,
    /// The home below which agents keep their settings: that of `--home`, else that of the environment, which agents
    /// use too.
    pub home_of_agents: PathBuf,
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
    source: Source,
}

/// The source of the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// `--home` on the command line.
    CommandLine,
    UserDatabase,
    /// Only the environment, which the parent process may have forged.
    Environment,
}

impl Folders {
    /// Deletes the guard's data: the audit log, approvals, backups and caches. A person's own rules stay.
    ///
    /// # Errors
    /// The folder that cannot be deleted, and the reason.
    pub fn purge(&self) -> Result<(), PurgeError> {
        for folder in [&self.state, &self.cache] {
            match std::fs::remove_dir_all(folder) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(PurgeError { folder: folder.clone(), source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The folders below the home from `--home`.
    pub(super) fn at(home: PathBuf) -> Folders {
        Folders::below(home).beside(&Environment::default())
    }

    /// The folders below the home in the user database. An agent or a repository may have set the environment of a hook,
    /// so `HOME` counts only if the database names no home, and `XDG_*` never counts.
    pub(super) fn of_user() -> Folders {
        let environment = Environment::default();
        let (proven, named) = (home_in_user_database(), path_in(&environment, "HOME"));
        let source = if proven.is_some() { Source::UserDatabase } else { Source::Environment };
        let home = proven.or_else(|| named.clone()).unwrap_or_else(|| "/".into());
        let home_of_agents = named.unwrap_or_else(|| home.clone());
        Folders { home_of_agents, source, ..Folders::below(home) }.beside(&environment)
    }

    /// The default folders below a home that the command line names.
    pub(crate) fn below(home: PathBuf) -> Folders {
        Folders {
            config: home.join(".config/reflex"),
            state: home.join(".local/state/reflex"),
            cache: home.join(".cache/reflex"),
            program: home.join(".local/share/reflex-guard"),
            home_of_agents: home.clone(),
            home,
            elsewhere: Vec::new(),
            source: Source::CommandLine,
        }
    }

    /// The home from `--home`, which must be passed on to child processes too.
    pub fn chosen_home(&self) -> Option<&Path> {
        (self.source == Source::CommandLine).then_some(self.home.as_path())
    }

    /// Whether the user's home is this folder or lies below it, also if a link names one of them. Such a folder is not a
    /// project: its settings are the user's.
    pub fn is_home_within(&self, folder: &Path) -> bool {
        let folder = real(folder);
        [&self.home, &self.home_of_agents].iter().any(|home| real(home).starts_with(&folder))
    }

    /// Whether only the environment names the home. Files below it may tighten but not loosen.
    pub fn may_only_tighten(&self) -> bool {
        self.source == Source::Environment
    }

    /// The same, with the folders that the environment would select.
    pub(super) fn beside(self, environment: &Environment) -> Folders {
        Folders { elsewhere: self.named_by(environment), ..self }
    }

    fn named_by(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = path_in(environment, "HOME").unwrap_or_else(|| self.home.clone());
        let folder = |variable: &str, usual: &str| {
            path_in(environment, variable).unwrap_or_else(|| home.join(usual)).join("reflex")
        };
        let named = [
            (folder("XDG_CONFIG_HOME", ".config"), &self.config),
            (folder("XDG_STATE_HOME", ".local/state"), &self.state),
            (folder("XDG_CACHE_HOME", ".cache"), &self.cache),
        ];
        named.into_iter().filter(|(named, proven)| named != *proven).map(|(named, _)| named).collect()
    }
}

/// The path without links; the path as it is if it does not exist.
pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The absolute path in an environment variable.
fn path_in(environment: &Environment, variable: &str) -> Option<PathBuf> {
    environment.get_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The home of this user in the system's user database. It is the same for every guard of this process.
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
        folders.source = Source::Environment;
        assert!(Store::new(&folders).pause().is_none());
        fs::remove_dir_all(&home).unwrap();
    }
}
