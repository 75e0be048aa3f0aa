//! On real repositories the hook is silent if nothing would be lost, and otherwise names the loss.

use crate::support::Machine;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with an origin: `main` is its default branch, `feature` is checked out, everything is committed.
struct Project {
    machine: Machine,
    folder: PathBuf,
}

impl Project {
    fn new() -> Project {
        let project = Project::empty();
        for (name, text) in [
            ("src/a.js", "1\n"),
            ("sub/b.js", "1\n"),
            ("package.json", "{}\n"),
            (".gitignore", "node_modules/\n.env.local\n"),
        ] {
            project.write(name, text);
        }
        project.write("node_modules/left-pad/index.js", "1\n");
        symlink("../other", project.folder.join("way-out")).unwrap();
        project.commit("everything");
        project.git(&["init", "-q", "--bare", "../origin.git"]);
        project.git(&["remote", "add", "origin", "../origin.git"]);
        project.git(&["push", "-q", "origin", "main"]);
        project.git(&["remote", "set-head", "origin", "main"]);
        project.git(&["branch", "topic"]);
        project.git(&["switch", "-q", "-c", "feature"]);
        project
    }

    /// A repository without a commit, next to an unrelated folder.
    fn empty() -> Project {
        let machine = Machine::new().asking();
        let folder = machine.root().join("my shop");
        fs::create_dir(&folder).unwrap();
        fs::create_dir(machine.root().join("other")).unwrap();
        fs::write(machine.root().join("other/keep"), "1").unwrap();
        let project = Project { machine, folder };
        project.git(&["init", "-q", "-b", "main"]);
        project
    }

    fn git(&self, arguments: &[&str]) {
        self.git_in(&self.folder, arguments);
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(folder).env_clear().env("HOME", self.machine.home());
        git.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        git.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        git.envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@b.c"), ("GIT_AUTHOR_DATE", "1700000000 +0000")]);
        git.envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@b.c")]);
        git.env("GIT_COMMITTER_DATE", "1700000000 +0000");
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the changed files whose content neither the work tree nor the index holds after the command has run in a
    /// copy of the project.
    fn lost_by(&self, command: &str) -> Vec<&'static str> {
        let copy = self.machine.root().join("played");
        let copied = Command::new("cp").arg("-a").arg(&self.folder).arg(&copy).status().unwrap();
        assert!(copied.success());
        let printed_by = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(&copy).env_clear().env("HOME", self.machine.home());
            shell.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
            shell.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
            shell.output().unwrap().stdout
        };
        printed_by(command);
        let is_held = |name: &str| {
            fs::read(copy.join(name)).is_ok_and(|text| text == b"changed\n")
                || printed_by(&format!("git show ':{name}'")) == b"changed\n"
        };
        let is_lost = |name: &&str| !is_held(name);
        let lost = CHANGED.into_iter().filter(is_lost).collect();
        fs::remove_dir_all(&copy).unwrap();
        lost
    }

    /// Asserts the hook's decision about a command in a folder of the project, and a part of its message.
    #[track_caller]
    fn check_in(&self, folder: &str, command: &str, decision: &str, words: &[&str]) {
        let (found, reason) = self.machine.judged(&self.folder.join(folder), command).answer();
        assert_eq!(found, decision, "{command}: {reason}");
        for word in words {
            assert!(reason.contains(word), "{command}: `{word}` is not in: {reason}");
        }
    }

    #[track_caller]
    fn silent(&self, command: &str) {
        self.check_in("", command, "silent", &[]);
    }

    #[track_caller]
    fn asks(&self, command: &str, words: &[&str]) {
        self.check_in("", command, "ask", words);
    }

    #[track_caller]
    fn denies(&self, command: &str, words: &[&str]) {
        self.check_in("", command, "deny", words);
    }
}

#[test]
fn what_a_build_makes_again_may_go() {
    let project = Project::new();
    project.silent("rm -rf node_modules");
    project.silent("rm -rf ./node_modules/left-pad node_modules/.cache && npm ci");
    project.check_in("sub", "rm -rf ../node_modules", "silent", &[]);
}

#[test]
fn what_is_committed_may_go() {
    let project = Project::new();
    for command in
        ["rm -rf src", "rm -rf src sub", "rm -r -f ./src/", "git rm -rf src", "rm src/a.js", "rm -rf missing"]
    {
        project.silent(command);
    }
}

