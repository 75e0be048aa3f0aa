//! `reflex verify --live` with clients that honor a hook, ignore it, never call it, hang, or use another model.

use crate::support;
use crate::support::{Machine, Ran, at_terminal_in, with_program};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A minimal client for a canary: it asks its model, calls the hook from its settings, and reports the
/// result to the model. `MODE` is `honours`, `ignores`, `never` or `mute`.
const CLIENT: &str = r#"#!/bin/bash
[ "$1" = --version ] && { echo "9.8.7 (Fake)"; exit; }
place=${ANTHROPIC_BASE_URL#http://}
env > "$HOME/seen-env"
ask() {
    exec 3<> "/dev/tcp/${place%:*}/${place#*:}"
    printf 'POST /v1/messages HTTP/1.1\r\ncontent-length: %s\r\n\r\n%s' "${#1}" "$1" >&3
    answer=$(cat <&3)
    exec 3>&-
}
first='{"role": "user", "content": "do it"}'
ask '{"tools": [{"name": "Bash"}], "messages": ['"$first"']}'
command=$(sed -n 's/.*"command":"\(.*\)","description".*/\1/p' <<< "$answer")
said=
if [ MODE != never ]; then
    event='{"session_id": "s", "transcript_path": "/t", "cwd": "'$PWD'", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "'$command'"}}'
    settings=$HOME/.claude/settings.json
    binary=$(sed -n 's/.*"command": \(".*"\),$/\1/p' "$settings" | head -n 1)
    words=$(sed -n '/"--event", "PreToolUse"/ { s/.*\[\(.*\)\].*/\1/; s/", "/" "/g; p; }' "$settings")
    said=$(eval "$binary $words" <<< "$event" 2> /dev/null)
    said=$(sed -n 's/.*"permissionDecisionReason":"\(.*\)"}}$/\1/p' <<< "$said")
fi
[ MODE = mute ] && said="something else"
if [ MODE = ignores ] || [ -z "$said" ]; then said=$(eval "$(sed 's/\\"/"/g' <<< "$command")"); fi
result='{"role": "user", "content": [{"type": "tool_result", "content": "'$said'"}]}'
ask '{"tools": [{"name": "Bash"}], "messages": ['"$first, $result"']}'
"#;

struct Live {
    machine: Machine,
    path: String,
}

impl Live {
    /// A machine with this program in place of Claude Code, and the hook in its settings.
    fn with_client(script: &str) -> Live {
        let machine = Machine::new();
        let path = with_program(&machine, "claude", script);
        let live = Live { machine, path };
        let wired = live.machine.reflex(["init", "--agent", "claude", "--yes"]).run();
        assert_eq!(wired.code, 0, "{wired:?}");
        live
    }

    fn in_mode(mode: &str) -> Live {
        Live::with_client(&CLIENT.replace("MODE", mode))
    }

    /// Writes a file of the project's settings.
    fn settings(&self, name: &str, settings: &Value) {
        let folder = self.machine.project().join(".claude");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), settings.to_string()).unwrap();
    }

    fn call(&self, arguments: &[&str]) -> support::Call {
        let call = self.machine.reflex(["verify", "--live", "--agent", "claude"].iter().chain(arguments));
        call.env("PATH", &self.path).folder(&self.machine.project()).patience(90)
    }

    /// Returns the output about the client, and the status.
    fn proof(&self, arguments: &[&str]) -> (Value, i32) {
        let output = self.call(&[&["--json"], arguments].concat()).run();
        assert_eq!(output.json()["schema"], "reflex/verify-live-v1", "{output:?}");
        (output.json()["clients"][0].clone(), output.code)
    }

    /// The last-seen file of its shell calls.
    fn beat(&self) -> PathBuf {
        self.machine.home().join(".local/state/reflex/heartbeats/claude.shell")
    }

    fn line(&self) -> Ran {
        let call = self.machine.reflex(["status", "--line", "--agent", "claude"]);
        call.env("PATH", &self.path).folder(&self.machine.project()).run()
    }
}

