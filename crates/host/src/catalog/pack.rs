//! Packs of agentreflex: `pack.json` lists reflexes next to servers, skills and hooks, which are left to the agents.

use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// The manifest of a pack.
pub const PACK: &str = "pack.json";

/// Maximum size of a manifest in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Maximum number of reflexes in a pack.
const MAX_REFLEXES: usize = 64;

/// The contents of a pack.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pack {
    /// Its name.
    pub name: String,
    /// Its reflexes: the path below the pack's folder and the options of each.
    pub reflexes: Vec<(String, Option<Value>)>,
    /// The text of its manifest.
    pub text: String,
    /// Its other contents, by their keys in the manifest: `mcp`, `skills`, `hooks`.
    pub besides: Vec<&'static str>,
}

/// Reads the pack in a folder. Returns `None` if it has no manifest of at most 256 KiB.
///
/// # Errors
/// The manifest is not valid, or a path in it leaves the folder.
pub fn pack(folder: &Path) -> Result<Option<Pack>, String> {
    let path = folder.join(PACK);
    let is_small = path.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    if !is_small {
        return Ok(None);
    }
    let failed = |problem: String| format!("{}: {problem}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    let manifest: Map<String, Value> = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let listed = manifest.get("reflexes").and_then(Value::as_array).into_iter().flatten().take(MAX_REFLEXES);
    let reflex = |value: &Value| {
        let source = value.as_str().or_else(|| value.get("source")?.as_str()).unwrap_or("");
        let inside = !source.starts_with('/') && source.split(['/', '\\']).all(|part| part != "..");
        if source.is_empty() || !inside {
            return Err(failed(format!("`{source}` is not a path inside the pack")));
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
