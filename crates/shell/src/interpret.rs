//! Walks the tree with the state that a shell would have, and collects what would run.
//!
//! Nothing is run. Branches and loop bodies are all walked, also those that a known condition leaves out; the state
//! afterwards is that of the branches that may be taken. Work is bounded by counted commands and steps, and what lies
//! beyond is a gap.

mod builtins;
mod calls;
mod choices;
mod conditions;
mod feed;
mod files;
mod flow;
mod folders;
mod globs;
mod holes;
mod inner;
mod redirections;
mod settings;
mod simple;
mod state;
mod streams;

pub(crate) use simple::{Draft, program_name};
pub(crate) use state::State;
pub(crate) use streams::Stream;

use crate::languages;
use crate::model::language::Language;
use crate::model::value::{Derivation, DerivationId, Origin, Piece, Span, Value, Why};
use crate::model::work;
use crate::reading::{CommandId, Gap, Reading, Site};
use crate::surroundings::Surroundings;
use crate::syntax::parser::{Parser, Placement};
use crate::syntax::tree::{Join, Line, Node, Script, Statement};
use crate::text_tools::decode;
use flow::{Frame, FrameKind};

/// More commands than this are a gap; the longest script of 4,000 list members stays below.
const MAX_COMMANDS: usize = 8192;

/// Statements that are walked, loops and functions counted as often as they run.
const MAX_STEPS: u32 = 50_000;

/// What walking a statement costs, in units of [`work`].
const STATEMENT: u64 = 4;

/// Bytes that expansions and outputs may make, in all: doubling a variable again and again would make any number.
const MAX_EXPANDED: usize = 4 * 1024 * 1024;

/// A member of a pipe remembers so many commands before it; each of them has a list of its own.
const MAX_SOURCES: usize = 256;
/// Bytes that are read in all, those of a block again for each level above it and for each round of its loop.
const MAX_READ: usize = 64 * 1024 * 1024;

/// Functions, derived texts and wrappers may run each other this deep.
const MAX_DEPTH: u32 = 40;

/// Lists may stand in each other this deep, over all functions and derived texts: each level costs stack.
const MAX_LEVELS: u32 = 120;

/// What would run if a shell was given `text`.
pub fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    read_as(Language::Shell, text, surroundings)
}

/// What would run if `text` was given to an interpreter of `language`.
pub fn read_as(language: Language, text: &str, surroundings: &Surroundings<'_>) -> Reading {
    let mut interpreter = Interpreter {
        surroundings,
        language,
        reading: Reading::default(),
        state: State::with_parameters(surroundings.parameters.clone()),
        parent: None,
        site: Site::Here,
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
        frames: vec![Frame::of(FrameKind::Shell)],
        processes: Vec::new(),
        sources: 0,
        named: 0,
        captures: 0,
        collecting: 0,
        spilled: Vec::new(),
        at_exit: Vec::new(),
        locals: Vec::new(),
        holes: Vec::new(),
        files: files::Files::default(),
        settings: Vec::new(),
    };
    if language == Language::Shell {
        interpreter.text(text, Placement::At { start: 0, derivation: None }, &Stream::default());
    } else {
        let span = Span { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        let origin = Origin { span, derivation: None };
        interpreter.in_language(languages::Script { language, text, origin }, &Stream::default());
    }
    interpreter.end_shell();
    interpreter.reading.files = interpreter.files.known();
    interpreter.reading
}

pub(crate) struct Interpreter<'a> {
    pub(crate) surroundings: &'a Surroundings<'a>,
    pub(crate) reading: Reading,
    pub(crate) state: State,
    /// In what the text that is being walked is written.
    pub(crate) language: Language,
    parent: Option<CommandId>,
    site: Site,
    /// Whether the last command succeeded, if that is known.
    status: Option<bool>,
    depth: u32,
    levels: u32,
    steps: u32,
    expanded: usize,
    /// Rounds of loops whose condition is known.
    rounds: u32,
    /// How many loops we are in.
    loops: u32,
    /// In how many ways the current command is walked.
    variants: usize,
    exhausted: bool,
    /// Bytes of blocks that were read by themselves.
    read: usize,
    /// The last simple command that was walked.
    place: Origin,
    /// How many pipelines and background lists we are in.
    forking: u32,
    /// How many texts have been parsed.
    texts: u32,
    /// The lines of the commands that are being walked, the innermost last.
    lines: Vec<Line>,
    /// The functions and aliases that are being walked.
    calls: Vec<calls::Call>,
    /// Calls that have been walked and have changed nothing.
    called: Vec<calls::Called>,
    /// What `break`, `return` and `exit` may leave, the innermost last.
    frames: Vec<Frame>,
    processes: Vec<redirections::Process>,
    /// How many sources have been opened.
    sources: u32,
    /// How many descriptors have been chosen by the shell.
    named: u32,
    /// How many outputs have been collected, and which is being collected.
    captures: u32,
    collecting: u32,
    /// What was printed past the output that is being collected, with the one that it went to.
    spilled: Vec<(u32, Stream)>,
    /// Texts that `trap` leaves for the end, with their commands.
    at_exit: Vec<(Value, CommandId)>,
    /// For each function that is being walked, what its local variables hide.
    locals: Vec<state::Saved>,
    /// What stands at the marks in derived texts.
    pub(crate) holes: Vec<(Piece, Origin)>,
    /// What the text has written into files.
    files: files::Files,
    /// What it has written into the configuration of programs: keys in lower case.
    settings: Vec<(String, Value)>,
}

