//! Real programs below a keeper. That everything comes back is tested with `reflex watch`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

use super::*;
use crate::kept::Limits;
use crate::os::linux::attacks::turn;
use crate::os::linux::probe::probe;
use crate::os::linux::supervisor::Supervision;
use crate::scope::Scope;
use crate::start::{Answer, Judge, Start};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Time after which a command is taken to hang.
const LIMIT: Duration = Duration::from_secs(120);

/// A folder with files of many kinds, and the place of a keeper beside it.
struct Project {
    folder: TempDir,
}

const SETUP: &str = r#"
for i in $(seq 1 14); do echo "content $i of a file" > f$i.txt; done
mkdir sub; echo x > sub/a; echo secret > key.pem; chmod 600 key.pem
git init -q . && git add f1.txt f2.txt sub && git commit -qm i
"#;

impl Project {
    fn new() -> Project {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(project.root()).unwrap();
        assert!(project.command(SETUP).status().unwrap().success());
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("p")
    }

    fn kept(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("kept")
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.root()).stdin(Stdio::null());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            command.env(name, "n@example.invalid");
        }
        command
    }

    fn keeper(&self, options: KeeperOptions) -> Arc<Keeper> {
        Arc::new(Keeper::create(&self.kept(), options).unwrap())
    }

    fn records(&self) -> Vec<Record> {
        records(&self.kept()).unwrap()
    }
}

/// The contents of the files at the top of a project.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn is_allowed() -> bool {
    let probed = probe();
    if let Err(why) = &probed {
        println!("skipped: {why}");
    }
    probed.is_ok()
}

fn run(command: &mut Command, scope: Scope) -> ExitStatus {
    let (supervision, mut child) = Supervision::start(command, scope).unwrap();
    supervision.wait(&mut child).unwrap()
}

/// A run below a keeper with these options; `None` if the system does not allow it.
fn kept(line: &str, options: KeeperOptions) -> Option<(Project, Arc<Keeper>)> {
    if !is_allowed() {
        return None;
    }
    let project = Project::new();
    let keeper = project.keeper(options);
    assert!(run(&mut project.command(line), Scope::Files(keeper.clone() as _)).success());
    Some((project, keeper))
}

#[test]
fn what_the_run_created_is_not_kept() {
    let _turn = turn();
    let line = "echo a > new; echo b > new; echo c >> new; mv new newer; rm newer; cat f1.txt >/dev/null";
    let Some((project, keeper)) = kept(line, KeeperOptions::default()) else { return };
    assert_eq!(keeper.tally().kept, 0, "{:#?}", project.records());
    let operations: Vec<Operation> = project.records().iter().map(|record| record.operation).collect();
    assert_eq!(operations, [Operation::Create, Operation::Rename, Operation::Delete]);
}

#[test]
fn what_is_left_in_the_background_is_kept_until_the_tree_ends() {
    let _turn = turn();
    if !is_allowed() {
        return;
    }
    let project = Project::new();
    let keeper = project.keeper(KeeperOptions::default());
    let mut command = project.command("(while [ ! -e ../go ]; do sleep 0.05; done; rm f3.txt) >/dev/null 2>&1 &");
    let (supervision, mut child) = Supervision::start(&mut command, Scope::Files(keeper.clone() as _)).unwrap();
    assert!(supervision.wait(&mut child).unwrap().success());
    assert_eq!(keeper.tally().kept, 0);
    fs::write(project.folder.path().join("go"), "").unwrap();
    assert!(supervision.tree_ends_within(LIMIT));
    assert_eq!((keeper.tally().kept, project.root().join("f3.txt").exists()), (1, false));
}

#[test]
fn an_unchanged_file_is_kept_once() {
    let _turn = turn();
    let line = ": >> f3.txt; : >> f3.txt; : 1<> f3.txt; rm f3.txt";
    let Some((project, keeper)) = kept(line, KeeperOptions::default()) else { return };
    assert_eq!((keeper.tally().kept, project.records().len()), (1, 4));
}

#[test]
fn what_is_beyond_the_limits_is_listed() {
    let _turn = turn();
    // Each of the three files has 20 bytes.
    let limits = Limits { file: 1000, run: 50, repeated: 0 };
    let line = "head -c 20000 /dev/zero > new; rm f1.txt f2.txt f3.txt";
    let Some((project, keeper)) = kept(line, KeeperOptions { limits, ..KeeperOptions::default() }) else { return };
    let is_missed = |record: &Record| matches!(record.before, Before::Missed(Missed::RunFull, _));
    let missed: Vec<PathBuf> = project.records().into_iter().filter(is_missed).map(|record| record.path).collect();
    assert_eq!(missed, [project.root().join("f3.txt")]);
    assert_eq!((keeper.tally().missed, keeper.tally().bytes), (1, 40));
}

#[test]
fn packs_that_git_replaces_and_skipped_paths_are_not_kept() {
    let _turn = turn();
    let skip = Arc::new(|path: &Path| path.components().any(|part| part.as_os_str() == "sub"));
    let options = KeeperOptions { skip: Some(skip), ..KeeperOptions::default() };
    let line = "git repack -q -a -d; git repack -q -a -d -f; rm -rf sub f1.txt .git/objects/pack";
    let Some((project, _)) = kept(line, options) else { return };
    let is_gone = |record: &Record| record.operation == Operation::Delete && record.before != Before::Skipped;
    let gone = project.records().into_iter().filter(is_gone).map(|record| record.path);
    let git = project.root().join(".git");
    let (objects, others): (Vec<PathBuf>, Vec<PathBuf>) = gone.partition(|path| path.starts_with(&git));
    let packs = objects.iter().filter(|path| path.extension().is_some_and(|end| end == "pack")).count();
    assert_eq!(others, [project.root().join("f1.txt")]);
    assert_eq!(packs, 1, "the last one, which another program removes: {objects:?}");
}

