//! Cues: words in a row, or a text as it stands, by which an order to a model is known.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An entry of `library/cues`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cue {
    pub(super) name: String,
    pub(super) family: String,
    #[serde(rename = "about")]
    _about: String,
    /// What one of its family adds to a text's score.
    pub(super) weight: u32,
    /// So many other words may stand between two of its words.
    #[serde(default = "gap")]
    pub(super) gap: u32,
    /// One after the other, each as `this|that|begin*`.
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// Any of these, for languages that put no blanks between words.
    #[serde(default)]
    pub(super) text: Vec<String>,
    #[serde(rename = "fires")]
    _fires: Vec<Value>,
    #[serde(default, rename = "quiet")]
    _quiet: Vec<Value>,
}

fn gap() -> u32 {
    2
}

/// `all`: the cues; `first`: by the words a cue can begin with, which ones; `text`: each text with its cue.
pub(super) fn lower(cues: &[Cue]) -> Value {
    let mut first: Map<String, Value> = Map::new();
    let mut texts: Vec<Value> = Vec::new();
    for (index, cue) in cues.iter().enumerate() {
        for word in cue.words.first().iter().flat_map(|set| set.split('|')) {
            let known = first.entry(word).or_insert_with(|| json!([]));
            known.as_array_mut().into_iter().for_each(|list| list.push(json!(index)));
        }
        texts.extend(cue.text.iter().map(|text| json!([text, index])));
    }
    let all: Vec<Value> = cues
        .iter()
        .map(|cue| {
            let words: Vec<Vec<&str>> = cue.words.iter().map(|set| set.split('|').collect()).collect();
            json!({"name": cue.name, "family": cue.family, "weight": cue.weight, "gap": cue.gap, "words": words})
        })
        .collect();
    json!({"all": all, "first": first, "text": texts})
}
