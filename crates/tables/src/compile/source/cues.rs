//! Cues: words in a row, or a text as it stands, by which an order to a model is known.

use super::meanings;
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
    /// What one of its family adds to a text's score.
    pub(super) weight: u32,
    /// So many other words may stand between two of its words; of meanings, between the first and the last.
    gap: Option<u32>,
    /// One after the other, each as `this|that|begin*`.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// Any of these, for languages that put no blanks between words.
    #[serde(default)]
    pub(super) text: Vec<String>,
    /// Words of all these meanings in one sentence, in any order.
    #[serde(default)]
    pub(super) together: Vec<String>,
    /// And none of these.
    #[serde(default)]
    pub(super) without: Vec<String>,
    #[serde(rename = "fires")]
    _fires: Vec<Value>,
    #[serde(default, rename = "quiet")]
    _quiet: Vec<Value>,
}

impl Cue {
    /// In how many ways it says what it is.
    pub(super) fn ways(&self) -> usize {
        [self.words.is_empty(), self.text.is_empty(), self.together.is_empty()].iter().filter(|empty| !**empty).count()
    }
}

/// So many words may stand between those of a cue that does not say.
const GAP: u32 = 2;

/// So far apart meanings that meet may stand.
const APART: u32 = 40;

/// `all`: the cues; `first`: by the words a cue can begin with, which ones; `text`: each text with its cue; `together`:
/// the bits of each meeting of meanings with its cue and the bits that must not be there.
pub(super) fn lower(cues: &[Cue], known: &BTreeMap<String, u32>) -> Result<Value, String> {
    let mut together: Vec<Value> = Vec::new();
    let mut first: Map<String, Value> = Map::new();
    let mut texts: Vec<Value> = Vec::new();
    for (index, cue) in cues.iter().enumerate() {
        for word in cue.words.first().iter().flat_map(|set| set.split('|')) {
            let known = first.entry(word).or_insert_with(|| json!([]));
            known.as_array_mut().into_iter().for_each(|list| list.push(json!(index)));
        }
        if let Some(name) = cue.together.iter().chain(&cue.without).find(|name| !known.contains_key(*name)) {
            return Err(format!("{}: no word of `library/injection-lexicon` means `{name}`", cue.name));
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