#[track_caller]
fn check(mode: &str, state: &str, outcome: &str, seen: [bool; 3]) {
    let live = Live::in_mode(mode);
    let (proof, code) = live.proof(&[]);
    let output = ["hook_saw", "model_told", "ran"].map(|key| proof[key].as_bool().unwrap());
    assert_eq!((proof["state"].as_str(), proof["outcome"].as_str()), (Some(state), Some(outcome)), "{proof}");
    assert_eq!((output, code), (seen, i32::from(state != "PROVEN")), "{proof}");
    assert_eq!(proof["client_version"], "9.8.7", "{proof}");
    let left = fs::read_dir(live.machine.home().join(".cache/reflex")).into_iter().flatten().flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("live-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_client_that_calls_the_hook_and_tells_its_model_is_proven() {
    check("honours", "PROVEN", "proven", [true, true, false]);
}

#[test]
fn a_client_that_runs_what_the_hook_refused_is_called_out() {
    check("ignores", "OFF", "refusal-ignored", [true, false, true]);
}

#[test]
fn a_client_that_never_calls_the_hook_is_off() {
    check("never", "OFF", "hook-never-called", [false, false, true]);
}

#[test]
fn a_client_that_tells_its_model_something_else_is_not_proven() {
    check("mute", "NOT PROVEN", "model-not-told", [true, false, false]);
}

#[test]
fn what_was_proven_stands_in_status_and_no_refused_canary_waits_for_a_person() {
    let live = Live::in_mode("honours");
    assert_eq!(live.proof(&[]).1, 0);
    let of =
        |words: [&str; 2]| live.machine.reflex(words).env("PATH", &live.path).folder(&live.machine.project()).run();
    let status = of(["status", "--json"]).json();
    let proven = &status["agents"][0]["live"];
    assert_eq!((&proven["state"], &proven["version"]), (&json!("PROVEN"), &json!("9.8.7")), "{status}");
    assert_eq!(of(["pending", "--json"]).json()["pending"], json!([]));
    let log = of(["audit", "verify"]);
    assert_eq!(log.code, 0, "{log:?}");
}

#[test]
fn a_new_key_in_the_entry_keeps_the_proof() {
    let live = Live::in_mode("honours");
    live.proof(&[]);
    let status = || {
        let call = live.machine.reflex(["status"]).env("PATH", &live.path).folder(&live.machine.project());
        (call.run().stdout.contains("ok  proven "), live.line().stdout)
    };
    // The first passphrase, then another one.
    for answers in ["correct horse\ncorrect horse\ny\n", "correct horse\nbattery staple\nbattery staple\ny\n"] {
        let Some((code, output)) = at_terminal_in(&live.machine, &live.machine.project(), "pin", answers) else {
            return;
        };
        assert_eq!(code, 0, "{output}");
        assert_eq!(status(), (true, "reflex: guarded\n".to_owned()));
    }
    // Any other change ends it, in both forms.
    let settings = live.machine.home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{\"env\": {\"CLAUDE_CODE_SHELL_PREFIX\": \"\"},", 1)).unwrap();
    assert_eq!(status(), (false, "reflex: not proven\n".to_owned()));
}

#[test]
fn a_client_that_was_caught_stands_in_the_status_line() {
    let live = Live::in_mode("ignores");
    assert_eq!(live.line().stdout, "reflex: not proven\n");
    assert_eq!(live.proof(&[]).1, 1);
    let status =
        live.machine.reflex(["status", "--json"]).env("PATH", &live.path).folder(&live.machine.project()).run();
    assert_eq!(status.json()["agents"][0]["surfaces"]["shell"]["state"], "OFF", "{status:?}");
    // Further hook calls do not verify a client that ignores their answers.
    let later = std::fs::File::options().write(true).open(live.beat()).unwrap();
    later.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(support::passes(&live.machine, "ls"));
    assert!(live.line().stdout.starts_with("reflex: OFF – a canary was not stopped "), "{:?}", live.line());
}

#[test]
fn a_call_after_a_client_was_off_proves_it_again() {
    let live = Live::in_mode("never");
    assert_eq!(live.proof(&[]).1, 1);
    assert!(live.line().stdout.starts_with("reflex: OFF – a canary was not stopped "), "{:?}", live.line());
    assert!(support::passes(&live.machine, "ls"));
    assert_eq!(live.line().stdout, "reflex: guarded\n");
}

