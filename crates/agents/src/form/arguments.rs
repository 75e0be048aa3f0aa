//! A call's arguments, under whatever name clients send them.

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

/// Whether a payload tells of a call, under whatever name.
pub(crate) fn has_call(fields: &Map<String, Value>) -> bool {
    let named = ["tool_name", "toolName", "functionName"].iter().any(|key| fields.contains_key(*key));
    named || WRAPPERS.iter().any(|key| fields.get(*key).is_some_and(Value::is_object)) || input(fields).is_some()
}

/// A call's arguments, under whatever name: an object, or one that is written as a text.
pub(crate) fn input(fields: &Map<String, Value>) -> Option<&Value> {
    INPUTS.iter().find_map(|key| fields.get(*key).filter(|value| !value.is_null()))
}

/// The object that a text holds, where it is one.
pub(crate) fn written(value: &Value) -> Option<Map<String, Value>> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with('{'))?;
    object(text.as_bytes()).ok()
}
