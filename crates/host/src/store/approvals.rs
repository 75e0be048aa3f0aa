//! Calls that wait for a person, and what a person has said: one small file each.

use super::Store;
use super::log::BRIEF_WAIT;
use super::waiting::{self, Waiting};
use crate::appeal::Appeal;
use crate::bound::Bound;
use crate::record::digest;
use crate::signing::{Kind, Signer};
use crate::system::clock;
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// All hooks of an agent are asked about one call within this time.
const AT_ONCE: u64 = 10_000;

/// What a person said is listed so long after it is over; each call that is stopped looks through all of it.
const LISTED: u64 = 30 * 86_400_000;

/// A call that was refused or asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pending {
    /// Seven letters and digits, as a person types them.
    pub id: String,
    /// The id of its record.
    pub record: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// `ask` or `deny`.
    pub decision: String,
    /// The agent.
    pub client: String,
    /// Its name for the session.
    pub session: String,
    /// The task that a person declared, if there is one.
    pub task: String,
    /// The root of the project.
    pub workspace: String,
    /// The folder it would run in.
    pub cwd: String,
    /// What would run, without secrets.
    pub text: String,
    /// Whether `text`, `parts` and `effects` are all of it, or were too long to keep.
    pub whole: bool,
    /// The parts of a compound, as they would run.
    pub parts: Vec<String>,
    /// What it would do.
    pub effects: Vec<String>,
    /// Why it was refused.
    pub reasons: Vec<String>,
    /// Ids of the findings that decided.
    pub findings: Vec<String>,
    /// Whether one of them is of the core tier.
    pub core: bool,
    /// What makes a retry the same call.
    pub exact: String,
    /// The same for a yes that holds more often than once: what the call pushes may change.
    pub lasting: String,
    /// What it takes its orders from, as that was.
    pub bound: Vec<Bound>,
    /// The agent's own name for the call; empty if it has none.
    pub call: String,
    /// The call itself as a universal event, where all of it is kept and no secret is in it.
    pub again: Option<Map<String, Value>>,
    /// Requests that it may run.
    pub appeals: Vec<Appeal>,
}

/// For what a yes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// One call of the same agent in the same session.
    #[default]
    Once,
    /// The same call of the same agent in the same session.
    Session,
    /// The same call while the task lasts.
    Task,
    /// The same call in the same project.
    Repository,
}

impl Scope {
    /// Every scope with its word.
    pub const ALL: [(Scope, &'static str); 4] =
        [(Scope::Once, "once"), (Scope::Session, "session"), (Scope::Task, "task"), (Scope::Repository, "repository")];

    /// Its word.
    pub fn name(self) -> &'static str {
        Scope::ALL.iter().find(|(scope, _)| *scope == self).map_or("once", |(_, name)| name)
    }

    /// The scope of this word.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.iter().find(|(_, known)| *known == name).map(|(scope, _)| *scope)
    }
}

/// A person's yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The id of the call it answers.
    pub id: String,
    /// Whether the call may run.
    pub allow: bool,
    /// What the call must be.
    pub exact: String,
    /// For what it holds.
    pub scope: Scope,
    /// The session, task or project it holds in, by its scope.
    pub within: String,
    /// Milliseconds since 1970 when it was given.
    pub time: u64,
    /// Milliseconds since 1970 when it ends.
    pub expires: u64,
    /// How often it was used.
    pub uses: u64,
    /// The agent's own name for the call it was used for last, with the session. Several hooks may be asked about one call.
    pub used_for: String,
    /// Milliseconds since 1970 when it was used last.
    pub used: u64,
    /// Who gave it: the user's name or number, and the terminal.
    pub by: String,
    /// Why.
    pub reason: String,
    /// What was shown to the person.
    pub text: String,
    /// Whether it is signed, where it has to be.
    pub vouched: bool,
}

/// A short name for a call that a person can type and nobody can foretell.
pub fn short_id() -> String {
    // Without letters and digits that look alike.
    const LETTERS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz_";
    let mut bytes = [0_u8; 7];
    clock::chance(&mut bytes);
    let letter = |byte: &u8| LETTERS.get(usize::from(byte % 31)).map_or('x', |letter| char::from(*letter));
    bytes.iter().map(letter).collect()
}

impl Pending {
    /// Its form for machines.
    pub fn json(&self) -> Value {
        json!({
            "schema": "reflex/pending-v1", "id": self.id, "record": self.record, "time": self.time,
            "decision": self.decision, "agent": self.client, "session": self.session, "task": self.task,
            "workspace": self.workspace, "cwd": self.cwd, "text": self.text, "whole": self.whole, "parts": self.parts,
            "effects": self.effects, "reasons": self.reasons, "findings": self.findings, "core": self.core,
            "exact": self.exact, "lasting": self.lasting, "again": self.again, "holder": self.holder(),
            "bound": self.bound.iter().map(Bound::json).collect::<Vec<_>>(),
            "appeals": self.appeals.iter().map(Appeal::json).collect::<Vec<_>>(),
        })
    }

