//! The files in which clients configure MCP servers: adds and removes `reflex mcp` before a server's command.
//!
//! Both directions edit only `command` and the beginning of `args`, and each is the exact inverse of the other. No
//! backup of the file is required, and later changes by a client or a person are preserved.

use super::files::SettingsError;
use jsonc_parser::ast::{Object, ObjectPropName, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A client that starts MCP servers, and its settings files.
#[derive(Debug)]
pub struct McpClient {
    /// Name for `--agent`; that of the agent if it is one.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Environment variable that names another folder.
    pub variable: Option<&'static str>,
    /// Path of the user's file below the home directory on Linux.
    pub file: &'static str,
    /// Path of the user's file below the home directory on macOS.
    pub on_macos: &'static str,
    /// Path of a project's file below its root; empty if the client has none.
    pub project: &'static str,
    /// Format of all these files.
    pub format: McpFormat,
    /// Whether the client runs hooks for its MCP calls.
    pub has_hooks: bool,
}

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpFormat {
    /// `{"mcpServers": {NAME: {"command": …, "args": […]}}}`; in Claude Code's file also below each of `projects`.
    Json,
    /// `[mcp_servers.NAME]` with `command` and `args`.
    Toml,
}

/// The supported clients, according to their documentation (November 2026).
pub static MCP_CLIENTS: &[McpClient] = &[
    McpClient {
        name: "claude",
        title: "Claude Code",
        variable: Some("CLAUDE_CONFIG_DIR"),
        file: ".claude.json",
        on_macos: ".claude.json",
        project: ".mcp.json",
        format: McpFormat::Json,
        has_hooks: true,
    },
    McpClient {
        name: "codex",
        title: "Codex",
        variable: Some("CODEX_HOME"),
        file: ".codex/config.toml",
        on_macos: ".codex/config.toml",
        project: ".codex/config.toml",
        format: McpFormat::Toml,
        has_hooks: true,
    },
    McpClient {
        name: "cursor",
        title: "Cursor",
        variable: None,
        file: ".cursor/mcp.json",
        on_macos: ".cursor/mcp.json",
        project: ".cursor/mcp.json",
        format: McpFormat::Json,
        has_hooks: true,
    },
    McpClient {
        name: "claude-desktop",
        title: "Claude Desktop",
        variable: None,
        file: ".config/Claude/claude_desktop_config.json",
        on_macos: "Library/Application Support/Claude/claude_desktop_config.json",
        project: "",
        format: McpFormat::Json,
        has_hooks: false,
    },
];

/// The connection from a client to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// The client starts the server's own program.
    Direct,
    /// The client starts `reflex mcp` in front of the server; with the path of the `reflex` binary.
    Guarded(String),
    /// A URL, which a proxy of standard input and output cannot guard.
    Remote,
    /// `command` or `args` has a type other than documented.
    Unreadable,
}

/// The program and home directory shared by guarded entries.
#[derive(Debug, Clone, Copy)]
pub struct ProxyCommand<'a> {
    /// Absolute path of the guard's binary.
    pub binary: &'a str,
    /// Home directory that holds the guard's files; `None` in a file shared by several users.
    pub home: Option<&'a str>,
}

impl McpFormat {
    /// Returns the servers by name, in the order of the text. A name occurs once per project that configures it.
    ///
    /// # Errors
    /// Returns an error if the text is not of this format.
    pub fn servers(self, text: &str) -> Result<Vec<(String, Reach)>, SettingsError> {
        let mut entries = self.entries(text)?;
        entries.sort_by_key(|entry| entry.place);
        Ok(entries.into_iter().map(|entry| (entry.name.clone(), entry.reach())).collect())
    }

    /// Returns the text with `reflex mcp` before each server that is a local program. Older forms of the command are
    /// updated.
    ///
    /// # Errors
    /// Returns an error if the text is not of this format.
    pub fn guarded(self, text: &str, command: ProxyCommand<'_>) -> Result<String, SettingsError> {
        let bare = self.unguarded(text)?;
        let edits = self.entries(&bare)?.iter().flat_map(|entry| entry.guard(&bare, command)).collect();
        Ok(edited(&bare, edits))
    }

    /// Returns the text with all servers started directly again.
    ///
    /// # Errors
    /// Returns an error if the text is not of this format.
    pub fn unguarded(self, text: &str) -> Result<String, SettingsError> {
        let edits = self.entries(text)?.iter().flat_map(|entry| entry.release(text)).collect();
        Ok(edited(text, edits))
    }

