//! `reflex task`: the current work of a person and their agents, and its results so far.

use crate::commands::history::record::field;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::{json, option, text};
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::{Arg, ArgAction, ArgMatches, Command};
use reflex_engine::Event;
use reflex_host::layers::trust::repository;
use reflex_host::store::tasks::Declared;
use reflex_host::store::{Search, Store};
use reflex_host::{Context, MAX_IN_A_ROW, Mode, now, timestamp};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of records counted for a task.
const MAX_RECORDS: usize = 100_000;

/// Maximum number of changed files that are listed.
const MAX_FILES: usize = 200;

pub(in crate::commands) fn grammar() -> Command {
    let several = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).action(ArgAction::Append)
    };
    Command::new("task")
        .about("Declare what agents work on; ask about the rest")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("start")
                .about("Declare this workspace's task; needs a person at a terminal")
                .arg(Arg::new("id").required(true).value_name("ID").help("Such as TASK-123"))
                .arg(option("intent", "TEXT", "Purpose of the task").default_value(""))
                .arg(several("scope", "PATTERN", "Files it changes, e.g. src/** (repeatable)"))
                .arg(several("accept", "TEXT", "When it is done, in words (repeatable)"))
                .arg(several("accept-run", "COMMAND", "When it is done: this exits with 0 (repeatable)")),
        )
        .subcommand(Command::new("met").about("Record that a criterion is met; needs a person at a terminal").arg(
            Arg::new("criterion").required(true).value_name("N").help("Its number in `reflex task show`, or its text"),
        ))
        .subcommand(Command::new("show").about("Show the task and its progress").arg(json()))
        .subcommand(Command::new("end").about("End the task; needs a person at a terminal"))
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let workspace = host.placed(Event::default()).workspace;
    match matches.subcommand() {
        Some(("start", matches)) => start(matches, &host.store(), &workspace),
        Some(("show", matches)) => show(matches, &host.store(), &workspace),
        Some(("met", matches)) => met(matches, &host.store(), &workspace),
        Some(("end", _)) => end(&host.store(), &workspace),
        _ => exit_code::USAGE,
    }
}

fn start(matches: &ArgMatches, store: &Store, workspace: &str) -> u8 {
    let id = text(matches, "id");
    let Some(person) = person(store, "task start", id) else { return exit_code::FOUND };
    let list = |name: &str| -> Vec<String> { matches.get_many(name).into_iter().flatten().cloned().collect() };
    let task = Declared {
        id: id.into(),
        intent: text(matches, "intent").into(),
        scope: list("scope"),
        acceptance: list("accept"),
        accept_runs: list("accept-run"),
        met: Vec::new(),
        workspace: workspace.into(),
        repository: repository(Path::new(workspace)),
        by: person.name,
        time: now(),
    };
    if let Err(problem) = sound(&task) {
        return problem.report();
    }
    if let Some(other) = store.task(workspace) {
        complain(&format!("the task {} is not ended; `reflex task end` ends it", visible(&other.id)));
        return exit_code::FOUND;
    }
    let signer = match Consent::sign(store, &format!("Declare the task {}?", visible(&task.id))) {
        Ok(Some(signer)) => signer,
        Ok(None) => {
            print("no task is declared");
            return exit_code::FOUND;
        }
        Err(problem) => return problem.report(),
    };
    match store.begin_task(&task, &signer) {
        Ok(()) => {
            report(&task);
            exit_code::OK
        }
        Err(error) => {
            complain(&format!("the task cannot be written, so it was not started: {error}"));
            exit_code::INTERNAL
        }
    }
}

/// Rejects an invalid scope: one that can never match would stop everything, and one outside the workspace nothing.
fn sound(task: &Declared) -> Result<(), Error> {
    let plain = |ch: char| ch.is_ascii_alphanumeric() || "-_.#/".contains(ch);
    if task.id.is_empty() || task.id.len() > 64 || !task.id.chars().all(plain) {
        return Err(Error::TaskName);
    }
    let leads_out = |pattern: &&String| pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    match task.scope.iter().find(leads_out) {
        Some(pattern) => Err(Error::TaskScope(pattern.clone())),
        None => Ok(()),
    }
}

