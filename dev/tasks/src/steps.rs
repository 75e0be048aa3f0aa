//! Runs steps and prints one line for each with its duration; the first failure ends the run with its output.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs one step and prints its line.
pub fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let done = work();
    let word = if done.is_ok() { "ok  " } else { "FAIL" };
    println!("{word}  {name:<24} {:>8}", duration(start.elapsed()));
    done
}

/// Formats a duration in seconds with one decimal.
pub fn duration(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Runs a command without input and returns its standard output. The error contains the output of a failed command.
pub fn succeed(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("`{program}` cannot be started"))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(out);
    }
    bail!("{out}{}{command:?}: {}", String::from_utf8_lossy(&output.stderr), output.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_cannot_be_started_fails() {
        assert!(succeed(&mut Command::new("/nonexistent/program")).is_err());
    }
}
