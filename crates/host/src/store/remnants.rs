//! What the calls of a session left behind, in a file of its own that only few sessions have: one line each, a JSON list
//! of kind, path and whence. It outlives the window of the last calls, and all agents of a session share it.

use super::clean::Redactor;
use super::session::SessionKey;
use super::state::Store;
use crate::system::files::{make_folder, private};
use reflex_engine::{RemnantKind, Taint};
use serde_json::json;
use std::fs;
use std::io::{self, Write};

/// More lines are not kept. Whoever leaves more behind has seen a secret, as far as the calls after it are concerned.
const MAX_REMNANTS: usize = 500;

impl Store {
    /// What earlier calls of the session left behind.
    pub fn remnants(&self, whose: SessionKey<'_>) -> Vec<Taint> {
        let text = fs::read_to_string(self.sessions().join(name(whose))).unwrap_or_default();
        let mut remnants: Vec<Taint> = text.lines().filter_map(remnant).collect();
        if text.lines().count() >= MAX_REMNANTS {
            remnants.push(Taint { kind: RemnantKind::Seen, path: String::new(), from: String::new() });
        }
        remnants
    }

    /// Keeps what a call leaves behind.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep_remnants(&self, scribe: &Redactor<'_>, whose: SessionKey<'_>, left: &[Taint]) -> io::Result<()> {
        let known = self.remnants(whose);
        let left: Vec<Taint> = left.iter().map(|remnant| nameable(scribe, remnant)).collect();
        let mut lines = String::new();
        // Links are on the disk for everybody to see.
        let kept = left.iter().filter(|remnant| remnant.kind != RemnantKind::Link && !known.contains(remnant));
        for remnant in kept.take(MAX_REMNANTS.saturating_sub(known.len())) {
            lines.push_str(scribe.kept(&json!([remnant.kind.name(), remnant.path, remnant.from])).text());
            lines.push('\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        make_folder(&self.sessions())?;
        let path = self.sessions().join(name(whose));
        let mut file = private().append(true).create(true).open(path)?;
        // In one piece: hooks of the same session may write at the same time.
        file.write_all(lines.as_bytes())
    }
}

/// A remnant of which nothing is a secret. Of a file whose name is one, all in its folder counts as left behind; where no
/// folder can be named, as a secret that was seen.
fn nameable(scribe: &Redactor<'_>, remnant: &Taint) -> Taint {
    let from = scribe.clean(&remnant.from).into();
    match scribe.path(&remnant.path) {
        Some(path) => Taint { kind: remnant.kind, path: path.into(), from },
        None => Taint { kind: RemnantKind::Seen, path: String::new(), from },
    }
}

fn name(whose: SessionKey<'_>) -> String {
    format!("{}.left", SessionKey { role: None, subagent: None, ..whose }.file())
}

fn remnant(line: &str) -> Option<Taint> {
    let (kind, path, from): (String, String, String) = serde_json::from_str(line).ok()?;
    Some(Taint { kind: RemnantKind::named(&kind)?, path, from })
}
