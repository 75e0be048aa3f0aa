//! Every agent, and which of them calls.

use crate::adapters::{claude, codex, copilot, cursor, gemini, opencode, qwen, stranger, universal, windsurf};
use crate::model::agent::Agent;
use crate::model::payload::Payload;

/// Every agent. The first is wired where none shows itself; of two that claim a payload, the later is meant.
pub static AGENTS: &[Agent] = &[
    claude::AGENT,
    codex::AGENT,
    copilot::AGENT,
    gemini::AGENT,
    qwen::AGENT,
    opencode::AGENT,
    cursor::AGENT,
    windsurf::AGENT,
    universal::AGENT,
];

/// The agent of this name.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

/// The agent that really calls: the one that the command line names, unless the payload is that of an agent that runs
/// the named one's hooks too; without a name, the last in [`AGENTS`] whose payload it is. A payload in a form that none
/// of them has is a stranger's.
pub fn caller(named: Option<&'static Agent>, payload: &Payload<'_>) -> &'static Agent {
    let is_stranger = |named: Option<&Agent>| {
        named.is_none_or(|named| stranger::AGENT.runs_hooks_of.contains(&named.name))
            && (stranger::AGENT.is_caller)(payload)
    };
    match named {
        _ if is_stranger(named) => &STRANGER,
        Some(named) => {
            let borrows = |agent: &&Agent| agent.runs_hooks_of.contains(&named.name) && (agent.is_caller)(payload);
            AGENTS.iter().find(borrows).unwrap_or(named)
        }
        None => AGENTS.iter().rev().find(|agent| (agent.is_caller)(payload)).unwrap_or(&universal::AGENT),
    }
}

/// A client that is not among the others.
static STRANGER: Agent = stranger::AGENT;

#[cfg(test)]
mod tests {
    use super::{AGENTS, universal};

    #[test]
    fn the_universal_form_knows_every_other_agent() {
        let all: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        let others = universal::ENGINES.iter().map(|agent| agent.name);
        assert_eq!(others.chain([universal::AGENT.name]).collect::<Vec<_>>(), all);
    }
}
