//! `reflex undo` and `reflex gc`: list, restore and delete the backups that were made before calls. Only a person
//! restores in place; anyone may list, and restore to a folder of their own.

use crate::error::Error;
use crate::exit_code;
use crate::terminal::age::{age, ago};
use crate::terminal::arguments::{flag, json, option};
use crate::terminal::confirm::confirmed;
use crate::terminal::consent::may_weaken;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::person::person;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command};
use reflex_engine::Event;
use reflex_host::answers::record;
use reflex_host::keep::{About, Backup, BackupStore, ItemKind, Listed, Plan, State, Step, size};
use reflex_host::person::at_terminal;
use reflex_host::{Context, Host, Mode, timestamp};
use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum number of paths or lines that are listed; only the number of further paths is shown.
const MAX_SHOWN: usize = 20;

/// Maximum size of a file that is compared line by line, in bytes.
const MAX_COMPARED: u64 = 256 * 1024;

pub(in crate::commands) fn grammar() -> Vec<Command> {
    let undo = Command::new("undo")
        .about("List what was kept before calls, or restore it")
        .arg(Arg::new("id").value_name("ID").help("Backup to restore (default: list all backups)"))
        .arg(Arg::new("path").value_name("PATH").num_args(0..).help("Only these files and folders"))
        .arg(option("to", "DIR", "Restore below this directory instead of in place"))
        .arg(flag("created", "Remove the files that the call created, too"))
        .arg(flag("dry-run", "Show what would change without changing it").visible_alias("diff"))
        .arg(flag("session", "Restore everything kept in the latest session here, newest first").conflicts_with("id"))
        .arg(json());
    let redo = Command::new("redo")
        .about("Take the latest `undo` back")
        .arg(flag("dry-run", "Show what would change without changing it").visible_alias("diff"));
    vec![undo, redo, Command::new("gc").about("Remove backups older than 14 days, and compress the rest").arg(json())]
}

/// `reflex undo`.
pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    recover(&host);
    let store = host.backups();
    if matches.get_flag("session") {
        return session(&host, matches);
    }
    let Some(id) = matches.get_one::<String>("id") else { return list(&store, matches) };
    let backup = match store.backup(id) {
        Ok(backup) => backup,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            complain(&format!("no backup `{}`; `reflex undo` lists them", visible(id)));
            return exit_code::FOUND;
        }
        Err(error) => {
            complain(&format!("backup `{}` is damaged: {error}", visible(id)));
            return exit_code::FOUND;
        }
    };
    let here = std::env::current_dir().unwrap_or_default();
    let paths = matches.get_many::<String>("path").into_iter().flatten();
    let only: Vec<PathBuf> = paths.map(|path| lexical(&here.join(path))).collect();
    let reader = Reader::here();
    let to = matches.get_one::<String>("to").map(|folder| lexical(&here.join(folder)));
    let below = match (to, reader) {
        (Some(folder), Reader::Agent) => match in_project(&host, &backup, &folder) {
            Some(below) => Some(below),
            None => {
                complain("only a person at a terminal restores to or from a place outside of the project");
                return exit_code::FOUND;
            }
        },
        (to, _) => to,
    };
    let plan = host.undo_plan(&backup, &only, below.as_deref());
    let plan = if matches.get_flag("created") && below.is_none() { plan.without_created() } else { plan };
    if plan.steps.is_empty() {
        complain("the backup does not hold these paths");
        return exit_code::FOUND;
    }
    show(&backup, &plan, reader);
    match below {
        _ if matches.get_flag("dry-run") => exit_code::OK,
        Some(folder) => aside(&host, &backup, &plan, &folder),
        None => in_place(&host, &backup, &plan),
    }
}

/// `reflex redo`.
pub(in crate::commands) fn redo(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let listed = host.backups().listed();
    let is_of_undo = |known: &&Listed| known.about().is_some_and(|about| !about.undoes.is_empty());
    let Some(latest) = listed.iter().find(is_of_undo) else {
        print("no restore to take back");
        return exit_code::OK;
    };
    let Ok(backup) = host.backups().backup(&latest.id) else { return failed("the backup is damaged") };
    let plan = host.undo_plan(&backup, &[], None);
    show(&backup, &plan, Reader::here());
    if matches.get_flag("dry-run") { exit_code::OK } else { in_place(&host, &backup, &plan) }
}

