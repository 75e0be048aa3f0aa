//! What is said to the agent about a call.

use reflex_engine::Decision;
use serde_json::Value;

/// What is said to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The answer, now.
    Say {
        /// What the agent is told to do.
        decision: Decision,
        /// Why: the reasons of the verdict, or its advice if the call may run.
        reason: String,
    },
    /// Another call runs in place of this one. It is no approval: the agent's own permissions are asked about it.
    Replace {
        /// Its arguments, all of them.
        arguments: Value,
        /// Why.
        reason: String,
    },
}

impl Delivery {
    /// What is said by who can only decide: another call in place of this one is a refusal of this one.
    pub fn said(&self) -> (Decision, &str) {
        match self {
            Delivery::Say { decision, reason } => (*decision, reason),
            Delivery::Replace { reason, .. } => (Decision::Deny, reason),
        }
    }
}
