//! Payloads in the form of Claude Code's hooks, which other agents took over with their own names.

use crate::json::{BadEvent, optional, required};
use crate::{Payload, Reply, stranger};
use reflex_engine::{Action, Event, Moment, Outcome};
use serde_json::{Map, Value, json};

/// What an agent calls the parts of such a payload, and what it means by them.
pub(crate) struct Form {
    /// The agent.
    pub(crate) client: &'static str,
    /// The key of the event's word.
    pub(crate) event: &'static str,
    /// The key of the session.
    pub(crate) session: &'static str,
    /// The key of the tool's name.
    pub(crate) tool: &'static str,
    /// The key of the tool's arguments.
    pub(crate) input: &'static str,
    /// The key of what a tool returned.
    pub(crate) output: &'static str,
    /// The key of the subagent's role.
    pub(crate) role: &'static str,
    /// The key of the subagent.
    pub(crate) subagent: &'static str,
    /// The key of the call's own name.
    pub(crate) call: &'static str,
    /// The words for events.
    pub(crate) events: &'static [(&'static str, Moment)],
    /// What a tool does with its arguments. The event has its folder already.
    pub(crate) actions: fn(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent>,
}

impl Form {
    /// The moment of a word, if it is known.
    pub(crate) fn known(&self, word: &str) -> Option<Moment> {
        self.events.iter().find(|(name, _)| *name == word).map(|(_, moment)| *moment)
    }

    /// The event of a payload. A word that is not known is one that comes before a tool if the payload has a call.
    pub(crate) fn read(&self, payload: &Payload<'_>) -> Result<Event, BadEvent> {
        let Payload { fields, told, .. } = *payload;
        let word = optional(fields, self.event)?.or(told);
        let word = word.ok_or_else(|| BadEvent::of(self.event, "is missing"))?;
        let has_call = stranger::has_call(fields) || payload.has(self.tool) || payload.has(self.input);
        let known = self.known(word).or_else(|| told.and_then(|told| self.known(told)));
        let moment = known.unwrap_or(if has_call { Moment::BeforeTool } else { Moment::Other });
        self.event(fields, word, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })
    }

    /// The event of a payload whose word and moment are known.
    pub(crate) fn event(&self, fields: &Map<String, Value>, word: &str, moment: Moment) -> Result<Event, BadEvent> {
        let mut event = Event {
            session: optional(fields, self.session)?.unwrap_or("").into(),
            client: self.client.into(),
            word: word.into(),
            role: optional(fields, self.role)?.map(str::to_owned),
            subagent: optional(fields, self.subagent)?.map(str::to_owned),
            mode: optional(fields, "permission_mode")?.map(str::to_owned),
            cwd: optional(fields, "cwd")?.unwrap_or("").into(),
            moment,
            tool: optional(fields, self.tool)?.unwrap_or("").into(),
            call: optional(fields, self.call)?.unwrap_or("").into(),
            goes_on: fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            ..Event::default()
        };
        match moment {
            Moment::BeforeTool | Moment::PermissionRequest => event.actions = self.call(&event, fields)?,
            Moment::AfterTool => self.after(fields, &mut event)?,
            Moment::Prompt => event.actions = vec![Action::Prompt { text: required(fields, "prompt")?.into() }],
            Moment::SessionStart | Moment::SessionEnd | Moment::Stop | Moment::Subagent | Moment::Other => {}
        }
        Ok(event)
    }

    fn call(&self, event: &Event, fields: &Map<String, Value>) -> Result<Vec<Action>, BadEvent> {
        let tool = required(fields, self.tool)?;
        // Who runs this agent's hooks with payloads of its own may call the arguments something else.
        let input = fields.get(self.input).or_else(|| stranger::input(fields));
        let input = input.ok_or_else(|| BadEvent::of(self.input, "is missing"))?;
        match stranger::written(input) {
            Some(written) => (self.actions)(event, tool, &Value::Object(written)),
            None => (self.actions)(event, tool, input),
        }
    }

    fn after(&self, fields: &Map<String, Value>, event: &mut Event) -> Result<(), BadEvent> {
        if let Some(Value::Array(calls)) = fields.get("tool_calls") {
            for call in calls.iter().filter_map(Value::as_object) {
                event.actions.extend(self.call(event, call)?);
            }
            return Ok(());
        }
        // A call may have failed for want of an argument; what can be said about it is said all the same.
        let raw =
            |_| vec![Action::Other { arguments: fields.get(self.input).map(Value::to_string).unwrap_or_default() }];
        required(fields, self.tool)?;
        event.actions = self.call(event, fields).unwrap_or_else(raw);
        let error = optional(fields, "error")?;
        let response = fields.get(self.output);
        let output = error.map_or_else(|| response.map(text).unwrap_or_default(), str::to_owned);
        let exit_code = exit_code(&output);
        event.outcome = Some(Outcome { output, exit_code, failed: error.is_some() || response.is_some_and(failed) });
        Ok(())
    }
}

