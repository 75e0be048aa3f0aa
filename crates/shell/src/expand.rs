//! What a word becomes: parameters, substitutions, braces and splitting.

use crate::interpret::Interpreter;
use crate::syntax::{Operator, Parameter, Part, Word};
use crate::value::{Origin, Piece, Printed, Value, Why};

/// More words than this out of one brace expression are a gap.
const MAX_BRACE_WORDS: usize = 256;

/// More brace expressions than this in one word are a gap.
const MAX_BRACES: usize = 16;

/// A piece of a word before it is split.
enum Raw {
    /// Unquoted results are split at blanks and may hold patterns.
    Piece { piece: Piece, origin: Origin, splits: bool },
    /// Between the words of `"$@"`.
    Break,
}

impl Interpreter<'_> {
    /// The values that a word becomes: none, one or many.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Value> {
        if !word.parts.iter().any(|part| matches!(part, Part::Brace { .. })) {
            return self.expand_parts(&word.parts);
        }
        let opened = word.parts.iter().filter(|part| matches!(part, Part::Brace { mark: '{', .. })).count();
        let alternatives = if opened > MAX_BRACES { Vec::new() } else { braces(&word.parts) };
        if opened > MAX_BRACES || alternatives.len() > MAX_BRACE_WORDS {
            self.gap(word.origin, Why::Limit);
            return vec![Value::piece(Piece::Unknown(Why::Limit), word.origin)];
        }
        alternatives.iter().flat_map(|parts| self.expand_parts(parts)).collect()
    }

    fn expand_parts(&mut self, parts: &[Part]) -> Vec<Value> {
        let raw = self.raw(parts);
        let quoted = parts.iter().any(|part| {
            matches!(
                part,
                Part::Text { quoted: true, .. }
                    | Part::Parameter { quoted: true, .. }
                    | Part::Output { quoted: true, .. }
            )
        });
        let separators = self.separators();
        split(raw, quoted, &separators)
    }

    /// The value of a word where nothing is split: an assignment, a redirection, `case`.
    pub(crate) fn expand_whole(&mut self, word: &Word) -> Value {
        let mut value = Value::default();
        for raw in self.raw(&word.parts) {
            match raw {
                Raw::Piece { piece: Piece::Text(text), origin, .. } => value.push_text(&text, origin),
                Raw::Piece { piece, origin, .. } => value.pieces.push((piece, origin)),
                Raw::Break => value.push_text(" ", word.origin),
            }
        }
        value
    }

    fn separators(&self) -> String {
        match self.state.variable("IFS") {
            Some([value]) => value.literal().map_or(" \t\n".into(), |text| text.into_owned()),
            _ => " \t\n".into(),
        }
    }

    fn raw(&mut self, parts: &[Part]) -> Vec<Raw> {
        let mut raw = Vec::with_capacity(parts.len());
        for part in parts {
            self.raw_part(part, &mut raw);
        }
        raw
    }

    fn raw_part(&mut self, part: &Part, raw: &mut Vec<Raw>) {
        let whole = |piece: Piece, origin: Origin| Raw::Piece { piece, origin, splits: false };
        match part {
            Part::Text { text, origin, .. } => raw.push(whole(Piece::Text(text.clone()), *origin)),
            Part::Glob { text, origin } => raw.push(whole(Piece::Glob(text.clone()), *origin)),
            Part::Tilde { user, origin } => raw.push(whole(self.home(user), *origin)),
            Part::Brace { mark, origin } => raw.push(whole(Piece::Text(mark.to_string()), *origin)),
            Part::Unknown { origin, why } => raw.push(whole(Piece::Unknown(*why), *origin)),
            Part::Arithmetic { parts, origin } => {
                let _ = self.raw(parts);
                raw.push(whole(number(), *origin));
            }
            Part::Output { script, quoted, origin } => {
                let printed = self.substitute(script, *origin);
                push_value(raw, trim_newlines(printed), !quoted);
            }
            Part::Process { script, origin } => {
                let piece = self.process(script, *origin);
                raw.push(whole(piece, *origin));
            }
            Part::Parameter { parameter, quoted, origin } => self.raw_parameter(parameter, *quoted, *origin, raw),
        }
    }

    fn home(&self, user: &str) -> Piece {
        match user {
            "+" => Piece::Output(Printed::WorkingDirectory),
            "-" => Piece::Unknown(Why::NotEvaluated),
            user => Piece::Home(user.into()),
        }
    }

    fn raw_parameter(&mut self, parameter: &Parameter, quoted: bool, origin: Origin, raw: &mut Vec<Raw>) {
        let values = self.parameter(parameter, origin);
        let separate = quoted && (parameter.name == "@" || parameter.name.ends_with("[@]"));
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                raw.push(if separate || !quoted { Raw::Break } else { space(origin) });
            }
            let value = self.spend(value);
            push_value(raw, value, !quoted);
        }
    }

    fn parameter(&mut self, parameter: &Parameter, origin: Origin) -> Vec<Value> {
        let set = self.lookup(&parameter.name, origin);
        let unset = || vec![Value::piece(Piece::Variable(parameter.name.clone()), origin)];
        let unknown = |why| vec![Value::piece(Piece::Unknown(why), origin)];
        match &parameter.operator {
            Operator::Plain | Operator::Required => set.unwrap_or_else(unset),
            Operator::Length => vec![Value::piece(number(), origin)],
            Operator::Default(word) | Operator::Assign(word) => {
                let fallback = self.expand_whole(word);
                let value = set.filter(|values| values.iter().any(|value| !value.pieces.is_empty()));
                if let (Operator::Assign(_), None) = (&parameter.operator, &value) {
                    self.state.assign(&parameter.name, vec![fallback.clone()]);
                }
                value.unwrap_or_else(|| vec![fallback])
            }
            Operator::Alternative(word) => {
                let alternative = self.expand_whole(word);
                if set.is_some() { vec![alternative] } else { Vec::new() }
            }
            Operator::Indirect => match set.as_deref() {
                Some([value]) => match value.literal() {
                    Some(name) => self.lookup(&name, origin).unwrap_or_else(|| unknown(Why::NotEvaluated)),
                    None => unknown(Why::NotEvaluated),
                },
                _ => unknown(Why::NotEvaluated),
            },
            Operator::Slice(word) => {
                self.slice(set, word).map_or_else(|| unknown(Why::NotEvaluated), |value| vec![value])
            }
            Operator::Cut { front, longest, pattern } => {
                let pattern = self.expand_whole(pattern);
                let cut = |value: &Value| cut(value, &pattern, *front, *longest);
                self.map(set, origin, cut)
            }
            Operator::Replace { all, pattern, with } => {
                let (pattern, with) = (self.expand_whole(pattern), self.expand_whole(with));
                let replace = |value: &Value| replace(value, &pattern, &with, *all);
                self.map(set, origin, replace)
            }
            Operator::Upper => self.map(set, origin, |value| change(value, str::to_uppercase)),
            Operator::Lower => self.map(set, origin, |value| change(value, str::to_lowercase)),
            Operator::Other => unknown(Why::NotEvaluated),
        }
    }

    fn map(&mut self, set: Option<Vec<Value>>, origin: Origin, change: impl Fn(&Value) -> Option<Value>) -> Vec<Value> {
        let unknown = || Value::piece(Piece::Unknown(Why::NotEvaluated), origin);
        match set {
            Some(values) => values.iter().map(|value| change(value).unwrap_or_else(unknown)).collect(),
            None => vec![unknown()],
        }
    }

    fn slice(&mut self, set: Option<Vec<Value>>, word: &Word) -> Option<Value> {
        let bounds = self.expand_whole(word).literal()?.into_owned();
        let (start, length) = bounds.split_once(':').map_or((bounds.as_str(), None), |(a, b)| (a, Some(b)));
        let start: usize = start.trim().parse().ok()?;
        let values = set?;
        let [value] = values.as_slice() else { return None };
        let text = value.literal()?;
        let length = length.map_or(Some(usize::MAX), |length| length.trim().parse().ok())?;
        Some(Value::text(text.chars().skip(start).take(length).collect::<String>(), value.origin()))
    }

    /// The values of a parameter; `None` if the text does not set it.
    fn lookup(&mut self, name: &str, origin: Origin) -> Option<Vec<Value>> {
        let one = |piece| Some(vec![Value::piece(piece, origin)]);
        match name {
            "@" | "*" => return Some(self.state.parameters.iter().skip(1).cloned().collect()),
            "#" | "?" | "$" | "!" => return one(number()),
            "-" => return one(Piece::Text(String::new())),
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            return self.state.parameters.get(index).map(|value| vec![value.clone()]);
        }
        let bare = name.strip_suffix("[@]").unwrap_or(name);
        if let Some(values) = self.state.variable(bare) {
            let values = if bare == name { values.get(..1).unwrap_or(&[]) } else { values };
            return Some(values.to_vec());
        }
        match bare {
            "HOME" => one(Piece::Home(String::new())),
            "PWD" => Some(vec![self.state.folder_value(origin)]),
            "IFS" => one(Piece::Text(" \t\n".into())),
            "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID" => one(number()),
            _ if (self.surroundings.variable)(bare).is_some() => one(Piece::Variable(bare.into())),
            _ => None,
        }
    }
}

