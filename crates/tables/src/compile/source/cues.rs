//! Cues: word sequences or literal texts that identify an order to a model.

use super::meanings;
use crate::compile::error::{EntryError, SourceError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An entry of `library/injection-patterns`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cue {
    pub(super) name: String,
    pub(super) family: String,
    #[serde(rename = "about")]
    _about: String,
    /// Score that a match of the cue's family adds to a text.
    pub(super) weight: u32,
    /// Maximum number of other words between two of its words; with `together`, between the first and the last.
    gap: Option<u32>,
    /// Words in sequence, each as `this|that|begin*`.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// Literal texts, any of which matches; for languages that put no spaces between words.
    #[serde(default)]
    pub(super) text: Vec<String>,
    /// Meanings, all of which must occur in one sentence, in any order.
    #[serde(default)]
    pub(super) together: Vec<String>,
    /// Meanings, none of which may occur.
    #[serde(default)]
    pub(super) without: Vec<String>,
    #[serde(rename = "fires")]
    _fires: Vec<Value>,
    #[serde(default, rename = "quiet")]
    _quiet: Vec<Value>,
}

impl Cue {
    /// Number of matching methods that the cue uses.
    pub(super) fn ways(&self) -> usize {
        [self.words.is_empty(), self.text.is_empty(), self.together.is_empty()].iter().filter(|empty| !**empty).count()
    }
}

/// Default for the maximum number of words between two words of a cue.
const GAP: u32 = 2;

/// Default for the maximum number of words between the first and the last of several meanings.
const APART: u32 = 40;

/// The tables of the cues: `all` holds the cues, `first` maps the first word of a cue to its cues, `text` maps each
/// literal text to its cue, and `together` holds the bits of each combination of meanings, its cue, and the bits that
/// must be absent.
pub(super) fn lower(cues: &[Cue], known: &BTreeMap<String, u32>) -> Result<Value, SourceError> {
    let mut together: Vec<Value> = Vec::new();
    let mut first: Map<String, Value> = Map::new();
    let mut texts: Vec<Value> = Vec::new();
    for (index, cue) in cues.iter().enumerate() {
        for word in cue.words.first().iter().flat_map(|set| set.split('|')) {
            let known = first.entry(word).or_insert_with(|| json!([]));
            known.as_array_mut().into_iter().for_each(|list| list.push(json!(index)));
        }
        if let Some(name) = cue.together.iter().chain(&cue.without).find(|name| !known.contains_key(*name)) {
            return Err(SourceError::in_entry(&cue.name, EntryError::UnknownMeaning(name.clone())));
        }
        let bits = meanings::bits(cue.together.iter().map(String::as_str), known);
        let without = meanings::bits(cue.without.iter().map(String::as_str), known);
        together.extend((bits != 0).then(|| json!([meanings::halves(bits), index, meanings::halves(without)])));
        texts.extend(cue.text.iter().map(|text| json!([text, index])));
    }
    let all: Vec<Value> = cues
        .iter()
        .map(|cue| {
            let words: Vec<Vec<&str>> = cue.words.iter().map(|set| set.split('|').collect()).collect();
            json!({"name": cue.name, "family": cue.family, "weight": cue.weight, "gap": cue.gap.unwrap_or(if cue.together.is_empty() { GAP } else { APART }), "words": words})
        })
        .collect();
    Ok(json!({"all": all, "first": first, "text": texts, "together": together}))
}
