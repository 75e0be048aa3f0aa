//! A repository that is made to hurt gives an answer or none, soon, and many questions get the answers of few.

use reflex_engine::{Action, Affected, Decision, Event, Files, Git, Names, Untracked};
use reflex_host::LocalWorld;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

struct Scratch {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Scratch {
    /// A repository with three committed files and a rule for what is ignored.
    fn new() -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let scratch = Scratch { _folder: folder, root };
        for name in ["one", "two", "folder/three", "folder/deep/four"] {
            scratch.write(name, name);
        }
        scratch.write(".gitignore", "built/\n*.log\n");
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["add", "-A"]);
        scratch.git(&["-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "-qm", "start"]);
        scratch
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&self.root).env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env_remove("XDG_CONFIG_HOME");
        assert!(git.env_remove("GIT_DIR").status().unwrap().success());
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().trim_end_matches('/').to_owned()
    }

    fn world(&self) -> LocalWorld<'_> {
        crate::world_of_nobody(&self.root)
    }

    /// What is decided about a command in this repository.
    fn decision(&self, command: &str) -> Decision {
        let event = Event {
            cwd: self.path(""),
            workspace: self.path(""),
            home: "/home/me".into(),
            actions: vec![Action::Shell { command: command.into(), language: Default::default() }],
            ..Event::default()
        };
        crate::guard_of_nobody().judge_in(&event, &self.world(), &[]).verdict.decision
    }

    /// Every answer about a path.
    fn answers(&self, world: &LocalWorld, name: &str) -> String {
        let path = self.path(name);
        let untracked =
            [Untracked::Ordinary, Untracked::Ignored, Untracked::All].map(|which| world.untracked(&path, which));
        let others = (world.is_tracked(&path), world.is_ignored(&path), world.branch(&path), world.stashes(&path));
        format!("{name}: {:?} {:?} {untracked:?} {others:?}", world.uncommitted(&path), world.unstaged(&path))
    }
}

/// Bounds are counted; this only tells a hang from an answer.
#[track_caller]
fn soon<T>(question: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = question();
    assert!(start.elapsed() < Duration::from_secs(60));
    answer
}

#[test]
fn many_questions_get_the_answers_of_few() {
    let scratch = Scratch::new();
    scratch.write("one", "changed");
    fs::remove_file(scratch.root.join("folder/three")).unwrap();
    for name in ["new", "folder/new", "fresh/a/b", "fresh/c", "built/x/y", "built/z", "a.log", "folder/deep/b.log"] {
        scratch.write(name, name);
    }
    scratch.write("staged", "x");
    scratch.git(&["add", "staged"]);
    scratch.write("inner/file", "x");
    scratch.git(&["init", "-q", "inner"]);
    fs::create_dir_all(scratch.root.join("built/empty")).unwrap();
    symlink("folder", scratch.root.join("link")).unwrap();
    let names = [
        "",
        "one",
        "two",
        "folder",
        "folder/three",
        "folder/new",
        "folder/deep",
        "folder/deep/four",
        "folder/deep/b.log",
        "new",
        "fresh",
        "fresh/a",
        "fresh/a/b",
        "fresh/c",
        "built",
        "built/x",
        "built/x/y",
        "built/z",
        "built/empty",
        "built/none",
        "a.log",
        "staged",
        "inner",
        "inner/file",
        "link",
        "link/three",
        "none",
        "fold",
        "fresh/none",
    ];
    let many = scratch.world();
    let asked_before: Vec<String> = (0..20).map(|index| format!("none-{index}")).collect();
    asked_before.iter().for_each(|name| drop(scratch.answers(&many, name)));
    for name in names {
        // A world of its own is asked for the first time.
        assert_eq!(scratch.answers(&many, name), scratch.answers(&scratch.world(), name));
    }
}