    fn entries(self, text: &str) -> Result<Vec<Entry>, SettingsError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        match self {
            McpFormat::Json => of_json(text),
            McpFormat::Toml => of_toml(text),
        }
    }
}

/// A string in the text: its value and its byte range, quotes included.
struct Word {
    value: String,
    place: Range<usize>,
}

/// The list `args`, with its byte range, brackets included.
struct Arguments {
    words: Vec<Word>,
    place: Range<usize>,
}

enum Form {
    Started { command: Word, arguments: Option<Arguments>, separator: String },
    Remote,
    Unreadable,
}

struct Entry {
    name: String,
    place: usize,
    form: Form,
}

type Edit = (Range<usize>, String);

impl Entry {
    fn reach(&self) -> Reach {
        match &self.form {
            Form::Started { command, arguments: Some(arguments), .. }
                if program_index(command, arguments).is_some() =>
            {
                Reach::Guarded(command.value.clone())
            }
            Form::Started { .. } => Reach::Direct,
            Form::Remote => Reach::Remote,
            Form::Unreadable => Reach::Unreadable,
        }
    }

    fn guard(&self, text: &str, proxy: ProxyCommand<'_>) -> Vec<Edit> {
        let Form::Started { command, arguments, separator } = &self.form else { return Vec::new() };
        let name = proxy_name(&self.name);
        let home = proxy.home.into_iter().flat_map(|home| ["--home", home]);
        let words = ["mcp"].into_iter().chain(home).chain(["--name", &name, "--"]).map(quoted);
        let inserted = words.chain([part(text, command.place.clone()).to_owned()]).collect::<Vec<_>>().join(", ");
        let list = match arguments {
            None => (command.place.end..command.place.end, format!("{separator}[{inserted}]")),
            Some(arguments) => {
                let start = arguments.place.start + 1;
                let after = match text.as_bytes().get(start) {
                    // The space distinguishes an empty list from a missing one.
                    _ if arguments.words.is_empty() => " ",
                    Some(b'\n' | b'\r') => ",",
                    _ => ", ",
                };
                (start..start, inserted + after)
            }
        };
        vec![(command.place.clone(), quoted(proxy.binary)), list]
    }

    fn release(&self, text: &str) -> Vec<Edit> {
        let Form::Started { command, arguments: Some(arguments), separator } = &self.form else { return Vec::new() };
        let Some(index) = program_index(command, arguments) else { return Vec::new() };
        let Some(program) = arguments.words.get(index) else { return Vec::new() };
        let program_text = part(text, program.place.clone()).to_owned();
        let start = arguments.place.start + 1;
        let rest = part(text, program.place.end..arguments.place.end);
        let is_last = index + 1 == arguments.words.len();
        let was_missing =
            is_last && rest == "]" && part(text, command.place.end..text.len()).starts_with(&format!("{separator}["));
        let list = if was_missing {
            command.place.end..arguments.place.end
        } else if is_last {
            start..program.place.end + usize::from(rest.starts_with(' '))
        } else {
            let comma = rest.find(',').map_or(0, |comma| comma + 1);
            start..program.place.end + comma + usize::from(part(rest, comma..rest.len()).starts_with(' '))
        };
        vec![(command.place.clone(), program_text), (list, String::new())]
    }
}

/// Returns the index of the server's own program in the arguments of `reflex mcp … --`; `None` for any other command.
fn program_index(command: &Word, arguments: &Arguments) -> Option<usize> {
    let program = command.value.rsplit(['/', '\\']).next()?;
    let word = |place: usize| arguments.words.get(place).map(|word| word.value.as_str());
    let is_proxy = matches!(program, "reflex" | "reflex.exe") && word(0) == Some("mcp");
    let end = arguments.words.iter().position(|word| word.value == "--").filter(|_| is_proxy)?;
    word(end + 1).map(|_| end + 1)
}

/// Returns the name as it appears in Claude Code's tool names: `mcp__NAME__TOOL`.
fn proxy_name(name: &str) -> String {
    let plain =
        |character: char| if character.is_ascii_alphanumeric() || "-_".contains(character) { character } else { '_' };
    name.chars().take(64).map(plain).collect()
}

/// Returns a part of the text. Both ends are token boundaries, so never inside a character.
fn part(text: &str, place: Range<usize>) -> &str {
    text.get(place).unwrap_or_default()
}

fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(place, _)| std::cmp::Reverse((place.start, place.end)));
    let mut edited = text.to_owned();
    for (place, new) in edits {
        edited.replace_range(place, &new);
    }
    edited
}

fn of_json(text: &str) -> Result<Vec<Entry>, SettingsError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| SettingsError::NotJson(error.to_string()))?;
    let root = parsed.value.as_ref().and_then(Value::as_object).ok_or(SettingsError::Shape("settings"))?;
    let mut entries = Vec::new();
    let projects = root.get_object("projects").into_iter().flat_map(|projects| &projects.properties);
    for object in std::iter::once(root).chain(projects.filter_map(|project| project.value.as_object())) {
        let Some(servers) = object.get("mcpServers") else { continue };
        let servers = servers.value.as_object().ok_or(SettingsError::Shape("mcpServers"))?;
        for property in &servers.properties {
            let name = property.name.as_str().to_owned();
            let form = property.value.as_object().map_or(Form::Unreadable, json_form);
            entries.push(Entry { name, place: property.range.start, form });
        }
    }
    Ok(entries)
}

fn json_form(server: &Object<'_>) -> Form {
    // Clients take the last of two equal keys; taking another one would guard the wrong command.
    let count = |key: &str| server.properties.iter().filter(|one| one.name.as_str() == key).count();
    let word = |value: &Value<'_>| {
        let text = value.as_string_lit()?;
        Some(Word { value: text.value.to_string(), place: text.range.start..text.range.end })
    };
    if count("command") > 1 || count("args") > 1 {
        return Form::Unreadable;
    }
    let Some(command) = server.get("command") else {
        return if server.get("url").is_some() { Form::Remote } else { Form::Unreadable };
    };
    let Some(command_word) = word(&command.value) else { return Form::Unreadable };
    let arguments = match server.get("args") {
        None => None,
        Some(property) => {
            let Some(list) = property.value.as_array() else { return Form::Unreadable };
            let Some(words) = list.elements.iter().map(word).collect() else { return Form::Unreadable };
            Some(Arguments { words, place: list.range.start..list.range.end })
        }
    };
    let quote = if matches!(command.name, ObjectPropName::Word(_)) { "" } else { "\"" };
    Form::Started { command: command_word, arguments, separator: format!(", {quote}args{quote}: ") }
}

fn of_toml(text: &str) -> Result<Vec<Entry>, SettingsError> {
    let root = DeTable::parse(text).map_err(|error| SettingsError::NotToml(error.message().to_owned()))?;
    let Some(servers) = root.get_ref().get("mcp_servers") else { return Ok(Vec::new()) };
    let DeValue::Table(servers) = servers.get_ref() else { return Err(SettingsError::Shape("mcp_servers")) };
    let entry = |(name, server): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let form = if let DeValue::Table(table) = server.get_ref() { toml_form(text, table) } else { Form::Unreadable };
        Entry { name: AsRef::<str>::as_ref(name.get_ref()).to_owned(), place: name.span().start, form }
    };
    Ok(servers.iter().map(|(name, server)| entry((name, server))).collect())
}

fn toml_form(text: &str, server: &DeTable<'_>) -> Form {
    let word = |value: &Spanned<DeValue<'_>>| {
        let DeValue::String(string) = value.get_ref() else { return None };
        Some(Word { value: string.to_string(), place: value.span() })
    };
    let Some((key, command)) = server.get_key_value("command") else {
        return if server.contains_key("url") { Form::Remote } else { Form::Unreadable };
    };
    let Some(command) = word(command) else { return Form::Unreadable };
    let arguments = match server.get("args").map(|list| (list.get_ref(), list.span())) {
        None => None,
        Some((DeValue::Array(list), place)) => {
            let Some(words) = list.iter().map(word).collect() else { return Form::Unreadable };
            Some(Arguments { words, place })
        }
        Some(_) => return Form::Unreadable,
    };
    // If the key has a line of its own, `args` gets one too; otherwise the table is inline.
    let line = part(text, 0..key.span().start).rfind('\n').map_or(0, |end| end + 1);
    let before = part(text, line..key.span().start);
    let separator = if before.contains('{') || before.contains(',') {
        ", args = ".to_owned()
    } else {
        format!("\n{before}args = ")
    };
    Form::Started { command, arguments, separator }
}
