//! The supervisor of `reflex run --supervise`, which reports every program that an agent's processes start:
//!
//! ```json
//! {"id": "RECORD", "causes": ["RECORD of the start that this one comes from", "…"], "process": 4711,
//!  "session": "the run", "agent": "aider", "command": "git push", "cwd": "/repo", "workspace": "/repo",
//!  "environment": {"GIT_DIR": "/other"}, "person": false}
//! ```
//!
//! A status other than 0 refuses; the process that wanted to start the program gets the text. `person` is whether a person
//! reads it at a terminal.

use crate::json::{BadEvent, required};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Moment, Started, Verdict};
use serde_json::Value;

/// The adapter of the supervisor. It is internal and not listed in `AGENTS`: no program may call it by name.
pub const AGENT: Agent = Agent {
    name: "supervisor",
    aliases: &[],
    title: "the supervisor",
    project_variable: None,
    is_caller: |_| false,
    runs_hooks_of: &[],
    read,
    moment: |_| Moment::BeforeTool,
    says: &[Line::new(Moment::BeforeTool, HookCapabilities::DENY, "a refused start fails with EPERM, execve(2)")],
    write,
    refuse: |_, _, reason| refused(reason),
    settings: None,
    limits: &[],
};

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let fields = payload.fields;
    let text = |key| required(fields, key).map(str::to_owned);
    let environment = fields.get("environment").and_then(Value::as_object);
    let variables = environment.into_iter().flatten();
    let causes = fields.get("causes").and_then(Value::as_array).into_iter().flatten();
    let variables = variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Ok(Event {
        session: text("session")?,
        client: text("agent")?,
        word: "start".into(),
        tool: "start".into(),
        cwd: text("cwd")?,
        workspace: text("workspace")?,
        actions: vec![Action::Shell { command: text("command")?, language: Language::default() }],
        started: Some(Started {
            id: text("id")?,
            causes: causes.filter_map(Value::as_str).map(str::to_owned).collect(),
            process: fields.get("process").and_then(Value::as_u64).unwrap_or(0),
            environment: variables.collect(),
            is_for_person: fields.get("person").and_then(Value::as_bool) == Some(true),
        }),
        ..Event::default()
    })
}

fn write(_event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    match delivery.reply() {
        (Decision::Deny | Decision::Ask, reason) => refused(reason),
        // The program's output stays as it is; only a refusal adds a line.
        (Decision::Pass, _) => Reply::default(),
    }
}

fn refused(reason: &str) -> Reply {
    Reply { stderr: reason.to_owned(), code: 1, ..Reply::default() }
}
