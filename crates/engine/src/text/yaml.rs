//! YAML files as nested values. Every scalar stays a string: clients differ in how they type `yes` and `0x10`.

use super::json::lenient_json;
use granit_parser::{Event, Parser, Tag};
use reflex_shell::{base64, work};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Maximum number of lines. Longer files are not read; the caller's budget records that.
const MAX_LINES: usize = 50_000;

/// Maximum number of values in one file, counting those that aliases repeat. Larger files are not read.
const MAX_VALUES: usize = 64 * 1024;

/// Maximum nesting of lists and maps.
const MAX_DEPTH: usize = 64;

/// Each scalar with its keys, outermost first. Items of a list have the keys of the list. A key that holds a list or a
/// map has an entry with an empty string as well, before those of its contents.
///
/// Input that fails to parse, such as a template or a fragment of a file, is read line by line on a best-effort basis.
pub(crate) fn entries(text: &str) -> Vec<(Vec<String>, String)> {
    match documents(text) {
        Some(documents) => {
            let mut entries = Vec::new();
            documents.iter().for_each(|document| flatten(document, &mut Vec::new(), &mut entries));
            entries
        }
        None => lines(text),
    }
}

/// The first document, or `None` if the text fails to parse.
pub(crate) fn document(text: &str) -> Option<Json> {
    documents(text)?.into_iter().next()
}

/// The YAML header of a Markdown file: the text between the first two lines of three dashes.
pub(crate) fn front_matter(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    let rest = text.strip_prefix("---").filter(|rest| rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..at);
        }
        at += line.len();
    }
    None
}

/// Whether a scalar is true by YAML 1.1, which most clients still accept.
pub(crate) fn is_true(text: &str) -> bool {
    ["true", "yes", "on", "y"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn flatten(json: &Json, keys: &mut Vec<String>, entries: &mut Vec<(Vec<String>, String)>) {
    match json {
        Json::String(text) => entries.push((keys.clone(), text.clone())),
        Json::Bool(_) | Json::Number(_) => entries.push((keys.clone(), json.to_string())),
        Json::Null => entries.push((keys.clone(), String::new())),
        Json::Array(items) => items.iter().for_each(|item| flatten(item, keys, entries)),
        Json::Object(fields) => {
            for (key, value) in fields {
                keys.push(key.clone());
                if value.is_array() || value.is_object() {
                    entries.push((keys.clone(), String::new()));
                }
                flatten(value, keys, entries);
                keys.pop();
            }
        }
    }
}

fn documents(text: &str) -> Option<Vec<Json>> {
    // JSON is a subset of YAML, except that it allows tabs as indentation.
    let json = text.trim_start().starts_with(['{', '[']).then(|| lenient_json(text)).flatten();
    if let Some(json) = json {
        return Some(vec![json]);
    }
    if text.lines().nth(MAX_LINES).is_some() || !work::spend_bytes(text.len(), 40) {
        return None;
    }
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut tree = Tree::default();
    for next in Parser::new_from_str_with_options(text.trim_start_matches('\u{feff}'), options) {
        tree.take(next.ok()?.0);
    }
    if tree.values > MAX_VALUES {
        work::cut(|| format!("a file of settings has more than {MAX_VALUES} values"));
    }
    Some(tree.documents)
}

/// Builds values from the parser's events.
#[derive(Default)]
struct Tree {
    /// Lists and maps that are still open, with their anchors.
    open: Vec<(Node, usize)>,
    /// The value of each anchor, and the number of values in it.
    anchors: BTreeMap<usize, (Json, usize)>,
    documents: Vec<Json>,
    values: usize,
}

enum Node {
    List(Vec<Json>),
    /// The entries so far, and the key whose value is next.
    Map(Map<String, Json>, Option<String>),
}

impl Tree {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_null =
                    style == granit_parser::ScalarStyle::Plain && matches!(&*text, "~" | "null" | "Null" | "NULL");
                let text = if is_null { String::new() } else { decoded(text.trim_end(), tag.as_deref()) };
                self.add(Json::String(text), anchor, 1);
            }
            Event::SequenceStart(_, anchor, _) => self.open.push((Node::List(Vec::new()), anchor)),
            Event::MappingStart(_, anchor, _) => self.open.push((Node::Map(Map::new(), None), anchor)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((Node::List(items), anchor)) => self.add(Json::Array(items), anchor, 1),
                Some((Node::Map(fields, _), anchor)) => self.add(Json::Object(merged(fields)), anchor, 1),
                None => {}
            },
            Event::Alias(anchor) => {
                let (json, size) = self.anchors.get(&anchor).map_or((Json::Null, 1), |(json, size)| {
                    let fits = self.values.saturating_add(*size) <= MAX_VALUES;
                    (if fits { json.clone() } else { Json::Null }, *size)
                });
                self.add(json, 0, size);
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd | _ => {}
        }
    }

    fn add(&mut self, json: Json, anchor: usize, size: usize) {
        self.values = self.values.saturating_add(size);
        if self.values > MAX_VALUES {
            return;
        }
        if anchor != 0 {
            let size = count(&json);
            self.values = self.values.saturating_add(size);
            self.anchors.insert(anchor, (json.clone(), size));
        }
        match self.open.last_mut() {
            Some((Node::List(items), _)) => items.push(json),
            Some((Node::Map(fields, key), _)) => match key.take() {
                Some(key) => drop(fields.insert(key, json)),
                None => *key = Some(json.as_str().map_or_else(|| json.to_string(), str::to_owned)),
            },
            None => self.documents.push(json),
        }
    }
}

