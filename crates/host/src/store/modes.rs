//! Session modes: a person lets agents run under another policy for a while. Each mode has a file of its own below
//! `modes/`, signed if a passphrase is set.

use super::signing::signed::Signer;
use super::signing::statement::Kind;
use super::state::Store;
use crate::system::{clock, os, person, random};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The mode in which only core rules stop a call.
pub const ALLOW_ALL: &str = "allow-all";

/// The mode in which a model answers some questions in a person's place.
pub const AUTO_PILOT: &str = "auto-pilot";

/// Beginning of the verdict step that lets a call pass because of a mode.
pub const PASSED_BY_MODE: &str = "passed by the mode";

/// Maximum lifetime of a mode for a project or for every agent, in milliseconds.
pub const LONGEST: u64 = 24 * 3_600_000;

/// Maximum lifetime of a mode for one agent, in milliseconds. It also ends with that agent.
pub const MAX_RUN: u64 = 7 * LONGEST;

/// Maximum number of mode files that are read.
const MAX_MODES: usize = 64;

/// A policy that a person has set for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMode {
    /// The name of a policy.
    pub name: String,
    /// The person who set it.
    pub by: String,
    /// Milliseconds since 1970 when it ends.
    pub until: u64,
    /// The project in which it holds; empty for all projects.
    pub within: String,
    /// The process below which it holds; `None` if it is not limited to one.
    pub below: Option<u32>,
}

impl SessionMode {
    /// The place, for a sentence.
    pub fn place(&self) -> String {
        match self.below {
            Some(process) => format!("for the agent below process {process}"),
            None if self.within.is_empty() => "for every agent".to_owned(),
            None => format!("in {}", self.within),
        }
    }
}

impl Store {
    fn modes_folder(&self) -> PathBuf {
        self.folder.join("modes")
    }

    /// Sets a mode. It replaces a mode for the same place.
    ///
    /// # Errors
    /// The system reports neither its boot nor its uptime, or the file cannot be written.
    pub fn begin_mode(&self, mode: &SessionMode, signer: &Signer) -> io::Result<()> {
        let SessionMode { name, by, until, within, below } = mode;
        self.end_modes(|other| (&other.within, other.below) == (within, *below))?;
        let unknown = || io::Error::other("this system does not report its boot time, so no mode can end with it");
        let (boot, up) = os::boot().zip(os::uptime()).ok_or_else(unknown)?;
        let now = clock::now();
        let started = below.and_then(os::Process::of).and_then(|process| process.started());
        let fields = json!({
            "schema": "reflex/mode-v1", "mode": name, "by": by, "from": now, "until": until, "within": within,
            "boot": boot, "up_from": up, "up_until": up + until.saturating_sub(now), "below": below, "started": started,
        });
        let file = self.modes_folder().join(format!("{}.json", random::uuid()));
        fs::create_dir_all(self.modes_folder())?;
        self.put_signed(&file, (signer, Kind::Mode), &fields)
    }

    /// The modes that have not ended, for any place.
    pub fn modes(&self) -> Vec<SessionMode> {
        self.mode_files().into_iter().filter_map(|(_, fields)| self.mode_of(&fields)).collect()
    }

    /// The modes that hold for a call in this project by the agent that runs this process.
    pub fn modes_in(&self, workspace: &str) -> Vec<SessionMode> {
        let mut modes = self.modes();
        modes.retain(|mode| match mode.below {
            Some(process) => person::is_below(process),
            None => mode.within.is_empty() || mode.within == workspace,
        });
        modes
    }

    /// Ends the modes selected by `is_meant`, and removes the files of those that have ended.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn end_modes(&self, is_meant: impl Fn(&SessionMode) -> bool) -> io::Result<()> {
        for (file, fields) in self.mode_files() {
            if self.mode_of(&fields).is_none_or(|mode| is_meant(&mode)) {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    fn mode_files(&self) -> Vec<(PathBuf, Map<String, Value>)> {
        let Ok(entries) = fs::read_dir(self.modes_folder()) else { return Vec::new() };
        let read = |file: PathBuf| {
            let fields = serde_json::from_str(&fs::read_to_string(&file).ok()?).ok()?;
            Some((file, fields))
        };
        entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| is_json(path))
            .take(MAX_MODES)
            .filter_map(read)
            .collect()
    }

    /// The mode of a file, unless it has ended: by either clock, with its process, or with the boot of the machine.
    fn mode_of(&self, fields: &Map<String, Value>) -> Option<SessionMode> {
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let number = |key: &str| fields.get(key).and_then(Value::as_u64);
        let (from, until) = (number("from")?, number("until")?);
        let (up_from, up_until) = (number("up_from")?, number("up_until")?);
        let below = number("below").and_then(|process| u32::try_from(process).ok());
        let limit = if below.is_some() { MAX_RUN } else { LONGEST };
        let runs = |from: u64, now: u64, until: u64| from <= now && now < until && until - from <= limit;
        if !runs(from, clock::now(), until) || !runs(up_from, os::uptime()?, up_until) || os::boot()? != text("boot") {
            return None;
        }
        if let Some(process) = below
            && (number("started").is_none() || os::Process::of(process)?.started() != number("started"))
        {
            return None;
        }
        let mode = SessionMode { name: text("mode"), by: text("by"), until, within: text("within"), below };
        // Checked last, because a mode that has ended must not raise an alarm.
        self.counts(Kind::Mode, fields).then_some(mode)
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}
