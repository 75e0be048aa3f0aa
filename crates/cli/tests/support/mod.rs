//! A temporary machine for the binary: separate home, no real environment variables, and a limit for every wait.
#![allow(dead_code, reason = "each test file uses its part of this")]

pub(crate) mod calls;

use reflex_agents::{Payload, find, object};
use reflex_host::store::approvals::Hold;
use reflex_host::{Context, Environment, Mode, Replied};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Longer than any step takes; a wait of this duration is a failure.
const PATIENCE: Duration = Duration::from_secs(90);

/// Temporary folders, below the build folder, because files in `/tmp` are judged more leniently.
pub(crate) struct Machine {
    root: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine::below(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    pub(crate) fn below(folder: &Path) -> Machine {
        let root = tempfile::Builder::new().prefix("machine").tempdir_in(folder).unwrap();
        let machine = Machine { root };
        std::fs::create_dir(machine.home()).unwrap();
        machine
    }

    /// The root folder of this machine.
    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home me")
    }

    /// Sets a user policy that asks about losses, even if a backup is made first.
    pub(crate) fn asking(self) -> Machine {
        let folder = self.home().join(".config/reflex");
        let ids = [
            "rm/uncommitted",
            "rm/from-before",
            "rm/untracked",
            "git/discard-changes",
            "git/discard-untracked",
            "git/drop-stash",
            "git/delete-branch",
        ];
        let rules: Vec<String> = ids.iter().map(|id| format!("  {id}: ask\n")).collect();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("policy.yaml"), format!("rules:\n{}", rules.concat())).unwrap();
        self
    }

    /// A separate folder, with a `.git` so that a repository around the build folder is not used as its project.
    pub(crate) fn project(&self) -> PathBuf {
        let project = self.root().join("my shop");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        project
    }

    /// Prepares a call of the binary.
    pub(crate) fn reflex<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Call {
        self.in_home(&self.home(), arguments)
    }

    /// Same, with another home. `eval` takes none: there the option means the home of the events.
    pub(crate) fn in_home<I: AsRef<OsStr>>(&self, home: &Path, arguments: impl IntoIterator<Item = I>) -> Call {
        let mut words: Vec<OsString> = arguments.into_iter().map(|word| word.as_ref().to_owned()).collect();
        if words.first().is_none_or(|first| first != "eval") {
            words.splice(0..0, [OsString::from("--home"), home.into()]);
        }
        self.elsewhere(words)
    }

    /// Same, as the start of a shell command line.
    pub(crate) fn line(&self) -> String {
        format!("'{}' --home '{}'", env!("CARGO_BIN_EXE_reflex"), self.home().display())
    }

    /// Prepares a call of the binary without a home option: it uses the user database.
    pub(crate) fn elsewhere<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Call {
        self.program(env!("CARGO_BIN_EXE_reflex"), arguments)
    }

    /// Prepares a call of another program in the same environment.
    pub(crate) fn program<I: AsRef<OsStr>>(&self, program: &str, arguments: impl IntoIterator<Item = I>) -> Call {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("HOME", self.home()).current_dir(self.root());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        Call { command, input: Vec::new(), patience: PATIENCE }
    }

    /// Prepares a call of another program as a user with this machine's home in the user database, for tests in which
    /// `reflex` has to find its home. `None` if no mount namespace can be created.
    pub(crate) fn as_user<I: AsRef<OsStr>>(&self, program: &str, words: impl IntoIterator<Item = I>) -> Option<Call> {
        const ENTER: &str = "mount --make-rprivate / && mount --bind \"$0\" /etc/passwd && exec \"$@\"";
        let database = self.root().join("passwd");
        let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(self.root()).unwrap());
        let entry = format!("user:x:{user}:{user}::{}:/bin/sh\n", self.home().display());
        std::fs::write(&database, entry).unwrap();
        let forms: [&[&str]; 2] = [&["--mount"], &["--user", "--map-current-user", "--keep-caps", "--mount"]];
        let enter = |form: &[&str]| form.iter().chain(&["sh", "-c", ENTER]).map(OsString::from).collect::<Vec<_>>();
        let works = |form: &&&[&str]| {
            let words = enter(form).into_iter().chain([database.clone().into(), "true".into()]);
            self.program("unshare", words).run().code == 0
        };
        let Some(form) = forms.iter().find(works) else {
            println!("skipped: no mount namespace can be made here");
            return None;
        };
        let words = words.into_iter().map(|word| word.as_ref().to_owned());
        Some(self.program("unshare", enter(form).into_iter().chain([database.into(), program.into()]).chain(words)))
    }

    /// Prepares the hook as Claude Code calls it before a tool.
    pub(crate) fn hook(&self) -> Call {
        self.reflex(["hook", "--agent", "claude", "--event", "PreToolUse"])
    }

    /// Returns the hook's answer to a command in a folder, judged in this process: with this home and the variables that
    /// the binary would get. For tests that look at the answer alone.
    pub(crate) fn judged(&self, folder: &Path, command: &str) -> Ran {
        let path = std::env::var("PATH").map(|path| ("PATH".to_owned(), path));
        let home = ("HOME".to_owned(), self.home().to_str().unwrap().to_owned());
        let environment = Environment::of(path.into_iter().chain([home]));
        let host = Context::at_home(self.home()).unwrap().in_environment(environment).host(Mode::default());
        let fields = object(&bash(folder, command)).unwrap();
        let payload = Payload { fields: &fields, event_name: Some("PreToolUse"), variable: &|_| None };
        let Replied { reply, hold, .. } = host.answer(find("claude").unwrap(), &payload);
        hold.into_iter().for_each(Hold::finish);
        Ran { stdout: reply.stdout, stderr: reply.stderr, code: reply.code.into() }
    }

    /// Returns the hook's answer to a command in a folder.
    pub(crate) fn bash(&self, folder: &Path, command: &str) -> Ran {
        self.hook().input(bash(folder, command)).run()
    }
}

