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
use crate::system::files::{make_folder, put_as_it_is};
use crate::system::os::{self, Purpose};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// What a person said is listed so long after it is over; each call that is stopped looks through all of it.
const LISTED: u64 = 30 * 86_400_000;

/// Whether a call that waits was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nobody has said anything.
    Open,
    /// A person has said yes or no.
    Given,
    /// It is off the list.
    TakenOff,
}

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
        self.keep_place(&kept, since)?;
        Ok(kept.id)
    }

    /// Notes until when a hook waits for the answer to a call that is on the list.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn note_wait(&self, call: &Pending, until: u64) -> io::Result<()> {
        let file = self.pending_folder().join(waiting::file_name(call));
        let since = fs::metadata(&file)?.modified().ok();
        let Some(kept) = object(&file).map(|map| Pending::from_json(&map)) else { return Ok(()) };
        self.put_pending(&Pending { until, ..kept })?;
        self.keep_place(call, since)
    }

    /// A call keeps its place on the list, however often it is written.
    fn keep_place(&self, call: &Pending, since: Option<SystemTime>) -> io::Result<()> {
        let Some(since) = since else { return Ok(()) };
        fs::File::open(self.pending_folder().join(waiting::file_name(call)))?.set_modified(since)
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

    /// Where an answer to this call shows itself: the folders of what waits and of what was said.
    ///
    /// # Errors
    /// A folder cannot be made.
    pub(crate) fn answer_folders(&self) -> io::Result<[PathBuf; 2]> {
        let folders = [self.pending_folder(), self.grants_folder()];
        folders.iter().try_for_each(|folder| make_folder(folder))?;
        Ok(folders)
    }

    /// When a call came, was answered or went last. Two changes within one tick of the file system's clock look alike.
    pub fn answers_changed(&self) -> [Option<SystemTime>; 2] {
        [self.pending_folder(), self.grants_folder()].map(|folder| folder.metadata().ok()?.modified().ok())
    }

    /// Whether a person has answered a call that waits, by the names of files alone.
    pub(crate) fn answer_to(&self, call: &Pending) -> Answer {
        if self.grant_file(&call.id).exists() {
            Answer::Given
        } else if self.pending_folder().join(waiting::file_name(call)).exists() {
            Answer::Open
        } else {
            Answer::TakenOff
        }
    }

    /// A person's no to this very call, while it holds.
    pub(crate) fn no_to(&self, call: &Pending) -> Option<Grant> {
        if !self.grants_folder().is_dir() {
            return None;
        }
        let now = clock::now();
        let said = self.said_grants().into_iter().find(|(grant, _)| grant.refuses(call, now));
        said.filter(|(_, said)| self.counts(Kind::Grant, said)).map(|(grant, _)| grant)
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
        self.put_signed(&self.grant_file(&grant.id), (signer, Kind::Grant), &grant.json())?;
        if grant.allow {
            self.announce_yes(&grant.id);
        }
        Ok(())
    }

    /// The yes of this id, if it waits for a call of this agent in this session; what is over is told to nobody.
    pub(crate) fn announced(&self, id: &str, holder: &str) -> Option<Grant> {
        let grant = object(&self.grant_file(id)).and_then(|said| Grant::from_json(&said));
        let Some(grant) = grant.filter(|grant| grant.allow && grant.uses == 0 && clock::now() < grant.expires) else {
            self.forget_announced(id);
            return None;
        };
        (grant.within == holder).then_some(grant)
    }

    /// A yes that waits for a call that is almost this one, of the same agent in the same session.
    pub(crate) fn yes_to_another(&self, call: &Pending) -> Option<Grant> {
        let now = clock::now();
        let waits = |grant: &Grant| grant.allow && grant.scope == Scope::Once && grant.uses == 0 && now < grant.expires;
        let of_holder = |grant: &Grant| waits(grant) && grant.within == call.holder();
        self.grants().into_iter().find(|grant| of_holder(grant) && is_almost(&grant.text, &call.text))
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
        if grant.scope == Scope::Once {
            said.insert("taken".into(), grant.taken.into());
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
        let _ = fs::remove_file(self.taking_file(id));
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
            let covers =
                |grant: &Grant| grant.covers(call, now) || (grant.covers_again(call, now) && self.was_left(&grant.id));
            let mut all = self.said_grants().into_iter();
            let Some((mut grant, said)) = all.find(|said| covers(&said.0) && self.is_vouched(said, call)) else {
                return Ok(None);
            };
            if !grant.was_just_used_for(call, now) {
                grant.uses = if grant.taken { grant.uses } else { grant.uses + 1 };
                (grant.used_for, grant.used) = (call.name().unwrap_or_default(), now);
                grant.taken = grant.scope == Scope::Once && self.take(&grant.id);
            }
            self.note_use(&grant, said)?;
            Ok(Some(grant))
        })
    }

    fn taking_file(&self, id: &str) -> PathBuf {
        self.grants_folder().join(format!("{id}.taking"))
    }

    /// From now until this process ends nobody takes it for gone; whether that can be told.
    fn take(&self, id: &str) -> bool {
        let Ok(file) = os::open(&self.taking_file(id), Purpose::Head) else { return false };
        // To write over a byte later takes no room on the disk.
        let is_held = file.try_lock().is_ok() && os::write_at(&file, UNANSWERED, 0).is_ok();
        is_held && TAKEN.set(file).is_ok()
    }

    /// Whether the hook that took a yes ended before it had said that the call may run: then it did not run, for a client
    /// takes a hook that was killed for a refusal.
    fn was_left(&self, id: &str) -> bool {
        let Ok(file) = os::open(&self.taking_file(id), Purpose::Poll) else { return false };
        let mut said = [0];
        file.try_lock().is_ok() && os::read_at(&file, &mut said, 0).is_ok() && said == *UNANSWERED
    }
}

/// What stands in that file before and after the answer.
const UNANSWERED: &[u8; 1] = b"0";
const ANSWERED: &[u8; 1] = b"1";

/// What the hook that has taken a yes keeps locked until it ends. One process answers one call.
static TAKEN: OnceLock<File> = OnceLock::new();

/// The answer has left: the yes that it was given by is used for good. Whether there was one; then the process has to end
/// at once, for whatever it did afterwards it could be killed at, with the yes used and the call not run.
pub fn settle() -> bool {
    TAKEN.get().map(|file| os::write_at(file, ANSWERED, 0)).is_some()
}

/// Whether two texts differ in a few words at one place only: a pipe more, another folder in front.
fn is_almost(one: &str, other: &str) -> bool {
    const MAX_WORDS: usize = 6;
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    let before = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = one.len().min(other.len()) - before;
    let behind = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let differs = |words: &[&str]| words.len() - before - behind;
    before + behind >= 2 && differs(&one) <= MAX_WORDS && differs(&other) <= MAX_WORDS
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn object(path: &Path) -> Option<Map<String, Value>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
