//! Places at which programs take a password: an entry of `library/logins`.

use super::map::put;
use crate::compile::error::{EntryError, SourceError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The position of a password in a command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    pub(super) programs: Vec<String>,
    /// Words of which one must be present for the entry to apply.
    #[serde(default)]
    with: Vec<String>,
    /// Options whose value is the password.
    #[serde(default)]
    options: Vec<String>,
    /// Whether the value must be joined to its option; a separate word is not the password.
    #[serde(default)]
    joined: bool,
    /// Position of the password among the operands, counted from the end: 1 is the last operand. …
    #[serde(default)]
    last: u32,
    /// … and the number of operands required for that.
    #[serde(default)]
    of: u32,
    /// Whether the program reads the password from standard input.
    #[serde(default)]
    input: bool,
    /// Separator between a user name and the password.
    #[serde(default)]
    sign: String,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    takes: Vec<Value>,
    #[serde(default)]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<String>,
}

impl Login {
    pub(super) fn lower(&self) -> Result<Value, SourceError> {
        if self.options.is_empty() && self.last == 0 && !self.input {
            let ways = EntryError::OneOf("`options`, `last` and `input`");
            return Err(SourceError::in_entry(&self.programs.join(" "), ways));
        }
        let mut node = Map::new();
        put(&mut node, "with", json!(self.with));
        put(&mut node, "options", json!(self.options));
        put(&mut node, "joined", Some(self.joined).filter(|joined| *joined).map_or(Value::Null, Value::from));
        put(&mut node, "last", Some(self.last).filter(|last| *last > 0).map_or(Value::Null, Value::from));
        put(&mut node, "of", Some(self.of).filter(|of| *of > 0).map_or(Value::Null, Value::from));
        put(&mut node, "input", Some(self.input).filter(|input| *input).map_or(Value::Null, Value::from));
        put(
            &mut node,
            "sign",
            Some(&self.sign).filter(|sign| !sign.is_empty()).map_or(Value::Null, |sign| json!(sign)),
        );
        Ok(Value::Object(node))
    }
}
