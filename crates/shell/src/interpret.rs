//! Walks the tree with the state that a shell would have, and collects what would run.
//!
//! Nothing is run. Branches and loop bodies are all walked; what differs between them is unknown afterwards. Work is
//! bounded by counted commands and steps, and what lies beyond is a gap.

mod feed;
mod files;
mod holes;
mod inner;
mod settings;
mod simple;
mod state;

pub(crate) use simple::{Draft, program_name};
pub(crate) use state::State;

use crate::decode;
use crate::language::Language;
use crate::languages;
use crate::syntax::{Assignment, Join, Node, Parser, Part, Placement, Redirect, RedirectKind, Script, Statement, Word};
use crate::value::{Derivation, DerivationId, Origin, Piece, Span, Value, Why};
use crate::{Access, CommandId, Gap, Reading, Redirection, Site, Stdin, Surroundings};

/// More commands than this are a gap; the longest script of 4,000 list members stays below.
const MAX_COMMANDS: usize = 8192;

/// Statements that are walked, loops and functions counted as often as they run.
const MAX_STEPS: u32 = 50_000;

/// Bytes that expansions and outputs may make, in all: doubling a variable again and again would make any number.
const MAX_EXPANDED: usize = 4 * 1024 * 1024;

/// A member of a pipe remembers so many commands before it; each of them has a list of its own.
const MAX_SOURCES: usize = 256;

/// Functions, derived texts and wrappers may run each other this deep.
const MAX_DEPTH: u32 = 40;

/// A later member of a pipeline reads what every earlier one lets through; behind this many that is a gap.
const MAX_MEMBERS: usize = 256;

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
        reading: Reading::default(),
        state: State::with_parameters(surroundings.parameters.clone()),
        parent: None,
        site: Site::Here,
        depth: 0,
        levels: 0,
        steps: 0,
        expanded: 0,
        place: Origin::default(),
        forking: 0,
        calls: Vec::new(),
        processes: Vec::new(),
        at_exit: Vec::new(),
        locals: Vec::new(),
        holes: Vec::new(),
        files: files::Files::default(),
        settings: Vec::new(),
        exhausted: false,
    };
    if language == Language::Shell {
        interpreter.text(text, Placement::At { start: 0, derivation: None }, &Stream::default());
    } else {
        let span = Span { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        let origin = Origin { span, derivation: None };
        interpreter.in_language(languages::Script { language, text, origin }, &Stream::default());
    }
    interpreter.run_at_exit();
    interpreter.reading
}

pub(crate) struct Interpreter<'a> {
    pub(crate) surroundings: &'a Surroundings<'a>,
    pub(crate) reading: Reading,
    pub(crate) state: State,
    parent: Option<CommandId>,
    site: Site,
    depth: u32,
    levels: u32,
    steps: u32,
    expanded: usize,
    /// The last simple command that was walked.
    place: Origin,
    /// How many pipelines and background lists we are in.
    forking: u32,
    /// The functions that are being walked, with `forking` at their call.
    calls: Vec<(String, u32)>,
    /// What process substitutions print, by their place.
    processes: Vec<(Origin, Stream)>,
    /// Texts that `trap` leaves for the end, with their commands.
    at_exit: Vec<(Value, CommandId)>,
    /// For each function that is being walked, what its local variables hide.
    locals: Vec<state::Saved>,
    /// What stands at the marks in derived texts.
    holes: Vec<(Piece, Origin)>,
    /// What the text has written into files.
    files: files::Files,
    /// What it has written into the configuration of programs: keys in lower case.
    settings: Vec<(String, Value)>,
    exhausted: bool,
}

/// A text that is run and follows from another by a step.
#[derive(Clone, Copy)]
struct Source<'t> {
    language: Language,
    step: &'static str,
    text: &'t str,
    from: Origin,
}

/// What a command prints and who prints it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) text: Value,
    pub(crate) commands: Vec<CommandId>,
    /// Whether there is such a stream at all, or only what the whole text inherits.
    pub(crate) present: bool,
}

impl Stream {
    pub(crate) fn of(text: Value, commands: Vec<CommandId>) -> Stream {
        Stream { text, commands, present: true }
    }

    fn stdin(&self) -> Stdin {
        if !self.present {
            return Stdin::Inherited;
        }
        match self.text.literal() {
            Some(_) => Stdin::Text(self.text.clone()),
            None => Stdin::Pipe(self.commands.clone()),
        }
    }
}

