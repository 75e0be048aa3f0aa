//! The hooks of a proxy: processes that judge one payload each.

use serde_json::Value;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of idle hooks: one for a call and one for its result.
const MAX_IDLE: usize = 2;

/// The text for the model if no hook answers.
pub(super) const FAILED: &str = "Blocked: Reflex failed before it could judge this call, so it does not run.";

/// The answer of a hook.
pub(super) enum Answer {
    /// The call runs, or the result passes. The text is a warning for the model, or empty.
    Passed(String),
    /// The call does not run, for this reason.
    Refused(String),
}

/// Locks a mutex. A panic of its last holder is ignored: the data is consistent between two messages.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hooks that are started ahead of the calls, because startup takes most of a hook's time.
pub(super) struct Hooks {
    command: Vec<String>,
    idle: Mutex<Vec<Child>>,
}

impl Hooks {
    pub(super) fn new(command: Vec<String>) -> Hooks {
        let hooks = Hooks { command, idle: Mutex::new(Vec::new()) };
        hooks.refill();
        hooks
    }

    /// Passes a payload to a hook and returns its answer.
    pub(super) fn judge(&self, payload: &str) -> Answer {
        let answer = || -> io::Result<Answer> {
            let mut child = self.take()?;
            let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
            input.write_all(payload.as_bytes())?;
            drop(input);
            let output = child.wait_with_output()?;
            if output.stdout.is_empty() && output.status.success() {
                return Ok(Answer::Passed(String::new()));
            }
            let verdict: Value = serde_json::from_slice(&output.stdout)?;
            let text = |key: &str| verdict.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let reason = text("reason");
            Ok(if text("decision") == "allow" { Answer::Passed(reason) } else { Answer::Refused(reason) })
        };
        answer().unwrap_or_else(|error| Answer::Refused(format!("{FAILED} ({error})")))
    }

    /// Starts hooks for the next calls. A failure to start one is reported by the call that needs it.
    pub(super) fn refill(&self) {
        let mut idle = locked(&self.idle);
        while idle.len() < MAX_IDLE {
            let Ok(child) = self.start() else { return };
            idle.push(child);
        }
    }

    /// An idle hook that is still running, else a new one.
    fn take(&self) -> io::Result<Child> {
        while let Some(mut child) = locked(&self.idle).pop() {
            if matches!(child.try_wait(), Ok(None)) {
                return Ok(child);
            }
        }
        self.start()
    }

    fn start(&self) -> io::Result<Child> {
        let (program, words) = self.command.split_first().ok_or(io::ErrorKind::NotFound)?;
        Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    }
}

impl Drop for Hooks {
    /// A hook without a payload ends on its own.
    fn drop(&mut self) {
        locked(&self.idle).drain(..).for_each(|mut child| {
            drop(child.stdin.take());
            let _ = child.wait();
        });
    }
}
