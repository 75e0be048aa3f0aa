//! Selectors: the words of an invocation that an entry of a grammar refers to.

use super::find;
use super::invocation::Invocation;
use super::program::Style;
use crate::model::value::{Origin, Piece, Value};
use reflex_work as work;

/// A selector of words: `operands`, `operands[1..]`, `operands[..-1]`, `operands[0]`, `last`, `last-word`, `dashed`
/// (operands after `--`, or all without it), `paths`, `roots`, `found`, `found-behind` (paths below the operands after
/// the first, matched by its pattern), `option:KEY`, `listed` (operands that are patterns), `searched`, `folder`; or
/// several of them, separated by spaces.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'t>(pub &'t str);

impl Selector<'_> {
    /// Returns the selected values, in the order of the selectors.
    pub fn values(self, invocation: &Invocation, words: &[Value]) -> Vec<Value> {
        let values = self.0.split(' ').flat_map(|one| Selector(one).selected(invocation, words));
        let values: Vec<Value> = values.collect();
        // Each value is copied: a command may have a hundred thousand operands and dozens of entries about them.
        work::spend(values.len() as u64 / 2);
        if invocation.grammar().is_some_and(|grammar| grammar.style() == Style::PowerShell) {
            return values.into_iter().flat_map(|value| value.listed()).collect();
        }
        values
    }

    fn selected(self, invocation: &Invocation, words: &[Value]) -> Vec<Value> {
        let operands = || invocation.operands.iter().filter_map(|index| words.get(*index)).cloned();
        match self.0 {
            "operands" => operands().collect(),
            "last" => operands().next_back().into_iter().collect(),
            "dashed" => operands().skip(invocation.dashes.unwrap_or(0)).collect(),
            "paths" => paths(invocation, words),
            "subcommand" => subcommand(invocation, words),
            "last-word" => words.last().cloned().into_iter().collect(),
            "roots" => find::roots(invocation, words),
            "found" => find::found(find::roots(invocation, words), find::names(invocation, words).as_deref()),
            "found-behind" => {
                let names = Some(patterns(invocation, words)).filter(|names| !names.is_empty());
                find::found(or_here(operands().skip(1).collect(), words), names.as_deref())
            }
            "listed" => operands().filter(|word| invocation.has("itself") || is_pattern(word)).collect(),
            "searched" => searched(invocation, words, operands().collect()),
            "folder" => or_here(Vec::new(), words),
            other => match other.strip_prefix("option:") {
                Some(key) => invocation.values(key, words),
                None => range(other, operands()),
            },
        }
    }
}

fn is_pattern(word: &Value) -> bool {
    word.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_)))
}

/// Returns the files in which a text search may match: the named ones, or all below.
fn searched(invocation: &Invocation, words: &[Value], mut operands: Vec<Value>) -> Vec<Value> {
    let has_pattern = ["pattern", "pattern-file", "listing"].iter().any(|key| invocation.has(key));
    if !has_pattern && !operands.is_empty() {
        operands.remove(0);
    }
    let program = words.first().map(Value::shown).unwrap_or_default();
    let walks = ["rg", "ag", "ack"].contains(&program.rsplit('/').next().unwrap_or(""));
    if !(walks || invocation.has("recursive") || operands.is_empty()) {
        return operands;
    }
    // An operand may be a file or a folder.
    let below = find::found(or_here(operands.clone(), words), None);
    [operands, below].concat()
}

/// Returns the subcommand's own word and all words after it, with which a program of that name runs.
fn subcommand(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let Some(name) = invocation.path.first() else { return Vec::new() };
    words.iter().skip(1).skip_while(|word| word.literal().as_deref() != Some(*name)).cloned().collect()
}

/// Returns the operands after `--`, and those before it that can only be paths.
fn paths(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let is_path = |(index, word): &(usize, &Value)| {
        invocation.dashes.is_some_and(|dashes| *index >= dashes) || looks_like_path(word)
    };
    let operands = invocation.operands.iter().filter_map(|index| words.get(*index)).enumerate();
    operands.filter(is_path).map(|(_, word)| word.clone()).collect()
}

fn looks_like_path(word: &Value) -> bool {
    let text = word.prefix();
    let piece = word.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_) | Piece::Home(_)));
    piece || text == "." || ["./", "..", "/", ":/"].iter().any(|start| text.starts_with(start))
}

/// Returns the name patterns of a search by extension or by a part of the name.
fn patterns(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let around = |before: &str, word: &Value, after: &str| {
        let mut name = Value::text(before, word.origin());
        name.push(word.clone());
        name.push_text(after, word.origin());
        name
    };
    let extensions = invocation.values("extension", words);
    if !extensions.is_empty() {
        return extensions.iter().map(|extension| around("*.", extension, "")).collect();
    }
    let is_plain = |word: &&Value| {
        word.literal().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let pattern = invocation.operands.first().and_then(|index| words.get(*index)).filter(is_plain);
    pattern.map(|word| around("*", word, "*")).into_iter().collect()
}

/// Returns the values, or the working directory if there are none.
fn or_here(values: Vec<Value>, words: &[Value]) -> Vec<Value> {
    if !values.is_empty() {
        return values;
    }
    vec![Value::text(".", words.first().map_or(Origin::default(), Value::origin))]
}

fn range(selector: &str, mut operands: impl DoubleEndedIterator<Item = Value>) -> Vec<Value> {
    let Some(inside) = selector.strip_prefix("operands[").and_then(|rest| rest.strip_suffix(']')) else {
        return Vec::new();
    };
    if inside == "..-1" {
        operands.next_back();
        return operands.collect();
    }
    match inside.strip_suffix("..") {
        Some(from) => operands.skip(from.parse().unwrap_or(0)).collect(),
        None => operands.nth(inside.parse().unwrap_or(0)).into_iter().collect(),
    }
}