#[test]
fn an_index_that_promises_too_much_may_hide_anything() {
    for count in [500_001_u32, u32::MAX] {
        let scratch = Scratch::new();
        let mut index = fs::read(scratch.root.join(".git/index")).unwrap();
        index.splice(8..12, count.to_be_bytes());
        scratch.write(".git/index", index);
        let world = scratch.world();
        assert_eq!(soon(|| world.uncommitted(&scratch.path(""))), Affected::These(at_least_nothing()));
        assert_eq!(soon(|| world.untracked(&scratch.path(""), Untracked::All)), Affected::These(at_least_nothing()));
        assert_eq!(soon(|| scratch.decision("rm -rf folder")), Decision::Ask);
    }
    let scratch = Scratch::new();
    fs::File::create(scratch.root.join(".git/index")).unwrap().set_len(300 * 1024 * 1024).unwrap();
    assert_eq!(soon(|| scratch.world().unstaged(&scratch.path(""))), Affected::These(at_least_nothing()));
}

#[test]
fn links_in_a_ring_and_folders_in_a_files_place_are_unknown() {
    for name in ["index", "HEAD", "config", "packed-refs", "info/exclude", "refs/heads/main", "objects", "refs", "logs"]
    {
        for ring in [true, false] {
            let scratch = Scratch::new();
            let path = scratch.root.join(".git").join(name);
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if ring {
                symlink(&path, &path).unwrap()
            } else {
                fs::create_dir(&path).unwrap()
            }
            soon(|| drop(scratch.answers(&scratch.world(), "")));
            soon(|| drop(scratch.answers(&scratch.world(), "one")));
        }
    }
    let scratch = Scratch::new();
    fs::remove_dir_all(scratch.root.join(".git")).unwrap();
    symlink(".git", scratch.root.join(".git")).unwrap();
    assert_eq!(soon(|| scratch.world().branch(&scratch.path("one"))), None);
    fs::create_dir(scratch.root.join("inner")).unwrap();
    fs::remove_file(scratch.root.join(".git")).unwrap();
    scratch.write(".git", "gitdir: inner/.git\n");
    scratch.write("inner/.git", "gitdir: ../.git\n");
    assert_eq!(soon(|| scratch.world().branch(&scratch.path("one"))), None);
}

#[test]
fn what_may_not_be_read_is_named_itself() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.write("closed/file", "x");
    let closed = scratch.root.join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything is not stopped by that.
    if fs::read_dir(&closed).is_err() {
        let found = scratch.world().untracked(&scratch.path(""), Untracked::All);
        assert_eq!(found, Affected::These(Names { names: vec!["closed".into()], count: 1, more: false }));
        assert_eq!(scratch.decision("rm -rf closed"), Decision::Ask);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn of_a_folder_of_more_files_than_are_listed_it_is_known_that_it_holds_at_least_so_many() {
    let scratch = Scratch::new();
    let many = scratch.root.join("many");
    fs::create_dir(&many).unwrap();
    fs::write(many.join("first"), "").unwrap();
    make_links(&many, 200_001);
    let world = scratch.world();
    let found = soon(|| world.untracked(&scratch.path("many"), Untracked::Ordinary)).known().unwrap();
    assert!(found.more && found.count >= 100_000, "{}", found.count);
    assert_eq!(soon(|| scratch.decision("rm -rf many")), Decision::Ask);
    // One of its files is found without listing the others.
    let one = soon(|| world.untracked(&scratch.path("many/7"), Untracked::Ordinary));
    assert_eq!(one.known().map(|names| (names.count, names.more)), Some((1, false)));
    assert_eq!(soon(|| world.untracked(&scratch.path("many/none"), Untracked::All)), Affected::Nothing);
    assert_eq!(soon(|| world.expand(&scratch.path("many/*"))), Affected::Unknown);
    // What is known without listing it stays known.
    assert_eq!(soon(|| world.uncommitted(&scratch.path("one"))), Affected::Nothing);
}

fn at_least_nothing() -> Names {
    Names { more: true, ..Names::default() }
}

/// Names are what counts, and links are the cheapest.
fn make_links(folder: &Path, count: usize) {
    (0..count).for_each(|index| symlink("first", folder.join(format!("{index}"))).unwrap());
}
