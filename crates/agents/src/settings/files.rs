//! Locations of the guard's hook for an agent: its settings files, and the switches in them that disable hooks.

use super::guard_line::guard_program;
use super::hook_command::HookCommand;
use super::trust::Trust;

/// Locations of the guard's hook for one agent.
pub struct Settings {
    /// The user's files, each with its own hook.
    pub files: &'static [SettingsFile],
    /// Files for a hook in a single project: the first existing one is used, else the first.
    pub project: &'static [SettingsFile],
    /// Condition under which the agent runs a project's hook; empty if none.
    pub project_needs: &'static str,
    /// Location of the hook for all users, set by an administrator; `None` if unknown.
    pub managed: Option<&'static Managed>,
    /// Folders below the home directory that show that the agent is installed.
    pub folders: &'static [&'static str],
    /// Programs on the `PATH` that show the same.
    pub programs: &'static [&'static str],
    /// First client version that blocks a call if the hook is missing or crashes; older versions run the call. `None`
    /// if the shell line in the entry blocks it in every version.
    pub fails_closed_since: Option<&'static str>,
    /// Whether the entries give a hook five minutes, so that it may wait for a person. False if the client has a limit of
    /// its own that is not known, after which the call runs.
    pub gives_time: bool,
    /// First client version that is known to block a call if the program in the entry does not exist. `None` if every
    /// version does.
    pub blocks_missing_since: Option<&'static str>,
    /// Files that record the plugin `reflex-guard`; `None` if the agent has no such plugin.
    pub plugin: Option<&'static PluginFiles>,
    /// Note to the user after the hook is installed; empty if none.
    pub afterwards: &'static str,
    /// Switches that disable hooks.
    pub switches: &'static [Switch],
    /// The agent's list of trusted folders, if it runs hooks only in those.
    pub folder_trust: Option<&'static FolderTrust>,
    /// The exchange that makes the agent trust the hook, if it requires trust.
    pub trust: Option<&'static Trust>,
    /// Files with commands of people that may contain shell lines; `None` if the agent has none.
    pub command_files: Option<&'static CommandFiles>,
}

/// Files that a client expands when a person or the model names them. Their shell lines run without a tool call.
#[derive(Debug)]
pub struct CommandFiles {
    /// Folders below a project.
    pub project: &'static [&'static str],
    /// Folders below the home directory.
    pub user: &'static [&'static str],
    /// The hook event for their shell lines.
    pub judged: Judged,
}

/// The hook event for the shell lines of command files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// By an event for each line, since this version of the client. In older versions by the call that names the file.
    Since(&'static str),
    /// Not at all.
    Never,
}

/// The files in which an agent records the plugin `reflex-guard`.
#[derive(Debug)]
pub struct PluginFiles {
    /// Returns whether a settings text enables the plugin; `None` if the text does not name it.
    pub is_enabled: fn(text: &str) -> Option<bool>,
    /// List of installed plugins, in the folder of the agent's first settings file.
    pub installed: &'static str,
    /// Returns the folder of the installed plugin from the text of that list.
    pub folder: fn(text: &str) -> Option<String>,
    /// File with the plugin's hooks, in its folder.
    pub hooks: &'static str,
}

/// A setting that disables an agent's hooks.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// Name of the file, in the folder of the agent's first settings file; empty if only a project's files count.
    pub file: &'static str,
    /// Project files in which the same switch also disables the user's hooks, in ascending order of precedence.
    pub in_project: &'static [&'static str],
    /// Returns whether the file's text disables hooks; `None` if it does not set the switch.
    pub is_off: fn(text: &str) -> Option<bool>,
    /// The setting as it appears in the file.
    pub name: &'static str,
    /// Key that its line contains.
    pub key: &'static str,
}

/// The folders that an agent trusts.
#[derive(Debug, Clone, Copy)]
pub struct FolderTrust {
    /// Names of the files, in the folder of the agent's first settings file.
    pub files: [&'static str; 2],
    /// Returns whether a folder is trusted, given the texts of these files. The text of a missing file is empty.
    pub is_trusted: fn(texts: [&str; 2], folder: &str) -> bool,
}

/// The command of a hook entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A program and its arguments.
    Exec(Vec<String>),
    /// A shell command line.
    Shell(String),
}

impl Start {
    /// Returns the path of the guard's binary.
    pub fn program(&self) -> Option<String> {
        match self {
            Start::Exec(words) => words.first().cloned(),
            Start::Shell(line) => guard_program(line),
        }
    }

    /// Returns the public key given with `--key`.
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

/// One settings file that holds the guard's hook.
#[derive(Clone, Copy)]
pub struct SettingsFile {
    /// Environment variable that names another folder.
    pub variable: Option<&'static str>,
    /// Default folder, relative to the home directory.
    pub folder: &'static str,
    /// Name of the file in that folder.
    pub name: &'static str,
    /// Whether the agent itself writes the file when it trusts the hook. `init` does not change such a file.
    pub by_agent: bool,
    /// Returns the text with a hook that runs this command. A text that already has the hook is returned unchanged.
    pub install: fn(text: &str, command: HookCommand<'_>) -> Result<String, SettingsError>,
    /// Returns the text without the guard's hooks; `None` if the file belongs to the guard and can be deleted.
    pub remove: fn(text: &str) -> Result<Option<String>, SettingsError>,
}

impl SettingsFile {
    /// Returns a file with the same hook in a folder of a project.
    pub(crate) const fn in_project(self, folder: &'static str, name: &'static str) -> SettingsFile {
        SettingsFile { variable: None, folder, name, ..self }
    }
}

/// Location of the hook for all users of a machine, set by an administrator.
#[derive(Debug, Clone, Copy)]
pub struct Managed {
    /// Path on Linux.
    pub file: &'static str,
    /// Path on macOS; empty if unknown.
    pub on_macos: &'static str,
    /// Returns the contents of a file with the hook only.
    pub text: fn(command: HookCommand<'_>) -> String,
    /// Note to the administrator.
    pub note: &'static str,
    /// Returns whether a text of this file keeps the agent from running hooks of other files.
    pub shuts_out: fn(text: &str) -> bool,
}

/// The error for a settings text that cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Invalid JSON, with the parser's message.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// Invalid TOML, with the parser's message.
    #[error("it is not TOML: {0}")]
    NotToml(String),
    /// A part has a type other than the agent documents.
    #[error("`{0}` does not have the type that the agent expects")]
    Shape(&'static str),
    /// The text belongs to another tool, with the reason why it cannot be replaced.
    #[error("{0}")]
    Foreign(&'static str),
}