/// A number that is not known is some digits.
fn number() -> Piece {
    Piece::Glob("[0-9]*".into())
}

fn space(origin: Origin) -> Raw {
    Raw::Piece { piece: Piece::Text(" ".into()), origin, splits: false }
}

fn push_value(raw: &mut Vec<Raw>, value: Value, splits: bool) {
    raw.extend(value.pieces.into_iter().map(|(piece, origin)| Raw::Piece { piece, origin, splits }));
}

fn trim_newlines(mut value: Value) -> Value {
    while let Some((Piece::Text(text), _)) = value.pieces.last_mut() {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        if !text.is_empty() {
            break;
        }
        value.pieces.pop();
    }
    value
}

/// Splits unquoted results at the separators and finds the patterns in them.
fn split(raw: Vec<Raw>, quoted: bool, separators: &str) -> Vec<Value> {
    let mut words = Vec::new();
    let mut word = Value::default();
    let mut begun = quoted;
    for raw in raw {
        match raw {
            Raw::Break => {
                words.push(std::mem::take(&mut word));
                begun = true;
            }
            Raw::Piece { piece: Piece::Text(text), origin, splits: true } => {
                for (index, field) in text.split(|letter| separators.contains(letter)).enumerate() {
                    if index > 0 && !word.pieces.is_empty() {
                        words.push(std::mem::take(&mut word));
                    }
                    push_patterns(field, origin, &mut word);
                }
            }
            Raw::Piece { piece: Piece::Text(text), origin, .. } => word.push_text(&text, origin),
            Raw::Piece { piece, origin, .. } => word.pieces.push((piece, origin)),
        }
    }
    if !word.pieces.is_empty() || (begun && words.is_empty()) {
        words.push(word);
    }
    words
}

