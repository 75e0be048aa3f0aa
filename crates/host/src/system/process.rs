//! Runs a client until it ends. At its time limit it is killed with everything that it started.

use super::os::{self, End, Pid};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time between a polite end and a kill.
const GRACE: Duration = Duration::from_secs(2);

/// The result of a client that has ended.
pub(crate) struct Ended {
    /// Whether it ended within its time.
    pub(crate) in_time: bool,
    /// The tail of its output, standard error first.
    pub(crate) words: String,
}

/// The conditions under which a running client is ended.
pub(crate) struct Limits<'a> {
    /// Time limit.
    pub(crate) time: Duration,
    /// Whether its work is done: a short time later the client is ended.
    pub(crate) is_done: &'a dyn Fn() -> bool,
    /// Ends the client at once when set.
    pub(crate) cancelled: &'a AtomicBool,
}

/// Runs a client without input until it ends. Output goes to files, because a process that it leaves running may keep a
/// pipe open.
pub(crate) fn run(command: &mut Command, folder: &Path, limits: &Limits<'_>) -> io::Result<Ended> {
    let (out, err) = (folder.join("out"), folder.join("err"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    os::in_new_process_group(command);
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
        if begun.elapsed() > limits.time || limits.cancelled.load(Ordering::SeqCst) {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(15));
    }
    Ok(true)
}

/// Ends the group politely first: only the client can reach the processes that it has put into sessions of their own.
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

/// Kills all descendants of this process that still run.
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

/// The running descendants of this process, without zombies.
fn below(root: Pid) -> Vec<Pid> {
    let all = os::running();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
        next += 1;
    }
    found.split_off(1)
}

/// The tail of a file, in one line.
fn last_words(file: &Path) -> String {
    const MAX_CHARS: usize = 400;
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = line.chars().count().saturating_sub(MAX_CHARS);
    line.chars().skip(skipped).collect()
}
