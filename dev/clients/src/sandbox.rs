//! A throwaway home, workspace and copy of `reflex`, and the client running in them with a cleared environment.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, ensure};
use reflex_mock::{Call, Conversation, Model, Unanswered};
use serde_json::Value;

use super::client::Client;
use super::process::{self, Finished};
use tasks::hermetic::{BIND, unshare, user_database};

/// Settings that an administrator adds to a client's system settings, in the folder of the case.
pub(super) const MANAGED: &str = "managed.json";

const CLIENT_DEADLINE: Duration = Duration::from_secs(60);
const COMMAND_DEADLINE: Duration = Duration::from_secs(15);
/// `reflex verify` waits up to one minute for a client, after querying its version.
const PROOF_DEADLINE: Duration = Duration::from_secs(100);
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Resources shared by all cases.
pub(super) struct Stage {
    /// The real client.
    pub(super) client: &'static Client,
    /// The client's executable.
    pub(super) executable: PathBuf,
    /// Folder for files that clients unpack.
    pub(super) cache: PathBuf,
    /// The binary under test.
    pub(super) reflex: PathBuf,
    /// Parent of the folders of the cases.
    pub(super) runs: PathBuf,
}

/// The isolated environment of one case.
pub(super) struct Sandbox {
    folder: PathBuf,
    client: &'static Client,
    cache: PathBuf,
    /// Seconds that a client may run.
    deadline: AtomicU64,
    /// The option of `reflex run` below which the client runs.
    run_option: Mutex<Option<&'static str>>,
    /// Prompt of the person.
    prompt: Mutex<String>,
}

/// The reason for a failed case.
pub(super) enum Failure {
    /// The client never reached the model, so nothing was tested.
    NotStarted(Error),
    /// A guarantee does not hold.
    Wrong(Error),
}

/// The client's own permission mode.
pub(super) enum Mode {
    /// The client prompts for calls without permission; without a person it refuses them.
    Default,
    /// The client never prompts: only a hook can stop a call.
    BypassPermissions,
}

/// One invocation of the hook by the client.
pub(super) struct HookCall {
    /// The client's payload.
    pub(super) stdin: String,
    /// The hook's answer.
    pub(super) stdout: String,
}

impl Sandbox {
    /// Lets the person type this text. The scripted model decides the actual calls.
    pub(super) fn type_prompt(&self, text: &str) {
        if let Ok(mut prompt) = self.prompt.lock() {
            text.clone_into(&mut prompt);
        }
    }

    /// Prompt of the person.
    pub(super) fn prompt(&self) -> String {
        self.prompt.lock().map(|prompt| prompt.clone()).unwrap_or_default()
    }

    /// Runs a command of the guard that may find something: whether it found nothing, and its output.
    pub(super) fn report(&self, words: &[&str]) -> Result<(bool, String)> {
        let finished = self.finish(self.guard().args(words))?;
        Ok((finished.success, finished.stdout + &finished.stderr))
    }

    /// Runs git in the workspace.
    pub(super) fn in_git(&self, words: &[&str]) -> Result<()> {
        self.git(&[&["-c", "user.name=n", "-c", "user.email=n@example.invalid"], words].concat())
    }

    /// Lets the client start with these calls, of which it may make fewer.
    pub(super) fn start(&self, calls: Vec<Call>) -> Result<(), Failure> {
        let model = Model::start(calls).context("cannot serve the model")?;
        self.run_client(&Mode::BypassPermissions, &model.url())?;
        Ok(())
    }

    /// Lets each client of this case run for so long.
    pub(super) fn give_time(&self, deadline: Duration) {
        self.deadline.store(deadline.as_secs(), Ordering::SeqCst);
    }

