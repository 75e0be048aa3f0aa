//! The key `judge` of a policy: the model that answers questions in auto-pilot.

use super::loaded::Loaded;
use reflex_engine::Authority;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default address of the provider `anthropic`.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Default time limit over all attempts of one question.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of characters of a command that are shown.
const MAX_SHOWN: usize = 60;

/// The protocol by which a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    /// A shell command line: it reads the question on standard input and writes the answer to standard output, both
    /// JSON.
    Command {
        /// The line.
        line: String,
    },
    /// Anthropic's Messages API.
    Anthropic {
        /// `https://api.anthropic.com`, or a gateway.
        url: String,
        /// The file with the key.
        key_file: PathBuf,
    },
    /// OpenAI's chat API, which Ollama, llama.cpp, vLLM and gateways implement too.
    OpenAi {
        /// The base URL, up to `/v1`.
        url: String,
        /// The file with the key, if the server needs one.
        key_file: Option<PathBuf>,
    },
}

/// A model that answers questions, and the way to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeConfig {
    /// The protocol.
    pub provider: Provider,
    /// The model's name; empty for a command.
    pub model: String,
    /// Time limit over all attempts of one question.
    pub timeout: Duration,
    /// Whether an administrator chose it.
    pub is_managed: bool,
}

impl JudgeConfig {
    /// The model that the administrator's policy names, else the user's. A project cannot name one.
    pub fn from_layers(loaded: &[Loaded], home: &Path) -> Option<JudgeConfig> {
        let counts = |one: &&Loaded| {
            one.layer.authority == Authority::Managed
                || (one.layer.authority == Authority::User && one.layer.loosens.holds())
        };
        let named = |one: &&Loaded| !one.layer.tables.policy().judge().provider().is_empty();
        let layer = loaded.iter().filter(counts).filter(named).max_by_key(|one| one.layer.authority)?;
        let judge = layer.layer.tables.policy().judge();
        let url = judge.url().to_owned();
        let key_file = || in_home(judge.key_file(), home);
        let provider = match judge.provider() {
            "command" => Provider::Command { line: judge.command().to_owned() },
            "anthropic" if url.is_empty() => Provider::Anthropic { url: ANTHROPIC.to_owned(), key_file: key_file()? },
            "anthropic" => Provider::Anthropic { url, key_file: key_file()? },
            "openai" => Provider::OpenAi { url, key_file: key_file() },
            _ => return None,
        };
        let timeout = judge.timeout().map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.into()));
        let is_managed = layer.layer.authority == Authority::Managed;
        Some(JudgeConfig { provider, model: judge.model().to_owned(), timeout, is_managed })
    }

    /// The model and its address, for people: `claude-haiku-4-5 at https://api.anthropic.com`.
    pub fn shown(&self) -> String {
        match &self.provider {
            Provider::Command { line } if line.chars().count() > MAX_SHOWN => {
                format!("the command `{}…`", line.chars().take(MAX_SHOWN).collect::<String>())
            }
            Provider::Command { line } => format!("the command `{line}`"),
            Provider::Anthropic { url, .. } | Provider::OpenAi { url, .. } => format!("{} at {url}", self.model),
        }
    }

    /// Whether questions leave this machine. A command is assumed to send them.
    pub fn leaves_machine(&self) -> bool {
        match &self.provider {
            Provider::Command { .. } => true,
            Provider::Anthropic { url, .. } | Provider::OpenAi { url, .. } => url.starts_with("https://"),
        }
    }
}

fn in_home(path: &str, home: &Path) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        _ if path.is_empty() => None,
        Some(below) => Some(home.join(below)),
        None => Some(path.into()),
    }
}
