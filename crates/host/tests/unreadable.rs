//! A repository that is there and cannot be read is asked about where work is at stake: never silence, never a hang.

use reflex_engine::{Action, AgentPath, Decision, Event, Reason};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// A repository with everything committed; `x` is ignored.
struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("shop");
        let project = Project { _folder: folder, root };
        for (name, text) in [("src/a.ts", "1\n"), ("src/b.ts", "2\n"), ("x", "3\n"), ("package.json", "{}\n")] {
            project.write(name, text);
        }
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "-qm", "start"]);
        project
    }

    fn run(&self, arguments: &[&str]) -> bool {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&self.root).env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env_remove("XDG_CONFIG_HOME");
        git.env_remove("GIT_DIR").output().unwrap().status.success()
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) {
        assert!(self.run(arguments), "git {arguments:?}");
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + text).unwrap();
    }

    fn replace(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        path
    }

    fn pipe(&self, name: &str) {
        let path = self.replace(name);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    fn judged(&self, action: Action) -> (Decision, String) {
        let root = self.root.to_str().unwrap();
        let event = Event {
            cwd: root.into(),
            workspace: root.into(),
            home: "/home/me".into(),
            actions: vec![action],
            ..Event::default()
        };
        let start = Instant::now();
        let world = crate::world_of_nobody(&self.root);
        let verdict = crate::guard_of_nobody().judge_in(&event, &world, &[]).verdict;
        // Bounds are counted; this only tells a hang from an answer.
        assert!(start.elapsed() < Duration::from_secs(60));
        (verdict.decision, verdict.reasons.iter().map(Reason::brief).collect::<Vec<_>>().join("; "))
    }
}

/// Calls that lose work where there is some, and none of which is asked about in a clean repository.
fn calls() -> Vec<(&'static str, Action)> {
    let shell =
        |command: &'static str| (command, Action::Shell { command: command.into(), language: Default::default() });
    let commands = [
        "rm -rf src",
        "rm src/a.ts",
        "git checkout -- .",
        "git restore .",
        "git reset --hard",
        "git clean -fdx",
        "git stash drop",
        "ls > src/a.ts",
        "cp x src/a.ts",
        "mv x src/a.ts",
        "truncate -s 0 src/a.ts",
    ];
    let path = AgentPath::new("src/a.ts");
    let write = Action::Write { path, content: "changed\n".into() };
    commands.into_iter().map(shell).chain([("Write src/a.ts", write)]).collect()
}

type Damage = fn(&Project);

