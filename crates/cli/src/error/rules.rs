//! The reasons why rules are not shown, imported or evaluated.

use reflex_host::Fault;
use reflex_host::rules::import::ImportError;
use std::path::PathBuf;

/// A command about rules did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RulesError {
    /// No rule has this id.
    #[error("no rule `{id}`{}", near.as_ref().map_or(String::new(), |near| format!(", did you mean `{near}`?")))]
    Unknown {
        /// The given id.
        id: String,
        /// The most similar id.
        near: Option<String>,
    },
    /// A candidate policy has these mistakes.
    #[error("{}", .0.join("\n"))]
    Candidate(Vec<String>),
    /// The name is that of no other guard or agent.
    #[error("unknown source `{name}`; known: {known}")]
    Source {
        /// The given name.
        name: String,
        /// All names.
        known: String,
    },
    /// Other tools keep no rules on this machine.
    #[error("no file of another guard or agent is where they usually are; name one")]
    NoSource,
    /// This file needs no conversion.
    #[error("{}: this rule loads as it is; copy it to ~/.config/reflex/rules/ or .reflex/rules/", .0.display())]
    OwnFormat(PathBuf),
    /// The name of this file tells no format.
    #[error("{}: unknown file type; use --from", .0.display())]
    Format(PathBuf),
    /// The path is not a file, or the file is too long.
    #[error("{}: not a regular file of at most {max_kib} KiB", file.display())]
    NotSmallFile {
        /// Its path.
        file: PathBuf,
        /// Maximum size in KiB.
        max_kib: u64,
    },
    /// The text is not in the format of its tool.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The rules would replace this file.
    #[error("{} already exists; remove it first", .0.display())]
    Exists(PathBuf),
    /// The event to evaluate does not tell its kind.
    #[error("the event has no `event`")]
    NoEvent,
    /// The file of an event is too long.
    #[error("{}: the file is larger than {max_mib} MiB", file.display())]
    EventTooLarge {
        /// Its path.
        file: PathBuf,
        /// Maximum size in MiB.
        max_mib: u64,
    },
    /// The file of an event is not a JSON object.
    #[error("{}: {source}", file.display())]
    EventNotJson {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// An option takes a pair.
    #[error("--{option} takes NAME=VALUE, not `{given}`")]
    Pair {
        /// The option.
        option: &'static str,
        /// The given word.
        given: String,
    },
}

impl RulesError {
    /// The side at fault.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            RulesError::Candidate(_)
            | RulesError::Source { .. }
            | RulesError::Format(_)
            | RulesError::NoEvent
            | RulesError::EventTooLarge { .. }
            | RulesError::EventNotJson { .. }
            | RulesError::Pair { .. } => Fault::Request,
            RulesError::Unknown { .. }
            | RulesError::NoSource
            | RulesError::OwnFormat(_)
            | RulesError::NotSmallFile { .. }
            | RulesError::Import(_)
            | RulesError::Exists(_) => Fault::State,
        }
    }
}
