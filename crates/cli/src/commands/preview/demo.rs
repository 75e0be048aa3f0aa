//! `reflex demo`: plays recorded calls through the real path, in a simulated world without side effects.

use crate::commands::preview::check::{as_run, word};
use crate::error::{DemoError, Error};
use crate::exit_code;
use crate::terminal::output::{print, print_in_full};
use crate::terminal::paint::Paint;
use crate::terminal::wrap::{columns, rows};
use clap::ArgMatches;
use reflex_agents::{Reply, deliver, find, universal};
use reflex_engine::Verdict;
use reflex_host::{Context, Host, Mode};
use serde_json::{Map, Value, json};

/// Recorded calls, one JSON object per line: `title`, `agent`, `payload` and the `facts` of the world it is judged in.
const CALLS: &str = include_str!("../../../demo/calls.jsonl");

struct Played {
    title: String,
    agent: &'static str,
    verdict: Verdict,
    word: &'static str,
    reply: Reply,
    reason: String,
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let lines = CALLS.lines().filter(|line| !line.trim().is_empty());
    let played: Result<Vec<Played>, DemoError> = lines.map(|line| play(&host, line)).collect();
    match played {
        Ok(calls) if matches.get_flag("json") => {
            calls.iter().for_each(|call| print(&as_json(call).to_string()));
            exit_code::OK
        }
        Ok(calls) => {
            table(&calls);
            exit_code::OK
        }
        Err(error) => Error::from(error).report(),
    }
}

fn play(host: &Host, line: &str) -> Result<Played, DemoError> {
    let call: Map<String, Value> = serde_json::from_str(line)?;
    let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or("");
    let agent = find(text("agent")).ok_or_else(|| DemoError::Agent(text("agent").to_owned()))?;
    let payload = call.get("payload").map(Value::to_string).unwrap_or_default();
    let mut event = agent.event(payload.as_bytes(), None)?;
    event.home = "/home/me".into();
    event.workspace = "/home/me/shop".into();
    let world = universal::supposed(&call, &event)?;
    let verdict = host.judge_in(&event, &world, &[]).verdict;
    let word = word(&verdict);
    // An agent reads the standing advice once; repeating it would fill the table.
    let verdict = Verdict { knows_steps: true, ..as_run(&verdict) };
    let delivery = deliver(&event, &verdict, agent.abilities(&event));
    let reply = (agent.write)(&event, &verdict, &delivery);
    let reason = delivery.reply().1.to_owned();
    Ok(Played { title: text("title").into(), agent: agent.name, word, verdict, reply, reason })
}

fn as_json(call: &Played) -> Value {
    json!({
        "schema": "reflex/demo-v1", "title": call.title, "agent": call.agent, "decision": universal::verdict(&call.verdict).get("decision"),
        "reason": call.reason, "stdout": call.reply.stdout, "exit": call.reply.code,
    })
}

/// Agent of most calls; only other agents are named.
const USUAL: &str = "claude";

/// Maximum width of a line.
const MAX_COLUMNS: usize = 103;

fn table(calls: &[Played]) {
    let paint = Paint::of_stdout();
    print(&paint.bold("Recorded calls, judged but not run."));
    print("");
    for call in calls {
        let padding = " ".repeat("allow".len() - call.word.len());
        let agent = if call.agent == USUAL { String::new() } else { format!("  {}", paint.faint(call.agent)) };
        print(&format!("{}{padding}  {}{agent}", paint.decision(call.word), call.title));
        if !call.reply.stdout.is_empty() {
            let reason = format!("{}{}", " ".repeat(7), call.reason);
            let wide = columns().map_or(MAX_COLUMNS, |columns| columns.min(MAX_COLUMNS));
            rows(&reason, wide).iter().for_each(|row| print_in_full(&paint.faint(row)));
        }
    }
    let count = |word| calls.iter().filter(|call| call.word == word).count();
    let counts = ["allow", "warn", "keep", "ask", "block"].map(|word| (word, count(word)));
    let counts: Vec<String> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}")).collect();
    print("");
    print(&format!("{} calls: {}.", calls.len(), counts.join(", ")));
    print("Try `reflex check 'COMMAND'`; install with `reflex init`.");
}
