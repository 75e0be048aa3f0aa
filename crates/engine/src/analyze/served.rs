//! What a server's tool is told to do, where its name and arguments say so: a command that it runs, statements for a
//! database, something that it would destroy.

use super::Drafter;
use crate::effect::EffectKind;
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

/// First words of the names of tools that take something away.
const VERBS: [&str; 6] = ["delete", "drop", "destroy", "terminate", "purge", "wipe"];

/// What is not made again by those who use it. A file or a note is named by its path or lies with its server.
const LASTING: [&str; 26] = [
    "repository",
    "repo",
    "project",
    "database",
    "db",
    "table",
    "bucket",
    "namespace",
    "cluster",
    "instance",
    "branch",
    "volume",
    "stack",
    "environment",
    "site",
    "organization",
    "workspace",
    "collection",
    "index",
    "deployment",
    "service",
    "server",
    "droplet",
    "zone",
    "domain",
    "kubectl",
];

/// Deeper objects hold no arguments of the tool itself.
const DEEPEST: usize = 2;

impl Drafter<'_> {
    /// The effects of what a server's tool is told to do.
    pub(super) fn served(&mut self, server: &str, tool: &str, arguments: &str) -> Reading {
        self.destroying(server, tool);
        let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(arguments) else { return Reading::default() };
        let mut statements = Vec::new();
        texts(&fields, &STATEMENTS, DEEPEST, &mut statements);
        let name = format!("{server}_{tool}").to_ascii_lowercase();
        if DATABASES.iter().any(|part| name.contains(part)) {
            statements.iter().for_each(|statement| self.statement(statement));
        }
        let mut commands = Vec::new();
        texts(&fields, &COMMANDS, DEEPEST, &mut commands);
        if commands.is_empty() { Reading::default() } else { self.shell(&commands.join("\n"), Language::Shell) }
    }

    fn statement(&mut self, statement: &str) {
        self.name(EffectKind::Query, statement);
        if let Some(effect) = self.effects.last_mut() {
            effect.argument = Some(Value::text(statement, Origin::default()));
        }
    }

    /// `delete_repository`, `kubectl_delete`: the name alone says it.
    fn destroying(&mut self, server: &str, tool: &str) {
        let words: Vec<String> = words(tool);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.strip_suffix('s').unwrap_or(word)));
        if has(&VERBS) && has(&LASTING) {
            self.name(EffectKind::DestroyRemote, &format!("{tool} of {server}"));
            if let Some(effect) = self.effects.last_mut() {
                effect.flags = vec!["tool"];
            }
        }
    }
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

/// The words of a name: `deleteProject`, `delete-project`, `delete_project`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && !before.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}
