//! A call of an MCP tool passes two guards if its agent has hooks and `reflex mcp` guards its server. The hook judges it,
//! and the proxy takes that verdict.

use crate::store::Store;
use crate::store::mcp_verdicts::ToolCall;
use reflex_agents::{Agent, Delivery, Payload, mcp};
use reflex_engine::{Action, Decision, Event, Moment};
use serde_json::Value;
use std::io;

/// Whether a hook of the same client has judged the call that the proxy asks about.
pub(super) fn is_judged(store: &Store, agent: &Agent, payload: &Payload<'_>) -> bool {
    let text = |key: &str| payload.fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let client = payload.fields.get("client").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let (true, "call", Some(client)) = (agent.name == mcp::AGENT.name, text("event"), client) else { return false };
    let arguments = payload.fields.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
    store.take_passed(ToolCall { server: text("server"), tool: text("tool"), arguments: &arguments }, client)
}

/// Leaves a verdict for the proxy: the call runs, or the client asks its person at its own prompt.
pub(super) fn leave(store: &Store, event: &Event, delivery: &Delivery) -> io::Result<()> {
    let is_of_hook = event.client != mcp::AGENT.name && event.moment == Moment::BeforeTool && !event.is_done;
    let [Action::McpCall { server, tool, arguments }] = event.actions.as_slice() else { return Ok(()) };
    if !is_of_hook || delivery.reply().0 == Decision::Deny {
        return Ok(());
    }
    store.leave_passed(ToolCall { server, tool, arguments })
}