    /// Creates a fresh home, a repository with one commit in a folder with a space in its name, and a copy of the
    /// binary.
    pub(super) fn new(stage: &Stage, name: &str) -> Result<Self> {
        let folder = stage.runs.join(stage.client.name).join(name);
        let sandbox = Self {
            folder,
            client: stage.client,
            cache: stage.cache.clone(),
            deadline: AtomicU64::new(CLIENT_DEADLINE.as_secs()),
            run_option: Mutex::default(),
            prompt: Mutex::new("Please do the task.".to_owned()),
        };
        if sandbox.folder.exists() {
            sandbox.remove()?;
        }
        for folder in [sandbox.home(), sandbox.workspace(), sandbox.temporary(), sandbox.programs()] {
            fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        fs::copy(&stage.reflex, sandbox.reflex()).context("cannot copy reflex")?;
        // The client is on the search path under its own name, because `init` may run it.
        let program = sandbox.program();
        symlink(&stage.executable, &program).with_context(|| format!("cannot link `{}`", program.display()))?;
        write(&sandbox.workspace().join("notes.txt"), "first line\n")?;
        // Hook entries of a project do not name a home, so it must come from the user database.
        write(&sandbox.user_database(), &user_database(&sandbox.home()))?;
        sandbox.git(&["init", "-q", "-b", "main"])?;
        sandbox.git(&["add", "-A"])?;
        sandbox.git(&["-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "-q", "-m", "start"])?;
        Ok(sandbox)
    }

    /// Installs the hook as a person would: `reflex init`.
    pub(super) fn wire(&self) -> Result<()> {
        let mut init = self.guard();
        init.args(["init", "--agent", self.client.name, "--yes"]);
        self.succeed(&mut init).map(drop)
    }

    /// Installs the hook for a person who wants a prompt for discarded changes, although they are backed up.
    pub(super) fn wire_asking(&self) -> Result<()> {
        self.wire()?;
        write(&self.home().join(".config/reflex/policy.yaml"), "rules: {git/discard-changes: ask}\n")
    }

    /// Installs the hook for an agent in this project only.
    pub(super) fn wire_project(&self, agent: &str) -> Result<()> {
        let mut init = self.guard();
        init.args(["init", "--agent", agent, "--yes", "--scope", "project"]);
        self.succeed(&mut init).map(drop)
    }

    /// The text that an administrator would install for this client: `reflex emit --scope managed`.
    pub(super) fn managed(&self) -> Result<Value> {
        let mut emit = self.guard();
        emit.args(["emit", "--agent", self.client.name, "--scope", "managed", "--json"]);
        let output: Value = serde_json::from_str(&self.succeed(&mut emit)?.stdout).context("`reflex emit --json`")?;
        let text = output.pointer("/files/0/text").and_then(Value::as_str).unwrap_or_default();
        serde_json::from_str(text).context("the text of `reflex emit`")
    }

    /// System settings, merged with the administrator's settings for this case, if any.
    pub(super) fn with_managed(&self, mut settings: Value) -> Value {
        let added = fs::read_to_string(self.folder.join(MANAGED)).unwrap_or_default();
        if let (Some(settings), Ok(Value::Object(added))) = (settings.as_object_mut(), serde_json::from_str(&added)) {
            settings.extend(added);
        }
        settings
    }

    /// Runs the client itself with these arguments.
    pub(super) fn client_command(&self, words: &[&str]) -> Result<()> {
        self.succeed(self.command(&self.program()).args(words)).map(drop)
    }

    /// The number of calls that wait for an approval.
    pub(super) fn waiting(&self) -> Result<usize> {
        let mut pending = self.guard();
        pending.args(["pending", "--json"]);
        let output: Value =
            serde_json::from_str(&self.succeed(&mut pending)?.stdout).context("`reflex pending --json`")?;
        let calls = output.get("pending").and_then(Value::as_array);
        calls.map(Vec::len).with_context(|| format!("`reflex pending --json` lists no calls: {output}"))
    }

    /// Uninstalls the hook at a terminal: without one Reflex refuses, so that an agent cannot remove it.
    pub(super) fn unwire(&self) -> Result<()> {
        const UNINSTALL: &str = "\"$REFLEX\" --home \"$HOME\" uninstall --agent \"$AGENT\" --yes";
        let mut terminal = self.command(Path::new("script"));
        if cfg!(target_os = "macos") {
            terminal.args(["-q", "/dev/null", "/bin/sh", "-c", UNINSTALL]);
        } else {
            terminal.args(["-q", "-e", "-c", UNINSTALL, "/dev/null"]);
        }
        terminal.env("REFLEX", self.reflex()).env("AGENT", self.client.name);
        self.succeed(&mut terminal).map(drop)
    }

    /// Lets the client work through these calls and returns the conversation.
    pub(super) fn converse(&self, mode: &Mode, calls: Vec<Call>) -> Result<Conversation, Failure> {
        let wanted = calls.len();
        let model = Model::start(calls).context("cannot serve the model")?;
        let finished = self.run_client(mode, &model.url());
        let Some(transcript) = model.conversation() else {
            return Err(Failure::NotStarted(match finished {
                Ok(finished) => anyhow!("the client never asked the model: {}{}", finished.stdout, finished.stderr),
                Err(error) => error,
            }));
        };
        finished?;
        if transcript.results.len() != wanted {
            return Err(Failure::Wrong(anyhow!("{} of {wanted} calls were answered", transcript.results.len())));
        }
        Ok(transcript)
    }

    /// The client's entry in the output of `reflex verify --live`.
    pub(super) fn proof(&self) -> Result<Value> {
        let mut verify = self.guard();
        verify.args(["verify", "--live", "--agent", self.client.name, "--yes", "--json"]);
        let output = process::finish(&mut verify, &self.folder.join("verify"), PROOF_DEADLINE)?;
        let json: Value = serde_json::from_str(&output.stdout)
            .with_context(|| format!("`reflex verify --json` printed no JSON, but `{}`", output.stderr.trim()))?;
        json.pointer("/clients/0").cloned().with_context(|| format!("the output does not contain the client: {json}"))
    }

    /// Records every later call of the hook; the real binary still answers it.
    pub(super) fn record_hook(&self) -> Result<()> {
        const RECORDER: &str = "#!/bin/sh\n\
            here=${0%/*}\n\
            cat > \"$here/$$.stdin\"\n\
            \"$here/judge\" \"$@\" < \"$here/$$.stdin\" > \"$here/$$.stdout\"\n\
            code=$?\n\
            cat \"$here/$$.stdout\"\n\
            exit $code\n";
        self.replace_reflex(RECORDER)
    }

    /// Replaces the binary by a script; the binary remains available next to it as `judge`.
    pub(super) fn replace_reflex(&self, script: &str) -> Result<()> {
        let reflex = self.reflex();
        fs::rename(&reflex, self.programs().join("judge")).context("cannot move reflex")?;
        write(&reflex, script)?;
        fs::set_permissions(&reflex, fs::Permissions::from_mode(0o755)).context("cannot make the script executable")
    }

    /// The recorded calls of the hook.
    pub(super) fn hook_calls(&self) -> Result<Vec<HookCall>> {
        let entries = fs::read_dir(self.programs()).context("cannot list the recorded calls")?;
        let payloads =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "stdin"));
        payloads
            .map(|path| Ok(HookCall { stdin: read(&path)?, stdout: read(&path.with_extension("stdout"))? }))
            .collect()
    }

    /// Deletes the binary without uninstalling the hook.
    pub(super) fn delete_reflex(&self) -> Result<()> {
        fs::remove_file(self.reflex()).context("cannot delete reflex")
    }

    /// Name of the client.
    pub(super) fn agent(&self) -> &'static str {
        self.client.name
    }

