//! `reflex verify --live`: starts the real client once with a harmless canary; and the canary itself.

use crate::commands::setup::selection::{self, wired_in_project};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::confirm::{agreed, confirmed};
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::live::Against;
use reflex_engine::Event;
use reflex_host::client::fails_open_at;
use reflex_host::live::{CANNOT, Network, NoPlan, Outcome, Plan, Proof, drive, song};
use reflex_host::person::{at_terminal, no_agent_above};
use reflex_host::{Context, Mode, Wiring, in_new_process_group, timestamp};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Read};
use std::process::{Command, Stdio};

/// Whether `verify` is about real clients.
pub(in crate::commands) fn is_meant(matches: &ArgMatches) -> bool {
    matches.get_flag("live") || matches.contains_id("driven")
}

/// `reflex canary NONCE`: prints one line and has no other effect.
pub(in crate::commands) fn canary(matches: &ArgMatches) -> u8 {
    print(&song(&visible(text(matches, "nonce"))));
    exit_code::OK
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    // The client runs in the person's name and with their settings.
    if let Err(why) = no_agent_above() {
        complain(&format!("only a person starts a client to prove the guard: {why}"));
        return exit_code::FOUND;
    }
    if let Some(words) = matches.get_many::<String>("driven") {
        return driven(context, &words.map(String::as_str).collect::<Vec<_>>());
    }
    let agents = match agents(context, matches.get_one::<String>("agent").map(String::as_str)) {
        Ok(agents) => agents,
        Err(code) => return code,
    };
    let consent = if matches.get_flag("yes") { Consent::Granted } else { Consent::Asked };
    let as_json = matches.get_flag("json");
    let try_one = |(agent, title)| {
        let tried = tried(context, agent, title, consent);
        // Printed as soon as each result is known: a client may take a minute.
        if !as_json {
            tried.show();
        }
        tried
    };
    let tried: Vec<Tried> = agents.into_iter().map(try_one).collect();
    if as_json {
        let clients: Vec<Value> = tried.iter().map(Tried::json).collect();
        print_json(&json!({"schema": "reflex/verify-live-v1", "clients": clients}).to_string());
    }
    // A client that cannot be started without a person is reported, but does not count as a failure.
    let mut counted = tried.iter().filter(|tried| tried.counts).peekable();
    if counted.peek().is_some() && counted.all(Tried::is_proven) { exit_code::OK } else { exit_code::FOUND }
}

/// Offers the proof for these agents to a person at a terminal.
pub(in crate::commands) fn offer(context: &Context, wirings: &[Wiring]) {
    if at_terminal().is_err() {
        return;
    }
    let mut agents: Vec<(&'static str, &'static str)> =
        wirings.iter().filter_map(|wiring| named(wiring.agent())).collect();
    agents.dedup();
    agents.retain(|(agent, _)| Plan::for_agent(context.folders(), agent).is_ok());
    let titles: Vec<&str> = agents.iter().map(|(_, title)| *title).collect();
    if titles.is_empty() {
        return;
    }
    let question = format!("Start {} once with a harmless canary to prove it? [Y/n] ", titles.join(", "));
    if agreed(&question) {
        agents
            .into_iter()
            .map(|(agent, title)| tried(context, agent, title, Consent::Asked))
            .for_each(|tried| tried.show());
    }
}

/// Returns the agents whose clients are started: the requested one, or all that are used here.
fn agents(context: &Context, asked: Option<&str>) -> Result<Vec<(&'static str, &'static str)>, u8> {
    let mut wirings = selection::chosen(context, asked);
    wirings.extend(wired_in_project(context).into_iter().filter(|_| asked.is_none()));
    if wirings.is_empty() {
        return Err(selection::unknown(asked));
    }
    let mut once: Vec<(&'static str, &'static str)> = Vec::new();
    for agent in wirings.iter().filter_map(|wiring| named(wiring.agent())) {
        if !once.contains(&agent) {
            once.push(agent);
        }
    }
    Ok(once)
}

