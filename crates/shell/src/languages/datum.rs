//! What an expression stands for, as far as it is known.

use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::CommandId;
use crate::reading::WHOLE_ENVIRONMENT;
use reflex_work as work;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::token::Token;

/// A text longer than this is not followed.
const LONGEST: usize = 64 * 1024;

/// The name under which all variables of the environment are known, whatever a language calls them.
pub(super) const ENVIRONMENT: &str = "environment";

/// How many alternatives are told apart.
pub(super) const MOST: usize = 64;

/// The values of names.
pub(super) type Names = Rc<BTreeMap<String, ScriptValue>>;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptValue {
    Text(Text),
    Number(i64),
    /// A truth value, or nothing at all.
    Ternary(bool),
    List(Rc<Vec<ScriptValue>>),
    /// Keys with their values; a key that is not known is empty.
    Map(Rc<Vec<(String, ScriptValue)>>),
    /// One of these.
    Any(Rc<Vec<ScriptValue>>),
    /// A module, class, function or object that the text does not define: its dotted name.
    Name(Rc<str>),
    Function(Rc<Function>),
    /// An open file: its path.
    File(Box<Text>),
}

/// A text with what is in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text {
    pub(super) value: Value,
    /// The commands that made a part of it.
    pub(super) from: Vec<CommandId>,
    /// The files whose content is a part of it.
    pub(super) files: Vec<Value>,
}

/// A function that the text defines.
#[derive(Debug, PartialEq)]
pub(super) struct Function {
    pub(super) parameters: Vec<String>,
    /// The tokens in which it stands, and where its body begins and ends.
    pub(super) tokens: Tokens,
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Whether the body is one expression.
    pub(super) expression: bool,
    /// The loaded file among whose names it is walked.
    pub(super) module: usize,
}

/// Tokens that are shared; two are the same if they are one.
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

    /// One of these, alternatives in them told apart.
    pub(super) fn any(items: Vec<ScriptValue>) -> ScriptValue {
        let mut all: Vec<ScriptValue> = Vec::new();
        // Each is compared with those before it.
        work::spend((items.len() * items.len().min(MOST)) as u64 / 2);
        for item in items.iter().flat_map(ScriptValue::alternatives) {
            if all.len() < MOST && !all.contains(item) {
                all.push(item.clone());
            }
        }
        match all.len() {
            1 => all.swap_remove(0),
            _ => ScriptValue::Any(Rc::new(all)),
        }
    }

    /// The name that it is, if it is no value but a name.
    pub(super) fn as_name(&self) -> Option<&str> {
        if let ScriptValue::Name(name) = self { Some(name) } else { None }
    }

    /// Everything that it may be.
    pub(super) fn alternatives(&self) -> &[ScriptValue] {
        if let ScriptValue::Any(all) = self { all } else { std::slice::from_ref(self) }
    }

    /// The same for each alternative.
    pub(super) fn each(&self, change: impl FnMut(&ScriptValue) -> ScriptValue) -> ScriptValue {
        ScriptValue::any(self.alternatives().iter().map(change).collect())
    }

    /// Whether it is known to count as false.
    pub(super) fn is_false(&self) -> bool {
        matches!(self, ScriptValue::Ternary(false))
    }

    /// The known text.
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

    /// The items of a list; a text's letters are no items.
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

    /// As a text, with what is in it.
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
                files: vec![Value::text(WHOLE_ENVIRONMENT, origin)],
                ..Text::default()
            },
            ScriptValue::Ternary(_) | ScriptValue::Name(_) | ScriptValue::Function(_) => {
                Text { value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin), ..Text::default() }
            }
        }
    }

    /// A text that is not known but for what is in it.
    fn mixed<'d>(&'d self, items: impl Iterator<Item = &'d ScriptValue>, origin: Origin) -> Text {
        let mut whole =
            Text { value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin), ..Text::default() };
        for item in items.take(MOST) {
            // One level is enough: what lists hold in lists is no data that is sent.
            let inner = match item {
                ScriptValue::Text(text) => text.clone(),
                ScriptValue::File(_) | ScriptValue::Name(_) => item.text(origin),
                ScriptValue::Map(fields) => fields.iter().fold(Text::default(), |mut all, (_, value)| {
                    if let ScriptValue::Text(_) | ScriptValue::File(_) | ScriptValue::Name(_) = value {
                        all.taint(&value.text(origin));
                    }
                    all
                }),
                ScriptValue::List(items) => items.iter().take(MOST).fold(Text::default(), |mut all, value| {
                    if let ScriptValue::Text(_) | ScriptValue::File(_) | ScriptValue::Name(_) = value {
                        all.taint(&value.text(origin));
                    }
                    all
                }),
                ScriptValue::Number(_) | ScriptValue::Ternary(_) | ScriptValue::Any(_) | ScriptValue::Function(_) => {
                    continue;
                }
            };
            whole.taint(&inner);
        }
        whole
    }

    /// The words that it stands for as an argument: a list stands for its items.
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
            // Alternatives are told apart before words are asked for; those in lists are not.
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
        if size(&self.value) + size(&other.value) > LONGEST {
            self.value = Value::piece(Piece::Unknown(UnknownReason::Limit), self.value.origin());
            return;
        }
        for (piece, origin) in other.value.pieces {
            let unknown = |piece: &Piece| matches!(piece, Piece::Unknown(_));
            match piece.as_text() {
                Some(text) => self.value.push_text(text, origin),
                // Two parts that are not known are one.
                None if unknown(&piece) && self.value.pieces.last().is_some_and(|(last, _)| unknown(last)) => {}
                None => self.value.pieces.push((piece, origin)),
            }
        }
    }

    /// Whether the values of the whole environment are in it.
    pub(super) fn holds_environment(&self) -> bool {
        self.files.iter().any(|file| file.literal().is_some_and(|path| path == WHOLE_ENVIRONMENT))
    }

    /// What is in the other is in this one too.
    pub(super) fn taint(&mut self, other: &Text) {
        for id in &other.from {
            if self.from.len() < MOST && !self.from.contains(id) {
                self.from.push(*id);
            }
        }
        for file in &other.files {
            if self.files.len() < MOST && !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
    }
}