    /// The throwaway home.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The repository that the client works in.
    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("my project")
    }

    /// The client's user settings, which `init` edits.
    pub(super) fn settings(&self) -> PathBuf {
        (self.client.settings)(self)
    }

    /// The folder of the sandbox.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Deletes the sandbox.
    pub(super) fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| format!("cannot clear `{}`", self.folder.display()))
    }

    /// Starts the client of this case below `reflex run` with `--supervise` or `--watch`; an error if this system cannot
    /// supervise.
    pub(super) fn run_below(&self, option: &'static str) -> Result<()> {
        let mut check = self.guard();
        self.succeed(check.args(["run", option, "--check", "--", "true"]))?;
        if let Ok(mut run_option) = self.run_option.lock() {
            *run_option = Some(option);
        }
        Ok(())
    }

    /// The commands of the programs whose start was refused.
    pub(super) fn refused_starts(&self) -> Result<Vec<String>> {
        let mut commands = Vec::new();
        for decision in ["deny", "ask"] {
            let search = ["audit", "search", "tool=start", "--json"];
            // Without a match the search fails.
            let found = self.finish(self.guard().args(search).arg(format!("decision={decision}")))?;
            let records = found.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            commands
                .extend(records.filter_map(|record| Some(record.pointer("/actions/0/command")?.as_str()?.to_owned())));
        }
        Ok(commands)
    }

    fn run_client(&self, mode: &Mode, model: &str) -> Result<Finished> {
        let mut program = vec![self.program().into_os_string()];
        if let Some(option) = self.run_option.lock().ok().and_then(|option| *option) {
            let words = [self.reflex().into(), "--home".into(), self.home().into_os_string()];
            let options: [OsString; 3] = ["run".into(), option.into(), "--".into()];
            program.splice(0..0, words.into_iter().chain(options));
        }
        let mut client = match unshare().filter(|_| self.user_database().exists()) {
            Some(unshare) => {
                let mut client = self.command(Path::new("unshare"));
                client.args(unshare).args(["sh", "-c", BIND, "sh"]).arg(self.user_database()).args(&program);
                client
            }
            None => {
                let (first, rest) = program.split_first().context("the client is missing")?;
                let mut client = self.command(Path::new(first));
                client.args(rest);
                client
            }
        };
        (self.client.start)(self, &mut client, mode, model);
        let deadline = Duration::from_secs(self.deadline.load(Ordering::SeqCst));
        process::finish(&mut client, &self.folder.join("client"), deadline)
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let mut git = self.command(Path::new("git"));
        self.succeed(git.args(arguments)).map(drop)
    }

    fn finish(&self, command: &mut Command) -> Result<Finished> {
        process::finish(command, &self.folder.join("command"), COMMAND_DEADLINE)
    }

    fn succeed(&self, command: &mut Command) -> Result<Finished> {
        let finished = self.finish(command)?;
        ensure!(finished.success, "{command:?} failed: {}{}", finished.stdout, finished.stderr);
        Ok(finished)
    }

    /// A command that runs the binary under test with the home of the case.
    fn guard(&self) -> Command {
        let mut guard = self.command(&self.reflex());
        guard.arg("--home").arg(self.home());
        guard
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.workspace()).env_clear();
        command.env("HOME", self.home()).env("TMPDIR", self.temporary()).env("PATH", self.search_path());
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("NO_COLOR", "1");
        command.env("SHELL", "/bin/bash").env("USER", "user").env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn search_path(&self) -> String {
        format!("{}:{SEARCH_PATH}", self.programs().display())
    }

    fn program(&self) -> PathBuf {
        self.programs().join(self.client.name)
    }

    /// Command line of the MCP server `echo`, which is implemented by this program.
    pub(super) fn server(&self) -> [String; 2] {
        let program = std::env::current_exe().unwrap_or_default();
        [program.to_string_lossy().into_owned(), "mcp".to_owned()]
    }

    /// Folder for files that clients unpack, shared by all cases.
    pub(super) fn cache(&self) -> &Path {
        &self.cache
    }

    /// Path of the binary under test in this case.
    pub(super) fn reflex(&self) -> PathBuf {
        self.programs().join("reflex")
    }

    /// The folder of the programs. From one named `bin`, `init` would copy the guard elsewhere.
    fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    fn user_database(&self) -> PathBuf {
        self.folder.join("passwd")
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }
}

impl Failure {
    /// Adds the folder to inspect to the message.
    pub(super) fn kept_in(self, folder: &Path) -> Self {
        let kept = |error| anyhow!("{error:#} (see `{}`)", folder.display());
        match self {
            Self::NotStarted(error) => Self::NotStarted(kept(error)),
            Self::Wrong(error) => Self::Wrong(kept(error)),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

/// `reflex-mock` reports a missing result as text.
impl From<Unanswered> for Failure {
    fn from(error: Unanswered) -> Self {
        Self::Wrong(error.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotStarted(error) | Self::Wrong(error)) = self;
        write!(formatter, "{error:#}")
    }
}

/// Reads a file that must exist.
pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Writes a file and creates its folder.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
