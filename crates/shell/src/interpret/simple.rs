//! One simple command: what it sets, what it is called, what it runs.

use super::{Interpreter, MAX_COMMANDS, MAX_DEPTH, State, Stream};
use crate::invocation::Invocation;
use crate::program::Program;
use crate::syntax::{Assigned, Assignment, Node, Parser, Placement, Simple, is_name};
use crate::value::{Origin, Piece, Value, Why};
use crate::{Access, Command, CommandId, Redirection, Stdin};
use std::ops::Range;

/// A command that is about to be added.
pub(super) struct Draft {
    pub(super) words: Vec<Value>,
    pub(super) assignments: Vec<(String, Value)>,
    pub(super) redirects: Vec<Redirection>,
    pub(super) stdin: Stream,
    /// The commands that ran while the words were expanded.
    pub(super) expanded: Range<CommandId>,
    pub(super) origin: Origin,
}

impl Interpreter<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, stdin: &Stream) -> Stream {
        self.place = simple.origin;
        if let Some(output) = self.aliased(simple, stdin) {
            return output;
        }
        let before = self.reading.commands.len();
        let assignments: Vec<_> =
            simple.assignments.iter().filter_map(|assignment| self.assignment(assignment)).collect();
        let words: Vec<Value> = simple.words.iter().flat_map(|word| self.expand(word)).collect();
        let (redirects, input) = self.redirections(&simple.redirects, stdin);
        if words.is_empty() {
            return self.without_words(simple, assignments, redirects);
        }
        let declares = simple.words.len() == words.len() && self.declares(&words);
        if declares {
            assignments.iter().for_each(|(name, values)| self.state.assign(name, values.clone()));
        }
        let of_command = if declares { Vec::new() } else { assignments };
        let of_command = of_command.into_iter().filter_map(|(name, values)| Some((name, values.into_iter().next()?)));
        self.command(Draft {
            words,
            assignments: of_command.collect(),
            redirects,
            stdin: input,
            expanded: before..self.reading.commands.len(),
            origin: simple.origin,
        })
    }

    fn declares(&self, words: &[Value]) -> bool {
        let name = words.first().and_then(Value::literal);
        name.is_some_and(|name| matches!(&*name, "export" | "local" | "declare" | "typeset" | "readonly"))
    }

    fn assignment(&mut self, assignment: &Assignment) -> Option<(String, Vec<Value>)> {
        let array = matches!(assignment.value, Assigned::Array(_));
        let values = match &assignment.value {
            Assigned::Word(word) => vec![self.expand_whole(word)],
            Assigned::Array(words) => words.iter().flat_map(|word| self.expand(word)).collect(),
        };
        if let Some(subscript) = &assignment.element {
            self.expand_whole(subscript);
        }
        if assignment.append || assignment.element.is_some() {
            self.state.append(&assignment.name, values, array || assignment.element.is_some());
            return None;
        }
        Some((assignment.name.clone(), values))
    }

    /// Assignments alone last; redirections alone still open their files.
    fn without_words(
        &mut self,
        simple: &Simple,
        assignments: Vec<(String, Vec<Value>)>,
        redirects: Vec<Redirection>,
    ) -> Stream {
        assignments.into_iter().for_each(|(name, values)| self.state.assign(&name, values));
        if self.state.is_full() {
            self.exhaust(simple.origin);
        }
        if !redirects.is_empty() {
            let mut output = Stream::of(Value::default(), Vec::new());
            self.redirected_group(redirects, simple.origin, &mut output);
        }
        Stream::of(Value::default(), Vec::new())
    }

    /// Files opened for a group of commands: a command without words that only redirects.
    pub(super) fn redirected_group(&mut self, redirects: Vec<Redirection>, origin: Origin, output: &mut Stream) {
        let writes = redirects.iter().any(|file| file.access != Access::Read);
        let stdin = Stdin::Pipe(output.commands.clone());
        let id = self.add(Command {
            name: String::new(),
            words: Vec::new(),
            invocation: None,
            assignments: Vec::new(),
            redirects,
            stdin,
            unread: Vec::new(),
            folder: self.state.folder(),
            site: self.site,
            parent: self.parent,
            origin,
        });
        if writes {
            *output = Stream::of(Value::default(), id.into_iter().collect());
        }
    }

    fn aliased(&mut self, simple: &Simple, stdin: &Stream) -> Option<Stream> {
        let first = simple.words.first()?;
        let [crate::syntax::Part::Text { text, quoted: false, .. }] = first.parts.as_slice() else { return None };
        let alias = self.state.alias(text)?;
        let calls = self.calls.iter().filter(|(name, _)| name == text).count();
        if calls > 0 || self.depth >= MAX_DEPTH {
            return None;
        }
        let derivation = self.derive("alias", &alias, first.origin);
        let placement = Placement::From(Origin { span: first.origin.span, derivation });
        let mut parser = Parser::new(&alias, placement, self.depth);
        let mut script = parser.script();
        self.reading.gaps.append(&mut parser.gaps);
        if let Some(Node::Simple(last)) = script.statements.last_mut().map(|statement| &mut statement.node) {
            last.words.extend(simple.words.iter().skip(1).cloned());
            last.origin.span = simple.origin.span;
        }
        self.calls.push((text.clone(), self.forking));
        self.depth += 1;
        let output = self.script(&script, stdin);
        self.depth -= 1;
        self.calls.pop();
        Some(output)
    }

    /// Adds a command and walks what it runs.
    pub(super) fn command(&mut self, draft: Draft) -> Stream {
        let Some(first) = draft.words.first() else { return Stream::default() };
        let name = program_name(first);
        if name.is_empty() {
            self.gap(first.origin(), Why::NotEvaluated);
        }
        if let Some(body) = self.state.function(&name) {
            return self.call(&name, &body, draft);
        }
        if let Some(output) = self.builtin(&name, &draft) {
            return output;
        }
        let program = Program::find(self.surroundings.programs, &name);
        let invocation = program.map(|program| Invocation::read(program, &draft.words));
        let id = self.add(Command {
            name,
            words: draft.words.clone(),
            invocation: invocation.clone(),
            assignments: draft.assignments.clone(),
            redirects: draft.redirects.clone(),
            stdin: draft.stdin.stdin(),
            unread: Vec::new(),
            folder: self.state.folder(),
            site: self.site,
            parent: self.parent,
            origin: draft.origin,
        });
        let Some(id) = id else { return Stream::default() };
        let writes = draft.redirects.iter().any(|file| file.access != Access::Read);
        let mut output = match &invocation {
            Some(invocation) => self.inner(id, invocation, &draft),
            None => None,
        }
        .unwrap_or_else(|| {
            let printed = crate::output::of(self, &draft.words, invocation.as_ref(), &draft.stdin);
            Stream::of(self.spend(printed), Vec::new())
        });
        output.commands.insert(0, id);
        if writes {
            output.text = Value::default();
        }
        output
    }

    pub(super) fn add(&mut self, command: Command) -> Option<CommandId> {
        if self.reading.commands.len() >= MAX_COMMANDS {
            self.exhaust(command.origin);
            return None;
        }
        self.reading.commands.push(command);
        Some(self.reading.commands.len() - 1)
    }

    fn call(&mut self, name: &str, body: &Node, draft: Draft) -> Stream {
        if let Some((_, forking)) = self.calls.iter().find(|(called, _)| called == name) {
            if self.forking > *forking {
                self.reading.multiplying.push(draft.origin);
            }
            return Stream::of(Value::default(), Vec::new());
        }
        if self.depth >= MAX_DEPTH {
            self.gap(draft.origin, Why::Limit);
            return Stream::default();
        }
        let parameters = std::mem::replace(&mut self.state.parameters, draft.words);
        draft.assignments.into_iter().for_each(|(name, value)| self.state.assign(&name, vec![value]));
        self.calls.push((name.into(), self.forking));
        self.depth += 1;
        let mut output = self.node(body, &draft.stdin);
        self.depth -= 1;
        self.calls.pop();
        self.state.parameters = parameters;
        if !draft.redirects.is_empty() {
            self.redirected_group(draft.redirects, draft.origin, &mut output);
        }
        output
    }

    /// Builtins that change the shell's state and nothing else: they are followed and not listed.
    fn builtin(&mut self, name: &str, draft: &Draft) -> Option<Stream> {
        let words = draft.words.get(1..).unwrap_or(&[]);
        let operands = || words.iter().filter(|word| !word.prefix().starts_with('-') || word.prefix() == "-");
        match name {
            "cd" | "pushd" | "chdir" => match operands().next() {
                Some(target) if target.literal().as_deref() == Some("-") => self.state.forget_folder(),
                // Where `..` leads then depends on links.
                Some(_) if words.iter().any(|word| word.literal().as_deref() == Some("-P")) => {
                    self.state.forget_folder()
                }
                Some(target) => self.state.change_folder(target.clone()),
                None => self.state.change_folder(Value::piece(Piece::Home(String::new()), draft.origin)),
            },
            "popd" => self.state.forget_folder(),
            "unset" => operands().filter_map(Value::literal).for_each(|name| self.state.unset(&name)),
            "set" => self.set_parameters(words),
            "shift" => {
                let count = words.first().and_then(Value::literal).and_then(|count| count.parse().ok()).unwrap_or(1);
                let end = self.state.parameters.len().min(1 + count);
                self.state.parameters.drain(end.min(1)..end);
            }
            "read" | "readarray" | "mapfile" => self.read_variables(words, draft),
            "alias" => operands().for_each(|word| self.define_alias(word)),
            "printf" if words.first().and_then(Value::literal).as_deref() == Some("-v") => {
                let format = draft.words.iter().take(1).chain(words.get(2..).unwrap_or(&[]));
                let printed = crate::output::of(self, &format.cloned().collect::<Vec<_>>(), None, &draft.stdin);
                let name = words.get(1).and_then(Value::literal).unwrap_or_default().into_owned();
                self.state.assign(&name, vec![printed]);
            }
            _ => return None,
        }
        if !draft.redirects.is_empty() {
            let mut output = Stream::default();
            self.redirected_group(draft.redirects.clone(), draft.origin, &mut output);
        }
        Some(Stream::of(Value::default(), Vec::new()))
    }

    fn set_parameters(&mut self, words: &[Value]) {
        let dashes = words.iter().position(|word| word.literal().as_deref() == Some("--"));
        let Some(dashes) = dashes else { return };
        self.state.parameters.truncate(1);
        if self.state.parameters.is_empty() {
            self.state.parameters.push(Value::default());
        }
        self.state.parameters.extend(words.get(dashes + 1..).unwrap_or(&[]).iter().cloned());
    }

    /// `read` takes a line of its input: if that is known by kind, so is the line.
    fn read_variables(&mut self, words: &[Value], draft: &Draft) {
        let unknown = || Value::piece(Piece::Unknown(Why::Input), draft.origin);
        let line = if draft.stdin.present && !draft.stdin.text.pieces.is_empty() {
            draft.stdin.text.clone()
        } else {
            unknown()
        };
        let names: Vec<String> = words.iter().filter_map(Value::literal).map(|name| name.into_owned()).collect();
        for name in names.iter().filter(|name| is_name(name)) {
            self.state.assign(name, vec![line.clone()]);
        }
    }

    fn define_alias(&mut self, word: &Value) {
        let Some(text) = word.literal() else { return };
        if let Some((name, body)) = text.split_once('=') {
            self.state.set_alias(name, body.into());
        }
    }

    pub(super) fn with_state<T>(&mut self, state: State, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.state, state);
        let result = walk(self);
        self.state = before;
        result
    }
}

/// The file name of a program's path; empty if it is not known.
fn program_name(word: &Value) -> String {
    let Some(text) = word.literal() else {
        return match word.pieces.last() {
            // `$HOME/bin/tool`, `~/x/tool`: the folder may be unknown, the name is not.
            Some((Piece::Text(text), _)) => text.rsplit_once('/').map_or(String::new(), |(_, name)| name.into()),
            _ => String::new(),
        };
    };
    text.rsplit('/').next().unwrap_or("").to_owned()
}
