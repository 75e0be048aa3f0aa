//! `watch` of a policy: the files that a watched run loses.

use crate::problem::{Level, Problems};
use crate::yaml::Located;
use serde_json::{Map, Value};

/// The keys of `watch`.
const WATCH: [&str; 1] = ["full"];

/// The answers to a change whose file cannot be kept, because the disk is full.
pub(crate) const FULL: [&str; 2] = ["continue", "refuse"];

/// Compiles `watch: {full: refuse}`.
pub(crate) fn watch_of(value: &Located, problems: &mut Problems<'_>) -> Value {
    let mut node = Map::new();
    for (key, value) in value.entries().unwrap_or(&[]) {
        let text = value.text().unwrap_or_default();
        match key.text.as_str() {
            "full" if FULL.contains(&text.as_str()) => drop(node.insert("full".into(), text.into())),
            "full" => problems.unknown(Level::Error, &value.span, ("answer", &text), &FULL),
            other => problems.unknown(Level::Error, &key.span, ("key of `watch`", other), &WATCH),
        }
    }
    Value::Object(node)
}
