//! Time that `reflex mcp` adds to an allowed tool call, from the request to the response.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::ground::Ground;
use super::measure::{CLAUDE, Hook, median};
use super::payloads;

/// Number of calls in one session.
const CALLS: usize = 10_000;

/// Number of calls for a median, at the start and at the end.
const MEASURED: usize = 1_000;

/// Maximum time that the proxy may add to a call.
const MAX_ADDED: Duration = Duration::from_millis(1);

/// The two measurements, by name on the page.
pub(crate) const CASES: [&str; 2] = ["the first 1,000 of 10,000 calls", "the last 1,000 of them"];

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str =
    "a call and its result are judged and recorded, which takes about as long as `/bin/true` in all";

/// The time added to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Added {
    /// Time in hundredths of that of a program that does nothing.
    pub(crate) ratio: u32,
    /// Whether the time was below one millisecond on this machine.
    pub(crate) in_time: bool,
}

/// Measures each of [`CASES`].
pub(crate) fn measure(binary: &Path, ground: &Ground) -> Result<Vec<Added>> {
    let xtask = std::env::current_exe().context("cannot find xtask")?;
    let mut direct = Conversation::start(Command::new(&xtask).arg("mcp"), ground)?;
    let mut guarded = Command::new(binary);
    guarded.arg("--home").arg(&ground.home).args(["mcp", "--name", "echo", "--"]).arg(&xtask).arg("mcp");
    let mut guarded = Conversation::start(&mut guarded, ground)?;
    let nothing = Hook { caller: CLAUDE, binary, ground, payload: payloads::shell("git status", &ground.repo) };
    let mut times = CASES.map(|_| (Vec::new(), Vec::new(), Vec::new()));
    for number in 0..CALLS {
        let added = guarded.call(number)?;
        let case = if number < MEASURED { 0 } else { 1 };
        if (MEASURED..CALLS - MEASURED).contains(&number) {
            continue;
        }
        if let Some((with, without, floor)) = times.get_mut(case) {
            with.push(added);
            without.push(direct.call(number)?);
            floor.push(nothing.time_of_nothing()?);
        }
    }
    let added = |(with, without, floor): (Vec<Duration>, Vec<Duration>, Vec<Duration>)| {
        let added = median(with) - median(without);
        Added { ratio: (added / median(floor) * 100.0).round() as u32, in_time: added < MAX_ADDED.as_secs_f64() }
    };
    Ok(times.into_iter().map(added).collect())
}

/// A client connected to a server.
struct Conversation {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Conversation {
    fn start(command: &mut Command, ground: &Ground) -> Result<Self> {
        command.current_dir(&ground.repo).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().context("cannot start the server")?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            bail!("the server has no pipes");
        };
        let mut conversation = Self { server, input, output: BufReader::new(output) };
        let version = json!({"protocolVersion": "2025-11-25"});
        conversation
            .ask(&json!({"jsonrpc": "2.0", "id": "s", "method": "initialize", "params": version}).to_string())?;
        conversation.ask(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#)?;
        Ok(conversation)
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        self.input.write_all(format!("{request}\n").as_bytes()).context("the server does not answer")?;
        let mut line = String::new();
        self.output.read_line(&mut line).context("the server does not answer")?;
        Ok(line)
    }

    /// Identical calls would be a loop, so each call has its own text.
    fn call(&mut self, number: usize) -> Result<Duration> {
        let params = json!({"name": "shout", "arguments": {"text": format!("text {number}")}});
        let request = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).to_string();
        let start = Instant::now();
        let answer = self.ask(&request)?;
        let time = start.elapsed();
        ensure!(answer.contains(&format!("TEXT {number}")), "call {number}: {answer}");
        Ok(time)
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
