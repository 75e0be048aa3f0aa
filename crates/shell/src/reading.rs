//! The result of reading a text: the commands that it would run, and what is not known of it.

use crate::cli_grammar::invocation::Invocation;
use crate::model::language::Language;
use crate::model::value::{Derivation, DerivationId, Origin, UnknownReason, Value};
use std::sync::Arc;

/// The step by which what a loaded file does follows from the text that loads it.
pub(crate) const LOADED: &str = "loaded file";

/// The same for a file that is as its project's history has it.
pub(crate) const UNCHANGED: &str = "unchanged loaded file";

/// Everything a text would run.
#[derive(Debug, Default)]
pub struct Reading {
    /// In the order in which they are found; a wrapper stands before what it wraps.
    pub commands: Vec<Command>,
    /// What is not known.
    pub gaps: Vec<Gap>,
    /// The steps by which texts were derived.
    pub derivations: Vec<Derivation>,
    /// Variables and switches that the text sets or takes away.
    pub settings: Vec<Setting>,
    /// Functions that start themselves more than once or in the background: fork bombs.
    pub multiplying: Vec<Origin>,
    /// What the text does to its own shell, in the order in which it is found.
    pub changes: Vec<Change>,
    /// Files that the text writes, where it is known what stands in them at its end: their path below the folder in
    /// which the text begins, or below the root, and their content.
    pub files: Vec<(String, String)>,
}

impl Reading {
    /// Whether the text has taken in the file at this path.
    pub fn has_loaded(&self, path: &str) -> bool {
        let is_it = |step: &Derivation| matches!(step.step, LOADED | UNCHANGED) && *step.text == *path;
        self.derivations.iter().any(is_it)
    }

    /// Whether what stands there comes out of a file that the text loads.
    pub fn is_loaded(&self, origin: Origin) -> bool {
        self.steps(origin).any(|derivation| matches!(derivation.step, LOADED | UNCHANGED))
    }

    /// Whether what stands there is done by a file that the text loads and that is as its project's history has it.
    pub fn is_of_unchanged(&self, origin: Origin) -> bool {
        self.steps(origin).any(|derivation| derivation.step == UNCHANGED)
    }

    /// The steps by which what stands there was derived, the last first.
    fn steps(&self, origin: Origin) -> impl Iterator<Item = &Derivation> {
        let step = |id: DerivationId| self.derivations.get(usize::from(id.0));
        let first = origin.derivation.and_then(step);
        // A step stands behind the one that it follows from.
        std::iter::successors(first, move |derivation| derivation.from.derivation.and_then(step)).take(MAX_STEPS)
    }
}

/// More steps do not follow from each other.
const MAX_STEPS: usize = 256;

/// Something by which a text changes its own shell. No program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub kind: ChangeKind,
    /// How many commands were found before it.
    pub before: CommandId,
    /// Its place in the text.
    pub origin: Origin,
}

/// What a text does to its own shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// `X=1`, `export X=1`: the variable and what it is now.
    Variable(String, Vec<Value>),
    /// A builtin that is followed and is no command of the reading: `cd`, `set`, `alias`. All its words.
    Builtin(Words),
    /// The call of a function of the text. All its words.
    Call(Words),
}

/// A variable or a switch of the shell that the text sets or takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The variable's name; a switch with its sign (`+history`).
    pub name: String,
    /// The new value; `None` if it is taken away.
    pub value: Option<Value>,
    /// Its place in the text.
    pub origin: Origin,
    /// On which system.
    pub site: ExecTarget,
}

/// A part of the text whose effect is not known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The part.
    pub origin: Origin,
    /// Why it is not known.
    pub why: UnknownReason,
}

/// The words of a command: all that look at them share them, for there may be very many.
pub type Words = Arc<Vec<Value>>;

/// Index into [`Reading::commands`].
pub type CommandId = usize;

/// One command that would run.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program's file name without its folder; empty if it is not known.
    pub name: String,
    /// All words, the program's own first.
    pub words: Words,
    /// Which word is what, if the program is known.
    pub invocation: Option<Invocation>,
    /// Variables set for this command alone.
    pub assignments: Vec<(String, Value)>,
    /// Files opened for it.
    pub redirects: Vec<Redirection>,
    /// Where its input comes from.
    pub stdin: Stdin,
    /// Code it would run that is not known from the text, with the commands that print it.
    pub unread: Vec<(Code, Vec<CommandId>)>,
    /// The folder it runs in, relative to the text's own; `None` if that is not known.
    pub folder: Option<Value>,
    /// The folder it runs in if the `cd` before it fails, where the text goes on in that case.
    pub folder_without_cd: Option<Value>,
    /// On which system it runs.
    pub site: ExecTarget,
    /// The command that runs it, if it is wrapped or substituted.
    pub parent: Option<CommandId>,
    /// Whether a word, a file or another command takes what it prints.
    pub is_collected: bool,
    /// In what its words are written: it says how paths are divided.
    pub language: Language,
    /// The whole command in the text.
    pub origin: Origin,
}

/// A path that no file has: it stands for the values of all variables of the environment, where a text in another
/// language hands them on.
pub const WHOLE_ENVIRONMENT: &str = "/proc/self/environment";

/// Code that a command would run and that does not stand in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// A text that is not known.
    Text(Value),
    /// A text of which a part is not known; the rest has been read.
    Part(Value),
    /// What it reads from its input.
    Stdin(Value),
    /// The content of a file.
    File(Value),
}

impl Code {
    /// The text, or the file's path.
    pub fn value(&self) -> &Value {
        match self {
            Code::Text(value) | Code::Part(value) | Code::Stdin(value) | Code::File(value) => value,
        }
    }
}

/// A file opened by a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What is done with the file.
    pub access: Access,
    /// The number that the file is opened as: 0 for the input, 1 for the output.
    pub descriptor: u32,
    /// The file.
    pub target: Value,
}

/// What a redirection does with its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `<`
    Read,
    /// `>`
    Overwrite,
    /// `>>`
    Append,
}

/// Where a command's input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Whatever the text as a whole reads.
    #[default]
    Inherited,
    /// The output of these commands, the earlier members of its pipeline; of the text, the pieces that are known.
    Pipe(Vec<CommandId>, Value),
    /// A text that is known: a heredoc, a here-string, a decoded pipe.
    Text(Value),
    /// A file.
    File(Value),
}

impl Stdin {
    /// The commands whose output is read.
    pub fn sources(&self) -> &[CommandId] {
        match self {
            Stdin::Pipe(commands, _) => commands,
            Stdin::Inherited | Stdin::Text(_) | Stdin::File(_) => &[],
        }
    }
}

/// On which system a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExecTarget {
    /// This one.
    #[default]
    Here,
    /// Another host.
    Remote,
    /// A container or another root folder.
    Container,
}

impl ExecTarget {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            ExecTarget::Here => "here",
            ExecTarget::Remote => "remote",
            ExecTarget::Container => "container",
        }
    }
}