fn count(json: &Json) -> usize {
    match json {
        Json::Array(items) => items.iter().map(count).sum::<usize>() + 1,
        Json::Object(fields) => fields.values().map(count).sum::<usize>() + 1,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 1,
    }
}

/// Resolves merge keys (`<<`): merged fields never replace existing ones.
fn merged(mut fields: Map<String, Json>) -> Map<String, Json> {
    let sources = match fields.shift_remove("<<") {
        Some(Json::Array(sources)) => sources,
        Some(source) => vec![source],
        None => return fields,
    };
    for source in sources {
        let Json::Object(source) = source else { continue };
        for (key, value) in source {
            fields.entry(key).or_insert(value);
        }
    }
    fields
}

fn decoded(text: &str, tag: Option<&Tag>) -> String {
    let is_binary = tag.is_some_and(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("binary"));
    let plain = is_binary.then(|| base64(text)).flatten();
    plain.unwrap_or_else(|| text.to_owned())
}

/// Reads entries line by line from text that is invalid as YAML.
fn lines(text: &str) -> Vec<(Vec<String>, String)> {
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
        let json = flow(&value);
        // A double brace opens a template expression.
        if json.is_string() || value.starts_with("{{") {
            entries.push((keys, value));
        } else {
            flatten(&json, &mut keys, &mut entries);
        }
    }
    entries
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The column at which the content of a line begins, after the dashes of list items, and the content.
fn content_of(line: &str) -> (usize, &str) {
    let mut content = line.trim_start_matches(' ');
    while let Some(after) = content.strip_prefix("- ") {
        content = after.trim_start_matches(' ');
    }
    (line.len() - content.len(), content.trim_end())
}

fn key_of(content: &str) -> Option<(String, &str)> {
    // A key may contain colons: `reset:local:`.
    let (key, value) = match content.strip_suffix(':').filter(|key| !key.contains(' ')) {
        Some(key) => (key, ""),
        None => content.split_once(": ")?,
    };
    let key = key.trim_matches(['"', '\'']);
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    is_key.then(|| (key.to_owned(), value.trim()))
}

/// Removes quotes, or a trailing comment.
fn plain(value: &str) -> String {
    let is_quoted = |quote: char| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    if is_quoted('"') || is_quoted('\'') {
        return value.get(1..value.len() - 1).unwrap_or(value).replace("\\\"", "\"");
    }
    value.split(" #").next().unwrap_or(value).trim_end().to_owned()
}

/// Parses a flow list or map; any other text becomes a string.
pub(crate) fn flow(text: &str) -> Json {
    let text = text.trim();
    let open = text.starts_with(['[', '{']);
    let read = open.then(|| Flow { rest: text }.value(0)).flatten();
    read.unwrap_or_else(|| Json::String(text.to_owned()))
}

/// Cursor over a text in brackets.
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

    /// Consumes the sign if it is the next character after blanks.
    fn takes(&mut self, sign: char) -> bool {
        let next = self.rest.trim_start();
        let after = next.strip_prefix(sign);
        self.rest = after.unwrap_or(next);
        after.is_some()
    }

    /// A quoted text, or one that ends before one of the characters in `ends`.
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
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, ch)) = chars.next() {
            match ch {
                '\\' if quote == '"' => text.extend(chars.next().map(|(_, ch)| ch)),
                _ if ch == quote => {
                    self.rest = self.rest.get(at + 1..).unwrap_or("");
                    return Some(text);
                }
                _ => text.push(ch),
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
        check(text, &["a=", "a.b=x", "a.d=one two", "a=e", "f=g: h"]);
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> =
            entries(text).into_iter().map(|(keys, text)| format!("{}={text}", keys.join("."))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_style_means_the_same() {
        for text in [
            "a:\n  b: c d\n  e: [f]\n",
            "{a: {b: c d, e: [f]}}",
            "{\"a\": {\"b\": \"c d\", \"e\": [\"f\"]}}",
            "{\n\t\"a\": {\"b\": \"c\\x20d\",\n\t\"e\": [\"f\"]}}",
            "\u{feff}%YAML 1.2\n---\r\n? a\r\n: ? 'b'\r\n  : c\r\n    d\r\n  ? e\r\n  : - f\r\n",
            "a: !!map\n  b: !!str >2-\n    c\n    d\n  e: [!!binary Zg==]\n",
        ] {
            check(text, &["a=", "a.b=c d", "a.e=", "a.e=f"]);
        }
    }

    #[test]
    fn names_stand_for_what_they_name() {
        check("a: &x {b: c}\nd: *x\ne: {<<: *x, f: g}\n", &["a=", "a.b=c", "d=", "d.b=c", "e=", "e.f=g", "e.b=c"]);
        check("a: &x b\n*x : c\n", &["a=b", "b=c"]);
        let mut bomb = "a0: &a0 [x, x]\n".to_owned();
        for n in 1..60 {
            bomb.push_str(&format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1));
        }
        check(&bomb, &[]);
    }

    #[test]
    fn a_template_is_read_line_by_line() {
        check(
            "{{- if .x }}\na:\n  - b: [c, d]\n{{- end }}\n",
            &["={{- if .x }}", "a=", "a.b=c", "a.b=d", "={{- end }}"],
        );
    }

    #[test]
    fn the_head_of_a_text() {
        assert_eq!(front_matter("---\na: b\n---\nc\n").map(str::trim), Some("a: b"));
        assert_eq!(front_matter("---\na: b\n"), None);
        assert_eq!(front_matter("a\n---\nb\n---\n"), None);
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
        check_flow(&"[".repeat(99), &format!("\"{}\"", "[".repeat(99)));
    }
}
