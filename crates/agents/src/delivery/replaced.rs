//! The call that is to run in place of another, in the agent's own arguments.

use crate::model::agent::Agent;
use crate::model::payload::Payload;
use reflex_engine::{Event, Rewrite};
use serde_json::{Map, Value};

/// Where agents put a tool's arguments.
const ARGUMENTS: [&str; 3] = ["tool_input", "toolArgs", "args"];

impl Agent {
    /// The complete arguments of the call that a rewrite puts in place of this one, every argument that it does not name
    /// as it was. `None` where the agent's own reader would not read exactly that call out of them: an argument that is
    /// made of several, a patch, a text in a list.
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

/// A call with the arguments that it has by now.
struct Call<'a> {
    agent: &'a Agent,
    payload: &'a Payload<'a>,
    key: &'static str,
    arguments: Map<String, Value>,
}

impl Call<'_> {
    /// The arguments with this text in the one place that makes the one event the other.
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
