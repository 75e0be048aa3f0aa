//! `reflex.json`, version 1: what a module says about itself, and what it may therefore see and answer.

use serde_json::{Map, Value};

/// A manifest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// `no-force-push`
    pub name: String,
    /// For people.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// `0.0.0`
    pub version: String,
    /// The file whose default export is the reflex, below the module's folder.
    pub entry: String,
    /// `onToolCall`, `onToolResult`: no other event is delivered.
    pub events: Vec<String>,
    /// What it may see, answer and touch.
    pub capabilities: Capabilities,
    /// The options that it takes: name, type, whether it needs it.
    pub options: Vec<(String, OptionType, bool)>,
    /// The whole manifest.
    pub raw: Map<String, Value>,
}

/// What a module may see, answer and touch; also what a person granted of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// `pass deny ask modify`
    pub decisions: Vec<String>,
    /// Fields of the context: `command paths cwd raw options reflex`; nothing declared is everything.
    pub reads: Option<Vec<String>>,
    /// Globs of files that it may read.
    pub files: Vec<String>,
    /// Globs of files that it may write.
    pub writes: Vec<String>,
    /// Hosts that it may ask.
    pub network: Vec<String>,
    /// Variables of the environment that it may read.
    pub environment: Vec<String>,
}

/// The type of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionType {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A list.
    List,
    /// A map.
    Map,
}
