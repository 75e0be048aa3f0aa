//! The texts of one argument object of a tool, by the meaning of their keys.

use super::name::Way;
use super::texts;
use crate::text::deep_json::parse_json;
use reflex_shell::patch::Part;
use reflex_tables::views::Tools;
use serde_json::{Map, Value as Json};

/// Maximum length in bytes of a text that is parsed as nested arguments.
const MAX_JSON: usize = 1024 * 1024;

/// Texts by their meaning.
#[derive(Debug, Default)]
pub(super) struct Slots<'a> {
    pub(super) commands: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) programs: Vec<String>,
    pub(super) codes: Vec<String>,
    pub(super) statements: Vec<(String, bool)>,
    pub(super) paths: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) destinations: Vec<String>,
    pub(super) new_names: Vec<String>,
    pub(super) contents: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) patches: Vec<String>,
    pub(super) urls: Vec<String>,
    pub(super) language: Option<String>,
    pub(super) place: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) verb: Option<String>,
    pub(super) others: Vec<String>,
    pub(super) parts: Vec<Part>,
    pub(super) deep: bool,
    pub(super) far: bool,
    pub(super) nested: Vec<Map<String, Json>>,
    /// The tool that the object calls, with its arguments.
    pub(super) inner: Option<(&'a str, Map<String, Json>)>,
    pub(super) server: &'a str,
    /// The unmodified fields.
    pub(super) fields: Option<&'a Map<String, Json>>,
}

impl<'a> Slots<'a> {
    /// Returns the texts of an object.
    pub(super) fn new(fields: &'a Map<String, Json>, tools: Tools<'static>) -> Slots<'a> {
        let mut slots = Slots { inner: inner(fields, tools), fields: Some(fields), ..Slots::default() };
        if slots.inner.is_some() {
            let named = |key: &&str| fields.get(*key).and_then(Json::as_str);
            slots.server = ["server_name", "server", "serverName", "mcp_server"].iter().find_map(named).unwrap_or("");
            return slots;
        }
        for (key, value) in fields {
            slots.take(key_of(key, tools), value);
        }
        slots
    }

    fn take(&mut self, key: Key, value: &Json) {
        match value {
            Json::Null => {}
            Json::Bool(on) => self.flag(key, *on),
            Json::Number(number) => self.text(key, &number.to_string()),
            Json::String(text) => match within(key, text) {
                Some(inner) => self.take(key, &inner),
                None => self.text(key, text),
            },
            Json::Array(items) if are_lines(items) => {
                self.text(key, &items.iter().filter_map(Json::as_str).collect::<String>());
            }
            Json::Array(items) if key.meaning == "keys" => self.others.push(texts::typed(items)),
            Json::Array(items) if key.meaning == "command" || key.meaning == "code" => self.commands_of(key, items),
            Json::Array(items) => items.iter().for_each(|item| self.take(key, item)),
            Json::Object(fields) if key.meaning == "path" && are_files(fields) => {
                let file = |(path, content): (&String, &Json)| {
                    Map::from_iter([("path".to_owned(), path.as_str().into()), ("content".to_owned(), content.clone())])
                };
                self.nested.extend(fields.iter().map(file));
            }
            Json::Object(fields) if are_edits(fields) => {
                let file = |(path, edits): (&String, &Json)| {
                    Map::from_iter([("path".to_owned(), path.as_str().into()), ("edits".to_owned(), edits.clone())])
                };
                self.nested.extend(fields.iter().map(file));
            }
            Json::Object(fields) => {
                self.deep |= fields.get("recursive") == Some(&Json::Bool(true));
                self.nested.push(fields.clone());
            }
        }
    }

    /// Reads nested calls passed as a text: `{"payload": "{\"command\": …}"}`.
    pub(super) fn take_handed_on(&mut self) {
        let object = |text: &String| parsed::<Map<String, Json>>(text);
        let begins = |text: &&String| text.len() <= MAX_JSON && text.trim_start().starts_with('{');
        if self.paths.is_empty() && self.urls.is_empty() {
            self.nested.extend(self.contents.iter().filter(begins).filter_map(object));
        }
    }

    /// Returns whether the texts are encoded in base64.
    pub(super) fn is_encoded(&self) -> bool {
        let named = ["encoding", "contentEncoding", "content_encoding", "format"];
        let encoding = named.iter().find_map(|key| self.fields?.get(*key)?.as_str());
        encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64") || encoding.eq_ignore_ascii_case("b64"))
    }

    /// Adds several command lines if the first item has more than one word, otherwise the words of one.
    fn commands_of(&mut self, key: Key, items: &[Json]) {
        let texts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
        let are_texts = texts.first().is_some_and(|first| first.trim().contains(char::is_whitespace));
        match key.meaning {
            "code" => texts.iter().for_each(|text| self.text(key, text)),
            _ if texts.is_empty() => {}
            _ if are_texts => self.commands.push(texts.join(";\n")),
            _ => self.commands.push(texts.iter().map(|word| texts::word(word)).collect::<Vec<_>>().join(" ")),
        }
        items.iter().filter(|item| item.is_object()).for_each(|item| self.take(key, item));
    }

    fn flag(&mut self, key: Key, on: bool) {
        match key.meaning {
            "deep" => self.deep |= on,
            "far" => self.far |= on,
            _ => {}
        }
    }

    fn text(&mut self, key: Key, text: &str) {
        let list = match key.meaning {
            "deep" => return self.flag(key, matches!(text, "true" | "1" | "yes")),
            "far" => return self.far = true,
            "label" | "called" => return,
            "language" => return self.language = Some(text.to_ascii_lowercase()),
            "place" => return self.place = Some(text.to_owned()),
            "mode" => return self.mode = Some(text.to_owned()),
            "verb" => return self.verb = Some(text.to_owned()),
            "statement" => return self.statements.push((text.to_owned(), key.is_sql)),
            "command" => &mut self.commands,
            "arguments" => &mut self.arguments,
            "program" => &mut self.programs,
            "code" => &mut self.codes,
            "path" => &mut self.paths,
            "source" => &mut self.sources,
            "destination" => &mut self.destinations,
            "newname" => &mut self.new_names,
            "content" => &mut self.contents,
            "gone" => &mut self.removed,
            "patch" => &mut self.patches,
            "url" => &mut self.urls,
            _ => &mut self.others,
        };
        list.push(text.to_owned());
    }

    /// Takes the individual changes of the file that this object names, if they are a list of objects.
    pub(super) fn take_parts(&mut self, way: Option<Way>, tools: Tools<'static>) {
        let writes = matches!(way, None | Some(Way::Writes | Way::Edits | Way::Makes));
        if !writes || self.paths.is_empty() {
            return;
        }
        for nested in std::mem::take(&mut self.nested) {
            let inner = Slots::new(&nested, tools);
            let is_part = inner.paths.is_empty() && !(inner.contents.is_empty() && inner.removed.is_empty());
            if is_part {
                let [removed, content] = [inner.removed, inner.contents].map(|texts| texts.join("\n"));
                self.parts.push(Part { context: String::new(), removed, content });
            } else {
                self.nested.push(nested);
            }
        }
    }

    /// Returns the command lines of this object, with their arguments.
    pub(super) fn lines(&self) -> Vec<String> {
        let first = match (self.commands.as_slice(), self.programs.as_slice()) {
            ([command], [program]) => return vec![format!("{program} {command}")],
            ([command], _) => command,
            ([], [program]) => program,
            ([], []) if self.arguments.len() > 1 => {
                return vec![self.arguments.iter().map(|word| texts::word(word)).collect::<Vec<_>>().join(" ")];
            }
            _ => return self.commands.clone(),
        };
        let words: Vec<String> = match self.arguments.as_slice() {
            [] => Vec::new(),
            // One text may hold several words.
            [one] => vec![one.clone()],
            more => more.iter().map(|word| texts::word(word)).collect(),
        };
        vec![std::iter::once(first.clone()).chain(words).collect::<Vec<_>>().join(" ")]
    }
}

