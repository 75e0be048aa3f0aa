//! How each client is started once, without a terminal, with a model of ours; and what in its settings stands against it.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod qwen;

use crate::settings::{runs_guard, value};
use serde_json::Value;

/// A client that can be started once with a model of ours.
pub struct Live {
    /// The agent's name.
    pub agent: &'static str,
    /// Its program, as it stands on the `PATH`.
    pub program: &'static str,
    /// Variables that say where its settings stand: the client is given them, and no others but the usual ones.
    pub variables: &'static [&'static str],
    /// The files that it reads.
    pub sources: &'static [Source],
    /// What the texts of these files mean for such a start.
    pub standing: fn(texts: &[Text]) -> Standing,
    /// How it is started.
    pub launch: fn(stage: &Stage<'_>) -> Launch,
    /// Its tool that runs a command.
    pub tool: &'static str,
    /// The arguments of that tool.
    pub input: fn(command: &str) -> Value,
    /// What it leaves behind of such a start; empty if nothing.
    pub leaves: &'static str,
}

/// A file that a client reads; a name that begins with `*` is every file with that ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Below the home folder, or in the folder that a variable names.
    User {
        /// The variable that names another folder.
        variable: Option<&'static str>,
        /// The folder without it.
        folder: &'static str,
        /// The file in that folder.
        name: &'static str,
    },
    /// In the folder where the client is started, or at the top of the project.
    Project(&'static str),
    /// An administrator's, or the file that a variable names.
    System {
        /// The variable that names another file.
        variable: Option<&'static str>,
        /// The file without it.
        file: &'static str,
    },
}

/// A file that is there.
#[derive(Debug, Clone)]
pub struct Text {
    /// Which of the client's files it is.
    pub source: Source,
    /// Its path.
    pub file: String,
    /// What it holds.
    pub text: String,
}

/// What a client's settings mean for a start with a model of ours.
#[derive(Debug, Default)]
pub struct Standing {
    /// What names another model, key or login, so that the client is not started.
    pub against: Vec<Against>,
    /// What would run beside it and cannot be switched off by a flag.
    pub beside: Vec<String>,
}

/// A setting that names another model, key or login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Against {
    /// The file.
    pub file: String,
    /// The key in it.
    pub key: String,
}

/// What a client is given for such a start.
pub struct Stage<'a> {
    /// The address of the model.
    pub model: &'a str,
    /// What the model will ask for.
    pub command: &'a str,
    /// A folder for files of this start.
    pub folder: &'a str,
    /// The client's files.
    pub texts: &'a [Text],
}

/// How a client is started.
#[derive(Debug, Default)]
pub struct Launch {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables, beside those that say where settings stand.
    pub variables: Vec<(String, String)>,
    /// Files in the folder of this start: name and text.
    pub files: Vec<(String, String)>,
}

/// Every client that can be started so.
pub static CLIENTS: &[Live] = &[claude::LIVE, codex::LIVE, copilot::LIVE, gemini::LIVE, qwen::LIVE, opencode::LIVE];

/// The client of this agent.
pub fn client(agent: &str) -> Option<&'static Live> {
    CLIENTS.iter().find(|client| client.agent == agent)
}

/// What the client is asked; the model does what it does whatever stands here.
const PROMPT: &str = "Reflex proves that it stands before your tools. The model behind this is a script.";

/// A key that opens nothing.
const NO_KEY: &str = "none";

impl Launch {
    fn set(&mut self, variables: &[(&str, &str)]) {
        self.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }

    fn argue<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.arguments.extend(words.into_iter().map(str::to_owned));
    }
}

/// The texts with what they stand for; what is no JSON is left out, for the client knows it no better.
fn objects(texts: &[Text]) -> impl Iterator<Item = (&Text, Value)> {
    texts.iter().filter(|text| !text.file.ends_with(".toml")).filter_map(|text| Some((text, value(&text.text)?)))
}

/// Those of the keys (`a.b`) that are there and neither false nor empty.
fn against(texts: &[Text], keys: &[&str]) -> Vec<Against> {
    let of = |(text, settings): (&Text, Value)| {
        let stands = |key: &&&str| at(&settings, key).is_some_and(says_something);
        let found = keys.iter().filter(stands).map(|key| Against { file: text.file.clone(), key: (*key).to_owned() });
        found.collect::<Vec<_>>()
    };
    objects(texts).flat_map(of).collect()
}

