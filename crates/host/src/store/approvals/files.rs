//! The files of calls: each call has one. Its folder and name tell the state of the call, so a hook that counts or looks
//! up calls opens no other, and a change of state is the change of a name.

use super::pending::Pending;
use crate::store::redact::put;
use crate::store::state::Store;
use crate::system::digest::digest;
use crate::system::files::{make_folder, put_as_it_is, wait_for};
use crate::system::os::{self, Purpose};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum wait for a list that is just looking whether the lock is held.
const BRIEF: Duration = Duration::from_millis(200);

/// Maximum wait of a hook for other changes: a process that was stopped in the middle of one must not stop every agent.
pub(super) const BRIEF_WAIT: Duration = Duration::from_millis(300);

/// Maximum wait of a person's answer for other changes.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(5);

/// The folder of calls, below the state folder.
const CALLS: &str = "calls";

/// The end of a wait in milliseconds since 1970, and the end of the longest one that the client allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitEnd {
    pub(crate) until: u64,
    pub(crate) latest: u64,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Stopped; no hook waits for the answer.
    Open,
    /// A hook waits for the answer, if it holds a lock on the file.
    Waits(WaitEnd),
    /// Denied with a message.
    No,
    /// Approved once.
    Yes,
    /// Approved once, and taken by a hook. It is free again if that hook has not answered, which the first byte of the
    /// file tells, and does not hold a lock on the file.
    Taken,
    /// Approved for more than one call.
    Lasting,
}

/// The folder of the waiting calls. It has no others, because each hook lists it.
const WAITING: &str = "waiting";

/// The folder of the answered calls. Each lies in a folder named after the mark by which a later call finds it: that of
/// its session, or that of the lasting fingerprint if it is approved for more than one call.
const ANSWERED: &str = "answered";

impl State {
    pub(super) fn is_answered(self) -> bool {
        match self {
            State::Open | State::Waits(_) => false,
            State::No | State::Yes | State::Taken | State::Lasting => true,
        }
    }

    fn name(self) -> String {
        match self {
            State::Open => "open".into(),
            State::Waits(WaitEnd { until, latest }) => format!("waits-{until}-{latest}"),
            State::No => "no".into(),
            State::Yes => "yes".into(),
            State::Taken => "taken".into(),
            State::Lasting => "lasting".into(),
        }
    }

    fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<State> {
        let state = match words.next()? {
            "open" => State::Open,
            "waits" => {
                let mut time = || words.next()?.parse().ok();
                State::Waits(WaitEnd { until: time()?, latest: time()? })
            }
            "no" => State::No,
            "yes" => State::Yes,
            "taken" => State::Taken,
            "lasting" => State::Lasting,
            _ => return None,
        };
        words.next().is_none().then_some(state)
    }
}

/// Short digests of the properties by which calls are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) client: String,
    pub(super) session: String,
    pub(super) exact: String,
    pub(super) lasting: String,
}

impl Marks {
    pub(super) fn new(call: &Pending) -> Marks {
        let mark = |text: &str| digest(text).get(..12).unwrap_or("").to_owned();
        Marks {
            client: mark(&call.client),
            session: mark(&call.holder()),
            exact: mark(&call.exact),
            lasting: mark(&call.lasting),
        }
    }
}

/// The file of a call: `ID-CLIENT-SESSION-EXACT-LASTING-LISTED-STATE.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    name: String,
    pub(super) state: State,
}

impl Entry {
    pub(super) fn new(call: &Pending, state: State) -> Entry {
        let Marks { client, session, exact, lasting } = Marks::new(call);
        let (id, listed) = (&call.id, call.listed);
        Entry { name: format!("{id}-{client}-{session}-{exact}-{lasting}-{listed}-{}.json", state.name()), state }
    }

    fn parse(name: String) -> Option<Entry> {
        let state = State::parse(name.strip_suffix(".json")?.split('-').skip(6))?;
        Some(Entry { name, state })
    }

    pub(super) fn id(&self) -> &str {
        self.part(0)
    }

