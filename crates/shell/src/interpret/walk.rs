//! Walks the tree with the state that a shell would have, and collects the commands that it would run.
//!
//! No command is executed. All branches and loop bodies are walked, even those that a known condition excludes. The
//! state afterwards is that of the branches that may be taken.

use super::interpreter::{DerivedText, Interpreter, MAX_DEPTH, MAX_LEVELS, MAX_STEPS, STATEMENT, SourceText};
use super::state::State;
use super::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Span, UnknownReason, Value};
use crate::reading::{CommandId, Reading};
use crate::syntax::parser::{Parser, Placement};
use crate::syntax::tree::{Join, Member, Node, Redirect, Script, Statement};
use reflex_work as work;

/// Maximum number of preceding commands recorded for a member of a pipeline; each member has its own list.
const MAX_SOURCES: usize = 256;

impl Interpreter<'_> {
    /// Ends the shell and returns the complete reading.
    pub(crate) fn finish(mut self) -> Reading {
        // `exec 3> >(…)`: a process that waits for the shell's exit has now received all of its input.
        if !self.processes.is_empty() {
            self.feed_processes(0, &Stream::nothing(), &mut Stream::nothing());
        }
        self.end_shell();
        self.reading.files = self.files.known();
        self.reading
    }

    /// Parses and walks a text whose standard input is `stdin`.
    pub(crate) fn text(&mut self, text: &str, placement: Placement, stdin: &Stream) -> Stream {
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

    /// Parses a text that becomes known during the walk. Its gaps are added to the reading.
    pub(crate) fn parse<T>(&mut self, text: &str, placement: Placement, read: impl FnOnce(&mut Parser<'_>) -> T) -> T {
        self.texts += 1;
        work::spend_bytes(text.len(), 120);
        let mut parser = Parser::new(text, placement, self.depth, self.texts);
        let parsed = read(&mut parser);
        self.reading.gaps.append(&mut parser.gaps);
        parsed
    }

    /// Walks a text derived from another. Reporting an unknown value is up to the caller.
    pub(super) fn derived_text(&mut self, source: DerivedText<'_>, stdin: &Stream) -> Stream {
        let DerivedText { language, step, text, from } = source;
        if self.depth >= MAX_DEPTH {
            self.gap(from, UnknownReason::Limit);
            return Stream::default();
        }
        let derivation = self.derive(step, text, from);
        self.depth += 1;
        let origin = Origin { span: from.span, derivation };
        let stream = self.in_language(SourceText { language, text, origin }, stdin);
        self.depth -= 1;
        stream
    }

    /// Walks shell texts embedded in a text of another kind, each in a shell of its own.
    pub(crate) fn texts(&mut self, texts: &[String], from: Origin) -> Stream {
        let mut output = Stream::new(Value::default(), Vec::new());
        for text in texts {
            let printed = self.shell_text(&Value::text(text.clone(), from));
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        output
    }

    /// Walks a shell text that is part of the text of the program that runs it. An unknown one is a gap.
    pub(crate) fn shell_text(&mut self, text: &Value) -> Stream {
        self.fed_shell_text(text, &Stream::default())
    }

    /// Like `shell_text`, with standard input.
    pub(crate) fn fed_shell_text(&mut self, text: &Value, stdin: &Stream) -> Stream {
        let Some(known) = self.readable(text) else {
            self.gap(text.origin(), UnknownReason::NotEvaluated);
            return Stream::default();
        };
        let state = self.state.of_child(Vec::new());
        let source = DerivedText { language: Language::Shell, step: "shell text", text: &known, from: text.origin() };
        self.with_state(state, |this| this.derived_text(source, stdin))
    }

    /// Walks a text with the reader of its language.
    pub(crate) fn in_language(&mut self, source: SourceText<'_>, stdin: &Stream) -> Stream {
        let outer = std::mem::replace(&mut self.language, source.language);
        if !work::spend_bytes(source.text.len(), 60) {
            self.exhaust(source.origin);
        }
        let read_text = self.read_text;
        let is_shell = source.language == Language::Shell;
        let first = self.reading.commands.len();
        let stream = if self.exhausted { Stream::default() } else { read_text(self, source, stdin) };
        if !is_shell {
            self.unordered(first);
        }
        self.language = outer;
        stream
    }

    pub(super) fn script(&mut self, script: &Script) -> Stream {
        self.levels += 1;
        let output = if self.levels > MAX_LEVELS { Stream::default() } else { self.statements(script) };
        if self.levels == MAX_LEVELS + 1 {
            self.gap(self.place, UnknownReason::Limit);
        }
        self.levels -= 1;
        output
    }

    fn statements(&mut self, script: &Script) -> Stream {
        let mut output = Stream::nothing();
        // States in which the list may have been left because a member failed.
        let mut left: Vec<State> = Vec::new();
        self.status = Some(true);
        for statement in &script.statements {
            if statement.join != Join::And {
                left.drain(..).for_each(|before| self.state.merge_names(&before));
            }
            match statement.join {
                Join::Always if !self.state.errexit => self.state.folders.go_on(),
                Join::Always | Join::Or => self.state.folders.mind_failure(),
                Join::And => {}
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

    /// Walks one member of a list. A `cd` before `&&` is not assumed to fail.
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
                // It may not have run, in which case the preceding member failed.
                self.status = None;
            }
            (Join::Or, None) => {
                let before = self.state.clone();
                // Members that failed before an `&&` continue here.
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
        let first = self.reading.commands.len();
        let output = self.isolated(|this| this.node(&statement.node));
        // It may still be running along with everything that follows.
        self.reading.unordered.push(first..CommandId::MAX);
        self.forking -= 1;
        self.status = Some(true);
        output
    }

    /// Marks the commands found since `first` as having an unknown order.
    fn unordered(&mut self, first: CommandId) {
        let end = self.reading.commands.len();
        if end > first + 1 {
            self.reading.unordered.push(first..end);
        }
    }

    pub(super) fn node(&mut self, node: &Node) -> Stream {
        if !self.state.differs() {
            return self.only_node(node);
        }
        let names = self.differing(node);
        self.over_ways(&names, &mut |this| this.only_node(node))
    }

    fn only_node(&mut self, node: &Node) -> Stream {
        let first = self.reading.commands.len();
        let output = self.node_itself(node);
        if matches!(node, Node::Pipeline(_) | Node::Loop { .. } | Node::Count { .. } | Node::For { .. }) {
            self.unordered(first);
        }
        output
    }

    fn node_itself(&mut self, node: &Node) -> Stream {
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
                Stream::new(Value::piece(Piece::Unknown(*why), *origin), Vec::new())
            }
        }
    }

    fn redirected_node(&mut self, inner: &Node, redirects: &[Redirect]) -> Stream {
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

    /// Walks in a subshell, whose assignments are discarded afterwards.
    pub(super) fn isolated<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        self.with_state(before, walk)
    }

    /// Walks code that is unreachable as far as is known: lists its commands and discards its effects.
    pub(super) fn aside(&mut self, walk: impl FnOnce(&mut Self) -> Stream) -> Stream {
        let (before, status) = (self.state.clone(), self.status);
        let output = walk(self);
        (self.state, self.status) = (before, status);
        output
    }

    fn pipeline(&mut self, members: &[Member]) -> Stream {
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
            // A later member reads everything that all earlier ones pass on.
            sources.append(&mut output.commands);
            if sources.len() > MAX_SOURCES {
                self.gap(self.place, UnknownReason::Limit);
                sources.truncate(MAX_SOURCES / 2);
            }
            stream = Some(Stream::new(output.text, if last { std::mem::take(&mut sources) } else { sources.clone() }));
        }
        self.forking -= 1;
        stream.unwrap_or_default()
    }

    /// Returns the output of `$(…)`.
    pub(crate) fn substitute(&mut self, script: &std::rc::Rc<Script>, origin: Origin) -> Value {
        if self.depth >= MAX_DEPTH {
            self.gap(origin, UnknownReason::Limit);
            return Value::piece(Piece::Unknown(UnknownReason::Limit), origin);
        }
        self.depth += 1;
        let output = self.captured(|this| this.script(script));
        self.depth -= 1;
        relocate(output.text, origin)
    }
}

/// Gives pieces without a span that of the substitution. All other spans are already inside it.
fn relocate(mut value: Value, origin: Origin) -> Value {
    for (_, piece_origin) in &mut value.pieces {
        if piece_origin.span == Span::default() {
            *piece_origin = origin;
        }
    }
    value
}
