//! Calls that wait for a person, and a person's approvals and refusals: one small file for each call.

pub mod answers;
mod files;
mod grant;
mod hold;
mod limits;
mod pending;
mod scope;
#[cfg(test)]
mod tests;
mod waits;

pub(crate) use files::WaitEnd;
pub use grant::Grant;
pub(crate) use hold::Approval;
pub use hold::Hold;
pub use pending::Pending;
pub(crate) use pending::short_id;
pub use scope::Scope;
pub(crate) use waits::Wait;

use crate::store::signing::signed::Signer;
use crate::store::signing::statement::Kind;
use crate::store::state::Store;
use crate::system::clock;
use crate::system::files::make_folder;
use files::{BRIEF_WAIT, Content, Entry, LONG_WAIT, Mark, Marks, State};
use limits::Waiting;
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

/// Time in milliseconds for which an expired grant is listed.
const LISTED: u64 = 30 * 86_400_000;

/// Folders of earlier versions. What was in them has ended.
const EARLIER: [&str; 3] = ["pending", "grants", "grants-by-call"];

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

/// An answered call.
struct Stored {
    entry: Entry,
    grant: Grant,
    /// Its fields, which is what the signature covers.
    fields: Map<String, Value>,
}

impl Store {
    /// Stores a call that a person may decide about and returns it as stored. If the same call is already waiting, it
    /// keeps its place and the id that a person may have read. A session never displaces the recent calls of another
    /// one.
    ///
    /// # Errors
    /// The file cannot be written, or the session has no free place on the list.
    pub(crate) fn keep_pending(&self, pending: &Pending) -> io::Result<Pending> {
        // Without the lock, a call may be listed twice.
        let lock = self.lock_calls(BRIEF_WAIT);
        let waiting = Waiting::new(self, pending);
        let known = waiting.same().and_then(|entry| self.call_of(&entry).map(|known| (entry, known)));
        let Some((entry, known)) = known else {
            if !waiting.make_room() {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            self.put_call(&Entry::new(pending, State::Open), pending)?;
            return Ok(pending.clone());
        };
        let Pending { id, listed, appeals, .. } = known;
        let kept = Pending { id, listed, appeals, ..pending.clone() };
        // A new file would not have the lock of a hook that waits.
        if lock.is_ok() && !self.is_held(&entry) {
            self.put_call(&entry, &kept)?;
        }
        Ok(kept)
    }

    /// Writes a call in its current form, with the answer to it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn put_pending(&self, pending: &Pending) -> io::Result<()> {
        let _lock = self.lock_calls(LONG_WAIT)?;
        let entry = self.entry(&pending.id).unwrap_or_else(|| Entry::new(pending, State::Open));
        let answer = self.read_answer(&entry).unwrap_or_default();
        self.put_content(&entry, &self.stored_form(pending, answer)?)
    }

    /// The stored form of a call, without secrets, with a person's answer, if there is one.
    fn stored_form(&self, call: &Pending, answer: Map<String, Value>) -> io::Result<Content> {
        Ok(Content { call: serde_json::from_str(self.kept(&call.json()).text())?, answer })
    }

    /// Every call that waits or was refused, newest first.
    pub fn pending(&self) -> Vec<Pending> {
        let mut all: Vec<Pending> = self.waiting_entries().iter().filter_map(|entry| self.call_of(entry)).collect();
        all.sort_by_key(|pending| std::cmp::Reverse(pending.time));
        all
    }

    /// Files of calls that wait or were answered and that cannot be read, so that their calls are in no list.
    pub fn damaged_calls(&self) -> Vec<PathBuf> {
        let entries = self.waiting_entries().into_iter().chain(self.answered_entries());
        let damaged = entries.filter(|entry| self.read_content(entry).is_none()).map(|entry| self.call_file(&entry));
        // A call that was answered or cleared meanwhile is gone, not damaged.
        damaged.filter(|file| file.exists()).collect()
    }

    /// The calls whose answer counts no more although it was never used, newest first.
    fn lapsed_calls(&self) -> Vec<Pending> {
        let now = clock::now();
        let mut entries = self.answered_entries();
        entries.retain(|entry| matches!(entry.state, State::Yes | State::Lasting));
        let is_over = |grant: &Grant| grant.uses == 0 && grant.expires <= now;
        let all = self.stored(entries).into_iter();
        let lapsed = all.filter(|stored| is_over(&stored.grant) || !self.counts(Kind::Grant, &stored.fields));
        lapsed.filter_map(|stored| self.call_of(&stored.entry)).collect()
    }

    /// The ids of the waiting calls without an answer, taken from file names alone.
    pub fn waiting(&self) -> Vec<String> {
        files::waiting_ids(&self.waiting_folder())
    }

