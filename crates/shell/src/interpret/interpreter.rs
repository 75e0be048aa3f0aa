//! The state of the walk over a text: the commands found so far, the current position, and the remaining budget.
//!
//! Work is bounded by the number of commands, steps and bytes. Everything beyond a limit is a gap.

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

/// Maximum number of commands in a reading; more are a gap. The longest script of 4,000 list members stays below.
pub(super) const MAX_COMMANDS: usize = 8192;

/// Maximum number of statements walked. Those of loops and functions count each time that they run.
pub(super) const MAX_STEPS: u32 = 50_000;

/// Cost of walking a statement, in units of [`work`].
pub(super) const STATEMENT: u64 = 4;

/// Maximum total size in bytes of expansions and outputs. A variable that is doubled repeatedly would grow without
/// bound.
const MAX_EXPANDED: usize = 4 * 1024 * 1024;

/// Maximum number of bytes read in total. Those of a block count again for each enclosing level and each round of its
/// loop.
const MAX_READ: usize = 64 * 1024 * 1024;

/// Maximum nesting of functions, derived texts and wrappers that run each other.
pub(super) const MAX_DEPTH: u32 = 40;

/// Maximum nesting of lists, across functions and derived texts, as each level uses stack.
pub(super) const MAX_LEVELS: u32 = 120;

/// A text with its language and origin.
#[derive(Clone, Copy)]
pub(crate) struct SourceText<'t> {
    pub(crate) language: Language,
    pub(crate) text: &'t str,
    pub(crate) origin: Origin,
}

/// A text to run that is derived from another by a step.
#[derive(Clone, Copy)]
pub(super) struct DerivedText<'t> {
    pub(super) language: Language,
    pub(super) step: &'static str,
    pub(super) text: &'t str,
    pub(super) from: Origin,
}

/// Walks a text with the reader of its language. Returns its output and the commands that print it.
pub(crate) type ReadText = fn(&mut Interpreter<'_>, SourceText<'_>, &Stream) -> Stream;

/// A shell that walks texts and collects the commands that they would run.
pub(crate) struct Interpreter<'a> {
    pub(crate) surroundings: &'a Surroundings<'a>,
    pub(crate) reading: Reading,
    pub(crate) state: State,
    /// The language of the text that is being walked.
    pub(crate) language: Language,
    /// Reads a text with the reader of its language. Passed in, as the readers are in a higher module.
    pub(super) read_text: ReadText,
    pub(super) parent: Option<CommandId>,
    pub(super) site: ExecTarget,
    /// Whether the last command succeeded, if known.
    pub(super) status: Option<bool>,
    pub(super) depth: u32,
    pub(super) levels: u32,
    pub(super) steps: u32,
    pub(super) expanded: usize,
    /// The number of rounds walked so far in loops whose condition is known.
    pub(super) rounds: u32,
    /// The number of enclosing loops.
    pub(super) loops: u32,
    /// The number of variants in which the current command is walked.
    pub(super) variants: usize,
    pub(super) exhausted: bool,
    /// The number of bytes of separately read blocks, bounded by `MAX_READ`.
    pub(super) read: usize,
    /// The last simple command walked.
    pub(super) place: Origin,
    /// The number of enclosing pipelines and background lists.
    pub(super) forking: u32,
    /// The number of texts parsed so far.
    pub(super) texts: u32,
    /// The lines of the commands being walked, innermost last.
    pub(super) lines: Vec<Line>,
    /// The functions and aliases being walked.
    pub(super) calls: Vec<Call>,
    /// Completed calls that changed nothing.
    pub(super) called: Vec<Called>,
    /// The frames that `break`, `return` and `exit` may leave, innermost last.
    pub(super) frames: Vec<Frame>,
    pub(super) processes: Vec<Process>,
    /// The number of sources opened so far.
    pub(super) sources: u32,
    /// The number of descriptors allocated by the shell.
    pub(super) named: u32,
    /// The number of captures so far, and the current one.
    pub(super) captures: u32,
    pub(super) collecting: u32,
    /// Output that bypassed the current capture, each with the capture that received it.
    pub(super) spilled: Vec<(u32, Stream)>,
    /// Texts that `trap` defers to the exit, with their commands.
    pub(super) at_exit: Vec<(Value, CommandId)>,
    /// The variables that the locals of each active function hide.
    pub(super) locals: Vec<Saved>,
    /// The path of the file being sourced into this shell; empty if it is not sourcing one.
    pub(crate) source: String,
    /// The pieces at the marks in derived texts.
    pub(crate) holes: Vec<(Piece, Origin)>,
    /// The files that the text has written.
    pub(super) files: Files,
    /// The program configuration that the text has written; keys in lower case.
    pub(super) settings: Vec<(String, Value)>,
}

impl<'a> Interpreter<'a> {
    /// Returns a shell that has not run anything yet.
    pub(crate) fn new(surroundings: &'a Surroundings<'a>, language: Language, read_text: ReadText) -> Interpreter<'a> {
        Interpreter {
            surroundings,
            language,
            read_text,
            reading: Reading::default(),
            state: State::with_parameters(surroundings.input.parameters.clone()),
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

    /// Stops the walk: the rest is a gap.
    pub(crate) fn exhaust(&mut self, origin: Origin) {
        if !self.exhausted {
            self.gap(origin, UnknownReason::Limit);
        }
        self.exhausted = true;
    }

    /// Counts a statement. Returns whether it may be walked.
    pub(crate) fn steps(&mut self, origin: Origin) -> bool {
        self.place = origin;
        self.steps += 1;
        if self.steps > MAX_STEPS || !work::spend(STATEMENT) {
            self.exhaust(origin);
        }
        !self.exhausted
    }

    /// Counts a level and the bytes read on it. Returns whether the level was entered; the caller then has to leave it.
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

    /// Makes a command the parent of everything walked from here on, on another system if its grammar specifies one.
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

    /// Returns the value, or an unknown one once expansion exceeds its limit.
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

    /// Charges work on a text as if the text was expanded once more. Returns whether the budget allows it.
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

    /// Enters one level deeper. Returns `false` and records a gap at the limit.
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