fn report(task: &Declared) {
    print(&format!("{}  since {}, in {}", visible(&task.id), timestamp(task.time), visible(&task.workspace)));
    let intent = if task.intent.is_empty() { vec![] } else { vec![task.intent.clone()] };
    for (title, texts) in [("intent", &intent), ("scope", &task.scope)] {
        texts.iter().for_each(|text| print(&format!("  {title:7} {}", visible(text))));
    }
    for (index, text) in task.acceptance.iter().enumerate() {
        let state = if task.met.contains(text) { "met" } else { "open" };
        print(&format!("  accept  {}. {} ({state})", index + 1, visible(text)));
    }
    task.accept_runs.iter().for_each(|run| print(&format!("  accept  `{}` exits with 0", visible(run))));
}

/// `reflex task met`: marks a criterion that no program can check as met. Only a person may do so.
fn met(matches: &ArgMatches, store: &Store, workspace: &str) -> u8 {
    let Some(task) = store.task(workspace) else {
        complain("no task declared here");
        return exit_code::FOUND;
    };
    let input = text(matches, "criterion");
    let numbered = input.parse::<usize>().ok().and_then(|number| task.acceptance.get(number.checked_sub(1)?));
    let Some(criterion) = numbered.or_else(|| task.acceptance.iter().find(|text| *text == input)) else {
        complain(&format!("no criterion `{}`; `reflex task show` lists them", visible(input)));
        return exit_code::USAGE;
    };
    if task.met.contains(criterion) {
        print(&format!("already met: {}", visible(criterion)));
        return exit_code::OK;
    }
    let Some(person) = person(store, "task met", criterion) else { return exit_code::FOUND };
    let written = Consent::sign(store, &format!("Is this met: {}?", visible(criterion))).and_then(|signer| {
        let Some(signer) = signer else { return Ok(false) };
        let done = store.meet_criterion(&task, criterion, &person.name, &signer);
        done.map(|()| true).map_err(Error::State)
    });
    match written {
        Ok(true) => {
            print(&format!("met: {}", visible(criterion)));
            exit_code::OK
        }
        Ok(false) => {
            print("it stays open");
            exit_code::FOUND
        }
        Err(problem) => problem.report(),
    }
}

fn show(matches: &ArgMatches, store: &Store, workspace: &str) -> u8 {
    let task = store.task(workspace);
    let done = task.as_ref().map(|task| Done::from_log(store, task));
    if matches.get_flag("json") {
        let task = task.zip(done).map(|(task, done)| {
            let mut all = task.json();
            if let (Some(all), Value::Object(done)) = (all.as_object_mut(), done.json()) {
                all.extend(done);
            }
            all
        });
        print_json(&json!({"schema": "reflex/task-v1", "task": task}).to_string());
        return exit_code::OK;
    }
    let Some((task, done)) = task.zip(done) else {
        print("no task declared here; `reflex task start ID --intent … --scope …` declares one");
        return exit_code::OK;
    };
    report(&task);
    print(&format!(
        "  {} calls: {} allowed, {} asked about, {} blocked; {} failed",
        done.calls, done.passed, done.asked, done.refused, done.failed
    ));
    if !done.verified.is_empty() {
        let left = done.retries_left();
        print(&format!("  verification {}; it keeps the agent at work {left} times more", visible(&done.verified)));
    }
    for file in done.files.iter().take(20) {
        let lines = done.lines.get(file.trim_start_matches("./"));
        let lines = lines.map(|(added, removed)| format!(" (+{added} -{removed})")).unwrap_or_default();
        print(&format!("  changed {}{lines}", visible(file)));
    }
    if done.files.len() > 20 {
        print(&format!("  and {} more", done.files.len() - 20));
    }
    exit_code::OK
}

fn end(store: &Store, workspace: &str) -> u8 {
    let Some(task) = store.task(workspace) else {
        complain("no task declared here");
        return exit_code::FOUND;
    };
    let Some(person) = person(store, "task end", &task.id) else { return exit_code::FOUND };
    match store.end_task(&task, &person.name) {
        Ok(()) => {
            print(&format!("{} is ended", visible(&task.id)));
            exit_code::OK
        }
        Err(error) => {
            complain(&error.to_string());
            exit_code::INTERNAL
        }
    }
}

