//! Where programs take a password: an entry of `library/logins`.

use super::map::put;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A place of a command where a password stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    pub(super) programs: Vec<String>,
    /// One of these words is there too, or the place is another one.
    #[serde(default)]
    with: Vec<String>,
    /// Options whose value it is.
    #[serde(default)]
    options: Vec<String>,
    /// The value is joined to its option, and what stands apart is something else.
    #[serde(default)]
    joined: bool,
    /// It is the last operand (1), the one before (2), …
    #[serde(default)]
    last: u32,
    /// … if there are so many.
    #[serde(default)]
    of: u32,
    /// The program reads it.
    #[serde(default)]
    input: bool,
    /// Before it stands the name of a user and this sign.
    #[serde(default)]
    sign: String,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    takes: Vec<Value>,
    #[serde(default)]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    quiet: Vec<String>,
}

impl Login {
    pub(super) fn lower(&self) -> Result<Value, String> {
        if self.options.is_empty() && self.last == 0 && !self.input {
            return Err(format!("{}: one of `options`, `last` and `input`", self.programs.join(" ")));
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
