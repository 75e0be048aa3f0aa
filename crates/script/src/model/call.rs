//! A call as modules see it, and what they may ask of the machine.

use reflex_tables::Tables;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Which function of a module is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// `onToolCall`, before the tool runs.
    ToolCall,
    /// `onToolResult`, after it.
    ToolResult,
}

impl Handler {
    /// Its name in a module.
    pub fn name(self) -> &'static str {
        match self {
            Handler::ToolCall => "onToolCall",
            Handler::ToolResult => "onToolResult",
        }
    }

    pub(crate) fn other(self) -> Handler {
        match self {
            Handler::ToolCall => Handler::ToolResult,
            Handler::ToolResult => Handler::ToolCall,
        }
    }
}

/// A field that was worked out for a module, and its JSON.
pub type WorkedOut = (String, Arc<str>);

/// More than these are worked out anew.
const MAX_WORKED_OUT: usize = 32;

/// One call to ask a chain about.
#[derive(Clone)]
pub struct Call {
    /// Which handler.
    pub handler: Handler,
    /// The context with all its fields; each module sees those that it declares.
    pub context: Value,
    /// Fields of the context that are only worked out once a module looks at them.
    pub lazy: &'static [&'static str],
    /// Whether the call changes or runs something: then a module that fails counts as a question.
    pub acts: bool,
    /// Modules that are not asked, by their place in the chain: they spoke already.
    pub spoke: Vec<usize>,
    /// The compiled library, for `parseCommand`.
    pub tables: Tables,
    /// The home of the call's user, for `node:os`.
    pub home: String,
    /// The machine, for what was granted.
    pub machine: Arc<dyn Machine>,
    /// Fields that were worked out for a module, with their JSON.
    pub worked_out: Arc<Mutex<Vec<WorkedOut>>>,
}

impl Call {
    /// A call before a tool, on a machine that gives nothing.
    pub fn tool_call(context: Value) -> Call {
        Call::new(Handler::ToolCall, context)
    }

    /// The same after a tool.
    pub fn tool_result(context: Value) -> Call {
        Call::new(Handler::ToolResult, context)
    }

    fn new(handler: Handler, mut context: Value) -> Call {
        if let Value::Object(fields) = &mut context {
            fields.entry("event").or_insert_with(|| json!(handler.name()));
            fields.entry("paths").or_insert_with(|| json!([]));
        }
        Call {
            handler,
            context,
            lazy: &[],
            acts: true,
            spoke: Vec::new(),
            tables: Tables::EMPTY,
            home: String::new(),
            machine: Arc::new(Nothing),
            worked_out: Arc::default(),
        }
    }

    /// The JSON of a field, or what else costs something; worked out for the first module that looks at it.
    pub(crate) fn worked_out(&self, field: &str, work: impl FnOnce() -> String) -> Arc<str> {
        let known = |all: &[WorkedOut]| all.iter().find(|(name, _)| name == field).map(|(_, text)| Arc::clone(text));
        if let Some(text) = self.worked_out.lock().ok().and_then(|all| known(&all)) {
            return text;
        }
        let text: Arc<str> = work().into();
        if let Ok(mut all) = self.worked_out.lock()
            && all.len() < MAX_WORKED_OUT
        {
            all.push((field.to_owned(), Arc::clone(&text)));
        }
        text
    }
}

/// What modules may ask of the machine. Each question comes with what was granted: patterns of paths (`~/` is the home,
/// what does not begin with a slash lies in the workspace), or hosts. Whoever answers follows links before comparing.
pub trait Machine: Send + Sync {
    /// The pattern that would grant a path which none of these does; nothing where one does.
    fn ungranted(&self, path: &str, granted: &[String]) -> Option<String>;
    /// What stands in a file.
    ///
    /// # Errors
    /// It was not granted, or cannot be read.
    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, String>;
    /// Replaces a file, with its folders.
    ///
    /// # Errors
    /// It was not granted, or cannot be written.
    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), String>;
    /// Makes a folder, with those above it.
    ///
    /// # Errors
    /// It was not granted, or cannot be made.
    fn make_folder(&self, path: &str, granted: &[String]) -> Result<(), String>;
    /// The names in a folder.
    ///
    /// # Errors
    /// It was not granted, or cannot be listed.
    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, String>;
    /// `file`, `folder`, or nothing where nothing is or nothing was granted.
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str>;
    /// A variable of the environment; callers have looked whether it was granted.
    fn variable(&self, name: &str) -> Option<String>;
    /// The answer to a request with a method and a body: its status and its body.
    ///
    /// # Errors
    /// The host was not granted, or does not answer.
    fn fetch(&self, url: &str, request: (&str, &str), granted: &[String]) -> Result<(u16, String), String>;
}

/// A machine that has nothing.
pub struct Nothing;

impl Machine for Nothing {
    fn ungranted(&self, _path: &str, _granted: &[String]) -> Option<String> {
        None
    }
    fn read(&self, _path: &str, _granted: &[String]) -> Result<Vec<u8>, String> {
        Err("there are no files here".into())
    }
    fn write(&self, _path: &str, _bytes: &[u8], _granted: &[String]) -> Result<(), String> {
        Err("there are no files here".into())
    }
    fn make_folder(&self, _path: &str, _granted: &[String]) -> Result<(), String> {
        Err("there are no files here".into())
    }
    fn list(&self, _path: &str, _granted: &[String]) -> Result<Vec<String>, String> {
        Err("there are no files here".into())
    }
    fn kind(&self, _path: &str, _granted: &[String]) -> Option<&'static str> {
        None
    }
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn fetch(&self, _url: &str, _request: (&str, &str), _granted: &[String]) -> Result<(u16, String), String> {
        Err("there is no network here".into())
    }
}