/// What is done to a repository, whether git itself still takes it for one, and what the reason must say.
const STATES: [(&str, Damage, &str); 30] = [
    ("core.bare", |p| p.git(&["config", "core.bare", "true"]), "core.bare"),
    ("core.bare in capitals", |p| p.append(".git/config", "[CORE]\n\tBARE\n"), "core.bare"),
    ("core.worktree elsewhere", |p| p.git(&["config", "core.worktree", "/tmp"]), "core.worktree"),
    ("core.worktree nowhere", |p| p.git(&["config", "core.worktree", "/no/such"]), "core.worktree"),
    ("format 99", |p| p.git(&["config", "core.repositoryformatversion", "99"]), "format"),
    ("format in words", |p| p.append(".git/config", "[core]\n\trepositoryformatversion = one\n"), "format"),
    (
        "unknown extension",
        |p| p.append(".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnope = 1\n"),
        "extension",
    ),
    (
        "unknown object format",
        |p| p.append(".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = md5\n"),
        "format",
    ),
    (
        "unknown reference format",
        |p| p.append(".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = paper\n"),
        "format",
    ),
    ("garbage config", |p| p.write(".git/config", "\u{1}[[[ no = = \n"), "configuration"),
    ("truncated config", |p| p.write(".git/config", "[core"), "configuration"),
    ("config is a folder", |p| fs::create_dir(p.replace(".git/config")).unwrap(), "configuration"),
    ("config is a pipe", |p| p.pipe(".git/config"), "configuration"),
    ("config is a device", |p| symlink("/dev/zero", p.replace(".git/config")).unwrap(), "configuration"),
    ("config is a ring", |p| symlink("config", p.replace(".git/config")).unwrap(), "configuration"),
    (
        "config is huge",
        |p| fs::File::create(p.replace(".git/config")).unwrap().set_len(300 << 20).unwrap(),
        "configuration",
    ),
    ("config includes itself", |p| p.append(".git/config", "[include]\n\tpath = config\n"), "configuration"),
    ("garbage index", |p| p.write(".git/index", "not an index, and long enough to be one"), "index"),
    (
        "truncated index",
        |p| {
            let bytes = fs::read(p.root.join(".git/index")).unwrap();
            p.write(".git/index", &bytes[..bytes.len() / 2]);
        },
        "index",
    ),
    ("index is a pipe", |p| p.pipe(".git/index"), "index"),
    ("index is a device", |p| symlink("/dev/zero", p.replace(".git/index")).unwrap(), "index"),
    ("index is a folder", |p| fs::create_dir(p.replace(".git/index")).unwrap(), "index"),
    ("index is huge", |p| fs::File::create(p.replace(".git/index")).unwrap().set_len(300 << 20).unwrap(), "index"),
    ("HEAD is a pipe", |p| p.pipe(".git/HEAD"), ".git"),
    ("HEAD is a device", |p| symlink("/dev/zero", p.replace(".git/HEAD")).unwrap(), ".git"),
    ("HEAD is garbage", |p| p.write(".git/HEAD", "what?\n"), ".git"),
    ("HEAD is gone", |p| drop(p.replace(".git/HEAD")), ".git"),
    (
        ".git leads nowhere",
        |p| {
            p.replace(".git");
            p.write(".git", "gitdir: /no/such/folder\n")
        },
        ".git",
    ),
    (
        ".git leads to itself",
        |p| {
            p.replace(".git");
            p.write(".git", "gitdir: .git\n")
        },
        ".git",
    ),
    (".git is a ring", |p| symlink(".git", p.replace(".git")).unwrap(), ".git"),
];

#[test]
fn in_a_clean_repository_no_question_is_asked() {
    let project = Project::new();
    for (name, action) in calls() {
        let (decision, reason) = project.judged(action);
        assert_eq!(decision, Decision::Pass, "{name}: {reason}");
    }
}

#[test]
fn what_cannot_be_read_is_asked_about_by_every_call_that_may_lose_work() {
    for (state, damage, word) in STATES {
        let project = Project::new();
        damage(&project);
        for (name, action) in calls() {
            let (decision, reason) = project.judged(action);
            assert_ne!(decision, Decision::Pass, "{state}: {name}");
            assert!(reason.contains(word), "{state}: {name}: {reason}");
        }
    }
}

#[test]
fn what_loses_nothing_stays_silent_there() {
    for (state, damage, _) in STATES {
        let project = Project::new();
        damage(&project);
        let shell = |command: &str| Action::Shell { command: command.into(), language: Default::default() };
        let path = || AgentPath::new("src/a.ts");
        let edit = Action::Edit { path: path(), content: "2".into(), removed: "1".into(), parts: Vec::new() };
        let write = Action::Write { path: AgentPath::new("src/new.ts"), content: "x".into() };
        let actions =
            ["ls", "git status", "cat src/a.ts", "echo x > new.txt", "echo x >> src/a.ts", "npm test"].map(shell);
        for action in actions.into_iter().chain([edit, write, Action::Read { path: path() }]) {
            let (decision, reason) = project.judged(action.clone());
            assert_eq!(decision, Decision::Pass, "{state}: {action:?}: {reason}");
        }
    }
}

