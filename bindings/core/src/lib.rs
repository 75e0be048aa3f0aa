//! The rule engine and the judgement with JSON at their border, as the packages for Node.js and Python call it.
//!
//! Values cross the border as JSON text, because both runtimes parse it natively faster than they build objects one
//! field at a time through their C interfaces. There is no global state, and no file is read that the caller did not
//! name.
//!
//! ```
//! use reflex_bindings::{Engine, core_rules};
//!
//! let engine = Engine::new(r#"{"allowed_roots": "/home/user/project"}"#).unwrap();
//! engine.add_rules(&core_rules()).unwrap();
//! assert!(!engine.is_allowed(r#"{"event": "bash_command", "command": "rm -rf /"}"#).unwrap());
//! ```

mod commands;
mod error;
mod judge;
mod rule;

pub use commands::parse;
pub use error::{Code, Error};
pub use judge::judge;

use reflex_rules::{EvaluationResult, Level, Problem, ReflexConfig, Rule, RuleEngine, load_rule_directory};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// A [`RuleEngine`] that threads may share: evaluations run in parallel, changes exclude them.
pub struct Engine {
    rules: RwLock<RuleEngine>,
}

impl Engine {
    /// Creates an engine without rules. `variables` is a JSON object of texts and lists of texts.
    ///
    /// # Errors
    /// `variables` has another form.
    pub fn new(variables: &str) -> Result<Engine, Error> {
        let variables = object(variables, "variables")?;
        let values = variables.iter().map(|(key, value)| Ok((key.clone(), texts(value, key)?)));
        let rules = RuleEngine::new(values.collect::<Result<Vec<_>, Error>>()?);
        Ok(Engine { rules: RwLock::new(rules) })
    }

    /// Adds a rule, given as a JSON object.
    ///
    /// # Errors
    /// The rule is invalid; the engine is unchanged.
    pub fn add_rule(&self, rule: &str) -> Result<(), Error> {
        self.add_rules(&format!("[{rule}]"))
    }

    /// Adds rules, given as a JSON list. All are added, or none.
    ///
    /// # Errors
    /// A rule is invalid.
    pub fn add_rules(&self, rules: &str) -> Result<(), Error> {
        let listed: Vec<Value> = serde_json::from_str(rules).map_err(|error| Error::json("rules", &error))?;
        let mut parsed = Vec::with_capacity(listed.len());
        for value in &listed {
            parsed.push(rule::from_json(value)?);
        }
        let mut engine = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        // A rule may be invalid with the variables that are set, which only the engine knows.
        let mut checked = engine.clone();
        for rule in parsed {
            checked.add_rule(rule).map_err(|error| Error::rule(error.to_string()))?;
        }
        *engine = checked;
        Ok(())
    }

    /// Sets a variable to a JSON text or list of texts.
    ///
    /// # Errors
    /// The value has another form, or a rule is invalid with it; the variable is unchanged.
    pub fn set_variable(&self, key: &str, value: &str) -> Result<(), Error> {
        let value: Value = serde_json::from_str(value).map_err(|error| Error::json(key, &error))?;
        let mut engine = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        engine.set_variable(key, texts(&value, key)?).map_err(|error| Error::rule(error.to_string()))
    }

    /// Returns the rules that fire on an event, as a JSON list in the order of addition.
    ///
    /// # Errors
    /// The event is not a JSON object.
    pub fn evaluate(&self, event: &str) -> Result<String, Error> {
        let event = object(event, "event")?;
        let engine = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        Ok(shown(&engine.evaluate(&event)))
    }

    /// Returns the rules that fire with the action `block`.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub fn get_blocks(&self, event: &str) -> Result<String, Error> {
        let event = object(event, "event")?;
        let engine = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        Ok(shown(&engine.get_blocks(&event)))
    }

    /// Returns whether no rule blocks the event.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub fn is_allowed(&self, event: &str) -> Result<bool, Error> {
        let event = object(event, "event")?;
        let engine = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        Ok(engine.is_allowed(&event))
    }
}

/// Returns the rules of the core tier as a JSON list.
pub fn core_rules() -> String {
    list(&reflex_rules::core_rules())
}

/// Returns the rule of a file as a JSON object.
///
/// # Errors
/// The file cannot be read, is invalid, or does not contain exactly one rule.
pub fn load_rule_file(path: &str) -> Result<String, Error> {
    let rules = reflex_rules::load_rule_file(path).map_err(|problems| Error::problems(&problems))?;
    match rules.as_slice() {
        [rule] => Ok(rule::to_json(rule).to_string()),
        rules => Err(Error::new(
            Code::InvalidRule,
            format!("{path} contains {} rules; load its folder with loadRuleDirectory", rules.len()),
        )),
    }
}

/// Returns the rules of all `.yaml` and `.yml` files below a folder as a JSON list. `config` is a `ReflexConfig` as
/// JSON. Rules in `disabled_rules` are returned with `enabled: false`, unless their tier or `override` forbids it.
///
/// # Errors
/// A folder cannot be listed or a file is invalid: a rule that is missing without notice would not protect anything.
pub fn load_rules(folder: &str, config: &str) -> Result<String, Error> {
    let config = object(config, "config")?;
    let named = |key: &str| config.get(key).map_or(Ok(Vec::new()), |value| texts(value, key));
    let folders = ReflexConfig {
        rule_dirs: named("rule_dirs")?.into_iter().map(PathBuf::from).collect(),
        ..ReflexConfig::default()
    };
    let (mut rules, problems) = load_rule_directory(Path::new(folder), Some(&folders));
    let errors: Vec<Problem> = problems.into_iter().filter(|problem| problem.level == Level::Error).collect();
    if !errors.is_empty() {
        return Err(Error::problems(&errors));
    }
    let disabled = named("disabled_rules")?;
    for rule in rules.iter_mut().filter(|rule| disabled.contains(&rule.name) && rule.may_be_disabled()) {
        rule.enabled = false;
    }
    Ok(list(&rules))
}

fn list(rules: &[Rule]) -> String {
    Value::Array(rules.iter().map(rule::to_json).collect()).to_string()
}

/// The results in the form of `@fozikio/reflex`.
fn shown(results: &[EvaluationResult]) -> String {
    let one = |result: &EvaluationResult| {
        json!({
            "rule": result.rule.name, "triggered": true, "action": result.action, "severity": result.severity.name(),
            "message": result.message, "matched_conditions": result.matched_conditions,
        })
    };
    Value::Array(results.iter().map(one).collect()).to_string()
}

fn object(text: &str, name: &str) -> Result<Map<String, Value>, Error> {
    match serde_json::from_str(text).map_err(|error| Error::json(name, &error))? {
        Value::Object(map) => Ok(map),
        Value::Null if name != "event" => Ok(Map::new()),
        _ => Err(Error::new(Code::InvalidArgument, format!("`{name}` is not an object"))),
    }
}

/// A text or a list of texts.
fn texts(value: &Value, name: &str) -> Result<Vec<String>, Error> {
    let wrong = || Error::new(Code::InvalidArgument, format!("`{name}` is neither a text nor a list of texts"));
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(all) => {
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>().ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}
