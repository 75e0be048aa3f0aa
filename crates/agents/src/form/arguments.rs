//! A call's arguments, under any of the keys that clients use.

use crate::json::object;
use serde_json::{Map, Value};

const INPUTS: [&str; 11] = [
    "tool_input",
    "toolInput",
    "toolArgs",
    "tool_args",
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "tool_arguments",
    "toolParameters",
];

pub(crate) const WRAPPERS: [&str; 6] = ["toolCall", "tool_call", "preToolUse", "postToolUse", "toolUse", "tool_use"];

/// Returns whether a payload describes a call, under any known key.
pub(crate) fn has_call(fields: &Map<String, Value>) -> bool {
    let named = ["tool_name", "toolName", "functionName"].iter().any(|key| fields.contains_key(*key));
    named || WRAPPERS.iter().any(|key| fields.get(*key).is_some_and(Value::is_object)) || input(fields).is_some()
}

/// Returns a call's arguments, under any known key: an object, or an object encoded as a string.
pub(crate) fn input(fields: &Map<String, Value>) -> Option<&Value> {
    INPUTS.iter().find_map(|key| fields.get(*key).filter(|value| !value.is_null()))
}

/// Parses an object encoded as a string. `None` for any other value.
pub(crate) fn written(value: &Value) -> Option<Map<String, Value>> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with('{'))?;
    object(text.as_bytes()).ok()
}
