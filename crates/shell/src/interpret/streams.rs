//! Data flow: the output of commands, the open descriptors, and the input already read from them.

use crate::model::value::{Piece, UnknownReason, Value};
use crate::reading::{CommandId, Stdin};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The output of a command, and the commands that print it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stream {
    pub(crate) text: Value,
    pub(crate) commands: Vec<CommandId>,
    /// Whether the stream exists; if not, the input is the one that the text inherits.
    pub(crate) present: bool,
}

impl Stream {
    pub(crate) fn new(text: Value, commands: Vec<CommandId>) -> Stream {
        Stream { text, commands, present: true }
    }

    pub(super) fn nothing() -> Stream {
        Stream::new(Value::default(), Vec::new())
    }

    pub(super) fn stdin(&self) -> Stdin {
        if !self.present {
            return Stdin::Inherited;
        }
        match self.text.literal() {
            Some(_) => Stdin::Text(self.text.clone()),
            None => Stdin::Pipe(self.commands.clone(), self.text.clone()),
        }
    }

    /// Appends the output that follows.
    pub(super) fn push(&mut self, next: Stream) {
        self.text.push(next.text);
        self.commands.extend(next.commands);
    }

    /// Merges alternative output: only one of the two is printed.
    pub(super) fn or(&mut self, other: Stream) {
        if self.text.shown() != other.text.shown() || self.text.is_unknown() {
            let origin = if self.text.pieces.is_empty() { other.text.origin() } else { self.text.origin() };
            self.text = Value::piece(Piece::Unknown(UnknownReason::Branches), origin);
        }
        self.commands.extend(other.commands);
    }
}

/// Concatenates both outputs.
pub(super) fn join(one: Option<Stream>, other: Option<Stream>) -> Option<Stream> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.text.push(other.text);
            one.commands.extend(other.commands);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// The open descriptors of a shell, and the number of bytes read from each source.
#[derive(Clone, Default)]
pub(crate) struct Descriptors {
    open: Rc<BTreeMap<u32, Open>>,
    /// Bytes read, by source id; `None` if unknown.
    taken: Rc<BTreeMap<u32, Option<usize>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Open {
    Source(Rc<Source>),
    Sink(Sink),
    /// One of several possibilities.
    Unknown,
}

/// An open input, shared by duplicated descriptors.
#[derive(Debug, PartialEq)]
pub(super) struct Source {
    /// A new id for each open, even of the same file.
    id: u32,
    stream: Stream,
    /// The path of the opened file, if it is one.
    pub(super) file: Option<Value>,
}

/// The destination of output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sink {
    /// The capture of this number, for a pipe or a substitution.
    Capture(u32),
    /// A file of this path.
    File(Value),
    /// The process substitution of this number.
    Process(usize),
    /// Unobserved output: to the terminal, or discarded.
    Elsewhere,
}

impl PartialEq for Descriptors {
    fn eq(&self, other: &Descriptors) -> bool {
        let open = Rc::ptr_eq(&self.open, &other.open) || self.open == other.open;
        open && (Rc::ptr_eq(&self.taken, &other.taken) || self.taken == other.taken)
    }
}

impl Descriptors {
    pub(super) fn get(&self, descriptor: u32) -> Option<&Open> {
        self.open.get(&descriptor)
    }

    /// Whether standard output goes into a word, a file or another command.
    pub(super) fn collects(&self) -> bool {
        matches!(self.get(1), Some(Open::Sink(Sink::Capture(_) | Sink::File(_) | Sink::Process(_))))
    }

    pub(super) fn set(&mut self, descriptor: u32, open: Option<Open>) {
        match open {
            Some(open) => drop(Rc::make_mut(&mut self.open).insert(descriptor, open)),
            None if self.open.contains_key(&descriptor) => drop(Rc::make_mut(&mut self.open).remove(&descriptor)),
            None => {}
        }
    }

    /// Opens a stream for reading. An absent stream resets the descriptor to the inherited input.
    pub(super) fn read_from(&mut self, descriptor: u32, id: u32, stream: Stream, file: Option<Value>) {
        let open = stream.present.then(|| Open::Source(Rc::new(Source { id, stream, file })));
        self.set(descriptor, open);
    }

    /// Returns the unread input of a descriptor.
    pub(super) fn input(&self, descriptor: u32) -> Stream {
        let unknown = |stream: &Stream| {
            Stream::new(
                Value::piece(Piece::Unknown(UnknownReason::Input), stream.text.origin()),
                stream.commands.clone(),
            )
        };
        let source = match self.open.get(&descriptor) {
            Some(Open::Source(source)) => source,
            Some(Open::Unknown) => return unknown(&Stream::default()),
            Some(Open::Sink(_)) | None => return Stream::default(),
        };
        match self.taken.get(&source.id) {
            None => source.stream.clone(),
            Some(Some(taken)) if source.stream.text.literal().is_some() => {
                Stream { text: source.stream.text.without_prefix(*taken), ..source.stream.clone() }
            }
            Some(_) => unknown(&source.stream),
        }
    }

    /// Records that this number of bytes has been read; `None` if unknown.
    pub(super) fn take(&mut self, descriptor: u32, bytes: Option<usize>) {
        let Some(Open::Source(source)) = self.open.get(&descriptor) else { return };
        if source.stream.text.literal().is_none() {
            // Any rest of a partly unknown text is of the same kind.
            return;
        }
        let before = self.taken.get(&source.id).copied().unwrap_or(Some(0));
        let now = before.zip(bytes).map(|(before, bytes)| before.saturating_add(bytes));
        Rc::make_mut(&mut self.taken).insert(source.id, now);
    }

    /// Records that everything has been read.
    pub(super) fn take_all(&mut self, descriptor: u32) {
        self.take(descriptor, Some(usize::MAX));
    }

    /// Closes the descriptors that a command opened for itself. The input that it read stays consumed.
    pub(super) fn close_again(&mut self, before: &Descriptors) {
        let sources = |open: &BTreeMap<u32, Open>| -> Vec<u32> {
            let id = |open: &Open| match open {
                Open::Source(source) => Some(source.id),
                Open::Sink(_) | Open::Unknown => None,
            };
            open.values().filter_map(id).collect()
        };
        // Drops the positions of closed sources, which are not read again; a text of many here-documents would keep all
        // of them.
        let kept = sources(&before.open);
        let closed = sources(&self.open).into_iter().filter(|id| !kept.contains(id));
        for id in closed.filter(|id| self.taken.contains_key(id)).collect::<Vec<_>>() {
            Rc::make_mut(&mut self.taken).remove(&id);
        }
        self.open = before.open.clone();
    }

    /// Takes the positions of a subshell, which reads from the same sources.
    pub(super) fn taken_by(&mut self, other: &Descriptors) {
        self.taken = other.taken.clone();
    }

    pub(super) fn merge(&mut self, other: &Descriptors) {
        if !Rc::ptr_eq(&self.open, &other.open) && self.open != other.open {
            let keys: Vec<u32> = self.open.keys().chain(other.open.keys()).copied().collect();
            let open = Rc::make_mut(&mut self.open);
            for key in keys {
                if open.get(&key) != other.open.get(&key) {
                    open.insert(key, Open::Unknown);
                }
            }
        }
        if !Rc::ptr_eq(&self.taken, &other.taken) && self.taken != other.taken {
            let keys: Vec<u32> = self.taken.keys().chain(other.taken.keys()).copied().collect();
            let taken = Rc::make_mut(&mut self.taken);
            for key in keys {
                if taken.get(&key) != other.taken.get(&key) {
                    taken.insert(key, None);
                }
            }
        }
    }
}