#[test]
fn uncommitted_changes_are_asked_about_by_name_whether_staged_or_not() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.asks("rm -rf src", &["[rm/uncommitted", "src/a.js", "Commit them, or keep them with `git stash push`."]);
    project.asks("rm -rf \"$PWD/src\"", &["src/a.js"]);
    project.asks("cd src && cd .. && rm -rf src", &["src/a.js"]);
    project.git(&["add", "src/a.js"]);
    project.asks("rm -rf src", &["src/a.js"]);
    project.silent("rm -rf sub");
}

#[test]
fn a_folder_that_git_does_not_have_is_asked_about_by_name() {
    let project = Project::new();
    project.write("notes/plan.md", "1\n");
    project.asks("rm -rf notes", &["[rm/untracked", "notes/plan.md"]);
    project.check_in("notes", "rm -rf ../notes", "ask", &["notes/plan.md"]);
    project.git(&["add", "notes"]);
    project.asks("rm -rf notes", &["notes/plan.md"]);
    project.commit("notes");
    project.silent("rm -rf notes");
}

#[test]
fn an_ignored_file_that_no_build_makes_again_is_asked_about() {
    let project = Project::new();
    project.write("sub/.env.local", "A=1\n");
    project.asks("rm -rf sub", &["sub/.env.local"]);
    project.asks("git clean -fdx", &["sub/.env.local"]);
    project.silent("git clean -fd");
}

#[test]
fn what_lies_outside_is_denied() {
    let project = Project::new();
    let other = project.machine.root().join("other");
    for command in ["rm -rf ../other", "rm -rf ../../../..", "cd .. && rm -rf other", "cd ../other && rm -rf *"] {
        project.denies(command, &["[rm/"]);
    }
    project.denies("rm -rf ../other", &["[rm/outside-workspace", &other.display().to_string()]);
    project.denies("rm -rf \"$HOME\"", &["[rm/home-or-root", &project.machine.home().display().to_string()]);
    project.denies("rm -rf ~", &["[rm/home-or-root"]);
    project.denies("rm -rf /", &["[rm/home-or-root"]);
    project.denies("rm -rf .", &["[rm/workspace"]);
    project.denies("rm -rf .git", &["[rm/git-folder"]);
    project.check_in("sub", "rm -rf ..", "deny", &["[rm/workspace"]);
    project.check_in("sub", "rm -rf ../../other", "deny", &["[rm/outside-workspace"]);
}

#[test]
fn a_link_is_only_a_link_until_a_slash_follows_it() {
    let project = Project::new();
    project.silent("rm -rf way-out");
    project.silent("rm way-out");
    for command in ["rm -rf way-out/", "rm -rf way-out/*", "rm -rf way-out/.", "cd way-out && rm -rf *"] {
        project.denies(command, &["[rm/outside-workspace", "other"]);
    }
    symlink(project.machine.home(), project.folder.join("my-home")).unwrap();
    project.denies("rm -rf my-home/", &["[rm/home-or-root"]);
}

#[test]
fn the_folder_above_a_link_is_the_one_above_what_it_leads_to() {
    let project = Project::new();
    symlink(project.machine.home(), project.folder.join("my-home")).unwrap();
    project.denies("rm -rf way-out/../other", &["[rm/outside-workspace"]);
    project.denies("rm -rf \"my-home/../home me\"", &["[rm/home-or-root"]);
    project.asks("cd -P way-out/.. && rm -rf other", &["[rm/unknown-target"]);
    project.asks("echo x > way-out/../other/keep", &["[write/boundary"]);
}

#[test]
fn a_link_that_is_not_committed_holds_nothing_that_could_be_lost() {
    let project = Project::new();
    symlink("../other", project.folder.join("new-link")).unwrap();
    project.silent("rm -rf new-link");
}

/// Commands that throw away what is not committed, in the root of the work tree.
const DISCARDING: [&str; 9] = [
    "git reset --hard",
    "git reset --hard HEAD",
    "git checkout -- .",
    "git checkout .",
    "git restore .",
    "git restore --staged --worktree .",
    "git checkout -f main",
    "git switch --discard-changes main",
    "git stash push -q && git stash pop -q; git reset -q --hard",
];

