//! A person at a terminal, simulated with `script`: at the open list of waiting calls, or running a command.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use serde_json::Value;

use super::sandbox::{Failure, Sandbox};

/// Pause between two keys, in which the list refreshes.
const PAUSE: Duration = Duration::from_millis(700);

/// Keys that select the call that waits, above those of earlier sessions, and scroll to its end. They are typed one by
/// one, because the list ignores keys that arrive together.
const TO_NEWEST: [&str; 9] = ["k", "k", "k", "k", "k", "k", " ", " ", " "];

/// The person's passphrase, where one is needed.
const PASSPHRASE: &str = "correct horse";

/// Time limit for the client to query its model.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs `work` while the list is open; types these keys once a hook waits.
pub(super) fn answers<T>(
    sandbox: &Sandbox,
    keys: &[&str],
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let line =
        format!("stty rows 24 cols 80; '{}' --home '{}' pending", sandbox.reflex().display(), sandbox.home().display());
    let mut list = surrounded(Command::new("script").args(["-qec", &line, "/dev/null"]), sandbox)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("no list can be opened")?;
    let mut input = list.stdin.take().context("the list reads nothing")?;
    // The client may be faster than the list.
    thread::sleep(PAUSE);
    let is_over = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while !a_hook_waits(sandbox) {
                if is_over.load(Ordering::SeqCst) || begun.elapsed() > PATIENCE {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
            for key in TO_NEWEST.iter().chain(keys) {
                thread::sleep(PAUSE);
                // If the list has exited, the key is lost and the missing answer fails the case.
                let _ = input.write_all(key.as_bytes());
            }
        });
        let done = work();
        is_over.store(true, Ordering::SeqCst);
        done
    });
    let _ = list.kill();
    let _ = list.wait();
    done
}

/// Runs `work` while the page is open in a browser; approves the first call there once it has waited for this time.
pub(super) fn approves_on_page<T>(
    sandbox: &Sandbox,
    wait: Duration,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let script = tasks::page::answering().map_err(Failure::NotStarted)?;
    // Answers on the page take a passphrase.
    types(sandbox, "pin", &format!("{PASSPHRASE}\n{PASSPHRASE}\ny\n"))?;
    let seconds = wait.as_secs().to_string();
    let mut browser = surrounded(Command::new("node").arg(script), sandbox)
        .args([sandbox.reflex().as_os_str(), sandbox.home().as_os_str()])
        .args([seconds.as_str(), PASSPHRASE])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("no page can be opened")?;
    let output = browser.stdout.take().context("the page says nothing")?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    // Without an open page or list, no hook waits.
    let is_open = lines.next().is_some_and(|line| line == "open");
    let done = if is_open { work() } else { Err(Failure::NotStarted(anyhow!("the page did not open"))) };
    let approved = lines.next().is_some_and(|line| line == "approved");
    let _ = browser.kill();
    let _ = browser.wait();
    if is_open && !approved { Err(Failure::Wrong(anyhow!("the call was not approved on the page"))) } else { done }
}

/// Runs `work` while a person waits for the first refused call and approves it with `reflex approve`. Calls `said_yes`
/// after the approval, and `then` once `came` returns true.
pub(super) fn approves_late<T>(
    sandbox: &Sandbox,
    on_approval: impl FnOnce() + Send,
    (came, then): (impl Fn() -> bool + Sync + Send, impl FnOnce() + Send),
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let is_over = AtomicBool::new(false);
    let until = |holds: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !holds() {
            if is_over.load(Ordering::SeqCst) || begun.elapsed() > PATIENCE {
                return false;
            }
            thread::sleep(Duration::from_millis(100));
        }
        true
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            if !until(&|| !waiting(sandbox).is_empty()) {
                return;
            }
            let newest = waiting(sandbox);
            let id = newest.first().and_then(|call| call.get("id")?.as_str()).unwrap_or_default();
            // A failed approval shows in the next calls that the client may run.
            let _ = types(sandbox, &format!("approve {id}"), "y\n");
            on_approval();
            if until(&came) {
                then();
            }
        });
        let done = work();
        is_over.store(true, Ordering::SeqCst);
        done
    })
}

/// Runs a command of the guard with the given input and returns its output.
pub(super) fn types(sandbox: &Sandbox, command: &str, answer: &str) -> Result<String, Failure> {
    let line = format!("'{}' --home '{}' {command}", sandbox.reflex().display(), sandbox.home().display());
    let failed = || format!("`reflex {command}` cannot be run");
    let mut terminal = surrounded(Command::new("script").args(["-qec", &line, "/dev/null"]), sandbox)
        .current_dir(sandbox.workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(failed)?;
    let mut input = terminal.stdin.take().context("the terminal reads nothing")?;
    // Input typed before the prompt is discarded.
    thread::sleep(2 * PAUSE);
    input.write_all(answer.as_bytes()).with_context(failed)?;
    thread::sleep(PAUSE);
    drop(input);
    let output = terminal.wait_with_output().with_context(failed)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn a_hook_waits(sandbox: &Sandbox) -> bool {
    let waits = |call: &Value| call.get("until").and_then(Value::as_u64).is_some_and(|until| until > 0);
    waiting(sandbox).iter().any(waits)
}

/// The id of the newest backup.
pub(super) fn kept(sandbox: &Sandbox) -> Result<String, Failure> {
    let listed = listed(sandbox, &["undo", "--json"], "kept");
    let id = listed.first().and_then(|kept| kept.get("id")?.as_str());
    id.map(str::to_owned).ok_or_else(|| Failure::Wrong(anyhow!("nothing was kept")))
}

/// The ids of the backups under calls of this command.
pub(super) fn backups(sandbox: &Sandbox, command: &str) -> Vec<String> {
    let listed = listed(sandbox, &["undo", "--json"], "kept");
    let of_call = listed.iter().filter(|kept| kept.get("call").is_some_and(|call| call == command));
    of_call.filter_map(|kept| Some(kept.get("id")?.as_str()?.to_owned())).collect()
}

/// The calls that wait for an answer, with or without a waiting hook.
fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    listed(sandbox, &["pending", "--json"], "pending")
}

/// The list under a key in a command's JSON output.
fn listed(sandbox: &Sandbox, words: &[&str], key: &str) -> Vec<Value> {
    let mut command = Command::new(sandbox.reflex());
    command.arg("--home").arg(sandbox.home()).args(words);
    let Ok(output) = surrounded(&mut command, sandbox).current_dir(sandbox.workspace()).output() else {
        return Vec::new();
    };
    let mut list: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    list.get_mut(key).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default()
}

/// Sets the environment that a person's shell would have.
fn surrounded<'c>(command: &'c mut Command, sandbox: &Sandbox) -> &'c mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", sandbox.home()).env("TERM", "xterm").current_dir(sandbox.folder())
}
