//! Examples of secrets without secrets: `«A-Z0-9:16»` stands for sixteen letters of the set, as chance gives them. What
//! hosts of code look for in repositories therefore stands nowhere in ours.

use serde_json::Value;

/// The example with letters in place of every `«set:number»`; the same text always gets the same letters.
pub(crate) fn filled(example: &Value) -> Value {
    match example {
        Value::String(text) => Value::String(filled_text(text)),
        Value::Array(items) => items.iter().map(filled).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), filled(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => example.clone(),
    }
}

fn filled_text(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut chance = 0x2545_f491_u32;
    while let Some((before, after)) = rest.split_once('«') {
        let (inner, after) = after.split_once('»').expect("an example ends what it begins");
        let (set, count) = inner.rsplit_once(':').expect("a set, a colon, a number");
        let chars = members(set);
        out.push_str(before);
        for _ in 0..count.parse::<usize>().expect("a number") {
            chance ^= chance << 13;
            chance ^= chance >> 17;
            chance ^= chance << 5;
            out.push(chars[chance as usize % chars.len()]);
        }
        rest = after;
    }
    out + rest
}

fn members(set: &str) -> Vec<char> {
    let signs: Vec<char> = set.chars().collect();
    let mut chars = Vec::new();
    let mut at = 0;
    while at < signs.len() {
        if signs.get(at + 1) == Some(&'-') && at + 2 < signs.len() {
            chars.extend(signs[at]..=signs[at + 2]);
            at += 3;
        } else {
            chars.push(signs[at]);
            at += 1;
        }
    }
    chars
}
