//! What a word becomes: parameters, substitutions, braces and splitting.

use crate::interpret::Interpreter;
use crate::syntax::{Operator, Parameter, Part, Word};
use crate::value::{Origin, Piece, Value, Why};

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
        match self.known_separators() {
            Some(separators) => split(raw, &separators),
            None => split(raw.into_iter().map(unsplit).collect(), ""),
        }
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

    pub(crate) fn separators(&self) -> String {
        self.known_separators().unwrap_or_else(|| " \t\n".into())
    }

    /// `None` if `IFS` is not known: then nor are the words that splitting makes.
    fn known_separators(&self) -> Option<String> {
        match self.state.variable("IFS") {
            Some([value]) => value.literal().map(|text| text.into_owned()),
            _ => Some(" \t\n".into()),
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
            Part::Text { text, origin, .. } => push_value(raw, self.with_holes(text, *origin), false),
            Part::Glob { text, origin } => raw.push(whole(Piece::Glob(text.clone()), *origin)),
            Part::Tilde { user, origin } if user == "+" => push_value(raw, self.state.folder_value(*origin), false),
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
            "-" => Piece::Unknown(Why::NotEvaluated),
            user => Piece::Home(user.into()),
        }
    }

    fn raw_parameter(&mut self, parameter: &Parameter, quoted: bool, origin: Origin, raw: &mut Vec<Raw>) {
        if let Some(word) = self.replacement(parameter).filter(|_| !quoted) {
            return self.raw_operand(&word, raw);
        }
        let values = self.parameter(parameter, origin);
        let separate = !quoted || parameter.name == "@" || parameter.name.ends_with("[@]");
        if !separate && values.is_empty() {
            push_value(raw, Value::default(), false);
        }
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                let joint = self.separators().chars().take(1).collect();
                raw.push(if separate { Raw::Break } else { text_of(joint, origin) });
            }
            let value = self.spend(value);
            push_value(raw, value, !quoted);
        }
    }

    /// The word that stands for the parameter, if it does: the default of what is not set.
    fn replacement(&mut self, parameter: &Parameter) -> Option<Word> {
        let is_set = |this: &mut Self, of_empty: bool| {
            let set = this.lookup(&parameter.name, Origin::default());
            set.is_some_and(|values| counts_as_set(&values, of_empty))
        };
        match &parameter.operator {
            Operator::Default { of_empty, word } => (!is_set(self, *of_empty)).then(|| word.clone()),
            Operator::Alternative { of_empty: false, word } => is_set(self, false).then(|| word.clone()),
            Operator::Plain
            | Operator::Length
            | Operator::Indirect
            | Operator::Assign { .. }
            | Operator::Alternative { of_empty: true, .. }
            | Operator::Required(_)
            | Operator::Cut { .. }
            | Operator::Replace { .. }
            | Operator::Slice(_)
            | Operator::Upper
            | Operator::Lower
            | Operator::Other(_) => None,
        }
    }

    /// Outside of quotes, only what is quoted in the word itself is not split.
    fn raw_operand(&mut self, word: &Word, raw: &mut Vec<Raw>) {
        for part in &word.parts {
            if let Part::Text { text, quoted: false, origin } = part {
                push_value(raw, self.with_holes(text, *origin), true);
            } else {
                self.raw_part(part, raw);
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter, origin: Origin) -> Vec<Value> {
        let set = self.lookup(&parameter.name, origin);
        let unset = || vec![Value::piece(Piece::Variable(parameter.name.clone()), origin)];
        let unknown = |why| vec![Value::piece(Piece::Unknown(why), origin)];
        match &parameter.operator {
            Operator::Plain => set.unwrap_or_else(unset),
            Operator::Required(word) => {
                let _ = self.expand_whole(word);
                set.unwrap_or_else(unset)
            }
            Operator::Length => vec![length(&parameter.name, set, origin)],
            Operator::Default { of_empty, word } | Operator::Assign { of_empty, word } => {
                let fallback = self.expand_whole(word);
                let value = set.filter(|values| counts_as_set(values, *of_empty));
                if let (Operator::Assign { .. }, None) = (&parameter.operator, &value) {
                    self.state.assign(&parameter.name, vec![fallback.clone()]);
                }
                value.unwrap_or_else(|| vec![fallback])
            }
            Operator::Alternative { of_empty, word } => {
                let alternative = self.expand_whole(word);
                let set = set.filter(|values| counts_as_set(values, *of_empty));
                match set {
                    Some(values) if *of_empty && values.iter().all(|value| value.literal().is_none()) => {
                        unknown(Why::NotEvaluated)
                    }
                    Some(_) => vec![alternative],
                    None => Vec::new(),
                }
            }
            Operator::Indirect => match set.as_deref() {
                Some([value]) => match value.literal() {
                    Some(name) => self.lookup(&name, origin).unwrap_or_else(|| unknown(Why::NotEvaluated)),
                    None => unknown(Why::NotEvaluated),
                },
                _ => unknown(Why::NotEvaluated),
            },
            Operator::Slice(word) => {
                self.slice(&parameter.name, set, word).unwrap_or_else(|| unknown(Why::NotEvaluated))
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
            Operator::Other(word) => {
                let _ = self.expand_whole(word);
                unknown(Why::NotEvaluated)
            }
        }
    }

    fn map(&mut self, set: Option<Vec<Value>>, origin: Origin, change: impl Fn(&Value) -> Option<Value>) -> Vec<Value> {
        let unknown = || Value::piece(Piece::Unknown(Why::NotEvaluated), origin);
        match set {
            Some(values) => values.iter().map(|value| change(value).unwrap_or_else(unknown)).collect(),
            None => vec![unknown()],
        }
    }

    fn slice(&mut self, name: &str, set: Option<Vec<Value>>, word: &Word) -> Option<Vec<Value>> {
        let bounds = self.expand_whole(word).literal()?.into_owned();
        let (start, length) = bounds.split_once(':').map_or((bounds.as_str(), None), |(a, b)| (a, Some(b)));
        let start: i64 = start.trim().parse().ok()?;
        let length = length.map_or(Some(usize::MAX), |length| length.trim().parse().ok())?;
        let values = set?;
        if values.iter().any(|value| value.literal().is_none()) {
            // What is not known may stand for several.
            return None;
        }
        match name {
            // Parameters are counted from one.
            "@" | "*" if start > 0 => {
                return Some(values.into_iter().skip(start as usize - 1).take(length).collect());
            }
            "@" | "*" => return None,
            _ if is_list(name) => {
                let start = from_end(start, values.len());
                return Some(values.into_iter().skip(start).take(length).collect());
            }
            _ => {}
        }
        let [value] = values.as_slice() else { return None };
        let text = value.literal()?;
        let start = from_end(start, text.chars().count());
        Some(vec![Value::text(text.chars().skip(start).take(length).collect::<String>(), value.origin())])
    }

    /// The values of a parameter; `None` if the text does not set it.
    fn lookup(&mut self, name: &str, origin: Origin) -> Option<Vec<Value>> {
        let one = |piece| Some(vec![Value::piece(piece, origin)]);
        match name {
            "@" | "*" => return Some(self.state.parameters.iter().skip(1).cloned().collect()),
            "#" if self.state.counts_parameters() => {
                return one(Piece::Text((self.state.parameters.len() - 1).to_string()));
            }
            "#" | "?" | "$" | "!" => return one(number()),
            "-" => return one(Piece::Text(String::new())),
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let known = self.state.counts_parameters();
            let value = self.state.parameters.get(index).map(|value| vec![value.clone()]);
            return value.or(known.then(Vec::new));
        }
        let (bare, element) = name.split_once('[').unwrap_or((name, ""));
        if let Some(values) = self.state.variable(bare) {
            if is_list(name) {
                return Some(values.to_vec());
            }
            let index = element.trim_end_matches(']').parse().unwrap_or(0);
            return match values {
                // What differs between branches may have been a list.
                [value] if value.literal().is_none() => Some(values.to_vec()),
                values => Some(values.iter().skip(index).take(1).cloned().collect()),
            };
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

/// A place that may be counted from the end; before the first there is nothing.
fn from_end(place: i64, length: usize) -> usize {
    match usize::try_from(place) {
        Ok(place) => place,
        Err(_) => length.checked_sub(place.unsigned_abs() as usize).unwrap_or(usize::MAX),
    }
}

/// Whether the parameter stands for all elements of an array.
fn is_list(name: &str) -> bool {
    name.ends_with("[@]") || name.ends_with("[*]")
}

fn counts_as_set(values: &[Value], of_empty: bool) -> bool {
    if of_empty { !values.iter().all(is_empty) } else { !values.is_empty() }
}

fn is_empty(value: &Value) -> bool {
    value.literal().is_some_and(|text| text.is_empty())
}

/// `${#name}`: letters of a text, elements of a list.
fn length(name: &str, set: Option<Vec<Value>>, origin: Origin) -> Value {
    let counted = match set.as_deref() {
        Some(values) if is_list(name) => values.iter().all(|value| value.literal().is_some()).then_some(values.len()),
        // Shells differ in what they count of other letters.
        Some([value]) if !matches!(name, "@" | "*") => {
            value.literal().filter(|text| text.is_ascii()).map(|text| text.len())
        }
        _ => None,
    };
    counted.map_or_else(|| Value::piece(number(), origin), |count| Value::text(count.to_string(), origin))
}

fn text_of(text: String, origin: Origin) -> Raw {
    Raw::Piece { piece: Piece::Text(text), origin, splits: false }
}

fn push_value(raw: &mut Vec<Raw>, value: Value, splits: bool) {
    if value.pieces.is_empty() && !splits {
        // Quotes make a word even of nothing.
        raw.push(text_of(String::new(), Origin::default()));
    }
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

/// What would be split, where it is not known how.
fn unsplit(raw: Raw) -> Raw {
    match raw {
        Raw::Piece { piece: Piece::Text(_), origin, splits: true } => {
            Raw::Piece { piece: Piece::Unknown(Why::Branches), origin, splits: false }
        }
        Raw::Piece { .. } | Raw::Break => raw,
    }
}

/// Splits unquoted results at the separators and finds the patterns in them.
fn split(raw: Vec<Raw>, separators: &str) -> Vec<Value> {
    let mut fields = Fields::default();
    for raw in raw {
        match raw {
            Raw::Break => fields.end(),
            Raw::Piece { piece: Piece::Text(text), origin, splits: true } => fields.add(&text, origin, separators),
            Raw::Piece { piece: Piece::Text(text), .. } if text.is_empty() => _ = fields.begin(),
            Raw::Piece { piece: Piece::Text(text), origin, .. } => fields.begin().push_text(&text, origin),
            Raw::Piece { piece, origin, .. } => fields.begin().pieces.push((piece, origin)),
        }
    }
    fields.end();
    fields.words
}

/// The words that splitting has made so far.
#[derive(Default)]
struct Fields {
    words: Vec<Value>,
    word: Option<Value>,
    /// A blank ended the last word: another separator right behind it belongs to the same gap.
    after_blank: bool,
}

impl Fields {
    fn begin(&mut self) -> &mut Value {
        self.after_blank = false;
        self.word.get_or_insert_default()
    }

    fn end(&mut self) {
        self.words.extend(self.word.take());
        self.after_blank = false;
    }

    fn add(&mut self, text: &str, origin: Origin, separators: &str) {
        let mut rest = text;
        while let Some((at, separator)) = rest.char_indices().find(|(_, letter)| separators.contains(*letter)) {
            let (field, behind) = rest.split_at(at);
            self.add_field(field, origin);
            self.separate(separator);
            rest = behind.get(separator.len_utf8()..).unwrap_or("");
        }
        self.add_field(rest, origin);
    }

    fn add_field(&mut self, field: &str, origin: Origin) {
        if !field.is_empty() {
            push_patterns(field, origin, self.begin());
        }
    }

    /// Blanks only part words; each other separator ends one, even an empty one.
    fn separate(&mut self, separator: char) {
        let had_word = self.word.is_some();
        let is_blank = matches!(separator, ' ' | '\t' | '\n');
        if !had_word && !is_blank && !self.after_blank {
            self.words.push(Value::default());
        }
        let stays = self.after_blank && is_blank;
        self.end();
        self.after_blank = stays || (had_word && is_blank);
    }
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

/// `{1..5}`, `{a..e}`, `{9..1..2}`, `{01..10}`.
fn sequence(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    let [Part::Text { text, quoted: false, origin }] = parts else { return None };
    let (first, rest) = text.split_once("..")?;
    let (last, step) = rest.split_once("..").unwrap_or((rest, "1"));
    let step = step.parse::<i64>().ok()?.unsigned_abs().max(1);
    let part = |text: String| vec![Part::Text { text, quoted: false, origin: *origin }];
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
        return Some(steps(from, to, step).map(|number| part(format!("{number:0width$}"))).collect());
    }
    let one = |text: &str| text.bytes().next().filter(|letter| text.len() == 1 && letter.is_ascii_alphabetic());
    let (from, to) = (i64::from(one(first)?), i64::from(one(last)?));
    let letter = |code: i64| u8::try_from(code).map_or(String::new(), |code| char::from(code).to_string());
    Some(steps(from, to, step).map(|code| part(letter(code))).collect())
}

fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches('-');
    digits.len() > 1 && digits.starts_with('0')
}

/// From one end to the other, upwards or downwards; one more than is read at most.
fn steps(from: i64, to: i64, step: u64) -> impl Iterator<Item = i64> {
    let count = (from.abs_diff(to) / step).min(MAX_BRACE_WORDS as u64);
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    (0..=count as i64).map(move |index| {
        let distance = index.saturating_mul(step);
        if from <= to { from.saturating_add(distance) } else { from.saturating_sub(distance) }
    })
}
