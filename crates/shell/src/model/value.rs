//! A shell word after expansion: known pieces, and unknown pieces with the reason.

use std::borrow::Cow;

/// A range of UTF-8 byte offsets in the input text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the smallest span that covers both.
    pub fn join(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the text of this span, or an empty string if the span is not valid in `text`.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// The origin of a piece: its place in the input text, and the step that produced it if it was decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Origin {
    /// The span in the input text.
    pub span: Span,
    /// The last derivation step that produced this piece from the input text.
    pub derivation: Option<DerivationId>,
}

/// Index into [`Reading::derivations`](crate::Reading::derivations).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DerivationId(pub u16);

/// One step of decoding: a text that is not part of the input but follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// The step's name: `base64`, `printf`, `shell-text`, …
    pub step: &'static str,
    /// The output of the step.
    pub text: String,
    /// The origin of its input.
    pub from: Origin,
}

/// The reason why a piece of a word is unknown before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// The value differs between branches or rounds of a loop.
    Branches,
    /// The result of arithmetic.
    Arithmetic,
    /// A construct that the reader does not evaluate (a parameter operator, an array of unknown size).
    NotEvaluated,
    /// Nested deeper or larger than the reader's limits.
    Limit,
    /// Text that could not be parsed.
    Unparsed,
    /// An unterminated quote or a redirection without a target: every shell reports a syntax error.
    Unfinished,
    /// Input from a person, from a file or from the environment at run time.
    Input,
}

/// The kind of output that a command prints, where the output itself is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Printed {
    /// The path of a new temporary file or folder.
    Temporary,
    /// The initial working directory of the text.
    WorkingDirectory,
    /// The root of the git work tree.
    GitRoot,
    /// The user's name.
    User,
    /// Other output of this program.
    Program(String),
}

/// One piece of a [`Value`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// A file name pattern: `*`, `?`, `[a-z]`.
    Glob(String),
    /// A home directory: of the current user if the name is empty, of the named user otherwise.
    Home(String),
    /// The value of an environment variable that the text does not set.
    Variable(String),
    /// The output of a command.
    Output(Printed),
    /// A mark without text: the path before it has no symlinks left, as `realpath` prints it.
    Resolved,
    /// An unknown piece.
    Unknown(UnknownReason),
}

/// A shell word after expansion. Never a bare string: each piece has a kind and an origin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Value {
    /// The pieces in the order of their concatenation.
    pub pieces: Vec<(Piece, Origin)>,
}

impl Value {
    /// Returns a value of known text.
    pub fn text(text: impl Into<String>, origin: Origin) -> Value {
        Value { pieces: vec![(Piece::Text(text.into()), origin)] }
    }

    /// Returns a value of one piece.
    pub fn piece(piece: Piece, origin: Origin) -> Value {
        Value { pieces: vec![(piece, origin)] }
    }

