//! A repository to try things in.

use reflex_git::*;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A home without settings of git, for the reader and for git itself.
pub(crate) fn home() -> PathBuf {
    "/nonexistent".into()
}

pub(crate) const ALL: usize = 1000;

pub(crate) struct Scratch {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Scratch {
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("repository");
        fs::create_dir(&root).unwrap();
        Scratch { _folder: folder, root }
    }

    pub(crate) fn new() -> Self {
        let scratch = Self::empty();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    /// Some files and one commit, old enough that nothing is racy.
    pub(crate) fn with_commit() -> Self {
        let scratch = Self::new();
        for (name, content) in [("one", "1\n"), ("two", "2\n"), ("folder/three", "3\n"), ("folder/inner/four", "4\n")] {
            scratch.write(name, content);
        }
        scratch.commit("first");
        scratch
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_bytes(&self.root, arguments)).unwrap()
    }

    pub(crate) fn git_bytes(&self, folder: &Path, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(folder, arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        output.stdout
    }

    pub(crate) fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(folder).env("GIT_OPTIONAL_LOCKS", "0").env("HOME", home());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
        for person in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{person}_NAME"), "a").env(format!("GIT_{person}_EMAIL"), "a@b");
        }
        command.args(["-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"]).args(arguments);
        command
    }

    /// What git prints when it reads `input`.
    pub(crate) fn answer(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = self.command(folder, arguments);
        let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        git.stdin.take().unwrap().write_all(input).unwrap();
        git.wait_with_output().unwrap().stdout
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn facts(&self) -> Repository {
        Repository::discover(&self.root, &home()).expect("a repository")
    }

    pub(crate) fn count(&self, arguments: &[&str]) -> usize {
        self.git(&[&["rev-list", "--count"], arguments].concat()).trim().parse().unwrap()
    }

    /// Compares every question about files with git's answer.
    pub(crate) fn agrees(&self) {
        self.agrees_below(&self.root, &[]);
    }

    pub(crate) fn agrees_below(&self, root: &Path, scope: &[&str]) {
        let facts = Repository::discover(root, &home()).unwrap();
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
                name.ancestors()
                    .find(|above| ours.iter().any(|path| path == above))
                    .map_or(name.clone(), Path::to_owned)
            };
            let expected: BTreeSet<PathBuf> = split(&self.git_bytes(root, &listed)).into_iter().map(fold).collect();
            assert_eq!(ours, expected.into_iter().collect::<Vec<_>>(), "{ignored:?}");
        }
    }

    pub(crate) fn status(&self, root: &Path, scope: &[&str]) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
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
    pub(crate) fn differing_content(&self, scope: &[&str]) -> Vec<PathBuf> {
        let arguments = [&["diff", "--name-only", "-z", "--"], scope].concat();
        split(&self.git_bytes(&self.root, &arguments)).into_iter().collect()
    }

    pub(crate) fn agrees_on_ignoring(&self, path: &str) {
        let status = self.command(&self.root, &["check-ignore", "-q", "--", path]).status().unwrap();
        let expected = status.code().unwrap() == 0;
        assert_eq!(self.facts().is_ignored(Path::new(path)), Ok(expected), "{path}");
    }
}

pub(crate) fn names(fact: Fact<Names>) -> Vec<PathBuf> {
    let names = fact.expect("a known fact");
    assert!(names.complete && names.count == names.names.len());
    names.names
}

/// What is damaged or too large to be looked at may hide anything.
pub(crate) fn at_least_nothing() -> Fact<Names> {
    Ok(Names { names: Vec::new(), count: 0, complete: false })
}

pub(crate) fn split(output: &[u8]) -> BTreeSet<PathBuf> {
    let lines = output.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    lines.map(|line| PathBuf::from(OsStr::from_bytes(line.strip_suffix(b"/").unwrap_or(line)))).collect()
}

pub(crate) fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
