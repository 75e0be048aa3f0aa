//! Parameters of the server.

use reflex_host::Context;
use reflex_host::person::Person;
use serde_json::{Map, Value};

/// Parameters of the server.
pub struct Page {
    /// The guard whose calls it shows.
    pub context: Context,
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
    pub status: fn(&Context) -> Value,
    /// `reflex explain --json` for a query with `command`, `cwd`, `agent` and `mode`.
    pub explain: fn(&Context, &Map<String, Value>) -> Result<Value, String>,
    /// `reflex rules list --json`.
    pub rules: fn(&Context) -> Value,
    /// `reflex config show --json`.
    pub config: fn(&Context) -> Value,
    /// `reflex policy backtest --json` for a policy's text and a number of most recent calls.
    pub backtest: fn(&Context, &str, usize) -> Result<Value, String>,
    /// `reflex audit search --json` for these words and a maximum number of records, oldest first.
    pub search: Search,
}

/// Finds the records that match all words, up to a maximum number.
type Search = fn(&Context, &[String], usize) -> Result<Vec<Value>, String>;
