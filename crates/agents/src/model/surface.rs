//! Surfaces: the kinds of activity that the guard checks, and their parts that bypass it.

/// A kind of agent activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Shell commands.
    Shell,
    /// Writing, changing and deleting files.
    Edit,
    /// Reading and searching files.
    Read,
    /// Calls to MCP servers.
    Mcp,
    /// Web fetches.
    Web,
    /// Calls of subagents.
    Subagent,
    /// Runs without a terminal.
    Headless,
}

impl Surface {
    /// All surfaces.
    pub const ALL: [Surface; 7] = [
        Surface::Shell,
        Surface::Edit,
        Surface::Read,
        Surface::Mcp,
        Surface::Web,
        Surface::Subagent,
        Surface::Headless,
    ];

    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Shell => "shell",
            Surface::Edit => "edit",
            Surface::Read => "read",
            Surface::Mcp => "mcp",
            Surface::Web => "web",
            Surface::Subagent => "subagent",
            Surface::Headless => "headless",
        }
    }
}

/// An activity for which the agent runs no hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The affected surfaces.
    pub extent: Extent,
    /// Short description of the hidden activity.
    pub what: &'static str,
    /// The workaround.
    pub instead: &'static str,
}

/// Extent of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// These surfaces entirely: their calls never reach a hook, or it is unknown whether they do.
    All(&'static [Surface]),
    /// Some calls of these surfaces.
    Some(&'static [Surface]),
    /// Everything, if the agent is started or configured so.
    IfSwitched,
    /// No activity that a hook could see: a remark.
    Beyond,
}
