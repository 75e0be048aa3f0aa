//! Runs a command with limits on its time and output. At a limit its process group is killed.

use super::files::private;
use super::os::{self, End};
use super::random;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The limits of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Time limit.
    pub(crate) within: Duration,
    /// Maximum length of the output, in bytes.
    pub(crate) bytes: u64,
    /// Whether standard error is part of the output; otherwise it is discarded.
    pub(crate) has_errors: bool,
}

/// The way a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It exited with this status; `None` if a signal killed it.
    Exit(Option<i32>),
    /// It reached its time limit.
    Late,
    /// It printed more than allowed.
    TooMuch,
}

/// Runs a command with this input. Returns the way it ended and the file with its output. `scratch` is a folder for
/// unnamed files.
pub(crate) fn run(mut command: Command, input: &[u8], limits: Limits, scratch: &Path) -> io::Result<(Ended, File)> {
    let output = unnamed(scratch)?;
    let stdin = if input.is_empty() {
        Stdio::null()
    } else {
        let mut file = unnamed(scratch)?;
        file.write_all(input)?;
        file.seek(SeekFrom::Start(0))?;
        Stdio::from(file)
    };
    os::in_new_process_group(&mut command);
    let errors = if limits.has_errors { Stdio::from(output.try_clone()?) } else { Stdio::null() };
    command.stdin(stdin).stdout(output.try_clone()?).stderr(errors);
    let ended = wait(&mut command.spawn()?, &output, limits)?;
    Ok((ended, output))
}

fn unnamed(scratch: &Path) -> io::Result<File> {
    fs::create_dir_all(scratch)?;
    let path = scratch.join(format!("run-{}", random::uuid()));
    let file = private().read(true).append(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

fn wait(child: &mut Child, output: &File, limits: Limits) -> io::Result<Ended> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exit(status.code()));
        }
        let is_late = begun.elapsed() >= limits.within;
        if is_late || output.metadata()?.len() > limits.bytes {
            os::end_group(child.id(), End::AtOnce);
            child.wait()?;
            return Ok(if is_late { Ended::Late } else { Ended::TooMuch });
        }
        thread::sleep(Duration::from_millis(20));
    }
}
