//! What the guard remembers: the audit log, each session's last calls, a person's approvals, signs of life.
//!
//! Everything lies below `~/.local/state/reflex` of the user's home. Nothing here decides; the rest of the host reads and writes it
//! through [`Store`] alone, so that another place (a team's server) could stand behind the same few methods.

pub mod approvals;
pub mod canary;
mod chain;
mod follow;
mod head;
pub mod life;
mod log;
mod remnants;
mod search;
pub mod session;
mod snapshot;
mod spent;
pub mod tasks;
mod waiting;

pub use chain::{Broken, Checked};
pub use follow::Follower;
pub use head::Missing;
pub use log::Log;
pub use search::Search;

use crate::clean::{Kept, Scribe};
use crate::signing::InForce;
use crate::system::clock;
use crate::system::folders::Folders;
use rustix::fs::{Mode, OFlags};
use serde_json::{Map, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The form of the records of the audit log. Version 1 had no chain and lies in `audit/calls.jsonl`.
pub const SCHEMA: &str = "reflex/audit-v2";

/// Everything the guard keeps of one user on one machine.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) folder: PathBuf,
    /// The user's home, whose hook entries name the key with which a person's words are signed.
    pub(crate) home: PathBuf,
    /// Whether what a person said here counts: not where only the environment names the home.
    may_loosen: bool,
    /// Which key decides about it, once that was looked up.
    pub(crate) keys: Arc<OnceLock<InForce>>,
}

impl Store {
    /// The store of these folders.
    pub fn of(folders: &Folders) -> Store {
        Store {
            folder: folders.state.clone(),
            home: folders.home.clone(),
            may_loosen: !folders.may_only_tighten(),
            keys: Arc::default(),
        }
    }

    /// The folder of all of it.
    pub fn state(&self) -> &Path {
        &self.folder
    }

    /// The audit log.
    pub fn log(&self) -> Log {
        Log::in_folder(self.folder.join("audit"))
    }

    /// Appends a record, a JSON object; `durable` waits for the disk.
    ///
    /// # Errors
    /// It could be written nowhere.
    pub(crate) fn record(&self, record: &Kept, durable: bool) -> io::Result<()> {
        self.log().append(record, durable)
    }

    /// Records something that is no call: an approval, an attempt, a switch.
    ///
    /// # Errors
    /// It could be written nowhere.
    pub fn note(&self, kind: &'static str, fields: Value) -> io::Result<()> {
        self.record(&crate::record::note(self, kind, &fields), true)
    }

    /// A person's words without secrets, as all that is kept of them.
    pub fn clean(&self, text: &str) -> String {
        Scribe::new(self).clean(text).into()
    }

    /// An object of which every text is clean.
    pub(crate) fn cleaned(&self, value: &Value) -> Option<Map<String, Value>> {
        serde_json::from_str(self.kept(value).text()).ok()
    }

    /// A document of which every text is clean.
    pub(crate) fn kept(&self, value: &Value) -> Kept {
        Scribe::new(self).kept(value)
    }

    /// Whether what a person said here counts.
    pub(crate) fn may_loosen(&self) -> bool {
        self.may_loosen
    }

    /// Where a person's yes to the files of workspaces is kept.
    pub(crate) fn trust_folder(&self) -> PathBuf {
        self.folder.join("trust")
    }

    /// Whether records hold no texts of calls, as a person has chosen.
    pub fn structure_only(&self) -> bool {
        self.folder.join("audit/structure-only").exists()
    }

    /// Chooses whether records hold the texts of calls.
    ///
    /// # Errors
    /// The choice cannot be written.
    pub fn keep_texts(&self, keep: bool) -> io::Result<()> {
        let file = self.folder.join("audit/structure-only");
        match keep {
            false => put(&file, &Kept::own("")),
            true if file.exists() => fs::remove_file(file),
            true => Ok(()),
        }
    }

    /// A name for this machine that means nothing elsewhere; made at the first use.
    pub fn host(&self) -> String {
        kept(&self.folder.join("host"), clock::uuid).unwrap_or_default()
    }

    /// What makes tags of secrets: equal secrets get equal tags here, and nobody can try secrets out on a tag.
    pub(crate) fn key(&self) -> Vec<u8> {
        let fresh = || {
            let mut bytes = [0; 32];
            clock::chance(&mut bytes);
            clock::hexadecimal(&bytes)
        };
        kept(&self.folder.join("key"), fresh).unwrap_or_else(|_| fresh()).into_bytes()
    }
}

/// More than what [`kept`] keeps.
const MOST_KEPT: usize = 128;

/// A file that programs which are started do not have. The standard library asks the system twice for that.
fn opened(path: &Path, how: OFlags) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, how | OFlags::CLOEXEC, mode))?.into())
}

/// The text of a file that is usually shorter than `usual`: one question is enough then, for a file gives all that is
/// asked for until it ends.
fn text_of(path: &Path, usual: usize) -> io::Result<String> {
    let mut file = opened(path, OFlags::RDONLY)?;
    let mut bytes = vec![0; usual];
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read == usual {
        file.read_to_end(&mut bytes)?;
    }
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// A file's text, made if it is not there. Of several that make it at once, the first wins.
fn kept(path: &Path, make: impl FnOnce() -> String) -> io::Result<String> {
    match text_of(path, MOST_KEPT) {
        Ok(text) if !text.is_empty() => return Ok(text),
        _ => {}
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    log::make_folder(folder)?;
    let text = make();
    let draft = draft(folder, &text)?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(path),
        Err(error) => Err(error),
        Ok(()) => Ok(text),
    }
}

/// A small file, replaced at once or not at all.
pub(crate) fn put(path: &Path, kept: &Kept) -> io::Result<()> {
    put_as_it_is(path, kept.text())
}

/// The same for a file that tells of no call: it holds what a person wrote into another one.
pub(crate) fn put_as_it_is(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    log::make_folder(folder)?;
    let draft = draft(folder, text)?;
    fs::rename(draft, path)
}

/// A file beside the one it will become. Of a full disk nothing stays behind.
fn draft(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let draft = folder.join(format!(".{}", clock::uuid()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    match file.write_all(text.as_bytes()) {
        Ok(()) => Ok(draft),
        Err(error) => fs::remove_file(&draft).and(Err(error)),
    }
}
