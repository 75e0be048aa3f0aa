//! Starts one client with a scripted model and reports the observations. Runs in a process of its own.

use super::plan::Plan;
use super::proof::{Outcome, Proof};
use crate::store::Store;
use crate::store::canary::{CANARY, REFUSED};
use crate::system::folders::Folders;
use crate::system::network;
use crate::system::os;
use crate::system::process::{Ended, Limits, run};
use crate::system::random;
use reflex_agents::live::{Launch, Stage};
use reflex_engine::shell::as_word;
use reflex_mock::{Call, Model};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The network of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Only the loopback.
    Off,
    /// The network of this process.
    On,
}

/// Maximum running time of a client.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Tests shorten the limit for a client that hangs.
fn max_time() -> Duration {
    let shortened = if cfg!(debug_assertions) { std::env::var("REFLEX_TEST_LIVE_SECONDS").ok() } else { None };
    shortened.and_then(|text| text.parse().ok()).map_or(MAX_TIME, Duration::from_secs)
}

/// Maximum time for the client to print its version.
const VERSION_TIME: Duration = Duration::from_secs(10);

/// The output of a canary that ran.
pub fn song(nonce: &str) -> String {
    format!("canary {nonce}: nothing stopped it")
}

/// Runs the client of an agent. Stops it when standard input ends: the parent process has exited.
///
/// # Errors
/// `None` if the network cannot be switched off; otherwise the error.
pub fn drive(folders: &Folders, agent: &str, network: Network) -> Result<Proof, Option<String>> {
    // Must run before the first thread starts.
    if network == Network::Off && network::leave().is_err() {
        return Err(None);
    }
    os::adopt_strays();
    let plan = Plan::for_agent(folders, agent).map_err(|problem| Some(format!("{problem:?}")))?;
    if !plan.against().is_empty() {
        return Err(Some("its settings name another model, key or login".into()));
    }
    let run = Run { plan, nonce: nonce(), cancelled: cancelled() };
    let proof = run.proof(network == Network::Off);
    proof.map_err(|error| Some(error.to_string()))
}

fn nonce() -> String {
    random::uuid().chars().filter(char::is_ascii_alphanumeric).skip(12).take(16).collect()
}

/// A flag that is set when standard input ends.
fn cancelled() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    thread::spawn(move || {
        let mut nothing = [0_u8; 64];
        while std::io::stdin().read(&mut nothing).is_ok_and(|read| read > 0) {}
        set.store(true, Ordering::SeqCst);
    });
    flag
}

struct Run {
    plan: Plan,
    nonce: String,
    cancelled: Arc<AtomicBool>,
}

impl Run {
    fn proof(&self, network_off: bool) -> std::io::Result<Proof> {
        let store = Store::new(&self.plan.folders);
        let folder = folder_in(&self.plan.folders.cache)?;
        store.await_canary(&self.nonce)?;
        let seen = self.seen(folder.path());
        let decision = store.canary(&self.nonce);
        let seen = seen?;
        let answer = seen.answer.as_deref().unwrap_or("");
        let model_received = answer.contains(CANARY) && answer.contains(&self.nonce);
        let ran = answer.contains(&song(&self.nonce));
        let outcome = seen.outcome(decision.as_deref(), model_received, ran);
        let words = if outcome == Outcome::Proven { String::new() } else { store.clean(&words(answer, &seen.ended)) };
        Ok(Proof {
            agent: self.plan.live.agent.to_owned(),
            outcome,
            hook_saw: decision.is_some(),
            model_received,
            ran,
            version: seen.version,
            network_off,
            took: seen.took,
            words,
        })
    }

