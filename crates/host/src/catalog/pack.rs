//! Packs of agentreflex: `pack.json` lists reflexes next to servers, skills and hooks, which are left to the agents.

use crate::system::fault::Fault;
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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

/// A pack cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// Its manifest cannot be read.
    #[error("{}: {source}", file.display())]
    Io {
        /// The manifest.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Its manifest is not a JSON object.
    #[error("{}: {source}", file.display())]
    Json {
        /// The manifest.
        file: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A reflex would come from elsewhere.
    #[error("{}: `{path}` is not a path inside the pack", file.display())]
    Outside {
        /// The manifest.
        file: PathBuf,
        /// The path that it names.
        path: String,
    },
}

impl PackError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            PackError::Io { source, .. } => Fault::of_named_file(source),
            PackError::Json { .. } | PackError::Outside { .. } => Fault::State,
        }
    }
}

/// Reads the pack in a folder. Returns `None` if it has no manifest of at most 256 KiB.
///
/// # Errors
/// The manifest is not valid, or a path in it leaves the folder.
pub fn pack(folder: &Path) -> Result<Option<Pack>, PackError> {
    let file = folder.join(PACK);
    let is_small = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
    if !is_small {
        return Ok(None);
    }
    let text = fs::read_to_string(&file).map_err(|source| PackError::Io { file: file.clone(), source })?;
    let manifest = serde_json::from_str(&text).map_err(|source| PackError::Json { file: file.clone(), source });
    let manifest: Map<String, Value> = manifest?;
    let listed = manifest.get("reflexes").and_then(Value::as_array).into_iter().flatten().take(MAX_REFLEXES);
    let reflexes: Result<Vec<_>, PackError> = listed.map(|value| reflex(&file, value)).collect();
    Ok(Some(Pack {
        name: manifest.get("name").and_then(Value::as_str).unwrap_or("").to_owned(),
        reflexes: reflexes?,
        text,
        besides: ["mcp", "skills", "hooks"].into_iter().filter(|key| manifest.contains_key(*key)).collect(),
    }))
}

/// The path and the options of a reflex in the manifest.
fn reflex(file: &Path, value: &Value) -> Result<(String, Option<Value>), PackError> {
    let path = value.as_str().or_else(|| value.get("source")?.as_str()).unwrap_or("");
    let inside = !path.starts_with('/') && path.split(['/', '\\']).all(|part| part != "..");
    if path.is_empty() || !inside {
        return Err(PackError::Outside { file: file.to_owned(), path: path.to_owned() });
    }
    Ok((path.trim_start_matches("./").to_owned(), value.get("with").cloned()))
}
