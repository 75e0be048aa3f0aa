//! Runs steps: one line each with its duration; the first that fails ends the run with its output.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs one step and prints its line.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    let done = work();
    let word = if done.is_ok() { "ok  " } else { "FAIL" };
    println!("{word}  {name:<24} {:>8}", duration(start.elapsed()));
    done
}

/// Seconds with a tenth.
pub(crate) fn duration(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Runs a command without input to its end: what it prints on standard output. What a failed one printed is the error.
pub(crate) fn succeed(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(out);
    }
    Err(format!("{out}{}{command:?}: {}", String::from_utf8_lossy(&output.stderr), output.status))
}

/// Runs cargo's tests and repeats their result lines: whoever reads the log sees that tests did run.
pub(crate) fn tests(command: &mut Command) -> Result<(), String> {
    let out = succeed(command)?;
    out.lines().filter(|line| line.starts_with("test result")).for_each(|line| println!("{line}"));
    match passed(&out) {
        0 => Err("no test ran".into()),
        count => {
            println!("{count} tests passed");
            Ok(())
        }
    }
}

fn passed(out: &str) -> u32 {
    let counts = out.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split_once(" passed"));
    counts.filter_map(|(count, _)| count.parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_added_up() {
        let out = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
            test result: ok. 40 passed; 0 failed\ntest result: FAILED. 1 passed; 1 failed\n";
        assert_eq!((passed(out), passed("")), (42, 0));
    }

    #[test]
    fn a_step_that_cannot_be_started_fails() {
        assert!(succeed(&mut Command::new("/nonexistent/program")).is_err());
    }
}
