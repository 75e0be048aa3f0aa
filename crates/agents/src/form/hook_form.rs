//! The format of a payload: the agent's keys, and the reader that builds an event from them.

use super::arguments;
use super::outcome::{exit_code, failed, text};
use crate::json::{BadEvent, optional, required};
use crate::model::payload::Payload;
use reflex_engine::{Action, AgentPath, Event, Moment, Outcome};
use serde_json::{Map, Value};

/// Returns the actions of a tool call.
pub(crate) type Actions = fn(event: &Event, tool: &str, input: &Value) -> Result<Vec<Action>, BadEvent>;

/// The keys and event names of an agent's payloads.
pub(crate) struct HookProtocol {
    /// Name of the agent.
    pub(crate) client: &'static str,
    /// Key of the event's name.
    pub(crate) event: &'static str,
    /// Key of the session id.
    pub(crate) session: &'static str,
    /// Key of the tool's name.
    pub(crate) tool: &'static str,
    /// Key of the tool's arguments.
    pub(crate) input: &'static str,
    /// Key of the tool's output.
    pub(crate) output: &'static str,
    /// Key of the subagent's role.
    pub(crate) role: &'static str,
    /// Key of the subagent's id.
    pub(crate) subagent: &'static str,
    /// Key of the call's id.
    pub(crate) call: &'static str,
    /// Event names with their moments.
    pub(crate) events: &'static [(&'static str, Moment)],
    /// Reader of the tool's actions. It gets the event with its working directory already set.
    pub(crate) actions: Actions,
}

impl HookProtocol {
    /// Returns the format with Claude Code's keys.
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

    /// Returns the moment of an event name. `None` if it is unknown.
    pub(crate) fn known(&self, word: &str) -> Option<Moment> {
        self.events.iter().find(|(name, _)| *name == word).map(|(_, moment)| *moment)
    }

    /// Reads the event of a payload. An unknown event precedes a tool if the payload has a call.
    pub(crate) fn read(&self, payload: &Payload<'_>) -> Result<Event, BadEvent> {
        let Payload { fields, event_name, .. } = *payload;
        let word = optional(fields, self.event)?.or(event_name);
        let word = word.ok_or_else(|| BadEvent::new(self.event, "is missing"))?;
        let has_call = arguments::has_call(fields) || payload.has(self.tool) || payload.has(self.input);
        let known = self.known(word).or_else(|| event_name.and_then(|event_name| self.known(event_name)));
        let moment = known.unwrap_or(if has_call { Moment::BeforeTool } else { Moment::Other });
        self.event(fields, word, moment).map_err(|problem| BadEvent { moment: Some(moment), ..problem })
    }

    /// Reads the event of a payload whose name and moment are known.
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
            Moment::SettingsChange => {
                // Settings of an administrator may come from no file.
                let file = match optional(fields, "source")? {
                    Some(_) => optional(fields, "file_path")?,
                    None => Some(required(fields, "file_path")?),
                };
                event.actions = file.map(|file| Action::Read { path: AgentPath::new(file) }).into_iter().collect();
            }
            Moment::SessionStart | Moment::SessionEnd | Moment::Stop | Moment::Subagent | Moment::Other => {}
        }
        Ok(event)
    }

    fn call(&self, event: &Event, fields: &Map<String, Value>) -> Result<Vec<Action>, BadEvent> {
        let tool = required(fields, self.tool)?;
        // Another client that runs this agent's hooks with its own payloads may use another key.
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
        // The call may have failed because an argument was missing. It is then reported with its raw arguments.
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
