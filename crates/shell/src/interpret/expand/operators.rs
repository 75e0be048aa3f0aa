//! The operators of `${…}` on known texts.

use super::fields::number;
use crate::model::value::{Origin, Value};
use crate::syntax::tree::{LetterCase, Which};
use crate::text_tools::patterns::Pattern;

/// Maximum length in characters of a text in which patterns are matched; one sixteenth of it for replacements.
const MAX_LETTERS: usize = 8192;

/// Converts an index that may be counted from the end; one before the start becomes out of range.
pub(super) fn from_end(place: i64, length: usize) -> usize {
    match usize::try_from(place) {
        Ok(place) => place,
        Err(_) => length.checked_sub(place.unsigned_abs() as usize).unwrap_or(usize::MAX),
    }
}

/// `${#name}`: the number of characters in a text, or of elements in an array.
pub(super) fn length(name: &str, set: Option<Vec<Value>>, origin: Origin) -> Value {
    let counted = match set.as_deref() {
        Some(values) if is_list(name) => values.iter().all(|value| value.literal().is_some()).then_some(values.len()),
        Some(values) if matches!(name, "@" | "*") => {
            values.iter().all(|value| value.literal().is_some()).then_some(values.len())
        }
        Some([]) => Some(0),
        // Shells differ in how they count non-ASCII characters.
        Some([value]) => value.literal().filter(|text| text.is_ascii()).map(|text| text.len()),
        Some(_) | None => None,
    };
    counted.map_or_else(|| Value::piece(number(), origin), |count| Value::text(count.to_string(), origin))
}

/// The case operators `^`, `^^`, `,`, `,,`.
pub(super) fn change_case(value: &Value, to: LetterCase, first: bool) -> Option<Value> {
    let text = value.literal()?;
    let turn = |ch: char| match ch.is_uppercase() {
        true => ch.to_lowercase().to_string(),
        false => ch.to_uppercase().to_string(),
    };
    let change = |text: &str| match to {
        LetterCase::Upper => text.to_uppercase(),
        LetterCase::Lower => text.to_lowercase(),
        LetterCase::Turned => text.chars().map(turn).collect(),
    };
    let changed = match text.chars().next().filter(|_| first) {
        Some(ch) => {
            let (front, back) = text.split_at(ch.len_utf8());
            change(front) + back
        }
        None => change(&text),
    };
    Some(Value::text(changed, value.origin()))
}

/// `@Q`, for texts that need no escapes.
pub(super) fn quoted(value: &Value) -> Option<Value> {
    let text = value.literal().filter(|text| !text.contains(|ch: char| ch == '\'' || ch.is_control()))?;
    Some(Value::text(format!("'{text}'"), value.origin()))
}

/// `${name/pattern/with}` and its variants.
pub(super) fn replace(value: &Value, pattern: &Pattern, with: &Value, which: Which) -> Option<Value> {
    let (text, with) = (value.literal()?, with.literal()?);
    let replaced = match (which, pattern.text()) {
        (_, Some(fixed)) if fixed.is_empty() => match which {
            Which::Front => format!("{with}{text}"),
            Which::Back => format!("{text}{with}"),
            Which::First | Which::All => text.into_owned(),
        },
        (Which::All, Some(fixed)) => text.replace(&fixed, &with),
        (Which::First, Some(fixed)) => text.replacen(&fixed, &with, 1),
        _ if with.contains('&') => return None,
        _ => replaced(&text.chars().collect::<Vec<char>>(), pattern, &with, which)?,
    };
    // Newer shells replace `&` with the matched text.
    (!with.contains('&')).then(|| Value::text(replaced, value.origin()))
}

fn replaced(chars: &[char], pattern: &Pattern, with: &str, which: Which) -> Option<String> {
    if chars.len() > MAX_LETTERS / 16 {
        return None;
    }
    let mut text = String::new();
    let mut at = 0;
    if which == Which::Back {
        let start = pattern.back(chars, true);
        text.extend(chars.get(..start.unwrap_or(chars.len()))?);
        text.push_str(if start.is_some() { with } else { "" });
        return (!pattern.is_exhausted()).then_some(text);
    }
    while at < chars.len() {
        if pattern.is_exhausted() {
            return None;
        }
        let rest = chars.get(at..)?;
        match pattern.front(rest, true).filter(|length| *length > 0) {
            Some(length) => {
                text.push_str(with);
                at += length;
                if which != Which::All {
                    break;
                }
            }
            None if which == Which::Front => break,
            None => {
                text.extend(rest.first());
                at += 1;
            }
        }
    }
    text.extend(chars.get(at..)?);
    (!pattern.is_exhausted()).then_some(text)
}

/// `${name%pattern}` and its variants.
pub(super) fn cut(value: &Value, pattern: &Pattern, front: bool, longest: bool) -> Option<Value> {
    let text = value.literal()?;
    if let Some(fixed) = pattern.text() {
        let kept = if front { text.strip_prefix(fixed.as_str()) } else { text.strip_suffix(fixed.as_str()) };
        return Some(Value::text(kept.unwrap_or(&text), value.origin()));
    }
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > MAX_LETTERS {
        return None;
    }
    let kept = if front {
        chars.get(pattern.front(&chars, longest).unwrap_or(0)..)
    } else {
        chars.get(..pattern.back(&chars, longest).unwrap_or(chars.len()))
    };
    let kept = kept?.iter().collect::<String>();
    (!pattern.is_exhausted()).then(|| Value::text(kept, value.origin()))
}

/// Whether the name refers to all elements of an array.
pub(super) fn is_list(name: &str) -> bool {
    name.ends_with("[@]") || name.ends_with("[*]")
}
