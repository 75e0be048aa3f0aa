//! Tasks that a person has declared: one small file per workspace.

use super::approvals::{Grant, Scope};
use super::redact::Redactor;
use super::signing::signed::Signer;
use super::signing::statement::Kind;
use super::state::Store;
use crate::system::hex;
use reflex_engine::{Event, Purpose, Task, Vouched, is_within};
use reflex_git::shared_folder;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A task that a person works on with agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// The id of the task.
    pub id: String,
    /// The purpose, in the person's words.
    pub intent: String,
    /// Patterns of the paths that it changes, relative to the workspace; an empty list means all paths.
    pub scope: Vec<String>,
    /// Acceptance criteria in words.
    pub acceptance: Vec<String>,
    /// Acceptance criteria as commands that must exit with status 0.
    pub accept_runs: Vec<String>,
    /// The entries of `acceptance` that a person has confirmed.
    pub met: Vec<String>,
    /// The root of the project.
    pub workspace: String,
    /// The repository whose other work trees the task also covers.
    pub repository: String,
    /// The person who declared it.
    pub by: String,
    /// Start in milliseconds since 1970.
    pub time: u64,
}

impl Declared {
    /// The acceptance criteria in words that no person has confirmed yet.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.acceptance.iter().filter(|text| !self.met.contains(text)).map(String::as_str)
    }

    /// The JSON form.
    pub fn json(&self) -> Value {
        json!({
            "id": self.id, "intent": self.intent, "scope": self.scope, "acceptance": self.acceptance,
            "accept_runs": self.accept_runs, "met": self.met, "workspace": self.workspace, "repository": self.repository, "by": self.by, "time": self.time,
        })
    }

    fn from_json(map: &Map<String, Value>) -> Option<Declared> {
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| -> Option<Vec<String>> {
            map.get(key)?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        Some(Declared {
            id: text("id")?,
            intent: text("intent")?,
            scope: list("scope")?,
            acceptance: list("acceptance")?,
            accept_runs: list("accept_runs")?,
            met: list("met")?,
            workspace: text("workspace")?,
            repository: text("repository")?,
            by: text("by")?,
            time: map.get("time")?.as_u64()?,
        })
    }
}

/// A task with the JSON object of its file.
type Stored = (Declared, Map<String, Value>);

impl Store {
    fn tasks_folder(&self) -> PathBuf {
        self.folder.join("tasks")
    }

    fn task_file(&self, workspace: &str) -> PathBuf {
        let name = hex::encode(&Sha256::digest(workspace.as_bytes()));
        self.tasks_folder().join(format!("{}.json", name.get(..32).unwrap_or("")))
    }

    /// Every task that has begun and not ended.
    pub fn tasks(&self) -> Vec<Declared> {
        self.stored_tasks().into_iter().map(|(task, _)| task).collect()
    }

    /// All tasks, each with the JSON object of its file, which is what the signature covers.
    fn stored_tasks(&self) -> Vec<Stored> {
        let Ok(entries) = fs::read_dir(self.tasks_folder()) else { return Vec::new() };
        let read = |entry: fs::DirEntry| {
            let fields: Map<String, Value> = serde_json::from_str(&fs::read_to_string(entry.path()).ok()?).ok()?;
            Some((Declared::from_json(&fields)?, fields))
        };
        entries.flatten().filter_map(read).collect()
    }

    /// The task of a workspace: that of the nearest enclosing folder that has one, else that of another work tree of
    /// its repository.
    pub fn task(&self, workspace: &str) -> Option<Declared> {
        self.stored_task(workspace).map(|(task, _)| task)
    }

    /// The task of a workspace, if it is vouched for by a person.
    pub(crate) fn vouched_task(&self, workspace: &str) -> Option<Declared> {
        self.stored_task(workspace).filter(|(_, fields)| self.counts(Kind::Task, fields)).map(|(task, _)| task)
    }

    fn stored_task(&self, workspace: &str) -> Option<Stored> {
        let tasks = self.stored_tasks();
        if tasks.is_empty() {
            return None;
        }
        let above = tasks.iter().filter(|(task, _)| is_within(workspace, &task.workspace));
        let nearest = above.max_by_key(|(task, _)| task.workspace.len()).cloned();
        nearest.or_else(|| {
            let repository = shared_folder(Path::new(workspace));
            tasks.into_iter().find(|(task, _)| task.repository == repository)
        })
    }

    /// A person's declaration about the work that an event belongs to.
    pub(crate) fn declared(&self, event: &Event) -> Option<Task> {
        let (task, fields) = self.stored_task(&event.workspace).filter(|_| self.may_loosen)?;
        let inside = is_within(&event.workspace, &task.workspace);
        let root = if inside { task.workspace } else { event.workspace.clone() };
        let store = self.clone();
        let vouched = Vouched::claimed(move || store.counts(Kind::Task, &fields));
        Some(Task { id: task.id, root, purpose: Purpose { intent: task.intent, scope: task.scope }, vouched })
    }

    /// Begins a task. The caller must have asked a person.
    ///
    /// # Errors
    /// It cannot be recorded or written; the task has then not begun.
    pub fn begin_task(&self, task: &Declared, signer: &Signer) -> io::Result<()> {
        let redactor = Redactor::new(self);
        let acceptance: Vec<String> = task.acceptance.iter().map(|text| redactor.clean(text).into()).collect();
        let task = &Declared { intent: redactor.clean(&task.intent).into(), acceptance, ..task.clone() };
        let fields = json!({
            "task": task.id, "intent": task.intent, "scope": task.scope, "acceptance": task.acceptance,
            "accept_runs": task.accept_runs, "workspace": task.workspace, "by": task.by,
        });
        self.note("task-start", fields)?;
        self.put_signed(&self.task_file(&task.workspace), (signer, Kind::Task), &task.json())
    }

    /// Marks a criterion as met. The caller must have asked a person.
    ///
    /// # Errors
    /// It cannot be recorded or written; the criterion then remains open.
    pub fn meet_criterion(&self, task: &Declared, criterion: &str, by: &str, signer: &Signer) -> io::Result<()> {
        let met = task.met.iter().cloned().chain([criterion.to_owned()]).collect();
        let task = Declared { met, ..task.clone() };
        self.note("task-met", json!({"task": task.id, "criterion": criterion, "by": by}))?;
        self.put_signed(&self.task_file(&task.workspace), (signer, Kind::Task), &task.json())
    }

    /// Ends a task and revokes its approvals. The caller must have asked a person.
    ///
    /// # Errors
    /// It cannot be recorded, or its file cannot be removed.
    pub fn end_task(&self, task: &Declared, by: &str) -> io::Result<()> {
        self.note("task-end", json!({"task": task.id, "workspace": task.workspace, "by": by}))?;
        fs::remove_file(self.task_file(&task.workspace))?;
        if self.tasks().iter().any(|other| other.id == task.id) {
            return Ok(());
        }
        // Approvals for this task must not apply to a later task of the same name.
        let of_task = |grant: &Grant| grant.scope == Scope::Task && grant.within == task.id;
        self.grants().iter().filter(|grant| of_task(grant)).try_for_each(|grant| self.revoke(&grant.id).map(drop))
    }
}
