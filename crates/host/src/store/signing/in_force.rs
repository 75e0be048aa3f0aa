//! Determines the public key in force: the one named by the hook entries in the user's home or by root.

use super::error::SigningError;
use super::key::PublicKey;
use super::passphrase::Pin;
use crate::system::os;
use reflex_agents::AGENTS;
use reflex_agents::settings::guard_hooks;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folder in which root may store users' keys: one file per user number.
const OF_ROOT: &str = "/etc/reflex/keys";

/// Number of bytes of a settings file that are read.
const MAX_BYTES: u64 = 4 << 20;

/// The key that decides whether approvals count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InForce {
    /// No hook entry names a key: approvals count without a signature.
    Unprotected,
    /// Approvals count if this key has signed them.
    Key(PublicKey),
    /// The hook entries contradict each other or the key is missing, in a sentence without its full stop: approvals do
    /// not count.
    Disputed(String),
    /// A passphrase is stored but no hook entry names its key, as after `reflex uninstall`: approvals do not count.
    Detached,
}

impl InForce {
    /// The reason why approvals do not count, without its full stop; `None` if they can.
    pub fn problem(&self) -> Option<&str> {
        match self {
            InForce::Unprotected | InForce::Key(_) => None,
            InForce::Disputed(why) => Some(why),
            InForce::Detached => Some("a passphrase is set and no hook entry names its key"),
        }
    }

    /// The command that makes approvals count again.
    pub fn remedy(&self) -> &'static str {
        if *self == InForce::Detached { "reflex init" } else { "reflex pin" }
    }

    /// The key in force according to the hook entries below a home, and to root, compared with the one that the call's
    /// own entry names. The state folder only shows whether a key is expected.
    pub(super) fn find(named: Option<&str>, home: &Path, state: &Path) -> InForce {
        let mut found: Vec<(String, String)> = of_entries(home);
        match of_root() {
            Ok(of_root) => found.extend(of_root),
            Err(why) => return InForce::Disputed(why.to_string()),
        }
        InForce::new(&found, named, Pin::is_kept(state))
    }

    /// Chooses among the keys found, each with its place, and compares the choice with the key on the command line.
    fn new(found: &[(String, String)], named: Option<&str>, was_set: bool) -> InForce {
        let Some((first, place)) = found.first() else {
            return match (named, was_set) {
                (None, false) => InForce::Unprotected,
                (Some(_), _) => {
                    InForce::Disputed("no hook entry in your home names the key of this call's entry".into())
                }
                (None, true) => InForce::Detached,
            };
        };
        if let Some((_, other)) = found.iter().find(|(key, _)| key != first) {
            return InForce::Disputed(format!("{place} and {other} name different keys"));
        }
        if named.is_some_and(|named| named != first) {
            return InForce::Disputed(format!("{place} names another key than this call's entry"));
        }
        match PublicKey::parse(first) {
            Some(key) => InForce::Key(key),
            None => InForce::Disputed(format!("{place} names an invalid key")),
        }
    }
}

/// The keys in the agents' settings below a home, each with its file. Variables that move these files are ignored,
/// because an agent or a repository may have set a hook's environment.
fn of_entries(home: &Path) -> Vec<(String, String)> {
    let files = AGENTS.iter().filter_map(|agent| agent.settings).flat_map(|settings| settings.files);
    let mut found = Vec::new();
    for form in files {
        let file = home.join(form.folder).join(form.name);
        let Some(text) = text_of(&file) else { continue };
        for key in guard_hooks(text.trim_start_matches('\u{feff}')).iter().filter_map(|(_, start)| start.key()) {
            let entry = (key, file.display().to_string());
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
    }
    found
}

fn text_of(file: &Path) -> Option<String> {
    let mut text = String::new();
    let file = fs::File::open(file).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The key that root has stored for this user, and its file.
///
/// # Errors
/// The file can be written by a user other than root.
pub(crate) fn of_root() -> Result<Option<(String, String)>, SigningError> {
    let Some(user) = os::user() else { return Ok(None) };
    let file: PathBuf = Path::new(OF_ROOT).join(user.to_string());
    let Ok(data) = fs::symlink_metadata(&file) else { return Ok(None) };
    let place = file.display().to_string();
    let is_roots = |path: &Path| os::stat(path).is_ok_and(|stat| stat.is_of_root() && !stat.others_may_write());
    if !data.is_file() || !file.ancestors().all(is_roots) {
        return Err(SigningError::OthersMayWrite(file));
    }
    let text = fs::read_to_string(&file).map_err(|source| SigningError::File { file, source })?;
    Ok(Some((text.trim().to_owned(), place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    fn key(number: u8) -> String {
        PublicKey(SigningKey::from_bytes(&[number; 32]).verifying_key()).to_string()
    }

    fn found(numbers: &[u8]) -> Vec<(String, String)> {
        numbers.iter().map(|number| (key(*number), format!("/place/{number}"))).collect()
    }

    #[test]
    fn a_key_counts_only_where_nothing_contradicts_it() {
        let is_key = |of: InForce| matches!(of, InForce::Key(_));
        let is_disputed = |of: InForce| matches!(of, InForce::Disputed(_));
        let (one, two) = (key(1), key(2));
        assert_eq!(InForce::new(&[], None, false), InForce::Unprotected);
        assert!(is_key(InForce::new(&found(&[1]), None, true)));
        assert!(is_key(InForce::new(&found(&[1, 1]), Some(&one), true)));
        // Without the key's file no new statement can be signed, but signed ones still count.
        assert!(is_key(InForce::new(&found(&[1]), Some(&one), false)));
        assert!(is_disputed(InForce::new(&found(&[1, 2]), Some(&one), true)));
        assert!(is_disputed(InForce::new(&found(&[1]), Some(&two), true)));
        // An entry of a project that names a key of its own.
        assert!(is_disputed(InForce::new(&[], Some(&one), false)));
        assert_eq!(InForce::new(&[], None, true), InForce::Detached);
        assert!(is_disputed(InForce::new(&[("0".repeat(64), "/place".into())], None, true)));
    }
}
