//! How much of what an agent does the guard can keep from happening.

use super::abilities::Line;
use super::agent::Agent;
use super::surface::{Extent, Surface};
use reflex_engine::Moment;

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
        let before = |line: &&Line| line.moment == Moment::BeforeTool;
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
