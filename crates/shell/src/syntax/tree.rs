//! The tree of a shell text: lists, commands, words and what they are made of.

use crate::model::value::{Origin, UnknownReason};
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

/// A line of one of the texts that are read: shells take a whole line before they run any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Line {
    /// Which text, in the order in which they are parsed.
    pub(crate) text: u32,
    pub(crate) number: u32,
}

/// One command of a pipeline.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) node: Node,
    /// `|&`: the next one reads its errors too.
    pub(crate) errors: bool,
}

#[derive(Debug)]
pub(crate) enum Node {
    Simple(Simple),
    Pipeline(Vec<Member>),
    /// `!`
    Not(Box<Node>),
    Group(Script),
    Subshell(Script),
    If {
        branches: Vec<(Script, Script)>,
        otherwise: Script,
    },
    /// `while` and `until`
    Loop {
        condition: Script,
        until: bool,
        body: Script,
    },
    /// `for ((first; condition; next))`
    Count {
        first: Word,
        condition: Word,
        next: Word,
        body: Script,
    },
    /// `for` and `select`; without words, over the parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
        select: bool,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Rc<Node>,
    },
    Test(Test),
    Redirected(Box<Node>, Vec<Redirect>),
    Unknown(Origin, UnknownReason),
}

/// `[[ … ]]`, `(( … ))`: nothing runs but the substitutions in its words.
#[derive(Debug)]
pub(crate) enum Test {
    Words {
        words: Vec<Word>,
        /// Whether `&&`, `||` or parentheses stand between the words.
        joined: bool,
    },
    Arithmetic(Word),
}

/// One part of a `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: Script,
    pub(crate) end: ArmEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArmEnd {
    /// `;;`
    Ends,
    /// `;&`: the next body runs too.
    FallsThrough,
    /// `;;&`: the next patterns are tried too.
    TestsOn,
}

#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) origin: Origin,
    pub(crate) line: Line,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Descriptor {
    Number(u32),
    /// `{name}`: the shell chooses a number and tells it to this variable.
    Named(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<Descriptor>,
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
    /// `<&` and `>&`
    Duplicate {
        reads: bool,
    },
    /// `&>`, `&>>`: output and errors.
    WriteBoth {
        appends: bool,
    },
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
    /// `<(…)`, and `>(…)` if it is written to.
    Process {
        script: Rc<Script>,
        writes: bool,
        origin: Origin,
    },
    /// An unquoted `{`, `,` or `}`.
    Brace {
        mark: char,
        origin: Origin,
    },
    Unknown {
        origin: Origin,
        why: UnknownReason,
    },
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) operator: Operator,
    /// Written without braces: what braces put behind it belongs to the name.
    pub(crate) bare: bool,
}

/// What letters become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    Upper,
    Lower,
    /// `~`: small ones large and large ones small.
    Turned,
}

/// Which element of an array is meant.
#[derive(Debug)]
pub(crate) enum Element {
    /// No subscript: the first, or the variable is none.
    None,
    /// `[@]`
    Each,
    /// `[*]`
    Joined,
    At(Word),
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
        which: Which,
        pattern: Word,
        with: Word,
    },
    Slice(Word),
    Case {
        to: Letters,
        /// Only the first letter.
        first: bool,
    },
    /// `@P`: the value is expanded once more.
    Prompt,
    /// `@Q`: the value in quotes.
    Quoted,
    /// `@E`, `@A`, … and what is not known; what stands in it is expanded.
    Other(Word),
}

/// Which matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    All,
    /// Only at the front.
    Front,
    /// Only at the back.
    Back,
}
