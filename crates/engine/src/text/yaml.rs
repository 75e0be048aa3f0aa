//! The entries of a YAML file as people write them: maps, lists, plain and block texts. What stands in braces or
//! brackets stays one text.

use reflex_shell::work;
use serde_json::Value as Json;

/// More lines than these are not read, which is told.
const MAX_LINES: usize = 50_000;

/// Keys from the outermost to the innermost, and the text; a list's texts have the keys of the list.
pub(crate) fn entries(text: &str) -> Vec<(Vec<String>, String)> {
    let mut rest = text.lines();
    let lines: Vec<&str> = rest.by_ref().take(MAX_LINES).collect();
    if rest.next().is_some() || !work::spend_bytes(text.len(), 40) {
        work::cut(|| format!("a file of settings is longer than {MAX_LINES} lines"));
    }
    let mut entries = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let (column, content) = content_of(line);
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        open.retain(|(indent, _)| *indent < column);
        let (key, value) = key_of(content).map_or((None, content), |(key, value)| (Some(key), value));
        let mut keys: Vec<String> = open.iter().map(|(_, key)| key.clone()).collect();
        if let Some(key) = key {
            keys.push(key.clone());
            open.push((column, key));
        }
        let block = value.starts_with(['|', '>']) && value.len() <= 3;
        let value = if block {
            let indent = line.len() - line.trim_start().len();
            let below = lines.iter().skip(at).take_while(|line| line.trim().is_empty() || depth(line) > indent);
            let below: Vec<&str> = below.map(|line| line.trim()).collect();
            at += below.len();
            below.join(if value.starts_with('|') { "\n" } else { " " }).trim().to_owned()
        } else {
            plain(value)
        };
        entries.push((keys, value));
    }
    entries
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where the content of a line begins, behind the dashes of lists.
fn content_of(line: &str) -> (usize, &str) {
    let mut content = line.trim_start_matches(' ');
    while let Some(behind) = content.strip_prefix("- ") {
        content = behind.trim_start_matches(' ');
    }
    (line.len() - content.len(), content.trim_end())
}

fn key_of(content: &str) -> Option<(String, &str)> {
    // A key may hold colons too: `reset:local:`.
    let (key, value) = match content.strip_suffix(':').filter(|key| !key.contains(' ')) {
        Some(key) => (key, ""),
        None => content.split_once(": ")?,
    };
    let key = key.trim_matches(['"', '\'']);
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    is_key.then(|| (key.to_owned(), value.trim()))
}

/// Without quotes and a comment behind it.
fn plain(value: &str) -> String {
    let whole = |quote: char| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    if whole('"') || whole('\'') {
        return value.get(1..value.len() - 1).unwrap_or(value).replace("\\\"", "\"");
    }
    value.split(" #").next().unwrap_or(value).trim_end().to_owned()
}

/// Lists and maps in brackets deeper than this stay texts.
const MAX_DEPTH: usize = 16;

/// What stands in brackets or braces as a list or a map of texts; anything else as the text that it is.
pub(crate) fn flow(text: &str) -> Json {
    let text = text.trim();
    let open = text.starts_with(['[', '{']);
    let read = open.then(|| Flow { rest: text }.value(0)).flatten();
    read.unwrap_or_else(|| Json::String(text.to_owned()))
}

/// A text in brackets that is being read.
struct Flow<'a> {
    rest: &'a str,
}

impl Flow<'_> {
    fn value(&mut self, depth: usize) -> Option<Json> {
        self.rest = self.rest.trim_start();
        if depth > MAX_DEPTH {
            return None;
        }
        if self.takes('[') {
            let mut items = Vec::new();
            while !self.takes(']') {
                items.push(self.value(depth + 1)?);
                self.takes(',');
            }
            return Some(Json::Array(items));
        }
        if self.takes('{') {
            let mut map = serde_json::Map::new();
            while !self.takes('}') {
                let key = self.text(&[':', ',', '}'])?;
                let value = if self.takes(':') { self.value(depth + 1)? } else { Json::String(String::new()) };
                map.insert(key, value);
                self.takes(',');
            }
            return Some(Json::Object(map));
        }
        self.text(&[',', ']', '}']).map(Json::String)
    }

    /// A sign behind blanks, if it stands next.
    fn takes(&mut self, sign: char) -> bool {
        let next = self.rest.trim_start();
        let behind = next.strip_prefix(sign);
        self.rest = behind.unwrap_or(next);
        behind.is_some()
    }

    /// A text in quotes, or one that ends before one of these signs.
    fn text(&mut self, ends: &[char]) -> Option<String> {
        self.rest = self.rest.trim_start();
        let quote = self.rest.chars().next()?;
        if quote != '"' && quote != '\'' {
            let end = self.rest.find(ends).filter(|end| *end > 0)?;
            let (text, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Some(text.trim_end().to_owned());
        }
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' if quote == '"' => text.extend(letters.next().map(|(_, letter)| letter)),
                _ if letter == quote => {
                    self.rest = self.rest.get(at + 1..).unwrap_or("");
                    return Some(text);
                }
                _ => text.push(letter),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lists_and_blocks() {
        let text = "a:\n  - b: x # c\n    d: >\n      one\n      two\n\n  - e\nf: \"g: h\"\n";
        let found: Vec<String> =
            entries(text).into_iter().map(|(keys, text)| format!("{}={text}", keys.join("."))).collect();
        assert_eq!(found, ["a=", "a.b=x", "a.d=one two", "a=e", "f=g: h"]);
    }

    #[track_caller]
    fn check_flow(text: &str, expected: &str) {
        assert_eq!(flow(text).to_string(), expected);
    }

    #[test]
    fn lists_and_maps_in_brackets() {
        check_flow("[a:/b, \"c, d\"]", r#"["a:/b","c, d"]"#);
        check_flow("{a: b, c: [d]}", r#"{"a":"b","c":["d"]}"#);
        check_flow("a [b]", r#""a [b]""#);
        check_flow("[a", r#""[a""#);
        check_flow("[[[[[[[[[[[[[[[[[[[[[", r#""[[[[[[[[[[[[[[[[[[[[[""#);
    }
}
