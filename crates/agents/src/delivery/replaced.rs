//! The call that replaces another, in the agent's own arguments.

use crate::model::agent::Agent;
use crate::model::payload::Payload;
use reflex_engine::{Event, Rewrite};
use serde_json::{Map, Value};

/// Keys under which agents send a tool's arguments.
const ARGUMENTS: [&str; 3] = ["tool_input", "toolArgs", "args"];

impl Agent {
    /// Returns the complete arguments of the replacement call. Arguments that the rewrite does not name are unchanged.
    /// `None` if the agent's reader would not parse exactly that call from them: an argument composed of several, a
    /// patch, or a text in a list.
    pub fn replaced(&self, payload: &Payload<'_>, event: &Event, rewrite: &Rewrite) -> Option<Value> {
        let key = ARGUMENTS.into_iter().find(|key| payload.has(key))?;
        let mut call = Call { agent: self, payload, key, arguments: payload.fields.get(key)?.as_object()?.clone() };
        let mut now = event.clone();
        for field in &rewrite.fields {
            let one = Rewrite { fields: vec![field.clone()] };
            let then = one.applied(&now)?;
            call.arguments = call.changed(&now, &then, &field.1)?;
            now = then;
        }
        Some(Value::Object(call.arguments))
    }
}

/// A call with its arguments so far.
struct Call<'a> {
    agent: &'a Agent,
    payload: &'a Payload<'a>,
    key: &'static str,
    arguments: Map<String, Value>,
}

impl Call<'_> {
    /// Returns the arguments with one string replaced by `text`, such that they parse to the actions of `then`.
    fn changed(&self, now: &Event, then: &Event, text: &str) -> Option<Map<String, Value>> {
        if now.actions == then.actions {
            return Some(self.arguments.clone());
        }
        let texts = self.arguments.iter().filter(|(_, value)| value.is_string());
        let mut changes = texts.map(|(name, _)| {
            let mut changed = self.arguments.clone();
            changed.insert(name.clone(), text.into());
            changed
        });
        changes.find(|changed| self.read(changed).is_some_and(|read| read.actions == then.actions))
    }

    fn read(&self, arguments: &Map<String, Value>) -> Option<Event> {
        let mut fields = self.payload.fields.clone();
        fields.insert(self.key.to_owned(), Value::Object(arguments.clone()));
        (self.agent.read)(&Payload { fields: &fields, ..*self.payload }).ok()
    }
}
