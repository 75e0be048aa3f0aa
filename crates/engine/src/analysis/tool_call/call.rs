//! A call of a tool that no agent's table knows, and its meaning.

use crate::model::event::{Action, Event};

/// A called tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called<'a> {
    /// Server of the tool; empty for the agent's own tools.
    pub(crate) server: &'a str,
    /// Name of the tool.
    pub(crate) tool: &'a str,
    /// Arguments as JSON, or as a plain text.
    pub(crate) arguments: &'a str,
    /// Working directory of the call.
    pub(crate) cwd: &'a str,
}

/// The meaning of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its effects, as actions of known tools.
    pub(crate) actions: Vec<Action>,
    /// Statements for a database.
    pub(crate) statements: Vec<String>,
    /// Whether the call is understood: its effects are known, or it is harmless.
    pub(crate) is_judged: bool,
    /// Whether its texts are only search terms.
    pub(crate) is_search: bool,
    /// Whether a part was not read because the call exceeds a limit that no person's call reaches.
    pub(crate) is_cut: bool,
}

/// Returns the call of an action whose tool no agent's table knows.
pub(crate) fn called<'a>(event: &'a Event, action: &'a Action) -> Option<Called<'a>> {
    let cwd = event.cwd.as_str();
    match action {
        Action::McpCall { server, tool, arguments } => Some(Called { server, tool, arguments, cwd }),
        Action::Other { arguments } => Some(Called { server: "", tool: &event.tool, arguments, cwd }),
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Delete { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Prompt { .. }
        | Action::SpawnAgent { .. }
        | Action::Skill { .. }
        | Action::Input { .. } => None,
    }
}
