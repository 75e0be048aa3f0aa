//! Drives the real Claude Code against a scripted model and the built `reflex`: what the guard promises, seen from outside.

mod cases;
mod claude;
mod http;
mod model;
mod process;
mod sandbox;
mod told;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cases::{CASES, Case};
use sandbox::{Failure, Sandbox, Stage};

/// Plays every case, or those named in `only`, prints a line for each and then `N passed, M failed`.
///
/// `reflex` is a built binary; each case works on its own copy. The folder of a failed case is kept.
///
/// # Errors
/// When the client cannot be installed, `only` names no case, or a case fails.
pub(crate) fn run(root: &Path, reflex: &Path, only: &[String]) -> Result<(), String> {
    let chosen = chosen(only)?;
    let reflex = reflex.canonicalize().map_err(|error| format!("no reflex at `{}`: {error}", reflex.display()))?;
    let cache = cache_folder(root)?;
    let client = claude::installed(&cache)?;
    let stage = Stage { client, reflex, runs: cache.join("runs") };
    let failed = chosen.iter().filter(|case| !passes(&stage, case)).count();
    println!("{} passed, {failed} failed", chosen.len() - failed);
    if failed > 0 { Err(format!("{failed} of {} client cases failed", chosen.len())) } else { Ok(()) }
}

fn chosen(only: &[String]) -> Result<Vec<&'static Case>, String> {
    if let Some(unknown) = only.iter().find(|name| CASES.iter().all(|case| case.name != **name)) {
        return Err(format!("no client case is called `{unknown}`"));
    }
    Ok(CASES.iter().filter(|case| only.is_empty() || only.iter().any(|name| name == case.name)).collect())
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
    match &outcome {
        Ok(()) => println!("ok    {:<34} {seconds:5.1} s", case.name),
        Err(failure) => println!("FAIL  {:<34} {seconds:5.1} s  {}", case.name, one_line(failure)),
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
