//! Runs the real clients against a scripted model and the built `reflex`, to test the guarantees end to end.

mod cases;
mod claude;
mod client;
mod codex;
mod command_files;
mod copilot;
mod gemini;
mod judge;
mod mcp;
mod npm;
mod opencode;
mod person;
mod process;
mod qwen;
mod sandbox;
mod variants;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cases::Case;
use client::{CLIENTS, Client};
pub use mcp::serve as serve_mcp;
use sandbox::{Failure, Sandbox, Stage};

/// Runs every case, or those named in `only` (`codex`, `codex/denied`). Prints a line for each case and then
/// `N passed, M failed`.
///
/// `reflex` is a built binary; each case works on its own copy. The folder of a failed case is kept.
///
/// # Errors
/// A client that cannot be installed, an unknown case in `only`, or a failed case.
pub fn run(root: &Path, reflex: &Path, only: &[String]) -> Result<()> {
    let chosen = chosen(only)?;
    let reflex = reflex.canonicalize().with_context(|| format!("no reflex at `{}`", reflex.display()))?;
    let cache = cache_folder(root)?;
    let played: usize = chosen.iter().map(|(_, cases)| cases.len()).sum();
    let left = Mutex::new(chosen.into_iter());
    let failed = thread::scope(|scope| {
        let worker = || {
            let mut failed = 0;
            while let Some((client, cases)) = left.lock().ok().and_then(|mut left| left.next()) {
                failed += failures(client, &cases, &cache, &reflex);
            }
            failed
        };
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(played)).sum::<usize>()
    });
    println!("{} passed, {failed} failed", played.saturating_sub(failed));
    ensure!(failed == 0, "{failed} of {played} client cases failed");
    Ok(())
}

/// Number of clients run at the same time. Clients often wait, so two would leave a core of two idle.
const AT_ONCE: usize = 3;

/// Time limit for one client, so that a client that hangs in every case does not hold up the others; a working client
/// takes 380 s on a shared machine.
const CLIENT_TIME: Duration = Duration::from_secs(900);

/// Number of failed cases of a client; all of them if it cannot be installed.
fn failures(client: &'static Client, cases: &[&Case], cache: &Path, reflex: &Path) -> usize {
    let executable = match client.package.installed(cache, client.name) {
        Ok(executable) => executable,
        Err(problem) => {
            println!("FAIL  {}: {problem:#}", client.name);
            return cases.len();
        }
    };
    let (reflex, unpacked) = (reflex.to_owned(), cache.join("unpacked"));
    let stage = Stage { client, executable, cache: unpacked, reflex, runs: cache.join("runs") };
    let begun = Instant::now();
    let passes = |case: &&&Case| begun.elapsed() < CLIENT_TIME && passes(&stage, case);
    let passed = cases.iter().filter(passes).count();
    if begun.elapsed() >= CLIENT_TIME {
        println!("FAIL  {}: its cases took longer than {} s", client.name, CLIENT_TIME.as_secs());
    }
    cases.len() - passed
}

type Chosen = Vec<(&'static Client, Vec<&'static Case>)>;

fn chosen(only: &[String]) -> Result<Chosen> {
    let is = |name: &str, client: &Client, case: &Case| {
        name == client.name || name.split_once('/') == Some((client.name, case.name))
    };
    let known = |name: &str| CLIENTS.iter().any(|client| client.cases.iter().any(|case| is(name, client, case)));
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        bail!("no client or case is called `{unknown}`");
    }
    let wanted = |client: &Client, case: &Case| only.is_empty() || only.iter().any(|name| is(name, client, case));
    let of = |client: &'static Client| (client, client.cases.iter().filter(|case| wanted(client, case)).collect());
    Ok(CLIENTS.iter().map(of).filter(|(_, cases): &(_, Vec<_>)| !cases.is_empty()).collect())
}

/// Folder for caches and runs. Not the temporary folder: Reflex treats deletions there as harmless, and these cases
/// need folders that matter.
fn cache_folder(root: &Path) -> Result<PathBuf> {
    let folder = match std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
        Some(caches) if caches.is_absolute() => caches.join("reflex-clients"),
        _ => root.join("target").join("clients"),
    };
    fs::create_dir_all(&folder)
        .and_then(|()| folder.canonicalize())
        .with_context(|| format!("cannot make `{}`", folder.display()))
}

fn passes(stage: &Stage, case: &Case) -> bool {
    let start = Instant::now();
    let mut outcome = play(stage, case);
    // Only a client that never reached the model is retried; a wrong verdict is final.
    if matches!(outcome, Err(Failure::NotStarted(_))) {
        outcome = play(stage, case);
    }
    let seconds = start.elapsed().as_secs_f64();
    let name = format!("{}/{}", stage.client.name, case.name);
    match &outcome {
        Ok(()) => println!("ok    {name:<40} {seconds:5.1} s"),
        Err(failure) => println!("FAIL  {name:<40} {seconds:5.1} s  {}", one_line(failure)),
    }
    outcome.is_ok()
}

/// Joins the lines of a failure, so that the report has one line per case.
fn one_line(failure: &Failure) -> String {
    failure.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn play(stage: &Stage, case: &Case) -> Result<(), Failure> {
    let sandbox = Sandbox::new(stage, case.name)?;
    (case.play)(&sandbox).map_err(|failure| failure.kept_in(sandbox.folder()))?;
    Ok(sandbox.remove()?)
}
