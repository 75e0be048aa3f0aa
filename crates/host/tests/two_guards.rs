//! Two guards with two homes in one process: each judges by its own files and writes only to its own.

use reflex_agents::{Payload, find};
use reflex_host::store::Search;
use reflex_host::store::pause::Pause;
use reflex_host::{Context, Mode, now};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

/// A home with a policy, a rule and a project of its own.
struct Guard {
    _folder: tempfile::TempDir,
    home: PathBuf,
    context: Context,
}

impl Guard {
    /// A guard with this policy that blocks `make NAME`.
    fn new(name: &str, policy: &str) -> Guard {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let context = Context::at_home(&home).unwrap();
        let config = &context.folders().config;
        fs::create_dir_all(config.join("rules")).unwrap();
        fs::create_dir_all(home.join("shop/.git")).unwrap();
        fs::write(config.join("policy.yaml"), policy).unwrap();
        let rule = format!(
            "name: mine\nevents: [bash_command]\nconditions:\n  - matches_command: make {name}*\n\
             action: block\nseverity: high\nmessage: not wanted\n"
        );
        fs::write(config.join("rules/mine.yaml"), rule).unwrap();
        Guard { _folder: folder, home, context }
    }

    /// The hook's answer to a command in the guard's own project; empty if it says nothing.
    fn answer(&self, command: &str) -> String {
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "one", "cwd": self.home.join("shop"), "tool_name": "Bash",
            "tool_input": {"command": command}, "permission_mode": "default",
        });
        let payload = Payload { fields: payload.as_object().unwrap(), event_name: None, variable: &|_| None };
        let reply = self.context.host(Mode::default()).answer(find("claude").unwrap(), &payload).reply;
        let reply: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
        reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
    }

    /// The commands in the guard's log, oldest first.
    fn recorded(&self) -> Vec<String> {
        let calls = Search { fields: vec![("kind".into(), "call".into())], ..Search::default() };
        let records = self.context.store().log().search(&calls, usize::MAX).unwrap();
        let command = |record: &Map<String, Value>| record["actions"][0]["command"].as_str().unwrap().to_owned();
        records.iter().map(command).collect()
    }
}

const PUSH: &str = "git push --force origin topic";
const LOWERED: &str = "rules: {git/push-force: {action: off, reason: a test}}\n";

#[test]
fn each_of_two_guards_goes_by_its_own_home() {
    const ROUNDS: usize = 20;
    let guards = [Guard::new("one", LOWERED), Guard::new("two", "rules: {}\n")];
    // The answers of each guard to these commands.
    let commands = ["make one", "make two", PUSH];
    let answers = [["deny", "", ""], ["", "deny", "ask"]];
    let begin = &Barrier::new(guards.len());
    thread::scope(|scope| {
        for (guard, answers) in guards.iter().zip(answers) {
            scope.spawn(move || {
                begin.wait();
                for _ in 0..ROUNDS {
                    assert_eq!(commands.map(|command| guard.answer(command)), answers);
                }
            });
        }
    });
    for guard in &guards {
        assert_eq!(guard.recorded(), commands.repeat(ROUNDS));
        let chain = guard.context.store().log().verify(&mut |_| true).unwrap();
        assert!(chain.broken.is_none() && chain.missing.is_empty(), "{chain:?}");
    }
}

#[test]
fn a_pause_of_one_guard_leaves_the_other_on() {
    let guards = [(); 2].map(|()| Guard::new("one", "rules: {}\n"));
    let store = guards[0].context.store();
    let pause = Pause { until: now() + 60_000, reason: "a test".into(), by: "me".into(), within: String::new() };
    store.begin_pause(&pause, &store.signer(|| None).unwrap()).unwrap();
    assert_eq!(guards.each_ref().map(|guard| guard.answer("make one")), ["", "deny"]);
}
