//! A call of a tool that no agent's table knows, and what it means.

use crate::model::event::{Action, Event};

/// A tool that is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called<'a> {
    /// The server that has it; empty where it is the agent's own.
    pub(crate) server: &'a str,
    /// Its name.
    pub(crate) tool: &'a str,
    /// Its arguments as JSON, or a text.
    pub(crate) arguments: &'a str,
    /// The folder in which the call happens.
    pub(crate) cwd: &'a str,
}

/// What a call means.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// What it does, in the words of known tools.
    pub(crate) actions: Vec<Action>,
    /// What a database is given.
    pub(crate) statements: Vec<String>,
    /// Whether anything is known of it: what it does, or that it does no harm.
    pub(crate) is_judged: bool,
    /// Whether its texts are only looked for.
    pub(crate) is_search: bool,
    /// Whether a part of it was not looked at, because there is more than any person's call has.
    pub(crate) is_cut: bool,
}

/// The call that an action is, where no agent's table knows its tool.
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
