//! Operators and casts, applied to known values.

use super::reader::Reader;
use super::scan;
use super::strings::as_block;
use crate::model::value::{Origin, Piece, UnknownReason, Value};

/// Precedence of a single operand: commas bind more tightly than all other operators.
pub(super) const ABOVE_COMMA: u8 = 7;

/// Maximum length of a string in bytes, and of a list in items.
const MAX_BYTES: usize = 1 << 16;

/// A binary operator.
pub(super) struct Operator {
    /// The name in lower case: `+`, `-join`.
    name: String,
    /// Precedence; a higher level binds more tightly.
    pub(super) level: u8,
    /// Length in bytes.
    pub(super) length: usize,
}

/// Returns the operator at the start of a text.
pub(super) fn at(rest: &str) -> Option<Operator> {
    let first = rest.chars().next()?;
    let of = |name: &str, level| Some(Operator { name: name.into(), level, length: name.len() });
    let dash = scan::plain(first) == '-';
    let second = rest.chars().nth(1);
    if dash && second.is_some_and(|ch| ch.is_ascii_alphabetic()) {
        let word: String = rest.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
        let length = first.len_utf8() + word.len();
        let name = word.to_ascii_lowercase();
        return level(&name).map(|level| Operator { name, level, length });
    }
    match first {
        ',' => of(",", 6),
        '.' if rest.starts_with("..") => of("..", 5),
        '*' if !rest.starts_with("*=") => of("*", 3),
        '/' if !rest.starts_with("/=") => of("/", 3),
        '%' if !rest.starts_with("%=") => of("%", 3),
        '+' if !rest.starts_with("+=") => of("+", 2),
        _ if dash && !rest.starts_with("-=") => Some(Operator { name: "-".into(), level: 2, length: first.len_utf8() }),
        _ => None,
    }
}

fn level(name: &str) -> Option<u8> {
    const COMPARISONS: [&str; 22] = [
        "eq",
        "ne",
        "gt",
        "ge",
        "lt",
        "le",
        "like",
        "notlike",
        "match",
        "notmatch",
        "contains",
        "notcontains",
        "in",
        "notin",
        "replace",
        "split",
        "join",
        "is",
        "isnot",
        "as",
        "shl",
        "shr",
    ];
    match name {
        "f" => Some(4),
        "and" | "or" | "xor" | "band" | "bor" | "bxor" => Some(0),
        _ => {
            let plain = name.strip_prefix(['c', 'i']).filter(|plain| COMPARISONS.contains(plain)).unwrap_or(name);
            COMPARISONS.contains(&plain).then_some(1)
        }
    }
}

/// Parses an integer, decimal or hexadecimal.
pub(super) fn number(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let parsed = match lower.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => lower.parse(),
    };
    parsed.ok()
}

fn number_of(value: &Value) -> Option<i64> {
    number(value.literal()?.trim())
}

pub(super) fn negative(value: &Value, origin: Origin) -> Value {
    match number_of(value) {
        Some(number) => Value::text(number.saturating_neg().to_string(), origin),
        None => Value::piece(Piece::Unknown(UnknownReason::Arithmetic), origin),
    }
}

/// Returns the characters of a known text.
pub(super) fn chars(value: &Value) -> Option<Vec<Value>> {
    let text = value.literal()?;
    let origin = value.origin();
    (text.len() <= MAX_BYTES && !text.starts_with('-'))
        .then(|| text.chars().map(|ch| Value::text(ch, origin)).collect())
}

/// Returns the element at an index, which may count from the end, or the entry of a key.
pub(super) fn element(elements: &[Value], index: &Value) -> Option<Value> {
    let Some(number) = number_of(index) else { return entry(elements, &index.literal()?) };
    let at = if number < 0 { elements.len().checked_sub(number.unsigned_abs() as usize)? } else { number as usize };
    elements.get(at).cloned()
}

/// Returns the value of a key in a table.
pub(super) fn entry(entries: &[Value], key: &str) -> Option<Value> {
    let name = format!("-{key}:").to_lowercase();
    let found = entries.iter().rev().find(|entry| entry.prefix().to_lowercase().starts_with(&name))?;
    Some(found.without_prefix(name.len()))
}

