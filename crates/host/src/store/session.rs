//! The last calls of a session, in a file of their own: one line per call, fields divided by tabs.

use super::log::BRIEF_WAIT;
use super::redact::{Clean, Kept, Redactor};
use super::state::Store;
use crate::system::files::{make_folder, put_as_it_is, text_of, wait_for};
use crate::system::os::{self, Purpose};
use crate::system::{clock, hex};
use reflex_engine::loopbreaker::{End, RepeatAllowance, Step, StepKind, WINDOW, finish};
use reflex_engine::{Decision, Event};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Maximum number of lines: a call has one before its tool runs and one after it.
const LINES: usize = 2 * WINDOW;

/// Number of lines above which the file is cut back to its first line and the last [`LINES`].
const MAX_LINES: usize = LINES + WINDOW;

/// Size in bytes below which the file is not checked for its number of lines.
const MAX_BYTES: u64 = 16 * 1024;

/// Age in milliseconds after which the file of an idle session is removed.
const FORGOTTEN: u64 = 7 * 86_400_000;

/// Maximum number of written or fetched files that are remembered per call.
const MAX_FILES: usize = 8;

/// Maximum length of a remembered path, in bytes. Longer paths are dropped.
const MAX_PATH: usize = 256;

/// Maximum number of findings that are remembered per call.
const MAX_FINDINGS: usize = 16;

/// Maximum number of characters of any other field.
const MAX_CHARS: usize = 100;

/// The decision on a call before its tool, or the outcome after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallEnd {
    /// It could run.
    #[default]
    Pass,
    /// A person decides.
    Ask,
    /// It was refused.
    Deny,
    /// Its tool succeeded.
    Ok,
    /// Its tool failed.
    Failed,
}

impl CallEnd {
    const ALL: [CallEnd; 5] = [CallEnd::Pass, CallEnd::Ask, CallEnd::Deny, CallEnd::Ok, CallEnd::Failed];

    /// Returns the stored name.
    pub fn name(self) -> &'static str {
        match self {
            CallEnd::Pass => "pass",
            CallEnd::Ask => "ask",
            CallEnd::Deny => "deny",
            CallEnd::Ok => "ok",
            CallEnd::Failed => "failed",
        }
    }

    /// Returns the end with this stored name.
    pub fn of(name: &str) -> Option<CallEnd> {
        CallEnd::ALL.into_iter().find(|end| end.name() == name)
    }
}

impl From<Decision> for CallEnd {
    fn from(decision: Decision) -> CallEnd {
        match decision {
            Decision::Pass => CallEnd::Pass,
            Decision::Ask => CallEnd::Ask,
            Decision::Deny => CallEnd::Deny,
        }
    }
}

/// One of the last calls of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// Milliseconds since 1970.
    pub time: u64,
    /// The id of the call's record.
    pub id: String,
    /// Whether the line was written after the tool ran, rather than before.
    pub after: bool,
    /// The decision before the tool, or the outcome after it.
    pub end: CallEnd,
    /// The agent's name for the tool.
    pub tool: String,
    /// The exact fingerprint of the call.
    pub exact: String,
    /// Whether a person had approved it.
    pub approved: bool,
    /// Sources of the outside content that the call brought in: `web`, `mcp`, `download`.
    pub taint: Vec<String>,
    /// Ids of the call's findings.
    pub findings: Vec<String>,
    /// Marks of the warnings that the agent was given.
    pub shown_before: Vec<String>,
    /// Files that the call wrote or fetched, each with the first 16 digits of the SHA-256 of its content, or an empty
    /// text if that is unknown.
    pub files: Vec<(String, String)>,
    /// The digest of the output that the loop detector compares.
    pub output: String,
    /// The call as a step of the loop detector.
    pub step: Step,
    /// The agent's id of the call; empty if it has none.
    pub call: String,
    /// The agent's name for the event.
    pub word: String,
}

/// Maximum time in milliseconds between two hooks that are asked about the same call under different event names.
const AT_ONCE: u64 = 2000;

