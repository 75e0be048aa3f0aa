//! Calls that wait for a person, and a person's approvals and refusals: one small file each.

pub mod answers;
mod by_call;
mod grant;
mod hold;
mod limits;
mod pending;
mod scope;
mod waits;

pub use grant::Grant;
pub(crate) use hold::Approval;
pub use hold::Hold;
pub use pending::Pending;
pub(crate) use pending::short_id;
pub use scope::Scope;
pub(crate) use waits::{Wait, WaitEnd};

use crate::store::log::BRIEF_WAIT;
use crate::store::redact::put;
use crate::store::signing::signed::Signer;
use crate::store::signing::statement::Kind;
use crate::store::state::Store;
use crate::system::clock;
use crate::system::files::{make_folder, put_as_it_is};
use by_call::ByCall;
use limits::Waiting;
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Time in milliseconds for which an expired grant is listed.
const LISTED: u64 = 30 * 86_400_000;

/// Whether a waiting call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Not answered yet.
    Open,
    /// Approved or refused by a person.
    Answered,
    /// Not answered, and no person is there any more.
    Unattended,
    /// Removed from the list.
    TakenOff,
}

impl Store {
    fn pending_folder(&self) -> PathBuf {
        self.folder.join("pending")
    }

    fn grants_folder(&self) -> PathBuf {
        self.folder.join("grants")
    }

