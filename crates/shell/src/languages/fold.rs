//! Constant folding: the results of operators and functions for known values.

use super::datum::{ENVIRONMENT, MAX_ALTERNATIVES, ScriptValue, Text};
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::text_tools::quoting;
use crate::text_tools::quoting::is_plain;
use std::rc::Rc;

/// Maximum number of items of a list, and of repetitions of a text.
const MAX_ITEMS: i64 = 1024;

/// Concatenates each text on the left with each text on the right.
pub(super) fn product(left: &[Text], right: &[Text]) -> Vec<Text> {
    let mut all = Vec::new();
    for one in left {
        for other in right.iter().take(MAX_ALTERNATIVES / left.len().max(1) + 1) {
            let mut joined = one.clone();
            joined.push(other.clone());
            all.push(joined);
        }
    }
    all
}

/// Concatenates two texts, for all their alternatives.
pub(super) fn concat(left: &ScriptValue, right: &ScriptValue, origin: Origin) -> ScriptValue {
    let texts =
        |datum: &ScriptValue| -> Vec<Text> { datum.alternatives().iter().map(|one| one.text(origin)).collect() };
    let mut both = product(&texts(left), &texts(right));
    match both.len() {
        1 => ScriptValue::Text(both.swap_remove(0)),
        _ => ScriptValue::any(both.into_iter().map(ScriptValue::Text).collect()),
    }
}

/// `+`, and the operator that concatenates texts.
pub(super) fn add(left: &ScriptValue, right: &ScriptValue, origin: Origin) -> ScriptValue {
    match (left, right) {
        (ScriptValue::Number(one), ScriptValue::Number(other)) => ScriptValue::Number(one.wrapping_add(*other)),
        (ScriptValue::List(one), ScriptValue::List(other)) => {
            ScriptValue::list(one.iter().chain(other.iter()).take(MAX_ITEMS as usize).cloned().collect())
        }
        (ScriptValue::List(one), other) => {
            ScriptValue::list(one.iter().chain([other]).take(MAX_ITEMS as usize).cloned().collect())
        }
        _ => concat(left, right, origin),
    }
}

/// `"ab" * 2`, `[0] * 3`, `6 * 7`
pub(super) fn times(left: &ScriptValue, right: &ScriptValue, origin: Origin) -> ScriptValue {
    match (left, right) {
        (ScriptValue::Number(one), ScriptValue::Number(other)) => ScriptValue::Number(one.wrapping_mul(*other)),
        (ScriptValue::Text(text), count) | (count, ScriptValue::Text(text)) if count.number().is_some() => {
            let mut repeated = Text::default();
            for _ in 0..count.number().unwrap_or(0).clamp(0, MAX_ITEMS) {
                repeated.push(text.clone());
            }
            ScriptValue::Text(repeated)
        }
        (ScriptValue::List(items), ScriptValue::Number(count)) => {
            let count = items.len() * (*count).clamp(0, MAX_ITEMS) as usize;
            ScriptValue::list(items.iter().cycle().take(count.min(MAX_ITEMS as usize)).cloned().collect())
        }
        _ => ScriptValue::unknown(UnknownReason::Arithmetic, origin),
    }
}

/// `folder / "name"`
pub(super) fn path(left: &ScriptValue, right: &ScriptValue, origin: Origin) -> ScriptValue {
    match (left, right) {
        (ScriptValue::Number(one), ScriptValue::Number(other)) => {
            ScriptValue::Number(one.checked_div(*other).unwrap_or(0))
        }
        (ScriptValue::Text(_) | ScriptValue::Any(_), _) | (_, ScriptValue::Text(_)) => {
            let join = |one: &ScriptValue| right.each(|other| join_path(&[one.clone(), other.clone()], origin));
            left.each(join)
        }
        _ => ScriptValue::unknown(UnknownReason::Arithmetic, origin),
    }
}

/// Joins the parts of a path; an absolute part discards the parts before it.
pub(super) fn join_path(parts: &[ScriptValue], origin: Origin) -> ScriptValue {
    let mut path = Text::default();
    for part in parts {
        let text = part.text(origin);
        let absolute =
            text.value.prefix().starts_with('/') || matches!(text.value.pieces.first(), Some((Piece::Home(_), _)));
        if absolute {
            path.value = Value::default();
        } else if !path.value.pieces.is_empty() && !path.value.shown().ends_with('/') {
            path.value.push_text("/", origin);
        }
        path.push(text);
    }
    ScriptValue::Text(path)
}

