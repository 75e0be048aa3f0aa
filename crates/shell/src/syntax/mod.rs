//! The grammar of sh and bash as a tree. Parsing never fails: what is not understood is an `Unknown` node and a gap.

mod lists;
mod outline;
mod parser;
mod words;

pub use lists::is_name;
pub use outline::outline;
pub(crate) use parser::{Parser, Placement};

use crate::value::{Origin, Why};
use std::cell::OnceCell;
use std::rc::Rc;

/// A list of commands.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// One command of a list and how it is joined to the one before.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) node: Node,
    pub(crate) join: Join,
    pub(crate) background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Always,
    And,
    Or,
}

#[derive(Debug)]
pub(crate) enum Node {
    Simple(Simple),
    Pipeline(Vec<Node>),
    Group(Script),
    Subshell(Script),
    If {
        branches: Vec<(Script, Script)>,
        otherwise: Script,
    },
    Loop {
        condition: Script,
        body: Script,
    },
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, Script)>,
    },
    Function {
        name: String,
        body: Rc<Node>,
    },
    /// `[[ … ]]`, `(( … ))`: nothing runs but the substitutions in its words.
    Test(Vec<Word>),
    Redirected(Box<Node>, Vec<Redirect>),
    Unknown(Origin, Why),
}

#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) origin: Origin,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) append: bool,
    /// The subscript of `name[3]=…`: one element of an array.
    pub(crate) element: Option<Word>,
    pub(crate) value: Assigned,
}

impl Assignment {
    /// Whether a program decides if it succeeds: `x=$(…)`.
    pub(crate) fn substitutes(&self) -> bool {
        let is_output = |part: &Part| matches!(part, Part::Output { .. });
        match &self.value {
            Assigned::Word(word) => word.parts.iter().any(is_output),
            Assigned::Array(words) => words.iter().flat_map(|word| &word.parts).any(is_output),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Assigned {
    Word(Word),
    Array(Vec<Word>),
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<u32>,
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    /// Filled when the body has been read, which is after the line's end.
    pub(crate) heredoc: Rc<OnceCell<Word>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    Duplicate,
    /// `&>`, `&>>`: output and errors.
    WriteBoth,
    Heredoc,
    HereString,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) origin: Origin,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text {
        text: String,
        quoted: bool,
        origin: Origin,
    },
    Glob {
        text: String,
        origin: Origin,
    },
    Tilde {
        user: String,
        origin: Origin,
    },
    Parameter {
        parameter: Rc<Parameter>,
        quoted: bool,
        origin: Origin,
    },
    Output {
        script: Rc<Script>,
        quoted: bool,
        origin: Origin,
    },
    Arithmetic {
        parts: Vec<Part>,
        origin: Origin,
    },
    Process {
        script: Rc<Script>,
        origin: Origin,
    },
    /// An unquoted `{`, `,` or `}`.
    Brace {
        mark: char,
        origin: Origin,
    },
    Unknown {
        origin: Origin,
        why: Why,
    },
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) operator: Operator,
}

#[derive(Debug)]
pub(crate) enum Operator {
    Plain,
    Length,
    Indirect,
    /// `-` and, if it counts for an empty value too, `:-`
    Default {
        of_empty: bool,
        word: Word,
    },
    /// `=` and `:=`
    Assign {
        of_empty: bool,
        word: Word,
    },
    /// `+` and `:+`
    Alternative {
        of_empty: bool,
        word: Word,
    },
    /// `?` and `:?`: the word is what a missing value ends the shell with.
    Required(Word),
    /// `#`, `##`, `%`, `%%`: the longest or shortest match is cut off the front or back.
    Cut {
        front: bool,
        longest: bool,
        pattern: Word,
    },
    Replace {
        all: bool,
        pattern: Word,
        with: Word,
    },
    Slice(Word),
    Upper,
    Lower,
    /// `@Q`, `@E`, … and what is not known, with the rest of it: substitutions in it run all the same.
    Other(Word),
}
