//! The purpose of a tool without a table of its own, if its name and arguments show it: statements for a database, or
//! an operation that destroys, sends or deploys something. Its effects on this machine are actions of their own
//! ([`super::tool_call`]).

mod names;

use self::names::{RiskyAct, risky_act};
use super::effects::EffectExtractor;
use super::tool_call::call::{Call, Called};
use super::tool_call::name::words;
use crate::model::effect::EffectKind;
use crate::model::event::{Action, AgentPath};
use reflex_shell::{Origin, Value};
use serde_json::{Map, Value as Json};

/// Keys of a file's path, and of the content written to it.
const PATHS: [&str; 5] = ["path", "file_path", "filePath", "filename", "relative_path"];
const CONTENTS: [&str; 8] =
    ["content", "contents", "text", "file_content", "newText", "new_text", "new_string", "new_str"];

/// Keys that indicate a path outside this machine.
const FAR: [&str; 7] = ["owner", "repo", "repository", "project_id", "projectId", "bucket", "drive"];

/// Usual names of shared branches.
const SHARED_BRANCHES: [&str; 5] = ["main", "master", "production", "prod", "release"];

/// Maximum depth of objects with arguments of the tool itself.
const DEEPEST: usize = 2;

impl EffectExtractor<'_> {
    /// Adds the effects of a tool outside this machine. Effects on this machine are actions of their own.
    pub(super) fn served(&mut self, called: Called<'_>, call: &Call) {
        let Called { server, tool, .. } = called;
        let fields = serde_json::from_str::<Map<String, Json>>(called.arguments).unwrap_or_default();
        // A message sent by an agent's own tool goes to the person or to another agent.
        let risky_act =
            risky_act(self.tables, server, tool).filter(|risky_act| !server.is_empty() || *risky_act != RiskyAct::Send);
        self.done(server, tool, risky_act);
        let is_far = is_far_file(tool, &fields);
        if is_far {
            self.done(server, tool, Some(RiskyAct::Destroy));
        }
        call.statements.iter().for_each(|statement| self.statement(statement));
        self.shared(tool, &fields);
        if call.is_cut {
            self.push(self.effect_on(EffectKind::ExceedLimit, tool));
        }
        if !(call.is_judged || is_far || risky_act.is_some()) {
            self.push(self.effect_on(EffectKind::Unjudged, tool));
        }
    }

    fn statement(&mut self, statement: &str) {
        let text = Value::text(statement, Origin::default());
        self.push(self.effect_on(EffectKind::Sql, statement).argument(Some(text)));
    }

    /// Adds the effect that the tool's name alone implies: `delete_repository`, `send_email`.
    fn done(&mut self, server: &str, tool: &str, risky_act: Option<RiskyAct>) {
        let Some(risky_act) = risky_act else { return };
        let (kind, flag) = match risky_act {
            RiskyAct::Destroy => (EffectKind::DestroyRemote, "tool"),
            RiskyAct::Change => (EffectKind::ChangeRemote, "tool"),
            RiskyAct::Deploy => (EffectKind::Deploy, "tool"),
            RiskyAct::Merge => (EffectKind::ChangeRemote, "merge"),
            RiskyAct::Pay => (EffectKind::ChangeRemote, "money"),
            RiskyAct::Send => (EffectKind::ChangeRemote, "message"),
            RiskyAct::Grant => (EffectKind::ChangeRemote, "rights-of-others"),
        };
        let label = if server.is_empty() { tool.to_owned() } else { format!("{tool} of {server}") };
        self.push(self.effect_on(kind, &label).mark(flag));
    }

    /// Adds writes to a shared branch: `push_files`, `create_or_update_file`.
    fn shared(&mut self, tool: &str, fields: &Map<String, Json>) {
        let words = words(tool);
        let writes = words.iter().any(|word| ["push", "create", "update", "delete", "commit"].contains(&word.as_str()));
        let files = words.iter().any(|word| ["file", "files"].contains(&word.as_str()));
        let branch = fields.get("branch").and_then(Json::as_str).unwrap_or("");
        if writes && files && SHARED_BRANCHES.contains(&branch) {
            self.push(self.effect_on(EffectKind::ChangeRemote, branch).mark("merge"));
        }
    }
}

/// Returns whether the tool deletes a file identified by an id, such as `delete_file`; that file is on the server.
fn is_far_file(tool: &str, fields: &Map<String, Json>) -> bool {
    let words = words(tool);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let by_number =
        ["file_id", "fileId", "folder_id", "folderId", "document_id"].iter().any(|key| fields.contains_key(*key));
    by_number && has(&["delete", "trash", "remove"]) && has(&["file", "folder", "document"])
}

/// Returns the write of a server's tool to a file of its own. The commands that the file makes others run are judged as
/// on this machine. A write to a file on this machine is an action of its own.
pub(crate) fn written(tool: &str, arguments: &str) -> Option<Action> {
    let fields = serde_json::from_str::<Map<String, Json>>(arguments).ok()?;
    let words = words(tool);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let path = PATHS.iter().find_map(|key| fields.get(*key).and_then(Json::as_str))?;
    let is_far = FAR.iter().any(|key| fields.contains_key(*key));
    let writes = has(&["write", "create", "save", "append", "edit", "update", "replace", "insert", "put"]);
    let deletes = has(&["delete", "remove"]) && has(&["file", "directory", "folder", "path"]);
    let mut parts = Vec::new();
    contents(&fields, DEEPEST, &mut parts);
    let fills = is_far && writes && !deletes && !parts.is_empty();
    fills.then(|| Action::Write { path: AgentPath::new(path), content: parts.join("\n") })
}

fn contents(fields: &Map<String, Json>, depth: usize, found: &mut Vec<String>) {
    for (key, value) in fields {
        match value {
            Json::String(text) if CONTENTS.contains(&key.as_str()) => found.push(text.clone()),
            Json::Object(inner) if depth > 1 => contents(inner, depth - 1, found),
            Json::Array(items) if depth > 1 => {
                items.iter().filter_map(Json::as_object).for_each(|inner| contents(inner, depth - 1, found));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {}
        }
    }
}