/// `a or b`: either value, but only `b` if `a` is false or may be unset.
pub(super) fn or(left: &ScriptValue, right: ScriptValue) -> ScriptValue {
    let absent = match left {
        ScriptValue::Ternary(truth) => !truth,
        ScriptValue::Text(text) => {
            matches!(text.value.pieces.as_slice(), [(Piece::Variable(_) | Piece::Unknown(_), _)])
        }
        ScriptValue::Name(_) | ScriptValue::Any(_) => false,
        ScriptValue::Number(_)
        | ScriptValue::List(_)
        | ScriptValue::Map(_)
        | ScriptValue::Function(_)
        | ScriptValue::File(_) => false,
    };
    if absent { right } else { ScriptValue::any(vec![left.clone(), right]) }
}

pub(super) fn bits(sign: char, left: &ScriptValue, right: &ScriptValue) -> Option<ScriptValue> {
    let (ScriptValue::Number(one), ScriptValue::Number(other)) = (left, right) else { return None };
    let shift = u32::try_from(*other).ok();
    let number = match sign {
        '|' => one | other,
        '&' => one & other,
        '^' => one ^ other,
        '-' => one.wrapping_sub(*other),
        '<' => one.checked_shl(shift?)?,
        _ => one.checked_shr(shift?)?,
    };
    Some(ScriptValue::Number(number))
}

/// Returns the numbers of `range(begin, end, step)`.
pub(super) fn range(bounds: &[ScriptValue]) -> Option<ScriptValue> {
    let numbers: Option<Vec<i64>> = bounds.iter().map(ScriptValue::number).collect();
    let (begin, end, step) = match numbers?.as_slice() {
        [end] => (0, *end, 1),
        [begin, end] => (*begin, *end, 1),
        [begin, end, step] => (*begin, *end, *step),
        _ => return None,
    };
    let count = end.checked_sub(begin)?.checked_div(step)?;
    let is_exact = count.checked_mul(step)? == end - begin;
    let count = if is_exact { count } else { count + 1 };
    (count <= MAX_ITEMS)
        .then(|| ScriptValue::list((0..count.max(0)).map(|at| ScriptValue::Number(begin + at * step)).collect()))
}

/// Returns the characters of a text, if it is known.
pub(super) fn chars(datum: &ScriptValue, origin: Origin) -> Option<Vec<ScriptValue>> {
    let text = datum.literal().filter(|text| text.len() <= MAX_ITEMS as usize * 4)?;
    Some(text.chars().map(|ch| ScriptValue::from(Value::text(ch.to_string(), origin))).collect())
}

/// Whether a loop iterates over a text by lines, as over those of a file or of standard input. Code does not iterate
/// over a text of several lines by character.
pub(super) fn has_lines(value: &Value) -> bool {
    let is_line = |(piece, _): &(Piece, Origin)| piece.as_text().is_some_and(|text| text.contains('\n'));
    let is_known = |(piece, _): &(Piece, Origin)| !matches!(piece, Piece::Unknown(_) | Piece::Text(_));
    value.pieces.iter().any(is_line) || value.pieces.iter().any(is_known)
}

/// Returns the lines of a text without their terminators.
pub(super) fn lines(text: &Text) -> Vec<ScriptValue> {
    let lines = text.value.split(&['\n']).into_iter();
    lines.map(|value| ScriptValue::Text(Text { value, ..text.clone() })).collect()
}

/// Joins texts with a separator.
pub(super) fn joined(items: &[ScriptValue], between: &str, origin: Origin) -> Text {
    let mut text = Text::default();
    for (index, item) in items.iter().enumerate() {
        if index > 0 && !between.is_empty() {
            text.value.push_text(between, origin);
        }
        text.push(item.text(origin));
    }
    text
}

