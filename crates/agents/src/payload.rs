//! What an agent hands to a hook, and whose hand it is.

use crate::{AGENTS, Agent, stranger, universal};
use serde_json::{Map, Value};

/// One payload with what surrounds it.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    /// The object on standard input.
    pub fields: &'a Map<String, Value>,
    /// The agent's word for the moment, where the command line gives it.
    pub told: Option<&'a str>,
    /// The environment of the hook.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Payload<'_> {
    /// Whether the object has this key at its top. Keys further down are an agent's arguments and prove nothing.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Whether the environment has this variable.
    pub(crate) fn is_set(&self, variable: &str) -> bool {
        (self.variable)(variable).is_some()
    }
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
