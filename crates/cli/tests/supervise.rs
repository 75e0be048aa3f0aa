//! `reflex run --supervise`: every program that starts below it is judged, with and without hooks.
#![cfg(target_os = "linux")]

use crate::support::{Machine, Ran};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A machine with a project in which `reflex run --supervise` starts shells.
struct Supervised {
    machine: Machine,
}

impl Supervised {
    /// `None` if this system cannot supervise.
    fn new() -> Option<Supervised> {
        if let Err(why) = reflex_supervise::probe() {
            println!("skipped: {why}");
            return None;
        }
        let machine = Machine::new();
        machine.project();
        Some(Supervised { machine })
    }

    /// Runs a line in a supervised shell.
    fn run(&self, line: &str) -> Ran {
        self.with(&[], line)
    }

    fn with(&self, options: &[&str], line: &str) -> Ran {
        let words = [&["run", "--supervise"], options, &["--", "sh", "-c", line]].concat();
        self.machine.reflex(words).folder(&self.machine.project()).run()
    }

    /// The records of starts whose command contains this text, the newest first.
    fn starts(&self, text: &str) -> Vec<Value> {
        let found = self.machine.reflex(["audit", "search", "kind=call", "--json"]).run();
        let records = found.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let has = |record: &Value| record["actions"][0]["command"].as_str().is_some_and(|one| one.contains(text));
        records.filter(has).collect()
    }
}

#[test]
fn a_program_without_hooks_is_stopped_where_it_starts_another() {
    let Some(run) = Supervised::new() else { return };
    let photos = run.machine.home().join("photos");
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("marker"), "").unwrap();
    let home = run.machine.home();
    // What a shell would hide from a reader of its text.
    let line =
        format!("X=photos; for d in '{0}'; do rm -rf \"$d/$X\"; done; echo \"status $?\"; echo on", home.display());
    let output = run.run(&line);
    assert_eq!((output.stdout.as_str(), output.code), ("status 126\non\n", 0), "{output:?}");
    assert!(photos.join("marker").exists());
    assert_eq!(output.stderr.matches("reflex: Blocked: ").count(), 1, "{output:?}");
    assert!(output.stderr.contains("supervised: every program that sh starts is judged"), "{output:?}");
    assert!(output.stderr.contains("1 call: 1 stopped"), "{output:?}");
}

#[test]
fn each_start_is_recorded_under_the_one_that_it_comes_from() {
    let Some(run) = Supervised::new() else { return };
    let output = run.run("env ls; env rm -rf /etc/nothing; :");
    assert_eq!(output.code, 0, "{output:?}");
    let (ls, rm) = (run.starts("ls"), run.starts("rm -rf /etc/nothing"));
    let of = |records: &[Value], name: &str| {
        records.iter().find(|one| one["actions"][0]["command"].as_str().unwrap().starts_with(name)).cloned().unwrap()
    };
    let (ls, rm) = (of(&ls, "ls"), of(&rm, "env rm"));
    assert_eq!((&ls["assurance"], &ls["decision"]), (&"supervised".into(), &"pass".into()), "{ls}");
    assert_eq!(rm["decision"], "deny", "{rm}");
    assert_eq!(ls["session"], rm["session"]);
    assert_eq!(rm["start"].get("by"), None, "{rm}");
    let ls = run.starts("ls").into_iter().find(|one| one["actions"][0]["command"] == "ls").unwrap();
    let why = run.machine.reflex(["why", ls["id"].as_str().unwrap()]).run();
    let tree: Vec<&str> = why.stdout.lines().filter_map(|line| line.strip_prefix("starts   ")).collect();
    let expected = ["  env ls", ">   ls"];
    assert_eq!(tree, expected, "{}", why.stdout);
}

impl Supervised {
    /// Runs a line in a supervised shell, in which a person approves the first call that waits; then the file `go`
    /// appears in the project.
    fn with_approval(&self, line: &str) -> (Ran, Ran) {
        let (project, machine) = (self.machine.project(), &self.machine);
        let approve = || {
            let id = (0..200).find_map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                let pending: Value = serde_json::from_str(&machine.reflex(["pending", "--json"]).run().stdout).unwrap();
                Some(pending["pending"].get(0)?["id"].as_str()?.to_owned())
            });
            let line = format!("{} approve {}", machine.line(), id.unwrap());
            let ran = machine.program("script", ["-qec", &line, "/dev/null"]).folder(&project).input("y\n").run();
            fs::write(project.join("go"), "").unwrap();
            ran
        };
        std::thread::scope(|scope| {
            let approved = scope.spawn(approve);
            (self.run(line), approved.join().unwrap())
        })
    }
}

/// A command that waits for the file `go`.
const UNTIL_GO: &str = "while [ ! -e go ]; do sleep 0.1; done";

