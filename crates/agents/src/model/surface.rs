//! The parts of an agent's work before which the guard stands, and what of them it never sees.

/// A part of an agent's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Commands in a shell.
    Shell,
    /// Files that are written, changed or deleted.
    Edit,
    /// Files that are read or searched.
    Read,
    /// Calls of MCP servers.
    Mcp,
    /// What is fetched from the web.
    Web,
    /// Calls of subagents.
    Subagent,
    /// Runs without a terminal.
    Headless,
}

impl Surface {
    /// All of them.
    pub const ALL: [Surface; 7] = [
        Surface::Shell,
        Surface::Edit,
        Surface::Read,
        Surface::Mcp,
        Surface::Web,
        Surface::Subagent,
        Surface::Headless,
    ];

    /// Its word.
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

/// Something an agent does without asking its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// How much of which part of its work.
    pub extent: Extent,
    /// What is not seen, in a few words.
    pub what: &'static str,
    /// What helps against it.
    pub instead: &'static str,
}

/// How much a limit hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// These surfaces altogether: nothing of them ever comes to a hook, or nothing is known of whether it does.
    All(&'static [Surface]),
    /// Some calls of these surfaces.
    Some(&'static [Surface]),
    /// Everything, if somebody starts or sets the agent so.
    IfSwitched,
    /// Nothing that a hook could see: a remark.
    Beyond,
}
