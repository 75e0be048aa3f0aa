//! Where the guard's hook stands for an agent: its settings files and what turns hooks off in them.

use super::guard_line::guard_program;
use super::hook_command::HookCommand;
use super::trust::Trust;
use std::fmt;

/// Where the guard's hook stands for one agent.
pub struct Settings {
    /// Its files, each with a hook of its own.
    pub files: &'static [SettingsFile],
    /// Where the hook stands for one project alone: the first of these files that is there, else the first.
    pub project: &'static [SettingsFile],
    /// What has to be true before the agent runs a project's hook; empty if nothing.
    pub project_needs: &'static str,
    /// Where an administrator puts the hook for everybody; `None` where no such place is known.
    pub managed: Option<&'static Managed>,
    /// Folders below the home folder that show that the agent is used here.
    pub folders: &'static [&'static str],
    /// Its programs, which show the same on the `PATH`.
    pub programs: &'static [&'static str],
    /// The first version of the client that blocks a call if the hook is missing or crashes; older ones run the call.
    /// `None` if the shell line in the entry does it for every version.
    pub fails_closed_since: Option<&'static str>,
    /// The files that record the plugin `reflex-guard`; `None` if the agent has no such plugin.
    pub plugin: Option<&'static PluginFiles>,
    /// What a person has to know once the hook stands there; empty if nothing.
    pub afterwards: &'static str,
    /// Switches that turn hooks off: a file in the folder of the first file, a pattern of its text, what to do.
    pub switches: &'static [Switch],
    /// Whether the agent runs no hook in a folder that it does not trust.
    pub folder_trust: Option<&'static FolderTrust>,
    /// How the agent comes to trust the hook, if it has to.
    pub trust: Option<&'static Trust>,
}

/// The files in which an agent records the plugin `reflex-guard`.
#[derive(Debug)]
pub struct PluginFiles {
    /// Whether a text of the agent's settings enables it; `None` if the text does not name it.
    pub is_enabled: fn(text: &str) -> Option<bool>,
    /// The list of installed plugins, in the folder of the agent's first settings file.
    pub installed: &'static str,
    /// The folder of the installed plugin, by the text of that list.
    pub folder: fn(text: &str) -> Option<String>,
    /// Its hooks, in its folder.
    pub hooks: &'static str,
}

/// A switch of an agent that turns its hooks off.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// The file, in the folder of the agent's first settings file; empty where only a project's count.
    pub file: &'static str,
    /// Files of a project in which the same switch turns the user's hooks off too, each stronger than those before it.
    pub in_project: &'static [&'static str],
    /// Whether the file's text has hooks switched off; nothing where it says neither.
    pub is_off: fn(text: &str) -> Option<bool>,
    /// The switch, as a person finds it there.
    pub name: &'static str,
}

/// The folders that an agent trusts.
#[derive(Debug, Clone, Copy)]
pub struct FolderTrust {
    /// Files in the folder of the agent's first settings file.
    pub files: [&'static str; 2],
    /// Whether a folder is trusted, by the texts of these files, empty where there is none.
    pub is_trusted: fn(texts: [&str; 2], folder: &str) -> bool,
}

/// How an agent starts a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A program with its arguments.
    Exec(Vec<String>),
    /// A line for a shell.
    Shell(String),
}

impl Start {
    /// The guard's binary in it.
    pub fn program(&self) -> Option<String> {
        match self {
            Start::Exec(words) => words.first().cloned(),
            Start::Shell(line) => guard_program(line),
        }
    }

    /// The public key that it names with `--key`.
    pub fn key(&self) -> Option<String> {
        let line = match self {
            Start::Exec(words) => words.join(" "),
            Start::Shell(line) => line.clone(),
        };
        let (_, rest) = line.split_once(" --key")?;
        let rest = rest.strip_prefix(['=', ' ']).unwrap_or(rest).trim_start_matches(['\'', '"']);
        Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
    }
}

/// One file of an agent in which the guard's hook stands.
#[derive(Clone, Copy)]
pub struct SettingsFile {
    /// The environment variable that names another folder.
    pub variable: Option<&'static str>,
    /// The folder without it, below the home folder.
    pub folder: &'static str,
    /// The file in that folder.
    pub name: &'static str,
    /// Whether the agent itself writes it, when it comes to trust the hook: `init` leaves it alone.
    pub by_agent: bool,
    /// The text with the hook that runs this command; text that has it already comes back unchanged.
    pub install: fn(text: &str, command: HookCommand<'_>) -> Result<String, SettingsError>,
    /// The text without any hook of ours; `None` if the file was ours alone and can go.
    pub remove: fn(text: &str) -> Result<Option<String>, SettingsError>,
}

impl SettingsFile {
    /// A file in a folder of a project, with the same hook in it.
    pub(crate) const fn in_project(self, folder: &'static str, name: &'static str) -> SettingsFile {
        SettingsFile { variable: None, folder, name, ..self }
    }
}

/// Where an administrator puts the hook for everybody on a machine.
#[derive(Debug, Clone, Copy)]
pub struct Managed {
    /// The file on Linux.
    pub file: &'static str,
    /// The file on macOS; empty where it is not known.
    pub on_macos: &'static str,
    /// Its text where it holds nothing else.
    pub text: fn(command: HookCommand<'_>) -> String,
    /// What an administrator should know about it.
    pub note: &'static str,
    /// Whether a text of this file keeps the agent from running hooks that stand elsewhere.
    pub shuts_out: fn(text: &str) -> bool,
}

/// Why a settings text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsError {
    /// It is not JSON, with where that shows.
    NotJson(String),
    /// It is not TOML, with why.
    NotToml(String),
    /// A part has another type than the agent documents.
    Shape(&'static str),
    /// It is somebody else's text, with why it cannot become ours.
    Foreign(&'static str),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::NotJson(problem) => write!(f, "it is not JSON: {problem}"),
            SettingsError::NotToml(problem) => write!(f, "it is not TOML: {problem}"),
            SettingsError::Shape(part) => write!(f, "`{part}` has not the type that the agent expects"),
            SettingsError::Foreign(problem) => write!(f, "{problem}"),
        }
    }
}
