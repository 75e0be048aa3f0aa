//! The native part of the npm package: each function takes and returns JSON text. `index.js` gives it its interface.

#![expect(clippy::needless_pass_by_value, reason = "arguments of exported functions are owned")]

use napi::bindgen_prelude::{AsyncTask, Env, Error, Result, Status, Task};
use napi_derive::napi;
use reflex_bindings as core;
use serde_json::json;

/// The rule engine.
#[napi]
pub struct Engine {
    engine: core::Engine,
}

#[napi]
impl Engine {
    /// Creates an engine without rules.
    #[napi(constructor)]
    pub fn new(variables: String) -> Result<Engine> {
        Ok(Engine { engine: core::Engine::new(&variables).map_err(thrown)? })
    }

    /// Adds rules, all or none.
    #[napi]
    pub fn add_rules(&self, rules: String) -> Result<()> {
        self.engine.add_rules(&rules).map_err(thrown)
    }

    /// Sets a variable.
    #[napi]
    pub fn set_variable(&self, key: String, value: String) -> Result<()> {
        self.engine.set_variable(&key, &value).map_err(thrown)
    }

    /// Returns the rules that fire.
    #[napi]
    pub fn evaluate(&self, event: String) -> Result<String> {
        self.engine.evaluate(&event).map_err(thrown)
    }

    /// Returns the rules that fire with the action `block`.
    #[napi]
    pub fn get_blocks(&self, event: String) -> Result<String> {
        self.engine.get_blocks(&event).map_err(thrown)
    }

    /// Returns whether no rule blocks.
    #[napi]
    pub fn is_allowed(&self, event: String) -> Result<bool> {
        self.engine.is_allowed(&event).map_err(thrown)
    }
}

/// Returns the rules of the core tier.
#[napi]
pub fn core_rules() -> String {
    core::core_rules()
}

/// Returns the verdict on an event.
#[napi]
pub fn judge(event: String, mode: String, home: String) -> Result<String> {
    core::judge(&event, &mode, &home).map_err(thrown)
}

/// Returns the commands and effects of a shell text.
#[napi]
pub fn parse(command: String, cwd: String) -> String {
    core::parse(&command, &cwd)
}

/// Files of rules, read on a thread of Node's pool.
pub struct Load {
    path: String,
    config: Option<String>,
}

impl Task for Load {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        match &self.config {
            Some(config) => core::load_rules(&self.path, config).map_err(thrown),
            None => core::load_rule_file(&self.path).map_err(thrown),
        }
    }

    fn resolve(&mut self, _env: Env, rules: String) -> Result<String> {
        Ok(rules)
    }
}

/// Loads the rule of a file; with a configuration, the rules of a folder.
#[napi]
pub fn load(path: String, config: Option<String>) -> AsyncTask<Load> {
    AsyncTask::new(Load { path, config })
}

/// An exception whose message is the error as JSON; `index.js` turns it into an `Error` with `code`, `file` and `line`.
fn thrown(error: core::Error) -> Error {
    let core::Error { code, message, file, line } = error;
    let text = json!({"code": code.name(), "message": message, "file": file, "line": line});
    Error::new(Status::GenericFailure, text.to_string())
}
