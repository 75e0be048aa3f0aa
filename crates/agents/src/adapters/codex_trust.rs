//! Codex's trust store for hooks: the requests to Codex's own program that make it run the guard's hook.
//!
//! The program speaks JSON-RPC, one object per line. The exchange is stateless: the id of a response identifies its
//! request.

use crate::settings::guard_line::runs_guard;
use crate::settings::trust::{Step, Trust};
use serde_json::{Map, Value, json};

/// Codex's own app-server, with the requests that its settings page sends.
pub(crate) const CODEX: Trust =
    Trust { program: &["codex", "app-server"], begin, next, file: "config.toml", missing: missing_in_codex };

const GREET: u64 = 1;
const LIST: u64 = 2;
const STORE: u64 = 3;
const CHECK: u64 = 4;

fn begin(_folder: &str) -> Vec<String> {
    let client = json!({"clientInfo": {"name": "reflex", "version": env!("CARGO_PKG_VERSION")}});
    vec![json!({"id": GREET, "method": "initialize", "params": client}).to_string()]
}

fn next(line: &str, folder: &str) -> Step {
    let Ok(Value::Object(answer)) = serde_json::from_str::<Value>(line) else { return Step::Wait };
    let Some(id) = answer.get("id").and_then(Value::as_u64).filter(|_| !answer.contains_key("method")) else {
        return Step::Wait;
    };
    if let Some(problem) = answer.get("error") {
        return Step::Failed(problem.get("message").and_then(Value::as_str).unwrap_or("it refuses").to_owned());
    }
    let hooks = guards(answer.get("result"));
    match id {
        GREET => Step::Send(vec![json!({"method": "initialized"}).to_string(), list(LIST, folder)]),
        LIST if hooks.is_empty() => Step::Failed("Codex does not find the hook".into()),
        LIST if hooks.iter().all(is_trusted) => Step::Trusted,
        LIST => Step::Store(vec![store(&hooks)]),
        STORE => Step::Send(vec![list(CHECK, folder)]),
        CHECK if !hooks.is_empty() && hooks.iter().all(is_trusted) => Step::Trusted,
        CHECK => Step::Failed("Codex still does not trust the hook".into()),
        _ => Step::Wait,
    }
}

fn list(id: u64, folder: &str) -> String {
    json!({"id": id, "method": "hooks/list", "params": {"cwds": [folder]}}).to_string()
}

/// Returns the hooks of a response that run the guard.
fn guards(result: Option<&Value>) -> Vec<Map<String, Value>> {
    let entries = result.and_then(|result| result.get("data")).and_then(Value::as_array);
    let hooks = entries.into_iter().flatten().filter_map(|entry| entry.get("hooks")?.as_array()).flatten();
    let runs = |hook: &&Map<String, Value>| hook.get("command").and_then(Value::as_str).is_some_and(runs_guard);
    hooks.filter_map(Value::as_object).filter(runs).cloned().collect()
}

fn is_trusted(hook: &Map<String, Value>) -> bool {
    let is = |key: &str, truth: bool| hook.get(key).and_then(Value::as_bool) == Some(truth);
    let status = hook.get("trustStatus").and_then(Value::as_str);
    !is("enabled", false) && (is("isManaged", true) || status == Some("trusted"))
}

fn store(hooks: &[Map<String, Value>]) -> String {
    let entry = |hook: &Map<String, Value>| {
        let (key, hash) = (hook.get("key")?.as_str()?, hook.get("currentHash")?);
        Some((key.to_owned(), json!({"trusted_hash": hash})))
    };
    let value: Map<String, Value> = hooks.iter().filter(|hook| !is_trusted(hook)).filter_map(entry).collect();
    let edits = json!([{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": value}]);
    json!({"id": STORE, "method": "config/batchWrite", "params": {"edits": edits, "reloadUserConfig": true}})
        .to_string()
}

/// Returns the events whose hook has no trust entry. A key such as
/// `[hooks.state."/home/me/.codex/hooks.json:pre_tool_use:0:0"]` holds the file, the event, the group and the index in
/// the group, as 0.169.0 writes it. A group inserted before the guard's shifts its index, so its entry no longer
/// matches.
fn missing_in_codex(hooks: &str, kept: &str) -> Vec<String> {
    let Ok(Value::Object(settings)) = serde_json::from_str::<Value>(hooks) else { return Vec::new() };
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let mut missing = Vec::new();
    for (event, groups) in events {
        for (group, entry) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = entry.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
            let runs = |handler: &Value| handler.get("command").and_then(Value::as_str).is_some_and(runs_guard);
            let guards = handlers.filter(|(_, handler)| runs(handler));
            let keys = guards.map(|(place, _)| format!("hooks.json:{}:{group}:{place}\"", in_snake_case(event)));
            missing.extend(keys.filter(|key| !kept.contains(key)).map(|_| event.clone()));
        }
    }
    missing
}

/// Converts `PreToolUse` to `pre_tool_use`.
fn in_snake_case(name: &str) -> String {
    let mut text = String::new();
    for ch in name.chars() {
        if ch.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(ch.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(id: u64, status: &str) -> String {
        let hook = |command: &str| json!({"key": "/h:pre_tool_use:0:0", "command": command, "currentHash": "sha256:1", "trustStatus": status, "enabled": true, "isManaged": false});
        json!({"id": id, "result": {"data": [{"cwd": "/w", "hooks": [hook("other hook"), hook("/x/reflex hook --agent codex")]}]}}).to_string()
    }

    #[test]
    fn a_hook_that_was_moved_is_not_trusted_any_more() {
        let guard = json!({"hooks": [{"command": "/x/reflex hook --agent codex"}]});
        let hooks = |groups: &[&Value]| json!({"hooks": {"PreToolUse": groups}}).to_string();
        let kept = "[hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n";
        let other = json!({"hooks": [{"command": "true"}]});
        assert_eq!(missing_in_codex(&hooks(&[&guard]), kept), Vec::<String>::new());
        assert_eq!(missing_in_codex(&hooks(&[&guard]), ""), ["PreToolUse"]);
        assert_eq!(missing_in_codex(&hooks(&[&other, &guard]), kept), ["PreToolUse"]);
    }

    #[test]
    fn only_the_guards_own_hook_is_trusted() {
        let Step::Store(lines) = next(&listed(LIST, "untrusted"), "/w") else { panic!("nothing is said") };
        let expected = r#"{"id":3,"method":"config/batchWrite","params":{"edits":[{"keyPath":"hooks.state","mergeStrategy":"upsert","value":{"/h:pre_tool_use:0:0":{"trusted_hash":"sha256:1"}}}],"reloadUserConfig":true}}"#;
        assert_eq!(lines, [expected]);
        assert_eq!(next(&listed(LIST, "trusted"), "/w"), Step::Trusted);
        assert_eq!(next(&listed(CHECK, "trusted"), "/w"), Step::Trusted);
        assert!(matches!(next(&listed(CHECK, "untrusted"), "/w"), Step::Failed(_)));
    }

    #[test]
    fn what_is_no_answer_is_waited_for() {
        for line in
            ["", "noise", "{}", r#"{"method":"remoteControl/status","params":{}}"#, r#"{"id":2,"method":"ask"}"#]
        {
            assert_eq!(next(line, "/w"), Step::Wait, "{line}");
        }
        assert_eq!(next(r#"{"id":1,"error":{"message":"no"}}"#, "/w"), Step::Failed("no".into()));
    }
}
