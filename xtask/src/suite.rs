//! Builds the test executables and runs several modules of tests at a time, each in its own process, longest first.
//!
//! Most tests start the binary and wait for it, so `cargo test`, which runs one executable at a time, leaves cores
//! idle. The harness reports in JSON, which includes the time of each test; on stable toolchains this requires
//! `RUSTC_BOOTSTRAP`, which editor plugins also set.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use tasks::project::Project;
use tasks::steps::succeed;

/// The target that has all files of `tests/` as modules.
const MERGED: &str = "all";

/// Time limit for one process: attacks take half of it on a loaded machine of two cores, others a tenth.
const EXECUTABLE_DEADLINE: Duration = Duration::from_secs(1200);

/// Number of concurrent processes per core.
const PER_CORE: usize = 2;

/// The slowest modules. Started last, one of them would run alone at the end.
const SLOWEST: [&str; 10] = [
    "reflex-host::library",
    "reflex-guard::memory",
    "reflex-git::git_facts",
    "reflex-host::corpus",
    "reflex-guard::broker",
    "reflex-engine::properties",
    "reflex-guard::redteam",
    "reflex-host::hostile_git",
    "reflex-guard::binding",
    "reflex-guard::posture",
];

/// Number of tests that the summary lists with their times.
const LISTED: usize = 10;

/// Prefix of the line that a test prints if it passes because it cannot run on this machine.
const SKIPPED: &str = "skipped:";

/// A test executable, or the tests of one module of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Executable {
    /// Package and target or module: `reflex-guard::memory`.
    name: String,
    path: PathBuf,
    /// The tests to run; empty for all.
    tests: Vec<String>,
    /// The package's folder, in which cargo runs it.
    folder: PathBuf,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Executable {
    /// Adds an environment variable.
    pub(crate) fn with(mut self, name: &'static str, value: &Path) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }
}

/// Builds the tests selected by these arguments of `cargo test`; of integration tests only the modules after `--`, if
/// there are any.
pub(crate) fn build(project: &Project, selection: &[&str]) -> Result<Vec<Executable>> {
    let mut parts = selection.split(|argument| *argument == "--");
    let (selection, modules) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut cargo = project.cargo(&["test", "--no-run", "--locked", "--message-format", "json-render-diagnostics"]);
    let messages = succeed(cargo.args(selection))?;
    let mut found = Vec::new();
    for executable in messages.lines().filter_map(executable) {
        match executable.name.strip_suffix(MERGED).and_then(|name| name.strip_suffix("::")) {
            Some(package) => found.extend(split(&executable, package, modules)?),
            None => found.push(executable),
        }
    }
    found.sort_by_key(|executable| SLOWEST.iter().position(|name| *name == executable.name).unwrap_or(SLOWEST.len()));
    Ok(found)
}

/// Splits an executable of merged tests by module.
fn split(merged: &Executable, package: &str, modules: &[&str]) -> Result<Vec<Executable>> {
    let listed = succeed(Command::new(&merged.path).args(["--list", "--format", "terse"]).current_dir(&merged.folder))?;
    let mut tests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for test in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = test.split_once("::").map_or(test, |(module, _)| module);
        if modules.is_empty() || modules.contains(&module) {
            tests.entry(module).or_default().push(test.to_owned());
        }
    }
    let part = |(module, tests)| Executable { name: format!("{package}::{module}"), tests, ..merged.clone() };
    Ok(tests.into_iter().map(part).collect())
}