/// `"%s/x" % name`, `sprintf("%s/x", name)`.
pub(super) fn format_percent(left: &ScriptValue, right: &ScriptValue, origin: Origin) -> ScriptValue {
    if let (ScriptValue::Number(one), ScriptValue::Number(other)) = (left, right) {
        return ScriptValue::Number(one.checked_rem_euclid(*other).unwrap_or(0));
    }
    let single = [right.clone()];
    let arguments = right.items().unwrap_or(&single);
    let Some(format) = left.literal() else {
        return concat(left, right, origin);
    };
    let mut text = Text::default();
    let mut next = arguments.iter();
    let mut parts = format.split('%');
    text.value.push_text(parts.next().unwrap_or(""), origin);
    while let Some(part) = parts.next() {
        if part.is_empty() {
            text.value.push_text("%", origin);
            text.value.push_text(parts.next().unwrap_or(""), origin);
            continue;
        }
        let (key, part) = match part.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((key, rest)) => (Some(key), rest),
            None => (None, part),
        };
        let end = part.find(|ch: char| ch.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        let argument = match key {
            Some(key) => right.field(key).cloned(),
            None => next.next().cloned(),
        };
        let argument = argument.unwrap_or_else(|| ScriptValue::unknown(UnknownReason::NotEvaluated, origin));
        match (part.get(..end), argument.number()) {
            (Some("c"), Some(number)) => text.push(ch(number, origin)),
            _ => text.push(argument.text(origin)),
        }
        text.value.push_text(part.get(end..).unwrap_or(""), origin);
    }
    ScriptValue::Text(text)
}

/// `"{}/x{a}".format(name, a=1)`
pub(super) fn format_braces(
    format: &str,
    positional: &[ScriptValue],
    named: &[(String, ScriptValue)],
    origin: Origin,
) -> ScriptValue {
    let mut text = Text::default();
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.value.push_text(rest.get(..at).unwrap_or(""), origin);
        let here = rest.get(at..).unwrap_or("");
        if here.starts_with("{{") || here.starts_with("}}") {
            text.value.push_text(here.get(..1).unwrap_or(""), origin);
            rest = here.get(2..).unwrap_or("");
            continue;
        }
        let Some((field, after)) = here.strip_prefix('{').and_then(|inside| inside.split_once('}')) else {
            rest = here.get(1..).unwrap_or("");
            continue;
        };
        let name = field.split([':', '!', '.', '[']).next().unwrap_or("");
        let value = match name.parse::<usize>() {
            Ok(index) => positional.get(index),
            Err(_) if name.is_empty() => {
                next += 1;
                positional.get(next - 1)
            }
            Err(_) => named.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        };
        let unknown = ScriptValue::unknown(UnknownReason::NotEvaluated, origin);
        text.push(value.unwrap_or(&unknown).text(origin));
        rest = after;
    }
    text.value.push_text(rest, origin);
    ScriptValue::Text(text)
}

/// Returns the character with the given code point.
pub(super) fn ch(number: i64, origin: Origin) -> Text {
    let ch = u32::try_from(number).ok().and_then(char::from_u32);
    let value = match ch {
        Some(ch) => Value::text(ch.to_string(), origin),
        None => Value::piece(Piece::Unknown(UnknownReason::Arithmetic), origin),
    };
    Text { value, ..Text::default() }
}

/// Converts a text to a list of one value, with its wildcards as a glob for file names.
pub(super) fn glob(pattern: &ScriptValue, origin: Origin) -> ScriptValue {
    let text = pattern.text(origin);
    let mut value = Value::default();
    for (piece, origin) in text.value.pieces {
        let Some(text) = piece.as_text().filter(|text| text.contains(['*', '?', '['])) else {
            value.pieces.push((piece, origin));
            continue;
        };
        let at = text.find(['*', '?', '[']).unwrap_or(0);
        let folder = text.get(..at).and_then(|before| before.rfind('/')).map_or(0, |at| at + 1);
        if folder > 0 {
            value.push_text(text.get(..folder).unwrap_or(""), origin);
        }
        value.pieces.push((Piece::Glob(text.get(folder..).unwrap_or("").into()), origin));
    }
    ScriptValue::list(vec![value.into()])
}

