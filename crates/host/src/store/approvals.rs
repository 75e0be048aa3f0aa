//! Calls that wait for a person, and what a person has said: one small file each.

pub use super::grant::Grant;
pub use super::pending::Pending;
pub(crate) use super::pending::short_id;
pub use super::scope::Scope;

use super::clean::put;
use super::log::BRIEF_WAIT;
use super::signing::signed::Signer;
use super::signing::statement::Kind;
use super::state::Store;
use super::waiting::{self, Waiting};
use crate::system::clock;
use crate::system::files::put_as_it_is;
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a person said is listed so long after it is over; each call that is stopped looks through all of it.
const LISTED: u64 = 30 * 86_400_000;

impl Store {
    fn pending_folder(&self) -> PathBuf {
        self.folder.join("pending")
    }

    fn grants_folder(&self) -> PathBuf {
        self.folder.join("grants")
    }

    /// Keeps a call that a person may decide about, and gives the id under which it is kept. The same call that still
    /// waits keeps the id that a person may have read. No session pushes another's call off the list.
    ///
    /// # Errors
    /// The file cannot be written, or there is no room left for this session.
    pub(crate) fn keep_pending(&self, pending: &Pending) -> io::Result<String> {
        let folder = self.pending_folder();
        let waiting = Waiting { listed: waiting::listed(&folder), grants: &self.grants_folder() };
        let known = waiting.same(pending).and_then(|id| self.pending_call(&id));
        let kept = match known {
            Some(known) => Pending { id: known.id, appeals: known.appeals, ..pending.clone() },
            None => pending.clone(),
        };
        let since = waiting.first_written(&kept.id);
        if !waiting.make_room(&kept, &folder) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.put_pending(&kept)?;
        if let Some(since) = since {
            fs::File::open(folder.join(waiting::file_name(&kept)))?.set_modified(since)?;
        }
        Ok(kept.id)
    }

    /// Writes a call as it is kept now.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn put_pending(&self, pending: &Pending) -> io::Result<()> {
        put(&self.pending_folder().join(waiting::file_name(pending)), &self.kept(&pending.json()))
    }

    /// Every call that waits or was refused, newest first.
    pub fn pending(&self) -> Vec<Pending> {
        let mut all: Vec<Pending> =
            files(&self.pending_folder()).iter().filter_map(|path| Some(Pending::from_json(&object(path)?))).collect();
        all.sort_by_key(|pending| std::cmp::Reverse(pending.time));
        all
    }

    /// The ids of the calls that wait and that no person has answered, by the names of their files alone.
    pub fn waiting(&self) -> Vec<String> {
        let mut waiting = waiting::ids(&self.pending_folder());
        let answered = if waiting.is_empty() { Vec::new() } else { waiting::ids(&self.grants_folder()) };
        waiting.retain(|id| !answered.contains(id));
        waiting
    }

    /// The call of this id.
    pub fn pending_call(&self, id: &str) -> Option<Pending> {
        self.pending_file(id).and_then(|path| object(&path)).map(|map| Pending::from_json(&map))
    }

    fn pending_file(&self, id: &str) -> Option<PathBuf> {
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        files(&self.pending_folder()).into_iter().find(|path| plain && waiting::id_of(path) == Some(id))
    }

    /// Takes a call off the list.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget_pending(&self, id: &str) -> io::Result<()> {
        self.pending_file(id).map_or(Ok(()), fs::remove_file)
    }

    /// Every yes and no that was given, newest first.
    pub fn grants(&self) -> Vec<Grant> {
        let all = self.said_grants().into_iter();
        all.map(|(grant, said)| Grant { vouched: self.counts(Kind::Grant, &said), ..grant }).collect()
    }

    /// The same, each with the words of its file: what is signed are these.
    fn said_grants(&self) -> Vec<(Grant, Map<String, Value>)> {
        let read = |path: &PathBuf| {
            let said = object(path)?;
            let grant =
                Grant::from_json(&said).filter(|grant| path.file_stem().is_some_and(|stem| *stem == *grant.id))?;
            Some((grant, said))
        };
        let mut all: Vec<_> = files(&self.grants_folder()).iter().filter_map(read).collect();
        all.sort_by_key(|(grant, _)| std::cmp::Reverse(grant.time));
        all
    }

    /// Keeps a yes or a no.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn grant(&self, grant: &Grant, signer: &Signer) -> io::Result<()> {
        self.put_signed(&self.grant_file(&grant.id), (signer, Kind::Grant), &grant.json())
    }

    fn grant_file(&self, id: &str) -> PathBuf {
        self.grants_folder().join(format!("{id}.json"))
    }

    /// Whether a person stands behind a yes: signed where it has to be, and the task is one that a person declared.
    fn is_vouched(&self, (grant, said): &(Grant, Map<String, Value>), call: &Pending) -> bool {
        let of_task = || self.vouched_task(&call.workspace).is_some_and(|task| task.id == call.task);
        self.counts(Kind::Grant, said) && (grant.scope != Scope::Task || of_task())
    }

    /// Notes that a yes was used. All of it is numbers and digests but for what was clean before.
    fn note_use(&self, grant: &Grant, mut said: Map<String, Value>) -> io::Result<()> {
        for name in ["uses", "used_for", "used"] {
            said.insert(name.into(), grant.json().get(name).cloned().unwrap_or_default());
        }
        put_as_it_is(&self.grant_file(&grant.id), &Value::from(said).to_string())
    }

    /// Forgets every yes that has been over for a month: the log still tells of it.
    pub fn forget_old_grants(&self) {
        let over = |grant: &Grant| grant.expires.saturating_add(LISTED) < clock::now();
        self.grants().iter().filter(|grant| over(grant)).for_each(|grant| drop(self.revoke(&grant.id)));
    }

    /// Takes a yes back; whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let Some(path) =
            files(&self.grants_folder()).into_iter().find(|path| path.file_stem().is_some_and(|s| s == id))
        else {
            return Ok(false);
        };
        fs::remove_file(path).map(|()| true)
    }

    /// A yes that covers this call, used up by this: of several hooks that want the same yes for one call, one has it.
    ///
    /// # Errors
    /// The use could not be written; then it is no yes.
    pub(crate) fn use_grant(&self, call: &Pending) -> io::Result<Option<Grant>> {
        let folder = self.grants_folder();
        if !self.may_loosen || !folder.is_dir() {
            return Ok(None);
        }
        self.log().locked(BRIEF_WAIT, |_, _| {
            let now = clock::now();
            let mut all = self.said_grants().into_iter();
            let covering = |said: &(Grant, _)| said.0.covers(call, now) && self.is_vouched(said, call);
            let Some((mut grant, said)) = all.find(covering) else {
                return Ok(None);
            };
            if !grant.was_just_used_for(call, now) {
                grant.uses += 1;
                (grant.used_for, grant.used) = (call.name().unwrap_or_default(), now);
            }
            self.note_use(&grant, said)?;
            Ok(Some(grant))
        })
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn object(path: &Path) -> Option<Map<String, Value>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
