//! Measures the hook: its time in alternation with `/bin/true`, its instructions under callgrind.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::ground::Ground;
use tasks::steps::succeed;

/// Number of warm-up calls, after which each session has its file.
const WARM_UP: usize = 32;
const ROUNDS: usize = 300;
const NOTHING: &str = "/bin/true";
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The agent that calls the hook, and its name for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Name of the agent.
    pub(crate) agent: &'static str,
    /// Name of the event.
    pub(crate) event: &'static str,
}

/// Claude Code before a tool runs.
pub(crate) const CLAUDE: Caller = Caller { agent: "claude", event: "PreToolUse" };

/// The hook with one payload.
pub(crate) struct Hook<'a> {
    /// The agent and its event.
    pub(crate) caller: Caller,
    /// The release binary.
    pub(crate) binary: &'a Path,
    /// The environment of the run.
    pub(crate) ground: &'a Ground,
    /// The payload on standard input.
    pub(crate) payload: String,
}

/// `reflex check` with one command: the same judgement as by a hook, but not limited by the watchdog.
pub(crate) struct Check<'a> {
    /// The release binary.
    pub(crate) binary: &'a Path,
    /// The environment of the run.
    pub(crate) ground: &'a Ground,
    /// The command.
    pub(crate) text: &'a str,
}

impl Check<'_> {
    /// Runs once under callgrind and returns thousands of instructions.
    pub(crate) fn instructions(&self) -> Result<u32> {
        // Without a home, it would read the user's policy and rules.
        let home = self.ground.home.to_string_lossy();
        counted(self.ground, self.binary, &["check", "--home", &home, "-"].map(str::to_owned), self.text)
    }
}

/// `reflex eval` with one event, which is judged in a simulated world and with a longer time than a hook has.
pub(crate) struct Eval<'a> {
    /// The release binary.
    pub(crate) binary: &'a Path,
    /// The environment of the run.
    pub(crate) ground: &'a Ground,
    /// The universal event, in one line.
    pub(crate) event: &'a str,
}

/// A count of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// Thousands of instructions.
    pub(crate) thousands: u32,
    /// Whether there was a verdict: `eval` ends a judgement after a minute, and callgrind makes it slow.
    pub(crate) is_complete: bool,
}

impl Eval<'_> {
    /// Runs once under callgrind.
    pub(crate) fn count(&self) -> Result<Count> {
        let (text, output) = callgrind(self.ground, self.binary, &["eval".to_owned()], self.event)?;
        let thousands = total(&text).context("valgrind returned no count of `reflex eval`")?;
        Ok(Count { thousands, is_complete: !output.stdout.is_empty() })
    }
}

/// Exit status and output of the hook.
pub(crate) struct Answer {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Answer {
    /// Whether the agent proceeds as if it had no hook.
    pub(crate) fn is_silent(&self) -> bool {
        self.status.success() && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// Whether the hook lets the call run, in whatever words the agent expects.
    pub(crate) fn is_permission(&self) -> bool {
        self.status.success() && !self.stdout.contains("deny") && !self.stdout.contains("\"ask\"")
    }

    /// Whether the hook denies the call.
    pub(crate) fn is_denial(&self) -> bool {
        self.status.code() == Some(2) && self.stdout.contains("\"permissionDecision\":\"deny\"")
    }

    /// Formats the answer in one line.
    pub(crate) fn shown(&self) -> String {
        format!("{} {} {}", self.status, self.stdout.trim_end(), self.stderr.trim_end())
    }
}

impl Hook<'_> {
    /// Runs the hook once.
    pub(crate) fn answer(&self) -> Result<Answer> {
        let mut command = self.command(self.binary);
        let output = run(command.args(self.arguments()).stderr(Stdio::piped()), &self.payload)?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Answer { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) })
    }

    /// Runs once under callgrind and returns thousands of instructions.
    pub(crate) fn instructions(&self) -> Result<u32> {
        counted(self.ground, self.binary, &self.arguments(), &self.payload)
    }

    /// Median time in hundredths of that of a program that does nothing. Uses few rounds, because a large call takes
    /// long.
    pub(crate) fn ratio(&self) -> Result<u32> {
        const ROUNDS: usize = 20;
        let (mut times, mut nothing) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            times.push(self.time()?);
            nothing.push(self.time_of_nothing()?);
        }
        Ok((median(times) / median(nothing) * 100.0).round() as u32)
    }

    fn command(&self, program: &Path) -> Command {
        command(self.ground, program)
    }

    /// The arguments in a user's hook entry.
    fn arguments(&self) -> Vec<String> {
        let home = self.ground.home.to_string_lossy();
        let Caller { agent, event } = self.caller;
        ["hook", "--agent", agent, "--event", event, "--home", &home].map(str::to_owned).to_vec()
    }

    /// Time of one run.
    pub(crate) fn time(&self) -> Result<Duration> {
        let mut command = self.command(self.binary);
        let command = command.args(self.arguments()).stderr(Stdio::null());
        let payload = in_turn(&self.payload);
        let start = Instant::now();
        run(command, &payload).map(|_| start.elapsed())
    }

    /// Time of a program that exits at once, started with the same input.
    pub(crate) fn time_of_nothing(&self) -> Result<Duration> {
        let mut command = self.command(Path::new(NOTHING));
        let command = command.args(self.arguments()).stderr(Stdio::null());
        let start = Instant::now();
        run(command, &self.payload).map(|_| start.elapsed())
    }
}