/// Completes the backups of runs whose watcher was killed.
fn recover(host: &Host) {
    match host.recover_runs() {
        Ok(ids) if ids.is_empty() => {}
        Ok(ids) => complain(&format!("the watch of a run was killed; what it had kept is in {}", ids.join(", "))),
        Err(problem) => complain(&format!("the watch of a run was killed, and what it had kept is damaged: {problem}")),
    }
}

/// Reader of the output. An agent does not see file contents: they may be keys, and the guard judges reads of files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Person,
    Agent,
}

impl Reader {
    fn here() -> Reader {
        if at_terminal().is_ok() { Reader::Person } else { Reader::Agent }
    }
}

/// Returns the folder to which an agent may restore: below a folder of its project, under the paths that the files had
/// in the project, by which rules recognize them as keys. `None` if one of the files was outside the project.
fn in_project(host: &Host, backup: &Backup, folder: &Path) -> Option<PathBuf> {
    let project = PathBuf::from(host.placed(Event::default()).workspace).canonicalize().ok()?;
    let is_inside = |path: &Path| path.starts_with(&project);
    let real = folder.ancestors().find_map(|above| above.canonicalize().ok())?;
    let mut lost = backup.items.iter().filter(|item| !item.is_only_for_its_place());
    (is_inside(folder) && is_inside(&real) && lost.all(|item| is_inside(&item.path)))
        .then(|| folder.join(backup.base().strip_prefix(&project).unwrap_or(Path::new(""))))
}

/// `reflex gc`.
pub(in crate::commands) fn gc(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    recover(&host);
    let store = host.backups();
    // A clock that is set forward makes every backup expire.
    if store.expired() > 0 && !may_weaken(&host.store(), "gc") {
        return exit_code::FOUND;
    }
    match store.sweep().and_then(|swept| Ok((swept, store.pack()?))) {
        Ok((swept, packed)) if matches.get_flag("json") => {
            let output =
                json!({"schema": "reflex/gc-v1", "removed": swept.removed, "bytes": swept.bytes, "packed": packed});
            print_json(&output.to_string());
            exit_code::OK
        }
        Ok((swept, packed)) => {
            let removed = format!("removed {} ({})", count(swept.removed, "backup"), size(swept.bytes));
            print(&format!("{removed}; packing freed {}; {}", size(packed), total(&store)));
            exit_code::OK
        }
        Err(error) => {
            complain(&format!("not all of it could be removed: {error}"));
            exit_code::INTERNAL
        }
    }
}

/// Summarizes the number and size of the backups in a few words.
pub(in crate::commands) fn total(store: &BackupStore) -> String {
    let listed = store.listed();
    let bytes = listed.iter().map(Listed::stored).sum();
    format!("{} kept for `reflex undo` ({})", count(listed.len(), "backup"), size(bytes))
}

