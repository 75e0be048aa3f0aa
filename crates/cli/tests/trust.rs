//! A person accepts a project's files: exactly these, in this repository, until one of them changes.

use crate::support::Machine;
use std::fs;
use std::path::{Path, PathBuf};

const PUSH: &str = "git push --force origin topic";

/// Returns the output of `reflex trust` for a person with this answer; `None` if no terminal can be created.
fn trust(machine: &Machine, project: &Path, answer: &str) -> Option<(i32, String)> {
    if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        println!("skipped: there is no program `script`");
        return None;
    }
    let line = format!("{} trust --reason tested", machine.line());
    let output = machine.program("script", ["-qec", &line, "/dev/null"]).folder(project).input(answer).run();
    Some((output.code, output.stdout))
}

fn decision(machine: &Machine, project: &Path) -> String {
    let output = machine.reflex(["check", "--json", PUSH]).folder(project).run();
    output.json()["decision"].as_str().unwrap().to_owned()
}

/// A repository with one commit of this policy.
fn repository(machine: &Machine, policy: &str) -> PathBuf {
    let project = machine.root().join("shop");
    fs::create_dir_all(project.join(".reflex")).unwrap();
    fs::write(project.join(".reflex/policy.yaml"), policy).unwrap();
    git(machine, &project, &["init", "-q", "-b", "main"]);
    commit(machine, &project);
    project
}

fn commit(machine: &Machine, project: &Path) {
    git(machine, project, &["add", "-A"]);
    git(machine, project, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]);
}

#[track_caller]
fn git(machine: &Machine, folder: &Path, words: &[&str]) {
    let output = machine.program("git", words).folder(folder).run();
    assert_eq!(output.code, 0, "{words:?}: {output:?}");
}

const LOOSE: &str = "rules: {git/push-force: off}\n";

#[test]
fn a_yes_holds_for_what_was_shown_and_ends_with_any_change() {
    let machine = Machine::new();
    let project = repository(&machine, LOOSE);
    assert_eq!(decision(&machine, &project), "require_approval");
    let Some((code, output)) = trust(&machine, &project, "n\n") else { return };
    assert!(code == 1 && output.contains("+ rules: {git/push-force: off}"), "{output}");
    assert_eq!(decision(&machine, &project), "require_approval");
    let (code, output) = trust(&machine, &project, "y\n").unwrap();
    assert!(code == 0 && output.contains("accepted"), "{output}");
    assert_eq!(decision(&machine, &project), "allow");
    // One more file, one byte more, a file less: each ends it. What was accepted before holds when it comes back.
    let policy = project.join(".reflex/policy.yaml");
    fs::write(&policy, format!("{LOOSE}# more\n")).unwrap();
    assert_eq!(decision(&machine, &project), "require_approval");
    let shown = machine.reflex(["trust", "--show"]).folder(&project).run().stdout;
    assert!(shown.contains("  + # more") && !shown.contains("+ rules"), "{shown}");
    fs::write(&policy, LOOSE).unwrap();
    assert_eq!(decision(&machine, &project), "allow");
    fs::create_dir(project.join(".reflex/rules")).unwrap();
    fs::write(project.join(".reflex/rules/a.yaml"), "name: a\nevents: [any]\nconditions: []\n").unwrap();
    assert_eq!(decision(&machine, &project), "require_approval");
    fs::remove_file(project.join(".reflex/rules/a.yaml")).unwrap();
    assert_eq!(machine.reflex(["trust", "--revoke"]).folder(&project).run().code, 0);
    assert_eq!(decision(&machine, &project), "require_approval");
}

