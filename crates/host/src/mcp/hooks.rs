//! The hooks of a proxy: processes that judge one payload after the other.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of idle hooks: one for a call and one for its result.
const MAX_IDLE: usize = 2;

/// Number of payloads after which a hook is replaced, so that its memory stays bounded.
const MAX_PAYLOADS: u32 = 1000;

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

/// The hooks that wait for a payload. The first ones are started ahead of it, because startup takes most of their time.
pub(super) struct Hooks {
    command: Vec<String>,
    idle: Mutex<Vec<Hook>>,
}

/// A process that reads a payload and writes its answer, a line each.
struct Hook {
    child: Child,
    /// `None` once the hook is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    payloads: u32,
}

impl Hooks {
    pub(super) fn new(command: Vec<String>) -> Hooks {
        let hooks = Hooks { command, idle: Mutex::new(Vec::new()) };
        // A failure to start one is reported by the call that needs it.
        let first = (0..MAX_IDLE).map_while(|_| Hook::start(&hooks.command).ok()).collect();
        *locked(&hooks.idle) = first;
        hooks
    }

    /// Passes a payload to a hook and returns its answer. A hook that fails refuses this payload alone.
    pub(super) fn judge(&self, payload: &Value) -> Answer {
        let answered = self.take().and_then(|mut hook| Ok((hook.judge(payload)?, hook)));
        match answered {
            Ok((answer, hook)) => {
                let mut idle = locked(&self.idle);
                if hook.payloads < MAX_PAYLOADS && idle.len() < MAX_IDLE {
                    idle.push(hook);
                }
                answer
            }
            Err(error) => Answer::Refused(format!("{FAILED} ({error})")),
        }
    }

    /// An idle hook that is still running, else a new one.
    fn take(&self) -> io::Result<Hook> {
        loop {
            let Some(mut hook) = locked(&self.idle).pop() else { return Hook::start(&self.command) };
            if matches!(hook.child.try_wait(), Ok(None)) {
                return Ok(hook);
            }
        }
    }
}

impl Hook {
    fn start(command: &[String]) -> io::Result<Hook> {
        let (program, words) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut child = Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        Ok(Hook { input: child.stdin.take(), child, output, payloads: 0 })
    }

    fn judge(&mut self, payload: &Value) -> io::Result<Answer> {
        self.payloads += 1;
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{payload}\n").as_bytes())?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim().is_empty() {
            return Ok(Answer::Passed(String::new()));
        }
        let verdict: Value = serde_json::from_str(&line)?;
        let text = |key: &str| verdict.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let reason = text("reason");
        Ok(if text("decision") == "allow" { Answer::Passed(reason) } else { Answer::Refused(reason) })
    }
}

impl Drop for Hook {
    /// A hook ends with its input.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
