//! Git, which runs its hooks before commits and pushes regardless of the caller. It sends no payload: the guard
//! collects the content to be committed or pushed, in this format:
//!
//! ```json
//! {"hook": "pre-commit", "cwd": "/repo", "files": [
//!     {"path": "a.ts", "before": "the last commit's text", "content": "the staged text"},
//!     {"path": "b.ts", "deleted": true}]}
//! {"hook": "pre-push", "cwd": "/repo", "files": [], "pushes": ["git push --force-with-lease origin main"]}
//! ```
//!
//! A hook refuses with any exit status other than 0; git shows its standard error to the caller.

use crate::json::{BadEvent, optional, required};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use reflex_engine::shell::Language;
use reflex_engine::{Action, AgentPath, Decision, Event, Moment, Verdict};
use serde_json::{Map, Value};

/// The git adapter. It is internal and not listed in `AGENTS`, as a user cannot select it.
pub const AGENT: Agent = Agent {
    name: "git",
    aliases: &[],
    title: "git",
    project_variable: None,
    is_caller: |_| false,
    runs_hooks_of: &[],
    read,
    moment: |_| Moment::BeforeTool,
    says: &[Line::new(Moment::BeforeTool, HookCapabilities::DENY_ADVISE, "githooks(5): a status other than 0 aborts")],
    write,
    refuse: |_, _, reason| refused(reason),
    settings: None,
    limits: &[],
};

fn read(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    let fields = payload.fields;
    let (hook, cwd) = (required(fields, "hook")?, required(fields, "cwd")?);
    let mut actions = Vec::new();
    for push in list(fields, "pushes")? {
        let command =
            push.as_str().ok_or_else(|| BadEvent::new("pushes", "contains a value that is not a string"))?.to_owned();
        actions.push(Action::Shell { command, language: Language::default() });
    }
    for file in list(fields, "files")? {
        actions.push(action(
            file.as_object().ok_or_else(|| BadEvent::new("files", "contains a value that is not an object"))?,
        )?);
    }
    Ok(Event {
        // All commits of a repository share one session, so that an approval of a commit also covers its retry.
        session: cwd.into(),
        client: AGENT.name.into(),
        word: hook.into(),
        tool: hook.into(),
        cwd: cwd.into(),
        actions,
        is_done: true,
        ..Event::default()
    })
}

fn list<'f>(fields: &'f Map<String, Value>, key: &str) -> Result<&'f [Value], BadEvent> {
    match fields.get(key) {
        None => Ok(&[]),
        Some(Value::Array(values)) => Ok(values),
        Some(_) => Err(BadEvent::new(key, "is not a list")),
    }
}

fn action(file: &Map<String, Value>) -> Result<Action, BadEvent> {
    let path = AgentPath::new(required(file, "path")?);
    if file.get("deleted") == Some(&Value::Bool(true)) {
        return Ok(Action::Delete { path });
    }
    let text = |key| optional(file, key).map(|text| text.unwrap_or("").to_owned());
    Ok(Action::Edit { path, content: text("content")?, removed: text("before")?, parts: Vec::new() })
}

fn write(_event: &Event, _verdict: &Verdict, delivery: &Delivery) -> Reply {
    match delivery.reply() {
        (Decision::Deny | Decision::Ask, reason) => refused(reason),
        (Decision::Pass, "") => Reply::default(),
        (Decision::Pass, reason) => Reply { stderr: format!("reflex: {reason}\n"), ..Reply::default() },
    }
}

fn refused(reason: &str) -> Reply {
    Reply { stderr: format!("reflex: {reason}\n"), code: 1, ..Reply::default() }
}