    /// Starts the model and the client.
    fn seen(&self, folder: &Path) -> std::io::Result<Seen> {
        let live = self.plan.live;
        let program = std::env::current_exe()?;
        let command = format!("{} canary {}", as_word(&program.to_string_lossy()), self.nonce);
        let model = Model::start(vec![Call::function(live.tool, (live.input)(&command))])?;
        let (url, place) = (model.url(), folder.to_string_lossy());
        let stage = Stage { model: &url, command: &command, folder: &place, texts: &self.plan.texts };
        let launch = (live.launch)(&stage);
        for (name, text) in &launch.files {
            fs::write(folder.join(name), text)?;
        }
        fs::create_dir(folder.join("tmp"))?;
        let version = self.version(folder)?;
        let begun = Instant::now();
        let is_done = || model.answered() > 0;
        let limits = Limits { time: max_time(), is_done: &is_done, cancelled: &self.cancelled };
        let ended = run(&mut self.command(folder, &launch), folder, &limits)?;
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let conversation = model.conversation();
        let asked = conversation.is_some();
        let answer = conversation.and_then(|all| all.results.into_iter().next()).map(|result| result.text);
        Ok(Seen { ended, answer, asked, version, took })
    }

    /// The first word in the output of `--version` that starts with a digit and contains a period.
    fn version(&self, folder: &Path) -> std::io::Result<String> {
        let mut command = self.command(folder, &Launch::default());
        command.arg("--version");
        let limits = Limits { time: VERSION_TIME, is_done: &|| false, cancelled: &self.cancelled };
        let ended = run(&mut command, folder, &limits)?;
        let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
        let number = ended.words.split_whitespace().find(is_number).unwrap_or("").to_owned();
        Ok(number.trim_end_matches('.').to_owned())
    }

    /// The command of the client, with only the variables that it needs: none of the person's keys is among them.
    fn command(&self, folder: &Path, launch: &Launch) -> Command {
        const KEPT: [&str; 13] = [
            "PATH",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LC_ALL",
            "TZ",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR",
            "NVM_DIR",
        ];
        let mut command = Command::new(&self.plan.program);
        command.args(&launch.arguments).current_dir(&self.plan.here).env_clear();
        let kept = KEPT.iter().chain(self.plan.live.variables);
        command.envs(kept.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("HOME", &self.plan.folders.home).env("TMPDIR", folder.join("tmp"));
        command.env("TERM", "dumb").env("NO_COLOR", "1");
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The observations during a run.
struct Seen {
    ended: Ended,
    /// The client's response to the model's call.
    answer: Option<String>,
    /// Whether the client called the model.
    asked: bool,
    version: String,
    took: u64,
}

impl Seen {
    /// `decision` is the hook's, if it was called. The first flag is whether the response contains our refusal, the
    /// second whether the canary ran.
    fn outcome(&self, decision: Option<&str>, received: bool, ran: bool) -> Outcome {
        match decision {
            Some(word) if word != REFUSED => Outcome::LetPass,
            Some(_) if ran => Outcome::Ignored,
            Some(_) if received => Outcome::Proven,
            Some(_) => Outcome::NotReceived,
            None if received => Outcome::Elsewhere,
            None if self.answer.is_some() => Outcome::Off,
            None if self.asked => Outcome::NoAnswer,
            None => Outcome::NotStarted,
        }
    }
}

/// Creates a folder for the files of a run. It is private: clients read no settings from a world-writable folder.
/// Removes leftovers of killed runs.
fn folder_in(cache: &Path) -> std::io::Result<tempfile::TempDir> {
    const PREFIX: &str = "live-";
    const OLD: Duration = Duration::from_secs(600);
    os::make_private_folder(cache)?;
    let is_old = |entry: &fs::DirEntry| {
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        entry.file_name().to_string_lossy().starts_with(PREFIX) && age.is_some_and(|age| age > OLD)
    };
    let old = fs::read_dir(cache)?.flatten().filter(is_old);
    old.for_each(|entry| drop(fs::remove_dir_all(entry.path())));
    tempfile::Builder::new().prefix(PREFIX).tempdir_in(cache)
}

/// The explanation of an outcome: the response to the model, otherwise the client's output.
fn words(answer: &str, ended: &Ended) -> String {
    const MAX_CHARS: usize = 300;
    let late = if ended.in_time { "" } else { "it did not end in time; " };
    let text = if answer.is_empty() { &ended.words } else { answer };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{late}{}", line.chars().take(MAX_CHARS).collect::<String>())
}
