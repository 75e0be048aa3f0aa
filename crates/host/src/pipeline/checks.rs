//! Runs a check that a person configured: a command with a time limit, of whose output only the tail is kept.

use crate::system::os;
use crate::system::run::{self, Ended, Limits};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

/// The variable set for a check, so that an agent that it starts does not run checks at its own end.
pub(crate) const MARK: &str = "REFLEX_VERIFYING";

/// Maximum output of a check, in bytes; a command that prints more is killed.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// Length of the tail of the output that is kept, in bytes.
const TAIL: u64 = 2000;

/// A command of a policy, with its time limit in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) seconds: u64,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) passed: bool,
    /// The outcome in a few words: `exit 1`, `not done in 120 s`.
    pub(crate) how: String,
    pub(crate) millis: u128,
    pub(crate) tail: String,
}

/// Runs a check in the workspace. One that cannot be started has failed.
pub(crate) fn run(check: &Check, workspace: &Path, scratch: &Path) -> Ran {
    let begun = Instant::now();
    let mut command = os::shell(&check.command);
    command.current_dir(workspace).env(MARK, "1");
    let limits = Limits { within: Duration::from_secs(check.seconds), bytes: MAX_OUTPUT, has_errors: true };
    let done = run::run(command, &[], limits, scratch).and_then(|(ended, mut output)| Ok((ended, tail(&mut output)?)));
    let millis = begun.elapsed().as_millis();
    let (ended, tail) = match done {
        Ok(done) => done,
        Err(error) => {
            let how = format!("it cannot be run: {error}");
            return Ran { passed: false, how, millis, tail: String::new() };
        }
    };
    let how = match ended {
        Ended::Exit(Some(code)) => format!("exit {code}"),
        Ended::Exit(None) => "ended by a signal".into(),
        Ended::Late => format!("not done in {} s", check.seconds),
        Ended::TooMuch => "printed too much".into(),
    };
    Ran { passed: ended == Ended::Exit(Some(0)), how, millis, tail }
}

fn tail(output: &mut File) -> io::Result<String> {
    let length = output.metadata()?.len();
    output.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    output.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
