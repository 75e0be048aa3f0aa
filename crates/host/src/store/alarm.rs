//! Alarms about what should not have been possible; each stands until a person has seen it.

use super::clean::{Kept, put};
use super::state::Store;
use crate::system::{clock, random};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Something that should not have been possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// The id of the record that tells it.
    pub record: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// In words.
    pub text: String,
    /// What it is about.
    pub of: Subject,
}

/// Where alarms lie.
const ALARMS: &str = "alarms";

/// What an alarm is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A call that ran although it was refused.
    Call,
    /// The audit log.
    Log,
    /// What a person is said to have said.
    Yes,
}

impl Subject {
    /// Every subject, the most pressing first, with its word.
    pub(crate) const ALL: [(Subject, &'static str); 3] =
        [(Subject::Log, "log"), (Subject::Yes, "yes"), (Subject::Call, "call")];

    fn name(self) -> &'static str {
        Subject::ALL.iter().find(|(subject, _)| *subject == self).map_or("call", |(_, name)| name)
    }

    fn named(name: &str) -> Subject {
        Subject::ALL.iter().find(|(_, known)| *known == name).map_or(Subject::Call, |(subject, _)| *subject)
    }
}

impl Alarm {
    fn json(&self) -> Value {
        json!({
            "schema": "reflex/alarm-v1", "record": self.record, "time": self.time, "text": self.text, "of": self.of.name(),
        })
    }
}

/// Writes an alarm down that this program has worded itself, in a state folder.
pub(super) fn raise(state: &Path, alarm: &Alarm) -> io::Result<()> {
    put_alarm(state, alarm, &Kept::own(alarm.json().to_string()))
}

fn put_alarm(state: &Path, alarm: &Alarm, kept: &Kept) -> io::Result<()> {
    put(&state.join(ALARMS).join(format!("{}.json", alarm.record)), kept)
}

/// How the name of an alarm begins that stands in no log yet.
const OVERDUE: &str = "overdue-";

/// How the name of a file ends that tells of an approval.
const YES: &str = ".yes";

impl Store {
    /// What a call leaves behind that gives up while it looks at what a tool brought: an alarm in a file of its own.
    pub(crate) fn overdue(&self, agent: &str) -> (PathBuf, String) {
        let record = format!("{OVERDUE}{}", random::uuid());
        let text = format!("what a tool brought to {agent} was not looked at to its end");
        let file = self.alarms_folder().join(format!("{record}.json"));
        let text = json!({"schema": "reflex/alarm-v1", "record": record, "time": clock::now(), "text": text});
        (file, text.to_string())
    }

    /// Puts alarms into the log whose call could not do so itself.
    pub(crate) fn record_overdue(&self, alarms: &mut [Alarm]) {
        for alarm in alarms.iter_mut().filter(|alarm| alarm.record.starts_with(OVERDUE)) {
            let file = self.alarms_folder().join(format!("{}.json", alarm.record));
            alarm.record = random::uuid();
            let noted = self.note("overdue", json!({"alarm": alarm.record, "since": alarm.time, "text": alarm.text}));
            if noted.and_then(|()| self.raise(alarm)).is_ok() {
                let _ = fs::remove_file(file);
            }
        }
    }

    fn alarms_folder(&self) -> PathBuf {
        self.folder.join(ALARMS)
    }

    /// Raises an alarm that stands until a person has seen it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn raise(&self, alarm: &Alarm) -> io::Result<()> {
        put_alarm(&self.folder, alarm, &self.kept(&alarm.json()))
    }

    /// The same for what stays true from call to call: one alarm of each kind stands at a time.
    pub(crate) fn raise_once(&self, kind: &str, text: &str) {
        if !self.folder.join(ALARMS).join(format!("{kind}.json")).exists() {
            let _ = self.raise(&Alarm { record: kind.into(), time: clock::now(), text: text.into(), of: Subject::Yes });
        }
    }

    /// Alarms that no person has seen yet, oldest first.
    pub fn alarms(&self) -> Vec<Alarm> {
        self.alarms_and_yeses().0
    }

    /// The same with the ids of the approvals that no agent was told of: one look at one folder tells both.
    pub(crate) fn alarms_and_yeses(&self) -> (Vec<Alarm>, Vec<String>) {
        let Ok(entries) = fs::read_dir(self.alarms_folder()) else { return (Vec::new(), Vec::new()) };
        let mut yeses = Vec::new();
        let alarm = |entry: fs::DirEntry| {
            let map: Map<String, Value> = serde_json::from_str(&fs::read_to_string(entry.path()).ok()?).ok()?;
            let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
            let of = Subject::named(map.get("of").and_then(Value::as_str).unwrap_or(""));
            Some(Alarm { record: text("record")?, time: map.get("time")?.as_u64()?, text: text("text")?, of })
        };
        let mut alarms = Vec::new();
        for entry in entries.flatten() {
            match entry.file_name().to_str().and_then(|name| name.strip_suffix(YES)) {
                Some(id) => yeses.push(id.to_owned()),
                None => alarms.extend(alarm(entry)),
            }
        }
        alarms.sort_by_key(|alarm| alarm.time);
        (alarms, yeses)
    }

    /// From now on the agent that waits for this yes is told of it with its next call.
    pub(super) fn announce_yes(&self, id: &str) {
        // Who is not told tries again some time.
        let _ = put(&self.yes_file(id), &Kept::own(""));
    }

    /// The agent was told, or there is nothing to tell any more.
    pub(crate) fn forget_announced(&self, id: &str) {
        let _ = fs::remove_file(self.yes_file(id));
    }

    fn yes_file(&self, id: &str) -> PathBuf {
        self.alarms_folder().join(format!("{id}{YES}"))
    }

    /// A person has seen them.
    pub fn acknowledge(&self) {
        let Ok(entries) = fs::read_dir(self.alarms_folder()) else { return };
        entries.flatten().for_each(|entry| drop(fs::remove_file(entry.path())));
    }
}
