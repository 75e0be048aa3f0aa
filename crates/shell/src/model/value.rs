//! A shell word after expansion: pieces that are known, and pieces that say why they are not.

use std::borrow::Cow;

/// A UTF-8 byte range in the text as it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that holds both.
    pub fn join(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text of this span, empty if the span is not one of `text`.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Where a piece comes from: its place in the text as it arrived, and the step that made it if it was decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Origin {
    /// What was written.
    pub span: Span,
    /// The last of the steps that turned what was written into this piece.
    pub derivation: Option<DerivationId>,
}

/// Index into [`Reading::derivations`](crate::Reading::derivations).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DerivationId(pub u16);

/// One step of decoding: a text that was not written but follows from what was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// The step's name: `base64`, `printf`, `shell-text`, …
    pub step: &'static str,
    /// What came out.
    pub text: String,
    /// Where the text that went in came from.
    pub from: Origin,
}

/// Why a piece of a word is not known before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// It differs between branches or rounds of a loop.
    Branches,
    /// The result of arithmetic.
    Arithmetic,
    /// What the reader does not evaluate (a parameter operator, an array of unknown size).
    NotEvaluated,
    /// Nested deeper or larger than the reader's limits.
    Limit,
    /// Text that could not be parsed.
    Unparsed,
    /// A quote that nothing closes, a redirection to nothing: every shell refuses what stands there.
    Unfinished,
    /// Typed by a person, read from a file or made from the environment while it runs.
    Input,
}

/// What a command prints, where only the kind is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Printed {
    /// The path of a new temporary file or folder.
    Temporary,
    /// The folder in which the text began.
    WorkingDirectory,
    /// The root of the git work tree.
    GitRoot,
    /// The user's name.
    User,
    /// Something else that this program prints.
    Program(String),
}

/// One piece of a [`Value`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text that stands as it is.
    Text(String),
    /// A pattern for file names: `*`, `?`, `[a-z]`.
    Glob(String),
    /// A home folder: of the user if the name is empty, else of that user.
    Home(String),
    /// The value of an environment variable that the text does not set.
    Variable(String),
    /// What a command prints.
    Output(Printed),
    /// Not known.
    Unknown(UnknownReason),
}

/// A shell word after expansion. Never a bare string: each piece says what it is and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Value {
    /// In the order in which they are joined.
    pub pieces: Vec<(Piece, Origin)>,
}

impl Value {
    /// A known text.
    pub fn text(text: impl Into<String>, origin: Origin) -> Value {
        Value { pieces: vec![(Piece::Text(text.into()), origin)] }
    }

    /// A value of one piece.
    pub fn piece(piece: Piece, origin: Origin) -> Value {
        Value { pieces: vec![(piece, origin)] }
    }

    /// The whole text, if every piece is text.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [(Piece::Text(text), _)] => Some(Cow::Borrowed(text)),
            many => many.iter().map(|(piece, _)| piece.as_text()).collect::<Option<String>>().map(Cow::Owned),
        }
    }

    /// The known text at the front, up to the first piece that is not text.
    pub fn prefix(&self) -> Cow<'_, str> {
        match self.pieces.as_slice() {
            [] => Cow::Borrowed(""),
            [(piece, _)] => Cow::Borrowed(piece.as_text().unwrap_or("")),
            many => Cow::Owned(many.iter().map_while(|(piece, _)| piece.as_text()).collect()),
        }
    }

    /// The value without the first `bytes` bytes of its known prefix.
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

    /// The span of all pieces together.
    pub fn span(&self) -> Span {
        let mut spans = self.pieces.iter().map(|(_, origin)| origin.span);
        let first = spans.next().unwrap_or_default();
        spans.fold(first, Span::join)
    }

    /// The origin of the whole: the joined span and the first piece's derivation.
    pub fn origin(&self) -> Origin {
        Origin { span: self.span(), derivation: self.pieces.iter().find_map(|(_, origin)| origin.derivation) }
    }

    /// Whether a piece is not known, not even by kind.
    pub fn is_unknown(&self) -> bool {
        self.pieces.iter().any(|(piece, _)| match piece {
            Piece::Unknown(_) | Piece::Output(Printed::Program(_)) => true,
            Piece::Text(_) | Piece::Glob(_) | Piece::Home(_) | Piece::Variable(_) | Piece::Output(_) => false,
        })
    }

    /// The words between these separators, which count only where they stand in known text.
    pub fn split(&self, separators: &[char]) -> Vec<Value> {
        let mut words = Vec::new();
        let mut word = Value::default();
        for (piece, origin) in &self.pieces {
            let Some(text) = piece.as_text() else {
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

    /// Appends a known text, joined with a text before it of the same origin.
    pub fn push_text(&mut self, text: &str, origin: Origin) {
        match self.pieces.last_mut() {
            Some((Piece::Text(last), before)) if before.derivation == origin.derivation => {
                last.push_str(text);
                before.span = before.span.join(origin.span);
            }
            _ => self.push_piece(Piece::Text(text.into()), origin),
        }
    }

    /// Appends a piece. Most values have one only, and texts of a megabyte have very many values.
    pub(crate) fn push_piece(&mut self, piece: Piece, origin: Origin) {
        if self.pieces.is_empty() {
            self.pieces.reserve_exact(1);
        }
        self.pieces.push((piece, origin));
    }

    /// The value as a person would write it: `~/x*`, `$NAME`, `$(mktemp)`.
    pub fn shown(&self) -> String {
        self.pieces.iter().map(|(piece, _)| piece.shown()).collect()
    }

    /// The values of a list in one word: a piece that is a comma and nothing else divides them.
    pub(crate) fn listed(&self) -> Vec<Value> {
        let is_comma = |(piece, _): &(Piece, Origin)| piece.as_text() == Some(",");
        if self.pieces.len() < 2 || !self.pieces.iter().any(is_comma) {
            return vec![self.clone()];
        }
        self.pieces.split(is_comma).map(|pieces| Value { pieces: pieces.to_vec() }).collect()
    }
}

impl Piece {
    /// The text, if the piece is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Piece::Text(text) => Some(text),
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
            Piece::Unknown(_) => Cow::Borrowed("…"),
        }
    }
}
