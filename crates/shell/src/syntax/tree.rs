//! Syntax tree of a shell script: lists, commands, words and their parts.

use crate::model::value::{Origin, UnknownReason};
use std::cell::OnceCell;
use std::rc::Rc;

/// A list of commands.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// A command of a list, with the operator that joins it to the previous command.
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

/// A line of one of the parsed texts. Shells read a complete line before they run any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Line {
    /// Index of the text, in parse order.
    pub(crate) text: u32,
    pub(crate) number: u32,
}

/// A command of a pipeline.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) node: Node,
    /// `|&`: the next command reads this command's standard error too.
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
    /// `for` and `select`; without words, over the positional parameters.
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

/// `[[ … ]]` and `(( … ))`: runs only the substitutions in its words.
#[derive(Debug)]
pub(crate) enum Test {
    Words {
        words: Vec<Word>,
        /// Whether `&&`, `||` or parentheses appear between the words.
        joined: bool,
    },
    Arithmetic(Word),
}

/// A clause of a `case`.
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
    /// Whether the assignment's status is that of a command substitution: `x=$(…)`.
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
    /// `{name}`: the shell allocates a descriptor and stores its number in this variable.
    Named(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<Descriptor>,
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    /// The body, set once it has been read, which is after the end of the line.
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
    /// `&>`, `&>>`: standard output and standard error.
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
    /// `<(…)`, or `>(…)` if `writes`.
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
    /// Whether the parameter is written without braces. Text that a brace expansion appends then belongs to the name.
    pub(crate) bare: bool,
}

/// Case conversion of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LetterCase {
    Upper,
    Lower,
    /// `~`: swaps upper and lower case.
    Turned,
}

/// The element of an array that a parameter refers to.
#[derive(Debug)]
pub(crate) enum Element {
    /// No subscript: the first element of an array, or a plain variable.
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
    /// `-`, and `:-`, which also applies to an empty value.
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
    /// `?` and `:?`: the word is the error message with which the shell exits if the value is missing.
    Required(Word),
    /// `#`, `##`, `%`, `%%`: removes the shortest or longest match from the front or back.
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
        to: LetterCase,
        /// Only the first character.
        first: bool,
    },
    /// `@P`: the value is expanded once more.
    Prompt,
    /// `@Q`: the value, quoted.
    Quoted,
    /// `@E`, `@A`, … and unknown operators; the expansions in the word are still evaluated.
    Other(Word),
}

/// The matches that are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    All,
    /// Only at the front.
    Front,
    /// Only at the back.
    Back,
}
