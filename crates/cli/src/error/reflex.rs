//! The reasons why a reflex is not added, updated, created or tested.

use reflex_host::Fault;
use std::io;
use std::path::PathBuf;

/// A command about reflexes did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReflexError {
    /// The options are JSON of another kind.
    #[error("--with takes a JSON object")]
    OptionsNotObject,
    /// The options of a reflex to add are not JSON.
    #[error("--with takes a JSON object: {0}")]
    OptionsNotJson(serde_json::Error),
    /// The options of a test are not JSON.
    #[error("--with is not valid JSON: {0}")]
    OptionsOfTest(serde_json::Error),
    /// The call of a test is not JSON.
    #[error("--call is not valid JSON: {0}")]
    Call(serde_json::Error),
    /// The call of a test cannot be read.
    #[error("cannot read the input: {0}")]
    Input(io::Error),
    /// A pack of this name has only other contents.
    #[error("the pack `{0}` holds no reflexes")]
    EmptyPack(String),
    /// A new reflex has these mistakes.
    #[error("this reflex cannot be added: {}", .0.join("; "))]
    Faulty(Vec<String>),
    /// The new version of a reflex has these mistakes.
    #[error("{}", .0.join("; "))]
    FaultyNow(Vec<String>),
    /// The list has another reflex of this name.
    #[error("another reflex `{0}` is listed already; `reflex reflexes remove {0}` first")]
    Listed(String),
    /// Only a person fetches from this place.
    #[error("not fetched: {0}")]
    NotFetched(String),
    /// The person has declined to sign.
    #[error("not added")]
    NotAdded,
    /// The lock file is empty.
    #[error("no reflexes added here: {} names none; `reflex reflexes add` writes it", .0.display())]
    NoneAdded(PathBuf),
    /// The lock file lacks this name.
    #[error("no reflex `{name}` here: {} names none; `reflex reflexes add` writes it", lock.display())]
    Unknown {
        /// The given name.
        name: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// The new version has another name.
    #[error("it is called `{0}` now; add that, and remove this")]
    Renamed(String),
    /// A test of the listed reflexes, where the lists are empty.
    #[error("no reflex is listed here; name one, or its folder")]
    NoneListed,
    /// The name of a new reflex has other characters.
    #[error("invalid name `{0}`: use the characters a-z, 0-9 and -")]
    Name(String),
}

impl ReflexError {
    /// The side at fault.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            ReflexError::OptionsNotObject
            | ReflexError::OptionsNotJson(_)
            | ReflexError::OptionsOfTest(_)
            | ReflexError::Call(_)
            | ReflexError::Name(_) => Fault::Request,
            ReflexError::Unknown { .. }
            | ReflexError::EmptyPack(_)
            | ReflexError::Faulty(_)
            | ReflexError::FaultyNow(_)
            | ReflexError::Listed(_)
            | ReflexError::NotFetched(_)
            | ReflexError::NotAdded
            | ReflexError::NoneAdded(_)
            | ReflexError::Renamed(_)
            | ReflexError::NoneListed => Fault::State,
            ReflexError::Input(_) => Fault::Machine,
        }
    }
}
