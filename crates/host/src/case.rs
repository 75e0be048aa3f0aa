//! A decision as a case that anybody can play again: without secrets and without the names of this machine's folders.

use crate::answer::Host;
use crate::world::LocalWorld;
use reflex_engine::{Known, Names, Untracked, World};
use serde_json::{Map, Value, json};

impl Host {
    /// The case of a record: a universal event with the facts of now, that a person expects to be allowed. `None` if
    /// the record holds no text.
    pub fn case(&self, record: &Map<String, Value>) -> Option<Map<String, Value>> {
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("");
        let workspace = text("workspace");
        let home = self.folders().home.to_string_lossy().into_owned();
        let neutral = |text: &str| {
            let text = if workspace.len() > 1 { text.replace(workspace, "/repo") } else { text.to_owned() };
            if home.len() > 1 { text.replace(&home, "/home/user") } else { text }
        };
        let action = record.get("actions")?.as_array()?.first()?.as_object()?;
        let (event, field) = match action.get("kind")?.as_str()? {
            "shell" => ("pre-command", "command"),
            "write" => ("pre-write", "path"),
            "edit" => ("pre-edit", "path"),
            "delete" => ("pre-delete", "path"),
            "read" => ("pre-read", "path"),
            _ => return None,
        };
        let subject = neutral(action.get(field)?.as_str()?);
        let mut case = Map::new();
        let mut put = |key: &str, value: Value| drop(case.insert(key.into(), value));
        put("schema", "reflex/case-v1".into());
        put("id", format!("fp-{}", text("pending")).into());
        put("event", event.into());
        if field == "command" {
            put("command", subject.into())
        } else {
            put("files", json!([subject]))
        }
        let cwd = if text("cwd").is_empty() { workspace } else { text("cwd") };
        put("cwd", neutral(cwd).into());
        put("workspace", "/repo".into());
        put("home", "/home/user".into());
        if let Some(git) = git_facts(&LocalWorld::new(workspace, self.guard()), workspace) {
            put("facts", json!({"git": git}));
        }
        put("expected", "allow".into());
        put("was", text("decision").into());
        let found = record.get("findings").and_then(Value::as_array);
        let ids = found.map(|all| all.iter().filter_map(|finding| finding.get("id").cloned()).collect::<Vec<_>>());
        put("findings", ids.unwrap_or_default().into());
        put("library", text("library").into());
        Some(case)
    }
}

/// What git knows of the work tree now; `None` where it is none.
fn git_facts(world: &LocalWorld, workspace: &str) -> Option<Value> {
    let branch = world.branch(workspace)?;
    let names = |known: Known<Names>| known.map(|names| names.names).unwrap_or_default();
    Some(json!({
        "branch": branch,
        "dirty": names(world.uncommitted(workspace)),
        "untracked": names(world.untracked(workspace, Untracked::Ordinary)),
        "ignored": names(world.untracked(workspace, Untracked::Ignored)),
        "protected": world.protected(workspace),
    }))
}