/// Splits the mode and the path of `open(F, ">x")`.
pub(super) fn perl_mode(datum: Option<&ScriptValue>, origin: Origin) -> (String, ScriptValue) {
    let unknown = ScriptValue::unknown(UnknownReason::NotEvaluated, origin);
    let text = datum.unwrap_or(&unknown).text(origin);
    let prefix = text.value.prefix().into_owned();
    let body = prefix.trim_start();
    let marks = body.len() - body.trim_start_matches(['<', '>', '+', '|']).len();
    let mut mode = body.get(..marks).unwrap_or("").to_owned();
    let after = body.get(marks..).unwrap_or("");
    let skip = prefix.len() - body.len() + marks + (after.len() - after.trim_start().len());
    let mut value = text.value.without_prefix(skip);
    if let Some((Piece::Text(last), _)) = value.pieces.last_mut()
        && last.trim_end().ends_with('|')
    {
        *last = last.trim_end().trim_end_matches('|').to_owned();
        mode.push('|');
    }
    (if mode.is_empty() { "<".into() } else { mode }, ScriptValue::Text(Text { value, ..text }))
}

/// Returns an element or a slice.
pub(super) fn element(
    datum: &ScriptValue,
    key: &[Option<ScriptValue>],
    language: Language,
    origin: Origin,
) -> ScriptValue {
    if let [single] = key {
        let unknown = ScriptValue::unknown(UnknownReason::NotEvaluated, origin);
        return one_element(datum, single.as_ref().unwrap_or(&unknown), language, origin);
    }
    let numbers: Vec<Option<i64>> = key.iter().map(|part| part.as_ref().and_then(ScriptValue::number)).collect();
    datum.each(|one| {
        let chars = chars(one, origin);
        let Some(items) = one.items().or(chars.as_deref()) else {
            return ScriptValue::Text(Text {
                value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
                ..one.text(origin)
            });
        };
        let sliced = slice(items, &numbers);
        if let ScriptValue::Text(text) = one {
            return ScriptValue::Text(Text { value: joined(&sliced, "", origin).value, ..text.clone() });
        }
        ScriptValue::list(sliced)
    })
}

/// `[begin:end:step]`
pub(super) fn slice(items: &[ScriptValue], numbers: &[Option<i64>]) -> Vec<ScriptValue> {
    let length = items.len() as i64;
    let place = |number: i64| if number < 0 { (number + length).max(0) } else { number.min(length) } as usize;
    let step = numbers.get(2).copied().flatten().unwrap_or(1);
    let (begin, end) = (numbers.first().copied().flatten(), numbers.get(1).copied().flatten());
    if step < 0 {
        let begin = begin.map_or(items.len(), |begin| (place(begin) + 1).min(items.len()));
        let end = end.map_or(0, |end| place(end) + 1);
        let part = items.get(end..begin).unwrap_or(&[]);
        return part.iter().rev().step_by(step.unsigned_abs() as usize).cloned().collect();
    }
    let part = items.get(begin.map_or(0, place)..end.map_or(items.len(), place)).unwrap_or(&[]);
    part.iter().step_by(step.max(1) as usize).cloned().collect()
}