/// Findings about one particular call; another call is warned again.
const OF_ONE_CALL: [&str; 2] = ["loop/repeat", "loop/tight"];

const INNER: u8 = 0x1f;

/// The first field of every line: the version of its format.
const FORM: &str = "4";

impl Call {
    /// Serializes the call. Text from outside is redacted; all other fields are digests and literals of this program.
    fn line(&self, redactor: &Redactor<'_>) -> Kept {
        let listed = |pairs: &[(String, String)]| {
            let short = pairs.iter().filter(|(path, _)| path.len() <= MAX_PATH).take(MAX_FILES);
            joined(short.flat_map(|(path, digest)| [redactor.clean(path), redactor.digest_made(digest)]))
        };
        let names = |names: &[String]| joined(names.iter().take(MAX_FINDINGS).map(|name| redactor.name(name)));
        let end = self.step.end.as_ref();
        let fields: [Clean; FIELDS] = [
            Clean::word(FORM),
            Clean::number(self.time),
            redactor.name(&self.id),
            Clean::word(if self.after { "after" } else { "before" }),
            Clean::word(self.end.name()),
            redactor.tool(first(&self.tool)),
            redactor.digest_made(&self.exact),
            joined(self.shown_before.iter().take(MAX_FINDINGS).map(|mark| redactor.digest_made(mark))),
            Clean::word(if self.approved { "approved" } else { "" }),
            names(&self.taint),
            names(&self.findings),
            listed(&self.files),
            redactor.digest_made(&self.output),
            Clean::word(kind_word(self.step.kind)),
            Clean::word(pace_word(self.step.pace)),
            redactor.once_more(&self.step.text),
            listed(&self.step.changes),
            joined(self.step.goals.iter().map(|goal| redactor.digest_made(goal))),
            end.map(|end| redactor.digest_made(&end.error)).unwrap_or_default(),
            end.map(|end| redactor.digest_made(&counted(&end.chars))).unwrap_or_default(),
            redactor.name(first(&self.call)),
            redactor.name(first(&self.word)),
        ];
        Kept::line(&fields, '\t')
    }

    fn parse(line: &str) -> Option<Call> {
        Line::parse(line).map(|line| line.call())
    }
}

/// The first [`MAX_CHARS`] characters of a field.
fn first(text: &str) -> &str {
    text.char_indices().nth(MAX_CHARS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn joined(items: impl Iterator<Item = Clean>) -> Clean {
    Clean::joined(items, char::from(INNER))
}

/// A line whose fields are parsed on demand.
struct Line<'t> {
    fields: [&'t str; FIELDS],
    /// Milliseconds since 1970.
    time: u64,
    after: bool,
    end: CallEnd,
}

/// Number of fields of a line.
const FIELDS: usize = 22;

impl<'t> Line<'t> {
    fn parse(line: &'t str) -> Option<Line<'t>> {
        let (mut fields, mut free, mut start) = ([""; FIELDS], 0, 0);
        let tabs = line.bytes().enumerate().filter(|(_, byte)| *byte == b'\t').map(|(at, _)| at);
        for end in tabs.chain([line.len()]) {
            // Fields after the last known one belong to a later version.
            let Some(field) = fields.get_mut(free) else { break };
            *field = line.get(start..end)?;
            (free, start) = (free + 1, end + 1);
        }
        let [form, time, _, moment, end, ..] = fields;
        (form == FORM && free == FIELDS).then_some(())?;
        Some(Line { fields, time: time.parse().ok()?, after: moment == "after", end: CallEnd::of(end)? })
    }

    fn exact(&self) -> &'t str {
        self.fields[6]
    }

    fn approved(&self) -> bool {
        self.fields[8] == "approved"
    }

    fn findings(&self) -> impl Iterator<Item = &'t str> {
        Divided { rest: Some(self.fields[10]), by: INNER }.filter(|id| !id.is_empty())
    }

    fn shown_before(&self) -> impl Iterator<Item = &'t str> {
        Divided { rest: Some(self.fields[7]), by: INNER }.filter(|mark| !mark.is_empty())
    }

    /// The agent's id of the call and its name for the event.
    fn name(&self) -> (&'t str, &'t str) {
        (self.fields[20], self.fields[21])
    }

    fn step(&self) -> Step {
        let [.., output, kind, pace, text, changes, goals, error, chars, _, _] = self.fields;
        let end = || End {
            failed: self.end == CallEnd::Failed,
            output: output.into(),
            error: error.into(),
            chars: chars_of(chars),
        };
        Step {
            exact: self.exact().into(),
            kind: kind_of(kind),
            pace: pace_of(pace),
            text: text.into(),
            changes: pairs(changes),
            goals: list(goals),
            refused: self.end == CallEnd::Deny && !self.approved(),
            end: self.after.then(end),
        }
    }

    fn call(&self) -> Call {
        let [_, _, id, _, _, tool, _, _, _, taint, _, files, output, ..] = self.fields;
        let (call, word) = self.name();
        Call {
            time: self.time,
            id: id.into(),
            after: self.after,
            end: self.end,
            tool: tool.into(),
            exact: self.exact().into(),
            approved: self.approved(),
            taint: list(taint),
            findings: self.findings().map(Into::into).collect(),
            shown_before: self.shown_before().map(Into::into).collect(),
            files: pairs(files),
            output: output.into(),
            step: self.step(),
            call: call.into(),
            word: word.into(),
        }
    }

    fn known(&self) -> Known<'t> {
        Known::new((self.after, self.exact()), self.name(), self.time)
    }
}

