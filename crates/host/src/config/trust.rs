//! The files of a workspace that a person has accepted: exactly this content, in this repository.

use crate::store::Store;
use crate::store::signing::Signer;
use crate::store::signing::statement::Kind;
pub use reflex_git::shared_folder as repository;

use crate::system::hex;
use reflex_engine::Vouched;
use reflex_rules::{MAX_BYTES, SourceFile};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A person's approval of the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// The repository: the folder that all its work trees share, or the workspace.
    pub repository: String,
    /// The digest of the files' contents.
    pub digest: String,
    /// The person who approved.
    pub by: String,
    /// Time of the approval, in milliseconds since 1970.
    pub time: u64,
    /// The person's reason.
    pub reason: String,
    /// The accepted texts, by file name: the base of the next diff.
    pub texts: Vec<(String, String)>,
}

/// Whether exactly this content was accepted under this name.
pub(super) fn standing(store: &Store, repository: &str, digest: &str) -> Vouched {
    let Some((trust, fields)) = stored(store, repository) else { return Vouched::NO };
    if digest.is_empty() || trust.digest != digest {
        return Vouched::NO;
    }
    let store = store.clone();
    Vouched::claimed(move || store.counts(Kind::Trust, &fields))
}

/// The approval for this workspace, if it is valid.
pub fn accepted(store: &Store, workspace: &Path) -> Option<Trust> {
    accepted_as(store, &repository(workspace))
}

/// The approval under this name, if it is valid.
pub(crate) fn accepted_as(store: &Store, repository: &str) -> Option<Trust> {
    let (trust, fields) = stored(store, repository)?;
    store.counts(Kind::Trust, &fields).then_some(trust)
}

/// The approval on disk under this name, not yet verified.
fn stored(store: &Store, repository: &str) -> Option<(Trust, Map<String, Value>)> {
    let text = fs::read_to_string(file(store, repository)).ok().filter(|_| store.may_loosen())?;
    let value: Map<String, Value> = serde_json::from_str(&text).ok()?;
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
    (trust.repository == repository).then_some((trust, value))
}

/// The files of a workspace that commands name as a word. They are accepted together with the commands. Files elsewhere
/// belong to the person.
pub(super) fn scripts<'c>(commands: impl Iterator<Item = &'c str>, workspace: &Path) -> Vec<SourceFile> {
    let mut found: Vec<SourceFile> = Vec::new();
    let Ok(root) = workspace.canonicalize() else { return found };
    let parts = |ch: char| ch.is_whitespace() || "'\"`;&|<>()=".contains(ch);
    for word in commands.flat_map(|command| command.split(parts)).filter(|word| !word.is_empty()) {
        let path = workspace.join(word);
        let name = path.display().to_string();
        // A file outside of the workspace, also through a symlink, may be a secret and is never kept.
        let lies_here = path.canonicalize().is_ok_and(|real| real.starts_with(&root) && real.is_file());
        if lies_here && !found.iter().any(|file| file.name == name) {
            let (text, unread) = match text(&path) {
                Ok(text) => (text, None),
                Err(error) => (String::new(), Some(error.to_string())),
            };
            found.push(SourceFile { name, text, is_policy: false, unread });
        }
    }
    found
}

/// The text of a script; the SHA-256 of a file that is not UTF-8.
fn text(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other("it is too large"));
    }
    let shown = |error: std::string::FromUtf8Error| hex::encode(&Sha256::digest(error.as_bytes()));
    Ok(String::from_utf8(fs::read(path)?).unwrap_or_else(shown))
}

/// The digest of files together with the scripts that they name. Empty, which matches no approval, if a script cannot
/// be read.
pub(super) fn with_scripts(digest: String, scripts: &[SourceFile]) -> String {
    if scripts.iter().any(|script| script.unread.is_some()) {
        return String::new();
    }
    let mut hasher = Sha256::new();
    hasher.update(&digest);
    for part in scripts.iter().flat_map(|script| [&script.name, &script.text]) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    if scripts.is_empty() { digest } else { hex::encode(&hasher.finalize()) }
}

/// Stores an approval. The caller has asked a person.
///
/// # Errors
/// The approval cannot be written.
pub fn accept(store: &Store, trust: &Trust, signer: &Signer) -> io::Result<()> {
    let texts: serde_json::Map<String, Value> =
        trust.texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    let value = json!({
        "schema": "reflex/trust-v1", "repository": trust.repository, "digest": trust.digest, "by": trust.by,
        "time": trust.time, "reason": trust.reason, "texts": texts,
    });
    store.put_signed(&file(store, &trust.repository), (signer, Kind::Trust), &value)
}

/// Revokes the approval for this workspace; returns whether it had one.
///
/// # Errors
/// The approval cannot be removed.
pub fn revoke(store: &Store, workspace: &Path) -> io::Result<bool> {
    revoke_as(store, &repository(workspace))
}

/// Revokes the approval under this name; returns whether it had one.
///
/// # Errors
/// The approval cannot be removed.
pub fn revoke_as(store: &Store, repository: &str) -> io::Result<bool> {
    match fs::remove_file(file(store, repository)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn file(store: &Store, repository: &str) -> PathBuf {
    let name = hex::encode(&Sha256::digest(repository.as_bytes()));
    store.trust_folder().join(name.get(..32).unwrap_or(""))
}
