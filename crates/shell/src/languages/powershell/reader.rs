//! The cursor over a PowerShell text, and the items of its pipelines.

use super::scan;
use crate::interpret::interpreter::Interpreter;
use crate::interpret::streams::Stream;
use crate::model::value::{DerivationId, Origin, Piece, Span, UnknownReason, Value};
use crate::reading::CommandId;

/// The values in a pipeline, with the commands that produce them.
#[derive(Debug, Clone, Default)]
pub(super) struct Items {
    pub(super) values: Vec<Value>,
    pub(super) commands: Vec<CommandId>,
}

impl Items {
    pub(super) fn from_values(values: Vec<Value>) -> Items {
        Items { values, commands: Vec::new() }
    }

    pub(super) fn extend(&mut self, other: Items) {
        self.values.extend(other.values);
        self.commands.extend(other.commands);
    }

    /// Converts the items to the input of another program, one line each.
    pub(super) fn stream(self) -> Stream {
        let mut text = Value::default();
        for value in self.values {
            let origin = value.origin();
            text.push(value);
            text.push_text("\n", origin);
        }
        Stream::new(text, self.commands)
    }
}

/// The cursor over a text.
pub(super) struct Reader<'t, 'r, 'a> {
    pub(super) on: &'r mut Interpreter<'a>,
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The origin of the text.
    pub(super) origin: Origin,
    /// The arguments of the script block or function, which `param` binds.
    pub(super) arguments: Vec<Value>,
}

