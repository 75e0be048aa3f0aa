//! Compares a tree with the views of its readers before it is written.

use crate::view::{Form, View};
use serde_json::{Map, Value};

type Fields = &'static [(&'static str, Form)];

/// Checks that a view's readers know every key of a tree and can read its value.
///
/// # Errors
/// The first key that no view declares, or the first value of another form, with its place in the tree.
pub fn check<'a, V: View<'a>>(tree: &Value) -> Result<(), Mismatch> {
    compare(tree, V::FORM)
}

/// A place of a tree that its readers cannot read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {flaw}", keys.iter().rev().map(String::as_str).collect::<Vec<_>>().join("/"))]
pub struct Mismatch {
    /// The keys that lead to it, innermost first.
    keys: Vec<String>,
    flaw: Flaw,
}

/// The reason why a value cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Flaw {
    /// No view declares this key.
    #[error("the key `{0}` is unknown")]
    UnknownKey(String),
    /// The value has another form than the one that its view declares.
    #[error("{expected} is expected, not `{found}`")]
    OtherForm {
        /// The form, as a noun.
        expected: &'static str,
        /// The value, as JSON.
        found: String,
    },
}

impl Mismatch {
    fn new(flaw: Flaw) -> Mismatch {
        Mismatch { keys: Vec::new(), flaw }
    }

    fn below(mut self, key: impl ToString) -> Mismatch {
        self.keys.push(key.to_string());
        self
    }
}

fn compare(value: &Value, form: Form) -> Result<(), Mismatch> {
    match (form, value) {
        (Form::Any, _)
        | (_, Value::Null)
        | (Form::Flag, Value::Bool(_))
        | (Form::Number, Value::Number(_))
        | (Form::Text, Value::String(_)) => Ok(()),
        (Form::List(item), Value::Array(items)) => {
            items.iter().enumerate().try_for_each(|(at, one)| compare(one, item()).map_err(|below| below.below(at)))
        }
        (Form::List(item), single) => compare(single, item()),
        (Form::Map(of_each), Value::Object(map)) => {
            map.iter().try_for_each(|(key, one)| compare(one, of_each()).map_err(|below| below.below(key)))
        }
        (Form::Record(fields), Value::Object(map)) => compare_fields(map, fields()),
        (form, other) => Err(Mismatch::new(Flaw::OtherForm { expected: form_name(form), found: other.to_string() })),
    }
}

fn compare_fields(map: &Map<String, Value>, fields: Fields) -> Result<(), Mismatch> {
    map.iter().try_for_each(|(key, value)| match form_of(key, fields) {
        Some(form) => compare(value, form).map_err(|below| below.below(key)),
        None => Err(Mismatch::new(Flaw::UnknownKey(key.clone()))),
    })
}

/// The form of a key's value, also if a part declares the key.
fn form_of(key: &str, fields: Fields) -> Option<Form> {
    fields.iter().find_map(|(name, form)| match (*name, *form) {
        ("", Form::Record(part)) => form_of(key, part()),
        (name, form) => (name == key).then_some(form),
    })
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Any => "any value",
        Form::Flag => "`true` or `false`",
        Form::Number => "a number",
        Form::Text => "a text",
        Form::List(_) => "a list",
        Form::Map(_) | Form::Record(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::views::{Program, Rule};
    use serde_json::json;

    #[test]
    fn a_key_that_is_read_is_accepted_and_another_refused() {
        assert_eq!(check::<Rule<'_>>(&json!({"id": "rm/home", "confidence": 90, "when": {"x": [1]}})), Ok(()));
        let program = json!({"commands": {"push": {"effects": [{"do": "delete", "when": "force", "fitting": []}]}}});
        assert_eq!(check::<Program<'_>>(&program), Ok(()));
        let program = json!({"commands": {"push": {"effects": [{"do": "delete"}, {"do": "move", "wehn": ["force"]}]}}});
        let unknown = "commands/push/effects/1: the key `wehn` is unknown";
        assert_eq!(check::<Program<'_>>(&program).unwrap_err().to_string(), unknown);
        let program = json!({"leading": "2"});
        let other = "leading: a number is expected, not `\"2\"`";
        assert_eq!(check::<Program<'_>>(&program).unwrap_err().to_string(), other);
    }
}
