//! The state of the walk over a text: what has been found, where it stands, and how much work it may still do.
//!
//! Work is bounded by counted commands, steps and bytes; what lies beyond is a gap.

use super::call_stack::{Call, Called, Frame, FrameKind};
use super::file_contents::Files;
use super::process::Process;
use super::sites::site_of_blocks;
use super::state::{Saved, State};
use super::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Derivation, DerivationId, Origin, Piece, UnknownReason, Value};
use crate::reading::{CommandId, ExecTarget, Gap, Reading};
use crate::surroundings::Surroundings;
use crate::syntax::tree::Line;
use reflex_work as work;

/// More commands than this are a gap; the longest script of 4,000 list members stays below.
pub(super) const MAX_COMMANDS: usize = 8192;

/// Statements that are walked, loops and functions counted as often as they run.
pub(super) const MAX_STEPS: u32 = 50_000;

/// What walking a statement costs, in units of [`work`].
pub(super) const STATEMENT: u64 = 4;

/// Bytes that expansions and outputs may make, in all: doubling a variable again and again would make any number.
const MAX_EXPANDED: usize = 4 * 1024 * 1024;

/// Bytes that are read in all, those of a block again for each level above it and for each round of its loop.
const MAX_READ: usize = 64 * 1024 * 1024;

/// Functions, derived texts and wrappers may run each other this deep.
pub(super) const MAX_DEPTH: u32 = 40;

/// Lists may stand in each other this deep, over all functions and derived texts: each level costs stack.
pub(super) const MAX_LEVELS: u32 = 120;

/// A text with its place.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'t> {
    pub(crate) language: Language,
    pub(crate) text: &'t str,
    pub(crate) origin: Origin,
}

/// A text that is run and follows from another by a step.
#[derive(Clone, Copy)]
pub(super) struct DerivedText<'t> {
    pub(super) language: Language,
    pub(super) step: &'static str,
    pub(super) text: &'t str,
    pub(super) from: Origin,
}

/// Walks a text by the reader of its language; what it prints and who prints it.
pub(crate) type ReadText = fn(&mut Interpreter<'_>, SourceText<'_>, &Stream) -> Stream;

/// A shell that walks texts and collects what they would run.
pub(crate) struct Interpreter<'a> {
    pub(crate) surroundings: &'a Surroundings<'a>,
    pub(crate) reading: Reading,
    pub(crate) state: State,
    /// In what the text that is being walked is written.
    pub(crate) language: Language,
    /// Reads a text by the reader of its language: it stands above this room and is handed down.
    pub(super) read_text: ReadText,
    pub(super) parent: Option<CommandId>,
    pub(super) site: ExecTarget,
    /// Whether the last command succeeded, if that is known.
    pub(super) status: Option<bool>,
    pub(super) depth: u32,
    pub(super) levels: u32,
    pub(super) steps: u32,
    pub(super) expanded: usize,
    /// Rounds of loops whose condition is known.
    pub(super) rounds: u32,
    /// How many loops we are in.
    pub(super) loops: u32,
    /// In how many ways the current command is walked.
    pub(super) variants: usize,
    pub(super) exhausted: bool,
    /// Bytes of blocks that were read by themselves.
    pub(super) read: usize,
    /// The last simple command that was walked.
    pub(super) place: Origin,
    /// How many pipelines and background lists we are in.
    pub(super) forking: u32,
    /// How many texts have been parsed.
    pub(super) texts: u32,
    /// The lines of the commands that are being walked, the innermost last.
    pub(super) lines: Vec<Line>,
    /// The functions and aliases that are being walked.
    pub(super) calls: Vec<Call>,
    /// Calls that have been walked and have changed nothing.
    pub(super) called: Vec<Called>,
    /// What `break`, `return` and `exit` may leave, the innermost last.
    pub(super) frames: Vec<Frame>,
    pub(super) processes: Vec<Process>,
    /// How many sources have been opened.
    pub(super) sources: u32,
    /// How many descriptors have been chosen by the shell.
    pub(super) named: u32,
    /// How many outputs have been collected, and which is being collected.
    pub(super) captures: u32,
    pub(super) collecting: u32,
    /// What was printed past the output that is being collected, with the one that it went to.
    pub(super) spilled: Vec<(u32, Stream)>,
    /// Texts that `trap` leaves for the end, with their commands.
    pub(super) at_exit: Vec<(Value, CommandId)>,
    /// For each function that is being walked, what its local variables hide.
    pub(super) locals: Vec<Saved>,
    /// The file that is being read into this shell; empty if none is.
    pub(crate) source: String,
    /// What stands at the marks in derived texts.
    pub(crate) holes: Vec<(Piece, Origin)>,
    /// What the text has written into files.
    pub(super) files: Files,
    /// What it has written into the configuration of programs: keys in lower case.
    pub(super) settings: Vec<(String, Value)>,
}

