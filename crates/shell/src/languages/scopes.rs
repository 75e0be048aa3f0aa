//! The files of code that a text has loaded, each with its own names.

use super::datum::{Names, ScriptValue};
use crate::model::value::Origin;
use std::rc::Rc;

/// The files that a text has loaded, and in which we are.
#[derive(Default)]
pub(super) struct Modules {
    /// The file of the text that is walked; empty if it stands in none.
    pub(super) path: Rc<str>,
    /// Whose names count: the place in `scopes`; 0 is the text itself.
    pub(super) current: usize,
    pub(super) scopes: Vec<Scope>,
    /// What each file exports.
    pub(super) loaded: Vec<(String, ScriptValue)>,
}

/// The names of a module, and the origin of what it does.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) names: Names,
    pub(super) origin: Origin,
    pub(super) path: Rc<str>,
}

impl Modules {
    /// Before anything is loaded by the text of a file.
    pub(super) fn of(path: &str) -> Modules {
        Modules { path: path.into(), ..Modules::default() }
    }
}
