//! The form of a payload: what an agent calls its parts, and how an event is read out of them.

use super::arguments;
use super::outcome::{exit_code, failed, text};
use crate::json::{BadEvent, optional, required};
use crate::model::payload::Payload;
use reflex_engine::{Action, Event, Moment, Outcome};
use serde_json::{Map, Value};

/// Reads what a tool does with its arguments.
pub(crate) type Actions = fn(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent>;

/// What an agent calls the parts of such a payload, and what it means by them.
pub(crate) struct HookProtocol {
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
    pub(crate) actions: Actions,
}

impl HookProtocol {
    /// The form with the keys of Claude Code.
    pub(crate) const fn new(
        client: &'static str,
        events: &'static [(&'static str, Moment)],
        actions: Actions,
    ) -> HookProtocol {
        HookProtocol {
            client,
            event: "hook_event_name",
            session: "session_id",
            tool: "tool_name",
            input: "tool_input",
            output: "tool_response",
            role: "agent_type",
            subagent: "agent_id",
            call: "tool_use_id",
            events,
            actions,
        }
    }

    /// The moment of a word, if it is known.
    pub(crate) fn known(&self, word: &str) -> Option<Moment> {
        self.events.iter().find(|(name, _)| *name == word).map(|(_, moment)| *moment)
    }

    /// The event of a payload. A word that is not known is one that comes before a tool if the payload has a call.
    pub(crate) fn read(&self, payload: &Payload<'_>) -> Result<Event, BadEvent> {
        let Payload { fields, told, .. } = *payload;
        let word = optional(fields, self.event)?.or(told);
        let word = word.ok_or_else(|| BadEvent::new(self.event, "is missing"))?;
        let has_call = arguments::has_call(fields) || payload.has(self.tool) || payload.has(self.input);
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
        let input = fields.get(self.input).or_else(|| arguments::input(fields));
        let input = input.ok_or_else(|| BadEvent::new(self.input, "is missing"))?;
        match arguments::written(input) {
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
