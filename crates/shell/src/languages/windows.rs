//! What PowerShell and cmd share: the variables of their environment, and lists in one word.

use crate::interpret::State;
use crate::model::value::{Origin, Piece, Printed, Value};

/// The value of an environment variable: set before in the text, known on every Windows, or only by its name.
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
        // The home has it already.
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

/// Several values as one word: a piece that is a comma and nothing else divides them.
pub(crate) fn list(values: Vec<Value>) -> Value {
    let mut values = values.into_iter();
    let mut word = values.next().unwrap_or_default();
    for value in values {
        let origin = value.origin();
        word.pieces.push((Piece::Text(",".into()), origin));
        word.pieces.extend(value.pieces);
    }
    word
}

/// The word with its `*` and `?` as patterns, which both shells leave to their commands.
pub(crate) fn with_patterns(word: &Value) -> Value {
    let mut value = Value::default();
    for (piece, origin) in &word.pieces {
        match piece.as_text().filter(|text| text.contains(['*', '?'])) {
            Some(text) => push_patterns(&mut value, text, *origin),
            None => value.pieces.push((piece.clone(), *origin)),
        }
    }
    value
}

/// Each part of a path that holds a pattern is one.
fn push_patterns(value: &mut Value, text: &str, origin: Origin) {
    for part in text.split_inclusive(['/', '\\']) {
        let name = part.trim_end_matches(['/', '\\']);
        if !name.contains(['*', '?']) {
            value.push_text(part, origin);
            continue;
        }
        // `*.*` means every file.
        let pattern = if name == "*.*" { "*" } else { name };
        value.pieces.push((Piece::Glob(pattern.into()), origin));
        if let Some(separator) = part.get(name.len()..).filter(|separator| !separator.is_empty()) {
            value.push_text(separator, origin);
        }
    }
}

/// The value with slashes between the parts of its path.
pub(crate) fn with_slashes(value: &Value) -> Value {
    let slashed = |piece: &Piece| match piece.as_text() {
        Some(text) => Piece::Text(text.replace('\\', "/")),
        None => piece.clone(),
    };
    Value { pieces: value.pieces.iter().map(|(piece, origin)| (slashed(piece), *origin)).collect() }
}

/// A text for another cmd, which replaces the variables that are not known here by itself.
pub(crate) fn with_marks(text: Value) -> Value {
    let marked = |(piece, origin): (Piece, Origin)| {
        let mark = if let Piece::Variable(name) = &piece { Some(format!("%{name}%")) } else { None };
        (mark.map_or(piece, Piece::Text), origin)
    };
    Value { pieces: text.pieces.into_iter().map(marked).collect() }
}
