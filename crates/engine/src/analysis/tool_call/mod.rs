//! Calls of tools that no agent's table knows, converted to the actions that they mean: the verb of the tool's name
//! applied to its arguments. A renamed shell is a shell, and a server's `delete` of a path is a deletion.
//!
//! The meaning of words in names and of keys in arguments is data (`library/tools`). A call that is not understood is
//! marked as such.

mod acts;
pub(crate) mod call;
pub(crate) mod name;
mod named;
mod operations;
mod slots;
mod texts;

use self::acts::Context;
use self::call::{Call, Called, called};
use self::name::{Name, Way};
use self::slots::Slots;
use crate::model::event::{Action, Event};
use crate::text::deep_json::parse_json;
use reflex_tables::Tables;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

/// Maximum number of argument objects read in one call.
const MAX_OBJECTS: usize = 16_384;

/// Maximum number of actions of one call.
const MAX_ACTIONS: usize = 512;

/// Maximum depth of nested objects, including objects in texts. No JSON text is deeper; texts in texts may be.
const DEEPEST: usize = 128;

/// Returns the event with the actions of its unknown tool calls appended, or the event itself if it has none.
pub fn unfolded<'e>(event: &'e Event, tables: Tables) -> Cow<'e, Event> {
    let calls = event.actions.iter().filter_map(|action| called(event, action));
    let meant: Vec<Action> = calls.flat_map(|called| read(called, tables).actions).collect();
    if meant.is_empty() || event.actions.ends_with(&meant) {
        return Cow::Borrowed(event);
    }
    let mut event = event.clone();
    event.actions.extend(meant);
    Cow::Owned(event)
}

/// Returns the meaning of a call.
pub(crate) fn read(called: Called<'_>, tables: Tables) -> Call {
    let mut reader = Reader { tables, cwd: called.cwd, call: Call::default(), objects: 0 };
    let arguments = object_of(called.arguments);
    reader.call(called.server, called.tool, &arguments, 0);
    reader.call
}

/// Returns the arguments of a call as an object. A value without a key gets a default key.
fn object_of(arguments: &str) -> Map<String, Json> {
    let (key, value) = match parse_json::<Json>(arguments) {
        Ok(Json::Object(fields)) => return fields,
        Ok(Json::Null) => return Map::new(),
        // A list without a key can only be the words of a command.
        Ok(Json::Array(items)) => ("command", Json::Array(items)),
        Ok(Json::String(text)) => ("input", Json::String(text)),
        Ok(Json::Bool(_) | Json::Number(_)) | Err(_) => ("input", Json::String(arguments.to_owned())),
    };
    let is_empty = value.as_str().is_some_and(|text| text.trim().is_empty());
    if is_empty { Map::new() } else { Map::from_iter([(key.to_owned(), value)]) }
}

/// Reads one call, and the calls nested in it.
struct Reader<'a> {
    tables: Tables,
    cwd: &'a str,
    call: Call,
    objects: usize,
}

impl Reader<'_> {
    fn call(&mut self, server: &str, tool: &str, arguments: &Map<String, Json>, depth: usize) {
        let name = Name::parse(server, tool, self.tables);
        let context = Context::new(&name);
        self.call.is_judged |= name.is_harmless();
        self.call.is_search |= name.way == Some(Way::Looks);
        self.object(arguments, &context, depth);
    }

    /// Adds the meaning of one object, up to the maximum.
    fn take(&mut self, statements: Vec<String>, actions: Vec<Action>) {
        let room = MAX_ACTIONS.saturating_sub(self.call.actions.len());
        self.call.is_cut |= actions.len() > room;
        for action in actions.into_iter().take(room) {
            // A repetition of the previous action, as from an enclosing object, is skipped.
            if self.call.actions.last() != Some(&action) {
                self.call.actions.push(action);
            }
        }
        self.call.statements.extend(statements.into_iter().take(MAX_ACTIONS));
    }

    /// Reads one argument object in the context of the enclosing ones.
    fn object(&mut self, fields: &Map<String, Json>, around: &Context<'_>, depth: usize) {
        self.objects += 1;
        if depth > DEEPEST || self.objects > MAX_OBJECTS {
            self.call.is_cut = true;
            return;
        }
        let mut slots = Slots::new(fields, self.tables.library().tools());
        if let Some((tool, arguments)) = slots.inner.take() {
            return self.call(slots.server, tool, &arguments, depth + 1);
        }
        let context = around.within(&slots, self.tables.library().tools());
        slots.take_parts(context.way, self.tables.library().tools());
        if context.may_hand_on() {
            slots.take_handed_on();
        }
        let acts = context.act(&slots, self.tables, self.cwd);
        self.call.is_judged |= acts.is_judged;
        self.take(acts.statements, acts.actions);
        let inner = context.handed_down(&slots);
        for nested in std::mem::take(&mut slots.nested) {
            self.object(&nested, &inner, depth + 1);
        }
    }
}