#[test]
fn an_approved_start_passes_once() {
    let Some(run) = Supervised::new() else { return };
    fs::create_dir(run.machine.root().join("outside")).unwrap();
    let rm = "rm -rf ../outside; echo $?";
    let (output, approved) = run.with_approval(&format!("{rm}; {UNTIL_GO}; {rm}; {rm}"));
    assert_eq!(output.stdout, "126\n0\n126\n", "{output:?} {approved:?}");
}

#[test]
fn an_approval_of_a_program_is_one_of_the_program_that_it_starts() {
    let Some(run) = Supervised::new() else { return };
    let folder = run.machine.root().join("outside");
    fs::create_dir(&folder).unwrap();
    let env = "env rm -rf ../outside; echo $?";
    let (output, approved) = run.with_approval(&format!("{env}; {UNTIL_GO}; {env}"));
    assert_eq!(output.stdout, "126\n0\n", "{output:?} {approved:?}");
    assert!(!folder.exists());
}

impl Supervised {
    /// A line that reports a call to the hook and prints the decision.
    fn hook(&self, command: &str) -> String {
        let payload = serde_json::json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": self.machine.project(),
            "tool_input": {"command": command},
        });
        let hook = format!("echo '{payload}' | {} hook --agent claude", self.machine.line());
        format!("case $({hook}) in *'\"ask\"'*) echo ask ;; *) echo other ;; esac")
    }

    /// Runs an agent that reports a call to its hook, prints the decision, and then runs these lines.
    fn agent(&self, command: &str, lines: &str) -> Ran {
        let agent = self.machine.root().join("claude");
        fs::write(&agent, format!("#!/bin/sh\n{}\n{lines}\n", self.hook(command))).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let words = ["run", "--supervise", "--", agent.to_str().unwrap(), "-p", "hi"];
        self.machine.reflex(words).folder(&self.machine.project()).run()
    }
}

#[test]
fn a_call_is_the_cause_of_the_program_that_runs_it() {
    let Some(run) = Supervised::new() else { return };
    let output = run.agent("env ls", "bash -c \"shopt -s extglob && eval 'env ls' < /dev/null && pwd -P\"");
    assert_eq!(output.code, 0, "{output:?}");
    let call = run.starts("env ls").into_iter().find(|one| one.get("start").is_none()).unwrap();
    let shell = run.starts("shopt").pop().unwrap();
    assert_eq!(shell["start"]["by"], call["id"], "{shell}");
    let why = run.machine.reflex(["why", call["id"].as_str().unwrap()]).run();
    let tree: Vec<&str> = why.stdout.lines().filter_map(|line| line.strip_prefix("starts   ")).collect();
    assert_eq!(
        (tree[0], tree[2], tree[3], tree.len()),
        ("> env ls", "      env ls", "        ls", 4),
        "{}",
        why.stdout
    );
}

#[test]
fn a_question_of_the_hook_is_no_answer() {
    let Some(run) = Supervised::new() else { return };
    // Any program below the agent can make such a call; nobody has answered it.
    let push = "git push --delete origin old";
    let output = run.agent(push, &format!("bash -c '{push}'; echo $?"));
    assert_eq!(output.stdout, "ask\n126\n", "{output:?}");
}

#[test]
fn an_agent_that_is_no_shell_gets_the_text_as_output_of_the_program() {
    let Some(run) = Supervised::new() else { return };
    let words = ["run", "--supervise", "--", "env", "rm", "-rf", "/etc/nothing"];
    let output = run.machine.reflex(words).folder(&run.machine.project()).run();
    assert!(output.code == 137 && output.stderr.contains("reflex: Blocked: "), "{output:?}");
}

#[test]
fn of_a_shell_only_its_own_redirections_are_judged() {
    let Some(run) = Supervised::new() else { return };
    let output = run.run("sh -c 'echo x > ~/.bashrc'; echo $?; sh -c 'echo on; rm -rf /etc/nothing; echo $?'");
    assert_eq!(output.stdout, "126\non\n126\n", "{output:?}");
    assert!(!run.machine.home().join(".bashrc").exists());
}