#[test]
fn copies_have_the_mode_of_a_secret() {
    let _turn = turn();
    let Some((project, _)) = kept("echo > key.pem; rm f3.txt", KeeperOptions::default()) else { return };
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(project.kept()), mode(project.kept().join("0"))), (0o700, 0o600));
    assert_eq!(mode(project.kept().join("journal")), 0o600);
}

/// A path as a call hands it over.
fn victim(path: &Path) -> File {
    OpenOptions::new().read(true).custom_flags(0o10_000_000).open(path).unwrap()
}

fn loss(operation: Operation, path: &Path) -> Loss {
    let (path, source, victim) = (path.to_owned(), PathBuf::new(), Some(victim(path)));
    Loss { process: 1, operation, path, source, victim, moved: None }
}

#[test]
fn a_linked_file_that_was_not_removed_is_copied_before_it_is_written() {
    let project = Project::new();
    let keeper = project.keeper(KeeperOptions::default());
    let (file, copy) = (project.root().join("f3.txt"), project.kept().join("0"));
    let before = fs::read(&file).unwrap();
    let place = |path: &Path| path.metadata().unwrap().ino();
    assert_eq!(keeper.before(&loss(Operation::Delete, &file)), Fate::Continue);
    assert_eq!(place(&copy), place(&file));
    assert_eq!(keeper.before(&loss(Operation::Write, &file)), Fate::Continue);
    fs::write(&file, "other").unwrap();
    assert_eq!(fs::read(&copy).unwrap(), before);
}

#[test]
fn a_file_that_is_open_for_writing_is_copied() {
    let project = Project::new();
    let keeper = project.keeper(KeeperOptions::default());
    let file = project.root().join("f3.txt");
    let before = fs::read(&file).unwrap();
    let mut writer = OpenOptions::new().append(true).open(&file).unwrap();
    keeper.before(&loss(Operation::Delete, &file));
    writer.write_all(b"more").unwrap();
    assert_eq!(fs::read(project.kept().join("0")).unwrap(), before);
}

/// Refuses each change, and counts starts.
#[derive(Default)]
struct Refusal {
    starts: AtomicUsize,
    changes: AtomicUsize,
}

impl Watch for Refusal {
    fn before(&self, loss: &Loss) -> Fate {
        if loss.path.starts_with("/dev") {
            return Fate::Continue;
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        Fate::Fail(28)
    }

    fn report_unresolved(&self, _process: u32, why: &io::Error) {
        panic!("{why}");
    }
}

impl Judge for Refusal {
    fn judge(&self, _start: &Start) -> Answer {
        self.starts.fetch_add(1, Ordering::Relaxed);
        Answer::Run
    }
}

#[test]
fn a_refused_change_fails_with_its_error_and_changes_nothing() {
    let _turn = turn();
    if !is_allowed() {
        return;
    }
    let project = Project::new();
    let before = contents(&project.root());
    let refusal = Arc::new(Refusal::default());
    let line = "rm f1.txt && exit 1; echo x > f2.txt && exit 1; mv f3.txt f4.txt && exit 1; truncate -s 0 f5.txt && exit 1; \
                set -C; echo x > ../new || exit 1; cat f1.txt > /dev/null; exit 0";
    let mut command = project.command(line);
    let scope = Scope::Both { judge: refusal.clone() as _, watch: refusal.clone() as _ };
    assert!(run(command.stderr(Stdio::null()), scope).success());
    assert_eq!(contents(&project.root()), before);
    // The shell, and the four programs in it.
    let (starts, changes) = (refusal.starts.load(Ordering::Relaxed), refusal.changes.load(Ordering::Relaxed));
    assert_eq!((starts, changes), (5, 4));
}

/// Answers for `f1.txt` only after another change was announced, as a file system does that a process of the tree serves.
#[derive(Default)]
struct Dependent {
    has_seen_another: Mutex<bool>,
    is_seen: Condvar,
}

impl Watch for Dependent {
    fn before(&self, loss: &Loss) -> Fate {
        let mut seen = self.has_seen_another.lock().unwrap();
        if loss.path.ends_with("f1.txt") {
            let is_missing = |seen: &mut bool| !*seen;
            let (seen, waited) = self.is_seen.wait_timeout_while(seen, LIMIT / 3, is_missing).unwrap();
            drop(seen);
            return if waited.timed_out() { Fate::Fail(110) } else { Fate::Continue };
        }
        *seen |= loss.path.ends_with("f2.txt");
        self.is_seen.notify_all();
        Fate::Continue
    }

    fn report_unresolved(&self, _process: u32, why: &io::Error) {
        panic!("{why}");
    }
}

#[test]
fn a_change_that_waits_for_another_does_not_keep_it_from_being_seen() {
    let _turn = turn();
    if !is_allowed() {
        return;
    }
    let project = Project::new();
    let mut command = project.command("rm f1.txt & sleep 0.3; rm f2.txt; wait $!");
    assert!(run(&mut command, Scope::Files(Arc::new(Dependent::default()))).success());
    assert!(!project.root().join("f1.txt").exists() && !project.root().join("f2.txt").exists());
}
