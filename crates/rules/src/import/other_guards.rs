//! Rules of cc-safety-net and allowlists of dcg, as far as they have a counterpart.

use super::error::FormatError;
use super::reader::{Line, Reader, Wish, words_of};
use serde_json::{Value, json};

/// `{"rules": [{"name", "command", "subcommand", "block_args", "reason"}]}`
pub(super) fn safety_net(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let all: Value = serde_json::from_str(reader.text)?;
    for rule in all.get("rules").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or("");
        let line = Line { number: reader.line(&json!(text("name")).to_string(), 0), text: text("name").into() };
        let arguments: Vec<&str> =
            rule.get("block_args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        if text("command").is_empty() || arguments.is_empty() {
            reader.refuse(&line, "it names no `command` or no `block_args`");
            continue;
        }
        let begin = format!("{} {}", text("command"), text("subcommand"));
        let patterns: Vec<String> = arguments.iter().map(|argument| format!("{} {argument}", begin.trim())).collect();
        let conditions = json!([{"matches_command": patterns}]);
        let outcome = reader.rule_with_keys(
            &line,
            json!({"name": text("name"), "events": ["bash_command"], "conditions": conditions, "action": "block",
                "message": text("reason")}),
        );
        if arguments.iter().any(|argument| !argument.starts_with('-')) {
            reader.narrow(outcome, "a word without a dash counts as the first operand only");
        }
    }
    Ok(())
}

/// `[[allow]]` with one of `exact_command`, `command_prefix`, `rule`, `pattern`.
pub(super) fn dcg(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let all: Value = toml::from_str(reader.text)?;
    let mut number = 0;
    for entry in all.get("allow").and_then(Value::as_array).into_iter().flatten() {
        number = reader.line("[[allow]]", number);
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("");
        let named =
            ["exact_command", "command_prefix", "rule", "pattern"].into_iter().find(|key| entry.get(*key).is_some());
        let Some(key) = named else { continue };
        let line = Line { number, text: format!("{key} {}", text(key)) };
        let bound =
            ["conditions", "paths", "environments", "context"].into_iter().find(|key| entry.get(*key).is_some());
        if let Some(bound) = bound {
            reader.refuse(&line, format!("Reflex's allowances have no `{bound}`, so this one would apply more often"));
            continue;
        }
        let before = reader.import.allow.len();
        match key {
            "exact_command" => reader.allow_exactly(&line, text(key)),
            "command_prefix" => reader.command(&line, Wish::Allow, &words_of(text(key)), ("", 0)),
            "rule" => reader
                .refuse(&line, "it names a rule of dcg; `reflex rules list` prints the rules that a policy can set"),
            _ => reader.refuse(&line, "a regular expression over the text would also match any text after it"),
        }
        if reader.import.allow.len() > before
            && let Some(made) = reader.import.allow.last_mut().and_then(Value::as_object_mut)
        {
            complete(made, entry);
        }
    }
    Ok(())
}

/// Adds the expiry date.
fn complete(made: &mut serde_json::Map<String, Value>, entry: &Value) {
    // The TOML value of a date is a map with one text.
    let end = entry.get("expires_at").map(|end| end.as_str().map_or_else(|| end.to_string(), str::to_owned));
    let day = end.and_then(|end| {
        let at = end.find("20")?;
        end.get(at..at + 10).map(str::to_owned)
    });
    made.extend(day.map(|day| ("until".to_owned(), day.into())));
}
