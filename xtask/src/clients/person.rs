//! A person before the open list of waiting calls, in a terminal that `script` makes.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::sandbox::{Failure, Sandbox};

/// Between two keys the list has looked again.
const PAUSE: Duration = Duration::from_millis(700);

/// To the call that came last, past those of sessions before, and to the end of it.
const TO_NEWEST: [&str; 4] = ["kkkkkkkk", " ", " ", " "];

/// A client has asked its model by then.
const PATIENCE: Duration = Duration::from_secs(90);

/// Works while the list is open, in which these keys are typed once a hook waits.
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
        .map_err(|error| format!("no list can be opened: {error}"))?;
    let mut input = list.stdin.take().ok_or_else(|| "the list reads nothing".to_owned())?;
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
                // A list that has ended answers nothing, which shows.
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

fn a_hook_waits(sandbox: &Sandbox) -> bool {
    let mut command = Command::new(sandbox.reflex());
    command.arg("--home").arg(sandbox.home()).args(["pending", "--json"]);
    let Ok(output) = surrounded(&mut command, sandbox).output() else { return false };
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let waits = |call: &Value| call.get("until").and_then(Value::as_u64).is_some_and(|until| until > 0);
    listed.get("pending").and_then(Value::as_array).is_some_and(|calls| calls.iter().any(waits))
}

/// As a person's shell starts it.
fn surrounded<'c>(command: &'c mut Command, sandbox: &Sandbox) -> &'c mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", sandbox.home()).env("TERM", "xterm").current_dir(sandbox.folder())
}
