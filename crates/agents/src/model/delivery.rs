//! The answer to the agent about a call.

use reflex_engine::Decision;
use serde_json::Value;

/// The answer to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// A decision with its reason.
    Reply {
        /// The decision that the agent receives.
        decision: Decision,
        /// The reasons of the verdict, or its advice if the call may run.
        reason: String,
    },
    /// Another call runs in place of this one. This is not an approval: the agent applies its own permissions to the
    /// new call.
    Replace {
        /// The complete arguments of the new call.
        arguments: Value,
        /// The reasons for the replacement.
        reason: String,
    },
}

impl Delivery {
    /// Returns the decision for agents that cannot replace a call: a replacement is then a refusal of the original.
    pub fn reply(&self) -> (Decision, &str) {
        match self {
            Delivery::Reply { decision, reason } => (*decision, reason),
            Delivery::Replace { reason, .. } => (Decision::Deny, reason),
        }
    }
}
