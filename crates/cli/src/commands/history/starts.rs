//! The tree of programs that a supervised agent has started, below the call that caused it.

use crate::commands::history::record::field;
use crate::terminal::visible::visible;
use reflex_host::Host;
use reflex_host::store::Search;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum number of starts that are searched.
const MAX_SEARCHED: usize = 5000;

/// Maximum number of lines of a tree.
const MAX_LINES: usize = 30;

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 24;

type Record = Map<String, Value>;

/// The call and the starts that led to this record, and the starts that came from it, one line each; empty if no start
/// has to do with it.
pub(super) fn tree(host: &Host, record: &Record) -> Vec<String> {
    let search = |key: &str, text: &str, limit| {
        let fields = [(key, text), ("kind", "call")].map(|(key, text)| (key.to_owned(), text.to_owned()));
        host.store().log().search(&Search { fields: fields.into(), ..Search::default() }, limit).unwrap_or_default()
    };
    let below = if record.contains_key("start") { None } else { search("by", field(record, "id"), 1).pop() };
    let Some(start) = below.as_ref().or_else(|| record.contains_key("start").then_some(record)) else {
        return Vec::new();
    };
    // All starts of a run have its session.
    let mut found = search("session", field(start, "session"), MAX_SEARCHED);
    found.sort_by(|one, other| field(one, "time").cmp(field(other, "time")));
    let by_id: HashMap<&str, &Record> = found.iter().map(|one| (field(one, "id"), one)).collect();
    let mut top = start;
    for _ in 0..MAX_DEPTH {
        let Some(cause) = by_id.get(cause(top)) else { break };
        top = cause;
    }
    let call = Some(cause(top)).filter(|id| !id.is_empty()).and_then(|id| search("id", id, 1).pop());
    let mut tree = Tree { found: &found, shown: field(record, "id"), lines: Vec::new(), left_out: 0 };
    tree.add(call.as_ref().unwrap_or(top), 0);
    if tree.left_out > 0 {
        tree.lines.push(format!("and {} more", tree.left_out));
    }
    tree.lines
}

/// The id of the start or call that this one comes from; empty at the top.
fn cause(record: &Record) -> &str {
    record.get("start").and_then(|start| start.get("by")?.as_str()).unwrap_or_default()
}

struct Tree<'a> {
    /// All starts of the run, the oldest first.
    found: &'a [Record],
    /// The id of the start that is asked about.
    shown: &'a str,
    lines: Vec<String>,
    left_out: usize,
}

impl Tree<'_> {
    fn add(&mut self, record: &Record, depth: usize) {
        let id = field(record, "id");
        if self.lines.len() < MAX_LINES {
            let mark = if id == self.shown { "> " } else { "  " };
            let stopped = match (field(record, "decision"), record.contains_key("start")) {
                ("ask", false) => " (asked)",
                ("deny" | "ask", _) => " (stopped)",
                _ => "",
            };
            let command = record.get("actions").and_then(|actions| actions.get(0)?.get("command")?.as_str());
            let command = visible(command.unwrap_or("(its text is not kept)"));
            self.lines.push(format!("{mark}{}{command}{stopped}", "  ".repeat(depth)));
        } else {
            self.left_out += 1;
        }
        if depth < MAX_DEPTH && !id.is_empty() {
            let found = self.found;
            found.iter().filter(|one| cause(one) == id).for_each(|one| self.add(one, depth + 1));
        }
    }
}