/// The fields that decide whether two lines are about the same call.
struct Known<'t> {
    /// If these differ, the lines are about different calls, so that most pairs need no further comparison.
    sum: u64,
    exact: &'t str,
    call: &'t str,
    word: &'t str,
    time: u64,
}

impl<'t> Known<'t> {
    fn new((after, exact): (bool, &'t str), (call, word): (&'t str, &'t str), time: u64) -> Known<'t> {
        let start = exact.as_bytes().first_chunk().map_or(0, |start| u64::from_le_bytes(*start));
        Known { sum: start << 1 | u64::from(after), exact, call, word, time }
    }

    /// Whether both are about the same call. Several hooks may be asked about one call, for example from the settings
    /// of two agents.
    fn is_same(&self, other: &Known<'_>) -> bool {
        let named = !self.call.is_empty() && !other.call.is_empty();
        let at_once = || self.word != other.word && self.time.abs_diff(other.time) <= AT_ONCE;
        self.sum == other.sum && (if named { self.call == other.call } else { at_once() }) && self.exact == other.exact
    }
}

/// Iterator over the parts of a text between ASCII separators. Every line has dozens of parts, most of them empty.
struct Divided<'t> {
    rest: Option<&'t str>,
    by: u8,
}

impl<'t> Iterator for Divided<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest?;
        let end = rest.bytes().position(|byte| byte == self.by);
        self.rest = end.and_then(|end| rest.get(end + 1..));
        Some(end.and_then(|end| rest.get(..end)).unwrap_or(rest))
    }
}

fn list(text: &str) -> Vec<String> {
    Divided { rest: Some(text), by: INNER }.filter(|text| !text.is_empty()).map(Into::into).collect()
}

/// Each kind of step with its stored name.
const KINDS: [(StepKind, &str); 4] =
    [(StepKind::Look, "look"), (StepKind::Change, "change"), (StepKind::Run, "run"), (StepKind::Opaque, "opaque")];

fn kind_word(kind: StepKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("opaque", |(_, word)| word)
}

fn kind_of(word: &str) -> StepKind {
    KINDS.iter().find(|(_, known)| *known == word).map_or(StepKind::Opaque, |(kind, _)| *kind)
}

/// Each repeat allowance with its stored name.
const PACES: [(RepeatAllowance, &str); 3] =
    [(RepeatAllowance::Straight, ""), (RepeatAllowance::Asks, "asks"), (RepeatAllowance::Waits, "waits")];

