//! Access to backups: a person restores in place, an agent gets nothing that it could not read anyway.

use crate::support::{Machine, Ran, at_terminal_in, shell_quoted};
use std::fs;
use std::path::{Path, PathBuf};

struct Here {
    machine: Machine,
    project: PathBuf,
}

impl Here {
    /// A project with a file that is in no commit and older than the session.
    fn new() -> Here {
        let machine = Machine::new();
        let project = machine.root().join("shop");
        fs::create_dir_all(project.join("config")).unwrap();
        let here = Here { machine, project };
        here.sh(
            "git init -q -b main . && echo x > a && git add a && git -c user.name=a -c user.email=a@b commit -q -m x",
        );
        here.sh("echo TOKEN=not-a-real-one > config/.env; echo thoughts > notes.md; touch -d '3 days ago' config/.env notes.md");
        here
    }

    fn sh(&self, command: &str) {
        let output = self.machine.program("sh", ["-c", command]).folder(&self.project).run();
        assert_eq!(output.code, 0, "{output:?}");
    }

    /// Returns the id of a call's backup.
    fn kept(&self, command: &str) -> String {
        let output = self.machine.bash(&self.project, command);
        assert_eq!(output.answer().0, "warn", "{output:?}");
        let (_, rest) = output.stdout.split_once("`reflex undo ").unwrap();
        rest.split('`').next().unwrap().to_owned()
    }

    fn decision(&self, command: &str) -> String {
        self.machine.bash(&self.project, command).answer().0
    }

    fn undo(&self, arguments: &[&str]) -> Ran {
        let words = ["undo"].into_iter().chain(arguments.iter().copied());
        self.machine.reflex(words).folder(&self.project).run()
    }

    fn store(&self) -> PathBuf {
        self.machine.home().join(".local/state/reflex/kept")
    }

    fn has(&self, name: &str) -> bool {
        self.project.join(name).exists()
    }
}

#[test]
fn an_agent_lists_but_does_not_restore_in_place() {
    let here = Here::new();
    let id = here.kept("rm notes.md");
    here.sh("rm notes.md");
    assert!(here.undo(&[]).stdout.contains(&id));
    assert!(here.undo(&["--json"]).json()["kept"][0]["id"] == id.as_str());
    assert_eq!(here.undo(&[&id]).code, 1);
    assert!(!here.has("notes.md"));
}

#[test]
fn an_agent_restores_only_within_its_project_and_under_the_old_names() {
    let here = Here::new();
    let id = here.kept("cp a config/.env");
    let outside = here.machine.root().join("elsewhere");
    assert_eq!(here.undo(&[&id, "--to", outside.to_str().unwrap()]).code, 1);
    assert!(!outside.exists());
    assert_eq!(here.undo(&[&id, "--to", "back"]).code, 0);
    assert!(here.has("back/config/.env"));
    // No file is overwritten, and another project's backups are not accessible.
    here.sh("echo other > back/config/.env");
    assert_eq!(here.undo(&[&id, "--to", "back"]).code, 1);
    let other = here.machine.root().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let output = here.machine.reflex(["undo", &id, "--to", "back"]).folder(&other).run();
    assert_eq!((output.code, other.join("back").exists()), (1, false), "{output:?}");
}

#[test]
fn an_agent_is_shown_no_contents() {
    let here = Here::new();
    let id = here.kept("cp a config/.env");
    here.sh("cp a config/.env");
    let output = here.undo(&[&id, "--dry-run"]);
    assert!(output.stdout.contains("OVERWRITE") && !output.stdout.contains("not-a-real-one"), "{output:?}");
}

#[test]
fn a_person_sees_what_changes_and_restores_it() {
    let here = Here::new();
    let id = here.kept("rm notes.md");
    here.sh("echo other > notes.md");
    let Some((code, output)) = at_terminal_in(&here.machine, &here.project, &format!("undo {id}"), "y\n") else {
        return;
    };
    assert!(code == 0 && output.contains("+ thoughts"), "{output}");
    assert_eq!(fs::read_to_string(here.project.join("notes.md")).unwrap(), "thoughts\n");
}

