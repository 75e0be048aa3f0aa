//! Verdicts of a hook on calls of MCP tools. The proxy in front of the server takes each one once, and does not judge
//! the call again.

use super::state::Store;
use crate::system::files::{make_folder, put_as_it_is};
use crate::system::person::line_of_processes;
use crate::system::{clock, hex, os, random};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Lifetime of a verdict, in milliseconds. A person may answer the client's own prompt in that time.
const HOLDS: u64 = 120_000;

/// Maximum number of waiting verdicts.
const MAX_WAITING: usize = 256;

/// The call of a tool, as the hook and the proxy both see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'c> {
    /// The name of the server.
    pub(crate) server: &'c str,
    /// The name of the tool.
    pub(crate) tool: &'c str,
    /// The arguments as JSON.
    pub(crate) arguments: &'c str,
}

impl ToolCall<'_> {
    /// A digest that is equal for equal calls, regardless of the formatting of the arguments.
    fn digest(self) -> String {
        let arguments: Value = serde_json::from_str(self.arguments).unwrap_or_default();
        let text = [self.server, self.tool, &sorted(&arguments).to_string()].join("\0");
        hex::encode(&Sha256::digest(text)).get(..32).unwrap_or_default().to_owned()
    }
}

/// The value with the keys of all objects sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> = fields.iter().map(|(key, value)| (key, sorted(value))).collect();
            json!(fields)
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A process by its number and start time, because numbers are reused.
fn named(process: os::Pid) -> Option<String> {
    Some(format!("{process}:{}", os::Process::of(process)?.started()?))
}

impl Store {
    fn passed_folder(&self) -> PathBuf {
        self.folder.join("mcp/passed")
    }

    /// Stores the verdict of this hook for the proxy of a server. Servers without pins have no proxy.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn leave_passed(&self, call: ToolCall<'_>) -> io::Result<()> {
        if !self.has_pins(call.server) {
            return Ok(());
        }
        let folder = self.passed_folder();
        make_folder(&folder)?;
        let old: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
        if old.len() >= MAX_WAITING {
            old.iter().for_each(|file| drop(fs::remove_file(file)));
        }
        let above: Vec<String> = line_of_processes().filter_map(named).collect();
        let file = folder.join(format!("{}-{}", call.digest(), random::uuid()));
        put_as_it_is(&file, &json!({"until": clock::now() + HOLDS, "above": above}).to_string())
    }

    /// Takes the verdict of a hook below this client, if there is one. Each verdict is taken once.
    pub(crate) fn take_passed(&self, call: ToolCall<'_>, client: os::Pid) -> bool {
        let (Some(client), Ok(entries)) = (named(client), fs::read_dir(self.passed_folder())) else { return false };
        let digest = call.digest();
        let is_meant =
            |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&digest));
        entries.flatten().map(|entry| entry.path()).filter(is_meant).any(|file| {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let fields: Value = serde_json::from_str(&text).unwrap_or_default();
            let mut above = fields.get("above").and_then(Value::as_array).into_iter().flatten();
            let until = fields.get("until").and_then(Value::as_u64).unwrap_or_default();
            let holds = (clock::now()..=clock::now() + HOLDS).contains(&until);
            // If two processes take it at once, only one can remove it.
            above.any(|process| *process == client) && fs::remove_file(&file).is_ok() && holds
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_spelling_of_arguments_do_not_matter() {
        let call = |arguments| ToolCall { server: "files", tool: "read", arguments }.digest();
        assert_eq!(
            call(r#"{"a":1,"b":{"c":[1,2],"d":"é"}}"#),
            call("{ \"b\":{\"d\":\"\\u00e9\",\"c\":[1,2]},\"a\":1}")
        );
        assert_ne!(call(r#"{"a":[1,2]}"#), call(r#"{"a":[2,1]}"#));
        assert_ne!(call(r#"{"a":1}"#), call(r#"{"a":"1"}"#));
    }
}