    pub(super) fn client(&self) -> &str {
        self.part(1)
    }

    pub(super) fn session(&self) -> &str {
        self.part(2)
    }

    pub(super) fn exact(&self) -> &str {
        self.part(3)
    }

    pub(super) fn lasting(&self) -> &str {
        self.part(4)
    }

    /// The time when it was first listed, in milliseconds since 1970. A repeated call keeps its place.
    pub(super) fn since(&self) -> u64 {
        self.part(5).parse().unwrap_or(0)
    }

    /// The mark by which a later call finds it, once it is answered.
    pub(super) fn mark(&self) -> &str {
        if self.state == State::Lasting { self.lasting() } else { self.session() }
    }

    /// The folder of the file, below that of calls.
    fn folder(&self) -> PathBuf {
        if self.state.is_answered() { Path::new(ANSWERED).join(self.mark()) } else { WAITING.into() }
    }

    fn part(&self, number: usize) -> &str {
        self.name.split('-').nth(number).unwrap_or("")
    }

    /// The same call in another state.
    pub(super) fn to(&self, state: State) -> Entry {
        let marks: Vec<&str> = self.name.splitn(7, '-').take(6).collect();
        Entry { name: format!("{}-{}.json", marks.join("-"), state.name()), state }
    }
}

impl Store {
    fn calls_folder(&self) -> PathBuf {
        self.folder.join(CALLS)
    }

    pub(super) fn waiting_folder(&self) -> PathBuf {
        self.calls_folder().join(WAITING)
    }

    pub(super) fn answered_folder(&self) -> PathBuf {
        self.calls_folder().join(ANSWERED)
    }

    pub(super) fn call_file(&self, entry: &Entry) -> PathBuf {
        self.calls_folder().join(entry.folder()).join(&entry.name)
    }

    fn entries(&self, folder: &Path) -> Vec<Entry> {
        let entries = names(&self.calls_folder().join(folder)).filter_map(Entry::parse);
        entries.filter(|entry| entry.folder() == folder).collect()
    }

    pub(super) fn waiting_entries(&self) -> Vec<Entry> {
        self.entries(Path::new(WAITING))
    }

    pub(super) fn answered_entries(&self) -> Vec<Entry> {
        names(&self.answered_folder()).flat_map(|mark| self.answered_with(&mark)).collect()
    }

    /// The answered calls of the same session, and those that are approved for more than one call, of which this may be
    /// one.
    pub(super) fn answered_about(&self, marks: &Marks) -> Vec<Entry> {
        [&marks.session, &marks.lasting].into_iter().flat_map(|mark| self.answered_with(mark)).collect()
    }

    pub(super) fn answered_with(&self, mark: &str) -> Vec<Entry> {
        self.entries(&Path::new(ANSWERED).join(mark))
    }

    pub(super) fn waiting_entry(&self, id: &str) -> Option<Entry> {
        self.waiting_entries().into_iter().find(|entry| entry.id() == id)
    }

    pub(super) fn answered_entry(&self, id: &str) -> Option<Entry> {
        self.answered_entries().into_iter().find(|entry| entry.id() == id)
    }

    /// The file of a call with this id. A call is only ever moved from the waiting to the answered ones.
    pub(super) fn entry(&self, id: &str) -> Option<Entry> {
        self.waiting_entry(id).or_else(|| self.answered_entry(id))
    }

    /// Keeps other processes from changing the files of calls, until dropped. Changes are not synced to the disk, so
    /// it is held for a short time.
    pub(super) fn lock_calls(&self, wait: Duration) -> io::Result<File> {
        make_folder(&self.calls_folder())?;
        let lock = os::open(&self.calls_folder().join("lock"), Purpose::Log)?;
        wait_for(&lock, wait)?;
        Ok(lock)
    }

    /// Gives a call another state. The caller holds the lock of the calls.
    pub(super) fn change_state(&self, entry: &Entry, state: State) -> io::Result<Entry> {
        let changed = entry.to(state);
        make_folder(&self.calls_folder().join(changed.folder()))?;
        fs::rename(self.call_file(entry), self.call_file(&changed)).map(|()| changed)
    }