impl<'a> Interpreter<'a> {
    /// A shell that has run nothing yet.
    pub(crate) fn new(surroundings: &'a Surroundings<'a>, language: Language, read_text: ReadText) -> Interpreter<'a> {
        Interpreter {
            surroundings,
            language,
            read_text,
            reading: Reading::default(),
            state: State::with_parameters(surroundings.given.parameters.clone()),
            parent: None,
            site: ExecTarget::Here,
            status: None,
            depth: 0,
            levels: 0,
            steps: 0,
            expanded: 0,
            rounds: 0,
            loops: 0,
            variants: 1,
            exhausted: false,
            read: 0,
            place: Origin::default(),
            forking: 0,
            texts: 0,
            lines: Vec::new(),
            calls: Vec::new(),
            called: Vec::new(),
            frames: vec![Frame::new(FrameKind::Shell)],
            processes: Vec::new(),
            sources: 0,
            named: 0,
            captures: 0,
            collecting: 0,
            spilled: Vec::new(),
            at_exit: Vec::new(),
            locals: Vec::new(),
            source: String::new(),
            holes: Vec::new(),
            files: Files::default(),
            settings: Vec::new(),
        }
    }
}

impl Interpreter<'_> {
    pub(crate) fn gap(&mut self, origin: Origin, why: UnknownReason) {
        self.reading.gaps.push(Gap { origin, why });
    }

    /// Nothing more is walked: the rest is a gap.
    pub(crate) fn exhaust(&mut self, origin: Origin) {
        if !self.exhausted {
            self.gap(origin, UnknownReason::Limit);
        }
        self.exhausted = true;
    }

    /// Counts a statement; whether it is walked.
    pub(crate) fn steps(&mut self, origin: Origin) -> bool {
        self.place = origin;
        self.steps += 1;
        if self.steps > MAX_STEPS || !work::spend(STATEMENT) {
            self.exhaust(origin);
        }
        !self.exhausted
    }

    /// Counts a level and the bytes that are read on it; whether they are. What enters also leaves.
    pub(crate) fn enters(&mut self, bytes: usize, origin: Origin) -> bool {
        self.read = self.read.saturating_add(bytes);
        if self.read > MAX_READ || !work::spend_bytes(bytes, 30) {
            self.exhaust(origin);
        }
        if self.depth >= MAX_DEPTH {
            self.gap(origin, UnknownReason::Limit);
        }
        let enters = self.depth < MAX_DEPTH && !self.exhausted;
        self.depth += u32::from(enters);
        enters
    }

    pub(crate) fn leaves(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// From here on a command runs what is walked, where its grammar says so on another system.
    pub(crate) fn enters_command(&mut self, id: Option<CommandId>) -> (Option<CommandId>, ExecTarget) {
        let outer = (self.parent, self.site);
        self.parent = id.or(self.parent);
        let invocation = id.and_then(|id| self.reading.commands.get(id)?.invocation.as_ref());
        self.site = invocation.and_then(site_of_blocks).unwrap_or(self.site);
        outer
    }

    pub(crate) fn leaves_command(&mut self, outer: (Option<CommandId>, ExecTarget)) {
        (self.parent, self.site) = outer;
    }

    /// The value, as long as what has been expanded stays within its bound.
    pub(crate) fn spend(&mut self, value: Value) -> Value {
        let size: usize = value.pieces.iter().map(|(piece, _)| 8 + piece.as_text().map_or(0, str::len)).sum();
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded <= MAX_EXPANDED && work::spend_bytes(size, 4) {
            return value;
        }
        let origin = value.origin();
        self.exhaust(origin);
        Value::piece(Piece::Unknown(UnknownReason::Limit), origin)
    }

    /// Work on a text counts as if the text was made once more; whether there is room for it.
    pub(crate) fn charge(&mut self, text: &Value) -> bool {
        let bytes: usize = text.pieces.iter().map(|(piece, _)| 8 + piece.as_text().map_or(0, str::len)).sum();
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded > MAX_EXPANDED || !work::spend_bytes(bytes, 4) {
            self.exhaust(text.origin());
        }
        !self.exhausted
    }

    pub(crate) fn derive(&mut self, step: &'static str, text: &str, from: Origin) -> Option<DerivationId> {
        let id = u16::try_from(self.reading.derivations.len()).ok().map(DerivationId);
        if id.is_some() {
            self.reading.derivations.push(Derivation { step, text: text.into(), from });
        }
        id
    }

    /// Goes one level deeper, if that is within the limit; else the rest is a gap.
    pub(crate) fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.gap(self.place, UnknownReason::Limit);
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }
}