#[test]
fn another_branch_has_other_files_and_a_work_tree_shares_the_yes() {
    let machine = Machine::new();
    let project = repository(&machine, LOOSE);
    let Some((0, _)) = trust(&machine, &project, "y\n") else { return };
    git(&machine, &project, &["checkout", "-q", "-b", "other"]);
    assert_eq!(decision(&machine, &project), "allow");
    fs::write(project.join(".reflex/policy.yaml"), "rules: {git/push-force: log}\n").unwrap();
    commit(&machine, &project);
    assert_eq!(decision(&machine, &project), "require_approval");
    git(&machine, &project, &["checkout", "-q", "main"]);
    assert_eq!(decision(&machine, &project), "allow");
    let tree = machine.root().join("tree");
    git(&machine, &project, &["worktree", "add", "-q", "--detach", &tree.to_string_lossy(), "main"]);
    assert_eq!(decision(&machine, &tree), "allow");
    git(&machine, &tree, &["checkout", "-q", "--detach", "other"]);
    assert_eq!(decision(&machine, &tree), "require_approval");
    // A clone is another repository.
    let clone = machine.root().join("clone");
    git(&machine, &machine.root(), &["clone", "-q", &project.to_string_lossy(), &clone.to_string_lossy()]);
    assert_eq!(decision(&machine, &clone), "require_approval");
}

#[test]
fn a_repository_that_names_another_as_its_own_is_not_believed() {
    let machine = Machine::new();
    let project = repository(&machine, LOOSE);
    let Some((0, _)) = trust(&machine, &project, "y\n") else { return };
    // A downloaded folder whose `.git` points at the trusted repository.
    let thief = machine.root().join("thief");
    fs::create_dir_all(thief.join(".reflex")).unwrap();
    fs::write(thief.join(".git"), format!("gitdir: {}\n", project.join(".git").display())).unwrap();
    fs::write(thief.join(".reflex/policy.yaml"), "preset: observe\n").unwrap();
    assert_eq!(decision(&machine, &thief), "require_approval");
}

#[test]
fn a_yes_to_a_damaged_file_is_none_to_what_holds_in_its_stead() {
    let machine = Machine::new();
    let project = repository(&machine, LOOSE);
    // It was read once, and is cached as the last valid version of the file.
    assert_eq!(decision(&machine, &project), "require_approval");
    fs::write(project.join(".reflex/policy.yaml"), "harmless: [\n").unwrap();
    let Some((0, _)) = trust(&machine, &project, "y\n") else { return };
    assert_eq!(decision(&machine, &project), "require_approval");
}

#[test]
fn a_yes_is_also_to_the_scripts_that_checks_name() {
    let machine = Machine::new();
    let project =
        repository(&machine, &format!("{LOOSE}verify: {{run: [{{name: tests, command: sh ./check.sh -v}}]}}\n"));
    fs::write(project.join("check.sh"), "echo harmless\n").unwrap();
    let Some((code, output)) = trust(&machine, &project, "y\n") else { return };
    assert!(code == 0 && output.contains("+ echo harmless"), "{output}");
    assert_eq!(decision(&machine, &project), "allow");
    fs::write(project.join("check.sh"), "echo other\n").unwrap();
    assert_eq!(decision(&machine, &project), "require_approval");
    let shown = machine.reflex(["trust", "--show"]).folder(&project).run().stdout;
    assert!(shown.contains("  + echo other") && shown.contains("  - echo harmless"), "{shown}");
    fs::write(project.join("check.sh"), "echo harmless\n").unwrap();
    assert_eq!(decision(&machine, &project), "allow");
    // Nothing from elsewhere is shown or kept.
    fs::write(machine.root().join("secret"), "of the person\n").unwrap();
    let policy = format!("{LOOSE}verify: {{run: [{{name: tests, command: cat ../secret link}}]}}\n");
    fs::write(project.join(".reflex/policy.yaml"), policy).unwrap();
    std::os::unix::fs::symlink("../secret", project.join("link")).unwrap();
    assert!(!machine.reflex(["trust", "--show"]).folder(&project).run().stdout.contains("of the person"));
    git(&machine, &project, &["checkout", "-q", "--", ".reflex"]);
    // Another file of the project is not named by a check.
    fs::write(project.join("other.sh"), "echo other\n").unwrap();
    assert_eq!(decision(&machine, &project), "allow");
    fs::remove_file(project.join("check.sh")).unwrap();
    assert_eq!(decision(&machine, &project), "require_approval");
}
