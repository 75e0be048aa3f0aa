//! A client from its start to its end; what is left of it when its time is over is killed.

use super::os::{self, End, Pid};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between a polite end and one that is not.
const GRACE: Duration = Duration::from_secs(2);

/// What is known of a client that has ended.
pub(crate) struct Ended {
    /// Whether it ended by itself.
    pub(crate) in_time: bool,
    /// The last of what it said, first its errors.
    pub(crate) words: String,
}

/// When a client is ended that does not end by itself.
pub(crate) struct Limits<'a> {
    /// After so long.
    pub(crate) most: Duration,
    /// A moment after there is nothing left to wait for.
    pub(crate) is_done: &'a dyn Fn() -> bool,
    /// At once when this is set.
    pub(crate) given_up: &'a AtomicBool,
}

/// Runs it with no input to its end. Its output goes to files, for what it leaves running may keep a pipe open.
pub(crate) fn run(command: &mut Command, folder: &Path, limits: &Limits<'_>) -> io::Result<Ended> {
    let (out, err) = (folder.join("out"), folder.join("err"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    os::in_group_of_its_own(command);
    let mut child = command.spawn()?;
    let in_time = wait(&mut child, limits)?;
    end_group(&mut child)?;
    end_strays();
    Ok(Ended { in_time, words: [last_words(&err), last_words(&out)].join(" ").trim().to_owned() })
}

fn wait(child: &mut Child, limits: &Limits<'_>) -> io::Result<bool> {
    let begun = Instant::now();
    let mut done: Option<Instant> = None;
    while child.try_wait()?.is_none() {
        if done.is_none() && (limits.is_done)() {
            done = Some(Instant::now());
        }
        if done.is_some_and(|done| done.elapsed() > GRACE) {
            return Ok(true);
        }
        if begun.elapsed() > limits.most || limits.given_up.load(Ordering::SeqCst) {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(15));
    }
    Ok(true)
}

/// Politely first: only the client can reach what it has put into sessions of their own.
fn end_group(child: &mut Child) -> io::Result<()> {
    let group = child.id();
    if os::end_group(group, End::Politely) {
        let begun = Instant::now();
        while child.try_wait()?.is_none() && begun.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(15));
        }
        os::end_group(group, End::AtOnce);
    }
    child.wait().map(drop)
}

/// Kills all that came from us and still runs.
fn end_strays() {
    const MAX_ROUNDS: usize = 5;
    for _ in 0..MAX_ROUNDS {
        let left = below(std::process::id());
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(|process| os::end(process, End::AtOnce));
        thread::sleep(Duration::from_millis(15));
    }
}

/// Processes that came from this one and run; what has ended and waits to be asked how is none.
fn below(own: Pid) -> Vec<Pid> {
    let all = os::running();
    let mut found = vec![own];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
        next += 1;
    }
    found.split_off(1)
}

/// The end of a file, in one line.
fn last_words(file: &Path) -> String {
    const MOST: usize = 400;
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = line.chars().count().saturating_sub(MOST);
    line.chars().skip(skipped).collect()
}
