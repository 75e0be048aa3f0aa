//! What an expression stands for, as far as it is known.

use crate::model::value::{Origin, Piece, Value, Why};
use crate::reading::CommandId;
use crate::reading::WHOLE_ENVIRONMENT;
use reflex_work as work;
use std::rc::Rc;

use super::token::Token;

/// A text longer than this is not followed.
const LONGEST: usize = 64 * 1024;

/// The name under which all variables of the environment are known, whatever a language calls them.
pub(super) const ENVIRONMENT: &str = "environment";

/// How many alternatives are told apart.
pub(super) const MOST: usize = 64;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Datum {
    Text(Text),
    Number(i64),
    /// A truth value, or nothing at all.
    Ternary(bool),
    List(Rc<Vec<Datum>>),
    /// Keys with their values; a key that is not known is empty.
    Map(Rc<Vec<(String, Datum)>>),
    /// One of these.
    Any(Rc<Vec<Datum>>),
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
}

/// Tokens that are shared; two are the same if they are one.
#[derive(Debug, Clone)]
pub(super) struct Tokens(pub(super) Rc<[Token]>);

impl PartialEq for Tokens {
    fn eq(&self, other: &Tokens) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Value> for Datum {
    fn from(value: Value) -> Datum {
        Datum::Text(Text { value, ..Text::default() })
    }
}

impl Datum {
    pub(super) fn unknown(why: Why, origin: Origin) -> Datum {
        Value::piece(Piece::Unknown(why), origin).into()
    }

    pub(super) fn name(name: impl Into<Rc<str>>) -> Datum {
        Datum::Name(name.into())
    }

    pub(super) fn list(items: Vec<Datum>) -> Datum {
        Datum::List(Rc::new(items))
    }

    /// One of these, alternatives in them told apart.
    pub(super) fn any(items: Vec<Datum>) -> Datum {
        let mut all: Vec<Datum> = Vec::new();
        // Each is compared with those before it.
        work::spend((items.len() * items.len().min(MOST)) as u64 / 2);
        for item in items.iter().flat_map(Datum::alternatives) {
            if all.len() < MOST && !all.contains(item) {
                all.push(item.clone());
            }
        }
        match all.len() {
            1 => all.swap_remove(0),
            _ => Datum::Any(Rc::new(all)),
        }
    }

    /// Everything that it may be.
    pub(super) fn alternatives(&self) -> &[Datum] {
        match self {
            Datum::Any(all) => all,
            Datum::Text(_)
            | Datum::Number(_)
            | Datum::Ternary(_)
            | Datum::List(_)
            | Datum::Map(_)
            | Datum::Name(_)
            | Datum::Function(_)
            | Datum::File(_) => std::slice::from_ref(self),
        }
    }

    /// The same for each alternative.
    pub(super) fn each(&self, change: impl FnMut(&Datum) -> Datum) -> Datum {
        match self {
            Datum::Any(all) => Datum::any(all.iter().map(change).collect()),
            Datum::Text(_)
            | Datum::Number(_)
            | Datum::Ternary(_)
            | Datum::List(_)
            | Datum::Map(_)
            | Datum::Name(_)
            | Datum::Function(_)
            | Datum::File(_) => std::iter::once(self).map(change).next().unwrap_or(Datum::Ternary(false)),
        }
    }

    /// Whether it is known to count as false.
    pub(super) fn is_false(&self) -> bool {
        matches!(self, Datum::Ternary(false))
    }

