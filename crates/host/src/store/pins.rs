//! Pins of MCP servers: each tool as the server described it when a person began to use it. A tool that was changed or
//! added later is held until a person trusts it.

use super::state::Store;
use crate::system::files::put_as_it_is;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// A pinned server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pins {
    /// The command that starts it.
    pub server: Vec<String>,
    /// Its instructions as raw JSON; empty if it has none.
    pub instructions: String,
    /// Its tools by name, each as raw JSON.
    pub tools: BTreeMap<String, String>,
    /// The differences that a person has not trusted yet.
    pub held: Held,
}

/// Differences from the pinned state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    /// The command, if it differs.
    pub server: Option<Vec<String>>,
    /// The instructions, if they differ.
    pub instructions: Option<String>,
    /// Tools that differ or are new.
    pub tools: BTreeMap<String, String>,
}

impl Held {
    /// Whether a person has no differences to review.
    pub fn is_empty(&self) -> bool {
        *self == Held::default()
    }
}

impl Pins {
    /// Compares the command of this start with the pinned one.
    pub fn see_server(&mut self, words: &[String]) {
        self.held.server = (self.server != words).then(|| words.to_vec());
    }

    /// Compares instructions, as raw JSON, with the pinned ones. The first ones are pinned.
    pub fn see_instructions(&mut self, raw: &str, is_first: bool) {
        if is_first {
            raw.clone_into(&mut self.instructions);
        }
        self.held.instructions = (self.instructions != raw).then(|| raw.to_owned());
    }

    /// Compares a tool, as raw JSON, with the pinned one. At the first use of a server, its tools are pinned.
    pub fn see_tool(&mut self, name: &str, raw: &str, is_first: bool) {
        if is_first {
            self.tools.insert(name.to_owned(), raw.to_owned());
        }
        if self.tools.get(name).is_some_and(|pinned| pinned == raw) {
            self.held.tools.remove(name);
        } else {
            self.held.tools.insert(name.to_owned(), raw.to_owned());
        }
    }

    /// The reason why a person must review the server before this tool is called.
    pub fn holds(&self, tool: &str) -> Option<&'static str> {
        if self.held.server.is_some() {
            return Some("the server is started by another command than before");
        }
        if self.held.instructions.is_some() {
            return Some("the server's instructions changed");
        }
        match (self.tools.contains_key(tool), self.held.tools.contains_key(tool)) {
            (true, true) => Some("the server changed this tool"),
            (false, true) => Some("the server added this tool"),
            (false, false) if !self.tools.is_empty() => Some("the server never listed this tool"),
            (true | false, false) => None,
        }
    }

    /// Trusts all differences.
    pub fn trust(&mut self) {
        let held = std::mem::take(&mut self.held);
        if let Some(server) = held.server {
            self.server = server;
        }
        if let Some(instructions) = held.instructions {
            self.instructions = instructions;
        }
        self.tools.extend(held.tools);
    }

    fn json(&self) -> Value {
        json!({
            "schema": "reflex/mcp-pins-v1", "server": self.server, "instructions": self.instructions, "tools": self.tools,
            "held": {
                "server": self.held.server, "instructions": self.held.instructions, "tools": self.held.tools,
            },
        })
    }

    fn from_json(value: &Value) -> Option<Pins> {
        let words = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let tools = |value: &Value| -> Option<BTreeMap<String, String>> {
            let tools = value.as_object()?.iter();
            tools.map(|(name, raw)| Some((name.clone(), raw.as_str()?.to_owned()))).collect()
        };
        let held = value.get("held")?;
        Some(Pins {
            server: words(value.get("server")?)?,
            instructions: value.get("instructions")?.as_str()?.to_owned(),
            tools: tools(value.get("tools")?)?,
            held: Held {
                server: held.get("server").and_then(words),
                instructions: held.get("instructions").and_then(Value::as_str).map(str::to_owned),
                tools: tools(held.get("tools")?)?,
            },
        })
    }
}

impl Store {
    fn pins_folder(&self) -> PathBuf {
        self.folder.join("mcp")
    }

    /// Whether a server is pinned, because the proxy has started it before.
    pub(crate) fn has_pins(&self, name: &str) -> bool {
        self.pins_folder().join(format!("{name}.json")).is_file()
    }

    /// The names of the pinned servers, sorted.
    pub fn pinned_servers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.pins_folder()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The pins of a server; `None` if it was never used.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn pins(&self, name: &str) -> io::Result<Option<Pins>> {
        let file = self.pins_folder().join(format!("{name}.json"));
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let value: Map<String, Value> = serde_json::from_str(&text)?;
        let pins = Pins::from_json(&Value::Object(value));
        pins.map(Some).ok_or_else(|| io::Error::other("the pins are in another form"))
    }

    /// Stores the pins of a server.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_pins(&self, name: &str, pins: &Pins) -> io::Result<()> {
        put_as_it_is(&self.pins_folder().join(format!("{name}.json")), &pins.json().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned() -> Pins {
        let mut pins = Pins { server: vec!["server".into()], ..Pins::default() };
        pins.see_instructions("\"read only\"", true);
        pins.see_tool("read", r#"{"name":"read","description":"reads"}"#, true);
        pins
    }

    #[test]
    fn every_kind_of_change_is_held_until_a_person_trusts_it() {
        type Change = (fn(&mut Pins), &'static str);
        let changes: [Change; 6] = [
            (|pins| pins.see_tool("read", r#"{"name":"read","description":"reads and sends"}"#, false), "read"),
            (|pins| pins.see_tool("read", r#"{"name":"read","description":"reads" }"#, false), "read"),
            (|pins| pins.see_tool("send", r#"{"name":"send"}"#, false), "send"),
            (|_| (), "hidden"),
            (|pins| pins.see_instructions("\"send everything\"", false), "read"),
            (|pins| pins.see_server(&["other".to_owned()]), "read"),
        ];
        for (change, tool) in changes {
            let mut pins = pinned();
            assert_eq!(pins.holds("read"), None);
            change(&mut pins);
            assert!(pins.holds(tool).is_some(), "{pins:?}");
            assert_eq!(Pins::from_json(&pins.json()), Some(pins.clone()));
            pins.trust();
            assert!(pins.holds("read").is_none() && pins.held.is_empty(), "{pins:?}");
        }
    }

    #[test]
    fn a_change_that_is_taken_back_is_no_longer_held() {
        let mut pins = pinned();
        pins.see_tool("read", "{}", false);
        pins.see_tool("read", r#"{"name":"read","description":"reads"}"#, false);
        assert!(pins.held.is_empty());
    }
}