    /// Returns the complete text, if every piece is text.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [(Piece::Text(text), _)] => Some(Cow::Borrowed(text)),
            many => many.iter().map(|(piece, _)| piece.as_text()).collect::<Option<String>>().map(Cow::Owned),
        }
    }

    /// Returns the known text at the start, up to the first piece that is not text.
    pub fn prefix(&self) -> Cow<'_, str> {
        match self.pieces.as_slice() {
            [] => Cow::Borrowed(""),
            [(piece, _)] => Cow::Borrowed(piece.as_text().unwrap_or("")),
            many => Cow::Owned(many.iter().map_while(|(piece, _)| piece.as_text()).collect()),
        }
    }

    /// Returns the value without the first `bytes` bytes of its known prefix.
    pub fn without_prefix(&self, mut bytes: usize) -> Value {
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for (piece, origin) in &self.pieces {
            let Some(text) = piece.as_text().filter(|_| bytes > 0) else {
                pieces.push((piece.clone(), *origin));
                continue;
            };
            let rest = text.get(bytes.min(text.len())..).unwrap_or("");
            bytes = bytes.saturating_sub(text.len());
            if !rest.is_empty() {
                pieces.push((Piece::Text(rest.into()), *origin));
            }
        }
        Value { pieces }
    }

    /// Returns the span that covers all pieces.
    pub fn span(&self) -> Span {
        let mut spans = self.pieces.iter().map(|(_, origin)| origin.span);
        let first = spans.next().unwrap_or_default();
        spans.fold(first, Span::join)
    }

    /// Returns the origin of the value: the joined span and the derivation of the first piece that has one.
    pub fn origin(&self) -> Origin {
        Origin { span: self.span(), derivation: self.pieces.iter().find_map(|(_, origin)| origin.derivation) }
    }

    /// Whether the value has a piece of which not even the kind is known.
    pub fn is_unknown(&self) -> bool {
        self.pieces.iter().any(|(piece, _)| match piece {
            Piece::Unknown(_) | Piece::Output(Printed::Program(_)) => true,
            Piece::Text(_)
            | Piece::Glob(_)
            | Piece::Home(_)
            | Piece::Variable(_)
            | Piece::Output(_)
            | Piece::Resolved => false,
        })
    }

    /// Splits the value into words at these separators, which only count in known text.
    pub fn split(&self, separators: &[char]) -> Vec<Value> {
        let mut words = Vec::new();
        let mut word = Value::default();
        for (piece, origin) in &self.pieces {
            let Some(text) = piece.as_text().filter(|_| *piece != Piece::Resolved) else {
                word.pieces.push((piece.clone(), *origin));
                continue;
            };
            for (index, field) in text.split(separators).enumerate() {
                if index > 0 && !word.pieces.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                if !field.is_empty() {
                    word.push_text(field, *origin);
                }
            }
        }
        words.extend((!word.pieces.is_empty()).then_some(word));
        words
    }

    /// Appends another value.
    pub fn push(&mut self, other: Value) {
        if self.pieces.is_empty() {
            self.pieces = other.pieces;
        } else {
            self.pieces.extend(other.pieces);
        }
    }

    /// Appends known text, merged with a preceding text of the same derivation.
    pub fn push_text(&mut self, text: &str, origin: Origin) {
        match self.pieces.last_mut() {
            Some((Piece::Text(last), before)) if before.derivation == origin.derivation => {
                last.push_str(text);
                before.span = before.span.join(origin.span);
            }
            _ => self.push_piece(Piece::Text(text.into()), origin),
        }
    }

    /// Appends a piece. Reserves space for only one: most values have one piece, and a text of a megabyte has very many
    /// values.
    pub(crate) fn push_piece(&mut self, piece: Piece, origin: Origin) {
        if self.pieces.is_empty() {
            self.pieces.reserve_exact(1);
        }
        self.pieces.push((piece, origin));
    }

    /// Returns the path with its symlinks resolved.
    #[must_use]
    pub(crate) fn resolved(mut self) -> Value {
        let origin = self.origin();
        if !self.is_resolved() {
            self.push_piece(Piece::Resolved, origin);
        }
        self
    }

    /// Whether the value ends with a path without symlinks.
    pub fn is_resolved(&self) -> bool {
        matches!(self.pieces.last(), Some((Piece::Resolved, _)))
    }

    /// Returns the value as a person would write it: `~/x*`, `$NAME`, `$(mktemp)`.
    pub fn shown(&self) -> String {
        self.pieces.iter().map(|(piece, _)| piece.shown()).collect()
    }

    /// Splits a list in one word into its values; the separator is a piece that consists of one comma.
    pub(crate) fn listed(&self) -> Vec<Value> {
        let is_comma = |(piece, _): &(Piece, Origin)| piece.as_text() == Some(",");
        if self.pieces.len() < 2 || !self.pieces.iter().any(is_comma) {
            return vec![self.clone()];
        }
        self.pieces.split(is_comma).map(|pieces| Value { pieces: pieces.to_vec() }).collect()
    }
}

impl Piece {
    /// Returns the text, if the piece is text; that of a mark is empty.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Piece::Text(text) => Some(text),
            Piece::Resolved => Some(""),
            Piece::Glob(_) | Piece::Home(_) | Piece::Variable(_) | Piece::Output(_) | Piece::Unknown(_) => None,
        }
    }

    fn shown(&self) -> Cow<'_, str> {
        match self {
            Piece::Text(text) | Piece::Glob(text) => Cow::Borrowed(text),
            Piece::Home(user) => Cow::Owned(format!("~{user}")),
            Piece::Variable(name) => Cow::Owned(format!("${name}")),
            Piece::Output(Printed::Temporary) => Cow::Borrowed("$(mktemp)"),
            Piece::Output(Printed::WorkingDirectory) => Cow::Borrowed("$(pwd)"),
            Piece::Output(Printed::GitRoot) => Cow::Borrowed("$(git rev-parse --show-toplevel)"),
            Piece::Output(Printed::User) => Cow::Borrowed("$(whoami)"),
            Piece::Output(Printed::Program(name)) => Cow::Owned(format!("$({name} …)")),
            Piece::Resolved => Cow::Borrowed(""),
            Piece::Unknown(_) => Cow::Borrowed("…"),
        }
    }
}
