//! Placeholders such as `{}` in the words of a command, and their replacement.

use crate::model::value::Value;
use reflex_tables::Texts;

/// Replaces all of the placeholders in the words. If no word contains one, appends the values if `append` is set.
pub(super) fn fill_or_append(
    words: Vec<Value>,
    placeholders: Texts<'static>,
    append: bool,
    values: &[Value],
) -> Vec<Value> {
    let holds = |word: &Value| word.literal().is_some_and(|text| placeholders.iter().any(|mark| text.contains(mark)));
    if append && !words.iter().any(holds) {
        return [words.as_slice(), values].concat();
    }
    placeholders.iter().fold(words, |words, placeholder| fill(words, placeholder, values))
}

/// Replaces every occurrence of the placeholder inside a word; the word is repeated for each value.
pub(super) fn fill(words: Vec<Value>, placeholder: &str, values: &[Value]) -> Vec<Value> {
    let mut filled = Vec::with_capacity(words.len());
    for word in words {
        let text = word.literal().filter(|text| text.contains(placeholder)).map(|text| text.into_owned());
        let Some(text) = text else {
            filled.push(word);
            continue;
        };
        for value in values {
            let mut joined = Value::default();
            for (index, part) in text.split(placeholder).enumerate() {
                if index > 0 {
                    joined.push(value.clone());
                }
                if !part.is_empty() {
                    joined.push_text(part, word.origin());
                }
            }
            filled.push(joined);
        }
    }
    filled
}