fn named(agent: &str) -> Option<(&'static str, &'static str)> {
    reflex_agents::find(agent).map(|agent| (agent.name, agent.title))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Consent {
    Granted,
    Asked,
}

/// Result for one client.
struct Tried {
    agent: &'static str,
    title: &'static str,
    leaves: &'static str,
    /// Settings that name another model, key or login: file and key.
    against: Vec<Against>,
    /// Programs that the client also runs.
    beside: Vec<String>,
    /// Whether the client counts for the exit status.
    counts: bool,
    end: End,
}

enum End {
    /// The client was started.
    Driven(Proof),
    /// The client was not started: the reason and a remedy.
    Refused(String, String),
}

fn tried(context: &Context, agent: &'static str, title: &'static str, consent: Consent) -> Tried {
    let refused = |why: String, fix: String| {
        let (against, beside) = (Vec::new(), Vec::new());
        Tried { agent, title, leaves: "", against, beside, counts: true, end: End::Refused(why, fix) }
    };
    let plan = match Plan::for_agent(context.folders(), agent) {
        Ok(plan) => plan,
        Err(NoPlan::NotKnown) => {
            let fix = format!("reflex verify --agent {agent} starts its hook as it would");
            let cannot = refused("this client cannot be started without a person".into(), fix);
            return Tried { counts: false, ..cannot };
        }
        Err(NoPlan::NotFound(program)) => {
            return refused(format!("`{program}` is not on the PATH"), "run this where it is installed".into());
        }
        Err(NoPlan::NoFolder) => {
            return refused("the current directory no longer exists".into(), "change to another directory".into());
        }
    };
    let (against, beside) = (plan.against().to_vec(), plan.beside().to_vec());
    if let Err((why, fix)) = may_start(context, &plan, title, consent) {
        return Tried { against, beside, ..refused(why, fix) };
    }
    match driven_apart(context, agent) {
        Ok(proof) => {
            let store = context.store();
            if let Err(error) = proof.keep(&store) {
                complain(&format!("what {title} proved cannot be kept: {error}"));
            }
            Tried { agent, title, leaves: plan.leaves(), against, beside, counts: true, end: End::Driven(proof) }
        }
        Err(error) => refused(error.to_string(), format!("reflex doctor --agent {agent}")),
    }
}

/// Whether the client may be started: no setting redirects it, and a person accepts the programs that it also runs.
fn may_start(context: &Context, plan: &Plan, title: &str, consent: Consent) -> Result<(), (String, String)> {
    let host = context.host(Mode::default());
    let here = host.placed(Event::default()).workspace;
    if let Some(pause) = host.store().pause().filter(|pause| pause.holds_in(&here)) {
        let why = format!("the guard is switched off until {} by {}", timestamp(pause.until), pause.by);
        return Err((why, "reflex off --end".into()));
    }
    if !plan.against().is_empty() {
        let keys: Vec<String> =
            plan.against().iter().map(|one| format!("`{}` in {}", visible(&one.key), visible(&one.file))).collect();
        let why = format!("its settings name another model, key or login, and it would be asked: {}", keys.join(", "));
        return Err((why, "start it where these are not set".into()));
    }
    if plan.beside().is_empty() || consent == Consent::Granted {
        return Ok(());
    }
    let beside: Vec<String> = plan.beside().iter().map(|one| format!("  {}", visible(one))).collect();
    let list = format!("{title} would also run, as it does at each start:\n{}", beside.join("\n"));
    if !std::io::stdin().is_terminal() {
        return Err((list, "reflex verify --live --yes accepts that".into()));
    }
    // On standard error, separate from the output of `--json`.
    complain(&list);
    let declined =
        || ("it is not started".to_owned(), "reflex verify --live --yes accepts what runs beside it".to_owned());
    if confirmed("Start it? [y/N] ") { Ok(()) } else { Err(declined()) }
}

/// The separate process that drives a client gives no proof.
#[derive(Debug, thiserror::Error)]
enum DriveError {
    #[error("the network can be switched neither off nor on")]
    Network,
    #[error("reflex cannot start itself: {0}")]
    NotStarted(io::Error),
    /// The path of this program is not known, or the process is lost.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// In the words of the process.
    #[error("{0}")]
    Failed(String),
}

/// Drives the client in a separate process, out of reach of the terminal's signals. That process ends the client as
/// soon as its parent stops waiting, for whatever reason.
fn driven_apart(context: &Context, agent: &str) -> Result<Proof, DriveError> {
    match drive_once(context, agent, "off")? {
        Some(proof) => Ok(proof),
        None => drive_once(context, agent, "on")?.ok_or(DriveError::Network),
    }
}

/// Returns `None` if the network cannot be switched to this state.
fn drive_once(context: &Context, agent: &str, network: &str) -> Result<Option<Proof>, DriveError> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    if let Some(home) = context.folders().chosen_home() {
        command.arg("--home").arg(home);
    }
    command.args(["verify", "--driven", agent, network]);
    in_new_process_group(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(DriveError::NotStarted)?;
    let held = child.stdin.take();
    let mut stdout = String::new();
    let read = child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut stdout));
    let output = child.wait_with_output()?;
    drop((held, read));
    if output.status.code() == Some(i32::from(CANNOT)) {
        return Ok(None);
    }
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Proof::of_json(&stdout).map(Some).ok_or(DriveError::Failed(complaint))
}