fn pace_word(pace: RepeatAllowance) -> &'static str {
    PACES.iter().find(|(known, _)| *known == pace).map_or("", |(_, word)| word)
}

fn pace_of(word: &str) -> RepeatAllowance {
    PACES.iter().find(|(_, known)| *known == word).map_or(RepeatAllowance::Straight, |(pace, _)| *pace)
}

/// Formats byte counts in hexadecimal, as `61:1f 62:3`.
fn counted(chars: &[(u8, u32)]) -> String {
    chars.iter().map(|(byte, count)| format!("{byte:x}:{count:x}")).collect::<Vec<_>>().join(" ")
}

fn chars_of(text: &str) -> Vec<(u8, u32)> {
    let one = |pair: &str| {
        let (byte, count) = pair.split_once(':')?;
        Some((u8::from_str_radix(byte, 16).ok()?, u32::from_str_radix(count, 16).ok()?))
    };
    Divided { rest: Some(text).filter(|text| !text.is_empty()), by: b' ' }.filter_map(one).collect()
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = Divided { rest: Some(text).filter(|text| !text.is_empty()), by: INNER }.collect();
    let pair = |pair: &[&str]| match pair {
        [path, digest] if !path.is_empty() => Some(((*path).to_owned(), (*digest).to_owned())),
        _ => None,
    };
    parts.chunks(2).filter_map(pair).collect()
}

/// The remembered calls of a session. Few calls need them, so lines are parsed on demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    text: String,
    /// The id of the current call and the name of its event.
    now: (String, String),
}

impl History {
    /// The remembered lines, oldest first: each call before it ran, and after it ended.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = Call> {
        self.lines().map(|line| line.call())
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = Line<'_>> {
        newest(&self.text).into_iter().filter_map(Line::parse)
    }

    /// The calls as steps, each with its end, if one of them may form a loop with the current step; else an empty list.
    /// Most calls have nothing in common with earlier ones, and then no line is parsed.
    pub(crate) fn concerning(&self, now: &Step) -> Vec<Step> {
        let seen = |text: &str| !text.is_empty() && self.text.contains(text);
        let ended = now.end.as_ref();
        let again = ended.is_none()
            && (seen(&now.exact)
                || now.goals.iter().any(|goal| seen(goal))
                || now.changes.iter().any(|(path, _)| seen(path)));
        let fails = ended.is_some_and(|end| seen(&end.error));
        let has_output = ended.is_some_and(|end| !end.chars.is_empty());
        if again || fails || has_output { self.steps(now) } else { Vec::new() }
    }

    /// All calls as steps, each with its end, oldest first.
    pub fn all(&self) -> Vec<Step> {
        self.steps(&Step::default())
    }

    /// Each call once, without the current one.
    fn steps(&self, now: &Step) -> Vec<Step> {
        let (call, word) = &self.now;
        let mut seen = vec![Known::new((now.end.is_some(), &now.exact), (call, word), clock::now())];
        let mut steps = Vec::new();
        for line in self.lines() {
            let known = line.known();
            if seen.iter().any(|before| before.is_same(&known)) {
                continue;
            }
            if line.after {
                finish(&mut steps, line.step());
            } else {
                steps.push(line.step());
            }
            seen.push(known);
        }
        steps.drain(..steps.len().saturating_sub(WINDOW));
        steps
    }

    /// Whether the agent was already warned of this finding with the same mark in this session. A finding about a
    /// repeated call is compared by the call's fingerprint instead.
    pub fn shown_before(&self, finding: &str, mark: &str, exact: &str) -> bool {
        // A warning is not shown together with a prompt or a refusal; a refusal of a repeated call already mentions the
        // repetition.
        if OF_ONE_CALL.contains(&finding) {
            return self.before_with(finding).any(|line| line.exact() == exact);
        }
        let shows = |line: &Line<'_>| !line.after && line.shown_before().any(|known| known == mark);
        self.text.contains(mark) && self.lines().any(|line| shows(&line))
    }

    /// Whether an earlier call of this session that passed had this finding.
    pub fn has_found(&self, finding: &str) -> bool {
        self.before_with(finding).any(|line| line.end == CallEnd::Pass)
    }

    /// Whether the finding was reported for any call or result of the session.
    pub fn has_reported(&self, finding: &str) -> bool {
        self.text.contains(finding) && self.lines().any(|line| line.findings().any(|id| id == finding))
    }

    fn before_with<'f>(&'f self, finding: &'f str) -> impl Iterator<Item = Line<'f>> {
        let lines = self.text.contains(finding).then(|| self.lines()).into_iter().flatten();
        lines.filter(move |line| !line.after && line.findings().any(|id| id == finding))
    }

    /// The last line written before a tool ran that has this exact fingerprint.
    pub fn before(&self, exact: &str) -> Option<Call> {
        self.lines().rev().find(|line| !line.after && line.exact() == exact).map(|line| line.call())
    }
}

