//! Tokens shared by all script languages.

use std::rc::Rc;

/// A token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Width of the indentation, if the token is the first on its line.
    pub(super) indent: Option<usize>,
    /// Whether a blank precedes the token.
    pub(super) spaced: bool,
    /// Index of the token that closes the bracket or block opened here; its own index for other tokens.
    pub(super) close: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name with its sigil, or a keyword.
    Word(Rc<str>),
    Number(i64),
    Text(Rc<[Chunk]>),
    /// A text run by a shell: backticks and similar.
    Run(Rc<[Chunk]>),
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words(Rc<str>),
    /// A regular expression, which has no effects.
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
    /// An embedded expression.
    Code(String),
}
