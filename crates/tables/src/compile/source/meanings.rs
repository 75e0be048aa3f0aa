//! Meanings: the words, in many languages, by which a text speaks of one idea that orders to a model are made of.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// So many meanings are kept in two numbers of a table, each with [`HALF`] of them.
const MOST: usize = 2 * HALF as usize;

/// The bits of a number of a table.
const HALF: u32 = 29;

/// A stem is found by so many of its first letters.
const HEAD: usize = 3;

/// An entry of `library/injection-lexicon`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meaning {
    /// The entry's own name: several may have the same meanings in other languages.
    pub(super) name: String,
    #[serde(rename = "about")]
    _about: String,
    /// What its words mean.
    means: Vec<String>,
    /// Its words count only where they command: at the beginning of a clause, and not forbidden.
    #[serde(default)]
    commands: bool,
    /// Words, and several in a row; `begin*` is every word that begins so. As they are folded: small, without accents.
    #[serde(default)]
    words: Vec<String>,
    /// Parts of words, for scripts that put no blanks between words or put others before them.
    #[serde(default)]
    parts: Vec<String>,
    #[serde(rename = "heard")]
    _heard: Vec<String>,
    #[serde(default, rename = "quiet")]
    _quiet: Vec<String>,
}

/// Each meaning with the number of its bit.
pub(super) fn names(meanings: &[Meaning]) -> Result<BTreeMap<String, u32>, String> {
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for name in meanings.iter().flat_map(|meaning| &meaning.means) {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        known.entry(name.clone()).or_insert(next);
    }
    match known.len() <= MOST {
        true => Ok(known),
        false => Err(format!("more than {MOST} meanings")),
    }
}

/// `heads`: by its first letters, each run of words with what it means; `parts`: by its first letter, each part of words;
/// `names`: by bit.
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

/// The bits of several meanings; an unknown one has none.
pub(super) fn bits<'n>(names: impl Iterator<Item = &'n str>, known: &BTreeMap<String, u32>) -> u64 {
    names.filter_map(|name| known.get(name)).fold(0, |bits, bit| bits | 1 << bit)
}

/// Bits as two numbers of a table, the lower ones first.
pub(super) fn halves(bits: u64) -> Value {
    json!([bits & ((1 << HALF) - 1), bits >> HALF])
}
