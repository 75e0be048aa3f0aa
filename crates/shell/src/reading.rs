//! The result of reading a text: the commands that it would run, and the parts that are unknown.

use crate::cli_grammar::invocation::Invocation;
use crate::model::language::Language;
use crate::model::value::{Derivation, DerivationId, Origin, UnknownReason, Value};
use std::ops::Range;
use std::sync::Arc;

/// Name of the derivation step from a text to the file that it loads.
pub(crate) const LOADED: &str = "loaded file";

/// Name of the same step for a file that matches its project's history.
pub(crate) const UNCHANGED: &str = "unchanged loaded file";

/// Everything a text would run.
#[derive(Debug, Default)]
pub struct Reading {
    /// The commands in the order of discovery; a wrapper precedes the command that it wraps.
    pub commands: Vec<Command>,
    /// The parts of the text whose effect is unknown.
    pub gaps: Vec<Gap>,
    /// The steps by which texts were derived from other texts.
    pub derivations: Vec<Derivation>,
    /// Variables and shell options that the text sets or unsets.
    pub settings: Vec<Setting>,
    /// Functions that start themselves more than once or in the background: fork bombs.
    pub multiplying: Vec<Origin>,
    /// Changes that the text makes to its own shell, in the order of discovery.
    pub changes: Vec<Change>,
    /// Files that the text writes and whose final content is known, as pairs of path and content. The path is relative
    /// to the text's initial working directory, or to the root directory for an absolute one.
    pub files: Vec<(String, String)>,
    /// Ranges of commands whose order is unknown: those of one loop or one pipeline, and those of a background job with
    /// all commands that follow.
    pub unordered: Vec<Range<CommandId>>,
}

impl Reading {
    /// Whether a command may run before another.
    pub fn may_run_before(&self, one: CommandId, other: CommandId) -> bool {
        one < other || self.unordered.iter().any(|range| range.contains(&one) && range.contains(&other))
    }

    /// Whether the text loads the file at this path.
    pub fn has_loaded(&self, path: &str) -> bool {
        let is_it = |step: &Derivation| matches!(step.step, LOADED | UNCHANGED) && *step.text == *path;
        self.derivations.iter().any(is_it)
    }

    /// Whether this origin is in a file that the text loads.
    pub fn is_loaded(&self, origin: Origin) -> bool {
        self.steps(origin).any(|derivation| matches!(derivation.step, LOADED | UNCHANGED))
    }

    /// Whether this origin is in a loaded file that matches its project's history.
    pub fn is_of_unchanged(&self, origin: Origin) -> bool {
        self.steps(origin).any(|derivation| derivation.step == UNCHANGED)
    }

    /// Returns the derivation steps of an origin, the last step first.
    fn steps(&self, origin: Origin) -> impl Iterator<Item = &Derivation> {
        let step = |id: DerivationId| self.derivations.get(usize::from(id.0));
        let first = origin.derivation.and_then(step);
        // A step follows the one that it derives from.
        std::iter::successors(first, move |derivation| derivation.from.derivation.and_then(step)).take(MAX_STEPS)
    }
}

/// Maximum length of a chain of derivation steps.
const MAX_STEPS: usize = 256;

/// A change that a text makes to its own shell without running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The number of commands found before it.
    pub before: CommandId,
    /// Its place in the text.
    pub origin: Origin,
}

/// A kind of change to the shell itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// `X=1`, `export X=1`: the variable and its new value.
    Variable(String, Vec<Value>),
    /// A builtin that is interpreted and not listed as a command: `cd`, `set`, `alias`. All its words.
    Builtin(Words),
    /// A call of a function that the text defines. All its words.
    Call(Words),
}

/// A variable or a shell option that the text sets or unsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name of the variable, or of the option with its sign (`+history`).
    pub name: String,
    /// The new value; `None` if it is unset.
    pub value: Option<Value>,
    /// Its place in the text.
    pub origin: Origin,
    /// The system on which it is set.
    pub site: ExecTarget,
}

/// A part of the text whose effect is unknown before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The part's place in the text.
    pub origin: Origin,
    /// The reason why it is unknown.
    pub why: UnknownReason,
}

/// The words of a command, shared by all readers, as a command may have very many.
pub type Words = Arc<Vec<Value>>;

/// Index into [`Reading::commands`].
pub type CommandId = usize;

/// One command that would run.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program's file name without its folder; empty if unknown.
    pub name: String,
    /// All words, starting with the program.
    pub words: Words,
    /// The role of each word, if the program is known.
    pub invocation: Option<Invocation>,
    /// Variables set for this command only.
    pub assignments: Vec<(String, Value)>,
    /// Files opened for it.
    pub redirects: Vec<Redirection>,
    /// The source of its standard input.
    pub stdin: Stdin,
    /// Code that it would run and that is not known from the text, with the commands that print the code.
    pub unread: Vec<(Code, Vec<CommandId>)>,
    /// Its working directory, relative to that of the text; `None` if unknown.
    pub folder: Option<Value>,
    /// Its working directory if the preceding `cd` fails, for a text that continues in that case.
    pub folder_without_cd: Option<Value>,
    /// The system on which it runs.
    pub site: ExecTarget,
    /// The command that runs it, if it is wrapped or substituted.
    pub parent: Option<CommandId>,
    /// Whether a word, a file or another command consumes its output.
    pub is_collected: bool,
    /// The language of its words, which determines the path separator.
    pub language: Language,
    /// The span of the command in the text.
    pub origin: Origin,
}

/// A path that does not exist. It represents the values of all environment variables, for a text in another language
/// that passes them on.
pub const ENTIRE_ENVIRONMENT: &str = "/proc/self/environment";

/// Code that a command would run and that is not part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// An unknown text.
    Text(Value),
    /// A partly unknown text; the known parts have been read.
    Part(Value),
    /// The text that the command reads from standard input.
    Stdin(Value),
    /// The content of a file.
    File(Value),
}

impl Code {
    /// Returns the text, or the path of the file.
    pub fn value(&self) -> &Value {
        match self {
            Code::Text(value) | Code::Part(value) | Code::Stdin(value) | Code::File(value) => value,
        }
    }
}

/// A file opened by a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The kind of access.
    pub access: Access,
    /// The descriptor under which the file is opened: 0 for standard input, 1 for standard output.
    pub descriptor: u32,
    /// The path of the file.
    pub target: Value,
}

/// The kind of access of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `<`
    Read,
    /// `>`
    Overwrite,
    /// `>>`
    Append,
}

/// The source of a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// The standard input of the text itself.
    #[default]
    Inherited,
    /// The output of these commands, the earlier members of its pipeline, with the known pieces of that output.
    Pipe(Vec<CommandId>, Value),
    /// A known text: a here-document, a here-string, the output of a decoded pipeline.
    Text(Value),
    /// A file.
    File(Value),
}

impl Stdin {
    /// Returns the commands whose output is read.
    pub fn sources(&self) -> &[CommandId] {
        match self {
            Stdin::Pipe(commands, _) => commands,
            Stdin::Inherited | Stdin::Text(_) | Stdin::File(_) => &[],
        }
    }
}

/// The system on which a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExecTarget {
    /// This machine.
    #[default]
    Here,
    /// Another host.
    Remote,
    /// A container or another root directory.
    Container,
}

impl ExecTarget {
    /// The name of the system in lower case.
    pub fn name(self) -> &'static str {
        match self {
            ExecTarget::Here => "here",
            ExecTarget::Remote => "remote",
            ExecTarget::Container => "container",
        }
    }
}
