//! Entries of a settings file in JSON, YAML, TOML, INI, HCL or XML. A fragment of a file, as in an edit, is read as far
//! as possible.

use super::json::lenient_json;
use super::yaml;
use reflex_shell::work;
use serde_json::Value as Json;

/// A value with its keys, outermost first. A list has one text per item, any other value has a single text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) keys: Vec<String>,
    pub(crate) texts: Vec<String>,
}

/// Maximum number of lines or elements that are read. An excess is reported.
const MAX_ENTRIES: usize = 20_000;

/// Maximum nesting of values. Deeper ones are not read.
const MAX_LEVELS: usize = 32;

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Yaml,
    /// `key = value` below `[section]`: TOML, HCL.
    Lines,
    /// Like `Lines`, and an indented line continues the previous one.
    Ini,
    Xml,
}

/// Returns the settings of a file in order.
pub(crate) fn settings(path: &str, text: &str) -> Vec<Setting> {
    if !work::spend_bytes(text.len(), 20) {
        return Vec::new();
    }
    let mut found = Found::default();
    match form(path, text) {
        Form::Json => found.json_text(text),
        Form::Yaml => found.yaml(text),
        Form::Lines => found.lines(text, false),
        Form::Ini => found.lines(text, true),
        Form::Xml => found.xml(text),
    }
    found.settings
}

