//! JSON texts with comments: reading their values, and building values to insert.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// Parses a JSON text with comments.
pub(crate) fn value(text: &str) -> Option<Value> {
    value_of(&CstRootNode::parse(text, &ParseOptions::default()).ok()?.value()?)
}

/// Returns whether a top-level key of a JSON object is true.
pub(crate) fn is_true(text: &str, key: &str) -> bool {
    flag(text, key) == Some(true)
}

/// Returns the boolean value of a top-level key of a JSON object.
pub(crate) fn flag(text: &str, key: &str) -> Option<bool> {
    value(text)?.get(key)?.as_bool()
}

/// Returns the value of a syntax node, ignoring comments.
fn value_of(node: &CstNode) -> Option<Value> {
    if let Some(object) = node.as_object() {
        return value_of_object(&object).map(Value::Object);
    }
    if let Some(list) = node.as_array() {
        return list.elements().iter().map(value_of).collect::<Option<Vec<Value>>>().map(Value::Array);
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(Value::String);
    }
    serde_json::from_str(&node.to_string()).ok()
}

pub(super) fn value_of_object(object: &CstObject) -> Option<Map<String, Value>> {
    let value = |property: &jsonc_parser::cst::CstObjectProp| {
        Some((property.name()?.decoded_value().ok()?, value_of(&property.value()?)?))
    };
    object.properties().iter().map(value).collect()
}

pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
