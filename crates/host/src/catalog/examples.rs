//! Examples of a reflex: a call, facts about the machine, and the expected decision. They run on the real runtime in a
//! simulated world.

use super::context::{Seen, as_pattern, context};
use super::error::PackageError;
use super::package::{MANIFEST, Package};
use crate::config::Mode;
use crate::config::judge::judge;
use crate::system::fault::Fault;
use reflex_agents::{BadEvent, universal};
use reflex_engine::loopbreaker::{Step, finish};
use reflex_engine::{Event, FakeWorld, Files, Judgement, Moment, absolute, fits};
use reflex_script::schema::DECISIONS;
use reflex_script::{Call, Chain, Handler, Limits, Machine, MachineError, ModuleDecision, Outcome};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Default time of an example.
const NOON: &str = "2026-11-21T10:00:00.000Z";

/// Valid keys of an example.
const KEYS: [&str; 11] = ["about", "call", "says", "reason", "args", "with", "facts", "after", "at", "writes", "agent"];

/// One example.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Example {
    /// A command line, or a universal event.
    pub call: Value,
    /// `pass`, `deny`, `ask` or `modify`.
    pub says: String,
    /// Text that the reason contains.
    pub reason: String,
    /// The arguments that a `modify` changes.
    pub args: Option<Value>,
    /// The options.
    pub with: Option<Value>,
    /// Facts about the machine, as in `reflex eval`.
    pub facts: Option<Value>,
    /// Earlier calls of the session, each with its outcome.
    pub after: Vec<Value>,
    /// Time of the call.
    pub at: Option<String>,
    /// All files that the reflex writes.
    pub writes: Option<Value>,
    /// The agent.
    pub agent: Option<String>,
}

/// The result of running a reflex on a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Played {
    /// `pass`, `deny`, `ask` or `modify`.
    pub says: &'static str,
    /// The reason of the decision.
    pub reason: String,
    /// The arguments that a `modify` changes.
    pub args: Option<Value>,
    /// The reason for a missing decision.
    pub problem: Option<String>,
    /// Printed lines.
    pub printed: Vec<String>,
    /// Written files.
    pub writes: BTreeMap<String, String>,
    /// The context that the reflex received.
    pub context: Value,
}

/// Examples of a reflex are not valid.
#[derive(Debug, thiserror::Error)]
pub enum ExampleError {
    /// A file of them is not JSON.
    #[error("{file}: {source}")]
    Json {
        /// Its path in the package.
        file: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// This file of the package holds JSON of another kind.
    #[error("{0}: the examples are not a list")]
    NotList(String),
    /// One of them is not valid.
    #[error("{file}: example {number}: {source}")]
    Example {
        /// Its file.
        file: String,
        /// Its place in the list, from 1.
        number: usize,
        /// The reason.
        source: FieldError,
    },
}

/// A field of an example is not valid.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// The example has no fields.
    #[error("it is not an object")]
    NotObject,
    /// This field is not known.
    #[error("`{0}` is not known; known: {known}", known = KEYS.join(", "))]
    Unknown(String),
    /// This field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// This word is not a decision.
    #[error("`says` is `{0}`; known: {known}", known = DECISIONS.join(", "))]
    Decision(String),
}

/// A reflex cannot be run on a call.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The call has another form.
    #[error("a call is a command or an event")]
    NotCall,
    /// A field of the event is not valid.
    #[error(transparent)]
    Event(#[from] BadEvent),
    /// The reflex has no valid module.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl PlayError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            PlayError::NotCall | PlayError::Event(_) => Fault::Request,
            PlayError::Package(error) => error.fault(),
        }
    }
}

/// Returns the examples of a reflex: from its manifest, `examples.json` and every `*.examples.json`.
///
/// # Errors
/// An example is not valid.
pub fn examples(package: &Package) -> Result<Vec<Example>, ExampleError> {
    let declared = package.manifest.as_ref().and_then(|manifest| manifest.get("examples"));
    let mut examples = Vec::new();
    if let Some(declared) = declared {
        examples.extend(list(MANIFEST, declared)?);
    }
    let is_list = |path: &str| path == "examples.json" || path.ends_with(".examples.json");
    for (path, text) in package.files.iter().filter(|(path, _)| is_list(path)) {
        let value = serde_json::from_str(text);
        let value: Value = value.map_err(|source| ExampleError::Json { file: path.clone(), source })?;
        examples.extend(list(path, &value)?);
    }
    Ok(examples)
}

fn list(file: &str, value: &Value) -> Result<Vec<Example>, ExampleError> {
    let items = value.as_array().ok_or_else(|| ExampleError::NotList(file.to_owned()))?;
    let failed = |number, source| ExampleError::Example { file: file.to_owned(), number, source };
    (1..).zip(items).map(|(number, item)| example(item).map_err(|source| failed(number, source))).collect()
}

