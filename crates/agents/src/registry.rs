//! The list of agents, and the identification of the caller.

use crate::adapters::{claude, codex, copilot, cursor, gemini, opencode, qwen, stranger, universal, windsurf};
use crate::model::agent::Agent;
use crate::model::payload::Payload;

/// All agents. The first is wired if none is detected; if several claim a payload, the last one is used.
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

/// Returns the agent with this name or alias.
pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

/// Returns the actual caller: the agent named on the command line, unless the payload is that of an agent that also
/// runs the named agent's hooks. Without a name, it is the last in [`AGENTS`] that claims the payload. A payload in
/// another known format is a stranger's.
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

/// A client that is not listed in [`AGENTS`].
static STRANGER: Agent = stranger::AGENT;

#[cfg(test)]
mod tests {
    use super::{AGENTS, universal};
    use reflex_engine::Event;

    #[test]
    fn the_universal_form_knows_every_other_agent() {
        let all: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        let others = universal::ENGINES.iter().map(|agent| agent.name);
        assert_eq!(others.chain([universal::AGENT.name]).collect::<Vec<_>>(), all);
    }

    #[test]
    fn a_hook_waits_for_minutes_only_where_its_entry_gives_it_that_time() {
        let waits: Vec<&str> =
            AGENTS.iter().filter(|agent| agent.may_wait_long(&Event::default())).map(|agent| agent.name).collect();
        assert_eq!(waits, ["claude", "codex", "copilot", "gemini", "qwen", "opencode", "cursor"]);
    }
}
