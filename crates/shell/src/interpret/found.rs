//! Names that are neither a function nor a known program: programs that `hash` remembers, open descriptors, the
//! function for commands that are not found, and code passed to an interpreter without an entry.

use super::draft::Draft;
use super::interpreter::{Interpreter, MAX_DEPTH};
use super::state::Alias;
use super::streams::{Open, Stream, join};
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::program::Program;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::CommandId;
use crate::syntax::parser::Placement;
use crate::syntax::tree::Node;
use crate::text_tools::quoting;
use std::rc::Rc;
use std::sync::Arc;

/// The functions that bash and zsh call for a command that is not found.
const HANDLERS: [&str; 2] = ["command_not_found_handle", "command_not_found_handler"];

/// The entry that specifies how code is passed to a program without an entry.
const UNKNOWN: &str = "unknown interpreter";

impl Interpreter<'_> {
    /// `hash -p PATH NAME`, and `hash NAME=PATH` in zsh: from here on, the name may be that program.
    pub(super) fn remember_programs(&mut self, words: &[Value]) {
        let mut path: Option<Value> = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.prefix();
            match (&*text, &path) {
                ("-p", _) => path = words.next().cloned(),
                (option, _) if option.starts_with('-') => {}
                (_, Some(path)) => self.remember_program(&word.shown(), &path.clone()),
                (_, None) => {
                    if let Some((name, _)) = text.split_once('=') {
                        self.remember_program(name, &word.without_prefix(name.len() + 1));
                    }
                }
            }
        }
    }

    /// Defines an equivalent function: it has that name and passes its arguments to the program.
    fn remember_program(&mut self, name: &str, path: &Value) {
        match path.literal() {
            Some(text) => {
                let call = format!("{} \"$@\"", quoting::quoted(&text));
                self.may_be(name, &call, path.origin());
            }
            None => self.gap(path.origin(), UnknownReason::NotEvaluated),
        }
    }

    fn may_be(&mut self, name: &str, text: &str, origin: Origin) {
        let derivation = self.derive("hash", text, origin);
        let placement = Placement::From(Origin { span: origin.span, derivation });
        let script = self.parse(text, placement, |parser| parser.script());
        self.state.may_define(name, Rc::new(Node::Group(script)));
    }

    /// Assigns to the arrays through which a text changes the meaning of names: `BASH_CMDS[ls]=/bin/rm`.
    pub(super) fn assign_known(&mut self, array: &str, subscript: &Value, value: &Value) {
        const ARRAYS: [&str; 5] = ["BASH_CMDS", "commands", "BASH_ALIASES", "aliases", "functions"];
        if !ARRAYS.contains(&array) {
            return;
        }
        let Some(name) = subscript.literal().filter(|name| !name.is_empty()) else { return };
        let text = value.literal();
        match (array, text) {
            ("BASH_CMDS" | "commands", _) => self.remember_program(&name, value),
            ("functions", Some(text)) => self.may_be(&name, &text, value.origin()),
            (_, Some(text)) => {
                let alias = Alias { text: (&*text).into(), lines: self.lines.as_slice().into() };
                self.state.add_alias(&name, alias);
            }
            (_, None) => {}
        }
    }

    /// `/proc/self/fd/5 -rf x`: the program is the file that is open on the descriptor. An unknown one may be any file.
    pub(super) fn through_descriptor(&mut self, mut draft: Draft) -> Draft {
        let Some(first) = draft.words.first().filter(|word| may_be_descriptor(word)) else { return draft };
        let origin = first.origin();
        let file = open_number(first).and_then(|number| match self.state.open.get(number) {
            Some(Open::Source(source)) => source.file.clone(),
            Some(Open::Sink(_) | Open::Unknown) | None => None,
        });
        match file {
            Some(file) => {
                let words = Arc::make_mut(&mut draft.words);
                words.iter_mut().take(1).for_each(|word| *word = file.clone());
            }
            None => self.gap(origin, UnknownReason::NotEvaluated),
        }
        draft
    }

    /// Calls the function for commands that are not found with the words of an unknown program, which may not exist.
    pub(super) fn not_found(&mut self, name: &str, draft: &Draft) -> Option<Stream> {
        let is_path = || draft.words.first().is_some_and(|word| word.shown().contains('/'));
        if draft.by_program || !self.state.has_functions() || is_path() {
            return None;
        }
        let bodies = HANDLERS.iter().map(|handler| (*handler, self.state.functions(handler)));
        let (handler, bodies) = bodies.into_iter().find(|(handler, bodies)| !bodies.is_empty() && *handler != name)?;
        let program = Value::text(handler, draft.origin);
        let words = std::iter::once(program).chain(draft.words.iter().cloned()).collect::<Vec<_>>();
        let call = Draft { words: Arc::new(words), redirects: Vec::new(), ..draft.clone() };
        Some(self.isolated(|this| this.call_one_of(handler, &bodies, call)))
    }

    /// `newlang -e 'system("rm x")'`: for an unknown program that receives code, runs the commands that the code would
    /// start in any of the usual ways.
    pub(super) fn code_of_unknown(&mut self, id: CommandId, draft: &Draft) -> Option<Stream> {
        let is_code = |word: &Value| word.prefix().contains(['(', '`', '"']);
        let mut pairs = draft.words.windows(2).skip(1);
        let has_code = pairs.any(|pair| match pair {
            [option, code] => option.prefix().starts_with('-') && is_code(code),
            _ => false,
        });
        let joined = |word: &Value| word.prefix().starts_with("--") && word.prefix().contains('=') && is_code(word);
        if self.depth >= MAX_DEPTH || !(has_code || draft.words.iter().any(joined)) {
            return None;
        }
        let program = Program::find(self.surroundings.programs, UNKNOWN)?;
        let invocation = Invocation::read(program, &draft.words);
        join(self.inner(id, &invocation, draft), None)
    }
}

fn may_be_descriptor(word: &Value) -> bool {
    let start = word.prefix();
    start.starts_with('/')
        && ["/proc/", "/dev/fd/", "/memfd:", "/dev/stdin"].iter().any(|folder| start.starts_with(folder))
        && (!start.starts_with("/proc/") || ends_in_descriptor(word))
}

/// `/proc/self/fd/5`, `/proc/$$/fd/5`
fn ends_in_descriptor(word: &Value) -> bool {
    matches!(word.pieces.last(), Some((Piece::Text(text), _)) if text.contains("/fd/"))
}

fn open_number(word: &Value) -> Option<u32> {
    match word.pieces.last()? {
        (Piece::Text(text), _) if text == "/dev/stdin" => Some(0),
        (Piece::Text(text), _) => text.rsplit_once("/fd/")?.1.parse().ok(),
        _ => None,
    }
}
