//! Word lists for judging a text: an entry of `library/words`.

use crate::compile::error::{EntryError, SourceError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordList {
    pub(super) name: String,
    #[expect(dead_code, reason = "for readers of the file")]
    about: String,
    compare: Compare,
    words: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    matches: Vec<String>,
    #[serde(rename = "no-match")]
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    no_match: Vec<String>,
}

/// The part of a text that is compared with a word.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Compare {
    Whole,
    Start,
    End,
    Part,
}

impl WordList {
    /// Lowers the list to a map, so that a lookup does not read all words.
    ///
    /// # Errors
    /// A duplicate word.
    pub(super) fn lower(&self) -> Result<Value, SourceError> {
        let mut words = Map::new();
        for word in &self.words {
            if words.insert(word.clone(), Value::Bool(true)).is_some() {
                return Err(SourceError::in_entry(&self.name, EntryError::DuplicateWord(word.clone())));
            }
        }
        let compare = match self.compare {
            Compare::Whole => "whole",
            Compare::Start => "start",
            Compare::End => "end",
            Compare::Part => "part",
        };
        Ok(json!({"compare": compare, "words": words}))
    }
}
