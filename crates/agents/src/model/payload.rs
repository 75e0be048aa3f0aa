//! The payload that an agent passes to a hook.

use serde_json::{Map, Value};

/// One payload with its context.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    /// The object on standard input.
    pub fields: &'a Map<String, Value>,
    /// The event name given on the command line, if any.
    pub event_name: Option<&'a str>,
    /// The environment of the hook.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Payload<'_> {
    /// Returns whether the object has this key at the top level. Nested keys are an agent's arguments and identify no
    /// agent.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Returns whether the environment has this variable.
    pub(crate) fn is_set(&self, variable: &str) -> bool {
        (self.variable)(variable).is_some()
    }
}