#[test]
fn what_is_kept_is_a_secret_place_that_nobody_but_the_guard_changes() {
    let here = Here::new();
    here.kept("cp a config/.env");
    let store = here.store();
    let backup = fs::read_dir(&store).unwrap().next().unwrap().unwrap().path();
    let copy = backup.join("0");
    let stopped = |command: String| {
        let decision = here.decision(&command);
        assert!(decision == "deny" || decision == "ask", "{command}: {decision}");
    };
    let shown = |path: &Path| path.display().to_string();
    for command in ["cat {}", "base64 {}", "cp {} x", "head -c9 < {}", "ln {} x"] {
        stopped(command.replace("{}", &shell_quoted(&shown(&copy))));
    }
    stopped(format!("python3 -c 'print(open(\"{}\").read())'", shown(&copy)));
    let state = here.machine.home().join(".local/state/reflex");
    for folder in [&backup, &store, &state] {
        for command in ["rm -rf", "grep -r .", "cp -r -t x", "tar cf x.tar", "find -delete", "chmod -R 777"] {
            let words = match command {
                "find -delete" => format!("find '{}' -delete", shown(folder)),
                _ => format!("{command} '{}'", shown(folder)),
            };
            stopped(words);
        }
        stopped(format!("mv '{}' x", shown(folder)));
    }
    stopped(format!("cd '{}' && cat */0", shown(&store)));
    stopped(format!("cat '{}'/*/0", shown(&store)));
    for command in ["ls -la {}", "du -sh {}"] {
        assert_eq!(here.decision(&command.replace("{}", &shell_quoted(&shown(&store)))), "silent", "{command}");
    }
    assert_eq!(here.decision("reflex gc"), "silent");
    assert_eq!(here.machine.reflex(["gc"]).run().code, 0);
    assert!(copy.exists());
}

#[test]
fn where_nothing_can_be_written_the_question_stands() {
    let here = Here::new();
    fs::create_dir_all(here.store().parent().unwrap()).unwrap();
    fs::write(here.store(), "no folder").unwrap();
    let (decision, reason) = here.machine.bash(&here.project, "rm notes.md").answer();
    assert!(decision == "ask" && reason.contains("No copy can be kept"), "{decision}: {reason}");
}

#[test]
fn the_list_compares_the_work_and_not_the_index() {
    let here = Here::new();
    here.sh("echo changed > a; touch -d '2 days ago' a");
    let id = here.kept("git checkout .");
    // Git writes its index even on reads.
    here.sh("touch a; git status > /dev/null");
    let state = |id: &str| {
        let list = here.undo(&[]).stdout;
        let row = list.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
        row.split_whitespace().nth(4).unwrap().to_owned()
    };
    assert_eq!(state(&id), "intact");
    here.sh("git checkout -q .");
    assert_eq!(state(&id), "changed");
    here.sh("echo changed > a; git -c user.name=a -c user.email=a@b stash -q");
    let stash = here.kept("git stash drop");
    assert_eq!(state(&stash), "intact");
    here.sh("git stash drop -q");
    assert_ne!(state(&stash), "intact");
}

#[test]
fn a_place_that_leads_elsewhere_is_named_with_the_way_that_works() {
    let here = Here::new();
    here.sh("mkdir -p docs && echo draft > docs/draft.md && touch -d '3 days ago' docs/draft.md");
    let id = here.kept("rm docs/draft.md");
    here.sh("rm -r docs && mkdir ../other && ln -s ../other docs");
    let list = here.undo(&[]).stdout;
    assert!(list.contains("moved") && list.contains("`--to DIR`"), "{list}");
    let plan = here.undo(&[&id, "--dry-run"]).stdout;
    assert!(plan.contains("--to DIR"), "{plan}");
    assert_eq!(here.undo(&[&id, "--to", "back"]).code, 0);
    assert_eq!(fs::read_to_string(here.project.join("back/docs/draft.md")).unwrap(), "draft\n");
}

#[test]
fn check_decides_as_the_hook_does() {
    let here = Here::new();
    here.sh("mkdir many && cd many && seq 2100 | xargs touch && cd .. && truncate -s 65M huge && printf 'make\nrm notes.md\n' > late.sh");
    here.sh("printf 'rm notes.md\n' > wipe.sh; echo changed > a; touch -d '3 days ago' many huge late.sh wipe.sh a");
    for command in
        ["rm notes.md", "rm -rf many", "rm huge", "git checkout .", "sh late.sh", "sh wipe.sh", "ls", "rm -rf /usr"]
    {
        let (hook, reason) = answered(&here, command);
        let check = here.machine.reflex(["check", command]).folder(&here.project).run();
        let word = check.stdout.split_whitespace().next().unwrap().to_owned();
        let agrees = match word.as_str() {
            "keep" => hook == "warn" && reason.contains("Kept"),
            "allow" => hook == "silent",
            "block" => hook == "deny",
            word => hook == word,
        };
        assert!(agrees, "{command}: {hook} {reason}, and {check:?}");
    }
}

/// Returns the decision of the hook, and its message.
fn answered(here: &Here, command: &str) -> (String, String) {
    let output = here.machine.bash(&here.project, command);
    (output.answer().0, output.stdout)
}
