//! The system on which a command runs the commands that it wraps.

use crate::cli_grammar::entry::applies;
use crate::cli_grammar::invocation::Invocation;
use crate::reading::ExecTarget;
use reflex_tables::views::RunEntry;

/// Returns the system on which a command runs its script blocks.
pub(super) fn site_of_blocks(invocation: &Invocation) -> Option<ExecTarget> {
    let mut entries = invocation.grammars.iter().rev().flat_map(|grammar| grammar.runs());
    entries.find(|entry| entry.blocks() && applies(entry.conditions(), invocation)).and_then(site_of)
}

/// Returns the system that an entry of a grammar names.
pub(super) fn site_of(entry: RunEntry<'static>) -> Option<ExecTarget> {
    match entry.site() {
        Some("remote") => Some(ExecTarget::Remote),
        Some("container") => Some(ExecTarget::Container),
        _ => None,
    }
}
