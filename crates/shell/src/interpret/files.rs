//! Files that the text writes: their content when the text runs or reads them later.

use super::draft::Draft;
use super::interpreter::Interpreter;
use super::streams::Stream;
use crate::cli_grammar::entry::{applies, narrow};
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::selector::Selector;
use crate::model::value::{Piece, Printed, UnknownReason, Value};
use crate::reading::{Access, CommandId, Redirection};

/// Maximum number of possible contents per file, which depend on branches, loops and time.
const MAX_CONTENTS: usize = 8;

const MAX_FILES: usize = 1000;

impl Interpreter<'_> {
    /// Returns the contents that this text may have written to a file, including that of a process substitution.
    pub(super) fn written(&self, path: &Value) -> Vec<Stream> {
        if let Some(stream) = self.process_output(path) {
            return vec![stream];
        }
        let contents = self.key(path).and_then(|key| self.files.contents.get(&key));
        let mut contents = contents.cloned().unwrap_or_default();
        // A file is empty before it is written.
        if contents.iter().any(|content| !content.text.pieces.is_empty()) {
            contents.retain(|content| !content.text.pieces.is_empty());
        }
        contents
    }

    /// Whether the path is that of a process substitution.
    pub(super) fn is_process(&self, path: &Value) -> bool {
        self.process_output(path).is_some()
    }

    /// Returns all possible contents, joined for readers of the complete file. With several, it is unknown which one
    /// applies.
    pub(crate) fn content(&self, path: &Value) -> Option<Stream> {
        if path.literal().as_deref() == Some("/dev/null") {
            return Some(Stream::new(Value::text("", path.origin()), Vec::new()));
        }
        let mut contents = self.written(path);
        if contents.len() < 2 {
            return contents.pop();
        }
        let mut all = Stream::new(Value::piece(Piece::Unknown(UnknownReason::Branches), path.origin()), Vec::new());
        for content in contents {
            all.text.push_text("\n", path.origin());
            all.push(content);
        }
        Some(all)
    }

    /// Writes the output of a command to the files of its redirections. Returns whether it has any for standard output.
    pub(super) fn redirect_output(&mut self, redirects: &[Redirection], output: &Stream) -> bool {
        let is_output = |file: &&Redirection| file.access != Access::Read && file.descriptor == 1;
        let files: Vec<&Redirection> = redirects.iter().filter(is_output).collect();
        for file in &files {
            match file.access {
                Access::Append => self.append(&file.target, output.clone()),
                Access::Overwrite | Access::Read => self.write(&file.target, output.clone()),
            }
        }
        !files.is_empty()
    }

    /// `> path`
    pub(crate) fn write(&mut self, path: &Value, content: Stream) {
        let Some(key) = self.key(path) else { return };
        let text = self.spend(content.text);
        if self.files.contents.len() >= MAX_FILES {
            return self.exhaust(path.origin());
        }
        self.files.changes += 1;
        let contents = self.files.contents.entry(key).or_default();
        let begins = text.pieces.is_empty() && contents.last().is_some_and(|last| !last.text.pieces.is_empty());
        if contents.len() < MAX_CONTENTS && (begins || !contents.iter().any(|known| known.text == text)) {
            contents.push(Stream::new(text, content.commands));
        }
    }

    /// `>> path`
    pub(crate) fn append(&mut self, path: &Value, content: Stream) {
        let text = self.spend(content.text);
        let last = self.key(path).and_then(|key| self.files.contents.get_mut(&key)?.last_mut());
        self.files.changes += 1;
        match last {
            Some(last) => {
                last.text.push(text);
                last.commands.extend(content.commands);
            }
            None => self.write(path, Stream::new(text, content.commands)),
        }
    }

    /// Writes the files that a program fills, by the `copies-to` entries of its grammar.
    pub(super) fn flow(&mut self, id: CommandId, invocation: &Invocation, draft: &Draft, output: &Stream) {
        let entries = invocation.grammars.iter().flat_map(|grammar| grammar.copies());
        let entries: Vec<_> = entries.filter(|entry| applies(entry.conditions(), invocation)).collect();
        for entry in entries {
            let commands = [&[id], draft.stdin.commands.as_slice()].concat();
            let sources = match entry.from() {
                "stdin" => vec![(Value::default(), draft.stdin.clone())],
                "output" => vec![(Value::default(), Stream::new(output.text.clone(), commands))],
                selector => self.contents_of(&Selector(selector).values(invocation, &draft.words)),
            };
            let mut targets = Selector(entry.to()).values(invocation, &draft.words);
            narrow(entry.narrowing(), &mut targets);
            for target in &targets {
                for (from, content) in &sources {
                    if self.exhausted {
                        return;
                    }
                    self.write(target, content.clone());
                    self.write(&inside(target, from), content.clone());
                }
            }
        }
    }

    fn contents_of(&self, paths: &[Value]) -> Vec<(Value, Stream)> {
        let mut contents = Vec::new();
        for path in paths {
            contents.extend(self.written(path).into_iter().map(|content| (path.clone(), content)));
        }
        contents
    }

    /// Returns the normalized form of a path; `None` if it is empty, below `/dev/` or entirely unknown.
    fn key(&self, path: &Value) -> Option<String> {
        let mut written = String::new();
        for (piece, origin) in &path.pieces {
            written.push_str(&Value::piece(piece.clone(), *origin).shown());
            if *piece == Piece::Output(Printed::Temporary) {
                // Each call creates another file.
                written.push_str(&format!("@{}", origin.span.start));
            }
        }
        if written.is_empty() || written == UNKNOWN || written.starts_with("/dev/") {
            return None;
        }
        let is_absolute = written.starts_with(['/', '$', '~']);
        let folder =
            if is_absolute { String::new() } else { self.state.folder().map_or(UNKNOWN.into(), |f| f.shown()) };
        let mut parts: Vec<&str> = Vec::new();
        for part in folder.split('/').chain(written.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}

/// The text by which [`Value::shown`] represents an unknown piece.
const UNKNOWN: &str = "\u{2026}";

/// Returns the path that a file gets inside a folder.
fn inside(folder: &Value, file: &Value) -> Value {
    let shown = file.shown();
    let name = shown.rsplit('/').next().unwrap_or("");
    let mut path = folder.clone();
    path.push_text("/", folder.origin());
    path.push_text(name, folder.origin());
    path
}
