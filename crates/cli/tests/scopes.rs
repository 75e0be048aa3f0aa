//! Installation for one project, and for all users of a machine: `init --scope project` and `emit`.

use crate::support::{Machine, Ran, files};
use serde_json::Value;
use std::fs;

/// Each agent's file in a project, and foreign contents that may already be in it.
const FILES: [(&str, &str, &str); 8] = [
    ("claude", ".claude/settings.json", "\n{ \"env\":{},\n\t\"hooks\":{\"Stop\":[]}}\n"),
    ("codex", ".codex/hooks.json", "{\"description\" : \"x\"}"),
    ("copilot", ".github/hooks/reflex.json", "{\"version\": 1, \"hooks\": {\"sessionEnd\": []}}"),
    ("gemini", ".gemini/settings.json", "{\r\n  \"ui\": {} // x\r\n}"),
    ("qwen", ".qwen/settings.json", "{\"$version\": 4}"),
    ("opencode", ".opencode/plugins/reflex.js", ""),
    ("cursor", ".cursor/hooks.json", "{ \"version\":1,\"hooks\":{\"stop\":[{\"command\":\"a\"}]}}"),
    ("windsurf", ".devin/hooks.json", "{\"hooks\":{\"post_write_code\":[{\"command\":\"fmt\"}]}}"),
];

fn run(machine: &Machine, words: &[&str]) -> Ran {
    // From a folder of the project, as in a monorepo.
    let below = machine.project().join("packages/one");
    fs::create_dir_all(&below).unwrap();
    machine.reflex(words).folder(&below).run()
}

#[track_caller]
fn done(machine: &Machine, words: &[&str]) -> String {
    let output = run(machine, words);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{words:?}: {output:?}");
    output.stdout
}

#[test]
fn a_project_is_wired_alone_and_comes_back_to_the_byte() {
    for (agent, name, before) in FILES {
        for before in [None, Some(before)].into_iter().filter(|before| *before != Some("")) {
            let machine = Machine::new();
            let file = machine.project().join(name);
            if let Some(text) = before {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, text).unwrap();
            }
            let scope = ["--yes", "--scope", "project", "--agent", agent];
            let output = done(&machine, &[&["init"][..], &scope].concat());
            assert!(output.contains("the path of reflex on this machine"), "{output}");
            assert!(fs::read_to_string(&file).unwrap().contains(env!("CARGO_BIN_EXE_reflex")), "{agent}");
            let of_user = files(&machine.home()).into_iter().filter(|(file, _)| file.is_file());
            assert!(
                of_user.map(|(file, _)| file).all(|file| file.starts_with(machine.home().join(".local"))),
                "{agent}"
            );
            assert!(done(&machine, &[&["init"][..], &scope].concat()).contains("is up to date"), "{agent}");
            let status = machine.reflex(["status", "--json"]).folder(&machine.project()).run().stdout;
            let status: Value = serde_json::from_str(&status).unwrap();
            let row = status["agents"].as_array().unwrap().iter().find(|row| row["agent"] == agent).cloned().unwrap();
            assert_eq!(row["surfaces"]["shell"]["state"], "CONFIGURED", "{row}");
            done(&machine, &[&["uninstall"][..], &scope].concat());
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{agent}");
            let left = files(&machine.project()).into_iter().map(|(file, _)| file);
            let left: Vec<_> = left.filter(|file| file.ends_with(name.split('/').next().unwrap())).collect();
            assert_eq!(left.len(), usize::from(before.is_some()), "{agent}: {left:?}");
        }
    }
}

#[test]
fn windsurf_keeps_the_file_that_it_reads() {
    let machine = Machine::new();
    let old = machine.project().join(".windsurf/hooks.json");
    fs::create_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&old, "{}\n").unwrap();
    done(&machine, &["init", "--yes", "--scope", "project", "--agent", "windsurf"]);
    assert!(fs::read_to_string(&old).unwrap().contains("pre_run_command"));
    assert!(!machine.project().join(".devin").exists(), "a file there would hide the other");
}

#[test]
fn the_projects_hook_and_the_users_are_both_examined() {
    let machine = Machine::new();
    done(&machine, &["init", "--yes", "--agent", "claude"]);
    done(&machine, &["init", "--yes", "--scope", "project", "--agent", "claude"]);
    // The entry in the project names no home: it is shared.
    let doctor = || machine.as_user(env!("CARGO_BIN_EXE_reflex"), ["doctor", "--agent", "claude"]);
    let Some(call) = doctor() else { return };
    let output = call.folder(&machine.project()).run();
    let answers = output.stdout.lines().filter(|line| line.contains("ok, the hook is installed and answers"));
    assert_eq!((output.code, answers.count()), (0, 2), "{output:?}");
    let file = machine.project().join(".claude/settings.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("\"*\"", "\"Read\"")).unwrap();
    let output = doctor().unwrap().folder(&machine.project()).run();
    assert!(output.stdout.contains("fix: reflex init --agent claude --scope project"), "{output:?}");
}

