//! Environment variables in PowerShell and cmd.

use crate::interpret::state::State;
use crate::model::value::{Origin, Piece, Printed, Value};

/// Returns the value of an environment variable: assigned in the text, the same on every Windows system, or known only
/// by name.
pub(crate) fn environment(state: &State, name: &str, origin: Origin) -> Value {
    let set = [name, &name.to_ascii_uppercase()].into_iter().find_map(|name| state.variable(name));
    if let Some(values) = set {
        return values.first().cloned().unwrap_or_default();
    }
    let text = |text: &str| Value::text(text, origin);
    let home = |below: &str| {
        let mut value = Value::piece(Piece::Home(String::new()), origin);
        if !below.is_empty() {
            value.push_text(below, origin);
        }
        value
    };
    match name.to_ascii_lowercase().as_str() {
        "userprofile" | "home" | "homepath" => home(""),
        "appdata" => home("/AppData/Roaming"),
        "localappdata" => home("/AppData/Local"),
        "onedrive" => home("/OneDrive"),
        // The home path contains the drive already.
        "homedrive" => Value::default(),
        "systemdrive" => text("C:"),
        "systemroot" | "windir" => text("C:\\Windows"),
        "comspec" => text("C:\\Windows\\system32\\cmd.exe"),
        "programfiles" | "programw6432" => text("C:\\Program Files"),
        "programfiles(x86)" => text("C:\\Program Files (x86)"),
        "programdata" | "allusersprofile" => text("C:\\ProgramData"),
        "public" => text("C:\\Users\\Public"),
        "temp" | "tmp" => Value::piece(Piece::Variable("TEMP".into()), origin),
        "username" => Value::piece(Piece::Output(Printed::User), origin),
        "cd" => state.folder_value(origin),
        _ => Value::piece(Piece::Variable(name.into()), origin),
    }
}
