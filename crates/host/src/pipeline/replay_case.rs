//! A decision as a case that anyone can replay: without secrets and without the folder names of this machine.

use super::host::Host;
use crate::store::redact::is_cut;
use crate::world::LocalWorld;
use reflex_engine::{Affected, Git, Names, Untracked};
use serde_json::{Map, Value, json};

impl Host {
    /// The case of a record: a universal event with the facts of now, expected to be allowed. `None` if the record does
    /// not hold the full text and the call is not kept next to it.
    pub fn case(&self, record: &Map<String, Value>) -> Option<Map<String, Value>> {
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("");
        let workspace = text("workspace");
        let home = self.folders().home.to_string_lossy().into_owned();
        let neutral = |text: &str| {
            let text = if workspace.len() > 1 { text.replace(workspace, "/repo") } else { text.to_owned() };
            if home.len() > 1 { text.replace(&home, "/home/user") } else { text }
        };
        let call = self.store().pending_call(text("pending")).and_then(|call| call.again);
        let call = call.or_else(|| recorded(record))?;
        let mut case = Map::new();
        let mut put = |key: &str, value: Value| drop(case.insert(key.into(), value));
        put("schema", "reflex/case-v1".into());
        put("id", format!("fp-{}", text("pending")).into());
        for (key, value) in call.iter().filter(|(key, _)| CALL.contains(&key.as_str())) {
            let texts = value.as_array().map(|all| all.iter().filter_map(Value::as_str).map(neutral).collect());
            put(key, texts.unwrap_or_else(|| neutral(value.as_str().unwrap_or("")).into()));
        }
        let cwd = if text("cwd").is_empty() { workspace } else { text("cwd") };
        put("cwd", neutral(cwd).into());
        put("workspace", "/repo".into());
        put("home", "/home/user".into());
        if let Some(git) = git_facts(&self.plain_world(workspace), workspace) {
            put("facts", json!({"git": git}));
        }
        put("expected", "allow".into());
        put("was", text("decision").into());
        let found = record.get("findings").and_then(Value::as_array);
        let ids = found.map(|all| all.iter().filter_map(|finding| finding.get("id").cloned()).collect::<Vec<_>>());
        put("findings", ids.unwrap_or_default().into());
        put("library", text("library").into());
        // The facts of now are not part of the record and may contain secret file names.
        self.store().cleaned(&Value::Object(case))
    }
}

/// The fields of a universal event that describe its action.
const CALL: [&str; 6] = ["event", "command", "files", "content", "old_string", "url"];

/// The call as its record describes it, without the content that it writes.
pub(super) fn recorded(record: &Map<String, Value>) -> Option<Map<String, Value>> {
    let action = record.get("actions")?.as_array()?.first()?.as_object()?;
    let text = |key: &str| action.get(key)?.as_str().filter(|text| !is_cut(text));
    let call = match action.get("kind")?.as_str()? {
        "shell" => json!({"event": "pre-command", "command": text("command")?}),
        "fetch" => json!({"event": "pre-fetch", "url": text("url")?}),
        kind @ ("write" | "edit" | "delete" | "read") => {
            json!({"event": format!("pre-{kind}"), "files": [text("path")?]})
        }
        _ => return None,
    };
    call.as_object().cloned()
}

/// Git's facts about the work tree now; `None` if it is not one.
fn git_facts(world: &LocalWorld, workspace: &str) -> Option<Value> {
    let branch = world.branch(workspace)?;
    let names = |names: Affected<Names>| names.known().map(|names| names.names).unwrap_or_default();
    Some(json!({
        "branch": branch,
        "dirty": names(world.uncommitted(workspace)),
        "untracked": names(world.untracked(workspace, Untracked::Ordinary)),
        "ignored": names(world.untracked(workspace, Untracked::Ignored)),
        "protected": world.protected(workspace),
    }))
}
