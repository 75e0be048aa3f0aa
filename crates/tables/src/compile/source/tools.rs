//! What the words of a tool's name and the keys of its arguments say, lowered to one map for each sort of word.

use super::once;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An entry of `library/tools`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) name: String,
    /// Whether they are verbs or objects of a name, or keys of arguments.
    of: Sort,
    #[serde(rename = "about")]
    _about: String,
    words: Vec<String>,
    #[serde(rename = "examples")]
    _examples: Vec<Value>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    Verb,
    Object,
    Key,
}

/// Each sort of words, with what each word of it says.
#[derive(Default)]
pub(super) struct Tables {
    verbs: BTreeMap<String, Value>,
    objects: BTreeMap<String, Value>,
    keys: BTreeMap<String, Value>,
}

impl Tables {
    /// Takes one entry.
    ///
    /// # Errors
    /// A word that says something else already.
    pub(super) fn add(&mut self, words: Words) -> Result<(), String> {
        let map = match words.of {
            Sort::Verb => &mut self.verbs,
            Sort::Object => &mut self.objects,
            Sort::Key => &mut self.keys,
        };
        words.words.into_iter().try_for_each(|word| once(map, word, words.name.as_str().into()))
    }

    /// The tree to compile.
    pub(super) fn lower(self) -> Value {
        json!({"verb": self.verbs, "object": self.objects, "key": self.keys})
    }
}