#[test]
fn a_client_is_given_no_key_of_the_person() {
    let live = Live::in_mode("honours");
    let call = live.call(&["--json"]).env("ANTHROPIC_API_KEY", "sk-real").env("AWS_SECRET_ACCESS_KEY", "real");
    assert_eq!(call.env("HTTPS_PROXY", "http://proxy").run().code, 0);
    let seen = fs::read_to_string(live.machine.home().join("seen-env")).unwrap();
    assert!(seen.contains("ANTHROPIC_API_KEY=none\n"), "{seen}");
    assert!(!seen.contains("real") && !seen.contains("HTTPS_PROXY"), "{seen}");
}

#[test]
fn a_client_that_would_ask_another_model_is_not_started() {
    let live = Live::in_mode("honours");
    live.settings("settings.local.json", &json!({"env": {"ANTHROPIC_BASE_URL": "https://model.example"}}));
    let (proof, code) = live.proof(&[]);
    let problem = proof["problem"].as_str().unwrap();
    assert_eq!((proof["outcome"].as_str(), code), (Some("refused"), 1));
    assert_eq!(proof["against"][0]["key"], "env.ANTHROPIC_BASE_URL", "{proof}");
    assert!(problem.contains("`env.ANTHROPIC_BASE_URL` in ") && problem.contains("settings.local.json"), "{problem}");
    assert!(!live.machine.home().join("seen-env").exists());
}

#[test]
fn hooks_of_others_run_only_if_a_person_accepts_them() {
    let live = Live::in_mode("honours");
    let other = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}});
    live.settings("settings.json", &other);
    let (proof, code) = live.proof(&[]);
    assert_eq!((proof["outcome"].as_str(), code), (Some("refused"), 1));
    assert!(proof["problem"].as_str().unwrap().contains("`say done`"), "{proof}");
    assert_eq!(live.proof(&["--yes"]).1, 0);
}

#[test]
fn no_agent_starts_a_client() {
    let live = Live::in_mode("honours");
    let output = live.call(&[]).env("CLAUDECODE", "1").run();
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stderr.contains("only a person starts a client"), "{output:?}");
    assert!(!live.machine.home().join("seen-env").exists());
}

#[test]
fn a_guard_that_a_person_switched_off_is_not_put_to_the_proof() {
    let live = Live::in_mode("honours");
    let store = live.machine.home().join(".local/state/reflex");
    fs::create_dir_all(&store).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let off = json!({"from": now - 1000, "until": now + 60_000, "reason": "r", "by": "me", "within": ""});
    fs::write(store.join("off.json"), off.to_string()).unwrap();
    let (proof, _) = live.proof(&[]);
    assert!(proof["problem"].as_str().unwrap().starts_with("the guard is switched off until "), "{proof}");
    assert!(live.line().stdout.starts_with("reflex: paused until "), "{:?}", live.line());
}

/// It lets a pipe with a name go when it and all that it started have ended, also what is in a session of its own.
const HANGING: &str = "#!/bin/bash\n[ \"$1\" = --version ] && exit\nexec 9> \"$HOME/pipe\"\necho begun >&9\n\
    setsid sleep 600 &\nsleep 600\n";

/// A pipe in the home: its first line, then its end.
fn pipe(machine: &Machine) -> Receiver<String> {
    let path: PathBuf = machine.home().join("pipe");
    assert_eq!(machine.program("mkfifo", [&path]).run().code, 0);
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(fs::File::open(path).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        send.send(line).unwrap();
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        send.send("ended".into()).unwrap();
    });
    receive
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_client_that_hangs_is_ended_with_all_that_it_started() {
    let live = Live::with_client(HANGING);
    let pipe = pipe(&live.machine);
    let output = live.call(&["--json"]).env("REFLEX_TEST_LIVE_SECONDS", "1").run();
    let proof = &output.json()["clients"][0];
    assert_eq!((proof["outcome"].as_str(), output.code), (Some("client-not-started"), 1), "{output:?}");
    assert!(proof["words"].as_str().unwrap().starts_with("it did not end in time"), "{proof}");
    assert_eq!(pipe.recv_timeout(PATIENCE).unwrap(), "begun\n");
    assert_eq!(pipe.recv_timeout(PATIENCE).unwrap(), "ended");
}