/// Parses the executable from a message of cargo.
fn executable(message: &str) -> Option<Executable> {
    let message: Value = serde_json::from_str(message).ok()?;
    message.pointer("/profile/test")?.as_bool().filter(|is_test| *is_test)?;
    let folder = Path::new(message.get("manifest_path")?.as_str()?).parent()?;
    let package = message.get("package_id")?.as_str()?;
    // `path+file:///checkout/crates/cli#reflex-guard@0.1.0`, or `…/xtask#0.1.0` if the folder has the package's name.
    let (path, id) = package.rsplit_once('#')?;
    let package = id.split_once('@').map_or(path.rsplit('/').next()?, |(name, _)| name);
    let target = message.pointer("/target/name")?.as_str()?;
    let kind = message.pointer("/target/kind/0")?.as_str()?;
    // The name is also that of the log, so two programs of one package must differ.
    let name = if matches!(kind, "test" | "bin") { format!("{package}::{target}") } else { package.to_owned() };
    let path = message.get("executable")?.as_str()?.into();
    Some(Executable { name, path, tests: Vec::new(), folder: folder.to_owned(), environment: Vec::new() })
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// The test passed because it cannot run on this machine.
    Skipped,
    Ignored,
    Failed,
}

/// A finished test.
#[derive(Debug, Clone, PartialEq)]
struct Ended {
    name: String,
    outcome: Outcome,
    seconds: f64,
    output: String,
}

/// Runs the executables with these arguments of the test harness and prints a summary.
///
/// # Errors
/// The output of each failed test, or a message if no test ran.
pub(crate) fn run(executables: Vec<Executable>, arguments: &[&str], logs: &Path) -> Result<()> {
    std::fs::create_dir_all(logs).with_context(|| format!("cannot make `{}`", logs.display()))?;
    let workers = thread::available_parallelism().map_or(1, usize::from) * PER_CORE;
    let queue = Mutex::new(VecDeque::from(executables));
    let next = || queue.lock().ok()?.pop_front();
    let work = || {
        let mut ended = Vec::new();
        while let Some(executable) = next() {
            ended.extend(run_one(&executable, arguments, logs));
        }
        ended
    };
    let ended: Vec<Ended> = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    summarize(&ended)
}

fn run_one(executable: &Executable, arguments: &[&str], logs: &Path) -> Vec<Ended> {
    let log = logs.join(executable.name.replace("::", "-"));
    let (out, err) = (log.with_extension("jsonl"), log.with_extension("err"));
    let status = start(executable, arguments, &out, &err).and_then(|child| finish(child, EXECUTABLE_DEADLINE));
    let events = std::fs::read_to_string(&out).unwrap_or_default();
    let mut ended: Vec<Ended> = events.lines().filter_map(|line| event(&executable.name, line)).collect();
    let has_failed = ended.iter().any(|test| test.outcome == Outcome::Failed);
    let problem = match status {
        Ok(status) if status.success() || has_failed => return ended,
        Ok(status) => format!("{status}"),
        Err(error) => error.to_string(),
    };
    // The executable crashed or timed out, so the tests in progress have no event of their own.
    let output = format!("{problem}\n{}", std::fs::read_to_string(&err).unwrap_or_default());
    ended.push(Ended { name: executable.name.clone(), outcome: Outcome::Failed, seconds: 0.0, output });
    ended
}

/// Output goes to files, because a program that outlives its test may keep a pipe open.
fn start(executable: &Executable, arguments: &[&str], out: &Path, err: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(&executable.path);
    command.args(["-Zunstable-options", "--format=json", "--report-time", "--show-output"]).args(arguments);
    if !executable.tests.is_empty() {
        command.arg("--exact").args(&executable.tests);
    }
    command.current_dir(&executable.folder).env("CARGO_MANIFEST_DIR", &executable.folder).env("RUSTC_BOOTSTRAP", "1");
    command.envs(executable.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(File::create(out)?).stderr(File::create(err)?).spawn()
}

fn finish(mut child: Child, deadline: Duration) -> std::io::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::other(format!("killed after {} s", deadline.as_secs())));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Parses a test from an event of the harness. Other events concern executables or tests that start.
fn event(executable: &str, line: &str) -> Option<Ended> {
    let event: Value = serde_json::from_str(line).ok()?;
    event.get("type")?.as_str().filter(|kind| *kind == "test")?;
    let output = event.get("stdout").and_then(Value::as_str).unwrap_or_default();
    let is_skipped = output.lines().any(|line| line.starts_with(SKIPPED));
    let outcome = match event.get("event")?.as_str()? {
        "ok" if is_skipped => Outcome::Skipped,
        "ok" => Outcome::Passed,
        "ignored" => Outcome::Ignored,
        "failed" => Outcome::Failed,
        _ => return None,
    };
    let name = event.get("name")?.as_str()?;
    let (_, module) = executable.rsplit_once("::").unwrap_or_default();
    let name = name.strip_prefix(module).and_then(|name| name.strip_prefix("::")).unwrap_or(name);
    let name = format!("{executable} {name}");
    let seconds = event.get("exec_time").and_then(Value::as_f64).unwrap_or_default();
    let message = event.get("message").and_then(Value::as_str).unwrap_or_default();
    Some(Ended { name, outcome, seconds, output: format!("{output}{message}") })
}

