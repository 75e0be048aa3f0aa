//! The client of an MCP server that `reflex mcp` guards. The proxy sends one payload per message:
//!
//! ```json
//! {"event": "call", "session": "files 4711", "cwd": "/repo", "server": "files", "tool": "read_file", "arguments": {}}
//! {"event": "result", "session": "files 4711", "cwd": "/repo", "server": "files", "tool": "read_file",
//!  "arguments": {}, "output": "text of the result", "failed": false}
//! {"event": "offer", "session": "files 4711", "cwd": "/repo", "server": "files", "tool": "tools/list", "output": "…"}
//! ```
//!
//! The answer is one JSON object: `decision` is `allow` or `deny`, `reason` is the text for the model. An allowed
//! result also has a `reason` if it carries a warning for the model.

use crate::json::{BadEvent, optional, required};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use reflex_engine::{Action, Decision, Event, Moment, Outcome, Verdict};
use serde_json::{Value, json};

/// The MCP adapter. It is called by the proxy and cannot be selected by a user.
pub const AGENT: Agent = Agent {
    name: "mcp",
    aliases: &[],
    title: "an MCP client",
    project_variable: None,
    is_caller: |_| false,
    runs_hooks_of: &[],
    read,
    moment: |word| if word == "call" { Moment::BeforeTool } else { Moment::AfterTool },
    says: &[
        Line::new(Moment::BeforeTool, HookCapabilities::DENY, "MCP 2025-11-25, tools: a result with `isError`"),
        Line::new(Moment::AfterTool, HookCapabilities::ADVISE, "MCP 2025-11-25, tools: a text block of the result"),
    ],
    write,
    refuse: |_, _, reason| refused(reason),
    settings: None,
    limits: &[],
};

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let fields = payload.fields;
    let (word, server, tool) = (required(fields, "event")?, required(fields, "server")?, required(fields, "tool")?);
    let arguments = match fields.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(arguments) => arguments.to_string(),
    };
    let outcome = match word {
        "call" => None,
        "result" | "offer" => Some(Outcome {
            output: optional(fields, "output")?.unwrap_or_default().to_owned(),
            exit_code: None,
            failed: fields.get("failed") == Some(&Value::Bool(true)),
        }),
        _ => return Err(BadEvent::new("event", "must be `call`, `result` or `offer`")),
    };
    let cwd = required(fields, "cwd")?;
    Ok(Event {
        session: required(fields, "session")?.into(),
        client: AGENT.name.into(),
        word: word.into(),
        tool: format!("mcp__{server}__{tool}"),
        moment: (AGENT.moment)(word),
        cwd: cwd.into(),
        actions: vec![Action::McpCall { server: server.into(), tool: tool.into(), arguments }],
        outcome,
        ..Event::default()
    })
}

fn write(_event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    match delivery.reply() {
        (Decision::Deny | Decision::Ask, reason) => refused(reason),
        (Decision::Pass, "") => Reply::default(),
        (Decision::Pass, reason) => Reply { stdout: answer_text("allow", reason), ..Reply::default() },
    }
}

fn refused(reason: &str) -> Reply {
    Reply { stdout: answer_text("deny", reason), ..Reply::default() }
}

fn answer_text(decision: &str, reason: &str) -> String {
    json!({"decision": decision, "reason": reason}).to_string()
}
