//! Gemini CLI's policies: `[[rule]]` with a decision and a priority; the highest priority wins.

use super::error::FormatError;
use super::reader::{Line, Reader, Wish, words_of};
use serde_json::{Value, json};

/// Keys that restrict the scope of a rule and have no counterpart here.
const UNKNOWN: [&str; 3] = ["subagent", "toolAnnotations", "interactive"];

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let all: Value = toml::from_str(reader.text)?;
    let mut number = 0;
    for rule in all.get("rule").and_then(Value::as_array).into_iter().flatten() {
        number = reader.line("[[rule]]", number);
        one(reader, rule, number);
    }
    Ok(())
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn one(reader: &mut Reader<'_>, rule: &Value, number: usize) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or("");
    let (tools, prefixes) = (texts(rule.get("toolName")), texts(rule.get("commandPrefix")));
    let about = if prefixes.is_empty() { tools.join(", ") } else { prefixes.join(", ") };
    let line = Line { number, text: format!("{} {about}", text("decision")) };
    let wish = match text("decision") {
        "allow" => Wish::Allow,
        "ask_user" => Wish::Ask,
        "deny" => Wish::Block,
        other => return reader.refuse(&line, format!("unknown decision `{other}`")),
    };
    if let Some(key) = UNKNOWN.iter().find(|key| rule.get(**key).is_some()) {
        return reader.refuse(&line, format!("`{key}` has no counterpart in a call"));
    }
    let modes = rule.get("modes").is_some();
    if modes && wish == Wish::Allow {
        return reader.refuse(&line, "it applies only in some modes, and Reflex's allowance would apply in all");
    }
    let priority = rule.get("priority").and_then(Value::as_i64).unwrap_or(0);
    if !prefixes.is_empty() {
        for prefix in &prefixes {
            reader.command(&line, wish, &words_of(prefix), (text("denyMessage"), priority));
        }
        return;
    }
    if wish == Wish::Allow {
        return reader
            .refuse(&line, "only the first words of a command can be allowed; calls that no rule stops pass anyway");
    }
    let mut conditions: Vec<Value> = Vec::new();
    if let Some(pattern) = rule.get("commandRegex").and_then(Value::as_str) {
        conditions.push(json!({"field": "command", "op": "regex", "pattern": format!("^(?:{pattern})")}));
    }
    if let Some(pattern) = rule.get("argsPattern").and_then(Value::as_str) {
        conditions.push(json!({"field": "tool_input", "op": "regex", "pattern": pattern}));
    }
    let server = text("mcpName");
    if !server.is_empty() {
        conditions.push(json!({"field": "tool_name", "op": "regex", "pattern": format!("^mcp_+{}_", escaped(server))}));
    } else if !tools.is_empty() && (tools != ["run_shell_command"] || conditions.is_empty()) {
        let named = tools.iter().map(|tool| escaped(tool).replace("\\*", ".*")).collect::<Vec<_>>().join("|");
        conditions.push(json!({"field": "tool_name", "op": "regex", "pattern": format!("^({named})$")}));
    }
    if conditions.is_empty() {
        return reader.refuse(&line, "it names no tool, so it would apply to every call");
    }
    let outcome = reader.rule(&line, wish, (&["tool_call"], &Value::Array(conditions)), text("denyMessage"));
    if rule.get("argsPattern").is_some() {
        reader.narrow(outcome, "Reflex serializes the arguments before the comparison, so their order may differ");
    } else if modes {
        reader.narrow(outcome, "it applies in every mode");
    }
}

fn escaped(text: &str) -> String {
    let one = |ch: char| {
        if ch.is_alphanumeric() || "-_".contains(ch) { ch.to_string() } else { format!("\\{ch}") }
    };
    text.chars().map(one).collect()
}
