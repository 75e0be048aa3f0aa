//! One simple command: what it sets, what it is called, what it runs.

use super::inner::join;
use super::{Interpreter, MAX_COMMANDS, MAX_DEPTH, State, Stream};
use crate::invocation::Invocation;
use crate::program::Program;
use crate::syntax::{Assigned, Assignment, Node, Parser, Placement, Simple, is_name};
use crate::value::{Origin, Piece, Value, Why};
use crate::{Access, Change, ChangeKind, Command, CommandId, Redirection, Setting, Stdin};
use std::ops::Range;

/// A command that is about to be added.
pub(crate) struct Draft {
    pub(crate) words: Vec<Value>,
    pub(crate) assignments: Vec<(String, Value)>,
    pub(crate) redirects: Vec<Redirection>,
    pub(crate) stdin: Stream,
    /// The commands that ran while the words were expanded.
    pub(crate) expanded: Range<CommandId>,
    pub(crate) origin: Origin,
    /// Whether another program runs it, which knows no functions.
    pub(crate) by_program: bool,
}

impl Draft {
    /// What another program runs, with nothing to read.
    pub(super) fn of_program(words: Vec<Value>, origin: Origin) -> Draft {
        Draft {
            words,
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: Stream::default(),
            expanded: 0..0,
            origin,
            by_program: true,
        }
    }
}

