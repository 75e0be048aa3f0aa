//! Declared tasks: who can declare them, and what their scope and intent are compared with.

use crate::support;
use crate::support::Machine;
use serde_json::{Value, json};
use std::fs;

/// Runs as a person at a terminal; `None` if no terminal can be created.
fn at_terminal(machine: &Machine, arguments: &str) -> Option<(i32, String)> {
    if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        println!("skipped: there is no program `script`");
        return None;
    }
    let line = format!("{} {arguments}", machine.line());
    let output = machine.program("script", ["-qec", &line, "/dev/null"]).folder(&machine.project()).run();
    Some((output.code, output.stdout))
}

/// Asserts the decision about one universal event.
fn eval(machine: &Machine, event: &Value) -> Value {
    let output = machine.reflex(["eval"]).input(format!("{event}\n")).run();
    serde_json::from_str(&output.stdout).unwrap()
}

#[track_caller]
fn check(event: &Value, decision: &str, id: Option<&str>) {
    let verdict = eval(&Machine::new(), event);
    assert_eq!(verdict["decision"], decision, "{verdict}");
    assert_eq!(verdict["findings"][0]["id"].as_str(), id, "{verdict}");
}

fn written(path: &str, task: &Value) -> Value {
    json!({"event": "pre-write", "files": [path], "content": "x", "facts": {"task": task}})
}

fn run(command: &str, task: &Value) -> Value {
    json!({"event": "pre-command", "command": command, "facts": {"task": task}})
}

#[test]
fn what_lies_outside_of_the_scope_asks() {
    let task = json!({"id": "T", "scope": ["src/**", "docs"]});
    let outside = Some("task/outside-scope");
    check(&written("src/a/b.rs", &task), "allow", None);
    check(&written("docs/a.md", &task), "allow", None);
    check(&written("lib/a.rs", &task), "require_approval", outside);
    check(&written("src/../lib/a.rs", &task), "require_approval", outside);
    check(&run("cd lib && echo x > a", &task), "require_approval", outside);
    check(&run("rm src/*.rs", &task), "allow", None);
    check(&run("mv src/a lib/a", &task), "require_approval", outside);
    check(&run("git -C lib status && cat lib/a", &task), "allow", None);
    check(&run("rm -rf node_modules; echo x > /tmp/a", &task), "allow", None);
    check(&written("lib/a.rs", &json!({"id": "T", "scope": []})), "allow", None);
}

#[test]
fn what_a_call_says_of_itself_only_tightens() {
    let call = |scope: &[&str]| {
        json!({"event": "pre-write", "files": ["lib/a"], "content": "x", "scope": scope,
            "facts": {"task": {"id": "T", "scope": ["src/**"]}}})
    };
    check(&call(&["**"]), "require_approval", Some("task/outside-scope"));
    let narrowed = json!({"event": "pre-write", "files": ["lib/a"], "content": "x", "scope": ["src/**"]});
    check(&narrowed, "require_approval", Some("task/outside-scope"));
    // `git checkout .` in a sensitive folder asks; a merely claimed intent that names it does not loosen the decision.
    let lost = |intent: &str, task: Value| {
        let facts = json!({"git": {"branch": "x", "dirty": ["infra/a.tf"]}, "task": task});
        json!({"event": "pre-command", "command": "git checkout infra/a.tf", "intent": intent, "facts": facts})
    };
    let (no_task, person) = (json!(null), json!({"id": "T", "intent": "Undo the Terraform change"}));
    check(&lost("", no_task.clone()), "block", Some("git/discard-changes"));
    check(&lost("terraform", no_task), "block", Some("git/discard-changes"));
    check(&lost("", person), "require_approval", Some("git/discard-changes"));
}

#[test]
fn sensitive_places_that_the_intent_does_not_name_are_told() {
    let finding = Some("task/sensitive-path");
    check(&written("auth/a.ts", &json!({"intent": "fix a typo"})), "warn", finding);
    check(&written("auth/a.ts", &json!({"intent": "Rework login, again"})), "allow", None);
    check(&written("auth/a.ts", &json!({"intent": "rename the author field"})), "warn", finding);
    check(&written("auth/a.ts", &json!(null)), "allow", None);
    check(&written(".github/workflows/ci.yml", &json!({"intent": "faster ci"})), "allow", None);
    let claimed = json!({"event": "pre-write", "files": ["payments/a.ts"], "content": "x", "intent": "style"});
    check(&claimed, "warn", finding);
}

