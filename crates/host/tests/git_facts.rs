//! Every fact about a generated repository is compared with git's own answer.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set up fails"
)]

use reflex_host::git::*;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ALL: usize = 1000;

struct Scratch {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Scratch {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("repository");
        fs::create_dir(&root).unwrap();
        Scratch { _folder: folder, root }
    }

    fn new() -> Self {
        let scratch = Self::empty();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    /// Some files and one commit, old enough that nothing is racy.
    fn with_commit() -> Self {
        let scratch = Self::new();
        for (name, content) in [("one", "1\n"), ("two", "2\n"), ("folder/three", "3\n"), ("folder/inner/four", "4\n")] {
            scratch.write(name, content);
        }
        scratch.commit("first");
        scratch
    }

    fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_bytes(&self.root, arguments)).unwrap()
    }

    fn git_bytes(&self, folder: &Path, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(folder, arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        output.stdout
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(folder).env("GIT_OPTIONAL_LOCKS", "0");
        for person in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{person}_NAME"), "a").env(format!("GIT_{person}_EMAIL"), "a@b");
        }
        command.args(["-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"]).args(arguments);
        command
    }

    /// What git prints when it reads `input`.
    fn answer(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = self.command(folder, arguments);
        let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        git.stdin.take().unwrap().write_all(input).unwrap();
        git.wait_with_output().unwrap().stdout
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn facts(&self) -> Repository {
        Repository::discover(&self.root).expect("a repository")
    }

    fn count(&self, arguments: &[&str]) -> usize {
        self.git(&[&["rev-list", "--count"], arguments].concat()).trim().parse().unwrap()
    }

    /// Compares every question about files with git's answer.
    fn agrees(&self) {
        self.agrees_below(&self.root, &[]);
    }

    fn agrees_below(&self, root: &Path, scope: &[&str]) {
        let facts = Repository::discover(root).unwrap();
        let paths: Vec<PathBuf> = scope.iter().map(PathBuf::from).collect();
        let limit = ALL;
        let (staged, unstaged) = self.status(root, scope);
        let both: Vec<PathBuf> = staged.union(&unstaged).cloned().collect();
        assert_eq!(names(facts.unstaged(&paths, limit)), unstaged.into_iter().collect::<Vec<_>>(), "unstaged");
        assert_eq!(names(facts.uncommitted(&paths, limit)), both, "uncommitted");
        for (ignored, options) in [
            (Ignored::Without, &["--exclude-standard"][..]),
            (Ignored::With, &[]),
            (Ignored::Only, &["--exclude-standard", "--ignored"]),
        ] {
            let listed = [&["ls-files", "-z", "--others"], options, &["--"], scope].concat();
            let ours = names(facts.untracked(&paths, ignored, limit));
            // A folder that is ignored as a whole is one name to us: git's names below it are folded into it.
            let fold = |name: PathBuf| {
                name.ancestors().find(|above| ours.iter().any(|own| own == above)).map_or(name.clone(), Path::to_owned)
            };
            let expected: BTreeSet<PathBuf> = split(&self.git_bytes(root, &listed)).into_iter().map(fold).collect();
            assert_eq!(ours, expected.into_iter().collect::<Vec<_>>(), "{ignored:?}");
        }
    }

    fn status(&self, root: &Path, scope: &[&str]) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
        let options = ["status", "--porcelain", "-z", "--no-renames", "-uno", "--ignore-submodules=dirty", "--"];
        let output = self.git_bytes(root, &[&options, scope].concat());
        let (mut staged, mut unstaged) = (BTreeSet::new(), BTreeSet::new());
        for line in output.split(|byte| *byte == 0).filter(|line| line.len() > 3) {
            let path = PathBuf::from(OsStr::from_bytes(&line[3..]));
            if line[0] != b' ' {
                staged.insert(path.clone());
            }
            if line[1] != b' ' {
                unstaged.insert(path);
            }
        }
        (staged, unstaged)
    }

    /// `git status` takes a new size for a change; `git diff` converts line ends and looks.
    fn differing_content(&self, scope: &[&str]) -> Vec<PathBuf> {
        let arguments = [&["diff", "--name-only", "-z", "--"], scope].concat();
        split(&self.git_bytes(&self.root, &arguments)).into_iter().collect()
    }

    fn agrees_on_ignoring(&self, path: &str) {
        let status = self.command(&self.root, &["check-ignore", "-q", "--", path]).status().unwrap();
        let expected = status.code().unwrap() == 0;
        assert_eq!(self.facts().is_ignored(Path::new(path)), Ok(expected), "{path}");
    }
}

fn names(fact: Fact<Names>) -> Vec<PathBuf> {
    let names = fact.expect("a known fact");
    assert!(names.complete && names.count == names.names.len());
    names.names
}

/// What is damaged or too large to be looked at may hide anything.
fn at_least_nothing() -> Fact<Names> {
    Ok(Names { names: Vec::new(), count: 0, complete: false })
}

