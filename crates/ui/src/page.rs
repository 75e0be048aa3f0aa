//! What the server is started with.

use reflex_host::person::Person;
use serde_json::{Map, Value};

/// What the server is started with.
pub struct Page {
    /// Who started it: what is answered here is recorded under this name.
    pub person: Person,
    /// The port, or 0 for a free one.
    pub port: u16,
    /// What the commands of the same names answer as JSON.
    pub commands: Commands,
}

/// The commands whose answers the page shows: they are asked for as they would print them.
#[derive(Clone, Copy)]
pub struct Commands {
    /// `reflex status --json`.
    pub status: fn() -> Value,
    /// `reflex explain --json` of a question with `command`, `cwd`, `agent` and `mode`.
    pub explain: fn(&Map<String, Value>) -> Result<Value, String>,
    /// `reflex rules list --json`.
    pub rules: fn() -> Value,
    /// `reflex config show --json`.
    pub config: fn() -> Value,
    /// `reflex policy backtest --json` of a policy's text and the newest so many calls.
    pub backtest: fn(&str, usize) -> Result<Value, String>,
    /// `reflex audit search --json` for these words, at most so many records, oldest first.
    pub search: fn(&[String], usize) -> Result<Vec<Value>, String>,
}