#[test]
fn only_a_person_begins_and_ends_a_task_and_every_call_belongs_to_it() {
    let machine = Machine::new();
    let project = machine.project();
    let refused = machine.reflex(["task", "start", "T-1"]).folder(&project).run();
    assert!(refused.code == 1 && refused.stderr.contains("only a person"), "{refused:?}");
    let Some((code, output)) =
        at_terminal(&machine, "task start T-1 --intent 'a shop' --scope 'src/**' --accept green")
    else {
        return;
    };
    assert_eq!(code, 0, "{output}");
    assert!(at_terminal(&machine, "task start T-2").unwrap().1.contains("T-1 is not ended"));
    assert!(machine.bash(&project, "echo x > lib.rs").answer().1.contains("the scope of the task T-1 is src/**"));
    assert_eq!(machine.bash(&project, "echo x > src/a"), support::Ran::silence());
    // Another work tree of the repository, and a nested repository.
    let below = project.join("deep");
    fs::create_dir_all(below.join(".git")).unwrap();
    assert!(machine.bash(&below, "echo y > b").answer().1.contains("T-1"));
    let shown = machine.reflex(["task", "show", "--json"]).folder(&project).run().json();
    let task = &shown["task"];
    assert_eq!((&task["calls"], &task["asked"], &task["acceptance"][0]), (&json!(3), &json!(2), &json!("green")));
    let changed = task["changed"].to_string();
    assert!(changed.contains("src/a") && !changed.contains("lib.rs"), "what was only asked about: {changed}");
    assert_eq!(machine.reflex(["task", "end"]).folder(&project).run().code, 1);
    assert_eq!(at_terminal(&machine, "task end").unwrap().0, 0);
    assert_eq!(machine.bash(&project, "echo z > lib.rs"), support::Ran::silence());
}

#[test]
fn a_role_only_tightens() {
    let machine = Machine::new();
    let project = machine.project();
    let policy = "roles:\n  reviewer: {mode: read-only}\n  writer: {scope: [docs/**], protectedPaths: [docs/api.md]}\n  \
        brave: {mode: observe}\n";
    fs::create_dir_all(project.join(".reflex")).unwrap();
    fs::write(project.join(".reflex/policy.yaml"), policy).unwrap();
    let check = |role: &str, command: &str, decision: &str| {
        let event = json!({"event": "pre-command", "command": command, "agent": role, "cwd": project});
        let output = machine.reflex(["check", "--payload", "--json"]).input(event.to_string()).run();
        assert_eq!(output.json()["decision"], decision, "{role} {command}: {}", output.stdout);
    };
    check("reviewer", "git diff HEAD~1 | head", "allow");
    check("reviewer", "npm test", "require_approval");
    check("reviewer", "python3 -c 'print(1)'", "require_approval");
    check("writer", "echo x > docs/a.md", "allow");
    check("writer", "echo x > src/a.rs", "require_approval");
    check("writer", "rm docs/api.md", "block");
    check("other", "rm docs/api.md", "allow");
    check("brave", "rm -rf ~", "block");
}

#[test]
fn read_only_asks_about_all_that_does_more_than_look() {
    let machine = Machine::new();
    let check = |command: &str, decision: &str| {
        let output =
            machine.reflex(["check", "--json", "--mode", "read-only", command]).folder(&machine.project()).run();
        assert_eq!(output.json()["decision"], decision, "{command}: {}", output.stdout);
    };
    for looks in
        ["ls -la | head", "find . -name x -exec cat {} +", "git log -5 && git diff", "grep -r x . 2> /dev/null"]
    {
        check(looks, "allow");
    }
    let acts = [
        "touch a",
        "echo x > /tmp/a",
        "make",
        "sed -i s/a/b/ c",
        "find . -delete",
        "git branch x",
        "uniq a b",
        "curl https://x.example",
        "cat a | xargs rm",
        "sh -c 'frob'",
        "ls; frob",
    ];
    for acts in acts {
        check(acts, "require_approval");
    }
}

