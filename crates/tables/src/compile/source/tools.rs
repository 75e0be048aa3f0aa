//! Meanings of the words in a tool's name and of its argument keys, lowered to one map per kind of word.

use super::map::once;
use crate::compile::error::{EntryError, SourceError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An entry of `library/tools`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) name: String,
    /// Whether the words are verbs or objects in names, argument keys, or an operation.
    of: WordKind,
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    words: Vec<String>,
    /// Words that a call of the operation must contain, one of each group: `[kill|terminate, process]`.
    #[serde(default)]
    says: Vec<String>,
    /// Whether the operation is only recognized in names without any other words, except words that merely mean
    /// running.
    #[serde(default)]
    bare: bool,
    /// Required argument keys, one of each group.
    #[serde(default)]
    needs: Vec<String>,
    /// Pieces of the equivalent command line.
    #[serde(default)]
    line: Vec<String>,
    #[serde(rename = "examples")]
    _examples: Vec<Value>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum WordKind {
    Verb,
    Object,
    Key,
    Operation,
}

/// Tables for each kind of word, with the meaning of each word.
#[derive(Default)]
pub(super) struct Tables {
    verbs: BTreeMap<String, Value>,
    objects: BTreeMap<String, Value>,
    keys: BTreeMap<String, Value>,
    operations: BTreeMap<String, Vec<Value>>,
}

impl Tables {
    /// Adds one entry.
    ///
    /// # Errors
    /// A word that already has a meaning.
    pub(super) fn add(&mut self, words: Words) -> Result<(), SourceError> {
        let map = match words.of {
            WordKind::Verb => &mut self.verbs,
            WordKind::Object => &mut self.objects,
            WordKind::Key => &mut self.keys,
            WordKind::Operation => {
                let added = self.add_operation(&words);
                return added.map_err(|problem| SourceError::in_entry(&words.name, problem));
            }
        };
        words.words.into_iter().try_for_each(|word| once(map, word, words.name.as_str().into()))
    }

    /// Operations are indexed by the words of their first group.
    fn add_operation(&mut self, words: &Words) -> Result<(), EntryError> {
        let groups = |groups: &[String]| groups.iter().map(|group| choices(group)).collect::<Vec<_>>();
        let required = groups(&words.says);
        let first = required.first().ok_or(EntryError::NoWords)?;
        if words.line.is_empty() {
            return Err(EntryError::NoLine);
        }
        let needs = groups(&words.needs);
        let line = words.line.iter().map(|piece| lower_piece(piece)).collect::<Result<Vec<_>, _>>()?;
        let lowered = json!({"says": required, "bare": words.bare, "needs": needs, "line": line});
        for word in first {
            self.operations.entry(word.clone()).or_default().push(lowered.clone());
        }
        Ok(())
    }

    /// Returns the tree to compile.
    pub(super) fn lower(self) -> Value {
        json!({"verb": self.verbs, "object": self.objects, "key": self.keys, "operation": self.operations})
    }
}

fn choices(group: &str) -> Vec<String> {
    group.split('|').map(str::to_owned).collect()
}

/// Parses `-v {binds|volumes}` into the text before the value, the form of the value, the keys that hold it, and the
/// text after it.
fn lower_piece(piece: &str) -> Result<Value, EntryError> {
    let Some((before, rest)) = piece.split_once('{') else { return Ok(json!({"before": piece})) };
    let (slot, after) = rest.split_once('}').ok_or_else(|| EntryError::OpenPiece(piece.into()))?;
    let (how, slot) = match slot.chars().next() {
        Some('?') => ("flag", slot.trim_start_matches('?')),
        Some('!') => ("raw", slot.trim_start_matches('!')),
        Some('+') => ("spoken", slot.trim_start_matches('+')),
        Some('=') => ("said", slot.trim_start_matches('=')),
        Some(_) => ("word", slot),
        None => return Err(EntryError::NoKey(piece.into())),
    };
    Ok(json!({"before": before, "how": how, "keys": choices(slot), "after": after}))
}
