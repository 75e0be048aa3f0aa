//! Simple commands: their assignments, their names, and the code that they run.

use super::call_stack::{Frame, FrameKind};
use super::draft::{Draft, program_name};
use super::interpreter::{Interpreter, MAX_COMMANDS};
use super::output;
use super::state::{Case, Kind, State};
use super::streams::{Stream, join};
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::program::{Program, Style};
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};
use crate::reading::{Change, ChangeKind, Command, CommandId, Redirection, Setting, Stdin, Words};
use crate::syntax::names::is_name;
use crate::syntax::tree::{Assigned, Assignment, RedirectKind, Simple};
use reflex_work as work;
use std::sync::Arc;

/// Cost of a command in units of [`work`], in addition to that of its words.
const COMMAND: u64 = 12;

impl Interpreter<'_> {
    pub(super) fn simple(&mut self, simple: &Simple) -> Stream {
        self.place = simple.origin;
        self.lines.push(simple.line);
        let aliases = self.alias_texts(simple);
        let output = if aliases.is_empty() {
            match self.usual_alias(simple) {
                Some(text) => self.aliased(simple, text),
                None => self.as_written(simple),
            }
        } else {
            // Both readings are walked.
            let before = self.state.clone();
            let mut texts = aliases.iter();
            self.over_states(vec![before.clone(); aliases.len() + 1], &before, |this| match texts.next() {
                Some(text) => this.aliased(simple, text),
                None => this.as_written(simple),
            })
        };
        self.lines.pop();
        output
    }

    fn as_written(&mut self, simple: &Simple) -> Stream {
        let before = self.reading.commands.len();
        let processes = self.processes.len();
        let open = self.state.open.clone();
        let mut assignments: Vec<(String, Vec<Value>)> = Vec::new();
        for assignment in &simple.assignments {
            for (name, values) in self.assignment(assignment) {
                self.changed(&name, values.first().cloned(), simple.origin);
                if simple.words.is_empty() {
                    // The next assignment can already use it.
                    self.assign(&name, values.clone());
                }
                assignments.push((name, values));
            }
        }
        let words = Arc::new(self.expand_all(&simple.words));
        let redirects = self.redirections(&simple.redirects);
        let stdin = self.state.open.input(0);
        let declares = self.declares(&words);
        for (name, value) in words.iter().skip(1).filter(|_| declares).filter_map(assigned_operand) {
            self.changed(&name, Some(value.clone()), simple.origin);
            assignments.push((name, vec![value]));
        }
        if words.is_empty() || declares {
            for (name, values) in &assignments {
                self.note(ChangeKind::Variable(name.clone(), values.clone()), simple.origin);
            }
        }
        let mut output = if words.is_empty() {
            self.without_words(simple, &assignments, redirects)
        } else {
            if declares {
                self.declare(&words, &assignments);
            }
            let mut of_command = first_values(&assignments);
            if declares {
                self.code_variables(None, &std::mem::take(&mut of_command), simple.origin);
            }
            self.command(Draft {
                words: words.clone(),
                assignments: of_command,
                redirects,
                stdin: stdin.clone(),
                expanded: before..self.reading.commands.len(),
                origin: simple.origin,
                by_program: false,
            })
        };
        let written = self.written_to_arguments(processes, &words, stdin, &output);
        let lasting = words.len() == 1 && words.first().and_then(Value::literal).as_deref() == Some("exec");
        if !lasting {
            self.state.open.close_again(&open);
            self.feed_processes(processes, &written, &mut output);
        }
        output
    }

    /// Returns the text that a program writes to the `>(…)` among its arguments.
    fn written_to_arguments(&self, processes: usize, words: &[Value], stdin: Stream, output: &Stream) -> Stream {
        if self.processes.len() == processes {
            return Stream::default();
        }
        let name = words.first().map_or(String::new(), |word| program_name(word, self.language.is_windows()));
        if name == "tee" {
            return stdin;
        }
        let origin = words.first().map_or(Origin::default(), Value::origin);
        Stream::new(Value::piece(Piece::Output(Printed::Program(name)), origin), output.commands.clone())
    }

    pub(super) fn note(&mut self, kind: ChangeKind, origin: Origin) {
        let before = self.reading.commands.len();
        self.reading.changes.push(Change { kind, before, origin });
    }

    pub(super) fn changed(&mut self, name: &str, value: Option<Value>, origin: Origin) {
        if self.reading.settings.len() >= MAX_COMMANDS {
            return self.gap(origin, UnknownReason::Limit);
        }
        self.reading.settings.push(Setting { name: name.into(), value, origin, site: self.site });
    }

    /// `export`, `local` and related builtins: the visibility of a variable, and its value after the function returns.
    fn declare(&mut self, words: &[Value], assignments: &[(String, Vec<Value>)]) {
        let known: Vec<String> = words.iter().filter_map(Value::literal).map(|word| word.into_owned()).collect();
        let (options, operands): (Vec<_>, Vec<_>) = known.iter().skip(1).partition(|word| word.starts_with('-'));
        words.iter().skip(1).for_each(|word| self.run_subscript(word));
        let has = |ch: char| options.iter().any(|option| option.contains(ch));
        let names: Vec<&String> =
            assignments.iter().map(|(name, _)| name).chain(operands).filter(|name| is_name(name)).collect();
        let word = known.first().map_or("", String::as_str);
        if let Some(locals) = self.locals.last_mut().filter(|_| !matches!(word, "export" | "readonly") && !has('g')) {
            let saved = self.state.saved(names.iter().copied());
            locals.extend(saved);
            names.iter().for_each(|name| self.state.assign(name, Vec::new()));
        }
        if word == "export" && has('n') {
            let origin = words.first().map_or(self.place, Value::origin);
            names.iter().for_each(|name| self.changed(name, None, origin));
        }
        if word == "export" || has('x') {
            names.iter().for_each(|name| self.state.export(name));
        }
        if has('n') && word != "export" {
            return self.refer(assignments);
        }
        let cased = [('l', Kind::Case(Case::Lower)), ('u', Kind::Case(Case::Upper)), ('c', Kind::Case(Case::Title))];
        for (ch, kind) in [('i', Kind::Integer), ('A', Kind::Table)].into_iter().chain(cased) {
            if has(ch) && word != "export" {
                names.iter().for_each(|name| self.state.set_kind(name, Some(kind.clone())));
            }
        }
        let is_readonly = word == "readonly" || has('r');
        for (index, (name, values)) in assignments.iter().enumerate() {
            // A second assignment to a readonly variable fails.
            let is_set = is_readonly && assignments.iter().take(index).any(|(known, _)| known == name);
            if !is_set {
                self.assign(name, values.clone());
            }
        }
    }

    /// `command export A=b`, `builtin declare A=b`: a declaration whose operands are expanded like other words.
    pub(super) fn declare_operands(&mut self, draft: &Draft) {
        let assigned = draft.words.iter().skip(1).filter_map(assigned_operand);
        let assignments: Vec<_> = assigned.map(|(name, value)| (name, vec![value])).collect();
        for (name, values) in &assignments {
            self.changed(name, values.first().cloned(), draft.origin);
            self.note(ChangeKind::Variable(name.clone(), values.clone()), draft.origin);
        }
        self.declare(&draft.words, &assignments);
        self.status = Some(true);
    }

    /// `declare -n name=other`
    fn refer(&mut self, assignments: &[(String, Vec<Value>)]) {
        for (name, values) in assignments {
            let other = values.first().and_then(Value::literal).filter(|other| is_name(other) && other != name);
            match other {
                Some(other) => {
                    let kind = Kind::Reference(other.into_owned());
                    self.state.set_kind(name, Some(kind));
                }
                None => {
                    let origin = values.first().map_or(Origin::default(), Value::origin);
                    values.iter().for_each(|value| self.run_subscript(value));
                    self.state.assign(name, vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)]);
                }
            }
        }
    }

    fn declares(&self, words: &[Value]) -> bool {
        let name = words.first().and_then(Value::literal);
        name.is_some_and(|name| matches!(&*name, "export" | "local" | "declare" | "typeset" | "readonly"))
    }

    /// Sets a variable; an integer variable receives the result of the text as arithmetic.
    pub(super) fn assign(&mut self, name: &str, values: Vec<Value>) {
        if values.iter().any(|value| subscript_of(value).is_some()) {
            return self.assign_elements(name, &values);
        }
        if !self.state.is_integer(name) {
            return self.state.assign(name, values);
        }
        let numbers = values.iter().map(|value| self.number_value(value)).collect();
        self.state.assign(name, numbers);
    }

    /// `([2]=a b [x]=c)`
    fn assign_elements(&mut self, name: &str, values: &[Value]) {
        self.state.assign(name, vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), self.place)]);
        let mut next = 0;
        for value in values {
            let (subscript, value) = match subscript_of(value) {
                Some((subscript, value)) if self.state.is_table(name) => {
                    self.assign_known(name, &Value::text(&subscript, value.origin()), &value);
                    (subscript, value)
                }
                Some((subscript, value)) => {
                    let Some(index) = self.evaluate(&Value::text(subscript, value.origin())) else { continue };
                    next = index.saturating_add(1);
                    (index.to_string(), value)
                }
                None => {
                    next += 1;
                    ((next - 1).to_string(), value.clone())
                }
            };
            self.state.assign_named_element(name, &subscript, value);
        }
    }

    /// Returns the name and the values of an assignment, once for each alternative of its braces. Assignments to
    /// elements, and additions, are applied instead.
    fn assignment(&mut self, assignment: &Assignment) -> Vec<(String, Vec<Value>)> {
        let assigned: Vec<Vec<Value>> = match &assignment.value {
            Assigned::Word(word) => self.expand_assigned(word).into_iter().map(|value| vec![value]).collect(),
            Assigned::Array(words) => vec![words.iter().flat_map(|word| self.expand(word)).collect()],
        };
        assigned.into_iter().filter_map(|values| self.assigned(assignment, values)).collect()
    }

    fn assigned(&mut self, assignment: &Assignment, values: Vec<Value>) -> Option<(String, Vec<Value>)> {
        let array = matches!(assignment.value, Assigned::Array(_));
        if let Some(subscript) = &assignment.element {
            let subscript = self.expand_fully(subscript);
            let index = self.evaluate(&subscript).and_then(|index| usize::try_from(index).ok());
            let value = values.into_iter().next().unwrap_or_default();
            let unknown = Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), value.origin());
            let value = if assignment.append { unknown } else { value };
            self.assign_known(&assignment.name, &subscript, &value);
            if let Some(named) = subscript.literal().filter(|_| self.state.is_table(&assignment.name)) {
                self.state.assign_named_element(&assignment.name, &named, value);
                return None;
            }
            self.state.assign_element(&assignment.name, index, value);
            return None;
        }
        if assignment.append && self.state.is_integer(&assignment.name) {
            self.state
                .assign(&assignment.name, vec![Value::piece(Piece::Unknown(UnknownReason::Arithmetic), self.place)]);
            return None;
        }
        if assignment.append {
            self.state.append(&assignment.name, values, array);
            return None;
        }
        Some((assignment.name.clone(), values))
    }

    /// Runs a command without words. Its redirections still open their files; `$(< file)` prints one.
    fn without_words(
        &mut self,
        simple: &Simple,
        assignments: &[(String, Vec<Value>)],
        redirects: Vec<Redirection>,
    ) -> Stream {
        self.code_variables(None, &first_values(assignments), simple.origin);
        if self.state.is_full() {
            self.exhaust(simple.origin);
        }
        let certain = simple.redirects.is_empty() && !simple.assignments.iter().any(Assignment::substitutes);
        self.status = certain.then_some(true);
        let reads = simple.assignments.is_empty()
            && matches!(simple.redirects.as_slice(), [only] if only.kind == RedirectKind::Read);
        let mut output = if reads { self.state.open.input(0) } else { Stream::nothing() };
        output.present = true;
        self.list_group(redirects, simple.origin, &mut output);
        output
    }

    /// Lists files that a program opens by a redirection of its own language, and writes the output to them.
    pub(crate) fn redirected_group(&mut self, redirects: Vec<Redirection>, origin: Origin, output: &mut Stream) {
        self.redirect_output(&redirects, output);
        self.list_group(redirects, origin, output);
    }

    /// Lists files opened for a group of commands, as a command without words.
    pub(super) fn add_group(
        &mut self,
        redirects: Vec<Redirection>,
        sources: Vec<CommandId>,
        origin: Origin,
    ) -> Option<CommandId> {
        self.add(Command {
            name: String::new(),
            words: Words::default(),
            invocation: None,
            assignments: Vec::new(),
            redirects,
            stdin: Stdin::Pipe(sources, Value::default()),
            unread: Vec::new(),
            folder: self.state.folder(),
            folder_without_cd: self.state.folders.without_cd(),
            site: self.site,
            parent: self.parent,
            is_collected: self.state.open.collects(),
            language: self.language,
            origin,
        })
    }

    /// Adds a command and walks everything that it runs.
    pub(crate) fn command(&mut self, draft: Draft) -> Stream {
        let draft = self.through_descriptor(draft);
        let Some(first) = draft.words.first() else { return Stream::default() };
        let names = self.program_names(first);
        if names.is_empty() {
            self.gap(first.origin(), UnknownReason::NotEvaluated);
            return self.named_command("", draft);
        }
        if let [name] = names.as_slice() {
            return self.named_command(name, draft);
        }
        let before = self.state.clone();
        let mut each = names.iter();
        self.over_states(vec![before.clone(); names.len()], &before, |this| {
            let mut draft = draft.clone();
            let name = each.next().map_or("", String::as_str);
            if let Some(first) = Arc::make_mut(&mut draft.words).first_mut() {
                *first = Value::text(name, first.origin());
            }
            this.named_command(name, draft)
        })
    }

    /// Returns the programs that the first word may name: several for a pattern, none if it is unknown.
    fn program_names(&self, first: &Value) -> Vec<String> {
        let is_pattern = |(piece, _): &(Piece, Origin)| matches!(piece, Piece::Glob(_));
        if first.pieces.iter().any(is_pattern) {
            return super::globs::programs(first, self.surroundings.programs);
        }
        Some(program_name(first, self.language.is_windows())).filter(|name| !name.is_empty()).into_iter().collect()
    }

    fn named_command(&mut self, name: &str, draft: Draft) -> Stream {
        if !draft.by_program && !self.language.is_windows() {
            let bodies = self.state.functions(name);
            if !bodies.is_empty() {
                return self.call_one_of(name, &bodies, draft);
            }
        }
        self.program(name, draft)
    }

    /// Runs the builtin or program of this name.
    pub(super) fn program(&mut self, name: &str, draft: Draft) -> Stream {
        self.status = None;
        if !self.language.is_windows()
            && let Some(output) = self.builtin(name, &draft)
        {
            self.note(ChangeKind::Builtin(draft.words), draft.origin);
            return output;
        }
        let program = self.program_of_text(name).filter(|program| !is_own_script(*program, &draft));
        let separator = program.and_then(Program::separator);
        let drafts = match separator {
            Some(separator) => separated(draft, separator),
            None => vec![draft],
        };
        let printed =
            drafts.into_iter().fold(None, |printed, draft| join(printed, Some(self.one_command(name, program, draft))));
        printed.unwrap_or_default()
    }

    fn one_command(&mut self, name: &str, program: Option<Program>, draft: Draft) -> Stream {
        let invocation = program.map(|program| Invocation::read(program, &draft.words));
        let id = self.add(Command {
            name: name.into(),
            words: draft.words.clone(),
            invocation: invocation.clone(),
            assignments: draft.assignments.clone(),
            redirects: draft.redirects.clone(),
            stdin: draft.stdin.stdin(),
            unread: Vec::new(),
            folder: self.state.folder(),
            folder_without_cd: self.state.folders.without_cd(),
            site: self.site,
            parent: self.parent,
            is_collected: self.state.open.collects(),
            language: self.language_of(program),
            origin: draft.origin,
        });
        let Some(id) = id else { return Stream::default() };
        let hidden = self.state.assign_for_command(&draft.assignments);
        self.code_variables(Some(id), &draft.assignments, draft.origin);
        let inner = match &invocation {
            Some(invocation) => self.inner(id, invocation, &draft),
            None => {
                let inner = join(self.after_unknown(id, &draft), self.not_found(name, &draft));
                join(inner, self.code_of_unknown(id, &draft))
            }
        };
        let inner = join(inner, self.run_by_path(id, &draft));
        self.state.reveal(hidden);
        let mut output = inner.unwrap_or_else(|| {
            let printed = output::printed(self, &draft.words, invocation.as_ref(), &draft.stdin);
            Stream::new(self.spend(printed), Vec::new())
        });
        output.commands.insert(0, id);
        if let Some(invocation) = &invocation {
            self.flow(id, invocation, &draft, &output);
        }
        let mut output = self.route(output, &draft.stdin.commands);
        if self.collects_errors_only() {
            output.text = Value::piece(Piece::Output(Printed::Program(name.into())), draft.origin);
        }
        self.after_program(name, &draft);
        output
    }

    /// Returns the program that a word names in the current language.
    pub(crate) fn program_of(&self, word: &Value) -> Option<Program> {
        self.program_of_text(&program_name(word, self.language.is_windows()))
    }

    /// Finds a program by name. On Windows, names are case-insensitive and `.exe` is optional; an alias belongs to its
    /// language.
    pub(crate) fn program_of_text(&self, name: &str) -> Option<Program> {
        let find = |name: &str| Program::find(self.surroundings.programs, name);
        let lower = name.to_lowercase();
        let plain = [".exe", ".com", ".cmd", ".bat"].into_iter().find_map(|end| lower.strip_suffix(end));
        let plain_name = plain.unwrap_or(&lower);
        if self.language.is_windows() {
            let of_language = find(&format!("{}:{plain_name}", self.language.name()));
            return of_language.or_else(|| find(plain_name)).or_else(|| find(name));
        }
        let of_windows = |program: &Program| plain.is_some() || program.style().is_windows();
        find(name).or_else(|| find(plain_name).filter(of_windows))
    }

    /// Returns the language of a program's words: a Windows program takes them in Windows syntax.
    fn language_of(&self, program: Option<Program>) -> Language {
        match program.map(Program::style) {
            Some(Style::PowerShell | Style::PowerShellFirst) => Language::PowerShell,
            Some(Style::Slash | Style::SlashFirst) => Language::Cmd,
            Some(Style::Mixed | Style::PosixlyCorrect | Style::SingleDash) | None => self.language,
        }
    }

    pub(super) fn add(&mut self, command: Command) -> Option<CommandId> {
        let words = command.words.len() as u64;
        if self.reading.commands.len() >= MAX_COMMANDS || !work::spend(COMMAND + words / 4) {
            self.exhaust(command.origin);
            return None;
        }
        self.reading.commands.push(command);
        Some(self.reading.commands.len() - 1)
    }

    /// Walks in another shell, which runs its exit traps at the end.
    pub(super) fn with_state<T>(&mut self, state: State, walk: impl FnOnce(&mut Self) -> T) -> T {
        let mut before = std::mem::replace(&mut self.state, state);
        let waiting = std::mem::take(&mut self.at_exit);
        let locals = self.locals.len();
        if locals > 0 {
            // Locals of that shell end with it.
            self.locals.push(Vec::new());
        }
        self.frames.push(Frame::new(FrameKind::Shell));
        let result = walk(self);
        self.end_shell();
        self.at_exit = waiting;
        self.locals.truncate(locals);
        before.open.taken_by(&self.state.open);
        self.state = before;
        result
    }
}