fn split(output: &[u8]) -> BTreeSet<PathBuf> {
    let lines = output.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    lines.map(|line| PathBuf::from(OsStr::from_bytes(line.strip_suffix(b"/").unwrap_or(line)))).collect()
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn clean_modified_staged_deleted_renamed() {
    let scratch = Scratch::with_commit();
    scratch.agrees();
    scratch.write("one", "changed and longer\n");
    scratch.write("new staged", "x");
    scratch.git(&["add", "new staged"]);
    scratch.git(&["mv", "two", "renamed"]);
    scratch.write("untracked/deep/file", "x");
    scratch.agrees();
    fs::remove_file(scratch.root.join("folder/three")).unwrap();
    scratch.git(&["rm", "-q", "--cached", "folder/inner/four"]);
    scratch.agrees();
    for scope in [&["folder"][..], &["one", "untracked"], &["folder/inner"], &["untracked/deep/file"]] {
        scratch.agrees_below(&scratch.root, scope);
    }
    scratch.write("one", "staged too\n");
    scratch.git(&["add", "one"]);
    scratch.write("one", "1\n");
    scratch.agrees();
}

#[test]
fn limits_cut_names_but_not_the_count() {
    let scratch = Scratch::with_commit();
    scratch.write("one", "x");
    scratch.write("two", "x");
    let found = scratch.facts().unstaged(&[], 1).unwrap();
    assert_eq!(found, Names { names: vec!["one".into()], count: 2, complete: true });
}

#[test]
fn kinds_and_modes() {
    let scratch = Scratch::new();
    for name in ["plain", "to link", "to folder", "to pipe", "script", "gone/below/file"] {
        scratch.write(name, name);
    }
    symlink("plain", scratch.root.join("link")).unwrap();
    symlink("plain", scratch.root.join("link to file")).unwrap();
    scratch.commit("first");
    scratch.agrees();
    let path = |name: &str| scratch.root.join(name);
    for name in ["link", "to link", "to folder", "to pipe", "link to file"] {
        fs::remove_file(path(name)).unwrap();
    }
    symlink("elsewhere", path("link")).unwrap();
    symlink("plain", path("to link")).unwrap();
    fs::create_dir(path("to folder")).unwrap();
    make_pipe(&path("to pipe"));
    fs::write(path("link to file"), "plain").unwrap();
    fs::set_permissions(path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    scratch.agrees();
    scratch.git(&["config", "core.fileMode", "false"]);
    scratch.agrees();
}

#[test]
fn a_folder_replaced_by_a_link_hides_its_files() {
    let scratch = Scratch::with_commit();
    let outside = scratch.root.parent().unwrap().join("outside");
    fs::rename(scratch.root.join("folder"), &outside).unwrap();
    symlink(&outside, scratch.root.join("folder")).unwrap();
    scratch.write("../outside/secret", "x");
    scratch.agrees();
    assert!(scratch.facts().is_ignored(Path::new("folder/secret")).is_err());
}

#[test]
fn racy_edits_of_the_same_size() {
    for round in 0..40 {
        let scratch = Scratch::new();
        scratch.write("file", "old content");
        scratch.git(&["add", "file"]);
        scratch.write("file", "new content");
        let found = names(scratch.facts().unstaged(&[], ALL));
        assert_eq!(found, [PathBuf::from("file")], "round {round}");
        scratch.agrees();
    }
}

#[test]
fn touched_files_are_still_clean() {
    let scratch = Scratch::with_commit();
    scratch.write("one", "1\n");
    fs::File::options()
        .write(true)
        .open(scratch.root.join("two"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    scratch.agrees();
    assert!(names(scratch.facts().uncommitted(&[], ALL)).is_empty());
}

#[test]
fn ignore_rules() {
    let scratch = Scratch::with_commit();
    scratch
        .write(".gitignore", "*.log\nbuild/\n/top\nfolder/**/deep\n!important.log\ntrailing\\ \n#comment\n\\#hash\n");
    scratch.write("folder/.gitignore", "!kept.log\n/here\nname\n*.tmp\n");
    scratch.write("build/.gitignore", "!*\n");
    scratch.write(".git/info/exclude", "excluded\n");
    let paths = [
        "a.log",
        "important.log",
        "folder/kept.log",
        "folder/a.log",
        "build/x",
        "build/important.log",
        "top",
        "folder/top",
        "folder/a/b/deep/file",
        "folder/deep",
        "folder/here",
        "folder/inner/here",
        "folder/inner/name",
        "trailing ",
        "#comment",
        "#hash",
        "excluded",
        "folder/excluded/x",
        "plain",
        "x.tmp",
        "folder/x.tmp",
    ];
    for path in paths {
        scratch.write(path, "x");
    }
    scratch.write("folder/build", "a file, not a folder");
    scratch.agrees();
    for path in
        paths.into_iter().chain(["build", "build/", "missing.log", "folder/build", "folder/build/", "one", "folder"])
    {
        scratch.agrees_on_ignoring(path);
    }
    scratch.git(&["add", "-f", "a.log", "build/x"]);
    scratch.agrees();
    for path in ["a.log", "build/x", "build", "build/important.log"] {
        scratch.agrees_on_ignoring(path);
    }
    scratch.git(&["config", "core.excludesFile", "../mine"]);
    scratch.write("../mine", "plain\n");
    scratch.agrees();
    scratch.agrees_on_ignoring("plain");
}

#[test]
fn untracked_kinds() {
    let scratch = Scratch::with_commit();
    symlink("/", scratch.root.join("root")).unwrap();
    symlink("nowhere", scratch.root.join("folder/broken")).unwrap();
    make_pipe(&scratch.root.join("pipe"));
    fs::create_dir_all(scratch.root.join("empty/inner")).unwrap();
    scratch.git(&["init", "-q", "nested"]);
    scratch.write("nested/file", "x");
    scratch.write(OsStr::from_bytes(b"bytes").to_str().unwrap(), "x");
    fs::write(scratch.root.join(OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    scratch.agrees();
}

#[test]
fn tracked_paths() {
    let scratch = Scratch::with_commit();
    let facts = scratch.facts();
    for (path, expected) in [
        ("one", true),
        ("folder", true),
        ("folder/", true),
        ("folder/inner/four", true),
        (".", true),
        ("fold", false),
        ("folder/inner/fou", false),
        ("one/below", false),
        ("folder/../one", true),
    ] {
        assert_eq!(facts.is_tracked(Path::new(path)), Ok(expected), "{path}");
        assert_eq!(facts.is_tracked(&scratch.root.join(path)), Ok(expected), "{path}");
    }
    assert!(facts.is_tracked(Path::new("../outside")).is_err());
    assert!(facts.is_tracked(Path::new("/etc/passwd")).is_err());
    let link = scratch.root.parent().unwrap().join("link");
    symlink(&scratch.root, &link).unwrap();
    assert_eq!(facts.is_tracked(&link.join("one")), Ok(true));
}

#[test]
fn work_trees() {
    let scratch = Scratch::with_commit();
    let other = scratch.root.parent().unwrap().join("other");
    scratch.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    fs::write(other.join("one"), "changed\n").unwrap();
    fs::write(other.join("fresh"), "x").unwrap();
    scratch.agrees_below(&other, &[]);
    scratch.agrees();
    let facts = Repository::discover(&other.join("folder/not/there")).unwrap();
    assert_eq!(facts.work_tree(), Some(other.as_path()));
    assert_eq!(facts.git_dir(), scratch.root.join(".git/worktrees/other"));
    assert_eq!(facts.common_dir(), scratch.root.join(".git"));
    assert_eq!(facts.branch(), Ok(Some("side".into())));
    assert_eq!(scratch.facts().branch(), Ok(Some("main".into())));
}

#[test]
fn submodules() {
    let scratch = Scratch::with_commit();
    let library = Scratch::with_commit();
    scratch.git(&["submodule", "--quiet", "add", library.root.to_str().unwrap(), "library"]);
    scratch.agrees();
    scratch.commit("submodule");
    scratch.agrees();
    let inside = scratch.root.join("library");
    let facts = Repository::discover(&inside.join("folder")).unwrap();
    assert_eq!(facts.work_tree(), Some(inside.as_path()));
    assert_eq!(facts.git_dir(), scratch.root.join(".git/modules/library"));
    fs::write(inside.join("one"), "changed\n").unwrap();
    fs::write(inside.join("fresh"), "changed\n").unwrap();
    scratch.agrees();
    scratch.agrees_below(&inside, &[]);
    scratch.git_bytes(&inside, &["commit", "-q", "-am", "moved"]);
    scratch.agrees();
    scratch.git(&["submodule", "--quiet", "deinit", "-f", "library"]);
    scratch.agrees();
    fs::remove_dir(&inside).unwrap();
    scratch.agrees();
}

#[test]
fn bare_inside_git_folder_and_nothing() {
    let scratch = Scratch::with_commit();
    scratch.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = scratch.root.parent().unwrap().join("bare.git");
    let facts = Repository::discover(&bare.join("objects")).unwrap();
    assert_eq!((facts.work_tree(), facts.git_dir()), (None, bare.as_path()));
    assert_eq!(facts.branch(), Ok(Some("main".into())));
    assert!(facts.unstaged(&[], ALL).is_err());
    assert_eq!(Repository::discover(&scratch.root.join(".git/refs")).unwrap().work_tree(), None);
    assert!(Repository::discover(scratch.root.parent().unwrap()).is_none());
}

#[test]
fn heads() {
    let scratch = Scratch::new();
    assert_eq!(scratch.facts().branch(), Ok(Some("main".into())));
    scratch.write("file", "x");
    scratch.agrees();
    scratch.git(&["add", "file"]);
    scratch.agrees();
    scratch.commit("first");
    scratch.git(&["checkout", "-q", "-b", "team/feature"]);
    assert_eq!(scratch.facts().branch(), Ok(Some("team/feature".into())));
    scratch.git(&["pack-refs", "--all"]);
    assert_eq!(scratch.facts().branch(), Ok(Some("team/feature".into())));
    scratch.agrees();
    scratch.git(&["checkout", "-q", "--detach"]);
    assert_eq!(scratch.facts().branch(), Ok(None));
    scratch.write("file", "y");
    scratch.agrees();
}

#[test]
fn commits_only_on_a_branch() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    for message in ["a", "b", "c"] {
        scratch.commit(message);
    }
    scratch.git(&["checkout", "-q", "-b", "merged"]);
    scratch.commit("d");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit("e");
    let others = |branch: &str| {
        let exclude = format!("--exclude={branch}");
        let others = ["--not", &exclude, "--branches", "--remotes", "--tags", "HEAD"];
        scratch.count(&[&[branch], &others[..]].concat())
    };
    let check = |branch: &str| assert_eq!(scratch.facts().only_on(branch), Ok(others(branch)), "{branch}");
    check("topic");
    check("merged");
    scratch.git(&["merge", "-q", "--no-ff", "-m", "merge", "merged~1"]);
    check("merged");
    scratch.git(&["checkout", "-q", "--detach", "merged"]);
    check("merged");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.git(&["gc", "-q"]);
    check("merged");
    assert_eq!(scratch.facts().only_on("merged"), Ok(1));
    scratch.git(&["tag", "-a", "-m", "tag", "kept", "merged"]);
    check("merged");
    scratch.git(&["pack-refs", "--all"]);
    check("merged");
    assert!(scratch.facts().only_on("missing").is_err());
    assert!(scratch.facts().only_on("../../HEAD").is_err());
}

#[test]
fn histories_with_wrong_clocks() {
    let scratch = Scratch::with_commit();
    let dated = |message: &str, date: &str| {
        let mut command = scratch.command(&scratch.root, &["commit", "-q", "--allow-empty", "-m", message]);
        assert!(command.env("GIT_COMMITTER_DATE", date).status().unwrap().success());
    };
    for (branch, dates) in
        [("early", ["2001-01-01T00:00", "2030-01-01T00:00"]), ("late", ["2035-01-01T00:00", "1990-01-01T00:00"])]
    {
        scratch.git(&["checkout", "-q", "-b", branch, "main"]);
        dates.iter().for_each(|date| dated(&format!("{branch} {date}"), date));
    }
    scratch.git(&["merge", "-q", "--no-ff", "-m", "merge", "early"]);
    dated("last", "1980-01-01T00:00");
    scratch.git(&["checkout", "-q", "main"]);
    assert_eq!(scratch.facts().only_on("early"), Ok(0));
    assert_eq!(scratch.facts().only_on("late"), Ok(scratch.count(&["late", "--not", "main", "early"])));
}

#[test]
fn upstreams() {
    let scratch = Scratch::with_commit();
    let copy = scratch.root.parent().unwrap().join("copy");
    scratch.git(&["branch", "other"]);
    scratch.git(&["clone", "-q", ".", copy.to_str().unwrap()]);
    let git = |arguments: &[&str]| scratch.git_bytes(&copy, arguments);
    let facts = || Repository::discover(&copy).unwrap();
    assert_eq!(facts().default_branch("origin"), Some("main".into()));
    assert_eq!(facts().default_branch("../../x"), None);
    assert_eq!(facts().upstream("main"), Ok(Some("origin/main".into())));
    assert_eq!(facts().unpushed("main"), Ok(0));
    git(&["commit", "-q", "--allow-empty", "-m", "local"]);
    assert_eq!(facts().unpushed("main"), Ok(1));
    git(&["checkout", "-q", "-b", "other", "--no-track"]);
    git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    assert_eq!(facts().upstream("other"), Ok(Some("origin/other".into())));
    git(&["checkout", "-q", "-b", "unknown"]);
    assert_eq!((facts().upstream("unknown"), facts().unpushed("unknown")), (Ok(None), Ok(2)));
    git(&["branch", "-q", "--set-upstream-to=main"]);
    assert_eq!((facts().upstream("unknown"), facts().unpushed("unknown")), (Ok(Some("main".into())), Ok(1)));
    git(&["pack-refs", "--all"]);
    git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    assert_eq!(facts().upstream("main"), Ok(None));
}

#[test]
fn shallow_clones() {
    let scratch = Scratch::with_commit();
    (0..5).for_each(|number| scratch.commit(&number.to_string()));
    let copy = scratch.root.parent().unwrap().join("shallow");
    let address = format!("file://{}", scratch.root.display());
    scratch.git(&["clone", "-q", "--depth=2", &address, copy.to_str().unwrap()]);
    scratch.git_bytes(&copy, &["checkout", "-q", "-b", "mine"]);
    scratch.git_bytes(&copy, &["commit", "-q", "--allow-empty", "-m", "local"]);
    scratch.git_bytes(&copy, &["checkout", "-q", "main"]);
    assert_eq!(Repository::discover(&copy).unwrap().only_on("mine"), Ok(1));
    scratch.agrees_below(&copy, &[]);
}

#[test]
fn stashes() {
    let scratch = Scratch::with_commit();
    assert_eq!(scratch.facts().stash_entries(), Ok(Vec::new()));
    for number in 0..23 {
        scratch.write("one", format!("{number} changed\n"));
        scratch.git(&["stash", "push", "-q", "-m", &format!("work {number}")]);
    }
    let listed = scratch.git(&["stash", "list", "--format=%gs"]);
    let expected: Vec<String> = listed.lines().take(20).map(str::to_owned).collect();
    assert_eq!(scratch.facts().stash_entries(), Ok(expected));
    scratch.agrees();
}

#[test]
fn line_ends() {
    let scratch = Scratch::new();
    scratch.write("unix", "a\nb\n");
    scratch.write("dos", "a\r\nb\r\n");
    scratch.write("binary", b"a\r\n\0b\r\n");
    scratch.write("lone", "a\rb\r\n");
    scratch.commit("first");
    for (setting, attributes) in [
        ("true", ""),
        ("input", ""),
        ("false", ""),
        ("false", "* text=auto\n"),
        ("false", "* text\n"),
        ("true", "* -text\n"),
        ("false", "* eol=crlf\n"),
        ("true", "* binary\n"),
        ("false", "*ary text\nun* -crlf\n"),
    ] {
        scratch.git(&["config", "core.autocrlf", setting]);
        scratch.write(".gitattributes", attributes);
        scratch.write("unix", "a\r\nb\r\n");
        scratch.write("binary", b"a\n\0b\n");
        scratch.write("lone", "a\rb\n");
        let dirty = names(scratch.facts().unstaged(&["unix".into(), "binary".into(), "lone".into()], ALL));
        assert_eq!(dirty, scratch.differing_content(&["unix", "binary", "lone"]), "{setting} {attributes}");
    }
}

#[test]
fn conversions_done_elsewhere_are_unknown() {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "filter.f.clean", "cat"]);
    scratch.write(".gitattributes", "one filter=f\ntwo ident\nfolder/three working-tree-encoding=UTF-16\n");
    scratch.git(&["add", ".gitattributes"]);
    scratch.git(&["commit", "-q", "-m", "attributes"]);
    for name in ["one", "two", "folder/three"] {
        scratch.write(name, "other");
        assert!(scratch.facts().unstaged(&[name.into()], ALL).is_err(), "{name}");
    }
    scratch.write("folder/inner/four", "certain");
    let found = scratch.facts().uncommitted(&[], ALL).unwrap();
    assert_eq!((found.count, found.complete), (1, false));
    scratch.git(&["config", "--unset", "filter.f.clean"]);
    assert_eq!(names(scratch.facts().unstaged(&["one".into()], ALL)), [PathBuf::from("one")]);
}

#[test]
fn flags_on_index_entries() {
    let scratch = Scratch::with_commit();
    scratch.write("intended", "x");
    scratch.git(&["add", "-N", "intended"]);
    scratch.agrees();
    scratch.git(&["update-index", "--assume-unchanged", "one"]);
    scratch.git(&["update-index", "--skip-worktree", "two", "folder/three"]);
    scratch.write("one", "hidden change");
    scratch.write("two", "hidden change");
    fs::remove_file(scratch.root.join("folder/three")).unwrap();
    // Git does not show these, yet a checkout or reset overwrites them.
    let found = names(scratch.facts().unstaged(&[], ALL));
    assert_eq!(found, ["intended", "one", "two"].map(PathBuf::from));
}

#[test]
fn conflicts() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("one", "side\n");
    scratch.commit("side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("one", "main\n");
    scratch.commit("main");
    assert!(!scratch.command(&scratch.root, &["merge", "-q", "side"]).output().unwrap().status.success());
    scratch.agrees();
    assert_eq!(scratch.facts().is_tracked(Path::new("one")), Ok(true));
}

#[test]
fn index_formats() {
    let scratch = Scratch::with_commit();
    for version in ["4", "3", "2"] {
        scratch.git(&["update-index", "--index-version", version]);
        scratch.write("one", version);
        scratch.agrees();
    }
    scratch.git(&["update-index", "--split-index"]);
    scratch.write("added", "x");
    scratch.git(&["add", "added"]);
    scratch.git(&["rm", "-qf", "two"]);
    scratch.agrees();
    scratch.git(&["update-index", "--no-split-index", "--untracked-cache", "--fsmonitor"]);
    scratch.agrees();
    scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "other"]);
    assert!(scratch.facts().unstaged(&[], ALL).is_err());
}

#[test]
fn other_formats_are_supported_or_unknown() {
    let scratch = Scratch::empty();
    scratch.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    scratch.write("one", "x");
    scratch.commit("first");
    scratch.write("one", "y");
    scratch.agrees();
    assert_eq!(scratch.facts().only_on("main"), Ok(1));
    let scratch = Scratch::empty();
    scratch.git(&["init", "-q", "-b", "main", "--ref-format=reftable"]);
    assert!(scratch.facts().branch().is_err());
    let scratch = Scratch::with_commit();
    scratch.write(".git/index", "DIRC nonsense");
    assert_eq!(scratch.facts().unstaged(&[], ALL), at_least_nothing());
    scratch.write(".git/config", "[core\n");
    assert!(scratch.facts().branch().is_err());
}

#[test]
fn included_configuration() {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "include.path", "../included"]);
    scratch.git(&["config", "remote.origin.url", "https://example.org/x"]);
    scratch.write("included", "[includeIf \"gitdir:repository/\"]\npath = directory\n[includeIf \"onbranch:ma*\"]\npath=branch\n[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\npath=url\n[includeIf \"onbranch:other\"]\npath=unused\n");
    scratch.write("directory", "[core]\nexcludesFile = rules\n");
    scratch.write("branch", "[core]\nfileMode = false\n");
    scratch.write("url", "[core]\nautocrlf = true\n");
    scratch.write("unused", "[core]\nexcludesFile = nothing\n");
    scratch.write("rules", "*.tmp\n");
    scratch.write("a.tmp", "x");
    scratch.write("one", "1\r\n");
    fs::set_permissions(scratch.root.join("two"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(scratch.facts().unstaged(&[], ALL)), scratch.differing_content(&[]));
    assert!(scratch.differing_content(&[]).is_empty());
    scratch.agrees_on_ignoring("a.tmp");
}