#[test]
fn what_git_reads_and_this_reader_does_not_is_asked_about_only_where_work_is_discarded() {
    let project = Project::new();
    if !project.run(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]) {
        return;
    }
    project.write("src/a.ts", "changed\n");
    let shell = |command: &str| Action::Shell { command: command.into(), language: Default::default() };
    assert_eq!(project.judged(shell("rm -rf src")).0, Decision::Ask);
    assert_eq!(project.judged(shell("git reset --hard")).0, Decision::Ask);
    assert_eq!(project.judged(shell("ls > src/a.ts")).0, Decision::Pass);
}

#[test]
fn changes_that_git_was_told_to_overlook_are_seen() {
    for overlook in ["--assume-unchanged", "--skip-worktree"] {
        let project = Project::new();
        project.git(&["update-index", overlook, "src/a.ts"]);
        project.write("src/a.ts", "changed\n");
        for command in ["rm -rf src", "git checkout -- .", "git reset --hard"] {
            let action = Action::Shell { command: command.into(), language: Default::default() };
            let (decision, reason) = project.judged(action);
            assert_eq!(decision, Decision::Ask, "{overlook} {command}");
            assert!(reason.contains("src/a.ts"), "{reason}");
        }
    }
}

#[test]
fn a_change_behind_a_filter_that_is_not_run_may_be_any_change() {
    let project = Project::new();
    project.git(&["config", "filter.f.clean", "cat"]);
    project.write(".gitattributes", "*.ts filter=f\n");
    project.git(&["add", ".gitattributes"]);
    project.git(&["-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "-qm", "filter"]);
    project.write("src/a.ts", "changed and longer\n");
    let action = Action::Shell { command: "rm -rf src".into(), language: Default::default() };
    assert_eq!(project.judged(action).0, Decision::Ask);
}

#[test]
fn a_repository_in_the_project_that_cannot_be_read_is_asked_about_too() {
    let project = Project::new();
    project.write("vendor/lib/a.c", "1\n");
    project.git(&["init", "-q", "vendor/lib"]);
    project.append("vendor/lib/.git/config", "[core]\n\tbare = true\n");
    for command in ["git -C vendor/lib reset --hard", "cd vendor/lib && git checkout -- .", "rm -rf vendor/lib/a.c"] {
        let action = Action::Shell { command: command.into(), language: Default::default() };
        let (decision, reason) = project.judged(action);
        assert_eq!(decision, Decision::Ask, "{command}");
        assert!(reason.contains("core.bare"), "{command}: {reason}");
    }
}

#[test]
fn what_looks_like_a_bare_repository_hides_no_files() {
    let project = Project::new();
    project.replace(".git");
    for folder in ["objects", "refs"] {
        fs::create_dir(project.root.join(folder)).unwrap();
    }
    project.write("HEAD", "ref: refs/heads/main\n");
    for (name, action) in calls() {
        let (decision, reason) = project.judged(action);
        assert_ne!(decision, Decision::Pass, "{name}: {reason}");
    }
}

#[test]
fn ignore_rules_that_cannot_be_read_make_no_work_look_as_if_a_build_made_it() {
    let project = Project::new();
    project.write("dist/a.ts", "work\n");
    project.pipe(".gitignore");
    let action = Action::Shell { command: "rm -rf dist".into(), language: Default::default() };
    assert_eq!(project.judged(action).0, Decision::Ask);
}

/// What git itself says of the states in which it gives up: whoever reads more into them than git would be wrong.
#[test]
fn git_itself_gives_up_on_what_is_told_to_be_broken() {
    let gives_up = [
        "format 99",
        "unknown extension",
        "unknown object format",
        "unknown reference format",
        "garbage config",
        "config includes itself",
        "garbage index",
        "HEAD is garbage",
        "HEAD is gone",
        ".git leads nowhere",
        "core.worktree nowhere",
        "core.bare",
    ];
    for (state, damage, _) in STATES.iter().filter(|(state, ..)| gives_up.contains(state)) {
        let project = Project::new();
        assert!(project.run(&["status"]), "{state}");
        damage(&project);
        assert!(!project.run(&["status"]), "{state}");
    }
}