#[test]
fn throwing_changes_away_is_silent_where_there_are_none() {
    let project = Project::new();
    DISCARDING.iter().for_each(|command| project.silent(command));
    project.write("notes.md", "untracked files are none of their business\n");
    DISCARDING.iter().for_each(|command| project.silent(command));
}

#[test]
fn throwing_changes_away_is_asked_about_and_names_them() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    DISCARDING.iter().for_each(|command| project.asks(command, &["src/a.js"]));
    project.asks("git reset --hard", &["[git/discard-changes", "Keep them with `git stash push` instead."]);
    project.git(&["add", "-A"]);
    project.asks("git reset --hard", &["src/a.js"]);
    project.asks("git rm -rf src", &["src/a.js"]);
}

#[test]
fn changes_that_are_staged_survive_what_restores_from_the_index() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.git(&["add", "-A"]);
    for command in ["git checkout -- .", "git checkout .", "git restore .", "git restore --staged .", "git reset"] {
        project.silent(command);
    }
}

#[test]
fn what_restores_both_from_a_commit_throws_away_what_is_staged() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.git(&["add", "-A"]);
    project.asks("git restore -s HEAD -SW src", &["src/a.js"]);
    project.asks("git checkout HEAD -- src", &["src/a.js"]);
    project.asks("git checkout main .", &["src/a.js"]);
    project.silent("git checkout -- src");
}

#[test]
fn only_the_paths_that_are_named_count() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.silent("git checkout -- sub");
    project.silent("git restore sub package.json");
    project.asks("git restore src", &["src/a.js"]);
    project.asks("git restore package.json src/a.js", &["src/a.js"]);
    project.check_in("sub", "git checkout -- .", "silent", &[]);
    project.check_in("sub", "git restore ../src", "ask", &["src/a.js"]);
    project.silent("git -C sub restore .");
    project.asks("git -C src restore .", &["src/a.js"]);
}

/// Commands with an optional `--`, played in the root of the work tree.
const FORMS: [&str; 36] = [
    "git checkout HEAD [--] src/a.js",
    "git checkout -q HEAD [--] src",
    "git checkout HEAD [--] sub",
    "git checkout HEAD [--] src/a.js package.json",
    "git checkout HEAD [--] other.js",
    "git checkout main [--] src/a.js",
    "git checkout v1 [--] sub/b.js",
    "git checkout HEAD~1 [--] .",
    "git checkout stash@{0} [--] src/a.js",
    "git checkout HEAD [--] ':(top)src'",
    "git checkout HEAD [--] ':/sub'",
    "git checkout HEAD [--] '*.js'",
    "git checkout HEAD [--] 'src/*'",
    "cd src && git checkout HEAD [--] a.js",
    "cd src && git checkout -q HEAD [--] ../package.json",
    "git -C sub checkout HEAD [--] b.js",
    "git checkout -f HEAD [--] src/a.js",
    "git checkout [--] src/a.js",
    "git checkout -f [--] src/a.js",
    "git checkout -q [--] src sub",
    "git checkout [--] src/a.js package.json",
    "git checkout [--] sub/b.js package.json",
    "cd sub && git checkout [--] b.js ../src",
    "git checkout HEAD [--] ",
    "git restore [--] src",
    "git restore [--] sub",
    "git restore -s HEAD [--] sub",
    "git restore -S [--] sub src",
    "git restore -SW -s main [--] sub",
    "git reset -q [--] sub",
    "git reset -q HEAD [--] sub src",
    "git checkout-index -f [--] src/a.js",
    "git checkout-index -f [--] sub/b.js",
    "git rm -q -f [--] src/a.js",
    "git clean -q -f [--] notes.txt",
    "git clean -q -f [--] sub",
];

/// Changes of every kind: unstaged, staged and new.
const CHANGED: [&str; 4] = ["src/a.js", "sub/b.js", "package.json", "notes.txt"];

