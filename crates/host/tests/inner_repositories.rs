//! What lies in a repository inside of the workspace is asked of that one: a submodule, a clone, a work tree.

use reflex_engine::{Action, Decision, Event};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Ground {
    /// A workspace with a submodule `sub` and an ignored clone `tools/clone`, everything committed.
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        let library = folder.path().canonicalize().unwrap().join("library");
        let ground = Ground { _folder: folder, root };
        for (at, name) in [(&library, "lib.c"), (&ground.root, "main.c"), (&ground.root.join("tools/clone"), "tool.c")]
        {
            fs::create_dir_all(at).unwrap();
            git(at, &["init", "-q", "-b", "main"]);
            fs::write(at.join(name), "text\n").unwrap();
            git(at, &["add", name]);
            git(at, &["commit", "-qm", "first"]);
        }
        fs::write(ground.root.join(".gitignore"), "tools/\n").unwrap();
        git(&ground.root, &["submodule", "--quiet", "add", library.to_str().unwrap(), "sub"]);
        git(&ground.root, &["add", "-A"]);
        git(&ground.root, &["commit", "-qm", "second"]);
        ground
    }

    fn write(&self, name: &str) {
        fs::write(self.root.join(name), "changed\n").unwrap();
    }

    #[track_caller]
    fn check(&self, command: &str, expected: Decision) {
        let root = self.root.to_str().unwrap();
        let event = Event {
            cwd: root.into(),
            workspace: root.into(),
            home: "/home/me".into(),
            actions: vec![Action::Shell { command: command.into(), language: Default::default() }],
            ..Event::default()
        };
        let verdict = crate::guard_of_nobody().judge_in(&event, &crate::world_of_nobody(&self.root), &[]).verdict;
        assert_eq!(verdict.decision, expected, "{command}: {:?}", verdict.reasons);
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "protocol.file.allow=always"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("HOME", folder).env_remove("XDG_CONFIG_HOME");
    assert!(git.args(arguments).current_dir(folder).env_remove("GIT_DIR").status().unwrap().success());
}

#[test]
fn a_clean_inner_repository_loses_nothing() {
    let ground = Ground::new();
    for command in [
        "rm -rf sub",
        "cd sub && git checkout .",
        "git -C sub reset --hard",
        "git -C sub clean -fd",
        "git -C tools/clone checkout -- .",
        "git submodule update --force",
    ] {
        ground.check(command, Decision::Pass);
    }
}

#[test]
fn changes_in_a_submodule_go_with_it() {
    let ground = Ground::new();
    ground.write("sub/lib.c");
    for command in ["rm -rf sub", "cd sub && git checkout .", "git -C sub reset --hard", "git submodule update --force"]
    {
        ground.check(command, Decision::Ask);
    }
    // To the outer repository the submodule is only a commit.
    ground.check("git reset --hard", Decision::Pass);
}

#[test]
fn new_files_in_a_submodule_go_with_it() {
    let ground = Ground::new();
    ground.write("sub/fresh.c");
    for command in ["rm -rf sub", "rm -rf sub/fresh.c", "git -C sub clean -fd", "cd sub; git clean -f"] {
        ground.check(command, Decision::Ask);
    }
    ground.check("git clean -fd", Decision::Pass);
}

#[test]
fn a_clone_in_an_ignored_folder_has_its_own_changes() {
    let ground = Ground::new();
    ground.write("tools/clone/tool.c");
    ground.write("tools/clone/fresh.c");
    for command in ["cd tools/clone && git checkout -- .", "git -C tools/clone clean -f", "rm -rf tools/clone/fresh.c"]
    {
        ground.check(command, Decision::Ask);
    }
}
