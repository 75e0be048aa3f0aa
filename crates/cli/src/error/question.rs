//! The reasons why a call cannot be judged for a person.

use reflex_agents::BadEvent;
use std::io;

/// The question that a person asks is not valid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QuestionError {
    /// The name is that of no agent.
    #[error("unknown agent `{name}`; known: {known}")]
    Agent {
        /// The given word.
        name: String,
        /// All names.
        known: String,
    },
    /// The fields hold no command.
    #[error("name a command")]
    NoCommand,
    /// The path cannot be made absolute.
    #[error("`{folder}`: {source}")]
    Path {
        /// The given path.
        folder: String,
        /// The reason.
        source: io::Error,
    },
    /// The path is not that of a folder.
    #[error("`{0}` is not a directory")]
    NotFolder(String),
    /// The payload cannot be read, or its agent would not send it.
    #[error(transparent)]
    Payload(#[from] BadEvent),
}

/// A recorded call of the demo is damaged, which is a mistake of this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// It is not a JSON object.
    #[error("a recorded call is damaged: {0}")]
    Json(#[from] serde_json::Error),
    /// It names an unknown agent.
    #[error("unknown agent `{0}`")]
    Agent(String),
    /// Its payload or its facts are not valid.
    #[error(transparent)]
    Event(#[from] BadEvent),
}

/// A labelled case for the model of auto-pilot is not valid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    /// It is not a JSON object.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has another label.
    #[error("the label is `{0}`; it is `allow` or `refuse`")]
    Label(String),
    /// Its event is not valid.
    #[error(transparent)]
    Event(#[from] BadEvent),
}