#[test]
fn what_git_itself_throws_away_is_asked_about_with_and_without_a_double_dash() {
    let project = Project::new();
    project.write("other.js", "1\n");
    project.commit("another file");
    project.git(&["tag", "v1"]);
    project.write("src/a.js", "stashed\n");
    project.git(&["stash", "-q"]);
    CHANGED.iter().for_each(|name| project.write(name, "changed\n"));
    project.git(&["add", "sub"]);
    for command in FORMS.iter().flat_map(|form| ["", "-- "].map(|dashes| form.replace("[--] ", dashes))) {
        let lost = project.lost_by(&command);
        let (found, reason) = project.machine.judged(&project.folder, &command).answer();
        let expected = if lost.is_empty() { "silent" } else { "ask" };
        assert_eq!(found, expected, "{command}: git throws away {lost:?}; {reason}");
        let named: Vec<&str> = CHANGED.into_iter().filter(|name| reason.contains(name)).collect();
        // The message names what the first operand loses.
        let is_named = lost.is_empty() || lost.iter().any(|name| named.contains(name));
        assert!(is_named, "{command}: git throws away {lost:?}; {reason}");
        let is_known = |name: &&str| lost.contains(name) || command.contains(*name);
        assert!(named.iter().all(is_known), "{command}: git throws away only {lost:?}; {reason}");
    }
}

#[test]
fn a_deleted_file_comes_back_without_a_question() {
    let project = Project::new();
    fs::remove_file(project.folder.join("src/a.js")).unwrap();
    project.silent("git status");
    project.silent("git stash");
}

#[test]
fn git_clean_is_silent_where_there_is_nothing_and_names_what_there_is() {
    let project = Project::new();
    for command in ["git clean -fd", "git clean -fdx", "git clean -n", "git clean -df sub"] {
        project.silent(command);
    }
    project.write("notes/plan.md", "1\n");
    project.asks("git clean -fd", &["[git/discard-untracked", "notes/plan.md"]);
    project.asks("git clean -fdx", &["notes/plan.md"]);
    project.silent("git clean -nd");
    project.silent("git clean -fd sub");
    project.check_in("sub", "git clean -fd", "silent", &[]);
    project.check_in("sub", "git clean -fd ..", "ask", &["notes/plan.md"]);
}

#[test]
fn dropping_a_stash_is_silent_only_where_there_is_none() {
    let project = Project::new();
    project.silent("git stash drop");
    project.silent("git stash clear");
    project.write("src/a.js", "2\n");
    project.git(&["stash", "-q"]);
    project.asks("git stash drop", &["[git/drop-stash"]);
    project.asks("git stash clear", &["[git/drop-stash"]);
    project.silent("git stash pop");
}

#[test]
fn a_branch_may_go_while_its_commits_are_reachable() {
    let project = Project::new();
    project.silent("git branch -D topic");
    project.git(&["switch", "-q", "topic"]);
    project.write("src/c.js", "1\n");
    project.commit("work on the topic");
    project.git(&["switch", "-q", "feature"]);
    project.asks("git branch -D topic", &["[git/delete-branch", "topic", "git branch -d"]);
    project.silent("git branch -d topic");
    project.git(&["push", "-q", "origin", "topic"]);
    project.silent("git branch -D topic");
}

#[test]
fn a_forced_push_is_asked_about_on_a_branch_of_ones_own_and_denied_on_the_shared_ones() {
    let project = Project::new();
    for command in
        ["git push --force", "git push -f origin feature", "git push origin +feature", "git push -f origin HEAD"]
    {
        project.asks(command, &["[git/push-force", "git push --force-with-lease"]);
    }
    for command in [
        "git push -f origin main",
        "git push origin +main",
        "git push -f origin feature:main",
        "git push -f origin HEAD:refs/heads/main",
    ] {
        project.denies(command, &["[git/push-force-protected", "main"]);
    }
    project.silent("git push");
    project.silent("git push -u origin feature");
    project.git(&["switch", "-q", "main"]);
    project.denies("git push --force", &["[git/push-force-protected"]);
    project.denies("git push -f origin HEAD", &["[git/push-force-protected"]);
}

#[test]
fn with_a_lease_a_forced_push_is_only_warned_about() {
    let project = Project::new();
    project.check_in("", "git push --force-with-lease origin feature", "warn", &["[git/push-with-lease", "feature"]);
    // The same warning is shown once in a session.
    project.silent("git push --force-with-lease origin feature");
    project.asks("git push --force-with-lease origin main", &["[git/push-with-lease-protected"]);
    Project::new().check_in("", "git push --force-with-lease", "warn", &["[git/push-with-lease"]);
}

