//! The clients' lists of MCP servers on this machine, and `reflex mcp` as a proxy in front of them.

use super::error::WiringError;
use super::wiring::{Change, binary_path, mode_of, write_atomically};
use crate::system::folders::{Folders, real};
use reflex_agents::settings::{MCP_CLIENTS, McpClient, ProxyCommand, Reach, SettingsError};
use reflex_git::project_root;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file in which a client lists the servers that it starts. A missing file lists none.
pub struct ServerList {
    client: &'static McpClient,
    file: PathBuf,
    is_of_project: bool,
    folders: Folders,
}

impl ServerList {
    /// The user's file of every client.
    pub fn all(folders: &Folders) -> Vec<ServerList> {
        MCP_CLIENTS.iter().map(|client| ServerList::of_user(folders, client)).collect()
    }

    fn of_user(folders: &Folders, client: &'static McpClient) -> ServerList {
        let file = file_of(client, &folders.home_of_agents);
        ServerList { client, file, is_of_project: false, folders: folders.clone() }
    }

    /// The files of the project around a folder. The home has none: it is not a project.
    pub fn of_project_around(folders: &Folders, folder: &Path) -> Vec<ServerList> {
        let home = real(&folders.home);
        let root = PathBuf::from(project_root(&folder.to_string_lossy(), &home.to_string_lossy()));
        if folders.is_home_within(&root) {
            return Vec::new();
        }
        let home = &folders.home_of_agents;
        let is_of_user = |client: &&McpClient| real(&file_of(client, home)) == real(&root.join(client.project));
        let clients = MCP_CLIENTS.iter().filter(|client| !client.project.is_empty() && !is_of_user(client));
        let list = |client: &'static McpClient| ServerList {
            client,
            file: root.join(client.project),
            is_of_project: true,
            folders: folders.clone(),
        };
        clients.map(list).collect()
    }

    /// The client.
    pub fn client(&self) -> &'static McpClient {
        self.client
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether several people may share the file.
    pub fn is_of_project(&self) -> bool {
        self.is_of_project
    }

    /// The servers by name.
    ///
    /// # Errors
    /// The file cannot be read or is not in the client's format.
    pub fn servers(&self) -> Result<Vec<(String, Reach)>, WiringError> {
        let text = self.text()?.unwrap_or_default();
        self.client.format.servers(bare(&text).1).map_err(|source| self.format_error(source))
    }

    /// The change that starts every local server through `reflex mcp`.
    ///
    /// # Errors
    /// As [`ServerList::servers`].
    pub fn guarded(&self) -> Result<Change, WiringError> {
        let (binary, home) = (binary_path(&self.folders)?, self.named_home());
        let command = ProxyCommand { binary: &binary, home: home.as_deref() };
        self.change(|text| self.client.format.guarded(text, command))
    }

    /// The change that starts every server directly again. It is the exact inverse of [`ServerList::guarded`].
    ///
    /// # Errors
    /// As [`ServerList::servers`].
    pub fn unguarded(&self) -> Result<Change, WiringError> {
        self.change(|text| self.client.format.unguarded(text))
    }

    /// The home in proxy entries; none in a shared file, or if only the environment names the home.
    fn named_home(&self) -> Option<String> {
        let is_user_wide = !self.is_of_project && !self.folders.may_only_tighten();
        is_user_wide.then(|| self.folders.home.to_string_lossy().into_owned())
    }

    fn change(&self, edit: impl Fn(&str) -> Result<String, SettingsError>) -> Result<Change, WiringError> {
        let Some(before) = self.text()? else { return Ok(Change { before: None, after: None }) };
        let (mark, text) = bare(&before);
        let after = edit(text).map_err(|source| self.format_error(source))?;
        Ok(Change { after: Some(format!("{mark}{after}")), before: Some(before) })
    }

    /// Writes a change. Clients may write these files at any time: a file that changed since it was read is left alone.
    ///
    /// # Errors
    /// The file changed meanwhile or cannot be written.
    pub fn write(&self, change: &Change) -> Result<(), WiringError> {
        let Some(after) = &change.after else { return Ok(()) };
        if self.text()? != change.before {
            return Err(WiringError::Changed(self.file.clone()));
        }
        let written = write_atomically(&self.file, after, mode_of(&self.file));
        written.map_err(|source| WiringError::Unwritten { file: self.file.clone(), source })
    }

    fn text(&self) -> Result<Option<String>, WiringError> {
        match fs::read_to_string(&self.file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WiringError::Unread { file: self.file.clone(), source }),
        }
    }

    fn format_error(&self, source: SettingsError) -> WiringError {
        WiringError::Format { file: self.file.clone(), source }
    }
}

/// Masks the secrets in the text of such a file, for output.
pub fn masked(text: &str) -> String {
    reflex_engine::redacted(text, reflex_library::tables())
}

fn file_of(client: &McpClient, home: &Path) -> PathBuf {
    let below_home = if std::env::consts::OS == "macos" { client.on_macos } else { client.file };
    let named = client.variable.and_then(std::env::var_os).map(PathBuf::from).filter(|folder| folder.is_absolute());
    // The variable names the folder that contains the file.
    match (named, Path::new(below_home).file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => home.join(below_home),
    }
}

/// Splits off the byte-order mark: returns the mark and the rest.
fn bare(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}
