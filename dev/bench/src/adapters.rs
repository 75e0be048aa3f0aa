//! Cost of an adapter: parsing a payload and writing the answer, in instructions and in time, without the judgement.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reflex_agents::{Payload, find, object};
use reflex_engine::{Decision, Reason, Verdict};

use tasks::project::Project;

/// The agents, each with a recorded call of its shell.
pub(crate) const PAYLOADS: [(&str, &str); 9] = [
    ("claude", "claude/PreToolUse-Bash.json"),
    ("codex", "codex/PreToolUse-Bash.json"),
    ("copilot", "copilot/preToolUse-bash.json"),
    ("copilot", "copilot-pascal/PreToolUse-Bash.json"),
    ("gemini", "gemini/BeforeTool-run_shell_command.json"),
    ("qwen", "qwen/PreToolUse-run_shell_command.json"),
    ("opencode", "opencode/tool.execute.before-bash.json"),
    ("cursor", "cursor/beforeShellExecution.json"),
    ("windsurf", "windsurf/pre_run_command.json"),
];

/// Maximum time of an adapter.
const MAX_DURATION: Duration = Duration::from_micros(100);

/// Number of rounds, enough to make the program's startup negligible.
const COUNTED: u32 = 20;
const TIMED: u32 = 2000;

const HEAD: &str = "<!-- Written by `cargo xtask adapters`; do not edit. -->\n\n# Adapters\n\n\
    What it costs to read a payload of an agent and to write the answer to it, a refusal, without the judgement between them:\n\
    thousands of instructions by callgrind, and the quickest of 2,000 times in microseconds. Goal: below 100 µs.\n\n\
    | agent | payload | instructions, thousands | µs |\n|---|---|--:|--:|\n";

/// Measures all adapters and writes docs/reference/adapters.md.
pub fn write(project: &Project) -> Result<()> {
    let mut page = HEAD.to_owned();
    for (agent, name) in PAYLOADS {
        let file = project.root.join("crates/agents/tests/fixtures").join(name);
        let thousands = (counted(agent, &file, COUNTED)? - counted(agent, &file, 0)?) / u64::from(COUNTED) / 1000;
        let quickest = quickest(agent, &file)?;
        if quickest > MAX_DURATION {
            bail!("{agent}: {quickest:?} for one payload");
        }
        page.push_str(&format!("| {agent} | `{name}` | {thousands} | {} |\n", quickest.as_micros()));
    }
    let build =
        if cfg!(debug_assertions) { "without optimisation; a release needs a fraction" } else { "of a release" };
    page.push_str(&format!("\nThe figures are those of a build {build}. `cargo xtask adapters` measures again.\n"));
    let path = project.root.join("docs/reference/adapters.md");
    fs::write(&path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote docs/reference/adapters.md");
    Ok(())
}

/// Parses the payload and writes the answer `rounds` times; run as a separate process by the measurement.
pub fn work(agent: &str, file: &Path, rounds: &str) -> Result<()> {
    let rounds: u32 = rounds.parse().with_context(|| format!("`{rounds}` is not a number of rounds"))?;
    let round = round(agent, file)?;
    (0..rounds).for_each(|_| round());
    Ok(())
}

fn round(agent: &str, file: &Path) -> Result<impl Fn()> {
    let agent = find(agent).with_context(|| format!("no agent is called `{agent}`"))?;
    let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let reasons = vec![Reason::plain("Blocked: a reason of the usual length, with the way on.")];
    let verdict = Verdict { decision: Decision::Deny, reasons, ..Verdict::default() };
    Ok(move || {
        let Ok(fields) = object(black_box(&bytes)) else { return };
        let payload = Payload { fields: &fields, event_name: None, variable: &|_| None };
        let Ok(event) = (agent.read)(&payload) else { return };
        let delivery = agent.deliver(&payload, &event, &verdict);
        black_box((agent.write)(&event, &verdict, &delivery));
    })
}

fn quickest(agent: &str, file: &Path) -> Result<Duration> {
    let round = round(agent, file)?;
    let timed = |_| {
        let start = Instant::now();
        round();
        start.elapsed()
    };
    (0..TIMED).map(timed).min().context("nothing was measured")
}

/// Counts the instructions of this program with a number of rounds.
fn counted(agent: &str, file: &Path, rounds: u32) -> Result<u64> {
    let xtask = std::env::current_exe().context("cannot find xtask")?;
    let counts: PathBuf = std::env::temp_dir().join(format!("reflex-adapters-{}.out", std::process::id()));
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", counts.display())).arg(xtask);
    valgrind.args(["adapter", agent]).arg(file).arg(rounds.to_string());
    let status =
        valgrind.stdout(Stdio::null()).stderr(Stdio::null()).status().context("`valgrind` cannot be started")?;
    let text = fs::read_to_string(&counts).unwrap_or_default();
    let _ = fs::remove_file(&counts);
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    let total = total.and_then(|total| total.trim().parse().ok()).filter(|_| status.success());
    total.with_context(|| format!("valgrind returned no count for {agent}"))
}
