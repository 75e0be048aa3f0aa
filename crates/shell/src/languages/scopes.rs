//! The files of code that a script has loaded, each with its own names.

use super::datum::{Names, ScriptValue};
use crate::model::value::Origin;
use std::rc::Rc;

/// The loaded files, and the one being walked.
#[derive(Default)]
pub(super) struct Modules {
    /// Path of the script; empty if the text is not from a file.
    pub(super) path: Rc<str>,
    /// Index in `scopes` of the module being walked; 0 is the script itself.
    pub(super) current: usize,
    pub(super) scopes: Vec<Scope>,
    /// The exports of each loaded file, by path.
    pub(super) loaded: Vec<(String, ScriptValue)>,
}

/// The names of a module, and the origin of its effects.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) names: Names,
    pub(super) origin: Origin,
    pub(super) path: Rc<str>,
}

impl Modules {
    /// Returns the state of a script before it loads any file.
    pub(super) fn of(path: &str) -> Modules {
        Modules { path: path.into(), ..Modules::default() }
    }
}
