//! Values of script expressions, as far as they are known.

use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::CommandId;
use crate::reading::ENTIRE_ENVIRONMENT;
use reflex_work as work;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::token::Token;

/// Maximum length of a text in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Name of the environment in all languages.
pub(super) const ENVIRONMENT: &str = "environment";

/// Maximum number of alternatives of a value.
pub(super) const MAX_ALTERNATIVES: usize = 64;

/// The values of names.
pub(super) type Names = Rc<BTreeMap<String, ScriptValue>>;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptValue {
    Text(Text),
    Number(i64),
    /// A Boolean, or the languages' null value.
    Ternary(bool),
    List(Rc<Vec<ScriptValue>>),
    /// Keys with their values; an unknown key is empty.
    Map(Rc<Vec<(String, ScriptValue)>>),
    /// One of several alternatives.
    Any(Rc<Vec<ScriptValue>>),
    /// The qualified name of a module, class, function or object that the script does not define.
    Name(Rc<str>),
    Function(Rc<Function>),
    /// An open file: its path.
    File(Box<Text>),
}

/// A text with its sources.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text {
    pub(super) value: Value,
    /// The commands whose output is part of the text.
    pub(super) from: Vec<CommandId>,
    /// The files whose content is part of the text.
    pub(super) files: Vec<Value>,
}

/// A function that the script defines.
#[derive(Debug, PartialEq)]
pub(super) struct Function {
    pub(super) parameters: Vec<String>,
    /// The tokens that contain the function; `begin` and `end` delimit its body.
    pub(super) tokens: Tokens,
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Whether the body is a single expression.
    pub(super) expression: bool,
    /// Index of the module in whose scope the body is walked.
    pub(super) module: usize,
}

/// Shared tokens, compared by identity.
#[derive(Debug, Clone)]
pub(super) struct Tokens(pub(super) Rc<[Token]>);

impl PartialEq for Tokens {
    fn eq(&self, other: &Tokens) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Value> for ScriptValue {
    fn from(value: Value) -> ScriptValue {
        ScriptValue::Text(Text { value, ..Text::default() })
    }
}

impl ScriptValue {
    pub(super) fn unknown(why: UnknownReason, origin: Origin) -> ScriptValue {
        Value::piece(Piece::Unknown(why), origin).into()
    }

    pub(super) fn name(name: impl Into<Rc<str>>) -> ScriptValue {
        ScriptValue::Name(name.into())
    }

    pub(super) fn list(items: Vec<ScriptValue>) -> ScriptValue {
        ScriptValue::List(Rc::new(items))
    }

    /// Returns one of several alternatives, flattening nested ones.
    pub(super) fn any(items: Vec<ScriptValue>) -> ScriptValue {
        let mut all: Vec<ScriptValue> = Vec::new();
        // Each item is compared with those before it.
        work::spend((items.len() * items.len().min(MAX_ALTERNATIVES)) as u64 / 2);
        for item in items.iter().flat_map(ScriptValue::alternatives) {
            if all.len() < MAX_ALTERNATIVES && !all.contains(item) {
                all.push(item.clone());
            }
        }
        match all.len() {
            1 => all.swap_remove(0),
            _ => ScriptValue::Any(Rc::new(all)),
        }
    }

    /// Returns the qualified name, if the value is only a name.
    pub(super) fn as_name(&self) -> Option<&str> {
        if let ScriptValue::Name(name) = self { Some(name) } else { None }
    }

    /// Returns all alternatives of the value.
    pub(super) fn alternatives(&self) -> &[ScriptValue] {
        if let ScriptValue::Any(all) = self { all } else { std::slice::from_ref(self) }
    }

    /// Applies `change` to each alternative.
    pub(super) fn each(&self, change: impl FnMut(&ScriptValue) -> ScriptValue) -> ScriptValue {
        ScriptValue::any(self.alternatives().iter().map(change).collect())
    }

    /// Whether the value is known to be false or null.
    pub(super) fn is_false(&self) -> bool {
        matches!(self, ScriptValue::Ternary(false))
    }

    /// Returns the text, if it is known.
    pub(super) fn literal(&self) -> Option<String> {
        if let ScriptValue::Number(number) = self {
            return Some(number.to_string());
        }
        let ScriptValue::Text(text) = self else { return None };
        text.value.literal().map(|text| text.into_owned())
    }

    pub(super) fn number(&self) -> Option<i64> {
        match self {
            ScriptValue::Number(number) => Some(*number),
            ScriptValue::Ternary(truth) => Some(i64::from(*truth)),
            ScriptValue::Text(_) => self.literal()?.trim().parse().ok(),
            ScriptValue::Any(_)
            | ScriptValue::List(_)
            | ScriptValue::Map(_)
            | ScriptValue::Name(_)
            | ScriptValue::Function(_)
            | ScriptValue::File(_) => None,
        }
    }

    /// Returns the items of a list. The characters of a text are not items.
    pub(super) fn items(&self) -> Option<&[ScriptValue]> {
        if let ScriptValue::List(items) = self { Some(items) } else { None }
    }

