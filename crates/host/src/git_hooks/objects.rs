//! Queries the git that runs the hook. It knows its own index, which may not be the usual one during a commit.

use super::error::GitHookError;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Maximum size of a file to read, in bytes.
pub(super) const MAX_FILE: u64 = 1024 * 1024;

/// Runs git and returns its output. Programs that the repository configures are not started.
pub(super) fn git(folder: &Path, words: &[&str], input: &str) -> Result<Vec<u8>, GitHookError> {
    let name = || words.first().copied().unwrap_or_default().to_owned();
    let unrun = |source| GitHookError::Git { command: name(), source };
    let mut child = command(folder, words).spawn().map_err(unrun)?;
    let mut stdin = child.stdin.take();
    let input = input.to_owned();
    // Git may write output before it has read all input.
    let writer = thread::spawn(move || stdin.as_mut().map(|pipe| pipe.write_all(input.as_bytes())));
    let output = child.wait_with_output().map_err(unrun)?;
    let _ = writer.join();
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(GitHookError::Failed { command: name(), stderr })
        }
    }
}

/// Whether git exits with 0. Any other result counts as no.
pub(super) fn holds(folder: &Path, words: &[&str]) -> bool {
    git(folder, words, "").is_ok()
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-pager"]);
    command.args(words).current_dir(folder);
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The contents of blobs, in the requested order.
pub(super) struct Blobs {
    child: std::process::Child,
    output: BufReader<std::process::ChildStdout>,
}

/// The content of one blob.
pub(super) enum Blob {
    /// The text, or its first part.
    Text(String),
    /// Binary, too large, or missing.
    Unread {
        /// Size in bytes.
        size: u64,
        /// Whether a text of this size would have been read.
        is_binary: bool,
    },
}

impl Blobs {
    /// Starts reading these blobs, by object name.
    pub(super) fn of(folder: &Path, names: Vec<String>) -> Result<Blobs, GitHookError> {
        let mut child =
            command(folder, &["cat-file", "--batch", "--buffer"]).stderr(Stdio::null()).spawn().map_err(broken)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (mut input, output) = pipes.ok_or(GitHookError::Blob)?;
        thread::spawn(move || names.iter().try_for_each(|name| writeln!(input, "{name}")));
        Ok(Blobs { child, output: BufReader::with_capacity(64 * 1024, output) })
    }

    /// Reads the next blob.
    pub(super) fn next(&mut self) -> Result<Blob, GitHookError> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(broken)?;
        let mut words = line.split_whitespace();
        let size = match (words.next(), words.next(), words.next()) {
            (Some(_), Some(_), Some(size)) => size.parse::<u64>().map_err(|_| GitHookError::Blob)?,
            (Some(_), Some("missing"), None) => return Ok(Blob::Unread { size: 0, is_binary: false }),
            _ => return Err(GitHookError::Blob),
        };
        let mut content = Vec::new();
        let mut object = (&mut self.output).take(size + 1);
        (&mut object).take(MAX_FILE.min(size)).read_to_end(&mut content).map_err(broken)?;
        std::io::copy(&mut object, &mut std::io::sink()).map_err(broken)?;
        let is_binary = content.iter().take(8000).any(|byte| *byte == 0);
        match !is_binary && size <= MAX_FILE {
            true => Ok(Blob::Text(String::from_utf8_lossy(&content).into_owned())),
            false => Ok(Blob::Unread { size, is_binary }),
        }
    }
}

fn broken(source: io::Error) -> GitHookError {
    GitHookError::Git { command: "cat-file".to_owned(), source }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