impl<'a> Reader<'_, '_, 'a> {
    /// Returns the result of an operator, as far as its operands are known.
    pub(super) fn operate(
        &mut self,
        operator: &Operator,
        mut left: Vec<Value>,
        right: Vec<Value>,
        origin: Origin,
    ) -> Vec<Value> {
        let unknown = || vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)];
        let name = operator.name.strip_prefix(['c', 'i']).filter(|name| ["replace", "split", "join"].contains(name));
        match name.unwrap_or(&operator.name) {
            "," => {
                left.extend(right);
                left
            }
            "+" => self.sum(left, right, origin),
            "*" => self.repeated(&left, &right, origin).unwrap_or_else(unknown),
            ".." => range(&left, &right, origin).unwrap_or_else(unknown),
            "-" | "/" | "%" => arithmetic(&operator.name, &left, &right, origin).unwrap_or_else(unknown),
            "join" => {
                let between = right.first().and_then(Value::literal).unwrap_or_default().into_owned();
                vec![self.joined(&left, &between, origin)]
            }
            "f" => self.formatted(&left, &right, origin).unwrap_or_else(unknown),
            "replace" => self.replaced(&left, &right, origin).unwrap_or_else(unknown),
            "split" => split(&left, &right).unwrap_or_else(unknown),
            "as" => left,
            _ => vec![Value::piece(Piece::Unknown(UnknownReason::Branches), origin)],
        }
    }

    /// Adds numbers; concatenates lists and texts.
    pub(super) fn sum(&mut self, left: Vec<Value>, right: Vec<Value>, origin: Origin) -> Vec<Value> {
        match (left.as_slice(), right.as_slice()) {
            ([one], [other]) => {
                if let (Some(one), Some(other)) = (number_of(one), number_of(other)) {
                    return vec![Value::text(one.saturating_add(other).to_string(), origin)];
                }
                let parts = [one.clone(), other.clone()];
                vec![self.joined(&parts, "", origin)]
            }
            _ => [left, right].concat(),
        }
    }

    /// Joins all values with a separator.
    pub(super) fn joined(&mut self, values: &[Value], between: &str, origin: Origin) -> Value {
        let known: Option<Vec<_>> = values.iter().map(Value::literal).collect();
        if let Some(known) = known {
            return self.derived("joined text", known.join(between), origin);
        }
        let mut joined = Value::default();
        for (index, value) in values.iter().enumerate() {
            if index > 0 && !between.is_empty() {
                joined.push_text(between, origin);
            }
            joined.push(value.clone());
        }
        self.on.spend(joined)
    }

    fn repeated(&mut self, left: &[Value], right: &[Value], origin: Origin) -> Option<Vec<Value>> {
        let count = usize::try_from(number_of(right.first()?)?).ok()?;
        let [one] = left else {
            let repeated = || std::iter::repeat_n(left, count).flatten().cloned().collect();
            return (left.len().saturating_mul(count) <= MAX_BYTES).then(repeated);
        };
        if let Some(number) = number_of(one) {
            return Some(vec![Value::text(number.saturating_mul(count as i64).to_string(), origin)]);
        }
        let text = one.literal()?;
        (text.len().saturating_mul(count) <= MAX_BYTES)
            .then(|| vec![self.derived("repeated text", text.repeat(count), origin)])
    }

    /// `"{1}{0}" -f 'a','b'`
    pub(super) fn formatted(&mut self, left: &[Value], right: &[Value], origin: Origin) -> Option<Vec<Value>> {
        let format = left.first()?.literal()?.into_owned();
        let mut value = Value::default();
        let mut rest = format.as_str();
        while let Some(open) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(open);
            value.push_text(before, origin);
            if from.starts_with("{{") || from.starts_with("}}") {
                value.push_text(from.get(..1)?, origin);
                rest = from.get(2..)?;
                continue;
            }
            let end = from.find('}')?;
            let index = from.get(1..end)?.split([':', ',']).next()?.trim();
            value.push(right.get(index.parse::<usize>().ok()?)?.clone());
            rest = from.get(end + 1..)?;
        }
        value.push_text(rest, origin);
        Some(vec![match value.literal() {
            Some(text) => self.derived("formatted text", text.into_owned(), origin),
            None => self.on.spend(value),
        }])
    }

    /// Evaluates `-replace` with a pattern that matches only itself.
    fn replaced(&mut self, left: &[Value], right: &[Value], origin: Origin) -> Option<Vec<Value>> {
        let pattern = plain_pattern(&right.first()?.literal()?)?;
        let with = right.get(1).and_then(Value::literal).unwrap_or_default().into_owned();
        if with.contains('$') {
            return None;
        }
        let replace = |value: &Value| Some(replace_any_case(&value.literal()?, &pattern, &with));
        let texts = left.iter().map(replace).collect::<Option<Vec<_>>>()?;
        Some(texts.into_iter().map(|text| self.derived("replaced text", text, origin)).collect())
    }

    /// `[type]value`
    pub(super) fn cast(&mut self, name: &str, values: Vec<Value>, origin: Origin) -> Vec<Value> {
        match Self::type_of(name).as_str() {
            "char" | "char[]" => {
                let ch = |value: &Value| match number_of(value) {
                    Some(code) => {
                        let ch = u32::try_from(code).ok().and_then(char::from_u32)?;
                        Some(vec![Value::text(ch, value.origin())])
                    }
                    None => chars(value),
                };
                let found: Option<Vec<Vec<Value>>> = values.iter().map(ch).collect();
                found.map_or_else(
                    || vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)],
                    |all| all.concat(),
                )
            }
            "int" | "int32" | "int64" | "byte" | "long" | "uint32" | "double" => {
                let code = |value: Value| match (value.literal().as_deref(), number_of(&value)) {
                    (_, Some(number)) => Value::text(number.to_string(), origin),
                    (Some(text), None) if text.chars().count() == 1 => {
                        Value::text(text.chars().next().map_or(0, u32::from).to_string(), origin)
                    }
                    _ => value.clone(),
                };
                values.into_iter().map(code).collect()
            }
            "string" if values.len() > 1 => vec![self.joined(&values, " ", origin)],
            "scriptblock" => values.iter().map(as_block).collect(),
            _ => values,
        }
    }
}