/// Claude Code's payload before it runs a command.
pub(crate) fn bash(folder: &Path, command: &str) -> Vec<u8> {
    let payload = json!({
        "session_id": "s1", "transcript_path": "/t", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
    });
    payload.to_string().into_bytes()
}

/// Returns the id in the refusal of this command.
#[track_caller]
pub(crate) fn refused(machine: &Machine, command: &str) -> String {
    let reason = machine.bash(&machine.project(), command).answer().1;
    way_on(&reason)
}

/// Returns the id of the waiting call in a refusal.
#[track_caller]
pub(crate) fn way_on(reason: &str) -> String {
    let id = reason.split_once("`reflex approve ").and_then(|(_, rest)| rest.split_once('`'));
    id.unwrap_or_else(|| panic!("no way on in {reason}")).0.to_owned()
}

/// Returns whether the hook allows this command silently.
pub(crate) fn passes(machine: &Machine, command: &str) -> bool {
    machine.bash(&machine.project(), command) == Ran::silence()
}

/// A program with its input.
pub(crate) struct Call {
    command: Command,
    input: Vec<u8>,
    patience: Duration,
}

impl Call {
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Call {
        self.input = input.into();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.command.env(name, value);
        self
    }

    /// Sets the timeout in seconds.
    pub(crate) fn patience(mut self, seconds: u64) -> Call {
        self.patience = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Call {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Call {
        self.command.current_dir(folder);
        self
    }

    /// Runs to completion with the input, then end of file.
    #[track_caller]
    pub(crate) fn run(self) -> Ran {
        let (mut running, input) = self.start();
        let stdin = running.stdin.take();
        // A program that exits early does not read all of its input, which is not a test failure.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        running.finish()
    }

    /// Runs with a closed standard output.
    #[track_caller]
    pub(crate) fn run_unread(mut self) -> Ran {
        let (reader, writer) = std::io::pipe().unwrap();
        self.command.stdout(writer).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        // The command holds the writing end too; both must be closed before the input arrives.
        drop((self.command, reader));
        let stdin = child.stdin.take();
        let input = self.input;
        let running = Running { id: child.id(), stdin: None, ended: ended(child), patience: self.patience };
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        running.finish()
    }

    /// Starts interactively: its output lines, with their line ends, arrive one by one.
    pub(crate) fn start_conversation(mut self) -> (ChildStdin, Receiver<Vec<u8>>) {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = self.command.spawn().unwrap();
        let (send, receive) = channel();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) && send.send(line).is_ok() {
                line = Vec::new();
            }
            child.wait()
        });
        (stdin, receive)
    }

    /// Starts with an open, still empty input.
    fn start(mut self) -> (Running, Vec<u8>) {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let stdin = child.stdin.take();
        (Running { id: child.id(), stdin, ended: ended(child), patience: self.patience }, self.input)
    }

    /// Starts and writes the input, then end of file.
    pub(crate) fn start_and_close(self) -> Running {
        let (mut running, input) = self.start();
        running.stdin.take().unwrap().write_all(&input).unwrap();
        running
    }

    /// Starts, and returns once the program has started to read: the input exceeds a pipe's capacity.
    pub(crate) fn start_reading(self) -> Running {
        const MORE_THAN_A_PIPE_HOLDS: usize = 2 * 1024 * 1024;
        let (mut running, _) = self.start();
        let stdin = running.stdin.as_mut().unwrap();
        stdin.write_all(&vec![b' '; MORE_THAN_A_PIPE_HOLDS]).unwrap();
        running
    }

    /// Runs with the input, then end of file, and is killed after this time. Returns its output so far.
    pub(crate) fn killed_after(mut self, time: Duration) -> String {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = self.command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&self.input).unwrap();
        thread::sleep(time);
        child.kill().unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// Starts, writes the input, and keeps it open while the program runs.
    pub(crate) fn start_with_input(self) -> Running {
        let (mut running, input) = self.start();
        running.stdin.as_mut().unwrap().write_all(&input).unwrap();
        running
    }

    /// Starts and keeps its input open while the program runs.
    pub(crate) fn start_waiting(self) -> Running {
        self.start().0
    }
}

