//! The format of `reflex.json`: its JSON Schema for editors, and a validator.

use serde_json::{Map, Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keys of a manifest.
pub const KEYS: [&str; 14] = [
    "$schema",
    "name",
    "title",
    "description",
    "version",
    "license",
    "author",
    "official",
    "events",
    "capabilities",
    "options",
    "entry",
    "tags",
    "examples",
];

/// Required keys of a manifest.
pub const NEEDED: [&str; 6] = ["name", "title", "description", "events", "capabilities", "entry"];

/// Events that a module can handle.
pub const EVENTS: [&str; 2] = ["onToolCall", "onToolResult"];

/// Decisions that a module can return.
pub const DECISIONS: [&str; 4] = ["pass", "deny", "ask", "modify"];

/// Fields of the context that a module can see.
pub const READS: [&str; 6] = ["command", "paths", "cwd", "raw", "options", "reflex"];

/// Capabilities that require a grant by a person.
pub const GRANTS: [&str; 4] = ["files", "writes", "network", "environment"];

/// Option types that values are validated against, also as lists (`string[]`). Any other type only describes the option
/// for people, as in the schema of seed 000.
const TYPES: [&str; 5] = ["string", "number", "boolean", "array", "object"];

/// Returns the schema of a manifest.
pub fn manifest() -> Value {
    let texts = |one: Value| json!({"type": "array", "items": one});
    let text = || json!({"type": "string"});
    let capabilities = json!({
        "type": "object", "additionalProperties": false, "required": ["decisions"],
        "properties": {
            "decisions": texts(json!({"enum": DECISIONS})),
            "reads": texts(json!({"enum": READS})),
            "files": texts(text()), "writes": texts(text()), "network": texts(text()), "environment": texts(text()),
        },
    });
    let option = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"type": {"type": "string", "examples": TYPES}, "description": text(), "required": {"type": "boolean"}},
    });
    let known = json!({
        "$schema": text(), "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}, "title": text(),
        "description": text(), "version": text(), "license": text(), "author": text(), "official": {"type": "boolean"},
        "events": texts(json!({"enum": EVENTS})), "capabilities": capabilities,
        "options": {"type": "object", "additionalProperties": option}, "entry": text(), "tags": texts(text()),
        "examples": {"type": "array"},
    });
    let property = |key: &&str| ((*key).to_owned(), known.get(*key).cloned().unwrap_or_else(|| json!({})));
    let properties: Map<String, Value> = KEYS.iter().map(property).collect();
    json!({
        "$schema": DRAFT, "title": "The manifest of a reflex", "type": "object", "additionalProperties": false,
        "required": NEEDED, "properties": properties,
    })
}

/// Returns the violations of the schema in a manifest.
pub fn problems(manifest: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    let missing = NEEDED.iter().filter(|key| !manifest.contains_key(**key));
    problems.extend(missing.map(|key| format!("`{key}` is missing")));
    for (key, value) in manifest {
        match key.as_str() {
            "events" => words(key, value, &EVENTS, &mut problems),
            "tags" => words(key, value, &[], &mut problems),
            "capabilities" => capabilities(value, &mut problems),
            "options" => options(value, &mut problems),
            "official" if !value.is_boolean() => problems.push("`official` is neither true nor false".into()),
            "examples" if !value.is_array() => problems.push("`examples` is not a list".into()),
            "official" | "examples" => {}
            key if !KEYS.contains(&key) => problems.push(format!("unknown key `{key}`")),
            key if !value.is_string() => problems.push(format!("`{key}` is not a string")),
            _ => {}
        }
    }
    let name = manifest.get("name").and_then(Value::as_str).unwrap_or("a");
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '-';
    if !name.starts_with(|ch: char| ch.is_ascii_lowercase()) || !name.chars().all(plain) {
        problems.push(format!("`name` is `{name}`; it may contain only lower-case characters, digits and dashes"));
    }
    problems
}

/// Returns the violations of the manifest in the options of an entry.
pub fn misfits(manifest: &Map<String, Value>, with: &Value) -> Vec<String> {
    let Some(values) = with.as_object() else { return vec!["the options are not an object".into()] };
    let empty = Map::new();
    let known = manifest.get("options").and_then(Value::as_object).unwrap_or(&empty);
    let mut misfits = Vec::new();
    for (name, value) in values {
        let Some(option) = known.get(name) else {
            misfits.push(format!("unknown option `{name}`"));
            continue;
        };
        let kind = option.get("type").and_then(Value::as_str).unwrap_or("");
        if !is(kind, value) {
            misfits.push(format!("the option `{name}` is not of type {kind}: {value}"));
        }
    }
    let needed = known.iter().filter(|(_, option)| option.get("required") == Some(&Value::Bool(true)));
    let absent = needed.filter(|(name, _)| !values.contains_key(*name));
    misfits.extend(absent.map(|(name, _)| format!("it needs the option `{name}`")));
    misfits
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        // A single value is accepted for a list, as in upstream's own modules.
        list => match (list.strip_suffix("[]"), value) {
            (Some(one), Value::Array(values)) => values.iter().all(|value| is(one, value)),
            (Some(one), value) => is(one, value),
            (None, _) => true,
        },
    }
}

fn capabilities(value: &Value, problems: &mut Vec<String>) {
    let Some(capabilities) = value.as_object() else {
        problems.push("`capabilities` is not an object".into());
        return;
    };
    if !capabilities.contains_key("decisions") {
        problems.push("`capabilities.decisions` is missing".into());
    }
    for (key, value) in capabilities {
        match key.as_str() {
            "decisions" => words("capabilities.decisions", value, &DECISIONS, problems),
            "reads" => words("capabilities.reads", value, &READS, problems),
            key if GRANTS.contains(&key) => words(&format!("capabilities.{key}"), value, &[], problems),
            key => problems.push(format!("unknown key `capabilities.{key}`")),
        }
    }
}

fn options(value: &Value, problems: &mut Vec<String>) {
    let Some(options) = value.as_object() else {
        problems.push("`options` is not an object".into());
        return;
    };
    for (name, option) in options {
        if !option.is_object() {
            problems.push(format!("`options.{name}` is not an object"));
        } else if option.get("type").is_some_and(|kind| !kind.is_string()) {
            problems.push(format!("the type of `options.{name}` is not a string"));
        }
    }
}

/// Validates a list of strings. If `known` is not empty, only its elements are allowed.
fn words(key: &str, value: &Value, known: &[&str], problems: &mut Vec<String>) {
    let Some(list) = value.as_array() else {
        problems.push(format!("`{key}` is not a list"));
        return;
    };
    for item in list {
        match item.as_str() {
            None => problems.push(format!("`{key}` contains a value that is not a string: {item}")),
            Some(word) if !known.is_empty() && !known.contains(&word) => {
                problems.push(format!("`{key}` contains the unknown value `{word}`; known: {}", known.join(", ")));
            }
            Some(_) => {}
        }
    }
}