impl Interpreter<'_> {
    pub(crate) fn gap(&mut self, origin: Origin, why: Why) {
        self.reading.gaps.push(Gap { origin, why });
    }

    /// Nothing more is walked: the rest is a gap.
    fn exhaust(&mut self, origin: Origin) {
        if !self.exhausted {
            self.gap(origin, Why::Limit);
        }
        self.exhausted = true;
    }

    /// The value, as long as what has been expanded stays within its bound.
    pub(crate) fn spend(&mut self, value: Value) -> Value {
        let size: usize = value.pieces.iter().map(|(piece, _)| 8 + piece.as_text().map_or(0, str::len)).sum();
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded <= MAX_EXPANDED {
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
        if self.expanded > MAX_EXPANDED {
            self.exhaust(text.origin());
        }
        !self.exhausted
    }

    /// Parses and walks a text.
    fn text(&mut self, text: &str, placement: Placement, stdin: &Stream) -> Stream {
        let mut parser = Parser::new(text, placement, self.depth);
        let script = parser.script();
        self.reading.gaps.append(&mut parser.gaps);
        self.script(&script, stdin)
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
        match language {
            Language::Shell => self.text(text, Placement::From(origin), stdin),
            Language::Makefile => self.texts(&decode::makefile(text), origin),
            Language::Crontab => self.texts(&decode::crontab(text), origin),
            Language::Awk => crate::awk::run(self, text, origin, stdin),
            Language::Sed => crate::sed::run(self, text, origin, stdin),
            Language::Python
            | Language::JavaScript
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Lua
            | Language::AppleScript => languages::read(self, script, stdin),
        }
    }

    pub(crate) fn derive(&mut self, step: &'static str, text: &str, from: Origin) -> Option<DerivationId> {
        let id = u16::try_from(self.reading.derivations.len()).ok().map(DerivationId);
        if id.is_some() {
            self.reading.derivations.push(Derivation { step, text: text.into(), from });
        }
        id
    }

    fn script(&mut self, script: &Script, stdin: &Stream) -> Stream {
        self.levels += 1;
        let output = if self.levels > MAX_LEVELS { Stream::default() } else { self.statements(script, stdin) };
        if self.levels == MAX_LEVELS + 1 {
            self.gap(self.place, Why::Limit);
        }
        self.levels -= 1;
        output
    }

    fn statements(&mut self, script: &Script, stdin: &Stream) -> Stream {
        let mut output = Stream::of(Value::default(), Vec::new());
        let mut skipped: Vec<State> = Vec::new();
        let mut succeeds = true;
        for statement in &script.statements {
            if statement.join == Join::Always {
                self.merge_skipped(&mut skipped);
                succeeds = true;
            }
            if statement.join == Join::Or {
                self.merge_skipped(&mut skipped);
            }
            if statement.join == Join::And && !succeeds {
                skipped.push(self.state.clone());
            }
            succeeds &= always_succeeds(&statement.node);
            self.steps += 1;
            if self.steps > MAX_STEPS {
                self.exhaust(self.place);
            }
            if self.exhausted {
                break;
            }
            let printed = self.statement(statement, stdin);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        self.merge_skipped(&mut skipped);
        output
    }

    /// What stands behind `&&` may not have run. That a `cd` there fails is not assumed.
    fn merge_skipped(&mut self, skipped: &mut Vec<State>) {
        for before in skipped.drain(..) {
            self.state.merge_names(&before);
        }
    }

    fn statement(&mut self, statement: &Statement, stdin: &Stream) -> Stream {
        if statement.background {
            self.forking += 1;
            let output = self.isolated(|this| this.node(&statement.node, stdin));
            self.forking -= 1;
            return output;
        }
        if statement.join != Join::Or {
            return self.node(&statement.node, stdin);
        }
        let before = self.state.clone();
        let output = self.node(&statement.node, stdin);
        self.state.merge(&before);
        output
    }

    fn node(&mut self, node: &Node, stdin: &Stream) -> Stream {
        match node {
            Node::Simple(simple) => self.simple(simple, stdin),
            Node::Pipeline(members) => self.pipeline(members, stdin),
            Node::Group(script) => self.script(script, stdin),
            Node::Subshell(script) => self.isolated(|this| this.script(script, stdin)),
            Node::If { branches, otherwise } => self.if_node(branches, otherwise, stdin),
            Node::Loop { condition, body } => match feed::lines(condition, stdin) {
                Some(lines) => self.loop_over_lines(&lines, condition, body, stdin),
                None => self.loop_node(condition, body, stdin),
            },
            Node::For { name, words, body } => self.for_node(name, words.as_deref(), body, stdin),
            Node::Case { subject, arms } => self.case_node(subject, arms, stdin),
            Node::Function { name, body } => {
                self.state.define(name, body.clone());
                if self.state.is_full() {
                    self.exhaust(self.place);
                }
                Stream::of(Value::default(), Vec::new())
            }
            Node::Test(words) => {
                words.iter().for_each(|word| drop(self.expand_whole(word)));
                Stream::of(Value::default(), Vec::new())
            }
            Node::Redirected(inner, redirects) => {
                let (files, input) = self.redirections(redirects, stdin);
                let mut output = self.node(inner, &input);
                if !files.is_empty() {
                    let origin = redirects.first().map_or(Origin::default(), |redirect| redirect.target.origin);
                    self.redirected_group(files, origin, &mut output);
                }
                output
            }
            Node::Unknown(origin, why) => {
                self.gap(*origin, *why);
                Stream::of(Value::piece(Piece::Unknown(*why), *origin), Vec::new())
            }
        }
    }

    /// A subshell: what it sets is gone afterwards.
    fn isolated<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        self.with_state(before, walk)
    }

    fn pipeline(&mut self, members: &[Node], stdin: &Stream) -> Stream {
        self.forking += 1;
        let mut stream = stdin.clone();
        let mut sources = Vec::new();
        for (index, member) in members.iter().enumerate() {
            if sources.len() > MAX_MEMBERS {
                self.gap(self.place, Why::Limit);
                sources.clear();
            }
            let mut output = self.isolated(|this| this.node(member, &stream));
            // A later member reads what all earlier ones let through.
            sources.append(&mut output.commands);
            if sources.len() > MAX_SOURCES {
                self.gap(self.place, Why::Limit);
                sources.truncate(MAX_SOURCES / 2);
            }
            let last = index + 1 == members.len();
            stream = Stream::of(output.text, if last { std::mem::take(&mut sources) } else { sources.clone() });
        }
        self.forking -= 1;
        stream
    }

    fn if_node(&mut self, branches: &[(Script, Script)], otherwise: &Script, stdin: &Stream) -> Stream {
        let mut output = Stream::of(Value::default(), Vec::new());
        let mut ends: Vec<State> = Vec::new();
        for (condition, body) in branches {
            self.script(condition, stdin);
            let before = self.state.clone();
            let printed = self.script(body, stdin);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
            ends.push(std::mem::replace(&mut self.state, before));
        }
        let printed = self.script(otherwise, stdin);
        output.text.push(printed.text);
        output.commands.extend(printed.commands);
        ends.iter().for_each(|end| self.state.merge(end));
        output
    }

    fn loop_node(&mut self, condition: &Script, body: &Script, stdin: &Stream) -> Stream {
        let first = self.reading.commands.len();
        let mut output = self.round(condition, body, stdin);
        if self.state.same_names(&output.1) {
            return output.0;
        }
        self.state.merge(&output.1);
        // Later rounds begin with what earlier ones have set.
        let again = self.reading.commands.len();
        let marks = (self.reading.gaps.len(), self.reading.multiplying.len(), self.at_exit.len());
        let (printed, before) = self.round(condition, body, stdin);
        self.state.merge(&before);
        if self.repeats(first, again) && !self.exhausted {
            self.reading.commands.truncate(again);
            self.reading.gaps.truncate(marks.0);
            self.reading.multiplying.truncate(marks.1);
            self.at_exit.truncate(marks.2);
        } else {
            output.0.text.push(printed.text);
            output.0.commands.extend(printed.commands);
        }
        output.0
    }

    /// One round of a loop: what it prints, and the state before it.
    fn round(&mut self, condition: &Script, body: &Script, stdin: &Stream) -> (Stream, State) {
        let before = self.state.clone();
        self.script(condition, stdin);
        (self.script(body, stdin), before)
    }

    /// Whether the commands from `again` on are those from `first` on once more.
    fn repeats(&self, first: CommandId, again: CommandId) -> bool {
        let (before, after) = self.reading.commands.split_at(again.min(self.reading.commands.len()));
        let same = |(one, other): (&crate::Command, &crate::Command)| {
            one.words == other.words && one.redirects == other.redirects && one.folder == other.folder
        };
        before.len() - first == after.len() && before.iter().skip(first).zip(after).all(same)
    }

    /// `while read` over known lines: a round for each.
    fn loop_over_lines(&mut self, lines: &[Stream], condition: &Script, body: &Script, stdin: &Stream) -> Stream {
        let before = self.state.clone();
        let mut output = Stream::of(Value::default(), Vec::new());
        for line in lines {
            self.script(condition, line);
            let printed = self.script(body, stdin);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        // The last `read` finds nothing.
        self.script(condition, &Stream::default());
        self.state.merge(&before);
        output
    }

    fn for_node(&mut self, name: &str, words: Option<&[Word]>, body: &Script, stdin: &Stream) -> Stream {
        let values: Vec<Value> = match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word)).collect(),
            None => self.state.parameters.iter().skip(1).cloned().collect(),
        };
        let before = self.state.clone();
        let mut ends: Vec<State> = Vec::new();
        let mut output = Stream::of(Value::default(), Vec::new());
        for value in values {
            if self.exhausted {
                break;
            }
            self.state.assign(name, vec![value]);
            let printed = self.script(body, stdin);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
            ends.push(self.state.clone());
        }
        // A `break` may have ended it after any round.
        ends.iter().for_each(|end| self.state.merge(end));
        self.state.merge(&before);
        output
    }

    fn case_node(&mut self, subject: &Word, arms: &[(Vec<Word>, Script)], stdin: &Stream) -> Stream {
        let _ = self.expand_whole(subject);
        let before = self.state.clone();
        let mut output = Stream::of(Value::default(), Vec::new());
        let mut ends: Vec<State> = Vec::new();
        for (_, body) in arms {
            let printed = self.script(body, stdin);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
            ends.push(std::mem::replace(&mut self.state, before.clone()));
        }
        ends.iter().for_each(|end| self.state.merge(end));
        output
    }

    /// What `$(…)` prints.
    pub(crate) fn substitute(&mut self, script: &Script, origin: Origin) -> Value {
        if self.depth >= MAX_DEPTH {
            self.gap(origin, Why::Limit);
            return Value::piece(Piece::Unknown(Why::Limit), origin);
        }
        self.depth += 1;
        let output = self.isolated(|this| this.script(script, &Stream::default()));
        self.depth -= 1;
        relocate(output.text, origin)
    }

    /// `<(…)`: a file whose content is what the script prints.
    pub(crate) fn process(&mut self, script: &Script, origin: Origin) -> Piece {
        let output = self.isolated(|this| this.script(script, &Stream::default()));
        self.processes.push((origin, output));
        Piece::Output(crate::Printed::Temporary)
    }

    fn redirections(&mut self, redirects: &[Redirect], stdin: &Stream) -> (Vec<Redirection>, Stream) {
        let mut files = Vec::new();
        let mut input = stdin.clone();
        for redirect in redirects {
            self.redirection(redirect, &mut files, &mut input);
        }
        (files, input)
    }

    fn redirection(&mut self, redirect: &Redirect, files: &mut Vec<Redirection>, input: &mut Stream) {
        let access = match redirect.kind {
            RedirectKind::Heredoc => {
                let body = redirect.heredoc.get().cloned().unwrap_or_default();
                *input = Stream::of(self.expand_whole(&body), Vec::new());
                return;
            }
            RedirectKind::HereString => {
                let mut text = self.expand_whole(&redirect.target);
                text.push_text("\n", redirect.target.origin);
                *input = Stream::of(text, Vec::new());
                return;
            }
            RedirectKind::Read => Access::Read,
            RedirectKind::Append => Access::Append,
            RedirectKind::Write | RedirectKind::WriteBoth | RedirectKind::ReadWrite => Access::Overwrite,
            RedirectKind::Duplicate => {
                let text = self.expand_whole(&redirect.target);
                let numeric =
                    |text: &str| text == "-" || text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit());
                // `>&$fd` names a descriptor, `>& ~/x` a file.
                let is_path =
                    text.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Home(_))) || text.prefix().contains('/');
                if text.literal().map_or(!is_path, |text| numeric(&text)) {
                    return;
                }
                files.push(Redirection { access: Access::Overwrite, descriptor: 1, target: text });
                return;
            }
        };
        let target = self.expand_whole(&redirect.target);
        if access == Access::Read && redirect.descriptor.unwrap_or(0) == 0 {
            let unknown = || Stream::of(Value::piece(Piece::Unknown(Why::Input), target.origin()), Vec::new());
            *input = self.content(&target).unwrap_or_else(unknown);
        }
        let descriptor = redirect.descriptor.unwrap_or(u32::from(access != Access::Read));
        files.push(Redirection { access, descriptor, target });
    }
}

/// Whether what stands behind its `&&` runs in any case.
fn always_succeeds(node: &Node) -> bool {
    const SUCCEEDING: [&str; 7] = ["true", ":", "echo", "printf", "export", "set", "local"];
    let Node::Simple(simple) = node else { return false };
    match simple.words.first().map(|word| word.parts.as_slice()) {
        None => simple.redirects.is_empty() && !simple.assignments.iter().any(Assignment::substitutes),
        Some([Part::Text { text, .. }]) => SUCCEEDING.contains(&text.as_str()),
        Some(_) => false,
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