/// Splits an operand of `export` or `declare` that is only an assignment after its expansion: `export "A=b"`.
fn assigned_operand(operand: &Value) -> Option<(String, Value)> {
    let prefix = operand.prefix();
    let (name, _) = prefix.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), operand.without_prefix(name.len() + 1)))
}

/// Splits `[2]=a` into subscript and value.
fn subscript_of(element: &Value) -> Option<(String, Value)> {
    let (first, rest) = element.pieces.split_first()?;
    let Piece::Glob(subscript) = &first.0 else { return None };
    let subscript = subscript.strip_prefix('[')?.strip_suffix(']')?;
    let rest = Value { pieces: rest.to_vec() };
    rest.prefix().starts_with('=').then(|| (subscript.to_owned(), rest.without_prefix(1)))
}

/// Splits one call with several commands into a call for each.
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

/// Returns each variable with its first value.
fn first_values(assignments: &[(String, Vec<Value>)]) -> Vec<(String, Value)> {
    assignments.iter().filter_map(|(name, values)| Some((name.clone(), values.first()?.clone()))).collect()
}

/// `./a/install`: whether the path names a project's own script, as its folder is not one for installed programs.
fn is_own_script(program: Program, draft: &Draft) -> bool {
    const INSTALLED: [&str; 7] =
        ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];
    let folder = |word: &Value| word.literal().and_then(|word| Some(word.rsplit_once('/')?.0.to_owned()));
    let elsewhere = |folder: String| !INSTALLED.contains(&folder.as_str());
    program.is_common() && draft.words.first().and_then(folder).is_some_and(elsewhere)
}
