//! The guard as a Git hook, with real Git: commits, pushes, and hooks that existed before.

use crate::support;
use crate::support::{Call, Machine, Ran, at_terminal};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A token in a valid format, split in two so that secret scanners do not report this file.
const TOKEN: [&str; 2] = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"];

struct Repository {
    machine: Machine,
    folder: PathBuf,
}

impl Repository {
    fn new() -> Repository {
        let machine = Machine::new();
        let folder = machine.root().join("my shop");
        fs::create_dir(&folder).unwrap();
        let here = Repository { machine, folder };
        here.done(&["init", "-q", "-b", "main"]);
        here.write("a.txt", "one\n");
        here.done(&["add", "."]);
        here.done(&["commit", "-q", "-m", "first"]);
        here
    }

    /// Installs the Git hooks.
    fn guarded() -> Repository {
        let here = Repository::new();
        let output = here.reflex(&["init", "--git", "--yes"]);
        assert_eq!(output.code, 0, "{output:?}");
        here
    }

    fn reflex(&self, words: &[&str]) -> Ran {
        self.with_names(self.machine.reflex(words)).folder(&self.folder).run()
    }

    fn with_names(&self, call: Call) -> Call {
        let names = [("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@b.c"), ("GIT_COMMITTER_NAME", "A")];
        let call = names.into_iter().fold(call, |call, (name, value)| call.env(name, value));
        call.env("GIT_COMMITTER_EMAIL", "a@b.c").env("GIT_CONFIG_NOSYSTEM", "1")
    }

    fn git(&self, words: &[&str]) -> Ran {
        self.with_names(self.machine.program("git", words)).folder(&self.folder).run()
    }

    #[track_caller]
    fn done(&self, words: &[&str]) {
        let output = self.git(words);
        assert_eq!(output.code, 0, "git {words:?}: {}", output.stderr);
    }

