//! Meanings: the words, in many languages, for one idea that occurs in orders to a model.

use crate::compile::error::SourceError;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum number of meanings: they are stored as two numbers of a table with [`HALF`] bits each.
const MAX_MEANINGS: usize = 2 * HALF as usize;

/// Number of bits of a number in a blob: a word without its tag.
const HALF: u32 = 29;

/// Number of leading characters by which a stem is looked up.
const HEAD: usize = 3;

/// An entry of `library/injection-lexicon`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meaning {
    /// The entry's own name: several entries may have the same meanings in other languages.
    pub(super) name: String,
    #[serde(rename = "about")]
    _about: String,
    /// The meanings of its words.
    means: Vec<String>,
    /// Whether its words count only as commands: at the beginning of a clause and not negated.
    #[serde(default)]
    commands: bool,
    /// Words, or sequences of words; `begin*` matches every word with that prefix. Folded: lower case, without accents.
    #[serde(default)]
    words: Vec<String>,
    /// Substrings of words, for scripts that put no spaces between words or attach other words as prefixes.
    #[serde(default)]
    parts: Vec<String>,
    #[serde(rename = "heard")]
    _matches: Vec<String>,
    #[serde(default, rename = "quiet")]
    _no_match: Vec<String>,
}

/// Maps each meaning to the number of its bit.
pub(super) fn names(meanings: &[Meaning]) -> Result<BTreeMap<String, u32>, SourceError> {
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for name in meanings.iter().flat_map(|meaning| &meaning.means) {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        known.entry(name.clone()).or_insert(next);
    }
    match known.len() <= MAX_MEANINGS {
        true => Ok(known),
        false => Err(SourceError::TooManyMeanings(MAX_MEANINGS)),
    }
}

/// The tables of the meanings: `heads` maps leading characters to word sequences and their meanings, `parts` maps the
/// leading character to substrings, `names` lists the meanings by bit.
pub(super) fn lower(meanings: &[Meaning], known: &BTreeMap<String, u32>) -> Value {
    let (mut heads, mut parts) = (Map::new(), Map::new());
    for meaning in meanings {
        let bits = bits(meaning.means.iter().map(String::as_str), known);
        for words in &meaning.words {
            let words: Vec<&str> = words.split(' ').collect();
            let first = words.first().copied().unwrap_or_default();
            let head: String = first.trim_end_matches('*').chars().take(HEAD).collect();
            push(&mut heads, head, json!([words, halves(bits), meaning.commands]));
        }
        for part in &meaning.parts {
            let head: String = part.chars().take(1).collect();
            push(&mut parts, head, json!([part, halves(bits)]));
        }
    }
    json!({"heads": heads, "parts": parts, "names": known})
}

fn push(map: &mut Map<String, Value>, key: String, value: Value) {
    let list = map.entry(key).or_insert_with(|| json!([]));
    list.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
}

/// The bits of several meanings; an unknown meaning has no bit.
pub(super) fn bits<'n>(names: impl Iterator<Item = &'n str>, known: &BTreeMap<String, u32>) -> u64 {
    names.filter_map(|name| known.get(name)).fold(0, |bits, bit| bits | 1 << bit)
}

/// Splits bits into two numbers of a table, lower half first.
pub(super) fn halves(bits: u64) -> Value {
    json!([bits & ((1 << HALF) - 1), bits >> HALF])
}
