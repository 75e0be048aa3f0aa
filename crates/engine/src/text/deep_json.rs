//! JSON of any depth. Parsers recurse, so they limit the depth; documents of wikis and editors exceed such limits.

use serde::de::DeserializeOwned;

/// Maximum depth of a parsed value. Objects below it are listed flat. It leaves room for what surrounds the value under
/// the parser's own limit of 128.
const MAX_LEVELS: usize = 64;

/// Parses JSON of any depth.
///
/// A value deeper than 64 levels becomes a flat list of the objects in it, innermost first, each with its own scalars
/// and lists of scalars. No text in it is lost, only the nesting.
///
/// # Errors
/// The text is not JSON, or not of this type.
pub fn parse_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|error| {
        // The parser has no other way to tell this error from others.
        if !error.to_string().contains("recursion limit") {
            return Err(error);
        }
        flattened(text).map_or(Err(error), |flat| serde_json::from_str(&flat))
    })
}

/// Returns the text with all values deeper than the limit replaced by lists of their objects; `None` if brackets do not
/// match or a text has no end.
fn flattened(text: &str) -> Option<String> {
    let (mut flat, mut depth, mut rest) = (String::with_capacity(text.len()), 0_usize, text);
    while let Some((token, after)) = next_token(rest)? {
        rest = after;
        match token {
            "{" | "[" if depth == MAX_LEVELS => {
                let objects;
                (objects, rest) = flat_objects(token, after)?;
                flat.push_str(&objects);
                continue;
            }
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        flat.push_str(token);
    }
    (depth == 0).then_some(flat)
}

/// An object or list that is not closed yet.
struct Open<'a> {
    /// The bracket that closes it.
    end: &'static str,
    /// Key of the member whose value comes next; empty in a list.
    key: &'a str,
    /// Members or items without the nested objects, as JSON.
    own: Vec<String>,
}

/// Reads the value after an opening bracket. Returns the list of its objects, and the text after the value.
fn flat_objects<'a>(opening: &str, text: &'a str) -> Option<(String, &'a str)> {
    let (mut objects, mut open, mut rest) = (Vec::new(), vec![Open::new(opening)], text);
    while let Some((token, after)) = next_token(rest)? {
        rest = after;
        let current = open.last_mut()?;
        match token {
            "{" | "[" => open.push(Open::new(token)),
            "}" | "]" => {
                // A key must have had its value.
                let closed = open.pop().filter(|closed| closed.end == token && closed.key.is_empty())?;
                let (own, around) = (closed.own.join(","), open.last_mut());
                let value = if token == "]" { format!("[{own}]") } else { format!("{{{own}}}") };
                match around {
                    Some(around) if token == "]" && !own.is_empty() => around.add(value),
                    around => {
                        around.into_iter().for_each(|around| around.key = "");
                        objects.extend(Some(value).filter(|_| !own.is_empty()));
                    }
                }
                if open.is_empty() {
                    return Some((format!("[{}]", objects.join(",")), rest));
                }
            }
            "," | ":" => {}
            _ if current.end == "}" && current.key.is_empty() => current.key = token,
            _ => current.add(token.to_owned()),
        }
    }
    None
}

impl<'a> Open<'a> {
    fn new(opening: &str) -> Open<'a> {
        Open { end: if opening == "{" { "}" } else { "]" }, key: "", own: Vec::new() }
    }

    fn add(&mut self, value: String) {
        let key = std::mem::take(&mut self.key);
        self.own.push(if key.is_empty() { value } else { format!("{key}:{value}") });
    }
}

/// Returns the next token and the text after it; `Some(None)` at the end, `None` if a text has no end.
#[expect(clippy::option_option, reason = "the outer one is the error, the inner one the end")]
fn next_token(text: &str) -> Option<Option<(&str, &str)>> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r']);
    let end = match text.bytes().next() {
        None => return Some(None),
        Some(b'"') => string_end(text)?,
        Some(b'{' | b'}' | b'[' | b']' | b',' | b':') => 1,
        Some(_) => text.find(['{', '}', '[', ']', ',', ':', '"', ' ', '\t', '\n', '\r']).unwrap_or(text.len()),
    };
    Some(text.split_at_checked(end))
}

/// Returns the length of the quoted text at the start.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A value inside this many lists and objects.
    fn nested(levels: usize, inside: &str) -> String {
        let pairs = levels / 2;
        format!("{}{inside}{}", r#"{"content":["#.repeat(pairs), "]}".repeat(pairs))
    }

    #[track_caller]
    fn check(inside: &str, expected: Value) {
        let value: Value = parse_json(&nested(200, inside)).unwrap();
        let mut deepest = &value;
        for _ in 0..MAX_LEVELS / 2 {
            deepest = &deepest["content"][0];
        }
        assert_eq!(*deepest, expected, "{inside}");
    }

    #[test]
    fn the_objects_of_a_deep_value_are_listed_flat() {
        check(
            r#"{"command": "rm x", "n": [1, "a,}"], "in": {"command": "ls \"}"}}"#,
            json!([
                {"command": "ls \"}"}, {"command": "rm x", "n": [1, "a,}"]},
            ]),
        );
        check("{}", json!([]));
        check(r#""text", true"#, json!([{"content": ["text", true]}]));
    }

    #[test]
    fn a_value_that_is_not_deep_is_as_it_stands() {
        assert_eq!(parse_json::<Value>(r#"{"a": [{"b": 1}]}"#).unwrap(), json!({"a": [{"b": 1}]}));
    }

    #[test]
    fn what_is_not_json_is_none_at_any_depth() {
        for inside in ["{", "]", "\"x", "{\"a\": }", "x y"] {
            assert!(parse_json::<Value>(&nested(200, inside)).is_err(), "{inside}");
        }
    }

    #[test]
    fn a_million_levels_are_read() {
        let levels = 1_000_000;
        let text = format!("{}{}{}", "[".repeat(levels), r#"{"command": "rm x"}"#, "]".repeat(levels));
        assert!(parse_json::<Value>(&text).unwrap().to_string().contains("rm x"));
    }
}
