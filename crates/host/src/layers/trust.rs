//! What a person has accepted of a workspace's files: exactly this content, in this repository.

use crate::store::Store;
use crate::{clock, store};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A person's yes to the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// The repository: the folder that all its work trees share, or the workspace.
    pub repository: String,
    /// The digest of the files' contents.
    pub digest: String,
    /// Who, when, why.
    pub by: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// Why.
    pub reason: String,
    /// The texts that were accepted, by name: what the next difference is shown against.
    pub texts: Vec<(String, String)>,
}

/// Whether exactly this content was accepted here.
pub(super) fn is_trusted(store: &Store, workspace: &Path, digest: &str) -> bool {
    !digest.is_empty() && accepted(store, workspace).is_some_and(|trust| trust.digest == digest)
}

/// What was accepted here.
pub fn accepted(store: &Store, workspace: &Path) -> Option<Trust> {
    accepted_as(store, &repository(workspace))
}

/// What was accepted under this name.
pub(crate) fn accepted_as(store: &Store, repository: &str) -> Option<Trust> {
    let text = fs::read_to_string(file(store, repository)).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let get = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let texts = value.get("texts").and_then(Value::as_object).into_iter().flatten();
    let texts = texts.map(|(name, text)| (name.clone(), text.as_str().unwrap_or("").to_owned())).collect();
    let trust = Trust {
        repository: get("repository"),
        digest: get("digest"),
        by: get("by"),
        time: value.get("time").and_then(Value::as_u64).unwrap_or(0),
        reason: get("reason"),
        texts,
    };
    (trust.repository == repository).then_some(trust)
}

/// Accepts; callers have asked a person.
///
/// # Errors
/// It cannot be written.
pub fn accept(store: &Store, trust: &Trust) -> io::Result<()> {
    let texts: serde_json::Map<String, Value> =
        trust.texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    let value = json!({
        "schema": "reflex/trust-v1", "repository": trust.repository, "digest": trust.digest, "by": trust.by,
        "time": trust.time, "reason": store.clean(&trust.reason), "texts": texts,
    });
    store::put(&file(store, &trust.repository), &value.to_string())
}

/// Takes it back.
///
/// # Errors
/// It cannot be removed.
pub fn revoke(store: &Store, workspace: &Path) -> io::Result<bool> {
    revoke_as(store, &repository(workspace))
}

/// Takes back what was accepted under this name.
///
/// # Errors
/// It cannot be removed.
pub fn revoke_as(store: &Store, repository: &str) -> io::Result<bool> {
    match fs::remove_file(file(store, repository)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn file(store: &Store, repository: &str) -> PathBuf {
    let name = clock::hexadecimal(&Sha256::digest(repository.as_bytes()));
    store.trust_folder().join(name.get(..32).unwrap_or(""))
}

/// The folder that all work trees of a repository share; the workspace where git manages nothing.
pub fn repository(workspace: &Path) -> String {
    let own = workspace.join(".git");
    let linked = fs::read_to_string(&own).ok().and_then(|text| {
        let folder = workspace.join(text.strip_prefix("gitdir:")?.trim());
        let common = fs::read_to_string(folder.join("commondir")).ok()?;
        Some(folder.join(common.trim()))
    });
    let folder = linked.unwrap_or_else(|| if own.is_dir() { own } else { workspace.to_owned() });
    folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned()
}