#[test]
fn a_person_who_interrupts_it_leaves_nothing_running() {
    let live = Live::with_client(HANGING);
    let pipe = pipe(&live.machine);
    let running = live.call(&["--json"]).start_waiting();
    assert_eq!(pipe.recv_timeout(PATIENCE).unwrap(), "begun\n");
    running.signal("INT");
    assert_eq!(running.finish().code, 130);
    assert_eq!(pipe.recv_timeout(PATIENCE).unwrap(), "ended");
}

#[test]
fn a_canary_says_one_line_and_an_agent_cannot_run_it() {
    let machine = Machine::new();
    let output = machine.reflex(["canary", "5f2c"]).run();
    assert_eq!(output, Ran { stdout: "canary 5f2c: nothing stopped it\n".into(), stderr: String::new(), code: 0 });
    assert!(support::files(&machine.home()).is_empty());
    // A refusal shows only the start of a long command, which still contains the proof.
    let command = format!("/{}/reflex canary 5f2c", "long/".repeat(60));
    let (decision, reason) = machine.bash(&machine.project(), &command).answer();
    assert_eq!(decision, "deny");
    assert!(reason.contains("guard/canary") && reason.contains("5f2c"), "{reason}");
}

#[test]
fn a_status_line_reads_what_a_client_sends_and_always_succeeds() {
    let live = Live::in_mode("honours");
    live.settings("settings.json", &json!({"disableAllHooks": true}));
    let line = |input: &str, variable: &str| {
        let call = live.machine.reflex(["status", "--line"]).env("PATH", &live.path).folder(&live.machine.project());
        call.env(variable, "1").input(input).run()
    };
    let sent = json!({"session_id": "s", "cwd": live.machine.project()}).to_string();
    let without = line(&sent, "NO_COLOR");
    assert!(without.stdout.starts_with("reflex: OFF – ") && without.stdout.lines().count() == 1, "{without:?}");
    assert_eq!(without.code, 0);
    let with = line(&sent, "UNUSED");
    assert_eq!(with.stdout, format!("\u{1b}[1;31m{}\u{1b}[0m\n", without.stdout.trim_end()));
    assert_eq!(line("no json", "UNUSED").stdout, without.stdout);
    let call = live.machine.reflex(["status", "--line"]).env("PATH", &live.path).folder(&live.machine.project());
    assert_eq!(call.start_waiting().finish().stdout, without.stdout, "an open input holds it up");
}

#[test]
fn a_policy_that_lets_the_canary_pass_is_told_from_a_hook_that_is_not_called() {
    let live = Live::with_client(&CLIENT.replace("MODE", "honours"));
    let config = live.machine.home().join(".config/reflex");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("policy.yaml"), "preset: observe\nreason: I only watch\n").unwrap();
    let (proof, code) = live.proof(&[]);
    assert_eq!((proof["outcome"].as_str(), proof["ran"].as_bool(), code), (Some("let-pass"), Some(true), 1), "{proof}");
}

#[test]
fn init_offers_the_proof_to_a_person_at_a_terminal() {
    let live = Live::in_mode("honours");
    if live.machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        println!("skipped: there is no program `script`");
        return;
    }
    let init = |answers: &str| {
        let line = format!("{} init --agent claude", live.machine.line());
        let call = live.machine.program("script", ["-qec", &line, "/dev/null"]).env("PATH", &live.path);
        call.folder(&live.machine.project()).input(answers).run().stdout
    };
    // An empty line confirms.
    let output = init("\n");
    assert!(output.contains("Start Claude Code once with a harmless canary to prove it? [Y/n]"), "{output}");
    assert!(output.contains("claude: PROVEN: the hook saw the canary, and Claude Code 9.8.7 reported"), "{output}");
    let output = init("n\n");
    assert!(output.contains("[Y/n]") && !output.contains("PROVEN"), "{output}");
    let without = live.machine.reflex(["init", "--agent", "claude"]).env("PATH", &live.path).run();
    assert!(!without.stdout.contains("canary"), "{without:?}");
}
