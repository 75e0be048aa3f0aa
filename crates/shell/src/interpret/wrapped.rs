//! Commands run by another command: wrappers, shells with a text, `find -exec`, `xargs`.

use super::call_stack::FrameKind;
use super::draft::{Draft, program_name};
use super::interpreter::{DerivedText, Interpreter, MAX_DEPTH, SourceText};
use super::placeholders::fill_or_append;
use super::sites::site_of;
use super::streams::{Stream, join};
use crate::cli_grammar::entry::{applies, narrow};
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::program::Program;
use crate::cli_grammar::selector::Selector;
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};
use crate::reading::{Code, CommandId, ExecTarget, LOADED, UNCHANGED};
use crate::surroundings::ModuleName;
use crate::syntax::names::is_name;
use crate::text_tools::{decode, windows_words};
use reflex_tables::views::RunEntry;

/// The way in which a command runs a text.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) id: CommandId,
    pub(super) language: Language,
    pub(super) parameters: Vec<Value>,
    /// Whether assignments of the text persist after it.
    pub(super) lasting: bool,
}

impl Interpreter<'_> {
    /// Walks everything that the command runs according to its grammar. Returns the output, if any.
    pub(super) fn inner(&mut self, id: CommandId, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let mut printed = self.settings(id, invocation, draft);
        let entries: Vec<RunEntry<'static>> = invocation
            .grammars
            .iter()
            .rev()
            .flat_map(|grammar| grammar.runs())
            .filter(|entry| applies(entry.conditions(), invocation))
            .collect();
        for entry in entries {
            if self.depth >= MAX_DEPTH {
                self.gap(draft.origin, UnknownReason::Limit);
                break;
            }
            let (parent, site) = (self.parent.replace(id), self.site);
            let is_own_host = self.is_own_host(entry, invocation, draft);
            self.site = site_of(entry).filter(|_| !is_own_host && !stays(entry, invocation, draft)).unwrap_or(site);
            self.depth += 1;
            let output = self.entry_elsewhere(entry, id, invocation, draft);
            self.depth -= 1;
            (self.parent, self.site) = (parent, site);
            printed = join(printed, output);
        }
        printed
    }

    /// Runs an entry in the environment that it specifies: `folder: X` is the working directory of the inner command,
    /// `elsewhere: true` an unknown other one, `without: X` lists the variables hidden from it.
    fn entry_elsewhere(
        &mut self,
        entry: RunEntry<'static>,
        id: CommandId,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let selected = |selector| Selector(selector).values(invocation, &draft.words);
        let (folders, hidden) = (selected(entry.folder()), selected(entry.without()));
        let elsewhere = entry.elsewhere();
        if folders.is_empty() && hidden.is_empty() && !elsewhere {
            return self.entry(entry, id, invocation, draft);
        }
        self.isolated(|this| {
            if elsewhere {
                this.state.folders.forget();
            }
            if this.is_own_host(entry, invocation, draft) {
                this.state.folders.change(Value::piece(Piece::Home(String::new()), draft.origin));
            }
            folders.into_iter().for_each(|folder| this.state.folders.change(folder));
            hidden.iter().filter_map(Value::literal).for_each(|name| this.state.unset(&name));
            this.entry(entry, id, invocation, draft)
        })
    }

    /// Whether `host: SELECTOR` names this machine and not another host.
    fn is_own_host(&self, entry: RunEntry<'static>, invocation: &Invocation, draft: &Draft) -> bool {
        let hosts = Selector(entry.host()).values(invocation, &draft.words);
        let own_name = (self.surroundings.variable)("HOSTNAME").filter(|name| !name.is_empty());
        hosts.iter().filter_map(Value::literal).any(|host| {
            let host = host.strip_prefix("ssh://").unwrap_or(&host);
            let bare = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let by_name = ["localhost", "::1", "[::1]", "0.0.0.0", "ip6-localhost", "localhost.localdomain"];
            // A port of this machine may be a tunnel to another.
            by_name.contains(&bare) || bare.starts_with("127.") || own_name.as_deref() == Some(bare)
        })
    }

    fn entry(
        &mut self,
        entry: RunEntry<'static>,
        id: CommandId,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let selected = |selector| Selector(selector).values(invocation, &draft.words);
        if let Some(argv) = entry.argv() {
            let words = [selected(argv), selected(entry.with())].concat();
            return self.argv(entry, words, invocation, draft);
        }
        if let Some(option) = entry.again() {
            return self.again(option, invocation, draft);
        }
        if let Some(words) = entry.parallel() {
            return self.parallel(selected(words), id, invocation, draft);
        }
        if entry.at_exit() {
            if let Some(text) = joined(selected(entry.script().unwrap_or_default()), " ") {
                self.at_exit.push((text, id));
            }
            return None;
        }
        let language = entry.language().and_then(Language::named).unwrap_or_default();
        let run = |parameters| Run { id, language, parameters, lasting: false };
        if entry.script().is_some() {
            return self.scripts(entry, run, invocation, draft);
        }
        if let Some(file) = entry.file() {
            let parameters = Selector("operands").values(invocation, &draft.words);
            let named = self.program_in_file(entry, &parameters, draft);
            return join(named, self.file(selected(file).into_iter().next()?, run(parameters), draft));
        }
        if entry.words() == "commands" {
            return self.commands_in_words(id, invocation, draft);
        }
        if entry.stdin() == Some("script") {
            let arguments = Selector("operands").values(invocation, &draft.words);
            let parameters = draft.words.iter().take(1).cloned().chain(arguments).collect();
            return self.script_from_stream(&draft.stdin, run(parameters));
        }
        let written = entry.written().iter().map(|name| Value::text(name, draft.origin));
        let contents = written.flat_map(|path| self.written(&path)).collect::<Vec<_>>();
        contents.iter().fold(None, |printed, content| join(printed, self.script_from_stream(content, run(Vec::new()))))
    }

    /// Walks the texts that a command runs: operands form one text, all other values are one text each.
    fn scripts(
        &mut self,
        entry: RunEntry<'static>,
        run: impl Fn(Vec<Value>) -> Run,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let selector = entry.script().unwrap_or_default();
        let parameters = Selector(entry.parameters()).values(invocation, &draft.words);
        let run = Run { lasting: entry.lasting(), ..run(parameters) };
        let mut texts = match selector {
            "stdin" => Some(draft.stdin.text.clone()).filter(|_| draft.stdin.present).into_iter().collect(),
            selector => Selector(selector).values(invocation, &draft.words),
        };
        let parts = entry.narrowing();
        let is_apart =
            !parts.starting().is_absent() || !parts.behind().is_absent() || parts.each_line() || entry.each();
        if entry.decode() == "base64-utf16" {
            texts = texts.iter().map(|text| self.decoded(text)).collect();
        }
        if run.language.is_windows() {
            texts = joined(texts, " ").into_iter().collect();
            if draft.stdin.present && matches!(texts.as_slice(), [text] if text.prefix() == "-") {
                return self.script_from_stream(&draft.stdin, run);
            }
        } else if run.language != Language::Shell {
            // Joined by newlines, as a comment in one of the texts ends with it.
            texts = joined(texts, "\n").into_iter().collect();
        } else if entry.typed() {
            texts = texts.into_iter().map(key).collect();
            if !entry.each() {
                texts = joined(texts, "").into_iter().collect();
            }
        } else if selector.starts_with("operands") && !is_apart {
            texts = joined(texts, " ").into_iter().collect();
        }
        narrow(parts, &mut texts);
        texts.retain(|text| !text.pieces.is_empty());
        // Awk and sed print their transformed input, not the output of the commands that they run.
        let filters = matches!(run.language, Language::Awk | Language::Sed);
        let printed =
            texts.into_iter().fold(None, |printed, text| join(printed, self.script_value(text, run.clone(), draft)));
        printed.filter(|_| !filters)
    }

    /// Decodes `-EncodedCommand`: base64 of UTF-16. Undecodable text is unknown.
    fn decoded(&mut self, text: &Value) -> Value {
        let from = text.origin();
        let bytes = text.literal().and_then(|text| decode::base64_bytes(&text));
        match bytes.and_then(|bytes| decode::utf16(&bytes)) {
            Some(decoded) => {
                let derivation = self.derive("base64", &decoded, from);
                Value::text(decoded, Origin { span: from.span, derivation })
            }
            None => Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), from),
        }
    }

    /// Runs a program and its arguments.
    fn argv(
        &mut self,
        entry: RunEntry<'static>,
        mut words: Vec<Value>,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let mut assignments = Vec::new();
        if entry.assignments() {
            while let Some((name, value)) = words.first().and_then(assigned) {
                self.changed(&name, Some(value.clone()), draft.origin);
                assignments.push((name, value));
                words.remove(0);
            }
        }
        words.drain(..(entry.skip() as usize).min(words.len()));
        if entry.own_name() && words.len() > 1 {
            // `execv(file, [name, …])`: the name passed as `argv[0]` has no effect.
            words.remove(1);
        }
        // `kubectl exec POD -- PROGRAM`: `--` ends the wrapper's own words.
        if words.first().and_then(Value::literal).as_deref() == Some("--") {
            words.remove(0);
        }
        if words.is_empty() {
            return None;
        }
        let images = Selector(entry.image()).values(invocation, &draft.words);
        if let Some(program) = images.first().and_then(|image| self.program_of_image(image, &words)) {
            words.insert(0, program);
        }
        if entry.split() {
            words = words.iter().flat_map(|word| word.split(&[' ', '\t'])).collect();
        }
        let otherwise = self.without_doubtful_option(&words, invocation, draft);
        let placeholders = entry.placeholder();
        if !placeholders.is_absent() {
            let filled = Selector(entry.filled_with()).values(invocation, &draft.words);
            words = fill_or_append(words, placeholders, entry.append_missing(), &filled);
        }
        let mut stdin = draft.stdin.clone();
        let lines = if entry.append() == "stdin" {
            let files = invocation.values("file", &draft.words);
            // The words of a file that is not known may be any.
            let unread = |file: &Value| {
                let text = Value::piece(Piece::Output(Printed::Program("cat".into())), file.origin());
                Stream::new(text, Vec::new())
            };
            let input = files.first().map(|file| self.content(file).unwrap_or_else(|| unread(file)));
            let lines = super::xargs::xargs(words, invocation, draft, input.as_ref().unwrap_or(&stdin));
            // With the `open` option, its programs read from the terminal.
            if invocation.has("open") {
                stdin = Stream::default();
            }
            // Input that became arguments is consumed. Arguments from a file leave the input to the program.
            if input.is_none() && stdin.text.literal().is_some() {
                stdin.text = Value::default();
            }
            lines
        } else {
            vec![words]
        };
        lines.into_iter().chain(otherwise).fold(None, |printed, words| {
            join(printed, Some(self.run_by_program(words, assignments.clone(), &stdin, draft)))
        })
    }

    /// `docker run alpine/git status`: an image named after its program starts it, and the words are its arguments.
    fn program_of_image(&self, image: &Value, words: &[Value]) -> Option<Value> {
        let literal = image.literal()?;
        let name = literal.rsplit('/').next()?.split([':', '@']).next()?;
        let name = name.strip_suffix("-cli").unwrap_or(name);
        let program = Program::find(self.surroundings.programs, name)?;
        let first = words.first()?.prefix();
        let is_own = first.starts_with('-') || program.subcommand(&first).is_some() && literal.contains('/');
        is_own.then(|| Value::text(name, image.origin()))
    }

    /// `python manage.py flush`: the script is a program with a known grammar.
    fn program_in_file(&mut self, entry: RunEntry<'static>, words: &[Value], draft: &Draft) -> Option<Stream> {
        let script = words.first().filter(|_| entry.file() == Some("operands[0]"))?;
        let name = program_name(script, self.language.is_windows());
        Program::find(self.surroundings.programs, &name).filter(|program| !program.is_common())?;
        Some(self.run_by_program(words.to_vec(), Vec::new(), &draft.stdin, draft))
    }

    /// Returns the wrapper's words without an unknown option and the word after it, if that word may be the value of
    /// the option and not the program.
    fn without_doubtful_option(&self, words: &[Value], invocation: &Invocation, draft: &Draft) -> Option<Vec<Value>> {
        let first = invocation.operands.first()?;
        let option = first.checked_sub(1).filter(|before| invocation.unknown.contains(before))?;
        let program = words.first().map(|word| program_name(word, self.language.is_windows())).unwrap_or_default();
        if Program::find(self.surroundings.programs, &program).is_some() {
            return None;
        }
        let (before, after) = (draft.words.get(..option)?, draft.words.get(first + 1..)?);
        (!after.is_empty()).then(|| [before, after].concat())
    }

    /// `env -S TEXT ARGUMENT…`: runs the program again, with the words of the text in place of the option.
    fn again(&mut self, key: &str, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let option = invocation.options.iter().find(|option| option.key == key)?;
        let text = option.value.as_ref()?;
        let is_next = draft.words.get(option.word + 1) == Some(text);
        let after = option.word + 1 + usize::from(is_next);
        let mut words: Vec<Value> = draft.words.get(..option.word)?.to_vec();
        words.extend(super::xargs::words_of(text));
        words.extend(draft.words.get(after..).unwrap_or(&[]).iter().cloned());
        Some(self.run_by_program(words, Vec::new(), &draft.stdin, draft))
    }

    /// GNU parallel: runs a shell text for each argument after `:::`, or for each line of its input.
    fn parallel(&mut self, words: Vec<Value>, id: CommandId, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let texts = super::xargs::parallel(words, invocation, draft);
        let run = Run { id, language: Language::Shell, parameters: Vec::new(), lasting: false };
        texts.into_iter().fold(None, |printed, text| join(printed, self.script_value(text, run.clone(), draft)))
    }

    /// Runs the words of an unknown program as a command, starting at the first word that can only be a program.
    pub(super) fn after_unknown(&mut self, id: CommandId, draft: &Draft) -> Option<Stream> {
        /// Maximum number of the program's own words before that: options, a name, a number.
        const MAX_OWN: usize = 8;
        let is_program = |word: &Value| {
            let known =
                word.literal().map(|_| program_name(word, self.language.is_windows())).filter(|name| !name.is_empty());
            known.and_then(|name| Program::find(self.surroundings.programs, &name)).is_some_and(Program::is_distinct)
        };
        let start = draft.words.iter().skip(1).take(MAX_OWN).position(is_program)? + 1;
        if self.depth >= MAX_DEPTH {
            self.gap(draft.origin, UnknownReason::Limit);
            return None;
        }
        let words = draft.words.get(start..).unwrap_or(&[]).to_vec();
        let parent = self.parent.replace(id);
        self.depth += 1;
        self.run_by_program(words, Vec::new(), &draft.stdin, draft);
        self.depth -= 1;
        self.parent = parent;
        None
    }

    /// Runs the words as a program starts them: without functions and in a subshell. Only `command` and `builtin` run
    /// their words in the current shell.
    fn run_by_program(
        &mut self,
        words: Vec<Value>,
        assignments: Vec<(String, Value)>,
        stdin: &Stream,
        outer: &Draft,
    ) -> Stream {
        let name = outer.words.first().map(|word| program_name(word, self.language.is_windows())).unwrap_or_default();
        let draft = Draft {
            assignments,
            stdin: stdin.clone(),
            expanded: outer.expanded.clone(),
            ..Draft::of_program(words, outer.origin)
        };
        if matches!(name.as_str(), "command" | "builtin") {
            return self.command(draft);
        }
        self.isolated(|this| this.command(draft))
    }

    /// Runs a text that is passed to a shell or another interpreter.
    pub(super) fn script_value(&mut self, text: Value, run: Run, draft: &Draft) -> Option<Stream> {
        let Run { id, language, parameters, lasting } = run;
        let text = if language == Language::Cmd { windows_words::with_marks(text) } else { text };
        let Some(literal) = self.readable(&text).filter(|text| !decode::is_binary(text)) else {
            self.code(id, Code::Text(text), draft.expanded.clone().collect());
            return None;
        };
        let origin = text.origin();
        if text.is_unknown() {
            self.code(id, Code::Part(text), draft.expanded.clone().collect());
        }
        let stdin = draft.stdin.clone();
        if lasting {
            return Some(
                self.derived_text(DerivedText { language, step: "eval", text: &literal, from: origin }, &stdin),
            );
        }
        let program = draft.words.first().cloned().unwrap_or_default();
        let mut parameters = if parameters.is_empty() { vec![program.clone()] } else { parameters };
        if language != Language::Shell && parameters.first() != Some(&program) {
            parameters.insert(0, program);
        }
        let state = self.state.of_child(parameters);
        let source = DerivedText { language, step: language.step(), text: &literal, from: origin };
        Some(self.with_state(state, |this| this.derived_text(source, &stdin)))
    }

    /// Runs the texts that `trap` deferred to the exit, in the final state.
    pub(super) fn run_at_exit(&mut self) {
        for (text, id) in std::mem::take(&mut self.at_exit) {
            if let Some(literal) = self.readable(&text) {
                let parent = self.parent.replace(id);
                let language = Language::Shell;
                let source = DerivedText { language, step: language.step(), text: &literal, from: text.origin() };
                self.derived_text(source, &Stream::default());
                self.parent = parent;
            }
        }
    }

    /// Runs the text that a program reads from a stream.
    fn script_from_stream(&mut self, stream: &Stream, run: Run) -> Option<Stream> {
        let Run { id, language, parameters, .. } = run;
        if !stream.present || stream.text.literal().is_some_and(|text| text.is_empty()) {
            return None;
        }
        let Some(text) = self.readable(&stream.text).filter(|text| !decode::is_binary(text)) else {
            self.code(id, Code::Stdin(stream.text.clone()), stream.commands.clone());
            return None;
        };
        if stream.text.literal().is_none() {
            self.code(id, Code::Part(stream.text.clone()), stream.commands.clone());
        }
        let source = DerivedText { language, step: "standard input", text: &text, from: stream.text.origin() };
        let name = self.reading.commands.get(id).map_or("", |command| command.name.as_str());
        if matches!(name, "source" | ".") {
            return Some(self.framed(FrameKind::Function, |this| this.derived_text(source, &Stream::default())));
        }
        let state = self.state.of_child(parameters);
        let output = self.with_state(state.clone(), |this| this.derived_text(source, &Stream::default()));
        let decoded = decode::escapes(&text);
        if decoded == text || language != Language::Shell || !self.echoes(stream) {
            return Some(output);
        }
        // `echo` decodes escapes in some shells only, so both readings are walked.
        let source = DerivedText { step: "echo", text: &decoded, ..source };
        let mut other = self.with_state(state, |this| this.derived_text(source, &Stream::default()));
        other.text = Value::default();
        join(Some(output), Some(other))
    }

    fn echoes(&self, stream: &Stream) -> bool {
        let is_echo = |id: &CommandId| self.reading.commands.get(*id).is_some_and(|command| command.name == "echo");
        stream.commands.iter().any(is_echo)
    }

    /// Runs a file as a script, if it is a descriptor, a process substitution, or a file that this text has written.
    /// Any other file is unread code, which `source` may still load.
    fn file(&mut self, path: Value, run: Run, draft: &Draft) -> Option<Stream> {
        match path.literal().as_deref().and_then(descriptor) {
            Some(0) => return self.script_from_stream(&draft.stdin, run),
            Some(other) => {
                let stream = self.state.open.input(other);
                return self.script_from_stream(&stream, run);
            }
            None => {}
        }
        let contents = self.written(&path);
        if let ([content], true) = (contents.as_slice(), self.is_process(&path)) {
            return self.script_from_stream(content, run);
        }
        if contents.is_empty() {
            self.code(run.id, Code::File(path.clone()), Vec::new());
            return self.sourced(&path, &run);
        }
        contents.iter().fold(None, |printed, content| join(printed, self.content_of(&path, content, run.clone())))
    }

    /// `. FILE`: loads the file into the current shell, where its assignments persist.
    fn sourced(&mut self, path: &Value, run: &Run) -> Option<Stream> {
        let name = self.reading.commands.get(run.id).map_or("", |command| command.name.as_str());
        if !matches!(name, "source" | ".") || self.site != ExecTarget::Here || self.depth >= MAX_DEPTH {
            return None;
        }
        let source = self.surroundings.source;
        let written = path.literal()?;
        let folder = self.state.folder_value(path.origin());
        let absolute = folder.literal().filter(|folder| folder.starts_with('/') && !written.starts_with('/'));
        let named = absolute.map_or_else(|| written.to_string(), |folder| format!("{folder}/{written}"));
        let from = if self.source.is_empty() { source.path } else { &self.source };
        let module = source.load?(&ModuleName { language: Language::Shell, from, function: "source", name: &named })?;
        // A longer file is a script that sets up a shell.
        if module.text.len() > MAX_SOURCED {
            return None;
        }
        let step = if module.is_unchanged { UNCHANGED } else { LOADED };
        let derivation = self.derive(step, &module.path, path.origin());
        let origin = Origin { span: path.origin().span, derivation };
        let outer = std::mem::replace(&mut self.source, module.path);
        let gaps = self.reading.gaps.len();
        self.depth += 1;
        let text = SourceText { language: Language::Shell, text: &module.text, origin };
        let stream = self.framed(FrameKind::Function, |this| this.in_language(text, &Stream::default()));
        self.depth -= 1;
        if module.is_unchanged && !self.exhausted {
            self.reading.gaps.truncate(gaps);
        }
        self.source = outer;
        Some(stream)
    }

    /// Runs one possible content of a script file. Unknown content makes the file unread code.
    fn content_of(&mut self, path: &Value, content: &Stream, run: Run) -> Option<Stream> {
        if self.readable(&content.text).is_none() {
            self.code(run.id, Code::File(path.clone()), content.commands.clone());
            return None;
        }
        // The same file may run any number of times.
        if !self.charge(&content.text) {
            return None;
        }
        self.script_from_stream(content, run)
    }

    /// `./FILE` for a file that this text has written: runs its content with the interpreter named in the first line.
    pub(super) fn run_by_path(&mut self, id: CommandId, draft: &Draft) -> Option<Stream> {
        let path = draft.words.first().filter(|word| word.shown().contains('/'))?;
        let contents = self.written(path);
        contents.iter().fold(None, |printed, content| {
            let Some(language) = language_of(&content.text) else {
                self.code(id, Code::File(path.clone()), content.commands.clone());
                return printed;
            };
            let run = Run { id, language, parameters: draft.words.to_vec(), lasting: false };
            join(printed, self.content_of(path, content, run))
        })
    }

    pub(super) fn code(&mut self, id: CommandId, code: Code, from: Vec<CommandId>) {
        if let Some(command) = self.reading.commands.get_mut(id) {
            command.unread.push((code, from));
        }
    }
}