/// Format by the file's extension, or otherwise by its first character.
fn form(path: &str, text: &str) -> Form {
    let ending = crate::model::path::name_of(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    match (ending.to_ascii_lowercase().as_str(), text.trim_start().chars().next()) {
        ("json" | "jsonc" | "json5" | "code-workspace", _) => Form::Json,
        ("yml" | "yaml", _) => Form::Yaml,
        ("toml" | "tf" | "hcl", _) => Form::Lines,
        ("ini" | "cfg" | "conf" | "config" | "service" | "timer" | "desktop", _) => Form::Ini,
        ("xml" | "plist" | "csproj" | "fsproj" | "vcxproj" | "props" | "targets" | "proj", _) => Form::Xml,
        (_, Some('{')) => Form::Json,
        (_, Some('<')) => Form::Xml,
        (_, Some('[')) => Form::Ini,
        _ if text.lines().any(|line| line.contains('=') && !line.contains(": ")) => Form::Ini,
        _ => Form::Yaml,
    }
}

#[derive(Default)]
struct Found {
    settings: Vec<Setting>,
}

impl Found {
    /// Adds a text. If `continues` and the keys are those of the last setting, the text extends its list.
    fn add(&mut self, keys: &[&str], text: &str, continues: bool) {
        if self.settings.len() >= MAX_ENTRIES {
            return work::cut(|| format!("settings have more than {MAX_ENTRIES} entries"));
        }
        if let Some(last) = self.settings.last_mut().filter(|last| continues && last.keys == keys) {
            return last.texts.push(text.to_owned());
        }
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        self.settings.push(Setting { keys, texts: vec![text.to_owned()] });
    }

    fn json_text(&mut self, text: &str) {
        let inner = text.trim().trim_end_matches(',');
        if let Some(json) = lenient_json(text).or_else(|| lenient_json(&format!("{{{inner}}}"))) {
            return self.json(&json, &mut Vec::new());
        }
        // In a fragment, each complete line is parsed separately.
        for line in text.lines().map(|line| line.trim().trim_end_matches(',')) {
            if let Some(json) = lenient_json(&format!("{{{line}}}")) {
                self.json(&json, &mut Vec::new());
            }
        }
    }

    fn json<'j>(&mut self, json: &'j Json, keys: &mut Vec<&'j str>) {
        if keys.len() > MAX_LEVELS {
            return work::cut(|| format!("settings are nested deeper than {MAX_LEVELS} levels"));
        }
        match json {
            Json::String(text) => self.add(keys, text, false),
            Json::Bool(_) | Json::Number(_) => self.add(keys, &json.to_string(), false),
            Json::Array(items) => {
                let mut first = true;
                for item in items {
                    match item {
                        Json::String(text) => self.add(keys, text, !std::mem::take(&mut first)),
                        Json::Null | Json::Bool(_) | Json::Number(_) => {}
                        Json::Array(_) | Json::Object(_) => self.json(item, keys),
                    }
                }
            }
            Json::Object(fields) => {
                for (key, value) in fields {
                    keys.push(key);
                    self.json(value, keys);
                    keys.pop();
                }
            }
            Json::Null => {}
        }
    }

    fn yaml(&mut self, text: &str) {
        for (keys, value) in yaml::entries(text) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            if !value.is_empty() {
                self.add(&keys, &value, true);
            }
        }
    }

    fn json_below(&mut self, json: &Json, keys: &[&str]) {
        let mut below = Found::default();
        below.json(json, &mut Vec::new());
        for Setting { keys: inner, texts } in below.settings {
            let all = keys.iter().map(|key| (*key).to_owned()).chain(inner).collect();
            self.settings.push(Setting { keys: all, texts });
        }
    }

    fn lines(&mut self, text: &str, indented_continues: bool) {
        let mut section: Vec<String> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let plain = line.trim();
            if plain.is_empty() || plain.starts_with(['#', ';']) || plain.starts_with("//") {
                continue;
            }
            let is_indented = line.starts_with([' ', '\t']);
            if let Some(last) = self.settings.last_mut().filter(|_| indented_continues && is_indented) {
                last.texts.retain(|text| !text.is_empty());
                last.texts.push(plain.to_owned());
                continue;
            }
            if let Some(name) = plain.strip_prefix('[').filter(|_| !plain.contains('=')) {
                let name = name.trim_matches(['[', ']']);
                section = name.split('.').map(|part| part.trim().trim_matches(['"', '\'']).to_owned()).collect();
                continue;
            }
            let Some((key, value)) = plain.split_once('=') else { continue };
            let parts = key.trim().trim_matches(['"', '\'']).rsplit(char::is_whitespace).next().unwrap_or("");
            let mut keys: Vec<&str> = section.iter().map(String::as_str).collect();
            keys.extend(parts.split('.').map(|part| part.trim_matches(['"', '\'', '-', '+'])));
            let value = complete_value(value.trim(), &mut lines);
            if value.starts_with(['[', '{']) {
                // An inline table assigns its keys with `=`.
                self.json_below(&yaml::flow(&value.replace(" = ", ": ")), &keys);
            } else {
                self.add(&keys, &without_quotes(&value), false);
            }
        }
    }

    fn xml(&mut self, text: &str) {
        let mut open: Vec<&str> = Vec::new();
        // The key that a property list specifies for the next value.
        let mut named = "";
        for part in text.split('<').skip(1).take(MAX_ENTRIES) {
            let (tag, content) = part.split_once('>').unwrap_or((part, ""));
            if let Some(name) = tag.strip_prefix('/') {
                if let Some(at) = open.iter().rposition(|known| *known == name.trim()) {
                    open.truncate(at);
                }
                continue;
            }
            if tag.starts_with(['!', '?']) {
                continue;
            }
            let is_empty = tag.ends_with('/');
            let tag = tag.trim_end_matches('/');
            let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            open.push(name);
            self.attributes(&open, attributes);
            let content = content.trim();
            if name == "key" {
                named = content;
            } else if !content.is_empty() {
                let mut keys = open.clone();
                keys.extend(Some(named).filter(|named| !named.is_empty()));
                self.add(&keys, &unescaped(content), true);
            }
            if is_empty || open.len() > MAX_LEVELS {
                open.pop();
            }
        }
    }

    /// Adds attributes as settings; `name="A" value="B"` also sets A.
    fn attributes(&mut self, open: &[&str], attributes: &str) {
        let (mut name, mut value) = (None, None);
        let mut rest = attributes;
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let Some(quote) = after.chars().next().filter(|sign| matches!(sign, '"' | '\'')) else { break };
            let Some((text, after)) = after.get(1..).and_then(|inner| inner.split_once(quote)) else { break };
            let (key, text) = (key.trim(), unescaped(text));
            rest = after;
            let keys: Vec<&str> = open.iter().copied().chain([key]).collect();
            self.add(&keys, &text, false);
            match key {
                "name" => name = Some(text),
                "value" => value = Some(text),
                _ => {}
            }
        }
        if let (Some(name), Some(value)) = (name, value) {
            let keys: Vec<&str> = open.iter().copied().chain([name.as_str()]).collect();
            self.add(&keys, &value, false);
        }
    }
}

