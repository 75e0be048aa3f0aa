//! What the words of a tool's name and the keys of its arguments say, lowered to one map for each sort of word.

use super::map::once;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An entry of `library/tools`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) name: String,
    /// Whether they are verbs or objects of a name, or keys of arguments.
    of: WordKind,
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    words: Vec<String>,
    /// What the call of an operation says, one of each group: `[kill|terminate, process]`.
    #[serde(default)]
    says: Vec<String>,
    /// The operation is told by names that hold nothing else than these and words that only say that something is run.
    #[serde(default)]
    bare: bool,
    /// The keys without which it is none, one of each group.
    #[serde(default)]
    needs: Vec<String>,
    /// The pieces of the command line that it stands for.
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

/// Each sort of words, with what each word of it says.
#[derive(Default)]
pub(super) struct Tables {
    verbs: BTreeMap<String, Value>,
    objects: BTreeMap<String, Value>,
    keys: BTreeMap<String, Value>,
    operations: BTreeMap<String, Vec<Value>>,
}

impl Tables {
    /// Takes one entry.
    ///
    /// # Errors
    /// A word that says something else already.
    pub(super) fn add(&mut self, words: Words) -> Result<(), String> {
        let map = match words.of {
            WordKind::Verb => &mut self.verbs,
            WordKind::Object => &mut self.objects,
            WordKind::Key => &mut self.keys,
            WordKind::Operation => return self.add_operation(&words),
        };
        words.words.into_iter().try_for_each(|word| once(map, word, words.name.as_str().into()))
    }

    /// An operation is found by the words of its first group.
    fn add_operation(&mut self, words: &Words) -> Result<(), String> {
        let groups = |groups: &[String]| groups.iter().map(|group| choices(group)).collect::<Vec<_>>();
        let says = groups(&words.says);
        let first = says.first().ok_or("an operation says nothing")?;
        if words.line.is_empty() {
            return Err(format!("the operation `{}` has no line", words.name));
        }
        let needs = groups(&words.needs);
        let line = words.line.iter().map(|piece| lower_piece(piece)).collect::<Result<Vec<_>, _>>()?;
        let lowered = json!({"says": says, "bare": words.bare, "needs": needs, "line": line});
        for word in first {
            self.operations.entry(word.clone()).or_default().push(lowered.clone());
        }
        Ok(())
    }

    /// The tree to compile.
    pub(super) fn lower(self) -> Value {
        json!({"verb": self.verbs, "object": self.objects, "key": self.keys, "operation": self.operations})
    }
}

fn choices(group: &str) -> Vec<String> {
    group.split('|').map(str::to_owned).collect()
}

/// `-v {binds|volumes}`: what stands before a value, how the value is written, the keys that hold it, and what stands behind.
fn lower_piece(piece: &str) -> Result<Value, String> {
    let Some((before, rest)) = piece.split_once('{') else { return Ok(json!({"before": piece})) };
    let (slot, after) = rest.split_once('}').ok_or_else(|| format!("`{piece}` has no end"))?;
    let (how, slot) = match slot.chars().next() {
        Some('?') => ("flag", slot.trim_start_matches('?')),
        Some('!') => ("raw", slot.trim_start_matches('!')),
        Some('+') => ("spoken", slot.trim_start_matches('+')),
        Some('=') => ("said", slot.trim_start_matches('=')),
        Some(_) => ("word", slot),
        None => return Err(format!("`{piece}` names no key")),
    };
    Ok(json!({"before": before, "how": how, "keys": choices(slot), "after": after}))
}