fn push_patterns(field: &str, origin: Origin, word: &mut Value) {
    for text in field.split_inclusive(['*', '?']) {
        let bare = text.trim_end_matches(['*', '?']);
        if !bare.is_empty() {
            word.push_text(bare, origin);
        }
        if bare.len() < text.len() {
            word.pieces.push((Piece::Glob(text.get(bare.len()..).unwrap_or("*").into()), origin));
        }
    }
}

fn change(value: &Value, change: fn(&str) -> String) -> Option<Value> {
    Some(Value::text(change(&value.literal()?), value.origin()))
}

fn replace(value: &Value, pattern: &Value, with: &Value, all: bool) -> Option<Value> {
    let (text, with) = (value.literal()?, with.literal()?);
    let pattern = pattern.literal()?;
    if pattern.is_empty() {
        return Some(value.clone());
    }
    let replaced = if all { text.replace(&*pattern, &with) } else { text.replacen(&*pattern, &with, 1) };
    Some(Value::text(replaced, value.origin()))
}

/// `${name%pattern}` and its kin, for patterns that are plain text or `*` at one end.
fn cut(value: &Value, pattern: &Value, front: bool, longest: bool) -> Option<Value> {
    let text = value.literal()?;
    let kept = match pattern.pieces.as_slice() {
        [(Piece::Text(fixed), _)] if front => text.strip_prefix(fixed.as_str()).unwrap_or(&text),
        [(Piece::Text(fixed), _)] => text.strip_suffix(fixed.as_str()).unwrap_or(&text),
        [(Piece::Glob(star), _), (Piece::Text(fixed), _)] if front && star == "*" => {
            let at = if longest { text.rfind(fixed.as_str()) } else { text.find(fixed.as_str()) };
            at.and_then(|at| text.get(at + fixed.len()..)).unwrap_or(&text)
        }
        [(Piece::Text(fixed), _), (Piece::Glob(star), _)] if !front && star == "*" => {
            let at = if longest { text.find(fixed.as_str()) } else { text.rfind(fixed.as_str()) };
            at.and_then(|at| text.get(..at)).unwrap_or(&text)
        }
        _ => return None,
    };
    Some(Value::text(kept, value.origin()))
}