/// Entry point of the separate process.
fn driven(context: &Context, words: &[&str]) -> u8 {
    let [agent, network] = words else { return exit_code::USAGE };
    let network = if *network == "on" { Network::On } else { Network::Off };
    match drive(context.folders(), agent, network) {
        Ok(proof) => {
            print_json(&proof.json().to_string());
            exit_code::OK
        }
        Err(None) => CANNOT,
        Err(Some(problem)) => {
            complain(&problem);
            exit_code::INTERNAL
        }
    }
}

impl Tried {
    fn is_proven(&self) -> bool {
        matches!(&self.end, End::Driven(proof) if proof.outcome == Outcome::Proven)
    }

    fn json(&self) -> Value {
        let mut value = match &self.end {
            End::Driven(proof) => proof.json(),
            End::Refused(..) => json!({"agent": self.agent, "state": "NOT STARTED", "outcome": "refused"}),
        };
        let missing = match &self.end {
            End::Driven(_) if self.is_proven() => None,
            End::Driven(proof) => Some(self.problem(proof)),
            End::Refused(why, fix) => Some((why.clone(), fix.clone())),
        };
        let (problem, fix) = missing.unzip();
        let against: Vec<Value> = self.against.iter().map(|one| json!({"file": one.file, "key": one.key})).collect();
        let further = json!({
            "problem": problem, "fix": fix, "against": against, "beside": self.beside, "leaves": self.leaves,
        });
        if let (Value::Object(value), Value::Object(further)) = (&mut value, further) {
            value.extend(further);
        }
        value
    }

    fn show(&self) {
        let (agent, title) = (self.agent, self.title);
        let proof = match &self.end {
            End::Driven(proof) => proof,
            End::Refused(why, fix) => return print(&format!("{agent}: NOT STARTED: {why}\n  what helps: {fix}")),
        };
        let version = if proof.version.is_empty() { String::new() } else { format!(" {}", visible(&proof.version)) };
        let client = format!("{title}{version}");
        let word = proof.outcome.word();
        match self.is_proven() {
            true => print(&format!(
                "{agent}: {word}: the hook saw the canary, and {client} reported the refusal to its model"
            )),
            false => {
                let (why, fix) = self.problem(proof);
                print(&format!("{agent}: {word}: {}\n  what helps: {fix}", why.replace("the client", &client)));
            }
        }
        let older = reflex_agents::find(agent).and_then(|agent| fails_open_at(agent, &proof.version));
        older.iter().for_each(|trouble| print(&format!("  {}\n  what helps: {}", trouble.what, trouble.fix)));
        let seconds = proof.took / 1000;
        let network = if proof.network_off { "the network was switched off" } else { "NETWORK NOT SWITCHED OFF" };
        let leaves = if self.leaves.is_empty() { String::new() } else { format!("; it leaves {}", self.leaves) };
        print(&format!("  {network}; it took {seconds} s{leaves}"));
        self.beside.iter().for_each(|one| print(&format!("  beside it, as at each start: {}", visible(one))));
    }

    /// Returns the missing step and its remedy.
    fn problem(&self, proof: &Proof) -> (String, String) {
        let (agent, message) = (self.agent, visible(&proof.words));
        let doctor = format!("reflex doctor --agent {agent}");
        let ran = if proof.ran { "the canary ran" } else { "the canary did not run, and Reflex had no part in that" };
        match proof.outcome {
            Outcome::Proven => (String::new(), String::new()),
            Outcome::Off => (format!("the hook was never called; {ran}. The model received: {message}"), doctor),
            Outcome::Ignored => (
                "the hook refused the canary and the client RAN IT ALL THE SAME: it does not honour refusals".into(),
                "do not let this client work without a person at each call".into(),
            ),
            Outcome::NotReceived => (
                format!("the hook refused the canary, but its message did not reach the model, which received: {message}"),
                doctor,
            ),
            Outcome::LetPass => (
                "the hook was called and let the canary pass: by a policy, a pause, an approval, or because an older reflex is installed there".into(),
                format!("reflex doctor --agent {agent}, and reflex config show --origin"),
            ),
            Outcome::Elsewhere => (
                "the model received a refusal, but from a hook that keeps its state elsewhere".into(),
                format!("reflex init --agent {agent}"),
            ),
            Outcome::NotStarted => (format!("the client never sent a request to its model. It printed: {message}"), doctor),
            Outcome::NoAnswer => (format!("the client did not answer its model. It printed: {message}"), doctor),
        }
    }
}
