//! The real client of an agent, started once with a scripted model that asks for a canary.
//!
//! It is proven only if the hook saw this run's canary and the client told its model of the refusal. The client works
//! in the folder here with the person's own settings; its endpoint is forced to the model, and nothing of a key leaves.

mod driver;
mod network;
mod process;

pub use driver::{Network, drive, song};
pub use network::CANNOT;

use crate::git::project_root;
use crate::store::Store;
use crate::store::canary::Kept;
use crate::system::folders::{Folders, home_of_agents};
use reflex_agents::live::{Against, Live, Source, Standing, Text, client};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// What a client of an agent would be started with.
pub struct Plan {
    live: &'static Live,
    program: PathBuf,
    texts: Vec<Text>,
    standing: Standing,
    folders: Folders,
    here: PathBuf,
}

/// Why a client cannot be started with a model of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPlan {
    /// No client of this agent can be started without a person.
    NotKnown,
    /// The client is not on the `PATH`; its name.
    NotThere(&'static str),
    /// The folder here cannot be found.
    NoFolder,
}

impl Plan {
    /// The plan for an agent in the folder here.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(agent: &str) -> Result<Plan, NoPlan> {
        let live = client(agent).ok_or(NoPlan::NotKnown)?;
        // The client looks for its own files where agents do.
        let mut folders = Folders::of_user();
        folders.home = home_of_agents();
        let here = std::env::current_dir().map_err(|_| NoPlan::NoFolder)?;
        let program = found(live.program).ok_or(NoPlan::NotThere(live.program))?;
        let texts = texts(live, &folders, &here);
        let standing = (live.standing)(&texts);
        Ok(Plan { live, program, texts, standing, folders, here })
    }

    /// What in its settings names another model, key or login: then it must not be started.
    pub fn against(&self) -> &[Against] {
        &self.standing.against
    }

    /// What would run beside it.
    pub fn beside(&self) -> &[String] {
        &self.standing.beside
    }

    /// What the client leaves behind of such a start; empty if nothing.
    pub fn leaves(&self) -> &'static str {
        self.live.leaves
    }
}

/// What was seen of a client that was started with a canary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// `claude`, …
    pub agent: String,
    /// What it comes to.
    pub outcome: Outcome,
    /// Whether the hook saw the canary of this run.
    pub hook_saw: bool,
    /// Whether the client told its model of our refusal.
    pub model_told: bool,
    /// Whether the canary ran.
    pub ran: bool,
    /// The client's version, empty if it did not tell.
    pub version: String,
    /// Whether the client had no network but the loopback.
    pub network_off: bool,
    /// Milliseconds that the client worked.
    pub took: u64,
    /// What the client said, where it explains something.
    pub words: String,
}

/// What a start with a canary comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The hook saw the canary, and the model was told of the refusal.
    Proven,
    /// The hook was never called.
    Off,
    /// The hook refused, and the canary ran all the same.
    Ignored,
    /// The hook refused, and the model was not told so.
    Untold,
    /// The hook was called and let it pass: by a policy, a pause or an approval.
    LetPass,
    /// The model was told of a refusal, and no hook that keeps its state here gave it.
    Elsewhere,
    /// The client never asked the model for anything.
    NotStarted,
    /// The client asked, and did not come back with an answer in time.
    NoAnswer,
}

/// Every outcome with its word and name.
const OUTCOMES: [(Outcome, &str, &str); 8] = [
    (Outcome::Proven, "PROVEN", "proven"),
    (Outcome::Off, "OFF", "hook-never-called"),
    (Outcome::Ignored, "OFF", "refusal-ignored"),
    (Outcome::Untold, "NOT PROVEN", "model-not-told"),
    (Outcome::LetPass, "OFF", "let-pass"),
    (Outcome::Elsewhere, "NOT PROVEN", "state-elsewhere"),
    (Outcome::NotStarted, "NOT PROVEN", "client-not-started"),
    (Outcome::NoAnswer, "NOT PROVEN", "no-answer"),
];

impl Outcome {
    /// `PROVEN`, `OFF` or `NOT PROVEN`.
    pub fn word(self) -> &'static str {
        OUTCOMES.iter().find(|(outcome, ..)| *outcome == self).map_or("", |(_, word, _)| word)
    }

    /// The name that stands in JSON.
    pub fn name(self) -> &'static str {
        OUTCOMES.iter().find(|(outcome, ..)| *outcome == self).map_or("", |(.., name)| name)
    }

    fn named(name: &str) -> Option<Outcome> {
        OUTCOMES.iter().find(|(.., known)| *known == name).map(|(outcome, ..)| *outcome)
    }
}

impl Proof {
    /// As it is printed and handed on.
    pub fn json(&self) -> Value {
        json!({
            "agent": self.agent, "state": self.outcome.word(), "outcome": self.outcome.name(),
            "hook_saw": self.hook_saw, "model_told": self.model_told, "ran": self.ran,
            "client_version": self.version, "network": if self.network_off { "off" } else { "on" },
            "milliseconds": self.took, "words": self.words,
        })
    }

    /// Read again; `None` for anything else.
    pub fn of_json(text: &str) -> Option<Proof> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let yes = |key: &str| value.get(key).and_then(Value::as_bool);
        Some(Proof {
            agent: word("agent")?,
            outcome: Outcome::named(&word("outcome")?)?,
            hook_saw: yes("hook_saw")?,
            model_told: yes("model_told")?,
            ran: yes("ran")?,
            version: word("client_version")?,
            network_off: word("network")? == "off",
            took: value.get("milliseconds")?.as_u64()?,
            words: word("words")?,
        })
    }

    /// Keeps it, and writes it into the audit log.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, store: &Store) -> std::io::Result<()> {
        let folder = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        store.note("verify-live", self.json())?;
        let kept = Kept {
            agent: self.agent.clone(),
            time: crate::system::clock::now(),
            state: self.outcome.word().to_owned(),
            outcome: self.outcome.name().to_owned(),
            version: self.version.clone(),
            folder,
        };
        store.keep_proof(&kept)
    }
}

/// A program on the `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files =
        std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// The files that the client reads and that are there.
fn texts(live: &Live, folders: &Folders, here: &Path) -> Vec<Text> {
    let named = |variable: Option<&str>| {
        variable.and_then(std::env::var_os).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let project = PathBuf::from(project_root(&here.to_string_lossy(), &folders.home.to_string_lossy()));
    let mut found: Vec<Text> = Vec::new();
    for source in live.sources {
        let paths = match source {
            Source::User { variable, folder, name } => {
                let given = named(*variable).map(|moved| moved.join(below_first(folder)));
                vec![given.unwrap_or_else(|| folders.home.join(folder)).join(name)]
            }
            Source::Project(file) => vec![here.join(file), project.join(file)],
            Source::System { variable, file } => vec![named(*variable).unwrap_or_else(|| file.into())],
        };
        for file in paths.iter().flat_map(|path| listed(path)) {
            let shown = file.to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).ok().filter(|_| found.iter().all(|known| known.file != shown));
            found.extend(text.map(|text| Text { source: *source, file: shown, text }));
        }
    }
    found
}

/// `hooks` of `.copilot/hooks`: a variable stands for the first folder.
fn below_first(folder: &str) -> &str {
    folder.split_once('/').map_or("", |(_, rest)| rest)
}

/// A file, or every file with the ending that a `*` stands before.
fn listed(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(ending) = name.strip_prefix('*') else { return vec![path.to_owned()] };
    let entries = fs::read_dir(path.parent().unwrap_or(Path::new("/"))).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}
