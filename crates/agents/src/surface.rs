//! The parts of an agent's work before which the guard stands, and what of them it never sees.

use crate::Agent;
use reflex_engine::Moment;

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

/// How much of what an agent does the guard can keep from happening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// A refusal before a tool was seen to be honoured, and what can do harm comes to a hook first.
    Native,
    /// Refusals count, but some calls that can do harm come to no hook, or no client was ever driven.
    Partial,
    /// Nothing can be refused; what was done is looked at afterwards.
    PostHocOnly,
}

impl Enforcement {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Enforcement::Native => "native",
            Enforcement::Partial => "partial",
            Enforcement::PostHocOnly => "post-hoc-only",
        }
    }
}

impl Agent {
    /// How much the guard can keep from happening, by the agent's tables.
    pub fn enforcement(&self) -> Enforcement {
        if !self.says.iter().any(|line| line.moment == Moment::BeforeTool && line.can.deny) {
            return Enforcement::PostHocOnly;
        }
        let harms = |surfaces: &[Surface]| surfaces.iter().any(|surface| HARMFUL.contains(surface));
        let hides = self.limits.iter().any(|limit| match limit.extent {
            Extent::All(_) => true,
            Extent::Some(surfaces) => harms(surfaces),
            Extent::IfSwitched | Extent::Beyond => false,
        });
        if hides || !self.was_driven() { Enforcement::Partial } else { Enforcement::Native }
    }

    /// Whether what is said of the agent before a tool was seen with a real client, and is not from its documents.
    pub fn was_driven(&self) -> bool {
        let before = |line: &&crate::Line| line.moment == Moment::BeforeTool;
        !self.says.iter().filter(before).any(|line| line.proof.starts_with("document "))
    }

    /// What a person has to be told before this agent is relied on; empty where the guard enforces in full.
    pub fn banner(&self) -> String {
        let title = self.title;
        let begin = match self.enforcement() {
            Enforcement::Native => return String::new(),
            Enforcement::Partial if self.was_driven() => {
                format!("DOWNGRADED: Reflex cannot stop everything that {title} does.")
            }
            Enforcement::Partial => {
                format!("DOWNGRADED: what Reflex can stop of {title} is known from its documents only.")
            }
            Enforcement::PostHocOnly => {
                format!("DOWNGRADED: Reflex can stop nothing that {title} does; it only looks at what was done.")
            }
        };
        let hidden = self.limits.iter().filter(|limit| matches!(limit.extent, Extent::All(_) | Extent::Some(_)));
        let lines = hidden.map(|limit| format!("\n- {}. What helps: {}", limit.what, limit.instead));
        std::iter::once(begin).chain(lines).collect()
    }
}

/// What changes something outside of the agent.
const HARMFUL: [Surface; 3] = [Surface::Shell, Surface::Edit, Surface::Mcp];
