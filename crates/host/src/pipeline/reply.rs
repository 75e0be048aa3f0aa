//! Replies that report failures to write the log or the session.

use reflex_agents::{Agent, Delivery, Reply};
use reflex_engine::{Decision, Event, Judgement};
use std::io;

/// The reply if the policy blocks calls that cannot be written to the audit log.
pub(super) fn unrecorded(agent: &Agent, event: &Event, error: &io::Error) -> Reply {
    let reason = format!(
        "Blocked: this call cannot be written into the audit log ({error}), and the policy in force lets nothing run that \
         is not there. A person makes room for the log, or chooses another policy."
    );
    let judgement = Judgement::unjudged(Decision::Deny);
    (agent.write)(event, &judgement.verdict, &Delivery::Reply { decision: Decision::Deny, reason })
}

/// Adds a note about a failed write. The decision itself is unchanged.
pub(super) fn warn_if_unrecorded(mut reply: Reply, recorded: io::Result<()>, remembered: io::Result<()>) -> Reply {
    let lost = match (recorded, remembered) {
        (Err(error), _) => format!("reflex: this decision is not in the audit log: {error}\n"),
        (Ok(()), Err(error)) => format!("reflex: this call is not in the session's memory: {error}\n"),
        (Ok(()), Ok(())) => String::new(),
    };
    reply.stderr.push_str(&lost);
    reply
}