/// Maximum size in bytes of a file that is read into the shell that sources it. A longer one is read on its own.
const MAX_SOURCED: usize = 32 * 1024;

/// Returns the descriptor that a path names.
fn descriptor(path: &str) -> Option<u32> {
    if matches!(path, "-" | "/dev/stdin") {
        return Some(0);
    }
    ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|folder| path.strip_prefix(folder))?.parse().ok()
}

/// Whether the new root or machine is the current one: `chroot / rm x`, `me@.host`.
fn stays(entry: RunEntry<'static>, invocation: &Invocation, draft: &Draft) -> bool {
    let Some(selector) = entry.root() else { return false };
    let roots = Selector(selector).values(invocation, &draft.words);
    roots.iter().filter_map(Value::literal).any(|root| {
        let parts: Vec<&str> = root.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let is_host = root == ".host" || root.ends_with("@.host") || root.ends_with('@');
        is_host
            || root.starts_with('/') && matches!(parts.as_slice(), [] | ["proc", "self" | "thread-self" | "1", "root"])
    })
}

/// Splits `NAME=value` before a program, as `env` takes it.
fn assigned(word: &Value) -> Option<(String, Value)> {
    let prefix = word.prefix();
    let (name, _) = prefix.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), word.without_prefix(name.len() + 1)))
}