/// The alternatives of a word with braces; a word without a comma or a range between its braces is left as it is.
fn braces(parts: &[Part]) -> Vec<Vec<Part>> {
    let Some((before, options, after)) = first_brace(parts) else {
        return vec![parts.to_vec()];
    };
    let mut words = Vec::new();
    let rests = braces(&after);
    for option in &options {
        for inner in braces(option) {
            for rest in &rests {
                if words.len() > MAX_BRACE_WORDS {
                    return words;
                }
                words.push([before.as_slice(), &inner, rest].concat());
            }
        }
    }
    words
}

type Braced = (Vec<Part>, Vec<Vec<Part>>, Vec<Part>);

/// The first brace that is an expression, as what stands before it, its alternatives and what stands behind it.
fn first_brace(parts: &[Part]) -> Option<Braced> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, Vec<usize>, usize)> = None;
    for (index, part) in parts.iter().enumerate() {
        let Part::Brace { mark, .. } = part else { continue };
        match mark {
            '{' => open.push((index, Vec::new())),
            ',' => open.iter_mut().next_back().into_iter().for_each(|(_, commas)| commas.push(index)),
            _ => {
                let Some((start, commas)) = open.pop() else { continue };
                let is_expression = !commas.is_empty() || sequence(parts.get(start + 1..index)?).is_some();
                if is_expression && found.as_ref().is_none_or(|(first, _, _)| start <= *first) {
                    found = Some((start, commas, index));
                }
            }
        }
    }
    let (start, commas, end) = found?;
    let options = match sequence(parts.get(start + 1..end)?) {
        Some(options) if commas.is_empty() => options,
        _ => {
            let starts = std::iter::once(start).chain(commas.iter().copied());
            let ends = commas.iter().copied().chain(std::iter::once(end));
            starts.zip(ends).filter_map(|(from, to)| parts.get(from + 1..to)).map(<[Part]>::to_vec).collect()
        }
    };
    Some((parts.get(..start)?.to_vec(), options, parts.get(end + 1..)?.to_vec()))
}

/// `{1..5}`, `{a..e}`.
fn sequence(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    let [Part::Text { text, quoted: false, origin }] = parts else { return None };
    let (first, last) = text.split_once("..")?;
    let text_part = |text: String| vec![Part::Text { text, quoted: false, origin: *origin }];
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let (low, high) = (first.min(last), first.max(last));
        return Some((low..=high).take(MAX_BRACE_WORDS + 1).map(|number| text_part(number.to_string())).collect());
    }
    let one = |text: &str| text.chars().next().filter(|letter| letter.len_utf8() == text.len());
    let (first, last) = (one(first)?, one(last)?);
    Some((first.min(last)..=first.max(last)).take(MAX_BRACE_WORDS + 1).map(|letter| text_part(letter.into())).collect())
}
