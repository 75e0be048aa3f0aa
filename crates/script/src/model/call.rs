//! A call as modules see it, and the interface to the machine.

use super::error::MachineError;
use reflex_tables::Tables;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The function of a module to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// `onToolCall`, before the tool runs.
    ToolCall,
    /// `onToolResult`, after the tool has run.
    ToolResult,
}

impl Handler {
    /// Returns the function's name in a module.
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

/// A computed field with its JSON.
pub type WorkedOut = (String, Arc<str>);

/// Maximum number of cached fields. Further ones are computed again.
const MAX_WORKED_OUT: usize = 32;

/// One call to run a chain on.
#[derive(Clone)]
pub struct Call {
    /// The handler to call.
    pub handler: Handler,
    /// The context with all its fields; each module sees the fields that it declares.
    pub context: Value,
    /// Fields of the context that are computed when a module first reads them.
    pub lazy: &'static [&'static str],
    /// Whether the call changes or runs something. A module that fails then counts as a question.
    pub acts: bool,
    /// Indexes of modules that have already decided and are skipped.
    pub spoke: Vec<usize>,
    /// The compiled library, for `parseCommand`.
    pub tables: Tables,
    /// Home directory of the call's user, for `node:os`.
    pub home: String,
    /// Access to granted resources.
    pub machine: Arc<dyn Machine>,
    /// Computed fields, shared by all modules.
    pub worked_out: Arc<Mutex<Vec<WorkedOut>>>,
}

impl Call {
    /// Returns a call before a tool, on a machine without resources.
    pub fn tool_call(context: Value) -> Call {
        Call::new(Handler::ToolCall, context)
    }

    /// Returns a call after a tool, on a machine without resources.
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

    /// Returns the cached JSON of a field or another costly value, computing it on first use.
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

/// Access to the machine for modules. Each request includes the grants: hosts, or patterns of paths (`~/` is the home
/// directory, relative patterns are below the workspace). Implementations resolve symlinks before they compare paths.
pub trait Machine: Send + Sync {
    /// Returns the pattern that would grant a path; `None` if one of the grants already does.
    fn ungranted(&self, path: &str, granted: &[String]) -> Option<String>;
    /// Returns the contents of a file.
    ///
    /// # Errors
    /// Returns an error if the file is not granted or cannot be read.
    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError>;
    /// Replaces a file, creating its parent folders.
    ///
    /// # Errors
    /// Returns an error if the file is not granted or cannot be written.
    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), MachineError>;
    /// Creates a folder and its parents.
    ///
    /// # Errors
    /// Returns an error if the folder is not granted or cannot be created.
    fn make_folder(&self, path: &str, granted: &[String]) -> Result<(), MachineError>;
    /// Returns the names in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder is not granted or cannot be listed.
    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, MachineError>;
    /// Returns `file` or `folder`; `None` if the path does not exist or is not granted.
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str>;
    /// Returns an environment variable. The caller has already checked the grant.
    fn variable(&self, name: &str) -> Option<String>;
    /// Sends a request with a method and a body. Returns the response's status and body.
    ///
    /// # Errors
    /// Returns an error if the host is not granted or does not respond.
    fn fetch(&self, url: &str, request: (&str, &str), granted: &[String]) -> Result<(u16, String), MachineError>;
}

/// A machine without any resources.
pub struct Nothing;

impl Machine for Nothing {
    fn ungranted(&self, _path: &str, _granted: &[String]) -> Option<String> {
        None
    }
    fn read(&self, _path: &str, _granted: &[String]) -> Result<Vec<u8>, MachineError> {
        Err(MachineError::NoFiles)
    }
    fn write(&self, _path: &str, _bytes: &[u8], _granted: &[String]) -> Result<(), MachineError> {
        Err(MachineError::NoFiles)
    }
    fn make_folder(&self, _path: &str, _granted: &[String]) -> Result<(), MachineError> {
        Err(MachineError::NoFiles)
    }
    fn list(&self, _path: &str, _granted: &[String]) -> Result<Vec<String>, MachineError> {
        Err(MachineError::NoFiles)
    }
    fn kind(&self, _path: &str, _granted: &[String]) -> Option<&'static str> {
        None
    }
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn fetch(&self, _url: &str, _request: (&str, &str), _granted: &[String]) -> Result<(u16, String), MachineError> {
        Err(MachineError::NoNetwork("the network is not available"))
    }
}
