//! The folder of a call: where it runs, and in which shell language.

use crate::model::payload::Payload;
use reflex_engine::shell::Language;
use reflex_engine::{Action, AgentPath, Event, Flavour};

/// Sets the working directory of a shell command that names its own folder. The workspace remains that of the client.
pub(crate) fn in_folder_of(payload: &Payload<'_>, names: &[&str], project: &str, event: &mut Event) {
    if !matches!(event.actions.as_slice(), [Action::Shell { .. }]) {
        return;
    }
    let input = payload.fields.get("tool_input").or_else(|| payload.fields.get("args"));
    let folder = names.iter().find_map(|name| input?.get(*name)?.as_str()).filter(|folder| !folder.is_empty());
    let Some(folder) = folder else { return };
    if event.workspace.is_empty() && !payload.is_set(project) {
        event.workspace = event.cwd.clone();
    }
    let absolute = reflex_engine::is_absolute(&AgentPath::new(folder).with_slashes());
    let alone = absolute || event.cwd.is_empty();
    event.cwd = if alone { folder.to_owned() } else { format!("{}/{folder}", event.cwd) };
}

/// Returns the language of a shell command: PowerShell if the working directory is a Windows path.
pub(crate) fn language(event: &Event) -> Language {
    match AgentPath::new(event.cwd.as_str()).flavour {
        Flavour::Windows => Language::PowerShell,
        Flavour::Posix => Language::Shell,
    }
}