/// `{"src/a.c": "int a;"}`: files with their contents.
fn are_files(fields: &Map<String, Json>) -> bool {
    let is_file = |(path, content): (&String, &Json)| path.contains(['/', '.', '\\']) && content.is_string();
    !fields.is_empty() && fields.iter().all(is_file)
}

/// `{"file:///a": [{"newText": …}]}`: files with their changes, in the format of language servers.
fn are_edits(fields: &Map<String, Json>) -> bool {
    let is_edit = |edits: &Vec<Json>| !edits.is_empty() && edits.iter().all(Json::is_object);
    let is_file = |(path, edits): (&String, &Json)| texts::is_path(path) && edits.as_array().is_some_and(is_edit);
    !fields.is_empty() && fields.iter().all(is_file)
}

/// Returns whether the items are the lines of one text, as in notebooks.
fn are_lines(items: &[Json]) -> bool {
    let ends = |item: &Json| item.as_str().is_some_and(|text| text.ends_with('\n'));
    match items.split_last() {
        Some((last, before)) => !before.is_empty() && last.is_string() && before.iter().all(ends),
        None => false,
    }
}

/// The meaning of a key; empty if it is unknown.
#[derive(Debug, Clone, Copy)]
struct Key {
    meaning: &'static str,
    is_sql: bool,
}

fn key_of(key: &str, tools: Tools<'static>) -> Key {
    const MAX_KEY: usize = 40;
    let chars = key.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase() as char);
    let plain: String = chars.take(MAX_KEY).collect();
    let plain = plain.trim_end_matches(|ch: char| ch.is_ascii_digit());
    let known = tools.keys().get(plain);
    let is_sql = plain.contains("sql");
    let is_statement = is_sql || plain.contains("query") || plain.contains("statement");
    Key { meaning: if known.is_empty() && is_statement { "statement" } else { known }, is_sql }
}

/// Parses arguments passed as a text. Content for a file stays a text.
fn within(key: Key, text: &str) -> Option<Json> {
    let may = !matches!(key.meaning, "content" | "patch" | "gone" | "label");
    let begins = text.len() <= MAX_JSON && text.trim_start().starts_with(['{', '[']);
    if !may || !begins {
        return None;
    }
    let value = parsed::<Json>(text)?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Parses the JSON in a text.
fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    parse_json(text).ok()
}

/// `{"tool": "run_shell", "arguments": {…}}`: returns the tool that this one calls.
fn inner<'a>(fields: &'a Map<String, Json>, tools: Tools<'static>) -> Option<(&'a str, Map<String, Json>)> {
    let is_name = |text: &&str| !text.is_empty() && text.len() <= 128 && !text.contains(char::is_whitespace);
    let called = fields.iter().find(|(key, _)| key_of(key, tools).meaning == "called" || key.as_str() == "name");
    let tool = called?.1.as_str().filter(is_name)?;
    let keys =
        ["arguments", "args", "parameters", "params", "input", "tool_input", "toolInput", "toolArgs", "tool_args"];
    let value = keys.iter().find_map(|key| fields.get(*key))?;
    let arguments = match value {
        Json::Object(arguments) => arguments.clone(),
        Json::String(text) => parsed(text)?,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => return None,
    };
    Some((tool, arguments))
}