    #[track_caller]
    fn refused(&self, words: &[&str], why: &str) -> String {
        let output = self.git(words);
        assert!(output.code != 0 && output.stderr.contains(why), "git {words:?}: {} {}", output.code, output.stderr);
        output.stderr
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hook(&self, name: &str) -> PathBuf {
        self.folder.join(".git/hooks").join(name)
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.hook(name), text).unwrap();
        fs::set_permissions(self.hook(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn secret() -> String {
    format!("token = \"{}\"\n", TOKEN.concat())
}

const COMMIT: [&str; 4] = ["commit", "-q", "-m", "x"];

#[test]
fn a_commit_is_judged_by_what_is_staged_and_new() {
    let here = Repository::guarded();
    here.write("k.py", &secret());
    here.done(&["add", "k.py"]);
    let output = here.refused(&COMMIT, "would write a secret into");
    assert!(output.contains("k.py") && !output.contains(TOKEN[1]), "{output}");
    // A person skips the hook; afterwards the secret is no longer new.
    here.done(&["commit", "-q", "-m", "x", "--no-verify"]);
    here.write("k.py", &format!("{}b = 2\n", secret()));
    here.done(&["commit", "-q", "-a", "-m", "x"]);
    // In the work tree, but not staged.
    here.write("b.py", "a = 1\n");
    here.done(&["add", "b.py"]);
    here.write("b.py", &secret());
    here.done(&COMMIT);
    // Staged, then removed from the work tree; also with a temporary index, as `commit FILE` creates.
    here.done(&["add", "b.py"]);
    here.write("b.py", "a = 1\n");
    here.refused(&COMMIT, "b.py");
    here.write("b.py", &secret());
    here.done(&["reset", "-q"]);
    here.refused(&["commit", "-q", "-m", "x", "b.py"], "b.py");
}

#[test]
fn every_kind_of_change_is_taken() {
    let here = Repository::guarded();
    here.write("ä ö/b c.txt", "x\n");
    fs::write(here.folder.join("binary"), [0, 159, 146, 150]).unwrap();
    symlink("/etc/passwd", here.folder.join("link")).unwrap();
    here.write("empty", "");
    here.done(&["add", "."]);
    here.done(&COMMIT);
    here.done(&["mv", "ä ö/b c.txt", "moved.txt"]);
    here.done(&["rm", "-q", "a.txt", "link"]);
    fs::set_permissions(here.folder.join("empty"), fs::Permissions::from_mode(0o755)).unwrap();
    here.done(&["add", "-A"]);
    here.done(&COMMIT);
    here.done(&["commit", "-q", "--amend", "-m", "y"]);
    here.done(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    here.write(".reflex/policy.yaml", "protectedPaths: [billing/]\n");
    here.write("billing/a.ts", "x\n");
    here.done(&["add", "billing"]);
    here.refused(&COMMIT, "billing/a.ts");
    here.done(&["reset", "-q"]);
    let workflow = "on: pull_request_target\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n        with: {ref: '${{ github.event.pull_request.head.sha }}'}\n      - run: npm test\n";
    here.write(".github/workflows/a.yml", workflow);
    here.done(&["add", ".github"]);
    here.refused(&COMMIT, "workflow/for-strangers");
}

#[test]
fn a_person_lets_one_commit_through() {
    let here = Repository::guarded();
    here.write(".claude/settings.json", "{\"permissions\": {\"allow\": [\"Bash(npm test)\"]}}\n");
    here.done(&["add", "-f", ".claude"]);
    let output = here.refused(&COMMIT, "`reflex approve ");
    let id = output.split_once("`reflex approve ").and_then(|(_, rest)| rest.split('`').next()).unwrap();
    let Some((code, output)) = at_terminal(&here.machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    // Different contents make it a different commit.
    here.write("c.txt", "c\n");
    here.done(&["add", "c.txt"]);
    here.refused(&COMMIT, ".claude/settings.json");
    here.done(&["rm", "-q", "--cached", "c.txt"]);
    here.done(&COMMIT);
}

#[test]
fn the_hook_from_before_runs_and_comes_back() {
    let here = Repository::new();
    let previous_hook = "#!/bin/sh\necho \"mine $#\" >&2\n";
    here.script("pre-commit", previous_hook);
    here.script("pre-push", "#!/bin/sh\necho \"to $1:\" >&2\ncat >&2\n");
    let plan = here.reflex(&["init", "--git", "--dry-run"]);
    assert!(plan.stdout.contains("git-hook") && fs::read_to_string(here.hook("pre-commit")).unwrap() == previous_hook);
    let output = here.reflex(&["init", "--git", "--yes"]);
    assert!(output.stdout.contains("which was there before"), "{output:?}");
    assert!(here.reflex(&["init", "--git", "--yes"]).stdout.contains("up to date"));
    here.write("b", "b\n");
    here.done(&["add", "b"]);
    let output = here.git(&COMMIT);
    assert!(output.code == 0 && output.stderr.contains("mine 0"), "{output:?}");
    here.done(&["init", "-q", "--bare", "../origin.git"]);
    let output = here.git(&["push", "../origin.git", "main"]);
    assert!(output.code == 0 && output.stderr.contains("to ../origin.git:\nrefs/heads/main "), "{output:?}");
    for _ in 0..2 {
        let Some((code, _)) = support::at_terminal_in(&here.machine, &here.folder, "uninstall --git --yes", "") else {
            return;
        };
        assert_eq!(code, 0);
        assert_eq!(fs::read_to_string(here.hook("pre-commit")).unwrap(), previous_hook);
        assert!(!here.hook("pre-commit.before-reflex").exists());
    }
}

#[test]
fn a_guard_that_is_not_there_lets_nothing_be_committed() {
    let here = Repository::guarded();
    let text = fs::read_to_string(here.hook("pre-commit")).unwrap();
    here.script("pre-commit", &text.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex"));
    here.write("b", "b\n");
    here.done(&["add", "b"]);
    here.refused(&COMMIT, "reflex failed (127)");
    here.script("pre-commit", &text.replace("git-hook", "no-such-command"));
    here.refused(&COMMIT, "reflex failed");
    let output = here.reflex(&["git-hook", "post-commit"]);
    assert!(output.code == 1 && output.stderr.contains("unknown hook `post-commit`"), "{output:?}");
}

#[test]
fn a_push_is_judged_by_what_the_other_side_does_not_have() {
    let here = Repository::guarded();
    here.done(&["init", "-q", "--bare", "../origin.git"]);
    here.done(&["remote", "add", "origin", "../origin.git"]);
    here.done(&["push", "-q", "origin", "main"]);
    // Added in an intermediate commit and removed in the last one.
    here.write("k.py", &secret());
    here.done(&["add", "."]);
    here.done(&["commit", "-q", "-m", "secret", "--no-verify"]);
    here.done(&["rm", "-q", "k.py"]);
    here.done(&["commit", "-q", "-m", "gone"]);
    here.refused(&["push", "-q", "origin", "main"], "k.py");
    here.refused(&["push", "-q", "origin", "main:topic"], "k.py");
    here.done(&["push", "-q", "--no-verify", "origin", "main"]);
    // Commits that the remote already has are not new.
    here.done(&["push", "-q", "origin", "main:topic"]);
    here.write("a.txt", "two\n");
    here.done(&["commit", "-q", "-a", "--amend", "-m", "other"]);
    here.refused(&["push", "-q", "--force", "origin", "main"], "git/push-with-lease-protected");
    here.done(&["push", "-q", "--force", "origin", "main:topic"]);
    here.refused(&["push", "-q", "origin", ":main"], "git/delete-remote-protected");
    here.done(&["tag", "v1"]);
    here.done(&["push", "-q", "origin", "v1"]);
    here.done(&["push", "-q", "origin", "v1"]);
}

#[test]
fn a_folder_for_all_repositories_starts_their_own_hooks() {
    let here = Repository::new();
    here.script("commit-msg", "#!/bin/sh\necho \"message in $1\" >&2\n");
    here.script("pre-commit", "#!/bin/sh\necho mine >&2\n");
    let output = here.reflex(&["init", "--git", "--global", "--yes"]);
    assert_eq!(output.code, 0, "{output:?}");
    here.write("b", "b\n");
    here.done(&["add", "b"]);
    let output = here.git(&COMMIT);
    assert!(
        output.code == 0 && output.stderr.contains("mine\n") && output.stderr.contains("message in "),
        "{output:?}"
    );
    here.write("k.py", &secret());
    here.done(&["add", "."]);
    here.refused(&COMMIT, "k.py");
    let Some((code, output)) =
        support::at_terminal_in(&here.machine, &here.folder, "uninstall --git --global --yes", "")
    else {
        return;
    };
    assert_eq!(code, 0, "{output}");
    here.done(&COMMIT);
    // A foreign hooks folder is not changed.
    here.done(&["config", "--global", "core.hooksPath", "/elsewhere"]);
    let output = here.reflex(&["init", "--git", "--global", "--yes"]);
    assert!(output.code == 1 && output.stderr.contains("/elsewhere"), "{output:?}");
}

/// Package runners such as `npx` and `uvx` clean their cache.
#[test]
fn the_hooks_of_a_program_in_a_cache_outlast_it() {
    let here = Repository::new();
    let cache = here.machine.root().join(".cache/npx");
    fs::create_dir_all(&cache).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_reflex"), cache.join("reflex")).unwrap();
    let home = here.machine.home();
    let words = ["--home", home.to_str().unwrap(), "init", "--git", "--yes"];
    let output = here.machine.program(cache.join("reflex").to_str().unwrap(), words).folder(&here.folder).run();
    assert!(output.code == 0 && output.stdout.contains("because its own folder is a cache"), "{output:?}");
    fs::remove_dir_all(&cache).unwrap();
    here.write("b.txt", "two\n");
    here.done(&["add", "."]);
    here.done(&["commit", "-q", "-m", "second"]);
}
