//! Alarms about events that should have been impossible. Each one remains until a person has seen it.

use super::redact::{Kept, put};
use super::state::Store;
use crate::system::{clock, random};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An event that should have been impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// The id of the record about it.
    pub record: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// The text for a person.
    pub text: String,
    /// The subject of the alarm.
    pub of: Subject,
}

/// The folder of alarms, below the state folder.
const ALARMS: &str = "alarms";

/// The subject of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A call that ran although it was refused.
    Call,
    /// The audit log.
    Log,
    /// Settings of a project that keep an agent from running its hooks.
    Hooks,
    /// An approval or other statement attributed to a person.
    Approval,
}

impl Subject {
    /// Every subject with its name, the most urgent first.
    pub(crate) const ALL: [(Subject, &'static str); 4] =
        [(Subject::Log, "log"), (Subject::Approval, "yes"), (Subject::Hooks, "hooks"), (Subject::Call, "call")];

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

/// Writes an alarm with a text of this program to a state folder.
pub(super) fn raise(state: &Path, alarm: &Alarm) -> io::Result<()> {
    put_alarm(state, alarm, &Kept::trusted(alarm.json().to_string()))
}

fn put_alarm(state: &Path, alarm: &Alarm, kept: &Kept) -> io::Result<()> {
    put(&state.join(ALARMS).join(format!("{}.json", alarm.record)), kept)
}

/// Prefix of the name of an alarm that is not yet in the log.
const OVERDUE: &str = "overdue-";

/// Suffix of a file that announces an approval.
const APPROVAL: &str = ".yes";

impl Store {
    /// The file and text of the alarm that a call leaves if it gives up while it inspects the result of a tool.
    pub(crate) fn overdue(&self, agent: &str) -> (PathBuf, String) {
        let record = format!("{OVERDUE}{}", random::uuid());
        let text = format!("what a tool brought to {agent} was not looked at to its end");
        let file = self.alarms_folder().join(format!("{record}.json"));
        let text = json!({"schema": "reflex/alarm-v1", "record": record, "time": clock::now(), "text": text});
        (file, text.to_string())
    }

    /// Records the alarms in the log that their calls could not record themselves.
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

    /// Raises an alarm that remains until a person has seen it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn raise(&self, alarm: &Alarm) -> io::Result<()> {
        put_alarm(&self.folder, alarm, &self.kept(&alarm.json()))
    }

    /// Raises an alarm about a lasting condition: at most one per kind at a time.
    pub(crate) fn raise_once(&self, kind: &str, text: &str) {
        if !self.folder.join(ALARMS).join(format!("{kind}.json")).exists() {
            let _ = self.raise(&Alarm {
                record: kind.into(),
                time: clock::now(),
                text: text.into(),
                of: Subject::Approval,
            });
        }
    }

    /// The alarms that no person has seen yet, oldest first.
    pub fn alarms(&self) -> Vec<Alarm> {
        self.alarms_and_approvals().0
    }

    /// The alarms, and the approvals that were not announced to an agent yet. One directory scan finds both.
    pub(crate) fn alarms_and_approvals(&self) -> (Vec<Alarm>, Vec<String>) {
        let Ok(entries) = fs::read_dir(self.alarms_folder()) else { return (Vec::new(), Vec::new()) };
        let mut approvals = Vec::new();
        let alarm = |entry: fs::DirEntry| {
            let map: Map<String, Value> = serde_json::from_str(&fs::read_to_string(entry.path()).ok()?).ok()?;
            let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
            let of = Subject::named(map.get("of").and_then(Value::as_str).unwrap_or(""));
            Some(Alarm { record: text("record")?, time: map.get("time")?.as_u64()?, text: text("text")?, of })
        };
        let mut alarms = Vec::new();
        for entry in entries.flatten() {
            match entry.file_name().to_str().and_then(|name| name.strip_suffix(APPROVAL)) {
                Some(approval) => approvals.push(approval.to_owned()),
                None => alarms.extend(alarm(entry)),
            }
        }
        alarms.sort_by_key(|alarm| alarm.time);
        (alarms, approvals)
    }

    /// Announces this approval to the waiting agent with its next call.
    pub(super) fn announce_approval(&self, approval: &str) {
        // Without the announcement, the agent uses the approval when it retries.
        let _ = put(&self.approval_file(approval), &Kept::trusted(""));
    }

    /// Removes an announcement that was delivered or has become obsolete.
    pub(crate) fn forget_announced(&self, approval: &str) {
        let _ = fs::remove_file(self.approval_file(approval));
    }

    fn approval_file(&self, approval: &str) -> PathBuf {
        self.alarms_folder().join(format!("{approval}{APPROVAL}"))
    }

    /// Removes all alarms after a person has seen them.
    pub fn acknowledge(&self) {
        let Ok(entries) = fs::read_dir(self.alarms_folder()) else { return };
        entries.flatten().for_each(|entry| drop(fs::remove_file(entry.path())));
    }
}