/// A text that is run and follows from another by a step.
#[derive(Clone, Copy)]
struct Source<'t> {
    language: Language,
    step: &'static str,
    text: &'t str,
    from: Origin,
}

impl Interpreter<'_> {
    pub(crate) fn gap(&mut self, origin: Origin, why: Why) {
        self.reading.gaps.push(Gap { origin, why });
    }

    /// Nothing more is walked: the rest is a gap.
    pub(crate) fn exhaust(&mut self, origin: Origin) {
        if !self.exhausted {
            self.gap(origin, Why::Limit);
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
            self.gap(origin, Why::Limit);
        }
        let enters = self.depth < MAX_DEPTH && !self.exhausted;
        self.depth += u32::from(enters);
        enters
    }

    pub(crate) fn leaves(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// From here on a command runs what is walked, where its grammar says so on another system.
    pub(crate) fn enters_command(&mut self, id: Option<CommandId>) -> (Option<CommandId>, Site) {
        let outer = (self.parent, self.site);
        self.parent = id.or(self.parent);
        let invocation = id.and_then(|id| self.reading.commands.get(id)?.invocation.as_ref());
        self.site = invocation.and_then(inner::site_of_blocks).unwrap_or(self.site);
        outer
    }

    pub(crate) fn leaves_command(&mut self, outer: (Option<CommandId>, Site)) {
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
        Value::piece(Piece::Unknown(Why::Limit), origin)
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

    /// Parses and walks a text, which reads `stdin`.
    fn text(&mut self, text: &str, placement: Placement, stdin: &Stream) -> Stream {
        let script = self.parse(text, placement, |parser| parser.script());
        let before = self.state.open.clone();
        let same = before.input(0) == *stdin;
        if !same {
            self.state.open.set(0, None);
            self.open_stream(0, stdin.clone());
        }
        let output = self.script(&script);
        if !same {
            self.state.open.close_again(&before);
        }
        output
    }

    /// A text that becomes known while others are walked; its gaps are kept.
    pub(crate) fn parse<T>(&mut self, text: &str, placement: Placement, read: impl FnOnce(&mut Parser<'_>) -> T) -> T {
        self.texts += 1;
        work::spend_bytes(text.len(), 120);
        let mut parser = Parser::new(text, placement, self.depth, self.texts);
        let parsed = read(&mut parser);
        self.reading.gaps.append(&mut parser.gaps);
        parsed
    }

    /// Walks a text that follows from another; an unknown value is the caller's to report.
    fn derived_text(&mut self, source: Source<'_>, stdin: &Stream) -> Stream {
        let Source { language, step, text, from } = source;
        if self.depth >= MAX_DEPTH {
            self.gap(from, Why::Limit);
            return Stream::default();
        }
        let derivation = self.derive(step, text, from);
        self.depth += 1;
        let origin = Origin { span: from.span, derivation };
        let stream = self.in_language(languages::Script { language, text, origin }, stdin);
        self.depth -= 1;
        stream
    }

    /// Shell texts that stand in a text of another kind, each run by a shell of its own.
    fn texts(&mut self, texts: &[String], from: Origin) -> Stream {
        let mut output = Stream::of(Value::default(), Vec::new());
        for text in texts {
            let printed = self.shell_text(&Value::text(text.clone(), from));
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        output
    }

    /// A shell text that a program runs whose own text it is a part of. What nothing is known of is a gap.
    pub(crate) fn shell_text(&mut self, text: &Value) -> Stream {
        self.fed_shell_text(text, &Stream::default())
    }

    /// The same with something to read.
    pub(crate) fn fed_shell_text(&mut self, text: &Value, stdin: &Stream) -> Stream {
        let Some(known) = self.readable(text) else {
            self.gap(text.origin(), Why::NotEvaluated);
            return Stream::default();
        };
        let state = self.state.of_child(Vec::new());
        let source = Source { language: Language::Shell, step: "shell text", text: &known, from: text.origin() };
        self.with_state(state, |this| this.derived_text(source, stdin))
    }

    /// Walks a text by the reader of its language.
    fn in_language(&mut self, script: languages::Script<'_>, stdin: &Stream) -> Stream {
        let languages::Script { language, text, origin } = script;
        let outer = std::mem::replace(&mut self.language, language);
        if !work::spend_bytes(text.len(), 60) {
            self.exhaust(origin);
        }
        let stream = match language {
            _ if self.exhausted => Stream::default(),
            Language::Shell => self.text(text, Placement::From(origin), stdin),
            Language::Makefile => self.texts(&decode::makefile(text), origin),
            Language::Crontab => self.texts(&decode::crontab(text), origin),
            Language::Patch => self.texts(&crate::text_tools::patch::commands(text), origin),
            Language::Awk => crate::languages::awk::run(self, text, origin, stdin),
            Language::Sed => crate::languages::sed::run(self, text, origin, stdin),
            Language::Python
            | Language::JavaScript
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Lua
            | Language::AppleScript
            | Language::PowerShell
            | Language::Cmd => languages::read(self, script, stdin),
            Language::Other => Stream::default(),
        };
        self.language = outer;
        stream
    }

    pub(crate) fn derive(&mut self, step: &'static str, text: &str, from: Origin) -> Option<DerivationId> {
        let id = u16::try_from(self.reading.derivations.len()).ok().map(DerivationId);
        if id.is_some() {
            self.reading.derivations.push(Derivation { step, text: text.into(), from });
        }
        id
    }

    fn script(&mut self, script: &Script) -> Stream {
        self.levels += 1;
        let output = if self.levels > MAX_LEVELS { Stream::default() } else { self.statements(script) };
        if self.levels == MAX_LEVELS + 1 {
            self.gap(self.place, Why::Limit);
        }
        self.levels -= 1;
        output
    }

    fn statements(&mut self, script: &Script) -> Stream {
        let mut output = Stream::nothing();
        // Where a list has been left because a member failed or succeeded.
        let mut left: Vec<State> = Vec::new();
        self.status = Some(true);
        for statement in &script.statements {
            if statement.join != Join::And {
                left.drain(..).for_each(|before| self.state.merge_names(&before));
            }
            self.steps += 1;
            if self.steps > MAX_STEPS || !work::spend(STATEMENT) {
                self.exhaust(self.place);
            }
            if self.exhausted {
                break;
            }
            if !self.state.ended {
                self.joined(statement, &mut left, &mut output);
            }
        }
        left.drain(..).for_each(|before| self.state.merge_names(&before));
        output
    }

    /// One member of a list. That a `cd` before `&&` fails is not assumed.
    fn joined(&mut self, statement: &Statement, left: &mut Vec<State>, output: &mut Stream) {
        match (statement.join, self.status) {
            (Join::Always, _) | (Join::And, Some(true)) | (Join::Or, Some(false)) => {
                let printed = self.statement(statement);
                output.push(printed);
            }
            (Join::And, Some(false)) | (Join::Or, Some(true)) => {
                let printed = self.aside(|this| this.statement(statement));
                output.commands.extend(printed.commands);
            }
            (Join::And, None) => {
                left.push(self.state.clone());
                let printed = self.statement(statement);
                output.push(printed);
                // It may not have run: then what stands before it failed.
                self.status = None;
            }
            (Join::Or, None) => {
                let before = self.state.clone();
                // What failed before an `&&` goes on here.
                left.drain(..).for_each(|failed| self.state.merge_names(&failed));
                let printed = self.statement(statement);
                let ended = self.state.ended;
                self.state.merge(&before);
                self.status = self.status.filter(|status| *status || ended).or(ended.then_some(true));
                if printed.text.pieces.is_empty() { output.push(printed) } else { output.or(printed) }
            }
        }
    }

    fn statement(&mut self, statement: &Statement) -> Stream {
        if !statement.background {
            return self.node(&statement.node);
        }
        self.forking += 1;
        let output = self.isolated(|this| this.node(&statement.node));
        self.forking -= 1;
        self.status = Some(true);
        output
    }

    fn node(&mut self, node: &Node) -> Stream {
        if !self.state.differs() {
            return self.only_node(node);
        }
        let names = self.differing(node);
        self.over_ways(&names, &mut |this| this.only_node(node))
    }

    fn only_node(&mut self, node: &Node) -> Stream {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipeline(members) => self.pipeline(members),
            Node::Not(inner) => {
                let output = self.node(inner);
                self.status = self.status.map(|status| !status);
                output
            }
            Node::Group(script) => self.script(script),
            Node::Subshell(script) => self.isolated(|this| this.script(script)),
            Node::If { branches, otherwise } => self.if_node(branches, otherwise),
            Node::Loop { condition, until, body } => self.loop_node(condition, *until, body),
            Node::Count { first, condition, next, body } => self.count_node([first, condition, next], body),
            Node::For { name, words, body, select } => {
                if *select {
                    self.select_node(name, words.as_deref(), body)
                } else {
                    self.for_node(name, words.as_deref(), body)
                }
            }
            Node::Case { subject, arms } => self.case_node(subject, arms),
            Node::Function { name, body } => self.function_node(name, body),
            Node::Test(test) => {
                self.status = self.test_node(test);
                Stream::nothing()
            }
            Node::Redirected(inner, redirects) => self.redirected_node(inner, redirects),
            Node::Unknown(origin, why) => {
                self.gap(*origin, *why);
                self.status = None;
                Stream::of(Value::piece(Piece::Unknown(*why), *origin), Vec::new())
            }
        }
    }

    fn redirected_node(&mut self, inner: &Node, redirects: &[crate::syntax::tree::Redirect]) -> Stream {
        let before = self.state.open.clone();
        let first = self.processes.len();
        let files = self.redirections(redirects);
        let mut output = self.node(inner);
        self.state.open.close_again(&before);
        let origin = redirects.first().map_or(Origin::default(), |redirect| redirect.target.origin);
        self.list_group(files, origin, &mut output);
        self.feed_processes(first, &Stream::nothing(), &mut output);
        output
    }

    /// A subshell: what it sets is gone afterwards.
    fn isolated<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        self.with_state(before, walk)
    }

    /// What is not reached as far as is known: its commands are listed, and nothing else comes of it.
    fn aside(&mut self, walk: impl FnOnce(&mut Self) -> Stream) -> Stream {
        let (before, status) = (self.state.clone(), self.status);
        let output = walk(self);
        (self.state, self.status) = (before, status);
        output
    }

    fn pipeline(&mut self, members: &[crate::syntax::tree::Member]) -> Stream {
        self.forking += 1;
        let mut stream: Option<Stream> = None;
        let mut sources = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let last = index + 1 == members.len();
            let input = stream.take();
            let walk = |this: &mut Self| {
                input.into_iter().for_each(|input| this.open_stream(0, input));
                this.node(&member.node)
            };
            let mut output = if last { self.isolated(walk) } else { self.capture(member.errors, walk) };
            // A later member reads what all earlier ones let through.
            sources.append(&mut output.commands);
            if sources.len() > MAX_SOURCES {
                self.gap(self.place, Why::Limit);
                sources.truncate(MAX_SOURCES / 2);
            }
            stream = Some(Stream::of(output.text, if last { std::mem::take(&mut sources) } else { sources.clone() }));
        }
        self.forking -= 1;
        stream.unwrap_or_default()
    }

    /// Goes one level deeper, if that is within the limit; else the rest is a gap.
    pub(crate) fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.gap(self.place, Why::Limit);
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// What `$(…)` prints.
    pub(crate) fn substitute(&mut self, script: &std::rc::Rc<Script>, origin: Origin) -> Value {
        if self.depth >= MAX_DEPTH {
            self.gap(origin, Why::Limit);
            return Value::piece(Piece::Unknown(Why::Limit), origin);
        }
        self.depth += 1;
        let output = self.captured(|this| this.script(script));
        self.depth -= 1;
        relocate(output.text, origin)
    }
}

/// Spans of what a substitution printed lie inside it already; what has none gets the substitution's.
fn relocate(mut value: Value, origin: Origin) -> Value {
    for (_, piece_origin) in &mut value.pieces {
        if piece_origin.span == Span::default() {
            *piece_origin = origin;
        }
    }
    value
}