/// # Errors
/// The output of the failed tests.
fn summarize(ended: &[Ended]) -> Result<()> {
    let of = |outcome: Outcome| ended.iter().filter(move |test| test.outcome == outcome);
    let mut slowest: Vec<&Ended> = ended.iter().collect();
    slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    for test in slowest.iter().take(LISTED) {
        println!("      {:<78} {:>6.1} s", test.name, test.seconds);
    }
    for test in of(Outcome::Skipped) {
        let reason = test.output.lines().find(|line| line.starts_with(SKIPPED)).unwrap_or_default();
        println!("      {}: {reason}", test.name);
    }
    let count = |outcome| of(outcome).count();
    let (passed, failed) = (count(Outcome::Passed), count(Outcome::Failed));
    let skipped = count(Outcome::Skipped) + count(Outcome::Ignored);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 {
        let failures = of(Outcome::Failed).map(|test| format!("---- {}\n{}", test.name, test.output));
        bail!(failures.collect::<Vec<_>>().join("\n"));
    }
    ensure!(passed > 0, "no test ran");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_is_read_from_the_message_of_cargo() {
        let message = |id: &str, kind: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///c/crates/{id}","manifest_path":"/c/crates/cli/Cargo.toml",
                "target":{{"kind":["{kind}"],"name":"memory"}},"profile":{{"test":{is_test}}},"executable":"/t/memory"}}"#
            )
            .replace('\n', "")
        };
        let name = |message: String| executable(&message).map(|executable| executable.name);
        assert_eq!(name(message("cli#reflex-guard@0.1.0", "test", true)).as_deref(), Some("reflex-guard::memory"));
        assert_eq!(name(message("cli#0.1.0", "lib", true)).as_deref(), Some("cli"));
        assert_eq!(name(message("cli#0.1.0", "bin", false)), None);
    }

    #[test]
    fn the_outcome_of_a_test_is_read_from_its_event() {
        let outcome = |line: &str| event("a", line).map(|test| (test.name, test.outcome));
        let check =
            |line: &str, expected: Outcome| assert_eq!(outcome(line), Some(("a t".to_owned(), expected)), "{line}");
        check(r#"{"type":"test","name":"t","event":"ok","exec_time":0.1}"#, Outcome::Passed);
        check(r#"{"type":"test","name":"t","event":"ok","stdout":"x\nskipped: no zsh\n"}"#, Outcome::Skipped);
        check(r#"{"type":"test","name":"t","event":"failed","stdout":"boom"}"#, Outcome::Failed);
        check(r#"{"type":"test","name":"t","event":"ignored"}"#, Outcome::Ignored);
        assert_eq!(outcome(r#"{"type":"test","name":"t","event":"started"}"#), None);
        // The harness warns about tests that run for a minute.
        assert_eq!(outcome(r#"{"type":"test","name":"t","event":"timeout"}"#), None);
        assert_eq!(outcome(r#"{"type":"suite","event":"ok","passed":1}"#), None);
    }

    #[test]
    fn an_executable_that_runs_too_long_is_killed() {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(finish(child, Duration::from_millis(50)).is_err_and(|error| error.to_string().contains("killed")));
    }
}
