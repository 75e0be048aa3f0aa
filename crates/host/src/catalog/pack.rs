//! Packs of agentreflex: `pack.json` names reflexes beside servers, skills and hooks, which are the agents' own matter.

use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// The file that says what a pack holds.
pub const PACK: &str = "pack.json";

/// A manifest of a pack is no longer.
const MAX_BYTES: u64 = 256 * 1024;

/// A pack has at most so many reflexes.
const MAX_REFLEXES: usize = 64;

/// What a pack holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pack {
    /// Its name.
    pub name: String,
    /// Its reflexes: where each lies below the pack's folder, and its options.
    pub reflexes: Vec<(String, Option<Value>)>,
    /// Its manifest as it stands there.
    pub text: String,
    /// What else it holds, by the keys of its manifest: `mcp`, `skills`, `hooks`.
    pub besides: Vec<&'static str>,
}

/// The pack in a folder; nothing where there is none.
///
/// # Errors
/// Its manifest is none, or a path in it leaves the folder.
pub fn pack(folder: &Path) -> Result<Option<Pack>, String> {
    let path = folder.join(PACK);
    let is_small = path.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    if !is_small {
        return Ok(None);
    }
    let told = |problem: String| format!("{}: {problem}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| told(error.to_string()))?;
    let manifest: Map<String, Value> = serde_json::from_str(&text).map_err(|error| told(error.to_string()))?;
    let listed = manifest.get("reflexes").and_then(Value::as_array).into_iter().flatten().take(MAX_REFLEXES);
    let reflex = |value: &Value| {
        let source = value.as_str().or_else(|| value.get("source")?.as_str()).unwrap_or("");
        let inside = !source.starts_with('/') && source.split(['/', '\\']).all(|part| part != "..");
        if source.is_empty() || !inside {
            return Err(told(format!("`{source}` is no path inside the pack")));
        }
        Ok((source.trim_start_matches("./").to_owned(), value.get("with").cloned()))
    };
    Ok(Some(Pack {
        name: manifest.get("name").and_then(Value::as_str).unwrap_or("").to_owned(),
        reflexes: listed.map(reflex).collect::<Result<_, String>>()?,
        text,
        besides: ["mcp", "skills", "hooks"].into_iter().filter(|key| manifest.contains_key(*key)).collect(),
    }))
}