    /// The known text.
    pub(super) fn literal(&self) -> Option<String> {
        match self {
            Datum::Text(text) => text.value.literal().map(|text| text.into_owned()),
            Datum::Number(number) => Some(number.to_string()),
            Datum::Any(_)
            | Datum::Ternary(_)
            | Datum::List(_)
            | Datum::Map(_)
            | Datum::Name(_)
            | Datum::Function(_)
            | Datum::File(_) => None,
        }
    }

    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Datum::Number(number) => Some(*number),
            Datum::Ternary(truth) => Some(i64::from(*truth)),
            Datum::Text(_) => self.literal()?.trim().parse().ok(),
            Datum::Any(_) | Datum::List(_) | Datum::Map(_) | Datum::Name(_) | Datum::Function(_) | Datum::File(_) => {
                None
            }
        }
    }

    /// The items of a list; a text's letters are no items.
    pub(super) fn items(&self) -> Option<&[Datum]> {
        if let Datum::List(items) = self { Some(items) } else { None }
    }

    pub(super) fn field(&self, key: &str) -> Option<&Datum> {
        if let Datum::Map(fields) = self {
            fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
        } else {
            None
        }
    }

    /// As a text, with what is in it.
    pub(super) fn text(&self, origin: Origin) -> Text {
        match self {
            Datum::Text(text) => text.clone(),
            Datum::Number(number) => Text { value: Value::text(number.to_string(), origin), ..Text::default() },
            Datum::File(path) => Text {
                value: Value::piece(Piece::Unknown(Why::Input), origin),
                from: path.from.clone(),
                files: vec![path.value.clone()],
            },
            Datum::List(items) => self.mixed(items.iter(), origin),
            Datum::Map(fields) => self.mixed(fields.iter().map(|(_, value)| value), origin),
            Datum::Any(items) => self.mixed(items.iter(), origin),
            Datum::Name(name) if **name == *ENVIRONMENT => Text {
                value: Value::piece(Piece::Unknown(Why::NotEvaluated), origin),
                files: vec![Value::text(WHOLE_ENVIRONMENT, origin)],
                ..Text::default()
            },
            Datum::Ternary(_) | Datum::Name(_) | Datum::Function(_) => {
                Text { value: Value::piece(Piece::Unknown(Why::NotEvaluated), origin), ..Text::default() }
            }
        }
    }

    /// A text that is not known but for what is in it.
    fn mixed<'d>(&'d self, items: impl Iterator<Item = &'d Datum>, origin: Origin) -> Text {
        let mut whole = Text { value: Value::piece(Piece::Unknown(Why::NotEvaluated), origin), ..Text::default() };
        for item in items.take(MOST) {
            // One level is enough: what lists hold in lists is no data that is sent.
            let inner = match item {
                Datum::Text(text) => text.clone(),
                Datum::File(_) | Datum::Name(_) => item.text(origin),
                Datum::Map(fields) => fields.iter().fold(Text::default(), |mut all, (_, value)| {
                    if let Datum::Text(_) | Datum::File(_) | Datum::Name(_) = value {
                        all.taint(&value.text(origin));
                    }
                    all
                }),
                Datum::List(items) => items.iter().take(MOST).fold(Text::default(), |mut all, value| {
                    if let Datum::Text(_) | Datum::File(_) | Datum::Name(_) = value {
                        all.taint(&value.text(origin));
                    }
                    all
                }),
                Datum::Number(_) | Datum::Ternary(_) | Datum::Any(_) | Datum::Function(_) => continue,
            };
            whole.taint(&inner);
        }
        whole
    }

    /// The words that it stands for as an argument: a list stands for its items.
    pub(super) fn words(&self, origin: Origin) -> Vec<Value> {
        match self {
            Datum::List(items) => items.iter().flat_map(|item| item.word(origin)).collect(),
            Datum::Text(_)
            | Datum::Number(_)
            | Datum::Ternary(_)
            | Datum::Map(_)
            | Datum::Any(_)
            | Datum::Name(_)
            | Datum::Function(_)
            | Datum::File(_) => self.word(origin).into_iter().collect(),
        }
    }

    fn word(&self, origin: Origin) -> Option<Value> {
        match self {
            Datum::Function(_) | Datum::Map(_) | Datum::Ternary(_) => None,
            Datum::File(path) => Some(path.value.clone()),
            // Alternatives are told apart before words are asked for; those in lists are not.
            Datum::Any(_) | Datum::List(_) => Some(Value::piece(Piece::Unknown(Why::NotEvaluated), origin)),
            Datum::Text(_) | Datum::Number(_) | Datum::Name(_) => Some(self.text(origin).value),
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
            self.value = Value::piece(Piece::Unknown(Why::Limit), self.value.origin());
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