/// Key of a session file: a session of one client, and one (sub)agent within it.
#[derive(Debug, Clone, Copy)]
pub struct SessionKey<'a> {
    /// `claude`, …
    pub client: &'a str,
    /// The client's id of the session.
    pub session: &'a str,
    /// The subagent's role, if it is one.
    pub role: Option<&'a str>,
    /// The client's id of the subagent: two subagents of one role do not share a file.
    pub subagent: Option<&'a str>,
    /// The client's id of the current call; empty if it has none.
    pub call: &'a str,
    /// The client's name for the event.
    pub word: &'a str,
}

/// The session key of an event.
pub(crate) fn session_key(event: &Event) -> SessionKey<'_> {
    SessionKey {
        client: &event.client,
        session: &event.session,
        role: event.role.as_deref(),
        subagent: event.subagent.as_deref(),
        call: &event.call,
        word: &event.word,
    }
}

impl SessionKey<'_> {
    pub(super) fn file(self) -> String {
        let mut digest = Sha256::new();
        let parts = [self.client, self.session, self.role.unwrap_or("")];
        for part in parts.into_iter().chain(self.subagent) {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
        let name = hex::encode(&digest.finalize());
        name.get(..32).unwrap_or("").to_owned()
    }
}

impl Store {
    pub(super) fn sessions(&self) -> PathBuf {
        self.folder.join("sessions")
    }

    /// The remembered calls of a session; empty if its file is missing or unreadable.
    pub fn history(&self, key: SessionKey<'_>) -> History {
        let now = (key.call.to_owned(), key.word.to_owned());
        let usual = usize::try_from(MAX_BYTES).unwrap_or(0);
        text_of(&self.sessions().join(key.file()), usual)
            .map_or_else(|_| History::default(), |text| History { text, now })
    }

