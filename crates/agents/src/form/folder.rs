//! What the folder of a call says: where it runs, and in which language.

use crate::model::payload::Payload;
use reflex_engine::shell::Language;
use reflex_engine::{Action, AgentPath, Event, Flavour};

/// A shell command may run in a folder that its call names. The project stays where the client is.
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

/// On Windows its shell is PowerShell; a folder of Windows tells that it runs there.
pub(crate) fn language(event: &Event) -> Language {
    match AgentPath::new(event.cwd.as_str()).flavour {
        Flavour::Windows => Language::PowerShell,
        Flavour::Posix => Language::Shell,
    }
}