/// Returns the language of a script by its first line (`#!`); shell if it has none.
fn language_of(script: &Value) -> Option<Language> {
    let prefix = script.prefix();
    let Some(line) = prefix.strip_prefix("#!") else { return Some(Language::Shell) };
    let words = line.lines().next().unwrap_or("").split_whitespace();
    let mut names =
        words.map(|word| word.rsplit('/').next().unwrap_or("")).filter(|name| *name != "env" && !name.starts_with('-'));
    let name = names.next()?;
    if name.ends_with("sh") {
        return Some(Language::Shell);
    }
    Language::named(name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.'))
}

/// Returns the text that a named key types; any other word types itself.
fn key(word: Value) -> Value {
    let typed = match word.literal().as_deref() {
        Some("Space") => " ",
        Some("Tab" | "C-i") => "\t",
        Some("Enter" | "KPEnter" | "C-m" | "C-j") => "\n",
        // The notation of screen's `stuff`.
        Some(text) if text.contains("^M") => return Value::text(text.replace("^M", "\n"), word.origin()),
        _ => return word,
    };
    Value::text(typed, word.origin())
}

fn joined(values: Vec<Value>, between: &str) -> Option<Value> {
    let mut values = values.into_iter();
    let mut text = values.next()?;
    for value in values {
        text.push_text(between, value.origin());
        text.push(value);
    }
    Some(text)
}
