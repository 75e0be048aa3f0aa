//! Walks the tree with the state that a shell would have, and collects what would run.
//!
//! Nothing is run. Branches and loop bodies are all walked, also those that a known condition leaves out; the state
//! afterwards is that of the branches that may be taken.

use super::interpreter::{DerivedText, Interpreter, MAX_DEPTH, MAX_LEVELS, MAX_STEPS, STATEMENT, SourceText};
use super::state::State;
use super::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Span, UnknownReason, Value};
use crate::reading::Reading;
use crate::syntax::parser::{Parser, Placement};
use crate::syntax::tree::{Join, Member, Node, Redirect, Script, Statement};
use reflex_work as work;

/// A member of a pipe remembers so many commands before it; each of them has a list of its own.
const MAX_SOURCES: usize = 256;

impl Interpreter<'_> {
    /// Ends the shell; everything that it has found.
    pub(crate) fn finish(mut self) -> Reading {
        // `exec 3> >(…)`: what waits for the shell's end has read all that was written to it.
        if !self.processes.is_empty() {
            self.feed_processes(0, &Stream::nothing(), &mut Stream::nothing());
        }
        self.end_shell();
        self.reading.files = self.files.known();
        self.reading
    }

    /// Parses and walks a text, which reads `stdin`.
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

    /// Shell texts that stand in a text of another kind, each run by a shell of its own.
    pub(crate) fn texts(&mut self, texts: &[String], from: Origin) -> Stream {
        let mut output = Stream::new(Value::default(), Vec::new());
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
            self.gap(text.origin(), UnknownReason::NotEvaluated);
            return Stream::default();
        };
        let state = self.state.of_child(Vec::new());
        let source = DerivedText { language: Language::Shell, step: "shell text", text: &known, from: text.origin() };
        self.with_state(state, |this| this.derived_text(source, stdin))
    }

    /// Walks a text by the reader of its language.
    pub(crate) fn in_language(&mut self, source: SourceText<'_>, stdin: &Stream) -> Stream {
        let outer = std::mem::replace(&mut self.language, source.language);
        if !work::spend_bytes(source.text.len(), 60) {
            self.exhaust(source.origin);
        }
        let read_text = self.read_text;
        let stream = if self.exhausted { Stream::default() } else { read_text(self, source, stdin) };
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
        // Where a list has been left because a member failed or succeeded.
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

    pub(super) fn node(&mut self, node: &Node) -> Stream {
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

    /// A subshell: what it sets is gone afterwards.
    pub(super) fn isolated<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        self.with_state(before, walk)
    }

    /// What is not reached as far as is known: its commands are listed, and nothing else comes of it.
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
            // A later member reads what all earlier ones let through.
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

    /// What `$(…)` prints.
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

/// Spans of what a substitution printed lie inside it already; what has none gets the substitution's.
fn relocate(mut value: Value, origin: Origin) -> Value {
    for (_, piece_origin) in &mut value.pieces {
        if piece_origin.span == Span::default() {
            *piece_origin = origin;
        }
    }
    value
}