/// Work done for a task, from the audit log.
#[derive(Default)]
struct Done {
    calls: usize,
    passed: usize,
    asked: usize,
    refused: usize,
    failed: usize,
    files: BTreeSet<String>,
    /// Lines added and removed since the last commit, at the last verification.
    lines: BTreeMap<String, (u64, u64)>,
    /// Result of the last verification; empty before the first.
    verified: String,
    /// Number of the last verifications that failed in a row.
    failed_in_a_row: usize,
}

impl Done {
    fn from_log(store: &Store, task: &Declared) -> Done {
        let since = Some(timestamp(task.time));
        let fields = vec![("task".to_owned(), task.id.clone())];
        let search = Search { fields, since, ..Search::default() };
        let mut done = Done::default();
        for record in store.log().search(&search, MAX_RECORDS).unwrap_or_default() {
            done.count(&record);
        }
        done
    }

    fn count(&mut self, record: &Map<String, Value>) {
        let text = |key: &str| field(record, key);
        match text("kind") {
            "outcome" => {
                let failed = record.get("outcome").and_then(|outcome| outcome.get("failed"));
                self.failed += usize::from(failed == Some(&Value::Bool(true)));
                self.name_changed(record);
            }
            "call" => {
                self.calls += 1;
                match text("decision") {
                    "deny" => self.refused += 1,
                    "ask" => self.asked += 1,
                    _ => self.passed += 1,
                }
                // A call that was asked about may not have run: its outcome record decides.
                if text("decision") == "pass" {
                    self.name_files(record);
                }
            }
            "verification" => {
                self.verified = text("verdict").to_owned();
                self.count_lines(record);
                self.failed_in_a_row = if self.verified == "failed" { self.failed_in_a_row + 1 } else { 0 };
            }
            _ => {}
        }
    }

    fn count_lines(&mut self, record: &Map<String, Value>) {
        let lines = record.get("changed").and_then(|changed| changed.get("lines")).and_then(Value::as_array);
        let number = |row: &Value, key: &str| row.get(key).and_then(Value::as_u64).unwrap_or(0);
        let row = |row: &Value| {
            let file = row.get("file").and_then(Value::as_str)?.to_owned();
            Some((file, (number(row, "added"), number(row, "removed"))))
        };
        self.lines = lines.into_iter().flatten().filter_map(row).collect();
    }

    fn retries_left(&self) -> usize {
        MAX_IN_A_ROW.saturating_sub(self.failed_in_a_row)
    }

    fn name_files(&mut self, record: &Map<String, Value>) {
        let effects = record.get("analysis").and_then(|analysis| analysis.get("effects"));
        let effects = effects.and_then(Value::as_array).into_iter().flatten();
        for effect in effects.filter_map(Value::as_str) {
            let Some((kind, targets)) = effect.split_once(' ') else { continue };
            let changes = ["overwrite", "append", "edit", "delete", "move", "truncate"].contains(&kind);
            if changes && self.files.len() < MAX_FILES {
                self.files.insert(targets.to_owned());
            }
        }
    }

    /// Adds the files that the agent reports as changed, named like those of the effects.
    fn name_changed(&mut self, record: &Map<String, Value>) {
        let changed = record.get("changed").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for path in changed {
            let below = path.strip_prefix(field(record, "workspace")).and_then(|rest| rest.strip_prefix('/'));
            if self.files.len() < MAX_FILES {
                self.files.insert(below.map_or_else(|| path.to_owned(), |below| format!("./{below}")));
            }
        }
    }

    fn json(&self) -> Value {
        json!({
            "calls": self.calls, "passed": self.passed, "asked": self.asked, "refused": self.refused,
            "failures": self.failed, "changed": self.files, "lines": self.lines, "retries_left": self.retries_left(),
            "verification": if self.verified.is_empty() { Value::Null } else { self.verified.as_str().into() },
        })
    }
}
