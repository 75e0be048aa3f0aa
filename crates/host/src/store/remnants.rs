//! What the calls of a session left behind, in a file of its own that only few sessions have: one line each, a JSON list
//! of kind, path and whence. It outlives the window of the last calls, and all agents of a session share it.

use super::Store;
use super::log;
use super::session::Whose;
use reflex_engine::{Remnant, RemnantKind};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

/// More lines are not kept. Whoever leaves more behind has seen a secret, as far as the calls after it are concerned.
const MOST_REMNANTS: usize = 500;

impl Store {
    /// What earlier calls of the session left behind.
    pub fn remnants(&self, whose: Whose<'_>) -> Vec<Remnant> {
        let text = fs::read_to_string(self.sessions().join(name(whose))).unwrap_or_default();
        let mut remnants: Vec<Remnant> = text.lines().filter_map(remnant).collect();
        if text.lines().count() >= MOST_REMNANTS {
            remnants.push(Remnant { kind: RemnantKind::Seen, path: String::new(), from: String::new() });
        }
        remnants
    }

    /// Keeps what a call leaves behind.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_remnants(&self, whose: Whose<'_>, left: &[Remnant]) -> io::Result<()> {
        let known = self.remnants(whose);
        let mut lines = String::new();
        // Links are on the disk for everybody to see.
        let kept = left.iter().filter(|remnant| remnant.kind != RemnantKind::Link && !known.contains(remnant));
        for remnant in kept.take(MOST_REMNANTS.saturating_sub(known.len())) {
            lines.push_str(&json!([remnant.kind.name(), remnant.path, remnant.from]).to_string());
            lines.push('\n');
        }
        if lines.is_empty() {
            return Ok(());
        }
        log::make_folder(&self.sessions())?;
        let path = self.sessions().join(name(whose));
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        // In one piece: hooks of the same session may write at the same time.
        file.write_all(lines.as_bytes())
    }
}

fn name(whose: Whose<'_>) -> String {
    format!("{}.left", Whose { role: None, subagent: None, ..whose }.file())
}

fn remnant(line: &str) -> Option<Remnant> {
    let (kind, path, from): (String, String, String) = serde_json::from_str(line).ok()?;
    Some(Remnant { kind: RemnantKind::named(&kind)?, path, from })
}