#[test]
fn a_yes_for_a_task_ends_with_it_and_no_call_claims_it() {
    let machine = Machine::new();
    let project = machine.project();
    let push = "git push --force origin topic";
    let call = |task: Option<&str>| {
        let event = json!({"event": "pre-command", "command": push, "cwd": project, "taskId": task});
        machine.reflex(["hook", "--agent", "universal"]).input(event.to_string()).run().json()["decision"].clone()
    };
    let Some((0, _)) = at_terminal(&machine, "task start T-1") else { return };
    assert_eq!(call(None), "require_approval");
    let pending = machine.reflex(["pending", "--json"]).run().json();
    let id = pending["pending"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(pending["pending"][0]["task"], "T-1");
    let line = format!("{} approve {id} --scope task --reason rebase", machine.line());
    let output = machine.program("script", ["-qec", &line, "/dev/null"]).folder(&project).input("y\n").run();
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!((call(None), call(Some("T-2"))), (json!("allow"), json!("allow")));
    assert_eq!(at_terminal(&machine, "task end").unwrap().0, 0);
    assert_eq!((call(None), call(Some("T-1"))), (json!("require_approval"), json!("require_approval")));
    assert_eq!(at_terminal(&machine, "task start T-1").unwrap().0, 0);
    assert_eq!(call(None), "require_approval", "another task of the same name");
}

#[test]
fn a_task_shows_its_last_verification_and_the_retries_that_are_left() {
    let machine = Machine::new();
    let policy = machine.home().join(".config/reflex/policy.yaml");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(policy, "verify: {run: [{name: tests, command: test -e done}]}\n").unwrap();
    let Some((0, _)) = at_terminal(&machine, "task start T-1 --intent work") else { return };
    let shown = || machine.reflex(["task", "show", "--json"]).folder(&machine.project()).run().json()["task"].clone();
    assert_eq!((&shown()["verification"], &shown()["retries_left"]), (&Value::Null, &2.into()));
    let stop = json!({"session_id": "s1", "cwd": machine.project(), "hook_event_name": "Stop"});
    let stops = || {
        let call = machine.reflex(["hook", "--agent", "claude", "--event", "Stop"]);
        call.input(stop.to_string()).run()
    };
    assert_eq!(stops().json()["decision"], "block");
    assert_eq!((&shown()["verification"], &shown()["retries_left"]), (&"failed".into(), &1.into()));
    fs::write(machine.project().join("done"), "").unwrap();
    stops();
    assert_eq!((&shown()["verification"], &shown()["retries_left"]), (&"passed".into(), &2.into()));
    let shown = machine.reflex(["task", "show"]).folder(&machine.project()).run().stdout;
    assert!(shown.contains("verification passed; it keeps the agent at work 2 times more"), "{shown}");
}

#[test]
fn criteria_of_a_task_are_run_or_told_as_open_until_a_person_says_that_they_are_met() {
    let machine = Machine::new();
    let start = "task start T-1 --accept-run 'test -e done' --accept 'it is faster' --accept 'it is documented'";
    let Some((0, _)) = at_terminal(&machine, start) else { return };
    let verify = || {
        let event = json!({"event": "final-verify", "cwd": machine.project(), "session": "s1"});
        machine.reflex(["hook"]).input(event.to_string()).run().json()
    };
    let found = |verdict: &Value| {
        let findings = verdict["findings"].as_array().unwrap();
        findings.iter().map(|one| format!("{} {}", one["id"], one["message"])).collect::<String>()
    };
    let first = found(&verify());
    assert!(first.contains("verify/check-failed") && first.contains("`test -e done` does not pass"), "{first}");
    assert!(first.contains("task/criteria-open") && first.contains("`it is faster` and `it is documented`"), "{first}");
    assert_ne!(machine.reflex(["task", "met", "1"]).folder(&machine.project()).run().code, 0, "an agent says so");
    fs::write(machine.project().join("done"), "").unwrap();
    assert_eq!(at_terminal(&machine, "task met 7").unwrap().0, 64);
    assert_eq!(at_terminal(&machine, "task met 1").unwrap().0, 0);
    let second = found(&verify());
    assert!(
        second.contains("`it is documented`") && !second.contains("faster") && !second.contains("check"),
        "{second}"
    );
    assert_eq!(at_terminal(&machine, "task met 'it is documented'").unwrap().0, 0);
    assert_eq!(verify()["decision"], "allow");
    let shown = machine.reflex(["task", "show"]).folder(&machine.project()).run().stdout;
    assert!(
        shown.contains("accept  1. it is faster (met)") && shown.contains("`test -e done` exits with 0"),
        "{shown}"
    );
}