fn list(store: &BackupStore, matches: &ArgMatches) -> u8 {
    let listed = store.listed();
    if matches.get_flag("json") {
        let rows: Vec<Value> = listed.iter().map(row).collect();
        print_json(&json!({"schema": "reflex/undo-list-v1", "kept": rows}).to_string());
        return exit_code::OK;
    }
    if listed.is_empty() {
        print("no backups");
        return exit_code::OK;
    }
    let mut states: Vec<&str> = Vec::new();
    let head = ["ID", "age", "size", "files now", "agent", "call"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for known in &listed {
        let About { client, what, undoes, .. } = known.about().unwrap_or_default();
        let what = if undoes.is_empty() { what } else { format!("before {undoes} was restored") };
        let state = store.backup(&known.id).map_or("damaged", |backup| word(&backup.plan(&[], None)));
        states.push(state);
        let cells = [&known.id, &age(known.time), &size(known.bytes), state, &visible(&client), &visible(&what)];
        table.push(cells.map(str::to_owned).to_vec());
    }
    print_table(0, &table);
    let legend = STATES.iter().filter(|(state, _)| states.contains(state));
    let legend: Vec<String> = legend.map(|(state, meaning)| format!("{state}: {meaning}")).collect();
    print(&Paint::of_stdout().faint(&format!("\n{}. `reflex undo ID` restores.", legend.join("; "))));
    exit_code::OK
}

fn row(known: &Listed) -> Value {
    let About { record, client, session, workspace, what, undoes, .. } = known.about().unwrap_or_default();
    json!({
        "id": known.id, "time": timestamp(known.time), "bytes": known.bytes, "record": record, "agent": client,
        "session": session, "workspace": workspace, "call": what, "undoes": undoes,
    })
}

/// States of the files since the backup, and their descriptions.
const STATES: [(&str, &str); 5] = [
    ("intact", "the files hold what they held"),
    ("changed", "files differ from the backup"),
    ("gone", "files are deleted"),
    ("moved", "a folder above them is a link or file now: `--to DIR`"),
    ("damaged", "the backup cannot be read"),
];

/// Returns the state of the files relative to the backup. Files of Git count only if the backup holds no other files,
/// and its index never counts: Git rewrites the index on mere reads, and a later commit moves refs.
fn word(plan: &Plan) -> &'static str {
    let is_in_git = |step: &&Step| step.to.components().any(|part| part.as_os_str() == ".git");
    let is_index = |step: &&Step| step.to.ends_with(".git/index");
    let holds_work = plan.steps.iter().any(|step| !is_in_git(&step) && step.item.kind != ItemKind::Folder);
    let counts = |step: &&Step| if holds_work { !is_in_git(step) } else { !is_index(step) };
    let is = |state| plan.steps.iter().filter(counts).any(|step| step.state == state);
    match () {
        () if is(State::Elsewhere) => "moved",
        () if is(State::Differs) => "changed",
        () if is(State::Missing) => "gone",
        () => "intact",
    }
}

/// Lists the paths that restoring would create, overwrite and remove.
fn show(backup: &Backup, plan: &Plan, reader: Reader) {
    print(&format!("{}: {}, kept {}", backup.id, visible(&backup.about.what), ago(backup.time)));
    let mut shown = 0;
    for step in plan.steps.iter().filter(|step| is_reported(step)) {
        shown += 1;
        if shown > MAX_SHOWN {
            continue;
        }
        print(&format!("  {}", in_words(step)));
        if step.state == State::Differs && reader == Reader::Person {
            difference(backup, step).iter().for_each(|line| print(&format!("      {}", visible(line))));
        }
    }
    if shown > MAX_SHOWN {
        print(&format!("  and {} more", shown - MAX_SHOWN));
    }
    show_others(plan);
    if plan.is_done() {
        print("  nothing to restore: the files are as in the backup");
    }
}

/// The effect of a restore on one path.
fn in_words(step: &Step) -> String {
    let path = visible(&step.to.to_string_lossy());
    let since = if step.has_changed_since() == Some(true) { " (changed since the call)" } else { "" };
    match (step.state, &step.item.kind) {
        (State::Elsewhere, _) => format!("cannot restore, below a link or file now (use --to DIR): {path}"),
        (State::Gone, _) => format!("cannot restore, it was renamed and is gone since: {path}"),
        (State::Missing, ItemKind::Unchanged { at, .. }) => {
            format!("move {} back to {path}", visible(&at.to_string_lossy()))
        }
        (State::Missing, _) => format!("restore {path}"),
        (State::Dressed, _) => format!("restore the permissions and times of {path}"),
        (_, ItemKind::Absent) => format!("REMOVE {path}"),
        (State::Differs | State::Same, _) => format!("OVERWRITE {path}{since}"),
    }
}

/// Lists the files that a restore leaves alone: those that the call created, and those without a copy.
fn show_others(plan: &Plan) {
    let is_there = |step: &&Step| step.item.kind == ItemKind::Created && step.to.symlink_metadata().is_ok();
    let is_removed = |path: &Path| plan.conflicts().any(|step| step.to == path && step.item.kind == ItemKind::Absent);
    match plan.steps.iter().filter(is_there).filter(|step| !is_removed(&step.to)).count() {
        0 => {}
        created => print(&format!("  {} that it created will stay (`--created` removes them)", count(created, "file"))),
    }
    for step in &plan.steps {
        if let ItemKind::Missed { why } = &step.item.kind {
            print(&format!("  LOST without a copy, {}: {}", visible(why), visible(&step.to.to_string_lossy())));
        }
    }
}

