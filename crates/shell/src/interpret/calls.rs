//! Functions and aliases: the resolution of a name at its use.

use super::call_stack::{Call, Called, FrameKind};
use super::draft::Draft;
use super::interpreter::{Interpreter, MAX_DEPTH};
use super::state::{Alias, State};
use super::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Origin, UnknownReason, Value};
use crate::reading::{ChangeKind, Words};
use crate::syntax::parser::Placement;
use crate::syntax::tree::{Line, Node, Part, Simple, Word};
use std::rc::Rc;

/// Maximum recursion depth of a function, each call with other parameters or another state.
const MAX_RECURSION: usize = 8;

/// Maximum number of remembered calls.
const MAX_CALLED: usize = 64;

/// Aliases that distributions and shell frameworks define.
const USUAL: [(&str, &str); 7] = [
    ("ll", "ls -la"),
    ("la", "ls -A"),
    ("l", "ls -CF"),
    ("..", "cd .."),
    ("...", "cd ../.."),
    ("md", "mkdir -p"),
    ("rd", "rmdir"),
];

impl Interpreter<'_> {
    /// Enters a function, unless it is already being walked. Returns whether it was entered.
    pub(crate) fn calls_function(&mut self, name: &str) -> bool {
        let calls = !self.calls.iter().any(|call| call.name == name);
        if calls {
            let (parameters, state) = (Vec::new(), self.state.clone());
            self.calls.push(Call { name: name.into(), forking: self.forking, parameters: parameters.into(), state });
        }
        calls
    }

    pub(crate) fn returns(&mut self) {
        self.calls.pop();
    }

    /// Calls a name that may be one of several functions, or a program if it may be undefined.
    pub(super) fn call_one_of(&mut self, name: &str, bodies: &[Option<Rc<Node>>], draft: Draft) -> Stream {
        if let [Some(body)] = bodies {
            return self.call(name, body, draft);
        }
        let before = self.state.clone();
        let mut ways = bodies.iter();
        self.over_states(vec![before.clone(); bodies.len()], &before, |this| match ways.next() {
            Some(Some(body)) => this.call(name, body, draft.clone()),
            Some(None) | None => this.program(name, draft.clone()),
        })
    }

    fn call(&mut self, name: &str, body: &Rc<Node>, draft: Draft) -> Stream {
        let active = self.calls.iter().filter(|call| call.name == name);
        let (mut count, mut same, mut forks) = (0, false, false);
        for call in active {
            count += 1;
            forks |= self.forking > call.forking;
            same |= call.parameters == draft.words && call.state.same_names(&self.state);
        }
        if forks {
            self.reading.multiplying.push(draft.origin);
        }
        if forks || same {
            return Stream::nothing();
        }
        if count >= MAX_RECURSION || self.depth >= MAX_DEPTH {
            self.gap(draft.origin, UnknownReason::Limit);
            return Stream::default();
        }
        let remembered = draft.assignments.is_empty() && draft.redirects.is_empty();
        if let Some(called) =
            self.called.iter().rev().filter(|_| remembered).find(|called| self.is_same(called, body, &draft))
        {
            self.status = called.status;
            return called.output.clone();
        }
        let before = self.state.clone();
        let written = (self.files.changes, self.settings.len());
        let words = draft.words.clone();
        let output = self.walk_function(name, body, draft);
        if remembered && written == (self.files.changes, self.settings.len()) && self.state.is_untouched(&before) {
            if self.called.len() >= MAX_CALLED {
                self.called.remove(0);
            }
            self.called.push(Called {
                body: body.clone(),
                parameters: words,
                state: before,
                parent: self.parent,
                site: self.site,
                output: output.clone(),
                status: self.status,
            });
        }
        output
    }

    fn is_same(&self, called: &Called, body: &Rc<Node>, draft: &Draft) -> bool {
        Rc::ptr_eq(&called.body, body)
            && called.parameters == draft.words
            && called.parent == self.parent
            && called.site == self.site
            && called.state.is_untouched(&self.state)
    }

    fn walk_function(&mut self, name: &str, body: &Node, draft: Draft) -> Stream {
        self.note(ChangeKind::Call(draft.words.clone()), draft.origin);
        let state = self.state.clone();
        self.calls.push(Call { name: name.into(), forking: self.forking, parameters: draft.words.clone(), state });
        let parameters = self.state.replace_parameters(draft.words);
        let hidden = self.state.assign_for_command(&draft.assignments);
        self.locals.push(Vec::new());
        self.depth += 1;
        let mut output = self.framed(FrameKind::Function, |this| this.node(body));
        self.depth -= 1;
        self.calls.pop();
        let locals = self.locals.pop().unwrap_or_default();
        self.state.restore(locals);
        self.state.reveal(hidden);
        self.state.restore_parameters(parameters);
        self.list_group(draft.redirects, draft.origin, &mut output);
        output
    }

    /// Returns the texts that the first word may be an alias for; empty if it is certainly not one.
    ///
    /// An alias takes effect on the line after its definition. Shells differ in whether aliases take effect at all.
    pub(super) fn alias_texts(&self, simple: &Simple) -> Vec<Rc<str>> {
        let Some(name) = self.aliasable(simple) else { return Vec::new() };
        let counts = |alias: &&Alias| counts_on(alias, simple.line);
        let known = self.state.aliases(name).iter().filter(counts).map(|alias| alias.text.clone());
        let mut texts: Vec<Rc<str>> = known.collect();
        if texts.is_empty() && self.is_unexplained(name, simple) {
            texts.extend((self.surroundings.alias)("", name).map(Rc::from));
        }
        texts
    }

    /// Returns the alias that nearly every interactive shell has for this name, if it has no other known meaning.
    pub(super) fn usual_alias(&self, simple: &Simple) -> Option<&'static str> {
        let name = self.aliasable(simple)?;
        let (_, text) = USUAL.iter().find(|(usual, _)| *usual == name)?;
        let is_unchanged = simple.origin.derivation.is_none() && self.state.functions(name).is_empty();
        (is_unchanged && self.language == Language::Shell && !self.is_of_windows(name, simple)).then_some(text)
    }

    /// `rd /s`: whether the Windows program of this name is meant.
    fn is_of_windows(&self, name: &str, simple: &Simple) -> bool {
        let switch = |word: &Word| matches!(word.parts.as_slice(), [Part::Text { text, .. }] if is_switch(text));
        let known = self.program_of_text(name).is_some_and(|program| program.style().is_windows());
        known && simple.words.iter().skip(1).any(switch)
    }

    /// Returns the first word, if an alias may replace it.
    fn aliasable<'s>(&self, simple: &'s Simple) -> Option<&'s str> {
        let Some([Part::Text { text, quoted: false, .. }]) = simple.words.first().map(|word| word.parts.as_slice())
        else {
            return None;
        };
        let walked = self.depth >= MAX_DEPTH || self.calls.iter().any(|call| call.name == *text);
        (!walked).then_some(text.as_str())
    }

    /// Whether a name in the text itself has no known meaning. Shells that read a script do not have the user's
    /// aliases.
    fn is_unexplained(&self, name: &str, simple: &Simple) -> bool {
        let plain = !name.is_empty() && !name.contains('/') && self.language == Language::Shell;
        plain
            && simple.origin.derivation.is_none()
            && USUAL.iter().all(|(usual, _)| *usual != name)
            && self.program_of_text(name).is_none()
            && self.state.functions(name).is_empty()
    }

    /// Walks the command with the alias in place of its first word.
    pub(super) fn aliased(&mut self, simple: &Simple, alias: &str) -> Stream {
        let origin = simple.words.first().map_or(simple.origin, |word| word.origin);
        let name = match simple.words.first().map(|word| word.parts.as_slice()) {
            Some([Part::Text { text, .. }]) => text.clone(),
            _ => String::new(),
        };
        let derivation = self.derive("alias", alias, origin);
        let placement = Placement::From(Origin { span: origin.span, derivation });
        let mut script = self.parse(alias, placement, |parser| parser.script());
        if let Some(last) = script.statements.last_mut().and_then(|statement| last_simple(&mut statement.node)) {
            last.words.extend(simple.words.iter().skip(1).cloned());
            last.redirects.extend(simple.redirects.iter().cloned());
            last.origin.span = simple.origin.span;
            last.line = simple.line;
        }
        let state = State::default();
        self.calls.push(Call { name, forking: self.forking, parameters: Words::default(), state });
        self.depth += 1;
        let output = self.script(&script);
        self.depth -= 1;
        self.calls.pop();
        output
    }

    /// `alias name=text …`
    pub(super) fn define_alias(&mut self, word: &Value) {
        let Some(text) = word.literal() else { return };
        if let Some((name, body)) = text.split_once('=') {
            let alias = Alias { text: body.into(), lines: self.lines.as_slice().into() };
            self.state.add_alias(name, alias);
        }
    }
}

fn is_switch(text: &str) -> bool {
    matches!(text.as_bytes(), [b'/', ch] if ch.is_ascii_alphabetic())
}

/// Returns the simple command at the end of a node, which receives the words after an alias.
fn last_simple(node: &mut Node) -> Option<&mut Simple> {
    match node {
        Node::Simple(simple) => Some(simple),
        Node::Pipeline(members) => members.last_mut().and_then(|member| last_simple(&mut member.node)),
        Node::Not(inner) => last_simple(inner),
        Node::Group(_)
        | Node::Subshell(_)
        | Node::If { .. }
        | Node::Loop { .. }
        | Node::Count { .. }
        | Node::For { .. }
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Test(_)
        | Node::Redirected(..)
        | Node::Unknown(..) => None,
    }
}

/// Whether an alias is in effect on a line. A shell reads a complete line before it runs any of it. A text that is read
/// later has the alias from its first line on.
fn counts_on(alias: &Alias, line: Line) -> bool {
    alias.lines.iter().filter(|known| known.text == line.text).all(|known| known.number < line.number)
}
