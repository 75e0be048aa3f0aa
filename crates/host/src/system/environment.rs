//! The environment variables of the process for which a guard works.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// Environment variables: by default those of this process, as they are at the time of a question.
#[derive(Debug, Clone, Default)]
pub struct Environment(Option<Arc<BTreeMap<String, String>>>);

impl Environment {
    /// These variables and no others.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Environment {
        Environment(Some(Arc::new(variables.into_iter().collect())))
    }

    /// The value of a variable; `None` if it is not set or not UTF-8.
    pub fn get(&self, name: &str) -> Option<String> {
        self.get_os(name)?.into_string().ok()
    }

    /// The value of a variable, in any encoding.
    pub(crate) fn get_os(&self, name: &str) -> Option<OsString> {
        match &self.0 {
            Some(variables) => variables.get(name).map(OsString::from),
            None => std::env::var_os(name),
        }
    }

    /// The names of all variables.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.0 {
            Some(variables) => variables.keys().cloned().collect(),
            None => std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
        }
    }
}
