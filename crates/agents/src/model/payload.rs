//! What an agent hands to a hook.

use serde_json::{Map, Value};

/// One payload with what surrounds it.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    /// The object on standard input.
    pub fields: &'a Map<String, Value>,
    /// The agent's word for the moment, where the command line gives it.
    pub told: Option<&'a str>,
    /// The environment of the hook.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Payload<'_> {
    /// Whether the object has this key at its top. Keys further down are an agent's arguments and prove nothing.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Whether the environment has this variable.
    pub(crate) fn is_set(&self, variable: &str) -> bool {
        (self.variable)(variable).is_some()
    }
}