    /// Removes the file of a call; returns whether there was one.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(super) fn remove_call(&self, entry: Option<Entry>) -> io::Result<bool> {
        let Some(entry) = entry else { return Ok(false) };
        fs::remove_file(self.call_file(&entry))?;
        if entry.state.is_answered() {
            // Others of the same mark may be in it.
            let _ = fs::remove_dir(self.calls_folder().join(entry.folder()));
        }
        Ok(true)
    }

    /// Replaces the content of a call's file, which is created if it does not exist.
    pub(super) fn put_content(&self, entry: &Entry, content: &Content) -> io::Result<()> {
        put_as_it_is(&self.call_file(entry), &serde_json::to_string(content)?)
    }

    /// The same for a call whose approval a hook takes. `mark` tells whether the hook has answered.
    pub(super) fn put_taken(&self, entry: &Entry, mark: Mark, content: &Content) -> io::Result<()> {
        let text = serde_json::to_string(content)?;
        put_as_it_is(&self.call_file(entry), &format!("{}{text}", char::from(mark as u8)))
    }

    /// Whether no hook has answered with the approval that was taken.
    pub(super) fn is_unanswered(&self, entry: &Entry) -> bool {
        let mut first = [0];
        let file = os::open(&self.call_file(entry), Purpose::Poll);
        let is_read = file.is_ok_and(|file| os::read_at(&file, &mut first, 0).is_ok());
        is_read && first == [Mark::Unanswered as u8]
    }

    /// Writes the file of a waiting call, without secrets.
    pub(super) fn put_call(&self, entry: &Entry, call: &Pending) -> io::Result<()> {
        put(&self.call_file(entry), &self.kept(&json!({"call": call.json()})))
    }

    /// The file of a call, locked by this process.
    pub(super) fn locked_file(&self, entry: &Entry) -> io::Result<File> {
        // Its path may just have changed with its state: a new file there would be the call once more.
        let file = os::open(&self.call_file(entry), Purpose::Change)?;
        wait_for(&file, BRIEF)?;
        Ok(file)
    }

    /// Whether a hook holds a lock on the file of a call.
    pub(super) fn is_held(&self, entry: &Entry) -> bool {
        let file = os::open(&self.call_file(entry), Purpose::Poll);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    pub(super) fn read_content(&self, entry: &Entry) -> Option<Content> {
        serde_json::from_str(&fs::read_to_string(self.call_file(entry)).ok()?).ok()
    }

    /// The answer alone.
    pub(super) fn read_answer(&self, entry: &Entry) -> Option<Map<String, Value>> {
        let parsed = serde_json::from_str(&fs::read_to_string(self.call_file(entry)).ok()?).ok();
        parsed.map(|Answered { answer }| answer)
    }

    pub(super) fn call_of(&self, entry: &Entry) -> Option<Pending> {
        let until = if let State::Waits(end) = entry.state { end.until } else { 0 };
        Some(Pending { until, ..Pending::from_json(&self.read_content(entry)?.call) })
    }
}

/// The names of the files in a folder.
fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// The ids of the waiting calls. Every hook calls this, so it parses no more of a name than that.
pub(super) fn waiting_ids(folder: &Path) -> Vec<String> {
    let names = names(folder).filter(|name| name.ends_with(".json"));
    names.filter_map(|name| name.split_once('-').map(|(id, _)| id.to_owned())).collect()
}

/// The first byte of the file of a taken approval. Both are spaces of JSON. Changing one takes no space on the disk, and so
/// little time that hardly any kill falls between the answer and the end of its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Unanswered = b' ' as isize,
    Answered = b'\n' as isize,
}

/// The content of a call's file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Content {
    pub(super) call: Map<String, Value>,
    /// A person's answer, which is what the signature covers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) answer: Map<String, Value>,
}

/// The part of it that tells whether an answer covers a call. The rest is skipped.
#[derive(Deserialize)]
struct Answered {
    answer: Map<String, Value>,
}