/// Reads a value with its continuation lines: triple-quoted texts, lists, and here-documents after `<<`.
fn complete_value<'t>(first: &'t str, lines: &mut impl Iterator<Item = &'t str>) -> String {
    let mut value = first.to_owned();
    let mut take_until = |value: &mut String, ends: &dyn Fn(&str, &str) -> bool| {
        for line in lines.by_ref() {
            value.push('\n');
            value.push_str(line);
            if ends(value, line) {
                return;
            }
        }
    };
    for quote in ["\"\"\"", "'''", "''"] {
        let is_open = |value: &str| value.starts_with(quote) && value.matches(quote).count() < 2;
        if is_open(first) && (quote != "''" || first.trim_end_matches([';', ',']) == quote) {
            take_until(&mut value, &|value, _| !is_open(value));
            let inner = value.trim_start_matches(quote);
            return inner.rsplit_once(quote).map_or(inner, |(inner, _)| inner).trim().to_owned();
        }
    }
    if let Some(word) = first.strip_prefix("<<") {
        let word = word.trim_start_matches('-').trim().to_owned();
        value.clear();
        take_until(&mut value, &|_, line| line.trim() == word);
        return value.trim().trim_end_matches(word.as_str()).trim().to_owned();
    }
    let is_open = |value: &str| value.starts_with('[') && value.matches('[').count() > value.matches(']').count();
    if is_open(first) {
        take_until(&mut value, &|value, _| !is_open(value));
    }
    while value.ends_with('\\') {
        value.pop();
        let Some(next) = lines.next() else { break };
        value.push_str(next.trim());
    }
    value
}

fn without_quotes(value: &str) -> String {
    let Some(quote) = value.chars().next().filter(|sign| matches!(sign, '"' | '\'')) else {
        return value.split(" #").next().unwrap_or(value).trim_end_matches(';').trim_end().to_owned();
    };
    let inner = value.trim_end_matches([';', ',']).get(1..).unwrap_or("");
    match inner.rsplit_once(quote) {
        // `"a" "b"` is not a single quoted text.
        Some((inner, _)) => inner.replace("\\\"", "\"").replace("\\n", "\n"),
        None => value.to_owned(),
    }
}

/// Decodes the predefined XML entities.
fn unescaped(text: &str) -> String {
    const NAMES: [(&str, &str); 5] = [("&quot;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    NAMES.iter().fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = settings(path, text);
        let found: Vec<String> =
            found.iter().map(|found| format!("{}={}", found.keys.join("."), found.texts.join("|"))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn entries_of_every_form() {
        check("a.json", "{\"a\": {\"b\": [\"c\", \"d\"]}, \"e\": true}", &["a.b=c|d", "e=true"]);
        check("a.json", "  \"run\": \"x y\",", &["run=x y"]);
        check("a.json", "\"a\": {\n\"run\": \"x y\",", &["run=x y"]);
        check("a.yml", "a:\n  - run: b\n    with: [c, 'd e']\n", &["a.run=b", "a.with=c|d e"]);
        check("a.yml", "a:\n  - b\n  - c d\n", &["a=b|c d"]);
        check("a.toml", "[t.x]\nrun = \"a b\"\ny = { cmd = \"c\" }\n", &["t.x.run=a b", "t.x.y.cmd=c"]);
        check("a.toml", "a = [\n  \"b\",\n  \"c\",\n]\nd = \"\"\"\ne\nf\"\"\"\n", &["a=b|c", "d=e\nf"]);
        check("a.tf", "x \"y\" {\n  command = <<-EOT\n    a\n    b\n  EOT\n}\n", &["command=a\n    b"]);
        check("tox.ini", "[t]\ncommands =\n    a --b=c\n    d\n", &["t.commands=a --b=c|d"]);
        check("a.service", "[Service]\nExecStart=/bin/sh -c 'x \\\n  y'\n", &["Service.ExecStart=/bin/sh -c 'x y'"]);
        check("a.xml", "<a><b c=\"d&quot;\">e</b><f>g</f><f>h</f></a>", &["a.b.c=d\"", "a.b=e", "a.f=g|h"]);
        check("a.xml", "<o name=\"A\" value=\"B\"/>", &["o.name=A", "o.value=B", "o.A=B"]);
        check(
            "a.plist",
            "<dict><key>K</key><array><string>a</string><string>b</string></array></dict>",
            &["dict.array.string.K=a|b"],
        );
        check(".bazelrc", "build --x_command=\"a b\"\n", &["x_command=a b"]);
        check(".lintstagedrc", "{\"*.js\": \"a\"}", &["*.js=a"]);
    }

    #[test]
    fn what_does_not_end_is_read_as_far_as_it_goes() {
        for text in ["a = \"\"\"b", "a = [\n\"b\"", "<a b=\"c", "a = <<X\nb", "[", "{", "a: [", "\"", "= \\", "<"] {
            for path in ["a.json", "a.yml", "a.toml", "a.ini", "a.xml", "a"] {
                let _ = settings(path, text);
            }
        }
    }
}
