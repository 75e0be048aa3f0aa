//! The tokens that texts in all of these languages are cut into.

use std::rc::Rc;

/// One token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Blanks before it on its line, if it is the first there.
    pub(super) indent: Option<usize>,
    /// Whether a blank stands before it.
    pub(super) spaced: bool,
    /// Where the bracket or block that it opens is closed; its own place if it opens none.
    pub(super) close: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name with its sigil, or a keyword.
    Word(Rc<str>),
    Number(i64),
    Text(Rc<[Chunk]>),
    /// A text that is given to a shell: backticks and their kin.
    Run(Rc<[Chunk]>),
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words(Rc<str>),
    /// A pattern, which runs nothing.
    Pattern,
    Open(char),
    Close(char),
    Symbol(&'static str),
    /// The end of a statement.
    End,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Chunk {
    Text(String),
    /// An expression whose value stands there.
    Code(String),
}
