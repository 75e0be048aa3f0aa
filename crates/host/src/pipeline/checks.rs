//! Runs a check that a person configured: a command with an end, its output kept only as a tail.

use crate::system::files::private;
use crate::system::os::{self, End};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Set for what a check runs: an agent that it starts does not check again at its own end.
pub(crate) const MARK: &str = "REFLEX_VERIFYING";

/// What prints more is ended.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// Of an output so many bytes are kept.
const TAIL: u64 = 2000;

/// A command of a policy, with the seconds that it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) seconds: u64,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) passed: bool,
    /// In a few words: `exit 1`, `not done in 120 s`.
    pub(crate) how: String,
    pub(crate) millis: u128,
    pub(crate) tail: String,
}

/// Runs it in the workspace. What cannot be run has failed.
pub(crate) fn run(check: &Check, workspace: &Path, scratch: &Path) -> Ran {
    let begun = Instant::now();
    let done = start(check, workspace, scratch).and_then(|(mut child, mut output)| {
        let how = wait(&mut child, &output, Duration::from_secs(check.seconds))?;
        Ok((how, tail(&mut output)?))
    });
    let millis = begun.elapsed().as_millis();
    match done {
        Ok((how, tail)) => Ran { passed: how == "exit 0", how, millis, tail },
        Err(error) => Ran { passed: false, how: format!("it cannot be run: {error}"), millis, tail: String::new() },
    }
}

fn start(check: &Check, workspace: &Path, scratch: &Path) -> io::Result<(Child, File)> {
    fs::create_dir_all(scratch)?;
    let path = scratch.join(format!("check-{}", crate::system::random::uuid()));
    let output = private().read(true).append(true).create_new(true).open(&path)?;
    // The name goes at once: however this ends, nothing stays behind.
    fs::remove_file(&path)?;
    let mut command = os::shell(&check.command);
    os::in_group_of_its_own(&mut command);
    command.current_dir(workspace).env(MARK, "1");
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?);
    Ok((command.spawn()?, output))
}

/// Until it ends, or takes or prints too much; then all that it started ends too.
fn wait(child: &mut Child, output: &File, most: Duration) -> io::Result<String> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().map_or_else(|| "ended by a signal".into(), |code| format!("exit {code}")));
        }
        let late = begun.elapsed() >= most;
        if late || output.metadata()?.len() > MAX_OUTPUT {
            os::end_group(child.id(), End::AtOnce);
            child.wait()?;
            return Ok(if late { format!("not done in {} s", most.as_secs()) } else { "printed too much".into() });
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn tail(output: &mut File) -> io::Result<String> {
    let length = output.metadata()?.len();
    output.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    output.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