    fn of(map: &Map<String, Value>) -> Pending {
        let items = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
        Pending {
            id: text(map, "id"),
            record: text(map, "record"),
            time: number(map, "time"),
            decision: text(map, "decision"),
            client: text(map, "agent"),
            session: text(map, "session"),
            task: text(map, "task"),
            workspace: text(map, "workspace"),
            cwd: text(map, "cwd"),
            text: text(map, "text"),
            // A file of an older version holds at most 4096 bytes of each text.
            whole: map.get("whole").and_then(Value::as_bool).unwrap_or_else(|| text(map, "text").len() < 4096),
            parts: list(map, "parts"),
            effects: list(map, "effects"),
            reasons: list(map, "reasons"),
            findings: list(map, "findings"),
            core: map.get("core").and_then(Value::as_bool).unwrap_or(true),
            exact: text(map, "exact"),
            lasting: text(map, "lasting"),
            bound: items("bound").filter_map(Bound::of).collect(),
            call: String::new(),
            again: map.get("again").and_then(Value::as_object).cloned(),
            appeals: items("appeals").filter_map(Appeal::of).collect(),
        }
    }

    /// Who may use a yes to one call or for a session: this agent in this session, or in this project where it names no
    /// session.
    pub fn holder(&self) -> String {
        let client: String = self.client.split_whitespace().collect();
        match self.session.as_str() {
            "" => format!("{client} in {}", self.workspace),
            session => format!("{client} session {session}"),
        }
    }

    /// What a yes of this scope is bound to.
    pub fn mark(&self, scope: Scope) -> &str {
        if scope == Scope::Once { &self.exact } else { &self.lasting }
    }

    /// A digest of the agent's own names for the call, where it has such.
    fn name(&self) -> Option<String> {
        let names = || format!("{} {} {}", self.client, self.session, self.call);
        (!self.call.is_empty()).then(|| digest(&names()))
    }
}

impl Grant {
    /// Its form for machines.
    pub fn json(&self) -> Value {
        json!({
            "schema": "reflex/grant-v1", "id": self.id, "allow": self.allow, "exact": self.exact,
            "scope": self.scope.name(), "within": self.within, "time": self.time, "expires": self.expires,
            "uses": self.uses, "used_for": self.used_for, "used": self.used, "by": self.by, "reason": self.reason, "text": self.text,
        })
    }

    fn of(map: &Map<String, Value>) -> Option<Grant> {
        Some(Grant {
            id: text(map, "id"),
            allow: map.get("allow")?.as_bool()?,
            exact: text(map, "exact"),
            scope: Scope::named(map.get("scope")?.as_str()?)?,
            within: text(map, "within"),
            time: number(map, "time"),
            expires: number(map, "expires"),
            uses: number(map, "uses"),
            used_for: text(map, "used_for"),
            used: number(map, "used"),
            by: text(map, "by"),
            reason: text(map, "reason"),
            text: text(map, "text"),
            vouched: false,
        })
    }

    /// Whether it answers this call now.
    pub fn covers(&self, call: &Pending, now: u64) -> bool {
        let within = match self.scope {
            Scope::Once => self.within == call.holder() && (self.uses == 0 || self.was_just_used_for(call, now)),
            Scope::Session => self.within == call.holder(),
            Scope::Task => self.within == call.task && !call.task.is_empty(),
            Scope::Repository => self.within == call.workspace && !call.workspace.is_empty(),
        };
        // What a person lets pass of the core, passes once.
        let held = self.scope == Scope::Once || !call.core;
        self.allow && within && held && now < self.expires && self.time <= now && self.exact == call.mark(self.scope)
    }

    /// Another hook of the agent was asked about this very call a moment ago, and let it pass.
    fn was_just_used_for(&self, call: &Pending, now: u64) -> bool {
        call.name().is_some_and(|name| name == self.used_for) && self.used <= now && now - self.used <= AT_ONCE
    }
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
    pub fn keep_pending(&self, pending: &Pending) -> io::Result<String> {
        let folder = self.pending_folder();
        let waiting = Waiting { listed: waiting::listed(&files(&folder)), grants: &self.grants_folder() };
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
        super::put(&self.pending_folder().join(waiting::file_name(pending)), &self.kept(&pending.json()))
    }

    /// Every call that waits or was refused, newest first.
    pub fn pending(&self) -> Vec<Pending> {
        let mut all: Vec<Pending> =
            files(&self.pending_folder()).iter().filter_map(|path| Some(Pending::of(&object(path)?))).collect();
        all.sort_by_key(|pending| std::cmp::Reverse(pending.time));
        all
    }

    /// The ids of the calls that wait and that no person has answered, by the names of their files alone.
    pub fn waiting(&self) -> Vec<String> {
        let ids =
            |folder: &Path| files(folder).iter().filter_map(|path| waiting::id_of(path).map(str::to_owned)).collect();
        let mut waiting: Vec<String> = ids(&self.pending_folder());
        let answered: Vec<String> = if waiting.is_empty() { Vec::new() } else { ids(&self.grants_folder()) };
        waiting.retain(|id| !answered.contains(id));
        waiting
    }

    /// The call of this id.
    pub fn pending_call(&self, id: &str) -> Option<Pending> {
        self.pending_file(id).and_then(|path| object(&path)).map(|map| Pending::of(&map))
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
            let grant = Grant::of(&said).filter(|grant| path.file_stem().is_some_and(|stem| *stem == *grant.id))?;
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
        super::put_as_it_is(&self.grant_file(&grant.id), &Value::from(said).to_string())
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
    pub fn use_grant(&self, call: &Pending) -> io::Result<Option<Grant>> {
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

fn text(map: &Map<String, Value>, key: &str) -> String {
    map.get(key).and_then(Value::as_str).unwrap_or("").into()
}

fn number(map: &Map<String, Value>, key: &str) -> u64 {
    map.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn list(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = map.get(key).and_then(Value::as_array);
    items.map(|items| items.iter().filter_map(Value::as_str).map(str::to_owned).collect()).unwrap_or_default()
}
