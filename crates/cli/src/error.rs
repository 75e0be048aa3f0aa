//! The reasons why a command did not do what it was asked to, and the exit status of each.

mod collector;
mod question;
mod reflex;
mod rules;
mod signature;

pub(crate) use collector::CollectorError;
pub(crate) use question::{CaseError, DemoError, QuestionError};
pub(crate) use reflex::ReflexError;
pub(crate) use rules::RulesError;
pub(crate) use signature::SignatureError;

use crate::exit_code;
use reflex_host::answers::AnswerError;
use reflex_host::catalog::{ListError, OriginError, PackError, PackageError, PlayError};
use reflex_host::doctor::Trouble;
use reflex_host::git_hooks::GitHookError;
use reflex_host::lasting::SettleError;
use reflex_host::layers::NamedError;
use reflex_host::signing::SigningError;
use reflex_host::{Fault, PurgeError, TrustError, WiringError};
use reflex_supervise::ProbeError;
use std::io;
use std::path::PathBuf;

/// Remedy for a forgotten passphrase; it ends all earlier approvals.
pub(crate) const FORGOTTEN: &str = "forgotten? Remove the Reflex entries from the agents' settings files yourself (`reflex uninstall --dry-run` shows them), then `reflex init`: earlier approvals end";

/// A command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An action on a call, or its record.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// A person's statement could not be signed.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// A settings file could not be changed.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// A hook of git could not be changed.
    #[error(transparent)]
    GitHook(#[from] GitHookError),
    /// The program could not be copied to its permanent path.
    #[error(transparent)]
    Settle(#[from] SettleError),
    /// A command about reflexes.
    #[error(transparent)]
    Reflex(#[from] ReflexError),
    /// A source of a reflex is not valid, or the reflex cannot be had from it.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The files of a reflex are not one, or cannot be read or written.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A pack cannot be read.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A list of reflexes cannot be read or changed.
    #[error(transparent)]
    List(#[from] ListError),
    /// A reflex cannot be run on a call.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A command about rules.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// Rules or policies that the command line names cannot be read.
    #[error(transparent)]
    Named(#[from] NamedError),
    /// A call that a person asks about.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// A recorded call of the demo.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// A labelled case for the model of auto-pilot.
    #[error("{name}, line {line}: {source}")]
    Case {
        /// The file with the case.
        name: String,
        /// Its line, from 1.
        line: usize,
        /// The reason.
        source: CaseError,
    },
    /// A file is not verified.
    #[error("{}: {source}", file.display())]
    Signature {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: SignatureError,
    },
    /// This build verifies only with a given key.
    #[error("this build names no release key; give one with --public-key")]
    NoReleaseKey,
    /// A collector is not valid.
    #[error(transparent)]
    Collector(#[from] CollectorError),
    /// The guard's data cannot be deleted.
    #[error(transparent)]
    Purge(#[from] PurgeError),
    /// Another error, about one of several things.
    #[error("{name}: {source}")]
    About {
        /// The thing.
        name: String,
        /// The error.
        source: Box<Error>,
    },
    /// A file that the command line names cannot be read.
    #[error("{}: {source}", file.display())]
    Input {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The audit log cannot be read.
    #[error("the audit log: {0}")]
    Log(io::Error),
    /// The name of a program could stand for another one.
    #[error("`{0}` is not an absolute path")]
    NotAbsolute(String),
    /// The path of this program is not known.
    #[error("the path of reflex cannot be found: {0}")]
    OwnPath(io::Error),
    /// A new file would replace this one, which may hold more than the hook.
    #[error("{}: already exists, left unchanged; `reflex init` edits it", .0.display())]
    Untouched(PathBuf),
    /// An agent does not trust its hook.
    #[error(
        "{agent} does not run the hook yet: it is not trusted ({source}). Start {agent} and trust it there: /hooks"
    )]
    Untrusted {
        /// The agent.
        agent: &'static str,
        /// The reason.
        source: TrustError,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file of the state folder cannot be written.
    #[error("the state folder cannot be written: {0}")]
    State(io::Error),
    /// Records of a passphrase that is replaced cannot be removed.
    #[error("{what} cannot be removed: {source}")]
    Unremoved {
        /// The records.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// The state folder cannot be read or written, so the command ends before it does anything.
    #[error("{}; {consequence}. Remedy: {}", trouble.what, trouble.fix)]
    StateFolder {
        /// The obstacle, and the remedy.
        trouble: Trouble,
        /// The consequence, as a sentence without its period.
        consequence: &'static str,
    },
    /// A call is in no list, because its file cannot be read.
    #[error("{} is damaged, so its call is not listed; delete that file: the call stays blocked", .0.display())]
    DamagedCall(PathBuf),
    /// The working directory is gone or cannot be read.
    #[error("cannot find the working directory: {0}")]
    WorkingDirectory(io::Error),
    /// The working directory is in no project, but in the home.
    #[error("{} is not a project; change to one", .0.display())]
    NoProject(PathBuf),
    /// The action takes a passphrase that was not given.
    #[error("{0} takes your passphrase; no file was changed")]
    Locked(&'static str),
    /// The person has declined, before any file was changed.
    #[error("no file was changed")]
    Declined,
    /// The person entered no message.
    #[error("no message was entered")]
    NoMessage,
    /// No passphrase was set, so no file was changed.
    #[error("no passphrase was set, and no file was changed")]
    NoPassphraseSet,
    /// The person failed to enter a new passphrase twice.
    #[error("{0}; nothing changed")]
    NoNewPassphrase(PassphraseMistake),
    /// The person does not know the passphrase in force.
    #[error("that was not the passphrase; forgotten? The manual (docs/record.md) says how to start anew")]
    WrongPassphrase,
    /// The person does not know the passphrase that was to be replaced.
    #[error("that was not the passphrase; {FORGOTTEN}")]
    WrongPresentPassphrase,
    /// The file of the present passphrase cannot be used.
    #[error("{0}; {FORGOTTEN}")]
    PresentPassphrase(SigningError),
    /// A key was to be named, and all hooks are missing.
    #[error("no agent's settings have the hook yet; `reflex init` puts it there")]
    NoHook,
    /// The name is that of no scope.
    #[error("unknown scope `{word}`; known: {known}")]
    Scope {
        /// The given word.
        word: String,
        /// All names.
        known: String,
    },
    /// The log has no call with this id.
    #[error("no decision `{0}` in the audit log")]
    NoDecision(String),
    /// The reason why no entry of a policy can cover a call.
    #[error("{0}")]
    NoEntry(&'static str),
    /// The text is not a date, or one of the past.
    #[error("`{0}` is not a day to come: write --until 2026-12-31")]
    Day(String),
    /// The policy has the section in a form that a program must not edit.
    #[error("{file} has `{key}` in another form: put this there by hand:\n{line}")]
    OtherForm {
        /// The policy.
        file: String,
        /// The section.
        key: &'static str,
        /// The line that was to be added.
        line: String,
    },
    /// With the new line, the policy would not be accepted.
    #[error("with this the policy would be wrong: {0}")]
    WouldBeWrong(String),
    /// Files beside the policy are not accepted.
    #[error("files beside it were not accepted yet: look at them with `reflex trust` first")]
    BesideUnaccepted,
    /// Other files changed while the person was asked.
    #[error("other files changed meanwhile: look at all of them with `reflex trust`")]
    ChangedMeanwhile,
    /// The name is that of no task.
    #[error("invalid task name; use at most 64 of a-z, A-Z, 0-9, `-`, `_`, `.`, `#` and `/`")]
    TaskName,
    /// A scope of a task leads out of the workspace.
    #[error("the scope `{0}` does not begin at the workspace: write it like src/**")]
    TaskScope(String),
    /// The name is that of no mode.
    #[error("unknown mode `{name}`; known: {known}")]
    Mode {
        /// The given word.
        name: String,
        /// All names.
        known: String,
    },
    /// A program to run is not a known agent.
    #[error("not an agent that Reflex knows; known: {0}. `--supervise` or `--watch` starts any program")]
    UnknownAgent(String),
    /// The agent would not ask the guard; the reason and a remedy.
    #[error("not started: {0}")]
    Unguarded(String),
    /// The task is not the one that is declared.
    #[error("not started: the task `{0}` is not declared here: `reflex task start {0} --intent TEXT` first")]
    UndeclaredTask(String),
    /// This system cannot supervise; the reason.
    #[error("not started: {0}. `--best-effort` starts it without a supervisor")]
    Unsupervised(ProbeError),
    /// The client's MCP servers are not known.
    #[error("the MCP servers of `{name}` are not known; known clients: {known}")]
    McpClient {
        /// The given word.
        name: String,
        /// All names.
        known: String,
    },
}

/// A mistake in entering a new passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PassphraseMistake {
    /// It is too short.
    #[error("the passphrase needs at least {} characters", reflex_host::signing::MIN_PASSPHRASE)]
    Short,
    /// The second one differs from the first.
    #[error("the passphrases differ")]
    Different,
}

impl Error {
    /// The same error, about one of several things.
    pub(crate) fn about(name: &str, error: impl Into<Error>) -> Error {
        Error::About { name: name.to_owned(), source: Box::new(error.into()) }
    }

    fn fault(&self) -> Fault {
        match self {
            Error::Answer(error) => error.fault(),
            Error::Signing(error) | Error::PresentPassphrase(error) => error.fault(),
            Error::Wiring(error) => error.fault(),
            Error::GitHook(error) => error.fault(),
            Error::Reflex(error) => error.fault(),
            Error::Origin(error) => error.fault(),
            Error::Package(error) => error.fault(),
            Error::Pack(error) => error.fault(),
            Error::List(error) => error.fault(),
            Error::Play(error) => error.fault(),
            Error::Rules(error) => error.fault(),
            Error::Named(error) => error.fault(),
            Error::Signature { source, .. } => source.fault(),
            Error::Collector(error) => error.fault(),
            Error::About { source, .. } => source.fault(),
            Error::Input { source, .. } => Fault::of_named_file(source),
            Error::Question(_)
            | Error::Case { .. }
            | Error::NoReleaseKey
            | Error::NotAbsolute(_)
            | Error::Scope { .. }
            | Error::Day(_)
            | Error::TaskName
            | Error::TaskScope(_)
            | Error::McpClient { .. }
            | Error::Mode { .. }
            | Error::UnknownAgent(_)
            | Error::NoProject(_) => Fault::Request,
            Error::Demo(_)
            | Error::Purge(_)
            | Error::Log(_)
            | Error::OwnPath(_)
            | Error::Settle(_)
            | Error::File { .. }
            | Error::State(_)
            | Error::Unremoved { .. }
            | Error::StateFolder { .. }
            | Error::DamagedCall(_)
            | Error::WorkingDirectory(_) => Fault::Machine,
            Error::Untouched(_)
            | Error::Untrusted { .. }
            | Error::Locked(_)
            | Error::Declined
            | Error::NoMessage
            | Error::NoPassphraseSet
            | Error::NoNewPassphrase(_)
            | Error::WrongPassphrase
            | Error::WrongPresentPassphrase
            | Error::NoHook
            | Error::Unguarded(_)
            | Error::UndeclaredTask(_)
            | Error::Unsupervised(_)
            | Error::NoDecision(_)
            | Error::NoEntry(_)
            | Error::OtherForm { .. }
            | Error::WouldBeWrong(_)
            | Error::BesideUnaccepted
            | Error::ChangedMeanwhile => Fault::State,
        }
    }

    /// The exit status.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.fault() {
            Fault::Request => exit_code::USAGE,
            Fault::State => exit_code::FOUND,
            Fault::Machine => exit_code::INTERNAL,
        }
    }
}