    /// The time of the session's first remembered call, by any of its agents, because a subagent starts later. The
    /// current time if no call is remembered.
    pub fn begun(&self, key: SessionKey<'_>) -> SystemTime {
        let first = |key: SessionKey<'_>| {
            let file = File::open(self.sessions().join(key.file())).ok()?;
            let mut line = String::new();
            BufReader::new(file).read_line(&mut line).ok()?;
            Some(Call::parse(line.trim_end_matches('\n'))?.time)
        };
        let of_all = SessionKey { role: None, subagent: None, ..key };
        let of_agent = (key.role.is_some() || key.subagent.is_some()).then(|| first(key)).flatten();
        let first = [of_agent, first(of_all)].into_iter().flatten().min();
        first.map_or_else(SystemTime::now, |time| SystemTime::UNIX_EPOCH + Duration::from_millis(time))
    }

    /// Remembers a call.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remember(&self, key: SessionKey<'_>, call: &Call) -> io::Result<()> {
        self.remember_by(&Redactor::new(self), key, call)
    }

    /// Like [`Store::remember`], with a redactor that knows the secrets of the call.
    pub(crate) fn remember_by(&self, redactor: &Redactor<'_>, key: SessionKey<'_>, call: &Call) -> io::Result<()> {
        let path = self.sessions().join(key.file());
        let (mut file, before) = match locked(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&self.sessions())?;
                self.forget_old_sessions();
                locked(&path)?
            }
            file => file?,
        };
        let line = call.line(redactor);
        let line = line.text();
        file.write_all(line.as_bytes())?;
        if before + (line.len() as u64) < MAX_BYTES {
            return Ok(());
        }
        let text = fs::read_to_string(&path)?;
        if text.lines().count() <= MAX_LINES {
            return Ok(());
        }
        // The first line holds the time when the session began.
        let kept: String = text.lines().take(1).chain(newest(&text)).flat_map(|line| [line, "\n"]).collect();
        // Replaces the file, so that a process killed here loses nothing; a process that waits for the lock of the old
        // file notices the replacement.
        put_as_it_is(&path, &kept)
    }

    /// Removes the files of sessions that were idle for a week.
    fn forget_old_sessions(&self) {
        let Ok(entries) = fs::read_dir(self.sessions()) else { return };
        for entry in entries.flatten() {
            let time = entry.metadata().ok().map(|data| os::stat_of(&data).modified.0);
            let time = time.and_then(|seconds| u64::try_from(seconds).ok());
            if time.is_some_and(|seconds| seconds * 1000 + FORGOTTEN < clock::now()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The last lines, oldest first; an incomplete one is skipped.
fn newest(text: &str) -> Vec<&str> {
    let complete = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or("");
    let mut lines: Vec<&str> = complete.rsplit('\n').take(LINES).collect();
    lines.reverse();
    lines
}

/// Opens and locks the file at the path; returns it with its length. Retries if another hook has replaced the file
/// before the lock was acquired.
fn locked(path: &std::path::Path) -> io::Result<(File, u64)> {
    const TRIES: u32 = 8;
    for _ in 0..TRIES {
        let file = os::open(path, Purpose::Append)?;
        wait_for(&file, BRIEF_WAIT)?;
        let opened = file.metadata()?;
        if os::stat_following_links(path).is_ok_and(|current| os::stat_of(&opened).is_same_file(&current)) {
            return Ok((file, opened.len()));
        }
        let _ = file.unlock();
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "the session's file changes all the time"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;
    use crate::system::folders::Folders;
    use crate::system::random;

    fn store() -> Store {
        Store::new(&Folders::below(std::env::temp_dir().join(random::uuid())))
    }

    const KEY: SessionKey<'_> =
        SessionKey { client: "claude", session: "s", role: None, subagent: None, call: "", word: "" };

    /// A call with every field set.
    fn call() -> Call {
        let exact = "0123456789abcdef".to_owned();
        let end = End { failed: true, output: "00ff".into(), error: "~0a0b".into(), chars: vec![(b'a', 3), (0, 300)] };
        let step = Step {
            exact: exact.clone(),
            goals: vec!["0c0d".into()],
            text: "cat a".into(),
            kind: StepKind::Look,
            pace: RepeatAllowance::Asks,
            refused: false,
            changes: vec![("/repo/a".into(), "0e0f".into())],
            end: Some(end),
        };
        Call {
            time: 7,
            id: "id-1".into(),
            after: true,
            end: CallEnd::Failed,
            tool: "Bash".into(),
            exact,
            approved: true,
            taint: vec!["web".into()],
            findings: vec!["git/push-force".into(), "loop/tight".into()],
            shown_before: vec!["0f0f".into()],
            files: vec![("/repo/a".into(), "0e0f".into()), ("/repo/b".into(), String::new())],
            output: "00ff".into(),
            step,
            call: "toolu_1".into(),
            word: "PostToolUse".into(),
        }
    }

    #[test]
    fn a_call_is_remembered_as_it_was() {
        let store = store();
        store.remember(KEY, &call()).unwrap();
        assert_eq!(store.history(KEY).calls().collect::<Vec<_>>(), [call()]);
    }

    #[test]
    fn an_incomplete_line_is_none() {
        let store = store();
        let line = call().line(&Redactor::new(&store));
        let line = line.text().trim_end_matches('\n').to_owned();
        assert_eq!(Call::parse(&line), Some(call()));
        assert_eq!(Call::parse(&format!("{line}\tof a later version")), Some(call()));
        let (cut, _) = line.rsplit_once('\t').unwrap();
        for other in [
            cut,
            "",
            "x",
            &line.replacen("4\t7", "9\t7", 1),
            &line.replacen("4\t7", "4\tseven", 1),
            &line.replacen("\tfailed\t", "\tlost\t", 1),
        ] {
            assert_eq!(Call::parse(other), None, "{other}");
        }
        let text = format!("{line}\n{cut}");
        assert_eq!(newest(&text), [line.as_str()]);
    }

    #[test]
    fn two_hooks_that_are_asked_about_one_call_remember_one_step() {
        let known = |call: &'static str, word, time| Known::new((false, "0123456789"), (call, word), time);
        assert!(known("a", "x", 0).is_same(&known("a", "x", 99_999)));
        assert!(!known("a", "x", 0).is_same(&known("b", "y", 0)));
        assert!(known("", "x", 0).is_same(&known("", "y", AT_ONCE)));
        assert!(!known("", "x", 0).is_same(&known("", "y", AT_ONCE + 1)));
        assert!(!known("", "x", 0).is_same(&known("", "x", 0)), "the same word comes with another call");
        assert!(!known("a", "x", 0).is_same(&Known::new((true, "0123456789"), ("a", "x"), 0)));
    }

    #[test]
    fn a_warning_is_known_by_what_it_is_about_and_a_repetition_by_its_call() {
        let store = store();
        let call = Call {
            end: CallEnd::Pass,
            exact: "aa".into(),
            findings: ["git/push-force", "loop/repeat"].map(str::to_owned).to_vec(),
            shown_before: vec!["0123456789abcdef".into()],
            ..Call::default()
        };
        store.remember(KEY, &call).unwrap();
        let history = store.history(KEY);
        assert!(history.shown_before("git/push-force", "0123456789abcdef", "bb"));
        assert!(!history.shown_before("git/push-force", "fedcba9876543210", "aa"));
        assert!(history.shown_before("loop/repeat", "", "aa") && !history.shown_before("loop/repeat", "", "bb"));
        assert!(history.has_found("git/push-force") && !history.has_found("rm/home"));
        assert_eq!(history.before("aa").map(|call| call.exact), Some("aa".to_owned()));
        assert_eq!(history.before("bb"), None);
    }

    #[test]
    fn a_long_session_keeps_its_first_call_and_its_last_ones() {
        let store = store();
        for time in 1..=400 {
            store.remember(KEY, &Call { time, ..call() }).unwrap();
        }
        let times: Vec<u64> = store.history(KEY).calls().map(|call| call.time).collect();
        assert_eq!((times.len(), times.last()), (LINES, Some(&400)));
        assert_eq!(store.begun(KEY), SystemTime::UNIX_EPOCH + Duration::from_millis(1));
        let text = fs::read_to_string(store.sessions().join(KEY.file())).unwrap();
        assert!(text.lines().count() <= MAX_LINES);
    }

    #[test]
    fn sessions_roles_and_subagents_share_no_memory() {
        let keys = [
            KEY,
            SessionKey { client: "codex", ..KEY },
            SessionKey { session: "t", ..KEY },
            SessionKey { role: Some("reviewer"), ..KEY },
            SessionKey { role: Some("reviewer"), subagent: Some("1"), ..KEY },
        ];
        let files: std::collections::BTreeSet<String> = keys.iter().map(|key| key.file()).collect();
        assert_eq!(files.len(), keys.len());
        assert_eq!(SessionKey { call: "x", word: "y", ..KEY }.file(), KEY.file());
        let store = store();
        assert_eq!(store.history(KEY), History::default());
    }
}