fn is_reported(step: &Step) -> bool {
    step.state != State::Same && (step.item.kind != ItemKind::Folder || step.state == State::Missing)
}

/// Returns the lines that restoring would remove and add, for text files.
fn difference(backup: &Backup, step: &Step) -> Vec<String> {
    let text = |path: &Path| {
        let is_short = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_COMPARED);
        fs::read_to_string(path).ok().filter(|_| is_short)
    };
    let kept = || {
        let mut text = String::new();
        let mut content = backup.content(&step.item)?.ok()?.take(MAX_COMPARED + 1);
        content.read_to_string(&mut text).ok().filter(|length| *length as u64 <= MAX_COMPARED)?;
        Some(text)
    };
    let Some((then, now)) = kept().and_then(|then| Some((then, text(&step.to)?))) else { return Vec::new() };
    let (mut then, mut now): (Vec<&str>, Vec<&str>) = (then.lines().collect(), now.lines().collect());
    let same = then.iter().zip(&now).take_while(|(one, other)| one == other).count();
    then.drain(..same);
    now.drain(..same);
    let same = then.iter().rev().zip(now.iter().rev()).take_while(|(one, other)| one == other).count();
    then.truncate(then.len() - same);
    now.truncate(now.len() - same);
    let lines = now.iter().map(|line| format!("- {line}")).chain(then.iter().map(|line| format!("+ {line}")));
    lines.take(MAX_SHOWN).collect()
}

/// Restores to a folder, without overwriting any file.
fn aside(host: &Host, backup: &Backup, plan: &Plan, folder: &Path) -> u8 {
    if let Some(step) = plan.conflicts().next() {
        complain(&format!("`{}` already exists; name another folder", visible(&step.to.to_string_lossy())));
        return exit_code::FOUND;
    }
    match host.undo(backup, plan) {
        Ok(_) => {
            print(&format!("restored to {}", visible(&folder.to_string_lossy())));
            exit_code::OK
        }
        Err(refused) => failed(&refused.to_string()),
    }
}

fn in_place(host: &Host, backup: &Backup, plan: &Plan) -> u8 {
    let store = host.store();
    let Some(person) = person(&store, "undo", &backup.id) else { return exit_code::FOUND };
    if plan.is_done() {
        return exit_code::OK;
    }
    if !confirmed("Restore this? [y/N] ") {
        print("nothing changed");
        return exit_code::ASK;
    }
    let fields = json!({"kept": backup.id, "of": backup.about.record, "by": person.name});
    if let Err(problem) = record(&store, "undo", fields) {
        return Error::from(problem).report();
    }
    match host.undo(backup, plan) {
        Ok(undo) => {
            let back = undo.map(|id| format!("; `reflex undo {id}` takes it back")).unwrap_or_default();
            print(&format!("restored{back}"));
            exit_code::OK
        }
        Err(refused) => failed(&refused.to_string()),
    }
}

/// Restores all backups of a session, newest first. Prompts for each.
fn session(host: &Host, matches: &ArgMatches) -> u8 {
    let here = host.placed(Event::default()).workspace;
    let listed = host.backups().listed();
    let abouts = listed.iter().map(|known| (known, known.about().unwrap_or_default()));
    let ours: Vec<(&Listed, About)> =
        abouts.filter(|(_, about)| about.workspace == here && about.undoes.is_empty()).collect();
    let Some((_, latest)) = ours.first() else {
        print("no session here has a backup");
        return exit_code::OK;
    };
    for (known, _) in ours.iter().filter(|(_, about)| about.session == latest.session) {
        let Ok(backup) = host.backups().backup(&known.id) else { return failed("a backup is damaged") };
        let plan = host.undo_plan(&backup, &[], None);
        show(&backup, &plan, Reader::here());
        let code = if matches.get_flag("dry-run") { exit_code::OK } else { in_place(host, &backup, &plan) };
        if code != exit_code::OK {
            return code;
        }
    }
    exit_code::OK
}

fn failed(problem: &str) -> u8 {
    complain(&visible(problem));
    exit_code::INTERNAL
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Returns the path without `.` and `..`; backups use such paths.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