#[test]
fn no_form_of_a_start_takes_the_place_of_another() {
    let Some(run) = Supervised::new() else { return };
    let script = |name: &str, text: &str, mode: u32| {
        let file = run.machine.project().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    script("rm-by-env", "#!/usr/bin/env rm\n", 0o755);
    script("not-executable", "#!/usr/bin/env rm\n", 0o644);
    let python = "import os\ntry: os.execv('./not-executable', ['x', '-rf', '/etc/nothing'])\nexcept OSError: pass\n\
                  os.execv('/bin/rm', ['rm', './not-executable', '-rf', '/etc/nothing'])";
    script("retry.py", python, 0o644);
    for line in
        ["./rm-by-env -rf /etc/nothing", "python3 retry.py", "mkfifo p; ./p; chmod +x p; ./p; rm -rf /etc/nothing"]
    {
        let output = run.run(line);
        assert!(output.stderr.contains("reflex: Blocked: "), "{line}: {output:?}");
    }
    // The words of the run's own program excuse nothing before them.
    let agent = run.machine.root().join("claude");
    let text =
        "#!/usr/bin/env python3\nimport os, sys\nos.execv('/bin/rm', ['rm', '-rf', '/etc/nothing', *sys.argv])\n";
    fs::write(&agent, text).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let words = ["run", "--supervise", "--", agent.to_str().unwrap(), "-p", "hi"];
    let output = run.machine.reflex(words).folder(&run.machine.project()).run();
    assert!(output.code != 0 && output.stderr.contains("reflex: Blocked: "), "{output:?}");
}

#[test]
fn the_status_is_that_of_the_program() {
    let Some(run) = Supervised::new() else { return };
    assert_eq!(run.run("exit 7").code, 7);
    assert_eq!(run.run("kill -TERM $$").code, 143);
    assert_eq!(run.run("exec sh -c 'exit 3'").code, 3);
    assert_eq!(run.machine.reflex(["run", "--supervise", "--", "no-such-program"]).run().code, 70);
}

#[test]
fn jobs_are_stopped_and_continued_at_a_terminal() {
    let Some(run) = Supervised::new() else { return };
    let words = ["-c", include_str!("supervise/terminal.py"), env!("CARGO_BIN_EXE_reflex"), "--home"];
    let home = run.machine.home();
    let python = run.machine.program("python3", words.into_iter().chain(home.to_str())).folder(&run.machine.project());
    let output = python.run();
    assert_eq!(output.stdout, "status 5\n", "{output:?}");
}

#[test]
fn without_its_supervisor_nothing_starts_any_more() {
    let Some(run) = Supervised::new() else { return };
    let output = run.run("echo before > a; kill -KILL $PPID; env true; env sh -c 'echo after > b'");
    assert_ne!(output.code, 0, "{output:?}");
    let project = run.machine.project();
    assert!(project.join("a").exists() && !project.join("b").exists());
}

#[test]
fn a_run_inside_of_another_is_judged_by_the_outer_one() {
    let Some(run) = Supervised::new() else { return };
    let inner = format!("{} run --supervise -- sh -c 'env true; echo on'", run.machine.line());
    let output = run.run(&inner);
    assert!(output.stderr.contains("supervised by the run above") && output.stdout == "on\n", "{output:?}");
    assert_eq!(run.starts("env true").iter().filter(|one| one["actions"][0]["command"] == "env true").count(), 1);
}

#[test]
fn a_script_is_judged_by_its_interpreter_and_by_what_it_starts() {
    let Some(run) = Supervised::new() else { return };
    let script = run.machine.project().join("clean");
    fs::write(&script, "#!/bin/sh\nset -- /etc nothing\nrm -rf \"$1/$2\"\necho $?\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let output = run.run("./clean");
    assert!(output.stderr.contains("reflex: Blocked: "), "{output:?}");
}

/// Forbids `seccomp` to the program that it starts: a filter that answers `EPERM` to system call 317.
const FORBID: &str = "import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 317), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
class Filter(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('steps', ctypes.c_void_p)]
if libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.addressof(text)))): sys.exit(99)
os.execvp(sys.argv[1], sys.argv[1:])";

#[test]
#[cfg(target_arch = "x86_64")]
fn where_the_system_forbids_it_nothing_starts_without_best_effort() {
    let Some(run) = Supervised::new() else { return };
    let home = run.machine.home();
    let forbidden = |words: &[&str]| {
        let reflex = [env!("CARGO_BIN_EXE_reflex"), "--home", home.to_str().unwrap(), "run", "--supervise"];
        run.machine.program("python3", [&["-c", FORBID], reflex.as_slice(), words].concat()).run()
    };
    let refused = forbidden(&["--", "echo", "on"]);
    if refused.code == 99 || refused.stderr.contains("No module") {
        println!("skipped: {refused:?}");
        return;
    }
    assert!(refused.code == 1 && refused.stdout.is_empty(), "{refused:?}");
    assert!(refused.stderr.contains("not started: this system forbids seccomp filters"), "{refused:?}");
    let started = forbidden(&["--best-effort", "--", "echo", "on"]);
    assert!(started.stdout == "on\n" && started.stderr.contains("NOT supervised: "), "{started:?}");
    let agent = forbidden(&["--best-effort", "--check", "--", "codex"]);
    assert!(agent.code == 1 && agent.stderr.contains("reflex init --agent codex"), "{agent:?}");
}

#[test]
fn only_a_supervised_program_may_be_unknown() {
    let machine = Machine::new();
    let output = machine.reflex(["run", "--", "vim"]).run();
    assert!(output.code == 64 && output.stderr.contains("`--supervise` or `--watch` starts any program"), "{output:?}");
}