    fn grants_by_call(&self) -> ByCall<'_> {
        ByCall::new(self, self.folder.join("grants-by-call"), self.grants_folder())
    }

    /// Stores a call that a person may decide about and returns it as stored. If the same call is already waiting, it
    /// keeps its place and the id that a person may have read. A session never displaces the recent calls of another
    /// one.
    ///
    /// # Errors
    /// The file cannot be written, or the session has no free place on the list.
    pub(crate) fn keep_pending(&self, pending: &Pending) -> io::Result<Pending> {
        let folder = self.pending_folder();
        let waiting = Waiting::new(limits::listed(&folder), self.grants_folder());
        let known = waiting.same(pending).and_then(|id| self.pending_call(&id));
        let kept = match known {
            Some(Pending { id, listed, appeals, .. }) => Pending { id, listed, appeals, ..pending.clone() },
            None => pending.clone(),
        };
        if !waiting.make_room(&kept, &folder) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.put_pending(&kept)?;
        Ok(kept)
    }

    /// Writes the call in its current state.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn put_pending(&self, pending: &Pending) -> io::Result<()> {
        put(&self.pending_folder().join(limits::file_name(pending)), &self.kept(&pending.json()))
    }

    /// Every call that waits or was refused, newest first.
    pub fn pending(&self) -> Vec<Pending> {
        let mut all: Vec<Pending> =
            files(&self.pending_folder()).iter().filter_map(|path| Some(Pending::from_json(&object(path)?))).collect();
        all.sort_by_key(|pending| std::cmp::Reverse(pending.time));
        all
    }

    /// The ids of the waiting calls without an answer, taken from file names alone.
    pub fn waiting(&self) -> Vec<String> {
        let mut waiting = limits::ids(&self.pending_folder());
        let answered = if waiting.is_empty() { Vec::new() } else { limits::ids(&self.grants_folder()) };
        waiting.retain(|id| !answered.contains(id));
        waiting
    }

    /// The call with this id.
    pub fn pending_call(&self, id: &str) -> Option<Pending> {
        self.pending_file(id).and_then(|path| object(&path)).map(|map| Pending::from_json(&map))
    }

    fn pending_file(&self, id: &str) -> Option<PathBuf> {
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        files(&self.pending_folder()).into_iter().find(|path| plain && limits::id_of(path) == Some(id))
    }

    /// The folders that change when this call is answered: those of pending calls and of grants.
    ///
    /// # Errors
    /// A folder cannot be created.
    pub(crate) fn answer_folders(&self) -> io::Result<[PathBuf; 2]> {
        let folders = [self.pending_folder(), self.grants_folder()];
        folders.iter().try_for_each(|folder| make_folder(folder))?;
        Ok(folders)
    }

    /// Time of the last change to the pending calls and to the grants. Two changes within one tick of the file system's
    /// clock are indistinguishable.
    pub fn answers_changed(&self) -> [Option<SystemTime>; 2] {
        [self.pending_folder(), self.grants_folder()].map(|folder| folder.metadata().ok()?.modified().ok())
    }

    /// Whether a person has answered a waiting call, by file names alone.
    pub(crate) fn answer_to(&self, call: &Pending) -> Answer {
        if self.grant_file(&call.id).exists() {
            Answer::Answered
        } else if self.pending_folder().join(limits::file_name(call)).exists() {
            Answer::Open
        } else {
            Answer::TakenOff
        }
    }

    /// A person's refusal of exactly this call, until it expires.
    pub(crate) fn no_to(&self, call: &Pending) -> Option<Grant> {
        if !self.grants_folder().is_dir() {
            return None;
        }
        let now = clock::now();
        let about = self.stored(&self.grants_by_call().about(call));
        let refusal = about.into_iter().find(|(grant, _)| grant.refuses(call, now));
        refusal.filter(|(_, fields)| self.counts(Kind::Grant, fields)).map(|(grant, _)| grant)
    }

    /// Removes a call from the list.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget_pending(&self, id: &str) -> io::Result<()> {
        // A killed hook leaves the file of its wait.
        let _ = fs::remove_file(self.wait_file(id));
        self.pending_file(id).map_or(Ok(()), fs::remove_file)
    }

    /// All grants, newest first.
    pub fn grants(&self) -> Vec<Grant> {
        let all = self.stored_grants().into_iter();
        all.map(|(grant, fields)| Grant { vouched: self.counts(Kind::Grant, &fields), ..grant }).collect()
    }

    /// All grants, newest first, each with the JSON object of its file, which is what the signature covers.
    fn stored_grants(&self) -> Vec<(Grant, Map<String, Value>)> {
        let names = files(&self.grants_folder());
        let ids: Vec<String> = names.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        self.stored(&ids)
    }

    /// The same for the grants with these ids, as far as they exist.
    fn stored(&self, ids: &[String]) -> Vec<(Grant, Map<String, Value>)> {
        let read = |id: &String| {
            let fields = object(&self.grant_file(id))?;
            let grant = Grant::from_json(&fields).filter(|grant| grant.id == *id)?;
            Some((grant, fields))
        };
        let mut all: Vec<_> = ids.iter().filter_map(read).collect();
        all.sort_by_key(|(grant, _)| std::cmp::Reverse(grant.time));
        all
    }

    /// Stores a grant.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn grant(&self, grant: &Grant, signer: &Signer) -> io::Result<()> {
        let by_call = self.grants_by_call();
        by_call.changed(|| {
            by_call.add(grant)?;
            self.put_signed(&self.grant_file(&grant.id), (signer, Kind::Grant), &grant.json())
        })?;
        if grant.allow {
            self.announce_approval(&grant.id);
        }
        Ok(())
    }

    /// The approval with this id, if it waits for a call of this agent and session. Removes the announcement of an
    /// expired or used one.
    pub(crate) fn announced(&self, id: &str, holder: &str) -> Option<Grant> {
        let grant = object(&self.grant_file(id)).and_then(|fields| Grant::from_json(&fields));
        let Some(grant) = grant.filter(|grant| grant.allow && grant.uses == 0 && clock::now() < grant.expires) else {
            self.forget_announced(id);
            return None;
        };
        (grant.within == holder).then_some(grant)
    }

    /// An unused approval for a nearly identical call of the same agent and session.
    pub(crate) fn approval_of_another(&self, call: &Pending) -> Option<Grant> {
        let now = clock::now();
        let waits = |grant: &Grant| grant.allow && grant.scope == Scope::Once && grant.uses == 0 && now < grant.expires;
        let of_holder = |grant: &Grant| waits(grant) && grant.within == call.holder();
        let unused = self.stored(&self.grants_by_call().unused_of(call)).into_iter();
        let mut unused = unused.map(|(grant, fields)| Grant { vouched: self.counts(Kind::Grant, &fields), ..grant });
        unused.find(|grant| of_holder(grant) && is_almost(&grant.text, &call.text))
    }

    fn grant_file(&self, id: &str) -> PathBuf {
        self.grants_folder().join(format!("{id}.json"))
    }

    /// Whether an approval is vouched for: signed if a key is in force, and, for the scope of a task, the task was
    /// declared by a person.
    fn is_vouched(&self, (grant, fields): &(Grant, Map<String, Value>), call: &Pending) -> bool {
        let of_task = || self.vouched_task(&call.workspace).is_some_and(|task| task.id == call.task);
        self.counts(Kind::Grant, fields) && (grant.scope != Scope::Task || of_task())
    }

    /// Records the use of an approval. The added values are numbers and digests; the rest was redacted before.
    fn note_use(&self, grant: &Grant, mut fields: Map<String, Value>) -> io::Result<()> {
        for name in ["uses", "used_for", "used"] {
            fields.insert(name.into(), grant.json().get(name).cloned().unwrap_or_default());
        }
        if grant.scope == Scope::Once {
            fields.insert("taken".into(), grant.taken.into());
        }
        put_as_it_is(&self.grant_file(&grant.id), &Value::from(fields).to_string())
    }

    /// Removes grants that expired a month ago; the log keeps their records.
    pub fn forget_old_grants(&self) {
        let over = |grant: &Grant| grant.expires.saturating_add(LISTED) < clock::now();
        self.grants().iter().filter(|grant| over(grant)).for_each(|grant| drop(self.revoke(&grant.id)));
    }

    /// Revokes an approval; returns whether it existed.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let Some(path) =
            files(&self.grants_folder()).into_iter().find(|path| path.file_stem().is_some_and(|s| s == id))
        else {
            return Ok(false);
        };
        self.grants_by_call().changed(|| {
            let _ = fs::remove_file(self.taking_file(id));
            fs::remove_file(path).map(|()| true)
        })
    }

    /// An approval that covers this call, marked as used. If several hooks want the same approval for one call, one of
    /// them gets it, with the hold on it.
    ///
    /// # Errors
    /// The use could not be recorded; the approval is then not granted.
    pub(crate) fn use_grant(&self, call: &Pending) -> io::Result<Option<Approval>> {
        let folder = self.grants_folder();
        if !self.may_loosen || !folder.is_dir() {
            return Ok(None);
        }
        self.log().locked(BRIEF_WAIT, |_, _| {
            let now = clock::now();
            let covers =
                |grant: &Grant| grant.covers(call, now) || (grant.covers_again(call, now) && self.was_left(&grant.id));
            let by_call = self.grants_by_call();
            let mut about = self.stored(&by_call.about(call)).into_iter();
            let covering = about.find(|stored| covers(&stored.0) && self.is_vouched(stored, call));
            let Some((mut grant, fields)) = covering else { return Ok(None) };
            let mut hold = None;
            by_call.changed(|| {
                if !grant.was_just_used_for(call, now) {
                    grant.uses = if grant.taken { grant.uses } else { grant.uses + 1 };
                    (grant.used_for, grant.used) = (call.name().unwrap_or_default(), now);
                    hold = (grant.scope == Scope::Once).then(|| self.hold(&grant.id)).flatten();
                    grant.taken = hold.is_some();
                }
                self.note_use(&grant, fields)
            })?;
            by_call.used(&grant);
            Ok(Some(Approval { grant, hold }))
        })
    }
}

/// Whether two texts differ in a few words at one place only, such as an additional pipe or another folder at the
/// beginning.
fn is_almost(one: &str, other: &str) -> bool {
    const MAX_WORDS: usize = 6;
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    let before = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = one.len().min(other.len()) - before;
    let after = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let differs = |words: &[&str]| words.len() - before - after;
    before + after >= 2 && differs(&one) <= MAX_WORDS && differs(&other) <= MAX_WORDS
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn object(path: &Path) -> Option<Map<String, Value>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
