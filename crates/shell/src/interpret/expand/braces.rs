//! Brace expressions: `{a,b}`, `{1..5}`.

use crate::model::value::Origin;
use crate::syntax::names::is_name;
use crate::syntax::tree::{Element, Operator, Parameter, Part};
use std::rc::Rc;

/// Maximum number of words from one brace expression; more are a gap.
pub(super) const MAX_BRACE_WORDS: usize = 2048;

/// Maximum number of brace expressions in one word; more are a gap.
pub(super) const MAX_BRACES: usize = 16;

/// Returns the alternatives of a word with braces. Braces without a comma or a range are left unchanged.
pub(super) fn braces(parts: &[Part]) -> Vec<Vec<Part>> {
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

/// Returns the first brace expression: the parts before it, its alternatives, and the parts after it.
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

/// Parses `{1..5}`, `{a..e}`, `{9..1..2}`, `{01..10}`.
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
    let one = |text: &str| text.bytes().next().filter(|ch| text.len() == 1 && ch.is_ascii_alphabetic());
    let (from, to) = (i64::from(one(first)?), i64::from(one(last)?));
    let ch = |code: i64| u8::try_from(code).map_or(String::new(), |code| char::from(code).to_string());
    Some(steps(from, to, step).map(|code| part(ch(code))).collect())
}

fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches('-');
    digits.len() > 1 && digits.starts_with('0')
}

/// Returns the steps from one end to the other, upwards or downwards; at most one more than the limit.
fn steps(from: i64, to: i64, step: u64) -> impl Iterator<Item = i64> {
    let count = (from.abs_diff(to) / step).min(MAX_BRACE_WORDS as u64);
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    (0..=count as i64).map(move |index| {
        let distance = index.saturating_mul(step);
        if from <= to { from.saturating_add(distance) } else { from.saturating_sub(distance) }
    })
}

/// `$a{1,2}` is `$a1 $a2`: characters that braces append to a bare name belong to the name.
pub(super) fn grown(parts: Vec<Part>) -> Vec<Part> {
    let mut grown: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        let bare = match grown.last() {
            Some(Part::Parameter { parameter, quoted: false, origin })
                if parameter.bare && is_name(&parameter.name) =>
            {
                Some((parameter.name.clone(), *origin))
            }
            _ => None,
        };
        let (Some((name, before)), Part::Text { text, quoted: false, origin }) = (bare, &part) else {
            grown.push(part);
            continue;
        };
        let more = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (more, rest) = text.split_at(more);
        grown.pop();
        let parameter = Parameter { name: name + more, element: Element::None, operator: Operator::Plain, bare: true };
        let place = Origin { span: before.span.join(origin.span), ..before };
        grown.push(Part::Parameter { parameter: Rc::new(parameter), quoted: false, origin: place });
        if !rest.is_empty() {
            grown.push(Part::Text { text: rest.into(), quoted: false, origin: *origin });
        }
    }
    grown
}
