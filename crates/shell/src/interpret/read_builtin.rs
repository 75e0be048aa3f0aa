//! The builtins `read` and `mapfile`: the values of variables read from a known input.

use super::draft::Draft;
use super::interpreter::Interpreter;
use super::streams::Stream;
use crate::model::value::{Piece, UnknownReason, Value};
use crate::syntax::names::is_name;

/// The options of `read` and `mapfile` that affect the input.
#[derive(Default)]
struct Reads {
    raw: bool,
    all_input: bool,
    other: bool,
    descriptor: u32,
    array: Option<String>,
    names: Vec<String>,
}

impl Reads {
    fn from_words(words: &[Value]) -> Reads {
        let mut reads = Reads::default();
        let mut words = words.iter().map(|word| word.literal().unwrap_or_default());
        while let Some(word) = words.next() {
            let Some(options) = word.strip_prefix('-').filter(|options| !options.is_empty()) else {
                reads.names.push(word.into_owned());
                continue;
            };
            let Some(at) = options.find(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u', 'C', 'c', 'O', 's']) else {
                reads.raw |= options.contains('r');
                continue;
            };
            reads.raw |= options.get(..at).is_some_and(|flags| flags.contains('r'));
            let (ch, joined) = options.get(at..).unwrap_or("").split_at(1);
            let silent = ch == "s";
            let value = if joined.is_empty() && !silent {
                words.next().unwrap_or_default().into_owned()
            } else {
                joined.into()
            };
            match ch {
                "a" => reads.array = Some(value),
                "d" if value.is_empty() => reads.all_input = true,
                "u" => match value.parse() {
                    Ok(descriptor) => reads.descriptor = descriptor,
                    Err(_) => reads.other = true,
                },
                "i" | "p" | "t" | "s" => {}
                _ => reads.other = true,
            }
        }
        reads
    }
}

impl Interpreter<'_> {
    /// `read` takes one line of its input. The fields of a known line are known; of an input known by kind, so is the
    /// line.
    pub(super) fn read_variables(&mut self, words: &[Value], draft: &Draft) {
        words.iter().for_each(|word| self.run_subscript(word));
        let mut reads = Reads::from_words(words);
        if reads.names.is_empty() && reads.array.is_none() {
            reads.names.push("REPLY".to_owned());
        }
        let separators = assigned_separators(draft).unwrap_or_else(|| self.separators());
        let stream = self.state.open.input(reads.descriptor);
        let Some(taken) = known_line(&reads, &stream) else { return self.read_unknown(&reads, &stream, draft) };
        self.state.open.take(reads.descriptor, Some(taken.bytes));
        self.status = Some(taken.ended);
        let origin = stream.text.origin();
        match &reads.array {
            Some(array) => {
                let values = fields_of(&taken.line, &separators, usize::MAX);
                self.state.assign(array, values.into_iter().map(|text| Value::text(text, origin)).collect());
            }
            None => {
                let mut values = fields_of(&taken.line, &separators, reads.names.len()).into_iter();
                for name in &reads.names {
                    self.assign(name, vec![Value::text(values.next().unwrap_or_default(), origin)]);
                }
            }
        }
    }

    fn read_unknown(&mut self, reads: &Reads, stream: &Stream, draft: &Draft) {
        let unknown = Value::piece(Piece::Unknown(UnknownReason::Input), draft.origin);
        let kind = Some(&stream.text).filter(|text| stream.present && text.literal().is_none());
        let line = kind.filter(|_| !reads.other).cloned().unwrap_or(unknown);
        for name in reads.names.iter().chain(&reads.array).filter(|name| is_name(name)) {
            self.state.assign(name, vec![line.clone()]);
        }
        self.state.open.take(reads.descriptor, None);
    }

    /// `mapfile`: reads all lines into an array.
    pub(super) fn read_lines(&mut self, words: &[Value], draft: &Draft) {
        let trims = words.iter().any(|word| word.literal().as_deref() == Some("-t"));
        let plain = words.iter().all(|word| word.literal().is_some_and(|text| text == "-t" || is_name(&text)));
        let names: Vec<String> =
            words.iter().filter_map(Value::literal).filter(|name| is_name(name)).map(Into::into).collect();
        let stream = self.state.open.input(0);
        let known = stream.text.literal().filter(|_| plain && stream.present);
        let name = names.first().map_or("MAPFILE", String::as_str);
        let Some(text) = known else {
            if plain && stream.present {
                self.state.assign(name, stream.text.split(&['\n']));
                return self.state.open.take(0, None);
            }
            let reads = Reads { names: vec![name.to_owned()], other: true, ..Reads::default() };
            return self.read_unknown(&reads, &stream, draft);
        };
        let origin = stream.text.origin();
        let line = |line: &str| Value::text(if trims { line.trim_end_matches('\n') } else { line }, origin);
        let values = text.split_inclusive('\n').map(line).collect();
        self.state.assign(name, values);
        self.state.open.take_all(0);
        self.status = Some(true);
    }
}

/// Returns the separators of `IFS=: read …`.
fn assigned_separators(draft: &Draft) -> Option<String> {
    let (_, value) = draft.assignments.iter().find(|(name, _)| name == "IFS")?;
    value.literal().map(|text| text.into_owned())
}

/// A line taken from a known text.
struct Taken {
    line: String,
    /// The number of bytes, including the line terminator.
    bytes: usize,
    /// Whether the line was terminated. If not, `read` fails although it reads the line.
    ended: bool,
}

fn known_line(reads: &Reads, stream: &Stream) -> Option<Taken> {
    let text = stream.text.literal().filter(|_| stream.present && !reads.other)?;
    if reads.all_input {
        let line = text.get(..text.find('\0').unwrap_or(text.len()))?;
        return Some(Taken { line: line.to_owned(), bytes: line.len() + 1, ended: line.len() < text.len() });
    }
    let line = text.get(..text.find('\n').unwrap_or(text.len()))?;
    if !reads.raw && line.contains('\\') {
        return None;
    }
    Some(Taken { line: line.to_owned(), bytes: line.len() + 1, ended: line.len() < text.len() })
}

/// Splits a line into at most `most` fields; the last one takes the rest.
fn fields_of(line: &str, separators: &str, max: usize) -> Vec<String> {
    let is_blank = |ch: char| ch.is_ascii_whitespace() && separators.contains(ch);
    let is_separator = |ch: char| separators.contains(ch);
    let mut rest = line.trim_matches(is_blank);
    let mut fields = Vec::new();
    while !rest.is_empty() && fields.len() + 1 < max {
        let end = rest.find(is_separator).unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        fields.push(field.to_owned());
        let after = after.trim_start_matches(is_blank);
        let other = after.strip_prefix(|ch| is_separator(ch) && !is_blank(ch));
        rest = other.map_or(after, |after| after.trim_start_matches(is_blank));
    }
    if !rest.is_empty() {
        fields.push(last_field(rest, is_separator));
    }
    fields
}

/// Strips a separator at the end of the last field, if the field contains no other.
fn last_field(rest: &str, is_separator: impl Fn(char) -> bool + Copy) -> String {
    match rest.strip_suffix(is_separator) {
        Some(field) if !field.contains(is_separator) => field.to_owned(),
        _ => rest.to_owned(),
    }
}
