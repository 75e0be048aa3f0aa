//! Insertion into maps without duplicate keys and empty values.

use crate::compile::error::SourceError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn once(map: &mut BTreeMap<String, Value>, name: String, value: Value) -> Result<(), SourceError> {
    match map.insert(name.clone(), value) {
        Some(_) => Err(SourceError::Twice(name)),
        None => Ok(()),
    }
}

pub(super) fn put(node: &mut Map<String, Value>, key: &str, value: Value) {
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !empty {
        node.insert(key.into(), value);
    }
}