#[test]
fn the_default_branch_of_origin_is_protected_whatever_its_name() {
    let project = Project::new();
    project.git(&["push", "-q", "origin", "feature:next"]);
    project.git(&["fetch", "-q", "origin"]);
    project.asks("git push -f origin next", &["[git/push-force"]);
    project.git(&["remote", "set-head", "origin", "next"]);
    project.denies("git push -f origin next", &["[git/push-force-protected"]);
}

#[test]
fn a_linked_worktree_is_a_project_of_its_own() {
    let project = Project::new();
    project.git(&["worktree", "add", "-q", "../my tree", "topic"]);
    let tree = |command: &str, decision: &str, words: &[&str]| project.check_in("../my tree", command, decision, words);
    tree("rm -rf src", "silent", &[]);
    tree("git reset --hard", "silent", &[]);
    fs::write(project.machine.root().join("my tree/src/a.js"), "2\n").unwrap();
    tree("git reset --hard", "ask", &["src/a.js"]);
    tree("rm -rf src", "ask", &["src/a.js"]);
    tree("rm -rf '../my shop'", "deny", &["[rm/outside-workspace"]);
    tree("rm -rf .", "deny", &["[rm/workspace"]);
    project.silent("git reset --hard");
    project.silent("rm -rf src");
}

#[test]
fn in_a_repository_without_commits_everything_counts_as_lost() {
    let project = Project::empty();
    project.silent("git status");
    project.silent("git clean -fd");
    project.write("src/a.js", "1\n");
    project.asks("rm -rf src", &["src/a.js"]);
    project.asks("git clean -fd", &["src/a.js"]);
    project.git(&["add", "-A"]);
    project.asks("rm -rf src", &["src/a.js"]);
    project.asks("git reset --hard", &["src/a.js"]);
    project.denies("git push -f origin main", &["[git/push-force-protected"]);
}

#[test]
fn without_a_repository_what_exists_is_asked_about_and_what_is_outside_is_denied() {
    let repository = |folder: &&Path| folder.join(".git").exists();
    let outermost = Path::new(env!("CARGO_TARGET_TMPDIR")).ancestors().filter(repository).last();
    // The build folder is itself in a repository, so this uses the first folder above every repository.
    let Some(above) = outermost.and_then(Path::parent) else { return };
    let machine = Machine::below(above).asking();
    let folder = machine.root().join("loose");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::create_dir(machine.root().join("other")).unwrap();
    fs::write(folder.join("src/a.js"), "1").unwrap();
    let answer = |command: &str| machine.judged(&folder, command).answer();
    let (decision, reason) = answer("rm -rf src");
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("src/a.js"), "{reason}");
    assert_eq!(answer("rm -rf missing").0, "silent");
    assert_eq!(answer("git reset --hard").0, "silent");
    assert_eq!(answer("ls; cat src/a.js; npm test").0, "silent");
    assert_eq!(answer("rm -rf ../other").0, "deny");
    assert_eq!(answer("rm -rf ~").0, "deny");
}

#[test]
fn a_repository_inside_of_the_project_is_asked_about() {
    let project = Project::new();
    project.git(&["init", "-q", "vendor/lib"]);
    project.write("vendor/lib/a.c", "1\n");
    project.asks("rm -rf vendor", &["vendor/lib"]);
}

#[test]
fn a_subfolder_sees_the_whole_project() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.check_in("sub", "rm -rf ../src", "ask", &["src/a.js"]);
    project.check_in("src", "rm -rf ../sub", "silent", &[]);
    project.check_in("src", "git checkout -- .", "ask", &["src/a.js"]);
    project.check_in("src", "rm -rf *", "ask", &["src/a.js"]);
}

#[test]
fn a_reset_in_a_subfolder_names_what_it_throws_away_there() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    project.asks("git -C src reset --hard", &["src/a.js"]);
    project.check_in("src", "git reset --hard", "ask", &["src/a.js"]);
    project.asks("cd src && git reset --hard", &["src/a.js"]);
}

#[test]
fn a_reset_in_a_subfolder_throws_away_the_changes_of_the_whole_work_tree() {
    let project = Project::new();
    project.write("src/a.js", "2\n");
    for command in ["git reset --hard", "git checkout -f main", "git switch -f main"] {
        project.check_in("sub", command, "ask", &["src/a.js"]);
    }
    project.asks("git -C sub reset --hard", &["src/a.js"]);
    project.asks("cd sub && git reset --hard", &["src/a.js"]);
}