#[test]
fn pipes_in_the_git_folder_are_never_opened() {
    for name in ["index", "HEAD", "config", "packed-refs", "info/exclude", "refs/heads/pipe", "objects/pack/pack-1.idx"]
    {
        let scratch = Scratch::with_commit();
        scratch.write("new", "x");
        scratch.git(&["add", "new"]);
        let path = scratch.root.join(".git").join(name);
        let _ = fs::remove_file(&path);
        make_pipe(&path);
        let Some(facts) = Repository::discover(&scratch.root) else { continue };
        let _ = (facts.branch(), facts.uncommitted(&[], 1), facts.untracked(&[], Ignored::With, 1));
        let _ = (facts.only_on("main"), facts.unpushed("main"), facts.stash_entries());
        let _ = (facts.is_ignored(Path::new("x")), facts.is_tracked(Path::new("one")));
    }
}

#[test]
fn nothing_configured_is_ever_run() {
    let scratch = Scratch::with_commit();
    let marker = scratch.root.parent().unwrap().join("marker");
    let script = scratch.root.parent().unwrap().join("script");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = script.to_str().unwrap();
    for key in [
        "filter.f.clean",
        "filter.f.smudge",
        "filter.f.process",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "diff.f.textconv",
        "diff.f.command",
        "credential.helper",
        "core.alternateRefsCommand",
        "gpg.program",
        "core.gitProxy",
        "uploadpack.packObjectsHook",
        "merge.f.driver",
    ] {
        scratch.git(&["config", key, run]);
    }
    scratch.git(&["config", "core.hooksPath", "hooks"]);
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"] {
        scratch.write(&format!("hooks/{hook}"), fs::read(&script).unwrap());
        fs::set_permissions(scratch.root.join("hooks").join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scratch.write(".gitattributes", "* filter=f diff=f merge=f\n");
    for name in ["one", "two", "folder/three"] {
        scratch.write(name, "changed");
    }
    let facts = scratch.facts();
    let _ = (facts.branch(), facts.uncommitted(&[], 9), facts.unstaged(&[], 9), facts.stash_entries());
    let _ = (facts.untracked(&[], Ignored::With, 9), facts.untracked(&[], Ignored::Only, 9));
    let _ = (facts.is_ignored(Path::new("x")), facts.is_tracked(Path::new("one")), facts.default_branch("origin"));
    let _ = (facts.only_on("main"), facts.unpushed("main"), facts.upstream("main"));
    assert!(!marker.exists());
    scratch.command(&scratch.root, &["status"]).output().unwrap();
    assert!(marker.exists(), "git itself would have run it");
}

#[test]
fn patterns_that_would_take_for_ever_are_unknown() {
    let scratch = Scratch::with_commit();
    scratch.write(".gitignore", format!("{}b\n", "**/".repeat(30)));
    assert!(scratch.facts().is_ignored(Path::new(&["a"; 60].join("/"))).is_err());
    scratch.write(".gitignore", format!("{}b\n", "**/".repeat(6)));
    assert!(scratch.facts().is_ignored(Path::new(&["a"; 60].join("/"))).is_err());
    scratch.write(".gitignore", "**/a/**/b\n");
    scratch.agrees_on_ignoring("x/y/a/z/b");
}

#[test]
fn an_index_nested_without_end_may_hide_anything() {
    let scratch = Scratch::with_commit();
    let index = fs::read(scratch.root.join(".git/index")).unwrap();
    let start = index.windows(4).position(|bytes| bytes == b"TREE").unwrap();
    let nested = [&b"\0-1 1\n"[..], &b"a\0-1 1\n".repeat(400_000)].concat();
    let length = u32::try_from(nested.len()).unwrap().to_be_bytes();
    scratch.write(".git/index", [&index[..start], b"TREE", &length, &nested, &[0; 20]].concat());
    assert_eq!(scratch.facts().unstaged(&[], ALL), at_least_nothing());
}

#[test]
fn scopes_elsewhere_are_unknown_rather_than_clean() {
    let scratch = Scratch::with_commit();
    scratch.git(&["init", "-q", "nested"]);
    scratch.write("nested/file", "x");
    symlink("folder", scratch.root.join("link")).unwrap();
    for scope in ["nested/file", "link/three", ".git/config", "../x"] {
        let scope = [PathBuf::from(scope)];
        assert!(scratch.facts().untracked(&scope, Ignored::With, ALL).is_err());
        assert!(scratch.facts().uncommitted(&scope, ALL).is_err());
    }
    assert_eq!(names(scratch.facts().untracked(&["link".into()], Ignored::With, ALL)), [PathBuf::from("link")]);
    scratch.agrees_below(&scratch.root, &["nested"]);
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// What was compared, and how often a fact was not known.
#[derive(Default)]
struct Tally {
    asked: usize,
    unknown: usize,
    differ: Vec<String>,
}

impl Tally {
    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, about: &str, ours: Fact<T>, gits: T) {
        self.asked += 1;
        match ours {
            Err(_) => self.unknown += 1,
            Ok(ours) if ours == gits => {}
            Ok(ours) => self.differ.push(format!("{about}: {ours:?}, but git says {gits:?}")),
        }
    }
}

const NAMES: [&str; 14] = [
    "one",
    "two.txt",
    "three.rs",
    "a/one",
    "a/b/two",
    "a/b/c.log",
    "src/x.rs",
    "src/deep/y.rs",
    "build/out.o",
    "mit blank",
    "ünicode",
    "docs/[odd].md",
    "windows.bat",
    "src/.hidden",
];
const TEXTS: [&str; 6] = ["", "1\n", "two\nlines\n", "dos\r\nlines\r\n", "no end", "a\tb\n\n"];
const IGNORES: [&str; 6] =
    ["*.log\n", "build/\n!build/keep\n", "/one\n", "a/**/two\n", "*.o\n!out.o\n", "docs/\\[odd\\].md\n"];
const ATTRIBUTES: [&str; 5] = ["* text=auto\n", "*.bat eol=crlf\n", "*.rs text\n", "* -text\n", "*.txt binary\n"];

/// One step of somebody's work; what git refuses is no step.
fn work(scratch: &Scratch, chance: &mut Chance) {
    let name = chance.one(&NAMES);
    let path = scratch.root.join(name);
    let git = |arguments: &[&str]| drop(scratch.command(&scratch.root, arguments).output());
    match chance.below(22) {
        0..=3 => scratch.write(name, chance.one(&TEXTS)),
        4 | 5 => drop(fs::remove_file(&path)),
        6 | 7 => git(&["add", "-A"]),
        8 | 9 => git(&["commit", "-q", "-am", "work"]),
        10 => git(&["mv", name, "moved"]),
        11 => git(&["rm", "-q", "--cached", name]),
        12 => scratch.write(chance.one(&[".gitignore", "a/.gitignore", ".git/info/exclude"]), chance.one(&IGNORES)),
        13 => scratch.write(chance.one(&[".gitattributes", "src/.gitattributes"]), chance.one(&ATTRIBUTES)),
        14 => git(&["config", "core.autocrlf", chance.one(&["true", "input", "false"])]),
        15 => git(&["stash", "-q"]),
        16 => git(&["pack-refs", "--all"]),
        17 => git(&["checkout", "-q", "-b", chance.one(&["topic", "team/x"])]),
        18 => git(&["checkout", "-q", "--detach"]),
        19 => git(&["update-index", "--index-version", chance.one(&["2", "3", "4"])]),
        20 => drop(fs::set_permissions(
            &path,
            fs::Permissions::from_mode(if chance.below(2) == 0 { 0o755 } else { 0o644 }),
        )),
        _ => {
            let excludes = scratch.root.parent().unwrap().join("excludes");
            fs::write(&excludes, chance.one(&IGNORES)).unwrap();
            git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
        }
    }
}

/// Shapes that a whole repository has, the others by chance.
fn shape(scratch: &Scratch, seed: usize) {
    let git = |arguments: &[&str]| drop(scratch.command(&scratch.root, arguments).output());
    match seed % 10 {
        0 => git(&["worktree", "add", "-q", "-b", "side", "../side"]),
        1 => git(&["submodule", "--quiet", "add", "../library", "library"]),
        2 => git(&["sparse-checkout", "set", "--no-cone", "/src/", "/a/"]),
        3 => git(&["gc", "-q"]),
        4 => git(&["update-index", "--split-index"]),
        _ => {}
    }
}

fn compare(scratch: &Scratch, root: &Path, tally: &mut Tally, about: &str) {
    let facts = Repository::discover(root).unwrap();
    let listed =
        |arguments: &[&str]| -> Vec<PathBuf> { split(&scratch.git_bytes(root, arguments)).into_iter().collect() };
    let plain = |fact: Fact<Names>| match fact {
        Ok(names) if names.complete => Ok(names.names),
        Ok(_) => Err(Unknown("not all is known")),
        Err(unknown) => Err(unknown),
    };
    let unstaged = listed(&["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty"]);
    tally.compare(&format!("{about} unstaged"), plain(facts.unstaged(&[], ALL)), unstaged.clone());
    let born = scratch.command(root, &["rev-parse", "-q", "--verify", "HEAD"]).output().unwrap().status.success();
    let staged = if born {
        listed(&["diff", "--cached", "--name-only", "-z", "--no-renames"])
    } else {
        listed(&["ls-files", "-z"])
    };
    let both: BTreeSet<PathBuf> = unstaged.into_iter().chain(staged).collect();
    tally.compare(&format!("{about} uncommitted"), plain(facts.uncommitted(&[], ALL)), both.into_iter().collect());
    let untracked = listed(&["ls-files", "-z", "--others", "--exclude-standard"]);
    tally.compare(&format!("{about} untracked"), plain(facts.untracked(&[], Ignored::Without, ALL)), untracked);
    let branch = scratch.command(root, &["symbolic-ref", "-q", "--short", "HEAD"]).output().unwrap();
    let branch = branch.status.success().then(|| String::from_utf8(branch.stdout).unwrap().trim().to_owned());
    tally.compare(&format!("{about} branch"), facts.branch(), branch);
    let stashes = scratch.git_bytes(root, &["stash", "list"]).split(|byte| *byte == b'\n').count() - 1;
    tally.compare(&format!("{about} stashes"), facts.stash_entries().map(|entries| entries.len()), stashes);
    let index = listed(&["ls-files", "-z"]);
    let asked = NAMES.join("\0");
    let ignored = split(&scratch.answer(root, &["check-ignore", "-z", "--stdin"], asked.as_bytes()));
    for name in NAMES {
        let tracked = index.iter().any(|file| file.starts_with(name));
        tally.compare(&format!("{about} tracked {name}"), facts.is_tracked(Path::new(name)), tracked);
        tally.compare(
            &format!("{about} ignored {name}"),
            facts.is_ignored(Path::new(name)),
            ignored.contains(Path::new(name)),
        );
    }
    for word in ["topic", "one", "HEAD", "v1"] {
        let revision =
            scratch.command(root, &["rev-parse", "-q", "--verify", &format!("{word}^{{commit}}")]).output().unwrap();
        tally.compare(&format!("{about} names a commit {word}"), facts.names_commit(word), revision.status.success());
    }
}

#[test]
fn two_hundred_generated_repositories_are_what_git_says_they_are() {
    let mut tally = Tally::default();
    for seed in 0..200 {
        let mut chance = Chance(seed as u64 + 1);
        let scratch = Scratch::new();
        if seed % 10 == 1 {
            let library = scratch.root.parent().unwrap().join("library");
            scratch.git(&["init", "-q", "-b", "main", library.to_str().unwrap()]);
            scratch.git_bytes(&library, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
        // One in ten has no commit yet.
        if seed % 10 != 9 {
            (0..6).for_each(|_| scratch.write(chance.one(&NAMES), chance.one(&TEXTS)));
            scratch.commit("first");
            scratch.git(&["tag", "v1"]);
        }
        shape(&scratch, seed);
        (0..4 + seed % 12).for_each(|_| work(&scratch, &mut chance));
        compare(&scratch, &scratch.root, &mut tally, &format!("repository {seed}"));
        let side = scratch.root.parent().unwrap().join("side");
        if side.exists() {
            fs::write(side.join("fresh"), "x").unwrap();
            compare(&scratch, &side, &mut tally, &format!("work tree of {seed}"));
        }
    }
    println!("{} facts asked, {} unknown", tally.asked, tally.unknown);
    assert!(tally.differ.is_empty(), "{} differ:\n{}", tally.differ.len(), tally.differ.join("\n"));
    assert!(tally.unknown * 100 <= tally.asked, "{} of {} unknown", tally.unknown, tally.asked);
}
