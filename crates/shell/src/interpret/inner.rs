//! Commands that a command runs: wrappers, shells with a text, `find -exec`, `xargs`.

use super::simple::Draft;
use super::{Interpreter, MAX_DEPTH, Source, Stream};
use crate::invocation::Invocation;
use crate::language::Language;
use crate::program::Selector;
use crate::syntax::is_name;
use crate::value::{Value, Why};
use crate::{Code, CommandId, Site, Stdin};
use reflex_tables::Node;

/// How a command runs a text.
struct Run {
    id: CommandId,
    language: Language,
    parameters: Vec<Value>,
}

impl Interpreter<'_> {
    /// Walks what the command runs by the entries of its grammar; what they print, if there is any.
    pub(super) fn inner(&mut self, id: CommandId, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let mut printed: Option<Stream> = None;
        let entries: Vec<Node<'static>> = invocation
            .grammars
            .iter()
            .rev()
            .flat_map(|grammar| grammar.inner())
            .filter(|entry| crate::program::applies(*entry, invocation))
            .collect();
        for entry in entries {
            if self.depth >= MAX_DEPTH {
                self.gap(draft.origin, Why::Limit);
                break;
            }
            let (parent, site) = (self.parent.replace(id), self.site);
            self.site = site_of(entry).unwrap_or(site);
            self.depth += 1;
            let output = self.entry(entry, id, invocation, draft);
            self.depth -= 1;
            (self.parent, self.site) = (parent, site);
            if let Some(output) = output {
                let all = printed.get_or_insert_with(|| Stream::of(Value::default(), Vec::new()));
                all.text.push(output.text);
                all.commands.extend(output.commands);
            }
        }
        printed
    }

    fn entry(&mut self, entry: Node<'static>, id: CommandId, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let selected = |key: &str| Selector(entry.get(key).text()).values(invocation, &draft.words);
        if entry.get("argv").is_text() {
            return self.argv(entry, selected("argv"), invocation, draft);
        }
        if entry.get("at-exit").is_true() {
            if let Some(text) = selected_script(selected("script"), " ") {
                self.at_exit.push((text, id));
            }
            return None;
        }
        let language = Language::named(entry.get("language").text()).unwrap_or_default();
        let run = |parameters| Run { id, language, parameters };
        if entry.get("script").is_text() {
            let parameters = selected("parameters");
            let mut texts = selected("script");
            crate::program::narrow(entry, &mut texts);
            // A comment in one of several texts ends with it.
            let between = if language == Language::Shell { " " } else { "\n" };
            return selected_script(texts, between).and_then(|text| self.script_value(text, run(parameters), draft));
        }
        if entry.get("file").is_text() {
            let parameters = Selector("operands").values(invocation, &draft.words);
            return self.file(selected("file").into_iter().next()?, run(parameters), draft);
        }
        if entry.get("stdin").text() == "script" {
            let arguments = Selector("operands").values(invocation, &draft.words);
            let parameters = draft.words.iter().take(1).cloned().chain(arguments).collect();
            return self.script_from_stream(&draft.stdin, run(parameters));
        }
        None
    }

    /// A program and its arguments.
    fn argv(
        &mut self,
        entry: Node<'static>,
        mut words: Vec<Value>,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let mut assignments = Vec::new();
        if entry.get("assignments").is_true() {
            while let Some((name, value)) = words.first().and_then(assigned) {
                assignments.push((name, value));
                words.remove(0);
            }
        }
        words.drain(..(entry.get("skip").number() as usize).min(words.len()));
        // `kubectl exec POD -- PROGRAM`: the dashes end the wrapper's own words.
        if words.first().and_then(Value::literal).as_deref() == Some("--") {
            words.remove(0);
        }
        if words.is_empty() {
            return None;
        }
        let placeholder = entry.get("placeholder").text();
        if !placeholder.is_empty() {
            let filled = Selector(entry.get("filled-with").text()).values(invocation, &draft.words);
            words = fill(words, placeholder, &filled);
        }
        let lines = if entry.get("append").text() == "stdin" {
            super::feed::xargs(words, invocation, draft)
        } else {
            vec![words]
        };
        let mut printed = Stream::of(Value::default(), Vec::new());
        for words in lines {
            let output = self.run_by_program(words, assignments.clone(), draft);
            printed.text.push(output.text);
            printed.commands.extend(output.commands);
        }
        Some(printed)
    }

    /// A program runs programs and no functions; only these two run them in this shell.
    fn run_by_program(&mut self, words: Vec<Value>, assignments: Vec<(String, Value)>, outer: &Draft) -> Stream {
        let name = outer.words.first().and_then(Value::literal).unwrap_or_default().into_owned();
        let draft = Draft {
            words,
            assignments,
            redirects: Vec::new(),
            stdin: outer.stdin.clone(),
            expanded: outer.expanded.clone(),
            origin: outer.origin,
            by_program: true,
        };
        if matches!(name.as_str(), "command" | "builtin") {
            return self.command(draft);
        }
        self.isolated(|this| this.command(draft))
    }

    /// A text that is given to a shell or another interpreter.
    fn script_value(&mut self, text: Value, run: Run, draft: &Draft) -> Option<Stream> {
        let Run { id, language, parameters } = run;
        let Some(literal) = self.readable(&text) else {
            self.code(id, Code::Text(text), draft.expanded.clone().collect());
            return None;
        };
        let origin = text.origin();
        if text.is_unknown() {
            self.code(id, Code::Part(text), draft.expanded.clone().collect());
        }
        let lasting = self.reading.commands.get(id).is_some_and(|command| command.name == "eval");
        let stdin = draft.stdin.clone();
        if lasting {
            return Some(self.derived_text(Source { language, step: "eval", text: &literal, from: origin }, &stdin));
        }
        let own = draft.words.first().cloned().unwrap_or_default();
        let parameters = if parameters.is_empty() { vec![own] } else { parameters };
        let state = self.state.of_child(parameters);
        let source = Source { language, step: language.step(), text: &literal, from: origin };
        Some(self.with_state(state, |this| this.derived_text(source, &stdin)))
    }

    /// What `trap` leaves for the end runs with the state of the end.
    pub(super) fn run_at_exit(&mut self) {
        for (text, id) in std::mem::take(&mut self.at_exit) {
            if let Some(literal) = self.readable(&text) {
                let parent = self.parent.replace(id);
                let language = Language::Shell;
                let source = Source { language, step: language.step(), text: &literal, from: text.origin() };
                self.derived_text(source, &Stream::default());
                self.parent = parent;
            }
        }
    }

    fn script_from_stream(&mut self, stream: &Stream, run: Run) -> Option<Stream> {
        let Run { id, language, parameters } = run;
        if !stream.present {
            return None;
        }
        let Some(literal) = stream.text.literal() else {
            self.code(id, Code::Stdin(stream.text.clone()), stream.commands.clone());
            return None;
        };
        let (literal, from) = (literal.into_owned(), stream.text.origin());
        let source = Source { language, step: "standard input", text: &literal, from };
        let name = self.reading.commands.get(id).map_or("", |command| command.name.as_str());
        if matches!(name, "source" | ".") {
            return Some(self.derived_text(source, &Stream::default()));
        }
        let state = self.state.of_child(parameters);
        Some(self.with_state(state, |this| this.derived_text(source, &Stream::default())))
    }

    /// A file that is run as a script; a process substitution is one whose content is known here.
    fn file(&mut self, path: Value, run: Run, draft: &Draft) -> Option<Stream> {
        if path
            .literal()
            .as_deref()
            .is_some_and(|path| matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
        {
            return self.script_from_stream(&draft.stdin, run);
        }
        let process = self.processes.iter().rev().find(|(place, _)| *place == path.origin()).map(|(_, s)| s.clone());
        let Some(stream) = process else {
            self.code(run.id, Code::File(path), Vec::new());
            return None;
        };
        self.script_from_stream(&stream, run)
    }

    fn code(&mut self, id: CommandId, code: Code, from: Vec<CommandId>) {
        if let Some(command) = self.reading.commands.get_mut(id) {
            command.unread.push((code, from));
        }
    }
}

