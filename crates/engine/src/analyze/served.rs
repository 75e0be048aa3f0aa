//! What a server's tool is told to do, where its name and arguments say so: a command that it runs, statements for a
//! database, something that it would destroy, send or put live, a file that it writes.

mod names;

use self::names::{Deed, deed, words};
use super::Drafter;
use crate::effect::EffectKind;
use crate::event::{Action, AgentPath};
use reflex_shell::{Language, Origin, Reading, Value};
use serde_json::{Map, Value as Json};

/// Keys behind which tools are given a command. What stands there and is none names no program that does anything.
const COMMANDS: [&str; 8] =
    ["command", "commands", "cmd", "shell_command", "cli_command", "command_line", "commandLine", "bash"];

/// Keys behind which tools of databases are given statements.
const STATEMENTS: [&str; 5] = ["sql", "query", "statement", "queries", "statements"];

/// Parts of the names of servers and tools that have a database behind them.
const DATABASES: [&str; 12] = [
    "sql",
    "postgres",
    "database",
    "db",
    "supabase",
    "neon",
    "bigquery",
    "snowflake",
    "duckdb",
    "clickhouse",
    "prisma",
    "maria",
];

/// Keys behind which tools are given a program of another language than the shell's.
const CODE: [&str; 4] = ["code", "script", "source", "python_code"];

/// Keys of a file's path, and of what is written to it.
const PATHS: [&str; 5] = ["path", "file_path", "filePath", "filename", "relative_path"];
const CONTENTS: [&str; 8] =
    ["content", "contents", "text", "file_content", "newText", "new_text", "new_string", "new_str"];

/// Keys that say that the path is one of another place than this machine.
const FAR: [&str; 7] = ["owner", "repo", "repository", "project_id", "projectId", "bucket", "drive"];

/// Branches that others build on, by their usual names.
const SHARED_BRANCHES: [&str; 5] = ["main", "master", "production", "prod", "release"];

/// Deeper objects hold no arguments of the tool itself.
const DEEPEST: usize = 2;

impl Drafter<'_> {
    /// The effects of what a server's tool is told to do.
    pub(super) fn served(&mut self, server: &str, tool: &str, arguments: &str) -> Reading {
        self.done(server, tool, deed(server, tool));
        let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(arguments) else { return Reading::default() };
        if is_far_file(tool, &fields) {
            self.done(server, tool, Some(Deed::Destroy));
        }
        let mut statements = Vec::new();
        texts(&fields, &STATEMENTS, DEEPEST, &mut statements);
        let name = format!("{server}_{tool}").to_ascii_lowercase();
        if DATABASES.iter().any(|part| name.contains(part)) {
            statements.iter().for_each(|statement| self.statement(statement));
        }
        self.shared(tool, &fields);
        if let Some(File { path, kind, .. }) = file(tool, &fields).filter(|file| file.here) {
            self.file(kind, &path);
        }
        let mut commands = Vec::new();
        if let Some(language) = language(server, tool, &fields) {
            texts(&fields, &CODE, 1, &mut commands);
            if !commands.is_empty() {
                return self.shell(&commands.join("\n"), language);
            }
        }
        texts(&fields, &COMMANDS, DEEPEST, &mut commands);
        if commands.is_empty() { Reading::default() } else { self.shell(&commands.join("\n"), Language::Shell) }
    }

    fn statement(&mut self, statement: &str) {
        self.name(EffectKind::Query, statement);
        if let Some(effect) = self.effects.last_mut() {
            effect.argument = Some(Value::text(statement, Origin::default()));
        }
    }

    /// `delete_repository`, `send_email`: the name alone says it.
    fn done(&mut self, server: &str, tool: &str, deed: Option<Deed>) {
        let Some(deed) = deed else { return };
        let (kind, flags) = match deed {
            Deed::Destroy => (EffectKind::DestroyRemote, vec!["tool"]),
            Deed::Change => (EffectKind::ChangeRemote, vec!["tool"]),
            Deed::Deploy => (EffectKind::Deploy, vec!["tool"]),
            Deed::Merge => (EffectKind::ChangeRemote, vec!["merge"]),
            Deed::Pay => (EffectKind::ChangeRemote, vec!["money"]),
            Deed::Speak => (EffectKind::ChangeRemote, vec!["message"]),
            Deed::Grant => (EffectKind::ChangeRemote, vec!["rights-of-others"]),
        };
        self.name(kind, &format!("{tool} of {server}"));
        if let Some(effect) = self.effects.last_mut() {
            effect.flags = flags;
        }
    }

    /// `push_files`, `create_or_update_file` on a branch that others build on.
    fn shared(&mut self, tool: &str, fields: &Map<String, Json>) {
        let words = words(tool);
        let writes = words.iter().any(|word| ["push", "create", "update", "delete", "commit"].contains(&word.as_str()));
        let files = words.iter().any(|word| ["file", "files"].contains(&word.as_str()));
        let branch = fields.get("branch").and_then(Json::as_str).unwrap_or("");
        if writes && files && SHARED_BRANCHES.contains(&branch) {
            self.name(EffectKind::ChangeRemote, branch);
            if let Some(effect) = self.effects.last_mut() {
                effect.flags = vec!["merge"];
            }
        }
    }
}