#[test]
fn every_file_of_every_agent_can_be_printed_and_written() {
    let machine = Machine::new();
    let output = done(&machine, &["emit", "--json", "--binary", "/opt/my tools/reflex"]);
    let emitted: Value = serde_json::from_str(&output).unwrap();
    let of = |scope: &str| -> Vec<Value> {
        emitted["files"].as_array().unwrap().iter().filter(|file| file["scope"] == scope).cloned().collect()
    };
    assert_eq!((of("user").len(), of("project").len(), of("managed").len()), (8, 9, 7));
    for file in emitted["files"].as_array().unwrap() {
        assert!(file["text"].as_str().unwrap().contains("/opt/my tools/reflex"), "{file}");
        let path = file["path"].as_str().unwrap();
        if path.ends_with(".json") {
            serde_json::from_str::<Value>(file["text"].as_str().unwrap()).unwrap();
        }
        assert_eq!(path.starts_with('/'), file["scope"] == "managed", "{path}");
    }
    let banner = |name: &str| {
        let agents = emitted["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["agent"] == name).unwrap()["banner"].as_str().unwrap().to_owned()
    };
    assert_eq!((banner("claude"), banner("windsurf").starts_with("DOWNGRADED")), (String::new(), true));
    let out = machine.root().join("fleet");
    let words = ["hooks", "emit", "--agent", "claude", "--out", out.to_str().unwrap()];
    if run(&machine, &words).stderr.contains("an agent started this") {
        println!("skipped: an agent is among the processes above");
        return;
    }
    let written: Vec<_> = files(&out).into_iter().filter(|(file, _)| file.is_file()).collect();
    assert_eq!(written.len(), 3, "{written:?}");
    let output = run(&machine, &words);
    assert_eq!(output.code, 1);
    assert_eq!(output.stderr.matches("already exists, left unchanged").count(), 3, "{output:?}");
    assert_eq!(files(&out).into_iter().filter(|(file, _)| file.is_file()).collect::<Vec<_>>(), written);
}

#[test]
fn a_committed_hook_judges_a_commit_and_refuses_it_where_reflex_is_missing() {
    let machine = Machine::new();
    let project = machine.project();
    let git = |words: &[&str]| machine.program("git", words).folder(&project).run();
    git(&["init", "-q"]);
    git(&["config", "core.hooksPath", ".githooks"]);
    let emit = |binary: &str| {
        let words = ["emit", "--agent", "git", "--scope", "project", "--binary", binary, "--out", "."];
        machine.reflex(words).folder(&project).run()
    };
    let output = emit(env!("CARGO_BIN_EXE_reflex"));
    if output.stderr.contains("an agent started this") {
        println!("skipped: an agent is among the processes above");
        return;
    }
    assert_eq!(output.code, 0, "{output:?}");
    // The shared file looks up the user's home; a test has one of its own.
    let hook = project.join(".githooks/pre-commit");
    let home = format!("git-hook --home '{}'", machine.home().display());
    fs::write(&hook, fs::read_to_string(&hook).unwrap().replace("git-hook", &home)).unwrap();
    fs::write(project.join("notes.txt"), "fine\n").unwrap();
    git(&["add", "notes.txt"]);
    let commit = || git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "notes"]);
    assert_eq!(commit().code, 0);
    let key = format!("aws_secret_access_key = {}\n", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY");
    fs::write(project.join("notes.txt"), format!("aws_access_key_id = AKIA{}\n{key}", "QYLPMN5HHHFPZAM2")).unwrap();
    git(&["add", "notes.txt"]);
    let refused = commit();
    assert!(refused.code != 0 && refused.stderr.contains("secret"), "{refused:?}");
    fs::remove_file(project.join(".githooks/pre-commit")).unwrap();
    assert_eq!(emit("/opt/missing/reflex").code, 0);
    let refused = commit();
    assert!(refused.code != 0 && refused.stderr.contains("reflex failed (127)"), "{refused:?}");
}

#[test]
fn the_home_is_no_project_and_neither_is_a_folder_that_is_gone() {
    let machine = Machine::new();
    let words = ["init", "--yes", "--scope", "project", "--agent", "claude"];
    let output = machine.reflex(words).folder(&machine.home()).run();
    assert!(output.code == 64 && output.stderr.contains("is not a project"), "{output:?}");
    let line = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" init --yes --scope project --agent claude";
    let output = machine.program("sh", ["-c", line, env!("CARGO_BIN_EXE_reflex")]).run();
    assert!(output.code == 70 && output.stderr.contains("cannot find the working directory"), "{output:?}");
    assert_eq!(files(&machine.root()).into_iter().filter(|(file, _)| file.is_file()).collect::<Vec<_>>(), []);
}

#[test]
fn an_agent_may_look_at_the_files_and_write_none() {
    let machine = Machine::new();
    let out = machine.root().join("fleet");
    let call = machine.reflex(["emit", "--out", out.to_str().unwrap()]).env("CLAUDECODE", "1").run();
    assert_eq!((call.code, out.exists()), (1, false), "{call:?}");
    assert_eq!(machine.reflex(["emit"]).env("CLAUDECODE", "1").run().code, 0);
    for (words, code) in [(["emit", "--binary", "reflex"], 64), (["emit", "--agent", "nobody"], 64)] {
        assert_eq!(machine.reflex(words).run().code, code, "{words:?}");
    }
}
