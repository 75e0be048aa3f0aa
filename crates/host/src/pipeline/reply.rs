//! Replies that tell what could not be written to the log or the session.

use crate::config::judge::unjudged;
use reflex_agents::{Agent, Delivery, Reply};
use reflex_engine::{Decision, Event};
use std::io;

/// What is said where a policy lets nothing run that is not in the audit log.
pub(super) fn unrecorded(agent: &Agent, event: &Event, error: &io::Error) -> Reply {
    let reason = format!(
        "Blocked: this call cannot be written into the audit log ({error}), and the policy in force lets nothing run that \
         is not there. A person makes room for the log, or chooses another policy."
    );
    let judgement = unjudged(Decision::Deny);
    (agent.write)(event, &judgement.verdict, &Delivery::Say { decision: Decision::Deny, reason })
}

/// A decision that could not be recorded still stands, with a word about it.
pub(super) fn warn_if_unrecorded(mut reply: Reply, recorded: io::Result<()>, remembered: io::Result<()>) -> Reply {
    let lost = match (recorded, remembered) {
        (Err(error), _) => format!("reflex: this decision is not in the audit log: {error}\n"),
        (Ok(()), Err(error)) => format!("reflex: this call is not in the session's memory: {error}\n"),
        (Ok(()), Ok(())) => String::new(),
    };
    reply.stderr.push_str(&lost);
    reply
}
