//! Redirections: the file, text or process of a descriptor, and the destination of output.

use super::interpreter::Interpreter;
use super::process::{Content, Process};
use super::streams::{Open, Sink, Stream};
use crate::model::value::{Origin, Piece, Printed, Value};
use crate::reading::{Access, CommandId, Redirection};
use crate::syntax::tree::{Descriptor, Redirect, RedirectKind, Script};
use std::rc::Rc;

/// The first number of a descriptor that the shell allocates.
const FIRST_NAMED: u32 = 10;

impl Interpreter<'_> {
    /// `<(…)` and `>(…)`: a file whose content the script writes or reads.
    pub(crate) fn process(&mut self, script: &Rc<Script>, writes: bool, origin: Origin) -> Piece {
        let content = if writes {
            Content::Waiting { script: script.clone(), written: Stream::default() }
        } else {
            Content::Printed(self.captured(|this| this.script(script)))
        };
        self.processes.push(Process { origin, content });
        Piece::Output(Printed::Temporary)
    }

    /// Returns the output of a process substitution, if the path is one.
    pub(super) fn process_output(&self, path: &Value) -> Option<Stream> {
        self.processes.iter().rev().find_map(|process| match &process.content {
            Content::Printed(stream) if process.origin == path.origin() => Some(stream.clone()),
            Content::Printed(_) | Content::Waiting { .. } => None,
        })
    }

    /// Runs the scripts of the `>(…)` found since `first` on the text written to them. `other` is the text that a
    /// program has written to one of its arguments. Their output joins `output`.
    pub(super) fn feed_processes(&mut self, first: usize, other: &Stream, output: &mut Stream) {
        let mut waiting = Vec::new();
        for process in self.processes.iter_mut().skip(first) {
            if let Content::Waiting { script, written } = &mut process.content {
                let input = if written.present { std::mem::take(written) } else { other.clone() };
                waiting.push((script.clone(), input));
                process.content = Content::Printed(Stream::nothing());
            }
        }
        for (script, input) in waiting {
            let printed = self.isolated(|this| {
                this.open_stream(0, input);
                this.script(&script)
            });
            if !printed.text.pieces.is_empty() {
                output.or(Stream::new(printed.text, printed.commands));
            }
        }
    }

    /// Opens a stream on a descriptor, at its start.
    pub(super) fn open_stream(&mut self, descriptor: u32, stream: Stream) {
        self.open_file(descriptor, stream, None);
    }

    fn open_file(&mut self, descriptor: u32, stream: Stream, file: Option<Value>) {
        self.sources += 1;
        self.state.open.read_from(descriptor, self.sources, stream, file);
    }

    /// Captures the output of `walk`.
    pub(super) fn captured(&mut self, walk: impl FnOnce(&mut Self) -> Stream) -> Stream {
        self.capture(false, walk)
    }

    /// Captures the output of `walk`, including standard error if `errors` is set.
    pub(super) fn capture(&mut self, errors: bool, walk: impl FnOnce(&mut Self) -> Stream) -> Stream {
        self.captures += 1;
        let number = self.captures;
        let outer = std::mem::replace(&mut self.collecting, number);
        let mut output = self.isolated(|this| {
            this.state.open.set(1, Some(Open::Sink(Sink::Capture(number))));
            if errors {
                this.state.open.set(2, Some(Open::Sink(Sink::Capture(number))));
            }
            walk(this)
        });
        self.collecting = outer;
        let mut index = 0;
        while let Some((to, _)) = self.spilled.get(index) {
            if *to != number {
                index += 1;
                continue;
            }
            let (_, stream) = self.spilled.remove(index);
            // The order of the two is not tracked.
            if output.text.pieces.is_empty() { output.push(stream) } else { output.or(stream) }
        }
        output
    }

    /// Sends the output of a command to the destination of its standard output, and returns the part that the caller
    /// handles. Content of a file originates from `sources`, too.
    pub(super) fn route(&mut self, printed: Stream, sources: &[CommandId]) -> Stream {
        let sink = match self.state.open.get(1) {
            Some(Open::Sink(sink)) => sink.clone(),
            Some(Open::Source(_) | Open::Unknown) | None => return printed,
        };
        let rest = Stream::new(Value::default(), printed.commands.clone());
        match sink {
            Sink::Capture(number) if number == self.collecting => return printed,
            Sink::Capture(number) => {
                if !printed.text.pieces.is_empty() {
                    self.spilled.push((number, printed));
                }
            }
            Sink::File(path) => {
                if !printed.text.pieces.is_empty() {
                    let commands = [printed.commands.as_slice(), sources].concat();
                    self.append(&path, Stream::new(printed.text, commands));
                }
            }
            Sink::Process(index) => {
                if let Some(Process { content: Content::Waiting { written, .. }, .. }) = self.processes.get_mut(index) {
                    written.present = true;
                    written.push(printed);
                }
            }
            Sink::Elsewhere => {}
        }
        rest
    }

    /// `2>&1 >file`: only standard error is captured.
    pub(super) fn collects_errors_only(&self) -> bool {
        let collects = |descriptor| matches!(self.state.open.get(descriptor), Some(Open::Sink(Sink::Capture(number))) if *number == self.collecting);
        self.collecting > 0 && collects(2) && !collects(1)
    }

    /// Opens the files of the redirections, in their order.
    pub(super) fn redirections(&mut self, redirects: &[Redirect]) -> Vec<Redirection> {
        let mut files = Vec::new();
        for redirect in redirects {
            self.redirection(redirect, &mut files);
        }
        files
    }

    fn redirection(&mut self, redirect: &Redirect, files: &mut Vec<Redirection>) {
        let origin = redirect.target.origin;
        match redirect.kind {
            RedirectKind::Heredoc => {
                let body = redirect.heredoc.get().cloned().unwrap_or_default();
                let text = self.expand_fully(&body);
                let descriptor = self.descriptor(redirect, 0);
                self.open_stream(descriptor, Stream::new(text, Vec::new()));
            }
            RedirectKind::HereString => {
                let mut text = self.expand_fully(&redirect.target);
                text.push_text("\n", origin);
                let descriptor = self.descriptor(redirect, 0);
                self.open_stream(descriptor, Stream::new(text, Vec::new()));
            }
            RedirectKind::Duplicate { reads } => self.duplicate(redirect, reads, files),
            RedirectKind::Read | RedirectKind::ReadWrite => {
                let target = self.expand_fully(&redirect.target);
                let descriptor = self.descriptor(redirect, 0);
                let unknown = || {
                    Stream::new(
                        Value::piece(Piece::Output(Printed::Program("cat".into())), target.origin()),
                        Vec::new(),
                    )
                };
                let content = self.content(&target).unwrap_or_else(unknown);
                if self.is_process(&target) {
                    // The input comes from the process, not from a file.
                    return self.open_stream(descriptor, content);
                }
                self.open_file(descriptor, content, Some(target.clone()));
                let access = if redirect.kind == RedirectKind::Read { Access::Read } else { Access::Overwrite };
                files.push(Redirection { access, descriptor, target });
            }
            RedirectKind::Write | RedirectKind::Append | RedirectKind::WriteBoth { .. } => {
                let target = self.expand_fully(&redirect.target);
                self.write_to(redirect, target, files);
            }
        }
    }

    /// Returns the descriptor that a redirection opens; for one with a name, it is allocated here.
    fn descriptor(&mut self, redirect: &Redirect, usual: u32) -> u32 {
        match &redirect.descriptor {
            None => usual,
            Some(Descriptor::Number(number)) => *number,
            Some(Descriptor::Named(name)) => {
                self.named += 1;
                let number = FIRST_NAMED - 1 + self.named;
                self.state.assign(name, vec![Value::text(number.to_string(), redirect.target.origin)]);
                number
            }
        }
    }

    fn write_to(&mut self, redirect: &Redirect, target: Value, files: &mut Vec<Redirection>) {
        let appends = matches!(redirect.kind, RedirectKind::Append | RedirectKind::WriteBoth { appends: true });
        let sink = match self.waiting_process(&target) {
            Some(index) => Sink::Process(index),
            None => Sink::File(target.clone()),
        };
        if matches!(sink, Sink::File(_)) && !appends {
            self.write(&target, Stream::nothing());
        }
        let descriptor = self.descriptor(redirect, 1);
        self.state.open.set(descriptor, Some(Open::Sink(sink.clone())));
        if matches!(redirect.kind, RedirectKind::WriteBoth { .. }) {
            self.state.open.set(2, Some(Open::Sink(sink)));
        }
        let access = if appends { Access::Append } else { Access::Overwrite };
        files.push(Redirection { access, descriptor, target });
    }

    fn waiting_process(&self, path: &Value) -> Option<usize> {
        let waits =
            |process: &Process| process.origin == path.origin() && matches!(process.content, Content::Waiting { .. });
        self.processes.iter().rposition(waits)
    }

    /// `>&2`, `<&3-`, `>&-`, and `>&file`.
    fn duplicate(&mut self, redirect: &Redirect, reads: bool, files: &mut Vec<Redirection>) {
        let text = self.expand_fully(&redirect.target);
        let usual = u32::from(!reads);
        let literal = text.literal().map(|text| text.into_owned());
        if literal.as_deref() == Some("-") {
            let descriptor = match &redirect.descriptor {
                Some(Descriptor::Named(name)) => {
                    self.state.variable(name).and_then(|values| values.first()?.literal()?.parse().ok())
                }
                Some(Descriptor::Number(number)) => Some(*number),
                None => Some(usual),
            };
            let closed = if descriptor == Some(0) {
                self.open_stream(0, Stream::nothing());
                return;
            } else {
                Some(Open::Sink(Sink::Elsewhere))
            };
            return descriptor.into_iter().for_each(|number| self.state.open.set(number, closed.clone()));
        }
        if let Some(from) = literal.as_deref().and_then(|text| text.trim_end_matches('-').parse::<u32>().ok()) {
            let descriptor = self.descriptor(redirect, usual);
            let open = self.state.open.get(from).cloned().or(match from {
                1 => Some(Open::Sink(Sink::Capture(0))),
                2 => Some(Open::Sink(Sink::Elsewhere)),
                _ => None,
            });
            if let (Some(Open::Source(source)), true) = (&open, reads) {
                let target = source.file.clone();
                files.extend(target.map(|target| Redirection { access: Access::Read, descriptor, target }));
            }
            return self.state.open.set(descriptor, open);
        }
        // `>&$fd` duplicates a descriptor, `>& ~/x` writes a file.
        let is_path =
            text.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Home(_))) || text.prefix().contains('/');
        if literal.is_none() && !is_path {
            let descriptor = self.descriptor(redirect, usual);
            return self.state.open.set(descriptor, Some(Open::Unknown));
        }
        self.write_to(redirect, text, files);
        self.state.open.set(2, self.state.open.get(1).cloned());
    }

    /// Lists the files opened for a group, with the commands that produce its output.
    pub(super) fn list_group(&mut self, files: Vec<Redirection>, origin: Origin, output: &mut Stream) {
        if files.is_empty() {
            return;
        }
        let writes = files.iter().any(|file| file.access != Access::Read);
        let sources: Vec<CommandId> = output.commands.clone();
        let id = self.add_group(files, sources, origin);
        if writes {
            output.commands = id.into_iter().collect();
        }
    }
}