fn example(value: &Value) -> Result<Example, FieldError> {
    let map = value.as_object().ok_or(FieldError::NotObject)?;
    if let Some(unknown) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(FieldError::Unknown(unknown.clone()));
    }
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let says = text("says").ok_or(FieldError::Missing("says"))?;
    if !DECISIONS.contains(&says.as_str()) {
        return Err(FieldError::Decision(says));
    }
    Ok(Example {
        call: map.get("call").cloned().ok_or(FieldError::Missing("call"))?,
        says,
        reason: text("reason").unwrap_or_default(),
        args: map.get("args").cloned(),
        with: map.get("with").cloned(),
        facts: map.get("facts").cloned(),
        after: map.get("after").and_then(Value::as_array).cloned().unwrap_or_default(),
        at: text("at"),
        writes: map.get("writes").cloned(),
        agent: text("agent"),
    })
}

/// Runs a reflex on the call of an example.
///
/// # Errors
/// The reflex or the call is not valid.
pub fn play(package: &Package, example: &Example) -> Result<Played, PlayError> {
    let object = event_object(example)?;
    let event = universal::read(&object)?;
    let mut world = universal::supposed(&object, &event)?;
    world.past = session(example, &object)?;
    let machine = Arc::new(Pretended::new(&world, &event));
    let mut module = package.module()?;
    module.options = example.with.clone().unwrap_or(Value::Null);
    let (outcome, context) = asked(module.clone(), &event, &world, example, Arc::clone(&machine));
    let context = shown(&module, context);
    let writes = machine.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Played { writes, context, ..of_outcome(&outcome) })
}

/// The part of a context that a module receives.
fn shown(module: &reflex_script::Module, context: Value) -> Value {
    let Value::Object(mut fields) = context else { return context };
    fields.retain(|field, _| module.sees(field));
    if !module.options.is_null() && module.sees("options") {
        fields.insert("options".into(), module.options.clone());
    }
    Value::Object(fields)
}

fn asked(
    module: reflex_script::Module,
    event: &Event,
    world: &FakeWorld,
    example: &Example,
    machine: Arc<Pretended>,
) -> (Outcome, Value) {
    let judgement = judged_by_library(event, world);
    let raw = json!({"call": example.call});
    let seen = Seen {
        analysis: &judgement.analysis,
        world,
        past: &world.past,
        risk: judgement.verdict.risk,
        time: example.at.as_deref().unwrap_or(NOON),
        raw: &raw,
    };
    let context = context(event, seen);
    let handler = if event.moment == Moment::AfterTool { Handler::ToolResult } else { Handler::ToolCall };
    let call = match handler {
        Handler::ToolResult => Call::tool_result(context.clone()),
        Handler::ToolCall => Call::tool_call(context.clone()),
    };
    let call = Call { tables: reflex_library::tables(), machine, ..call };
    (Chain::new(vec![module], Limits::default()).run(call), context)
}

/// Judges by the built-in library alone.
fn judged_by_library(event: &Event, world: &FakeWorld) -> Judgement {
    judge(event, Mode::default().policy(&[]).as_ref(), world)
}

fn of_outcome(outcome: &Outcome) -> Played {
    let report = outcome.reports.first();
    let problem = report.and_then(|report| report.decision.as_ref()?.as_ref().err()).map(ToString::to_string);
    let printed = report.map(|report| report.printed.clone()).unwrap_or_default();
    let says = outcome.decision.name();
    let (reason, args) = match &outcome.decision {
        ModuleDecision::Pass => (String::new(), None),
        ModuleDecision::Ask { reason } | ModuleDecision::Deny { reason } => (reason.clone(), None),
        ModuleDecision::Modify { args, reason } => (reason.clone(), Some(Value::Object(args.clone()))),
    };
    Played { says, reason, args, problem, printed, ..Played::default() }
}

/// Describes how the outcome differs from the example; `None` if it matches.
pub fn difference(example: &Example, played: &Played) -> Option<String> {
    if let Some(problem) = &played.problem {
        return Some(problem.clone());
    }
    if played.says != example.says {
        let why = if played.reason.is_empty() { String::new() } else { format!(" ({})", played.reason) };
        return Some(format!("it returned {}{why}, but the example expects {}", played.says, example.says));
    }
    if !played.reason.contains(&example.reason) {
        return Some(format!("its reason does not contain `{}`: {}", example.reason, played.reason));
    }
    if example.args.is_some() && example.args != played.args {
        return Some(format!("it changes {}", played.args.as_ref().map(ToString::to_string).unwrap_or_default()));
    }
    let writes = json!(played.writes);
    match &example.writes {
        Some(wanted) if *wanted != writes => Some(format!("it writes {writes}")),
        Some(_) | None => None,
    }
}

