//! Remnants of a session's calls, in a file of their own that only few sessions have: one JSON list per line with kind,
//! path and source. It outlives the window of remembered calls and is shared by all agents of a session.

use super::redact::Redactor;
use super::session::SessionKey;
use super::state::Store;
use crate::system::files::{make_folder, private};
use reflex_engine::{RemnantKind, Taint};
use serde_json::json;
use std::fs;
use std::io::{self, Write};

/// Maximum number of lines. A session that exceeds it is treated as if it had seen a secret.
const MAX_REMNANTS: usize = 500;

impl Store {
    /// The remnants of earlier calls of the session.
    pub fn remnants(&self, key: SessionKey<'_>) -> Vec<Taint> {
        let text = fs::read_to_string(self.sessions().join(name(key))).unwrap_or_default();
        let mut remnants: Vec<Taint> = text.lines().filter_map(remnant).collect();
        if text.lines().count() >= MAX_REMNANTS {
            remnants.push(Taint { kind: RemnantKind::Seen, path: String::new(), from: String::new() });
        }
        remnants
    }

    /// Stores the remnants of a call.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep_remnants(&self, redactor: &Redactor<'_>, key: SessionKey<'_>, left: &[Taint]) -> io::Result<()> {
        let known = self.remnants(key);
        let left: Vec<Taint> = left.iter().map(|remnant| nameable(redactor, remnant)).collect();
        let mut lines = String::new();
        // Symlinks need no record: they are visible in the file system.
        let kept = left.iter().filter(|remnant| remnant.kind != RemnantKind::Link && !known.contains(remnant));
        for remnant in kept.take(MAX_REMNANTS.saturating_sub(known.len())) {
            lines.push_str(redactor.kept(&json!([remnant.kind.name(), remnant.path, remnant.from])).text());
            lines.push('\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        make_folder(&self.sessions())?;
        let path = self.sessions().join(name(key));
        let mut file = private().append(true).create(true).open(path)?;
        // One write, because hooks of the same session may write concurrently.
        file.write_all(lines.as_bytes())
    }
}

/// The remnant with a path that contains no secret. If the file's name is one, its folder counts as the remnant; if no
/// ancestor can be named, the session counts as having seen a secret.
fn nameable(redactor: &Redactor<'_>, remnant: &Taint) -> Taint {
    let from = redactor.clean(&remnant.from).into();
    match redactor.path(&remnant.path) {
        Some(path) => Taint { kind: remnant.kind, path: path.into(), from },
        None => Taint { kind: RemnantKind::Seen, path: String::new(), from },
    }
}

fn name(key: SessionKey<'_>) -> String {
    format!("{}.left", SessionKey { role: None, subagent: None, ..key }.file())
}

fn remnant(line: &str) -> Option<Taint> {
    let (kind, path, from): (String, String, String) = serde_json::from_str(line).ok()?;
    Some(Taint { kind: RemnantKind::named(&kind)?, path, from })
}
