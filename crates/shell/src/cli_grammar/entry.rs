//! Entries of a grammar: the conditions under which they apply, and the parts of values that they select.

use super::invocation::Invocation;
use crate::model::value::Value;
use reflex_tables::views::{Conditions, Narrowing};

/// Whether an entry with these conditions applies: one of `when`, all of `and` and none of `unless` is given.
pub fn applies(conditions: Conditions<'static>, invocation: &Invocation) -> bool {
    conditions.hold(|key| invocation.has_option(key))
}

/// Narrows values to the parts that an entry selects: `each-line` splits them into lines; `containing` keeps those that
/// contain this text; `starting` keeps those that start with one of these texts, and strips it; `after` keeps the part
/// after one of them; `quoted` keeps the quoted texts after them; `after-last` strips everything up to the last
/// occurrence; `lacking` drops those that contain a text; `divided` splits the rest at each of these characters. With
/// `any-case`, matching ignores ASCII case.
pub fn narrow(parts: Narrowing<'static>, values: &mut Vec<Value>) {
    if parts.each_line() {
        let lines = values.iter().flat_map(|value| value.split(&['\n']));
        *values = lines.map(|line| line.without_prefix(blanks(&line.prefix()))).collect();
    }
    let any_case = parts.any_case();
    let find = |text: &str, wanted: &str| match any_case {
        true => text.to_ascii_lowercase().find(&wanted.to_ascii_lowercase()),
        false => text.find(wanted),
    };
    let containing = parts.containing();
    if !containing.is_empty() {
        values.retain(|value| value.prefix().contains(containing));
    }
    let starting = parts.starting();
    if !starting.is_absent() {
        let cut = |value: &Value| {
            let prefix = value.prefix();
            let start = starting.iter().find(|start| find(&prefix, start) == Some(0))?;
            Some(value.without_prefix(start.len()))
        };
        *values = values.iter().filter_map(cut).collect();
    }
    let lacking = parts.lacking();
    if !lacking.is_empty() {
        values.retain(|value| !value.shown().contains(lacking));
    }
    let after_last = parts.after_last();
    if !after_last.is_empty() {
        let cut =
            |value: &Value| value.prefix().rfind(after_last).map(|at| value.without_prefix(at + after_last.len()));
        values.iter_mut().for_each(|value| *value = cut(value).unwrap_or_else(|| value.clone()));
    }
    if !parts.behind().is_absent() {
        narrow_after(parts, values, &find);
    }
    let divided = parts.divided();
    if !divided.is_empty() {
        let chars: Vec<char> = divided.chars().collect();
        *values = values.iter().flat_map(|value| value.split(&chars)).collect();
    }
}

/// Narrows values to the parts that follow one of the entry's texts.
fn narrow_after(parts: Narrowing<'static>, values: &mut Vec<Value>, find: &dyn Fn(&str, &str) -> Option<usize>) {
    let after = parts.behind();
    let cut =
        |value: &Value, wanted: &str| find(&value.prefix(), wanted).map(|at| value.without_prefix(at + wanted.len()));
    let quotes_words = parts.quoted_words();
    let every = quotes_words || parts.quoted();
    *values = values
        .iter()
        .flat_map(|value| {
            after
                .iter()
                .flat_map(|wanted| {
                    let mut found: Vec<Value> = cut(value, wanted).into_iter().collect();
                    while let Some(next) =
                        found.last().filter(|_| every && found.len() < MAX_QUOTED).and_then(|last| cut(last, wanted))
                    {
                        found.push(next);
                    }
                    found
                })
                .collect::<Vec<_>>()
        })
        .collect();
    if quotes_words {
        *values = values.iter().filter_map(quoted_words).collect();
    } else if every {
        *values = values.iter().filter_map(quoted).collect();
    }
}

/// Maximum number of quoted texts read from one value.
const MAX_QUOTED: usize = 64;

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Joins the quoted texts of one call to the words of one command: `cmd("rm", ["-r", "x"])` is `rm -r x`.
fn quoted_words(value: &Value) -> Option<Value> {
    let prefix = value.prefix();
    let mut rest = prefix.as_ref();
    let mut text = String::new();
    for _ in 0..MAX_QUOTED {
        let end = rest.find([';', '\n', '|']).unwrap_or(rest.len());
        let Some(start) = rest.find(['"', '\'']).filter(|start| *start < end) else { break };
        let next = quoted(&Value::text(rest.get(start..)?, value.origin()))?;
        let word = next.literal()?.into_owned();
        let blank = if text.is_empty() { "" } else { " '" };
        text.push_str(blank);
        // Each quoted text is one word of the command.
        text.push_str(&word.replace('\'', ""));
        text.push_str(if blank.is_empty() { "" } else { "'" });
        rest = rest.get(start + 2 + word.len()..).unwrap_or("");
    }
    (!text.is_empty()).then(|| Value::text(text, value.origin()))
}

/// Returns the first quoted text of the value with its unknown pieces; an unterminated one extends to the end.
fn quoted(value: &Value) -> Option<Value> {
    let prefix = value.prefix();
    let start = prefix.find(['"', '\'', '`'])?;
    let quote = prefix.get(start..)?.chars().next()?;
    let mut text = String::new();
    let mut chars = prefix.get(start + 1..)?.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => text.extend(chars.next()),
            ch if ch == quote => return Some(Value::text(text, value.origin())),
            ch => text.push(ch),
        }
    }
    value.without_prefix(start + 1).split(&[quote]).into_iter().next()
}