/// `delete_file` of something that is named by its number: it lies with the server.
fn is_far_file(tool: &str, fields: &Map<String, Json>) -> bool {
    let words = words(tool);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let by_number =
        ["file_id", "fileId", "folder_id", "folderId", "document_id"].iter().any(|key| fields.contains_key(*key));
    by_number && has(&["delete", "trash", "remove"]) && has(&["file", "folder", "document"])
}

/// A file that a server's tool writes or deletes.
struct File {
    path: AgentPath,
    kind: EffectKind,
    content: String,
    /// It is one of this machine.
    here: bool,
}

/// What a server's tool writes, as if it were a tool of the agent: what the file makes others run is judged as there.
pub(crate) fn written(tool: &str, arguments: &str) -> Option<Action> {
    let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(arguments) else { return None };
    let File { path, kind, content, .. } = file(tool, &fields)?;
    (kind == EffectKind::Overwrite && !content.is_empty()).then_some(Action::Write { path, content })
}

fn file(tool: &str, fields: &Map<String, Json>) -> Option<File> {
    let words = words(tool);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key).and_then(Json::as_str));
    let path = AgentPath::new(text(&PATHS)?);
    let here = !FAR.iter().any(|key| fields.contains_key(*key));
    if has(&["delete", "remove"]) && has(&["file", "directory", "folder", "path"]) {
        return Some(File { path, kind: EffectKind::Delete, content: String::new(), here });
    }
    let writes = has(&["write", "create", "save", "append", "edit", "update", "replace", "insert", "put"]);
    let mut parts = Vec::new();
    texts(fields, &CONTENTS, DEEPEST, &mut parts);
    (writes && !parts.is_empty()).then(|| File { path, kind: EffectKind::Overwrite, content: parts.join("\n"), here })
}

/// The language of the program that a tool is given to run, where its name or an argument says which.
fn language(server: &str, tool: &str, fields: &Map<String, Json>) -> Option<Language> {
    let words = words(tool);
    let runs = words.iter().any(|word| ["run", "execute", "exec", "eval", "evaluate"].contains(&word.as_str()));
    if !runs {
        return None;
    }
    let named = fields.get("language").and_then(Json::as_str).map(str::to_ascii_lowercase);
    let mut names = named.into_iter().chain(words).chain(names::words(server));
    names.find_map(|name| match name.as_str() {
        "python" | "python3" | "py" | "jupyter" | "ipython" | "notebook" | "ide" => Some(Language::Python),
        "javascript" | "js" | "node" | "nodejs" | "typescript" | "ts" | "deno" | "bun" => Some(Language::JavaScript),
        "ruby" => Some(Language::Ruby),
        "php" => Some(Language::Php),
        "perl" => Some(Language::Perl),
        "bash" | "shell" | "sh" | "zsh" => Some(Language::Shell),
        "powershell" | "pwsh" => Some(Language::PowerShell),
        _ => None,
    })
}

/// The texts behind these keys. A list is several texts if its first holds more than a word, else the words of one.
fn texts(fields: &Map<String, Json>, keys: &[&str], depth: usize, found: &mut Vec<String>) {
    for (key, value) in fields {
        match value {
            Json::String(text) if keys.contains(&key.as_str()) => found.push(with_arguments(text, fields)),
            Json::Array(items) if keys.contains(&key.as_str()) => {
                let mut words = items.iter().filter_map(Json::as_str).peekable();
                let are_texts = words.peek().is_some_and(|first| first.trim().contains(char::is_whitespace));
                found.push(match are_texts {
                    true => words.collect::<Vec<_>>().join(";\n"),
                    false => words.map(quoted).collect::<Vec<_>>().join(" "),
                });
            }
            Json::Object(inner) if depth > 1 => texts(inner, keys, depth - 1, found),
            Json::Array(items) if depth > 1 => {
                items.iter().filter_map(Json::as_object).for_each(|inner| texts(inner, keys, depth - 1, found));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {}
        }
    }
}

/// `{"command": "rm", "args": ["-rf", "x"]}`
fn with_arguments(command: &str, fields: &Map<String, Json>) -> String {
    let Some(Json::Array(items)) = fields.get("args").or(fields.get("arguments")) else { return command.to_owned() };
    let words = items.iter().filter_map(Json::as_str).map(quoted);
    std::iter::once(command.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// As one word of a shell. Whether the tool has the home and patterns filled in is not known, so they stay what they are.
fn quoted(word: &str) -> String {
    let parts = |letter: char| letter.is_whitespace() || ";|&<>()'\"`".contains(letter);
    if word.contains(parts) { reflex_shell::quoted(word) } else { word.to_owned() }
}