/// The payload in the next of many sessions: repeating the same call in one session would trigger the loop detector.
fn in_turn(payload: &str) -> String {
    const SESSIONS: usize = 149;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let session = NEXT.fetch_add(1, Ordering::Relaxed) % SESSIONS;
    payload.replacen(super::payloads::SESSION, &format!("{session:036}"), 1)
}

/// The same command for all programs, with as small an environment as an agent may pass.
fn command(ground: &Ground, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&ground.repo).env_clear();
    command.env("HOME", &ground.home).env("PATH", SEARCH_PATH);
    command
}

/// Runs a command of `reflex` once under callgrind and returns thousands of instructions.
pub(crate) fn counted(ground: &Ground, binary: &Path, arguments: &[String], input: &str) -> Result<u32> {
    let (text, output) = callgrind(ground, binary, arguments, input)?;
    total(&text).with_context(|| format!("valgrind returned no count: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Callgrind's output for one call of the hook, with the mangled names of functions.
pub(crate) fn profile(ground: &Ground, binary: &Path, payload: &str) -> Result<String> {
    let hook = Hook { caller: CLAUDE, binary, ground, payload: payload.to_owned() };
    callgrind(ground, binary, &hook.arguments(), payload).map(|(text, _)| text)
}

/// Runs a command under callgrind and returns the contents of callgrind's file and the output.
fn callgrind(ground: &Ground, binary: &Path, arguments: &[String], input: &str) -> Result<(String, Output)> {
    let counts = ground.folder.join("callgrind.out");
    let mut valgrind = command(ground, Path::new("valgrind"));
    valgrind.args(["--tool=callgrind", "--demangle=no"]).arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind.arg(binary).args(arguments).stderr(Stdio::piped());
    let output = run(&mut valgrind, input)?;
    let text = fs::read_to_string(&counts).unwrap_or_default();
    Ok((text, output))
}

fn run(command: &mut Command, payload: &str) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let shown = || format!("`{program}`");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().with_context(shown)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input closes the pipe, which is not an error here.
        let _ = stdin.write_all(payload.as_bytes());
    }
    child.wait_with_output().with_context(shown)
}

/// The time of a call, as a ratio and on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time {
    /// Median in hundredths of that of a program that does nothing.
    pub(crate) ratio: u32,
    /// Median in microseconds.
    pub(crate) micros: u32,
}

/// Median time of each hook in hundredths of that of a program that does nothing.
pub(crate) fn ratios(hooks: &[Hook<'_>]) -> Result<Vec<u32>> {
    Ok(times(hooks)?.0.iter().map(|time| time.ratio).collect())
}

/// Median time of each hook, and that of a program that does nothing, in microseconds.
pub(crate) fn times(hooks: &[Hook<'_>]) -> Result<(Vec<Time>, u32)> {
    let mut medians = medians(hooks)?;
    let nothing = medians.pop().unwrap_or_default();
    let micros = |seconds: f64| (seconds * 1e6).round() as u32;
    let time = |median: &f64| Time { ratio: (median / nothing * 100.0).round() as u32, micros: micros(*median) };
    Ok((medians.iter().map(time).collect(), micros(nothing)))
}

/// Median time of each hook in seconds, followed by that of a program that does nothing.
///
/// All of them take turns within a round and the first turn rotates, so that a temporary load affects all equally.
pub(crate) fn medians(hooks: &[Hook<'_>]) -> Result<Vec<f64>> {
    let turns = hooks.len() + 1;
    let mut times = vec![Vec::with_capacity(ROUNDS); turns];
    for round in 0..WARM_UP + ROUNDS {
        for turn in (0..turns).map(|turn| (turn + round) % turns) {
            let time = match hooks.get(turn) {
                Some(hook) => hook.time()?,
                None => hooks.first().context("nothing to measure")?.time_of_nothing()?,
            };
            if round >= WARM_UP {
                times.get_mut(turn).into_iter().for_each(|times| times.push(time));
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

/// The median, in seconds.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// Whether valgrind is available to count instructions.
pub(crate) fn has_valgrind() -> bool {
    succeed(Command::new("valgrind").arg("--version")).is_ok()
}

/// Total of callgrind's counts, in thousands.
fn total(text: &str) -> Option<u32> {
    let line =
        text.lines().find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")))?;
    let count: u64 = line.split_whitespace().next()?.parse().ok()?;
    u32::try_from(count.div_ceil(1000)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_callgrind_is_read() {
        assert_eq!(total("events: Ir\nfn=(1)\n0 12\n\ntotals: 612345\n"), Some(613));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn the_middle_time_counts() {
        let times = [5, 900, 1, 4, 6].map(Duration::from_secs).to_vec();
        assert!((median(times) - 5.0).abs() < f64::EPSILON);
    }
}
