//! Level of control that the guard has over an agent.

use super::abilities::Line;
use super::agent::Agent;
use super::surface::{Extent, Surface};
use reflex_engine::Moment;

/// Level of control that the guard has over an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// The agent was observed to honor a refusal before a tool, and all harmful activity reaches a hook first.
    Native,
    /// Refusals are honored, but some harmful calls reach no hook, or the guard was never tested with a real client.
    Partial,
    /// Refusals are not possible; actions are only inspected afterwards.
    PostHocOnly,
}

impl Enforcement {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Enforcement::Native => "native",
            Enforcement::Partial => "partial",
            Enforcement::PostHocOnly => "post-hoc-only",
        }
    }
}

impl Agent {
    /// Returns the level that follows from the agent's tables.
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

    /// Returns whether the table for events before a tool was observed with a real client, not taken from
    /// documentation.
    pub fn was_driven(&self) -> bool {
        let before = |line: &&Line| line.moment == Moment::BeforeTool;
        !self.says.iter().filter(before).any(|line| line.proof.starts_with("document "))
    }

    /// Returns a warning for people about the limits of enforcement; empty if the guard enforces in full.
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

/// Surfaces with effects outside the agent.
const HARMFUL: [Surface; 3] = [Surface::Shell, Surface::Edit, Surface::Mcp];