impl Interpreter<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, stdin: &Stream) -> Stream {
        self.place = simple.origin;
        if let Some(output) = self.aliased(simple, stdin) {
            return output;
        }
        let before = self.reading.commands.len();
        let mut assignments: Vec<(String, Vec<Value>)> = Vec::new();
        for assignment in &simple.assignments {
            let Some((name, values)) = self.assignment(assignment) else { continue };
            self.changed(&name, values.first().cloned(), simple.origin);
            if simple.words.is_empty() {
                // The next one can already see it.
                self.state.assign(&name, values.clone());
            }
            assignments.push((name, values));
        }
        let words: Vec<Value> = simple.words.iter().flat_map(|word| self.expand(word)).collect();
        let (redirects, input) = self.redirections(&simple.redirects, stdin);
        let declares = self.declares(&words);
        if words.is_empty() || declares {
            for (name, values) in &assignments {
                self.note(ChangeKind::Variable(name.clone(), values.clone()), simple.origin);
            }
        }
        if words.is_empty() {
            let reads = assignments.is_empty() && !redirects.is_empty();
            let reads = reads && redirects.iter().all(|file| file.access == Access::Read);
            let nothing = self.without_words(simple, assignments, redirects);
            // `$(< file)` prints the file.
            return if reads { Stream::of(input.text, Vec::new()) } else { nothing };
        }
        if declares {
            self.declare(&words, &assignments);
        }
        let of_command = assignments.into_iter().filter_map(|(name, values)| Some((name, values.into_iter().next()?)));
        let mut of_command: Vec<(String, Value)> = of_command.collect();
        if declares {
            self.code_variables(None, &std::mem::take(&mut of_command), simple.origin);
        }
        self.command(Draft {
            words,
            assignments: of_command,
            redirects,
            stdin: input,
            expanded: before..self.reading.commands.len(),
            origin: simple.origin,
            by_program: false,
        })
    }

    fn note(&mut self, kind: ChangeKind, origin: Origin) {
        let before = self.reading.commands.len();
        self.reading.changes.push(Change { kind, before, origin });
    }

    pub(super) fn changed(&mut self, name: &str, value: Option<Value>, origin: Origin) {
        if self.reading.settings.len() >= MAX_COMMANDS {
            return self.gap(origin, Why::Limit);
        }
        self.reading.settings.push(Setting { name: name.into(), value, origin, site: self.site });
    }

    /// `export`, `local` and their kin: who sees a variable, and what it is when the function ends.
    fn declare(&mut self, words: &[Value], assignments: &[(String, Vec<Value>)]) {
        let known: Vec<String> = words.iter().filter_map(Value::literal).map(|word| word.into_owned()).collect();
        let (options, operands): (Vec<_>, Vec<_>) = known.iter().skip(1).partition(|word| word.starts_with('-'));
        let has = |letter: char| options.iter().any(|option| option.contains(letter));
        let names: Vec<&String> =
            assignments.iter().map(|(name, _)| name).chain(operands).filter(|name| is_name(name)).collect();
        let word = known.first().map_or("", String::as_str);
        if let Some(locals) = self.locals.last_mut().filter(|_| !matches!(word, "export" | "readonly") && !has('g')) {
            let saved = self.state.saved(names.iter().copied());
            locals.extend(saved);
            names.iter().for_each(|name| self.state.assign(name, Vec::new()));
        }
        if word == "export" || has('x') {
            names.iter().for_each(|name| self.state.export(name));
        }
        for (name, values) in assignments {
            // `declare -n`: another name for a variable, which is not followed.
            let origin = values.first().map_or(Origin::default(), Value::origin);
            let other = || vec![Value::piece(Piece::Unknown(Why::NotEvaluated), origin)];
            self.state.assign(name, if has('n') { other() } else { values.clone() });
        }
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
            let subscript = self.expand_whole(subscript);
            let index = subscript.literal().and_then(|text| text.parse().ok());
            let value = values.into_iter().next().unwrap_or_default();
            let unknown = Value::piece(Piece::Unknown(Why::NotEvaluated), value.origin());
            let value = if assignment.append { unknown } else { value };
            self.state.assign_element(&assignment.name, index, value);
            return None;
        }
        if assignment.append {
            self.state.append(&assignment.name, values, array);
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
        let first = |(name, values): &(String, Vec<Value>)| Some((name.clone(), values.first()?.clone()));
        let variables: Vec<(String, Value)> = assignments.iter().filter_map(first).collect();
        assignments.into_iter().for_each(|(name, values)| self.state.assign(&name, values));
        self.code_variables(None, &variables, simple.origin);
        if self.state.is_full() {
            self.exhaust(simple.origin);
        }
        if redirects.is_empty() {
            return Stream::of(Value::default(), Vec::new());
        }
        // `$(<file)` prints the file.
        let read = redirects.iter().find(|file| file.access == Access::Read && file.descriptor == 0);
        let read = read.and_then(|file| self.content(&file.target));
        let mut output = Stream::of(Value::default(), Vec::new());
        self.redirected_group(redirects, simple.origin, &mut output);
        read.unwrap_or_else(|| Stream::of(Value::default(), Vec::new()))
    }

    /// Files opened for a group of commands: a command without words that only redirects.
    pub(crate) fn redirected_group(&mut self, redirects: Vec<Redirection>, origin: Origin, output: &mut Stream) {
        let writes = self.redirect_output(&redirects, output);
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
    pub(crate) fn command(&mut self, draft: Draft) -> Stream {
        let Some(first) = draft.words.first() else { return Stream::default() };
        let name = program_name(first);
        if name.is_empty() {
            self.gap(first.origin(), Why::NotEvaluated);
        }
        if let Some(body) = self.state.function(&name).filter(|_| !draft.by_program) {
            return self.call(&name, &body, draft);
        }
        if let Some(output) = self.builtin(&name, &draft) {
            self.note(ChangeKind::Builtin(draft.words), draft.origin);
            return output;
        }
        let program = Program::find(self.surroundings.programs, &name);
        let separator = program.and_then(Program::separator);
        let drafts = match separator {
            Some(separator) => separated(draft, separator),
            None => vec![draft],
        };
        let printed = drafts
            .into_iter()
            .fold(None, |printed, draft| join(printed, Some(self.one_command(name.clone(), program, draft))));
        printed.unwrap_or_default()
    }

    fn one_command(&mut self, name: String, program: Option<Program>, draft: Draft) -> Stream {
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
        let hidden = self.state.assign_for_command(&draft.assignments);
        self.code_variables(Some(id), &draft.assignments, draft.origin);
        let inner = match &invocation {
            Some(invocation) => self.inner(id, invocation, &draft),
            None => None,
        };
        let inner = join(inner, self.run_by_path(id, &draft));
        self.state.reveal(hidden);
        let mut output = inner.unwrap_or_else(|| {
            let printed = crate::output::of(self, &draft.words, invocation.as_ref(), &draft.stdin);
            Stream::of(self.spend(printed), Vec::new())
        });
        output.commands.insert(0, id);
        if let Some(invocation) = &invocation {
            self.flow(id, invocation, &draft, &output);
        }
        let mut written = output.clone();
        written.commands.extend(draft.stdin.commands.iter().copied());
        if self.redirect_output(&draft.redirects, &written) {
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
        self.note(ChangeKind::Call(draft.words.clone()), draft.origin);
        let parameters = std::mem::replace(&mut self.state.parameters, draft.words);
        let hidden = self.state.assign_for_command(&draft.assignments);
        self.calls.push((name.into(), self.forking));
        self.locals.push(Vec::new());
        self.depth += 1;
        let mut output = self.node(body, &draft.stdin);
        self.depth -= 1;
        self.calls.pop();
        let locals = self.locals.pop().unwrap_or_default();
        self.state.restore(locals);
        self.state.reveal(hidden);
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
            "unset" => {
                let has = |option: &str| words.iter().any(|word| word.prefix() == option);
                for name in operands().filter_map(Value::literal) {
                    if !has("-f") {
                        self.changed(&name, None, draft.origin);
                        self.state.unset(&name);
                    }
                    if !has("-v") {
                        self.state.unset_function(&name);
                    }
                }
            }
            "set" => {
                let known: Vec<_> = words.iter().filter_map(Value::literal).collect();
                for pair in
                    known.windows(2).filter(|pair| matches!(pair.first().map(|sign| &**sign), Some("+o" | "-o")))
                {
                    let name: String = pair.iter().map(|word| &**word).collect();
                    self.changed(&name.replacen('o', "", 1), Some(Value::default()), draft.origin);
                }
                self.set_parameters(words)
            }
            "shift" => {
                let count = words.first().and_then(Value::literal).and_then(|count| count.parse().ok()).unwrap_or(1);
                // More than there are shift nothing.
                if count < self.state.parameters.len() {
                    self.state.parameters.drain(1..1 + count);
                }
            }
            "read" => self.read_variables(words, draft),
            "readarray" | "mapfile" => self.read_lines(words, draft),
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

    /// `set [OPTIONS] [--] WORD…`: the words become the parameters.
    fn set_parameters(&mut self, words: &[Value]) {
        let mut at = 0;
        while let Some(text) = words.get(at).map(|word| word.prefix()).filter(|text| text.starts_with(['-', '+'])) {
            at += 1;
            if text == "--" {
                return self.replace_parameters(words.get(at..).unwrap_or(&[]));
            }
            // `-euo pipefail`
            at += usize::from(text.ends_with('o'));
        }
        if at < words.len() {
            self.replace_parameters(words.get(at..).unwrap_or(&[]));
        }
    }

    fn replace_parameters(&mut self, words: &[Value]) {
        self.state.parameters.truncate(1);
        if self.state.parameters.is_empty() {
            self.state.parameters.push(Value::default());
        }
        self.state.parameters.extend(words.iter().cloned());
    }

    fn define_alias(&mut self, word: &Value) {
        let Some(text) = word.literal() else { return };
        if let Some((name, body)) = text.split_once('=') {
            self.state.set_alias(name, body.into());
        }
    }

    /// Another shell, which ends with what it has left for its end.
    pub(super) fn with_state<T>(&mut self, state: State, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.state, state);
        let waiting = std::mem::take(&mut self.at_exit);
        let locals = self.locals.len();
        if locals > 0 {
            // What is local there is gone with that shell.
            self.locals.push(Vec::new());
        }
        let result = walk(self);
        self.run_at_exit();
        self.at_exit = waiting;
        self.locals.truncate(locals);
        self.state = before;
        result
    }
}

/// Several commands that one call of a program gives, as calls of their own.
fn separated(draft: Draft, separator: &str) -> Vec<Draft> {
    let ends = |word: &Value| word.literal().as_deref() == Some(separator);
    if !draft.words.iter().any(ends) {
        return vec![draft];
    }
    let program = draft.words.first().cloned();
    let calls = draft.words.split(ends).enumerate().map(|(index, words)| {
        let program = program.iter().filter(|_| index > 0);
        let words = program.chain(words).cloned().collect();
        Draft { stdin: draft.stdin.clone(), ..Draft::of_program(words, draft.origin) }
    });
    calls.collect()
}

/// The file name of a program's path; empty if it is not known.
pub(crate) fn program_name(word: &Value) -> String {
    let Some(text) = word.literal() else {
        return match word.pieces.last() {
            // `$HOME/bin/tool`, `~/x/tool`: the folder may be unknown, the name is not.
            Some((Piece::Text(text), _)) => text.rsplit_once('/').map_or(String::new(), |(_, name)| name.into()),
            _ => String::new(),
        };
    };
    text.rsplit('/').next().unwrap_or("").to_owned()
}
