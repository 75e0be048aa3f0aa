//! Checks whether an earlier proof still holds: since then, no file of the agent has changed in its hook settings.

use super::doctor::project_here;
use super::wiring::Wiring;
use crate::store::redact::Kept;
use crate::store::redact::put;
use crate::system::digest::digest;
use crate::system::os;
use reflex_engine::agent_settings::SettingsFormat;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files whose hook settings changed since the last judged call. Empty if the proof holds.
pub(crate) fn lapsed(wiring: &Wiring, proven: u64) -> Vec<PathBuf> {
    let memory = memory(wiring);
    let now: Vec<(PathBuf, String)> = files(wiring).into_iter().map(|(file, form)| weighed(file, form)).collect();
    let kept = kept(&memory);
    let differs = |(file, found): &&(PathBuf, String)| match &kept {
        Some(kept) => kept.get(&*file.to_string_lossy()).and_then(Value::as_str).unwrap_or(ABSENT) != found,
        // Without digests from the time of the proof, a file that was not modified since counts as unchanged.
        None => true,
    };
    let changed: Vec<PathBuf> = now
        .iter()
        .filter(differs)
        .filter(|(file, found)| {
            let touched = || touched(file, found == ABSENT && kept.is_some());
            changed_at(wiring.state(), file, found).unwrap_or_else(touched) > proven
        })
        .map(|(file, _)| file.clone())
        .collect();
    let digests: Map<String, Value> =
        now.iter().map(|(file, found)| (file.to_string_lossy().into_owned(), found.clone().into())).collect();
    if changed.is_empty() && kept.as_ref() != Some(&digests) {
        // If the digests cannot be written, the next check falls back to modification times.
        let proven = json!({"schema": "reflex/proven-v1", "files": digests});
        let _ = put(&memory, &Kept::trusted(proven.to_string()));
    }
    changed
}

/// An entry that gets another key: a change that takes nothing from an earlier proof.
pub struct Rekeying {
    /// The folder of the guard's state.
    state: PathBuf,
    /// The files that change with the key, and when they changed last before.
    files: Vec<(PathBuf, Option<SettingsFormat>, u64)>,
}

impl Rekeying {
    /// Begins before the entry is written. `None` if more than the key would change in it.
    pub fn begin(wiring: &Wiring) -> Option<Rekeying> {
        let change = wiring.install().ok().filter(|change| change.before == change.after)?;
        change.before?;
        // An agent that keeps its trust by the digest of the entry writes that file too.
        let trust = wiring.settings().trust.map(|trust| wiring.user_folder().join(trust.file));
        let changes = |file: &Path| file == wiring.file() || Some(file) == trust.as_deref();
        let of = |(file, form): (PathBuf, Option<SettingsFormat>)| {
            let found = weighed(file.clone(), form).1;
            let time = changed_at(wiring.state(), &file, &found).unwrap_or_else(|| touched(&file, false));
            (file, form, time)
        };
        let files = files(wiring).into_iter().filter(|(file, _)| changes(file)).map(of).collect();
        Some(Rekeying { state: wiring.state().to_owned(), files })
    }

    /// Ends once the entry is written and trusted: the files count as unchanged since before.
    pub fn end(self) {
        for (file, form, time) in self.files {
            let (file, found) = weighed(file, form);
            let unchanged = json!({"schema": "reflex/rekeyed-v1", "file": file, "digest": found, "time": time});
            // Without this memory, the next call proves the hook again.
            let _ = put(&rekeyed(&self.state, &file), &Kept::trusted(unchanged.to_string()));
        }
    }
}

fn rekeyed(state: &Path, file: &Path) -> PathBuf {
    state.join("wiring").join(format!("rekeyed-{}.json", digest(&file.to_string_lossy())))
}

/// When the file last changed in more than its key, in milliseconds since 1970, if it has this digest since a change of
/// the key.
fn changed_at(state: &Path, file: &Path, found: &str) -> Option<u64> {
    let memory: Value = serde_json::from_str(&fs::read_to_string(rekeyed(state, file)).ok()?).ok()?;
    (memory.get("digest")?.as_str()? == found).then(|| memory.get("time")?.as_u64())?
}

/// The digest of a missing file.
const ABSENT: &str = "";

/// Every file that affects the agent's hooks, in the project and in the home, with its format if known.
fn files(wiring: &Wiring) -> Vec<(PathBuf, Option<SettingsFormat>)> {
    let (home, project) = (wiring.home_of_agents().to_owned(), project_here(wiring));
    let at = |pattern: &str| match pattern.strip_prefix("~/") {
        Some(rest) => vec![home.join(rest)],
        None => vec![home.join(pattern), project.join(pattern)],
    };
    let forms = SettingsFormat::all(reflex_library::tables()).filter(|form| form.agent() == wiring.agent());
    let mut found = vec![(wiring.file().to_owned(), wiring.reading())];
    for form in forms {
        let known = form.paths().map(|path| (path, Some(form))).chain(form.beside().map(|path| (path, None)));
        for (path, form) in known.filter(|(path, _)| !path.contains('*')) {
            found.extend(at(path).into_iter().map(|file| (file, form)));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.dedup_by(|(one, _), (other, _)| one == other);
    found
}

/// A file with the digest of its hook settings. A file without a known format is hashed in full.
fn weighed(file: PathBuf, form: Option<SettingsFormat>) -> (PathBuf, String) {
    let Ok(bytes) = fs::read(&file) else { return (file, ABSENT.to_owned()) };
    let read = form.and_then(|form| Some(form.weighty(&form.load(&bytes).ok()?).to_string()));
    let found = digest(&read.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned()));
    (file, found)
}

/// Time of the file's last status change, in milliseconds since 1970. For a deleted file, that of its folder.
fn touched(file: &Path, is_gone: bool) -> u64 {
    let changed = |path: &Path| {
        let (seconds, nanoseconds) = os::stat_following_links(path).ok()?.changed;
        u64::try_from(seconds * 1000 + nanoseconds / 1_000_000).ok()
    };
    let of_folder = || file.parent().filter(|_| is_gone).and_then(changed);
    changed(file).or_else(of_folder).unwrap_or(0)
}

fn memory(wiring: &Wiring) -> PathBuf {
    let place = digest(&format!("{} {}", wiring.file().display(), project_here(wiring).display()));
    wiring.state().join("wiring").join(format!("proven-{}-{place}.json", wiring.agent()))
}

fn kept(memory: &Path) -> Option<Map<String, Value>> {
    let kept: Value = serde_json::from_str(&fs::read_to_string(memory).ok()?).ok()?;
    kept.get("files")?.as_object().cloned()
}
