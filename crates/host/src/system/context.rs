//! The home, the key, the variables and the callback of one guard.

use super::environment::Environment;
use super::folders::Folders;
use std::fmt;
use std::path::PathBuf;

/// Whom a guard works for, and how: its home, the key of its hook entry, the variables, and whom to warn before a wait.
///
/// It is made once and passed down, so that two guards with two homes can work in one process.
#[derive(Debug, Clone)]
pub struct Context {
    folders: Folders,
    /// The key that the hook entry names.
    key: Option<String>,
    environment: Environment,
    /// Called before an operation that may take this number of seconds, which a person configured.
    patience: fn(u64),
}

/// The path from `--home` is not absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeHome(PathBuf);

impl fmt::Display for RelativeHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`--home` needs an absolute path, not `{}`", self.0.display())
    }
}

impl std::error::Error for RelativeHome {}

impl Context {
    /// The context without `--home`: the home of this user in the user database.
    pub fn of_user() -> Context {
        Context::new(Folders::of_user())
    }

    /// The context with this home, for `--home`.
    ///
    /// # Errors
    /// The path is not absolute.
    pub fn at_home(home: impl Into<PathBuf>) -> Result<Context, RelativeHome> {
        let home = home.into();
        if home.is_absolute() { Ok(Context::new(Folders::at(home))) } else { Err(RelativeHome(home)) }
    }

    fn new(folders: Folders) -> Context {
        Context { folders, key: None, environment: Environment::default(), patience: |_| () }
    }

    /// The same, with the key that the hook entry names. It is only compared with the key in force, because an entry in
    /// a project may name a key too.
    #[must_use]
    pub fn with_key(self, key: &str) -> Context {
        Context { key: Some(key.to_owned()), ..self }
    }

    /// The same for a process with these variables. They never name the home.
    #[must_use]
    pub fn in_environment(self, environment: Environment) -> Context {
        Context { folders: self.folders.beside(&environment), environment, ..self }
    }

    /// The same, with a callback before each operation that may take some seconds.
    #[must_use]
    pub fn patient(self, patience: fn(u64)) -> Context {
        Context { patience, ..self }
    }

    /// The folders of the guard's files.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// The variables of the process for which the guard works.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The key that the hook entry names.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Announces an operation that may take this number of seconds.
    pub(crate) fn wait_for(&self, seconds: u64) {
        (self.patience)(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::Context;

    #[test]
    fn a_home_is_an_absolute_path() {
        assert!(Context::at_home("/home/me").is_ok());
        let error = Context::at_home("me").expect_err("a relative path").to_string();
        assert_eq!(error, "`--home` needs an absolute path, not `me`");
    }
}