/// Variables that a client's file sets for the client itself, below `env`, and that lead to another model or key.
fn against_in_env(texts: &[Text]) -> Vec<Against> {
    let of = |(text, settings): (&Text, Value)| {
        let set = settings.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
        let leading = set.into_iter().filter(|(name, value)| leads_elsewhere(name) && says_something(value));
        leading.map(|(name, _)| Against { file: text.file.clone(), key: format!("env.{name}") }).collect::<Vec<_>>()
    };
    objects(texts).flat_map(of).collect()
}

/// Whether a variable of this name leads a client to another model, key, login or proxy.
fn leads_elsewhere(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["_BASE_URL", "_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_UNIX_SOCKET", "_CUSTOM_HEADERS", "_ENDPOINT"];
    let is_proxy = name.ends_with("_PROXY") && name != "NO_PROXY";
    is_proxy || ends.iter().any(|end| name.ends_with(end)) || name.starts_with("CLAUDE_CODE_USE_")
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty() && text != "0" && text != "false",
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn at<'v>(settings: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(settings, |value, part| value.get(part))
}

/// The hooks of others in texts of the form `{"hooks": {EVENT: …}}`.
fn foreign_hooks(texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    for (text, settings) in objects(texts) {
        for (event, entries) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
            let mut lines = Vec::new();
            collect_lines(entries, &mut lines);
            let of_others = lines.iter().filter(|line| !is_ours(line));
            found.extend(of_others.map(|line| format!("a hook of {event} in {}: `{line}`", text.file)));
        }
    }
    found.dedup();
    found
}

/// The lines that handlers start, at whatever depth they stand.
fn collect_lines(value: &Value, lines: &mut Vec<String>) {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if let Some(line) = text("command").or_else(|| text("bash")).or_else(|| text("exec")).or_else(|| text("url")) {
        let words = value.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        lines.push([line].into_iter().chain(words).collect::<Vec<_>>().join(" "));
        return;
    }
    let inner: Vec<&Value> = match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    inner.into_iter().for_each(|value| collect_lines(value, lines));
}

/// A path with a space in it stands unquoted where a handler has its arguments apart.
fn is_ours(line: &str) -> bool {
    runs_guard(line) || ["/reflex hook ", "/rfx hook "].iter().any(|start| line.contains(start))
}

/// The names below a key (`mcpServers`) of all texts.
fn names_below(texts: &[Text], key: &str) -> Vec<String> {
    let of = |(_, settings): (&Text, Value)| {
        at(&settings, key).and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let mut names: Vec<String> = objects(texts).flat_map::<Vec<String>, _>(of).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: Source, text: &str) -> Text {
        Text { source, file: "FILE.json".into(), text: text.into() }
    }

    #[track_caller]
    fn check(agent: &str, settings: &str, keys: &[&str], beside: &[&str]) {
        let standing = (client(agent).unwrap().standing)(&[text(Source::Project("x"), settings)]);
        let found: Vec<&str> = standing.against.iter().map(|against| against.key.as_str()).collect();
        let told: Vec<&str> = standing.beside.iter().map(String::as_str).collect();
        assert_eq!((found.as_slice(), told.as_slice()), (keys, beside), "{agent}: {settings}");
    }

    #[test]
    fn what_names_another_model_or_key_stands_against_a_start() {
        let env = r#"{"env": {"ANTHROPIC_BASE_URL": "https://x", "CLAUDE_CODE_USE_BEDROCK": "1", "EDITOR": "vi"}}"#;
        check("claude", env, &["env.ANTHROPIC_BASE_URL", "env.CLAUDE_CODE_USE_BEDROCK"], &[]);
        check("claude", r#"{"apiKeyHelper": "/bin/key"}"#, &["apiKeyHelper"], &[]);
        check("claude", r#"{"env": {"CLAUDE_CODE_USE_VERTEX": "0", "NO_PROXY": "x"}, "model": "opus"}"#, &[], &[]);
        check(
            "gemini",
            r#"{"security": {"auth": {"enforcedType": "oauth-personal"}}}"#,
            &["security.auth.enforcedType"],
            &[],
        );
        check(
            "qwen",
            r#"{"proxy": "http://x", "security": {"auth": {"selectedType": "qwen-oauth"}}}"#,
            &["proxy"],
            &[],
        );
    }

    #[test]
    fn hooks_of_others_are_named_and_ours_are_not() {
        let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"},
            {"type": "command", "command": "/my bin/reflex", "args": ["hook", "--agent", "claude"]}]}]}}"#;
        check("claude", hooks, &[], &["a hook of Stop in FILE.json: `say done`"]);
    }
}