    /// The call with this id, unless it was denied.
    pub fn pending_call(&self, id: &str) -> Option<Pending> {
        self.entry(id).filter(|entry| entry.state != State::No).and_then(|entry| self.call_of(&entry))
    }

    /// The folder that changes when a waiting call is answered.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn made_waiting_folder(&self) -> io::Result<PathBuf> {
        let folder = self.waiting_folder();
        make_folder(&folder).map(|()| folder)
    }

    /// Time of the last change to the list of the waiting calls. Two changes within one tick of the file system's clock
    /// are indistinguishable.
    pub fn waiting_changed(&self) -> Option<SystemTime> {
        self.waiting_folder().metadata().ok()?.modified().ok()
    }

    /// Whether a person has answered a waiting call, by file names alone.
    pub(crate) fn answer_to(&self, call: &Pending) -> Answer {
        if self.waiting_entry(&call.id).is_some() {
            Answer::Open
        } else if self.answered_about(&Marks::new(call)).iter().any(|entry| entry.id() == call.id) {
            Answer::Answered
        } else {
            Answer::TakenOff
        }
    }

    /// A person's refusal of exactly this call, until it expires.
    pub(crate) fn no_to(&self, call: &Pending) -> Option<Grant> {
        let (now, marks) = (clock::now(), Marks::new(call));
        let mut about = self.answered_about(&marks);
        about.retain(|entry| entry.state == State::No && entry.exact() == marks.exact);
        let refusal = self.stored(about).into_iter().find(|stored| stored.grant.refuses(call, now));
        refusal.filter(|stored| self.counts(Kind::Grant, &stored.fields)).map(|stored| stored.grant)
    }

    /// Removes a call from the list.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget_pending(&self, id: &str) -> io::Result<()> {
        let _lock = self.lock_calls(LONG_WAIT)?;
        self.remove_call(self.waiting_entry(id)).map(drop)
    }

    /// All grants, newest first.
    pub fn grants(&self) -> Vec<Grant> {
        self.stored(self.answered_entries()).into_iter().map(|stored| self.to_grant(stored)).collect()
    }

    fn to_grant(&self, Stored { grant, fields, .. }: Stored) -> Grant {
        Grant { vouched: self.counts(Kind::Grant, &fields), ..grant }
    }

    /// The content of these files, those with the newest answers first.
    fn stored(&self, entries: Vec<Entry>) -> Vec<Stored> {
        let mut all: Vec<Stored> = entries.into_iter().filter_map(|entry| self.stored_in(entry)).collect();
        all.sort_by_key(|stored| std::cmp::Reverse(stored.grant.time));
        all
    }

    fn stored_in(&self, entry: Entry) -> Option<Stored> {
        let fields = self.read_answer(&entry)?;
        let mut grant = Grant::from_json(&fields).filter(|grant| grant.id == entry.id())?;
        if grant.scope == Scope::Once {
            grant.uses = (entry.state == State::Taken).into();
        }
        Some(Stored { entry, grant, fields })
    }

    /// Stores a person's answer to a call.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn answer(&self, call: &Pending, grant: &Grant, signer: &Signer) -> io::Result<()> {
        let answer = self.sign_statement(&grant.json(), signer, Kind::Grant)?;
        let content = self.stored_form(call, answer)?;
        let state = match (grant.allow, grant.scope) {
            (false, _) => State::No,
            (true, Scope::Once) => State::Yes,
            (true, Scope::Session | Scope::Task | Scope::Repository) => State::Lasting,
        };
        let lock = self.lock_calls(LONG_WAIT)?;
        let entry = self.entry(&call.id).unwrap_or_else(|| Entry::new(call, state));
        // The answer counts with the name that tells of it.
        self.put_content(&entry, &content)?;
        let entry = self.change_state(&entry, state)?;
        drop(lock);
        if grant.allow {
            self.announce_approval(&format!("{}-{}", grant.id, entry.mark()));
        }
        Ok(())
    }

    /// The announced approval, if it waits for a call of this agent and session. Removes the announcement of an expired
    /// or used one.
    pub(crate) fn announced(&self, announcement: &str, holder: &str) -> Option<Grant> {
        let (id, mark) = announcement.split_once('-').unwrap_or_default();
        let entry = self.answered_with(mark).into_iter().find(|entry| entry.id() == id);
        let grant = entry.and_then(|entry| self.stored_in(entry)).map(|stored| stored.grant);
        let Some(grant) = grant.filter(|grant| grant.allow && grant.uses == 0 && clock::now() < grant.expires) else {
            self.forget_announced(announcement);
            return None;
        };
        (grant.within == holder).then_some(grant)
    }

    /// An unused approval for a nearly identical call of the same agent and session.
    pub(crate) fn approval_of_another(&self, call: &Pending) -> Option<Grant> {
        let now = clock::now();
        let of_holder = |grant: &Grant| {
            grant.allow && grant.scope == Scope::Once && now < grant.expires && grant.within == call.holder()
        };
        let mut unused = self.answered_about(&Marks::new(call));
        unused.retain(|entry| entry.state == State::Yes);
        self.stored(unused)
            .into_iter()
            .map(|stored| self.to_grant(stored))
            .find(|grant| of_holder(grant) && is_almost(&grant.text, &call.text))
    }

    /// Whether an approval is vouched for: signed if a key is in force, and, for the scope of a task, the task was
    /// declared by a person.
    fn is_vouched(&self, stored: &Stored, call: &Pending) -> bool {
        let of_task = || self.vouched_task(&call.workspace).is_some_and(|task| task.id == call.task);
        self.counts(Kind::Grant, &stored.fields) && (stored.grant.scope != Scope::Task || of_task())
    }

    /// Removes grants that expired a month ago; the log keeps their records.
    pub fn forget_old_grants(&self) {
        EARLIER.iter().for_each(|name| drop(fs::remove_dir_all(self.folder.join(name))));
        let over = |grant: &Grant| grant.expires.saturating_add(LISTED) < clock::now();
        self.grants().iter().filter(|grant| over(grant)).for_each(|grant| drop(self.revoke(&grant.id)));
    }

    /// Removes all answers of a person.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn forget_answers(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.answered_folder()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Revokes an approval; returns whether it existed.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let _lock = self.lock_calls(LONG_WAIT)?;
        self.remove_call(self.answered_entry(id))
    }

    /// An approval that covers this call, marked as used. If several hooks want the same approval for one call, one of
    /// them gets it, with the hold on it.
    ///
    /// # Errors
    /// The use could not be recorded; the approval is then not granted.
    pub(crate) fn use_grant(&self, call: &Pending) -> io::Result<Option<Approval>> {
        let marks = Marks::new(call);
        if !self.may_loosen || self.approvals_about(&marks).is_empty() {
            return Ok(None);
        }
        let _lock = self.lock_calls(BRIEF_WAIT)?;
        let now = clock::now();
        for stored in self.stored(self.approvals_about(&marks)) {
            let is_taken = stored.entry.state == State::Taken;
            let is_left = is_taken && !self.is_held(&stored.entry) && self.is_unanswered(&stored.entry);
            let is_free = is_left && stored.grant.covers_unused(call, now);
            if !(is_free || stored.grant.covers(call, now)) || !self.is_vouched(&stored, call) {
                continue;
            }
            if stored.grant.was_just_used_for(call, now) && !is_left {
                return Ok(Some(Approval { grant: stored.grant, hold: None }));
            }
            return self.take(stored, call, now).map(Some);
        }
        Ok(None)
    }

    /// The approvals that may cover a call with these marks.
    fn approvals_about(&self, marks: &Marks) -> Vec<Entry> {
        let mut about = self.answered_about(marks);
        about.retain(|entry| match entry.state {
            State::Yes | State::Taken => entry.exact() == marks.exact,
            State::Lasting => true,
            State::Open | State::Waits(_) | State::No => false,
        });
        about
    }

    /// Notes the use of an approval for this call, and takes it if it is for one call. The added values are numbers and
    /// digests; the rest was redacted before.
    fn take(&self, stored: Stored, call: &Pending, now: u64) -> io::Result<Approval> {
        let Stored { entry, mut grant, .. } = stored;
        let mut content = self.read_content(&entry).ok_or(io::ErrorKind::NotFound)?;
        grant.uses = if grant.scope == Scope::Once { 1 } else { grant.uses + 1 };
        (grant.used_for, grant.used) = (call.name().unwrap_or_default(), now);
        content.answer.insert("uses".into(), grant.uses.into());
        content.answer.insert("used".into(), grant.used.into());
        content.answer.insert("used_for".into(), grant.used_for.as_str().into());
        if grant.scope != Scope::Once {
            self.put_content(&entry, &content)?;
            return Ok(Approval { grant, hold: None });
        }
        self.put_taken(&entry, Mark::Unanswered, &content)?;
        // The lock comes before the name that tells of it. Without locks it is unknown whether this hook has ended.
        let lock = self.locked_file(&entry).ok();
        if lock.is_none() {
            self.put_taken(&entry, Mark::Answered, &content)?;
        }
        self.change_state(&entry, State::Taken)?;
        Ok(Approval { grant, hold: lock.map(|lock| Hold { lock }) })
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