/// What a tool returned, as a text: itself, what is meant for the model, or all texts in it.
fn text(response: &Value) -> String {
    let for_model =
        ["textResultForLlm", "text_result_for_llm", "llmContent"].iter().find_map(|key| response.get(key)?.as_str());
    response.as_str().or(for_model).map_or_else(|| texts(response).join("\n"), str::to_owned)
}

/// The texts of a structured result, as they are and not as JSON writes them: a line end is one.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn failed(response: &Value) -> bool {
    let result = ["resultType", "result_type"].iter().find_map(|key| response.get(key)?.as_str());
    result.is_some_and(|result| result != "success")
}

/// `<shellId: 0 completed with exit code 1>` at the end of an output, as one client writes it.
fn exit_code(output: &str) -> Option<i64> {
    let last = output.trim_end().lines().next_back()?.strip_prefix("<shellId: ")?;
    last.strip_suffix('>')?.rsplit_once(" completed with exit code ")?.1.parse().ok()
}

/// One JSON object and nothing else on standard output.
pub(crate) fn print(output: &Value) -> Reply {
    Reply { stdout: format!("{output}\n"), ..Reply::default() }
}

/// The refusal of a tool call in native JSON, with the reason on standard error and exit status 2 beside it, so that it
/// holds even where a client honours only one of them. An empty reason is taken for none, so there always is one.
pub(crate) fn refused_with(output: &Value, reason: &str) -> Reply {
    Reply { stderr: format!("{reason}\n"), code: 2, ..print(output) }
}

/// The answer before a tool: a decision with its reason.
pub(crate) fn decided(decision: &str, reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        },
    })
}

/// Words without a decision. Before a tool they are for the model and for the person, elsewhere for the model alone:
/// that is the form in which they were seen to be heard.
pub(crate) fn advised(event: &Event, reason: &str) -> Reply {
    if event.moment == Moment::BeforeTool {
        return print(&json!({
            "systemMessage": reason,
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": reason},
        }));
    }
    print(&json!({"hookSpecificOutput": {"hookEventName": event.word, "additionalContext": reason}}))
}

/// Another call in place of this one, with words about it for the person and the model. There is no decision in it: the
/// client asks its own permissions about the new call.
pub(crate) fn replaced(arguments: &Value, reason: &str) -> Value {
    json!({
        "systemMessage": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": arguments, "additionalContext": reason,
        },
    })
}

/// A refusal after which the turn ends.
pub(crate) fn ended(reason: &str) -> Value {
    let mut answer = decided("deny", reason);
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("continue".into(), false.into());
        answer.insert("stopReason".into(), reason.into());
    }
    answer
}

/// Keeps an agent at work that would stop. Only a judgement does: who cannot judge lets it stop.
pub(crate) fn kept_at_work(reason: &str) -> Reply {
    print(&json!({"decision": "block", "reason": reason}))
}

/// The refusal at each moment at which one is honoured.
pub(crate) fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => refused_with(&decided("deny", reason), reason),
        Moment::PermissionRequest => print(&json!({
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": reason},
            },
        })),
        Moment::Prompt => print(&json!({"decision": "block", "reason": reason})),
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::Other => Reply::default(),
    }
}