fn one_element(datum: &ScriptValue, key: &ScriptValue, language: Language, origin: Origin) -> ScriptValue {
    datum.each(|one| match one {
        ScriptValue::Name(name) => match key.literal() {
            Some(key) => ScriptValue::name(format!("{name}.{key}").trim_start_matches('.')),
            // Any variable: `os.environ[name]` in a loop over all names.
            None if **name == *ENVIRONMENT => ScriptValue::Text(Text {
                value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
                ..key.text(origin)
            }),
            None => ScriptValue::unknown(UnknownReason::NotEvaluated, origin),
        },
        ScriptValue::Map(fields) => match key.literal() {
            Some(key) => {
                one.field(&key).cloned().unwrap_or_else(|| ScriptValue::unknown(UnknownReason::NotEvaluated, origin))
            }
            None => ScriptValue::any(fields.iter().map(|(_, value)| value.clone()).collect()),
        },
        ScriptValue::List(items) => {
            let first = if language == Language::Lua { 1 } else { 0 };
            match key.number() {
                Some(number) => {
                    let at = if number < 0 { number + items.len() as i64 } else { number - first };
                    let item = usize::try_from(at).ok().and_then(|at| items.get(at));
                    item.cloned().unwrap_or(ScriptValue::Ternary(false))
                }
                // A list of Perl is also a map: keys and values alternate.
                None => {
                    let is_key = |item: &ScriptValue| {
                        matches!(item, ScriptValue::Name(name) if Some(&**name) == key.literal().as_deref())
                            || (item.literal().is_some() && item.literal() == key.literal())
                    };
                    let found = items.iter().step_by(2).position(is_key).and_then(|at| items.get(2 * at + 1));
                    found.cloned().unwrap_or_else(|| ScriptValue::any(items.to_vec()))
                }
            }
        }
        ScriptValue::Text(text) => match (key.number(), chars(one, origin)) {
            (Some(number), Some(chars)) => {
                let at = if number < 0 { number + chars.len() as i64 } else { number };
                let ch = usize::try_from(at).ok().and_then(|at| chars.get(at)).cloned();
                ch.unwrap_or_else(|| ScriptValue::unknown(UnknownReason::NotEvaluated, origin))
            }
            _ => ScriptValue::Text(Text {
                value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
                ..text.clone()
            }),
        },
        ScriptValue::Number(_)
        | ScriptValue::Ternary(_)
        | ScriptValue::Any(_)
        | ScriptValue::Function(_)
        | ScriptValue::File(_) => ScriptValue::unknown(UnknownReason::NotEvaluated, origin),
    })
}

/// Groups the items at the same index of several lists.
pub(super) fn zip(lists: &[ScriptValue], origin: Origin) -> Option<ScriptValue> {
    let lists: Option<Vec<Vec<ScriptValue>>> =
        lists.iter().map(|list| list.items().map(<[ScriptValue]>::to_vec).or_else(|| chars(list, origin))).collect();
    let lists = lists?;
    let shortest = lists.iter().map(Vec::len).min()?;
    let row = |at: usize| ScriptValue::list(lists.iter().filter_map(|list| list.get(at)).cloned().collect());
    Some(ScriptValue::list((0..shortest).map(row).collect()))
}

/// Quotes a text so that a shell reads it as one literal word.
pub(super) fn quoted(datum: &ScriptValue, origin: Origin) -> ScriptValue {
    match datum.literal() {
        Some(text) if is_plain(&text) => datum.clone(),
        Some(text) => Value::text(quoting::quoted(&text), origin).into(),
        // The quotes keep an unknown value a single word.
        None => {
            let mut text = Text::default();
            text.value.push_text("\"", origin);
            text.push(datum.text(origin));
            text.value.push_text("\"", origin);
            ScriptValue::Text(text)
        }
    }
}

/// Changes a known text; its sources are kept.
pub(super) fn change(datum: &ScriptValue, origin: Origin, change: impl Fn(&str) -> Option<String>) -> ScriptValue {
    datum.each(|one| {
        let mut text = one.text(origin);
        let literal = text.value.literal().map(|text| text.into_owned());
        text.value = match literal.as_deref().and_then(&change) {
            Some(changed) => Value::text(changed, text.value.origin()),
            None => Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
        };
        ScriptValue::Text(text)
    })
}

/// Decodes `%41` and `+`.
pub(super) fn url(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn rotate13(text: &str) -> String {
    let rotate = |ch: char, first: u8| char::from((ch as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|ch| match ch {
            'a'..='z' => rotate(ch, b'a'),
            'A'..='Z' => rotate(ch, b'A'),
            other => other,
        })
        .collect()
}

/// The part of each entry of a map.
#[derive(Debug, Clone, Copy)]
pub(super) enum MapPart {
    Keys,
    Values,
    Pairs,
}

/// Returns the keys of a map, its values, or both.
pub(super) fn fields(fields: &Rc<Vec<(String, ScriptValue)>>, part: MapPart, origin: Origin) -> ScriptValue {
    let key = |name: &str| ScriptValue::from(Value::text(name, origin));
    ScriptValue::list(
        fields
            .iter()
            .map(|(name, value)| match part {
                MapPart::Keys => key(name),
                MapPart::Values => value.clone(),
                MapPart::Pairs => ScriptValue::list(vec![key(name), value.clone()]),
            })
            .collect(),
    )
}
