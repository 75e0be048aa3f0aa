//! Hookify's rules: markdown files with the rule in the front matter, followed by the message.

use super::error::FormatError;
use super::reader::{Line, Reader};
use crate::problem::Problems;
use crate::yaml::{Located, Yaml, documents};
use serde_json::{Value, json};

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let rest = reader.text.trim_start().strip_prefix("---").ok_or(FormatError::NoFrontMatter)?;
    let (front, message) = rest.split_once("\n---").ok_or(FormatError::OpenFrontMatter)?;
    let mut problems = Problems::new(reader.file, front);
    let read = documents(front, &mut problems);
    if let Some(problem) = problems.found.into_iter().next() {
        return Err(FormatError::FrontMatter(Box::new(problem)));
    }
    let document = read.into_iter().next().ok_or(FormatError::EmptyFrontMatter)?;
    let text = |name: &str| get(&document, name).and_then(Located::text).unwrap_or_default();
    let name = text("name");
    let line = Line { number: 1, text: name.clone() };
    let (events, field): (&[&str], &str) = match text("event").as_str() {
        "bash" => (&["bash_command"], "command"),
        "file" => (&["file_write", "file_edit"], "content"),
        "prompt" => (&["prompt_submit"], "prompt"),
        "stop" => (&["session_stop"], ""),
        "all" => (&["any"], "command"),
        other => {
            reader.refuse(&line, format!("unknown event `{other}`"));
            return Ok(());
        }
    };
    let conditions = match conditions(&document, field) {
        Ok(conditions) => conditions,
        Err(why) => {
            reader.refuse(&line, why.to_string());
            return Ok(());
        }
    };
    let enabled = get(&document, "enabled").is_none_or(|flag| flag.value != Yaml::Bool(false));
    let action = if text("action") == "block" { "block" } else { "warn" };
    let message = message.trim().replace("{{", "{ {");
    let outcome = reader.rule_with_keys(
        &line,
        json!({
            "name": name, "enabled": enabled, "events": events, "conditions": conditions, "action": action,
            "severity": "medium", "message": message,
        }),
    );
    if message.chars().count() > 500 {
        reader.narrow(outcome, "the message is truncated to 500 characters");
    }
    Ok(())
}

fn get<'d>(document: &'d Located, name: &str) -> Option<&'d Located> {
    document.entries()?.iter().find(|(key, _)| key.text == name).map(|(_, value)| value)
}

/// The reason why a rule's conditions have no counterpart.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    /// They concern a text that is in no call.
    #[error("what an agent said before it stopped is in no call")]
    LastText,
    /// They concern an unknown field.
    #[error("the field `{0}` is in no call")]
    Field(String),
    /// They compare by an unknown operator.
    #[error("the operator `{0}` is not known")]
    Operator(String),
    /// They hold for every call.
    #[error("it has no pattern, so it would fire on everything")]
    NoPattern,
}

/// Parses the conditions, all of which must hold. Case is ignored, as in Hookify.
fn conditions(document: &Located, field: &str) -> Result<Value, Refusal> {
    let mut all = Vec::new();
    if let Some(pattern) = get(document, "pattern").and_then(Located::text).filter(|pattern| !pattern.is_empty()) {
        if field.is_empty() {
            return Err(Refusal::LastText);
        }
        all.push(json!({"field": field, "op": "regex", "pattern": pattern, "case_insensitive": true}));
    }
    for one in get(document, "conditions").map(Located::items).unwrap_or_default() {
        let text = |name: &str| get(one, name).and_then(Located::text).unwrap_or_default();
        let field = match text("field").as_str() {
            "command" => "command",
            "file_path" => "file_path",
            "new_text" | "new_string" | "content" => "content",
            "user_prompt" | "prompt" => "prompt",
            other => return Err(Refusal::Field(other.into())),
        };
        let operator = text("operator");
        let op = match operator.as_str() {
            "regex_match" | "" => "regex",
            known @ ("contains" | "equals" | "not_contains" | "starts_with" | "ends_with") => known,
            other => return Err(Refusal::Operator(other.into())),
        };
        let fold = op == "regex";
        all.push(json!({"field": field, "op": op, "pattern": text("pattern"), "case_insensitive": fold}));
    }
    if all.is_empty() { Err(Refusal::NoPattern) } else { Ok(Value::Array(all)) }
}
