//! The result of starting a real client with a canary.

use crate::store::Store;
use crate::store::canary::Kept;
use crate::system::clock;
use serde_json::{Value, json};

/// The observations from a client that was started with a canary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The agent's name: `claude`, …
    pub agent: String,
    /// The conclusion.
    pub outcome: Outcome,
    /// Whether the hook received the canary of this run.
    pub hook_saw: bool,
    /// Whether the client passed our refusal to its model.
    pub model_received: bool,
    /// Whether the canary ran.
    pub ran: bool,
    /// The client's version, empty if unknown.
    pub version: String,
    /// Whether the client had no network except the loopback.
    pub network_off: bool,
    /// Running time of the client in milliseconds.
    pub took: u64,
    /// Output of the client, if it explains the outcome.
    pub words: String,
}

/// The conclusion of a run with a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The hook received the canary, and the model received the refusal.
    Proven,
    /// The hook was never called.
    Off,
    /// The hook refused, but the canary ran.
    Ignored,
    /// The hook refused, but the model did not receive the refusal.
    NotReceived,
    /// The hook was called and allowed it, by a policy, a pause or an approval.
    LetPass,
    /// The model received a refusal, but not from a hook that keeps its state here.
    Elsewhere,
    /// The client never called the model.
    NotStarted,
    /// The client called the model, but did not return an answer in time.
    NoAnswer,
}

/// Every outcome with its word and name.
const OUTCOMES: [(Outcome, &str, &str); 8] = [
    (Outcome::Proven, "PROVEN", "proven"),
    (Outcome::Off, "OFF", "hook-never-called"),
    (Outcome::Ignored, "OFF", "refusal-ignored"),
    (Outcome::NotReceived, "NOT PROVEN", "model-not-told"),
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

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        OUTCOMES.iter().find(|(outcome, ..)| *outcome == self).map_or("", |(.., name)| name)
    }

    fn named(name: &str) -> Option<Outcome> {
        OUTCOMES.iter().find(|(.., known)| *known == name).map(|(outcome, ..)| *outcome)
    }
}

impl Proof {
    /// The proof as JSON, for output and storage.
    pub fn json(&self) -> Value {
        json!({
            "agent": self.agent, "state": self.outcome.word(), "outcome": self.outcome.name(),
            "hook_saw": self.hook_saw, "model_told": self.model_received, "ran": self.ran,
            "client_version": self.version, "network": if self.network_off { "off" } else { "on" },
            "milliseconds": self.took, "words": self.words,
        })
    }

    /// Parses the JSON of a proof; `None` for anything else.
    pub fn of_json(text: &str) -> Option<Proof> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let flag = |key: &str| value.get(key).and_then(Value::as_bool);
        Some(Proof {
            agent: word("agent")?,
            outcome: Outcome::named(&word("outcome")?)?,
            hook_saw: flag("hook_saw")?,
            model_received: flag("model_told")?,
            ran: flag("ran")?,
            version: word("client_version")?,
            network_off: word("network")? == "off",
            took: value.get("milliseconds")?.as_u64()?,
            words: word("words")?,
        })
    }

    /// Stores the proof and writes it to the audit log.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, store: &Store) -> std::io::Result<()> {
        let folder = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        store.note("verify-live", self.json())?;
        let kept = Kept {
            agent: self.agent.clone(),
            time: clock::now(),
            state: self.outcome.word().to_owned(),
            outcome: self.outcome.name().to_owned(),
            version: self.version.clone(),
            folder,
        };
        store.keep_proof(&kept)
    }
}
