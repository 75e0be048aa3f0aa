//! Drives the real clients against a scripted model and the built `reflex`: what the guard promises, seen from outside.

mod cases;
mod claude;
mod client;
mod codex;
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

use cases::Case;
use client::{CLIENTS, Client};
pub(crate) use mcp::serve as serve_mcp;
use sandbox::{Failure, Sandbox, Stage};

/// Plays every case, or those named in `only` (`codex`, `codex/denied`), prints a line for each and then
/// `N passed, M failed`.
///
/// `reflex` is a built binary; each case works on its own copy. The folder of a failed case is kept.
///
/// # Errors
/// When a client cannot be installed, `only` names no case, or a case fails.
pub(crate) fn run(root: &Path, reflex: &Path, only: &[String]) -> Result<(), String> {
    let chosen = chosen(only)?;
    let reflex = reflex.canonicalize().map_err(|error| format!("no reflex at `{}`: {error}", reflex.display()))?;
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
    if failed > 0 { Err(format!("{failed} of {played} client cases failed")) } else { Ok(()) }
}

/// Number of clients driven at the same time. Each waits now and then, so two would leave a core of two idle.
const AT_ONCE: usize = 3;

/// A client that hangs in every case must not hold up all others; a working one takes 380 s of a shared machine.
const CLIENT_TIME: Duration = Duration::from_secs(900);

/// How many cases of a client fail; all of them where it cannot be installed.
fn failures(client: &'static Client, cases: &[&Case], cache: &Path, reflex: &Path) -> usize {
    let executable = match client.package.installed(cache, client.name) {
        Ok(executable) => executable,
        Err(problem) => {
            println!("FAIL  {}: {problem}", client.name);
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

fn chosen(only: &[String]) -> Result<Chosen, String> {
    let is = |name: &str, client: &Client, case: &Case| {
        name == client.name || name.split_once('/') == Some((client.name, case.name))
    };
    let known = |name: &str| CLIENTS.iter().any(|client| client.cases.iter().any(|case| is(name, client, case)));
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        return Err(format!("no client or case is called `{unknown}`"));
    }
    let wanted = |client: &Client, case: &Case| only.is_empty() || only.iter().any(|name| is(name, client, case));
    let of = |client: &'static Client| (client, client.cases.iter().filter(|case| wanted(client, case)).collect());
    Ok(CLIENTS.iter().map(of).filter(|(_, cases): &(_, Vec<_>)| !cases.is_empty()).collect())
}

/// Not the temporary folder: deleting there is harmless to Reflex, and these cases are about folders that matter.
fn cache_folder(root: &Path) -> Result<PathBuf, String> {
    let folder = match std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from) {
        Some(caches) if caches.is_absolute() => caches.join("reflex-clients"),
        _ => root.join("target").join("clients"),
    };
    fs::create_dir_all(&folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))
}

fn passes(stage: &Stage, case: &Case) -> bool {
    let start = Instant::now();
    let mut outcome = play(stage, case);
    // Only a client that never reached the model gets a second chance; a wrong verdict stands.
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

/// What clients and models say has many lines; the report has one for each case.
fn one_line(failure: &Failure) -> String {
    failure.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn play(stage: &Stage, case: &Case) -> Result<(), Failure> {
    let sandbox = Sandbox::new(stage, case.name)?;
    (case.play)(&sandbox).map_err(|failure| failure.kept_in(sandbox.folder()))?;
    Ok(sandbox.remove()?)
}