/// The call as a universal event in a simulated project.
fn event_object(example: &Example) -> Result<Map<String, Value>, PlayError> {
    let mut object = as_event(&example.call, "pre-command")?;
    if let Some(facts) = &example.facts {
        object.insert("facts".into(), facts.clone());
    }
    if let Some(agent) = &example.agent {
        object.insert("engine".into(), agent.as_str().into());
    }
    Ok(object)
}

fn as_event(call: &Value, event: &str) -> Result<Map<String, Value>, PlayError> {
    let mut object = match call {
        Value::String(command) => Map::from_iter([("command".to_owned(), Value::from(command.as_str()))]),
        Value::Object(object) => object.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(PlayError::NotCall);
        }
    };
    let defaults = [("event", event), ("workspace", "/repo"), ("home", "/home/me"), ("engine", "claude")];
    for (key, value) in defaults {
        object.entry(key.to_owned()).or_insert_with(|| value.into());
    }
    let workspace = object.get("workspace").cloned().unwrap_or_default();
    object.entry("cwd").or_insert(workspace);
    Ok(object)
}

/// The session before the call.
fn session(example: &Example, object: &Map<String, Value>) -> Result<Vec<Step>, PlayError> {
    let mut past = Vec::new();
    for call in &example.after {
        let mut fields = as_event(call, "post-command")?;
        fields.entry("output").or_insert_with(|| "".into());
        if let Some(facts) = object.get("facts") {
            fields.entry("facts").or_insert_with(|| facts.clone());
        }
        let event = universal::read(&fields)?;
        let mut world = universal::supposed(&fields, &event)?;
        world.past.clone_from(&past);
        finish(&mut past, judged_by_library(&event, &world).step);
    }
    Ok(past)
}

/// The simulated world as reflexes may read and write it.
struct Pretended {
    files: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    home: String,
    workspace: String,
    written: Mutex<BTreeMap<String, String>>,
}

impl Pretended {
    fn new(world: &FakeWorld, event: &Event) -> Pretended {
        let content = |path: &String| {
            let path = absolute(path, &event.workspace);
            world.content(&path).map(|text| (path, text))
        };
        Pretended {
            files: world.files.keys().filter_map(content).collect(),
            variables: world.variables.clone(),
            home: event.home.clone(),
            workspace: event.workspace.clone(),
            written: Mutex::default(),
        }
    }
}

impl Pretended {
    /// Returns the absolute path if a grant covers it, as a real machine decides. The simulated world has no symlinks,
    /// so none are resolved.
    fn granted(&self, path: &str, granted: &[String]) -> Result<String, MachineError> {
        let path = absolute(path, &self.workspace);
        let fits_one = granted.iter().any(|pattern| {
            let pattern = match pattern.strip_prefix("~/") {
                Some(rest) => absolute(rest, &self.home),
                None => absolute(pattern, &self.workspace),
            };
            pattern.strip_suffix("/**") == Some(path.as_str()) || fits(&pattern, &path, &self.home)
        });
        if fits_one { Ok(path) } else { Err(MachineError::NotGranted(path)) }
    }
}

impl Machine for Pretended {
    fn ungranted(&self, path: &str, granted: &[String]) -> Option<String> {
        self.granted(path, granted).is_err().then(|| as_pattern(path, &self.workspace, &self.home))
    }

    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError> {
        let path = self.granted(path, granted)?;
        match self.files.get(&path) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => {
                let source = io::Error::new(io::ErrorKind::NotFound, "no such file");
                Err(MachineError::File { path, source })
            }
        }
    }

    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        let path = self.granted(path, granted)?;
        let shown = match path.strip_prefix(&format!("{}/", self.home)) {
            Some(below) => format!("~/{below}"),
            None => path.clone(),
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(shown, text);
        Ok(())
    }

    fn make_folder(&self, path: &str, granted: &[String]) -> Result<(), MachineError> {
        self.granted(path, granted).map(drop)
    }

    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, MachineError> {
        let path = self.granted(path, granted)?;
        let below = format!("{}/", path.trim_end_matches('/'));
        let names = self.files.keys().filter_map(|file| file.strip_prefix(&below)?.split('/').next());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.dedup();
        Ok(names)
    }

    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        let path = self.granted(path, granted).ok()?;
        let below = format!("{}/", path.trim_end_matches('/'));
        if self.files.contains_key(&path) {
            return Some("file");
        }
        self.files.keys().any(|file| file.starts_with(&below)).then_some("folder")
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn fetch(&self, _url: &str, _request: (&str, &str), _granted: &[String]) -> Result<(u16, String), MachineError> {
        Err(MachineError::NoNetwork("examples have no network access"))
    }
}