fn range(left: &[Value], right: &[Value], origin: Origin) -> Option<Vec<Value>> {
    let (from, to) = (number_of(left.first()?)?, number_of(right.first()?)?);
    if from.abs_diff(to) > 4096 {
        return None;
    }
    let text = |number: i64| Value::text(number.to_string(), origin);
    Some(if from <= to { (from..=to).map(text).collect() } else { (to..=from).rev().map(text).collect() })
}

fn arithmetic(name: &str, left: &[Value], right: &[Value], origin: Origin) -> Option<Vec<Value>> {
    let (one, other) = (number_of(left.first()?)?, number_of(right.first()?)?);
    let result = match name {
        "-" => one.checked_sub(other)?,
        "/" if other != 0 && one % other == 0 => one.checked_div(other)?,
        "%" => one.checked_rem(other)?,
        _ => return None,
    };
    Some(vec![Value::text(result.to_string(), origin)])
}

fn split(left: &[Value], right: &[Value]) -> Option<Vec<Value>> {
    let pattern = right.first()?.literal()?;
    // `-split '[,;]'`: any of these characters.
    let set = pattern.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    let chars: Vec<char> = match set.filter(|set| !set.contains(['\\', '-', '^'])) {
        Some(set) => set.chars().collect(),
        None => Vec::new(),
    };
    let plain = if chars.is_empty() { plain_pattern(&pattern)? } else { String::new() };
    let mut parts = Vec::new();
    for value in left {
        let text = value.literal()?;
        let origin = value.origin();
        let found: Vec<&str> = if chars.is_empty() {
            text.split(plain.as_str()).collect()
        } else {
            text.split(chars.as_slice()).collect()
        };
        parts.extend(found.into_iter().map(|part| Value::text(part, origin)));
    }
    Some(parts)
}

/// Returns the text that a regular expression matches, if it matches only one.
fn plain_pattern(pattern: &str) -> Option<String> {
    let mut plain = String::new();
    let mut chars = pattern.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => plain.push(chars.next().filter(|ch| !ch.is_alphanumeric())?),
            '.' | '*' | '+' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '^' | '$' | '|' => return None,
            ch => plain.push(ch),
        }
    }
    (!plain.is_empty()).then_some(plain)
}

fn replace_any_case(text: &str, pattern: &str, with: &str) -> String {
    let (lower, wanted) = (text.to_ascii_lowercase(), pattern.to_ascii_lowercase());
    let mut replaced = String::new();
    let mut at = 0;
    for (found, _) in lower.match_indices(&wanted) {
        replaced.push_str(text.get(at..found).unwrap_or(""));
        replaced.push_str(with);
        at = found + wanted.len();
        if replaced.len() > MAX_BYTES {
            break;
        }
    }
    replaced.push_str(text.get(at..).unwrap_or(""));
    replaced
}
