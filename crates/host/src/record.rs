//! The record of every decision: one line of JSON, written before the answer leaves.
//!
//! A record tells what was decided and why, by ids and fingerprints; the text of a call is not in it.

use reflex_engine::{Decision, Event, Judgement, Moment};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the guard keeps its files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME/reflex`
    pub config: PathBuf,
    /// `$XDG_STATE_HOME/reflex`
    pub state: PathBuf,
    /// `$XDG_CACHE_HOME/reflex`
    pub cache: PathBuf,
}

impl Folders {
    /// By the environment, as the XDG base directory specification says.
    pub fn of_environment() -> Folders {
        let given = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = given.or_else(home_by_password_database).unwrap_or_else(|| "/".into());
        let folder = |variable: &str, default: &str| {
            let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            given.unwrap_or_else(|| home.join(default)).join("reflex")
        };
        Folders {
            config: folder("XDG_CONFIG_HOME", ".config"),
            state: folder("XDG_STATE_HOME", ".local/state"),
            cache: folder("XDG_CACHE_HOME", ".cache"),
            home,
        }
    }
}

/// The home that `/etc/passwd` names for this user.
fn home_by_password_database() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let database = fs::read_to_string("/etc/passwd").ok()?;
    let of_user = |line: &&str| line.split(':').nth(2) == Some(&user);
    database.lines().find(of_user)?.split(':').nth(5).map(PathBuf::from)
}

/// Appends one line. Lines of hooks that run at the same time never mix.
///
/// # Errors
/// The folder cannot be made, the file cannot be written, or somebody holds its lock for too long.
pub(crate) fn append(folders: &Folders, event: &Event, judgement: &Judgement) -> io::Result<()> {
    let mut line = line(event, judgement);
    line.push('\n');
    let mut file = open(&folders.state.join("audit"))?;
    lock(&file)?;
    file.write_all(line.as_bytes())?;
    if judgement.verdict.decision == Decision::Pass { Ok(()) } else { file.sync_data() }
}

fn open(folder: &Path) -> io::Result<File> {
    let path = folder.join("calls.jsonl");
    let options = || OpenOptions::new().append(true).create(true).mode(0o600).to_owned();
    match options().open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            options().open(&path)
        }
        opened => opened,
    }
}

/// Somebody who stopped while holding the lock must not stop every agent: the wait is bounded.
fn lock(file: &File) -> io::Result<()> {
    const TRIES: u32 = 50;
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => std::thread::sleep(Duration::from_millis(4)),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the audit log's lock"))
}

fn line(event: &Event, judgement: &Judgement) -> String {
    let verdict = &judgement.verdict;
    let fingerprint = judgement.fingerprint(event);
    let findings: Vec<_> = verdict.findings.iter().map(|finding| finding.id.as_str()).collect();
    json!({
        "schema": "reflex/audit-v1",
        "time": now(),
        "version": env!("CARGO_PKG_VERSION"),
        "agent": event.client,
        "session": event.session,
        "role": event.role,
        "mode": event.mode,
        "moment": moment(event.moment),
        "tool": event.tool,
        "workspace": event.workspace,
        "decision": decision(verdict.decision),
        "risk": verdict.risk.risk(),
        "findings": findings,
        "fingerprint": {"exact": fingerprint.exact, "shape": fingerprint.shape, "goal": fingerprint.goal},
    })
    .to_string()
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::BeforeTool => "before-tool",
        Moment::AfterTool => "after-tool",
        Moment::PermissionRequest => "permission-request",
        Moment::Prompt => "prompt",
        Moment::SessionStart => "session-start",
        Moment::SessionEnd => "session-end",
        Moment::Stop => "stop",
        Moment::Subagent => "subagent",
        Moment::Other => "other",
    }
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    timestamp(since.as_secs(), since.subsec_millis())
}

/// RFC 3339 in UTC.
fn timestamp(seconds: u64, millis: u32) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days as i64);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Days since 1970 as a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(timestamp(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(951_782_399, 5), "2000-02-28T23:59:59.005Z");
        assert_eq!(timestamp(951_782_400, 0), "2000-02-29T00:00:00.000Z");
        assert_eq!(timestamp(1_795_219_200, 0), "2026-11-21T00:00:00.000Z");
    }
}
