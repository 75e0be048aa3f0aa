//! The system on which a command runs the commands that it wraps.

use crate::cli_grammar::entry::applies;
use crate::cli_grammar::invocation::Invocation;
use crate::reading::ExecTarget;
use reflex_tables::Node;

/// Returns the system on which a command runs its script blocks.
pub(super) fn site_of_blocks(invocation: &Invocation) -> Option<ExecTarget> {
    let mut entries = invocation.grammars.iter().rev().flat_map(|grammar| grammar.runs());
    entries.find(|entry| entry.get("blocks").is_true() && applies(*entry, invocation)).and_then(site_of)
}

/// Returns the system that an entry of a grammar names.
pub(super) fn site_of(entry: Node<'static>) -> Option<ExecTarget> {
    match entry.get("site").text() {
        "remote" => Some(ExecTarget::Remote),
        "container" => Some(ExecTarget::Container),
        _ => None,
    }
}