fn site_of(entry: Node<'static>) -> Option<Site> {
    match entry.get("site").text() {
        "remote" => Some(Site::Remote),
        "container" => Some(Site::Container),
        _ => None,
    }
}

/// `NAME=value` before a program, as `env` takes it.
fn assigned(word: &Value) -> Option<(String, Value)> {
    let prefix = word.prefix();
    let (name, _) = prefix.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), word.without_prefix(name.len() + 1)))
}

/// Every occurrence of the placeholder inside a word becomes a value; a word is repeated for each value.
pub(super) fn fill(words: Vec<Value>, placeholder: &str, values: &[Value]) -> Vec<Value> {
    let mut filled = Vec::with_capacity(words.len());
    for word in words {
        let text = word.literal().map(|text| text.into_owned());
        let Some((before, after)) = text.as_deref().and_then(|text| text.split_once(placeholder)) else {
            filled.push(word);
            continue;
        };
        for value in values {
            let mut joined = Value::default();
            if !before.is_empty() {
                joined.push_text(before, word.origin());
            }
            joined.push(value.clone());
            if !after.is_empty() {
                joined.push_text(after, word.origin());
            }
            filled.push(joined);
        }
    }
    filled
}

fn selected_script(values: Vec<Value>, between: &str) -> Option<Value> {
    let mut values = values.into_iter();
    let mut text = values.next()?;
    for value in values {
        text.push_text(between, value.origin());
        text.push(value);
    }
    Some(text)
}

impl Stdin {
    /// The commands whose output is read.
    pub fn sources(&self) -> &[CommandId] {
        match self {
            Stdin::Pipe(commands) => commands,
            Stdin::Inherited | Stdin::Text(_) | Stdin::File(_) => &[],
        }
    }
}