fn ended(child: std::process::Child) -> Receiver<Output> {
    let (send, receive) = channel();
    thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    receive
}

/// A running program.
pub(crate) struct Running {
    id: u32,
    stdin: Option<ChildStdin>,
    ended: Receiver<Output>,
    patience: Duration,
}

impl Running {
    /// Types into the program's terminal.
    pub(crate) fn press(&mut self, keys: &str) {
        // A program that has ended reads no more keys.
        let _ = self.stdin.as_mut().unwrap().write_all(keys.as_bytes());
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &self.id.to_string()]).status();
        assert!(sent.unwrap().success(), "{name} cannot be sent");
    }

    /// Same, for a program that may have exited.
    pub(crate) fn signal_if_running(&self, name: &str) {
        let line = "kill -s \"$0\" \"$1\" 2>/dev/null || :";
        let _ = Command::new("sh").args(["-c", line, name, &self.id.to_string()]).status();
    }

    /// Waits for the exit and returns the output; the input stays as it is until then.
    #[track_caller]
    pub(crate) fn finish(self) -> Ran {
        let Ok(output) = self.ended.recv_timeout(self.patience) else {
            self.signal("KILL");
            panic!("it did not end within {:?}", self.patience);
        };
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: code(output.status),
        }
    }
}

/// The exit code; a signal as a shell reports it.
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Output and exit code of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Ran {
    pub(crate) fn silence() -> Ran {
        Ran { stdout: String::new(), stderr: String::new(), code: 0 }
    }

    /// Claude Code's refusal before a tool with this reason.
    pub(crate) fn refusal(reason: &str) -> Ran {
        let stdout = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }});
        Ran { stdout: format!("{stdout}\n"), stderr: format!("{reason}\n"), code: 2 }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or(Value::Null)
    }

    /// Claude Code's answer before a tool: the decision and its reason.
    #[track_caller]
    pub(crate) fn answer(&self) -> (String, String) {
        let json = self.json();
        let output = &json["hookSpecificOutput"];
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        match (self.stdout.is_empty(), output["permissionDecision"].as_str()) {
            (true, _) => {
                assert_eq!(self.code, 0, "{self:?}");
                ("silent".into(), String::new())
            }
            (false, Some(decision)) => {
                assert_eq!(self.code, if decision == "deny" { 2 } else { 0 }, "{self:?}");
                (decision.into(), text(&output["permissionDecisionReason"]))
            }
            (false, None) => {
                assert_eq!(self.code, 0, "{self:?}");
                ("warn".into(), text(&output["additionalContext"]))
            }
        }
    }
}

/// Returns every file below a folder with its bytes.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let mut bytes = Vec::new();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => drop(std::fs::File::open(entry.path()).and_then(|mut file| file.read_to_end(&mut bytes))),
            }
            found.push((entry.path(), bytes));
        }
    }
    found.sort();
    found
}

/// A machine with a program of this name first on the `PATH`.
pub(crate) fn with_program(machine: &Machine, name: &str, script: &str) -> String {
    let folder = machine.root().join("programs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), script).unwrap();
    std::fs::set_permissions(folder.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

/// A minimal Codex app-server for trust: it lists one hook of the guard, and trusts it once that is written.
pub(crate) const APP_SERVER: &str = r#"#!/bin/sh
file="$HOME/.codex/config.toml"
hook() {
    status=untrusted
    if grep -q trusted_hash "$file" 2>/dev/null; then status=trusted; fi
    echo "{\"id\":$1,\"result\":{\"data\":[{\"cwd\":\"/\",\"hooks\":[{\"key\":\"k\",\"command\":\"reflex hook\",\"currentHash\":\"sha256:1\",\"enabled\":true,\"isManaged\":false,\"trustStatus\":\"$status\"}]}]}}"
}
while read -r line; do
    case $line in
        *initialize\"*) echo '{"method":"noise"}'; echo '{"id":1,"result":{}}' ;;
        *hooks/list*) hook "$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')" ;;
        *batchWrite*) mkdir -p "$HOME/.codex"; echo 'trusted_hash = "sha256:1"' >> "$file"; echo '{"id":3,"result":{}}' ;;
    esac
done
"#;

/// Runs as a person at a terminal who answers `y`; `None` if no terminal can be created.
pub(crate) fn at_terminal(machine: &Machine, arguments: &str, answer: &str) -> Option<(i32, String)> {
    at_terminal_in(machine, &machine.root(), arguments, answer)
}

/// Same, in a folder.
pub(crate) fn at_terminal_in(machine: &Machine, folder: &Path, arguments: &str, answer: &str) -> Option<(i32, String)> {
    let line = format!("{} {arguments}", machine.line());
    let script = ["-qec", &line, "/dev/null"];
    if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        println!("skipped: there is no program `script`");
        return None;
    }
    let output = machine.program("script", script).folder(folder).input(answer).run();
    Some((output.code, output.stdout))
}

pub(crate) fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
