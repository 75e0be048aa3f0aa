//! Parameters of the server.

use reflex_host::person::Person;
use serde_json::{Map, Value};

/// Parameters of the server.
pub struct Page {
    /// The person who started the server; answers are recorded under this name.
    pub person: Person,
    /// The port; 0 picks a free one.
    pub port: u16,
    /// The commands whose JSON output the page shows.
    pub commands: Commands,
}

/// The commands whose output the page shows, as functions that return what the command would print.
#[derive(Clone, Copy)]
pub struct Commands {
    /// `reflex status --json`.
    pub status: fn() -> Value,
    /// `reflex explain --json` for a query with `command`, `cwd`, `agent` and `mode`.
    pub explain: fn(&Map<String, Value>) -> Result<Value, String>,
    /// `reflex rules list --json`.
    pub rules: fn() -> Value,
    /// `reflex config show --json`.
    pub config: fn() -> Value,
    /// `reflex policy backtest --json` for a policy's text and a number of most recent calls.
    pub backtest: fn(&str, usize) -> Result<Value, String>,
    /// `reflex audit search --json` for these words and a maximum number of records, oldest first.
    pub search: fn(&[String], usize) -> Result<Vec<Value>, String>,
}