    pub(super) fn field(&self, key: &str) -> Option<&ScriptValue> {
        if let ScriptValue::Map(fields) = self {
            fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
        } else {
            None
        }
    }

    /// Converts the value to a text that keeps its sources.
    pub(super) fn text(&self, origin: Origin) -> Text {
        match self {
            ScriptValue::Text(text) => text.clone(),
            ScriptValue::Number(number) => Text { value: Value::text(number.to_string(), origin), ..Text::default() },
            ScriptValue::File(path) => Text {
                value: Value::piece(Piece::Unknown(UnknownReason::Input), origin),
                from: path.from.clone(),
                files: vec![path.value.clone()],
            },
            ScriptValue::List(items) => self.mixed(items.iter(), origin),
            ScriptValue::Map(fields) => self.mixed(fields.iter().map(|(_, value)| value), origin),
            ScriptValue::Any(items) => self.mixed(items.iter(), origin),
            ScriptValue::Name(name) if **name == *ENVIRONMENT => Text {
                value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
                files: vec![Value::text(ENTIRE_ENVIRONMENT, origin)],
                ..Text::default()
            },
            ScriptValue::Ternary(_) | ScriptValue::Name(_) | ScriptValue::Function(_) => {
                Text { value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin), ..Text::default() }
            }
        }
    }

    /// Returns an unknown text with the sources of the items.
    fn mixed<'d>(&'d self, items: impl Iterator<Item = &'d ScriptValue>, origin: Origin) -> Text {
        let mut mixture =
            Text { value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin), ..Text::default() };
        for item in items.take(MAX_ALTERNATIVES) {
            // One level of nesting is enough: deeper lists do not count as data that is sent.
            let inner = match item {
                ScriptValue::Text(text) => text.clone(),
                ScriptValue::File(_) | ScriptValue::Name(_) => item.text(origin),
                ScriptValue::Map(fields) => fields.iter().fold(Text::default(), |mut all, (_, value)| {
                    if let ScriptValue::Text(_) | ScriptValue::File(_) | ScriptValue::Name(_) = value {
                        all.taint(&value.text(origin));
                    }
                    all
                }),
                ScriptValue::List(items) => {
                    items.iter().take(MAX_ALTERNATIVES).fold(Text::default(), |mut all, value| {
                        if let ScriptValue::Text(_) | ScriptValue::File(_) | ScriptValue::Name(_) = value {
                            all.taint(&value.text(origin));
                        }
                        all
                    })
                }
                ScriptValue::Number(_) | ScriptValue::Ternary(_) | ScriptValue::Any(_) | ScriptValue::Function(_) => {
                    continue;
                }
            };
            mixture.taint(&inner);
        }
        mixture
    }

    /// Returns the words that the value becomes as an argument: one for each item of a list.
    pub(super) fn words(&self, origin: Origin) -> Vec<Value> {
        if let ScriptValue::List(items) = self {
            return items.iter().flat_map(|item| item.word(origin)).collect();
        }
        self.word(origin).into_iter().collect()
    }

    fn word(&self, origin: Origin) -> Option<Value> {
        match self {
            ScriptValue::Function(_) | ScriptValue::Map(_) | ScriptValue::Ternary(_) => None,
            ScriptValue::File(path) => Some(path.value.clone()),
            // Alternatives are separated before words are built, except for those inside lists.
            ScriptValue::Any(_) | ScriptValue::List(_) => {
                Some(Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin))
            }
            ScriptValue::Text(_) | ScriptValue::Number(_) | ScriptValue::Name(_) => Some(self.text(origin).value),
        }
    }
}

impl Text {
    /// Appends another text.
    pub(super) fn push(&mut self, other: Text) {
        self.taint(&other);
        let size = |value: &Value| {
            value.pieces.iter().map(|(piece, _)| 8 + piece.as_text().map_or(0, str::len)).sum::<usize>()
        };
        if size(&self.value) + size(&other.value) > MAX_BYTES {
            self.value = Value::piece(Piece::Unknown(UnknownReason::Limit), self.value.origin());
            return;
        }
        for (piece, origin) in other.value.pieces {
            let unknown = |piece: &Piece| matches!(piece, Piece::Unknown(_));
            match piece.as_text() {
                Some(text) => self.value.push_text(text, origin),
                // Adjacent unknown parts are merged.
                None if unknown(&piece) && self.value.pieces.last().is_some_and(|(last, _)| unknown(last)) => {}
                None => self.value.pieces.push((piece, origin)),
            }
        }
    }

    /// Whether the text contains the values of the complete environment.
    pub(super) fn holds_environment(&self) -> bool {
        self.files.iter().any(|file| file.literal().is_some_and(|path| path == ENTIRE_ENVIRONMENT))
    }

    /// Adds the sources of another text.
    pub(super) fn taint(&mut self, other: &Text) {
        for id in &other.from {
            if self.from.len() < MAX_ALTERNATIVES && !self.from.contains(id) {
                self.from.push(*id);
            }
        }
        for file in &other.files {
            if self.files.len() < MAX_ALTERNATIVES && !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
    }
}