impl<'t, 'r, 'a> Reader<'t, 'r, 'a> {
    pub(super) fn new(on: &'r mut Interpreter<'a>, text: &'t str, origin: Origin) -> Reader<'t, 'r, 'a> {
        Reader { on, text, at: 0, origin, arguments: Vec::new() }
    }

    /// Returns a reader for a part of the text.
    pub(super) fn part<'p>(&'p mut self, text: &'p str, start: usize) -> Reader<'p, 'p, 'a> {
        let origin = self.origin_of(start, start + text.len());
        Reader { on: &mut *self.on, text, at: 0, origin, arguments: Vec::new() }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Returns the next character; typographic quotes and dashes are mapped to the plain ones.
    pub(super) fn ch(&self) -> Option<char> {
        self.rest().chars().next().map(scan::plain)
    }

    pub(super) fn peek_at(&self, count: usize) -> Option<char> {
        self.rest().chars().nth(count).map(scan::plain)
    }

    pub(super) fn bump(&mut self) {
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes characters while `fits` holds.
    pub(super) fn take(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|ch| !fits(ch)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    /// Skips blanks, comments and line continuations; with `lines`, also statement terminators.
    pub(super) fn skip(&mut self, lines: bool) {
        while let Some(ch) = self.ch() {
            match ch {
                '\n' | '\r' | ';' if lines => self.bump(),
                '\n' | '\r' => return,
                ch if ch.is_whitespace() || ch == '\u{feff}' => self.bump(),
                '`' if self.rest().starts_with("`\n") => self.at += 2,
                '`' if self.rest().starts_with("`\r\n") => self.at += 3,
                '#' => self.at = scan::past_line(self.text, self.at),
                '<' if self.rest().starts_with("<#") => self.at = scan::past_comment(self.text, self.at),
                _ => return,
            }
        }
    }

    pub(super) fn origin_of(&self, start: usize, end: usize) -> Origin {
        let Origin { span, derivation } = self.origin;
        // A derived text has the origin of its complete source.
        if (span.end.saturating_sub(span.start)) as usize != self.text.len() {
            return self.origin;
        }
        let at = |offset: usize| span.start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)).min(span.end);
        Origin { span: Span { start: at(start), end: at(end) }, derivation }
    }

    pub(super) fn origin_from(&self, start: usize) -> Origin {
        self.origin_of(start, self.at)
    }

    pub(super) fn gap(&mut self, start: usize, why: UnknownReason) {
        let origin = self.origin_from(start);
        self.on.gap(origin, why);
    }

    pub(super) fn unknown(&self, start: usize, why: UnknownReason) -> Value {
        Value::piece(Piece::Unknown(why), self.origin_from(start))
    }

    /// Reads the bracket at the cursor; returns its content and the byte offset of the content. An unclosed bracket
    /// extends to the end of the text.
    pub(super) fn bracket(&mut self) -> (&'t str, usize) {
        let (start, inside) = (self.at, self.at + 1);
        match scan::closing(self.text, self.at) {
            Some(end) => {
                self.at = end + 1;
                (self.text.get(inside..end).unwrap_or(""), inside)
            }
            None => {
                self.at = self.text.len();
                self.gap(start, UnknownReason::Unparsed);
                (self.text.get(inside..).unwrap_or(""), inside)
            }
        }
    }

    /// Reads a part one level deeper; `None` at the limits.
    pub(super) fn deeper<T>(
        &mut self,
        text: &str,
        start: usize,
        read: impl FnOnce(&mut Reader<'_, '_, 'a>) -> T,
    ) -> Option<T> {
        let origin = self.origin_of(start, start + text.len());
        if !self.on.enters(text.len(), origin) {
            return None;
        }
        let result = read(&mut self.part(text, start));
        self.on.leaves();
        Some(result)
    }

    /// Evaluates the statements of a part.
    pub(super) fn inside(&mut self, (text, start): (&str, usize)) -> Items {
        self.deeper(text, start, |reader| reader.statements()).unwrap_or_default()
    }

    /// Runs a script block with its arguments.
    pub(super) fn walk(&mut self, block: &Value, arguments: &[Value]) -> Items {
        let Some(text) = block.literal() else { return Items::default() };
        let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        let trimmed = text.trim();
        let inside = scan::inside_braces(trimmed).unwrap_or(inside);
        let Origin { span, derivation } = block.origin();
        let exact = (span.end.saturating_sub(span.start)) as usize == text.len() && trimmed.len() == text.len();
        let span = if exact { Span { start: span.start + 1, end: span.end.saturating_sub(1) } } else { span };
        let origin = Origin { span, derivation };
        if !self.on.enters(inside.len(), origin) {
            return Items::default();
        }
        let hidden = self.on.state.saved(std::iter::once(&"$args".to_owned()));
        let mut reader = Reader::new(&mut *self.on, inside, origin);
        reader.arguments = arguments.to_vec();
        reader.set("args", arguments.to_vec());
        let items = reader.statements();
        self.on.state.restore(hidden);
        self.on.leaves();
        items
    }

    pub(super) fn of_stream(&self, stream: &Stream) -> Items {
        if !stream.present {
            return Items::default();
        }
        let lines = match stream.text.literal() {
            Some(text) => {
                let origin = stream.text.origin();
                text.lines().filter(|line| !line.is_empty()).map(|line| Value::text(line, origin)).collect()
            }
            None => vec![stream.text.clone()],
        };
        Items { values: lines, commands: stream.commands.clone() }
    }

    /// Sets a variable. The names of PowerShell's own variables are stored with a leading dollar sign, to keep them
    /// apart from those of the environment.
    pub(super) fn set(&mut self, name: &str, values: Vec<Value>) {
        self.on.state.assign(&format!("${}", name.to_lowercase()), values);
    }

    pub(super) fn get(&self, name: &str) -> Option<Vec<Value>> {
        self.on.state.variable(&format!("${}", name.to_lowercase())).map(<[Value]>::to_vec)
    }

    pub(super) fn derived(&mut self, step: &'static str, text: String, from: Origin) -> Value {
        let derivation: Option<DerivationId> = self.on.derive(step, &text, from);
        let value = Value::text(text, Origin { span: from.span, derivation });
        self.on.spend(value)
    }
}
