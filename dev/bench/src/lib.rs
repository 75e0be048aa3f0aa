//! The speed report: the cost of one call of the hook, compared with starting a program that does nothing.

pub mod adapters;
mod agents;
mod discard;
mod dispatch;
mod ground;
mod keep;
pub mod layout;
pub mod linear;
mod mcp;
mod measure;
mod modules;
mod page;
mod payloads;
mod people;
mod reflexes;
mod search;
mod states;
pub mod supervise;
mod tables;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tasks::project::Project;
use tasks::release::{self, Linkage, Release};
use tasks::steps::step;

use ground::Ground;
use measure::{CLAUDE, Hook, Time};
use page::{Report, Row};
use payloads::{CALLS, Kind};
use states::Pair;

/// Growth in percent that counts as noise: of compilers, of the length of paths.
const GROWTH_PERCENT: u32 = 15;

/// Measures MCP servers only, or the calls, the agents and the states, and leaves the rest of the page unchanged.
fn write_part(project: &Project, binary: Option<&Path>, part: &str) -> Result<()> {
    let stored = page::read(&project.root)?;
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let report = if part == MCP {
        Report { mcp: step("MCP", || mcp::measure(&release.binary, &ground))?, ..stored }
    } else {
        with_calls(project, &release, &ground, stored)?
    };
    let file = page::file(&project.root);
    fs::write(&file, report.render()).with_context(|| format!("cannot write `{}`", file.display()))
}

/// The parts of the page that can be measured alone.
pub const MCP: &str = "mcp";
/// See [`MCP`].
pub const CALL_PARTS: &str = "calls";

/// Measures the calls, the agents and the states for a report.
fn with_calls(project: &Project, release: &Release, ground: &Ground, report: Report) -> Result<Report> {
    let Calls { machine, rows, memory } = calls(release, ground)?;
    let agents = step("agents", || agents::measure(&project.root, &release.binary))?;
    let states = states(release)?;
    Ok(Report { linkage: release.linkage, machine, rows, memory, agents, states, ..report })
}

/// Measures and writes the page, or only a part of it.
pub fn write(project: &Project, binary: Option<&Path>, part: &[&str]) -> Result<()> {
    if let Some(part) = part.first() {
        return write_part(project, binary, part);
    }
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let report = with_calls(project, &release, &ground, Report::default())?;
    let discards = step("discards", || discard::measure(&release.binary))?;
    let keeps = step("keeping", || keep::measure(&release.binary))?;
    let dispatches = if measure::has_valgrind() {
        step("dispatch", || dispatch::measure(&project.root, &release.binary, &ground))?
    } else {
        Vec::new()
    };
    let modules = step("modules", || modules::measure(&release.binary, &ground))?;
    let people = step("people's rules", || people::measure(&release.binary))?;
    let reflexes = step("reflexes", || reflexes::measure(&release.binary, &ground))?;
    let searches = step("search", || search::measure(&release.binary, &ground))?;
    let mcp = step("MCP", || mcp::measure(&release.binary, &ground))?;
    let report = Report { discards, keeps, dispatches, modules, people, reflexes, searches, mcp, ..report };
    written(project, &report)
}

/// Writes the page and prints it with the missed goals.
fn written(project: &Project, report: &Report) -> Result<()> {
    let text = report.render();
    let file = page::file(&project.root);
    fs::write(&file, &text).with_context(|| format!("cannot write `{}`", file.display()))?;
    println!("{text}");
    for miss in report.misses() {
        println!("over the goal: {miss}");
    }
    Ok(())
}

/// The measured calls of the first table.
struct Calls {
    machine: String,
    rows: Vec<Row>,
    memory: Option<Time>,
}

fn calls(release: &Release, ground: &Ground) -> Result<Calls> {
    let mut hooks = hooks(release, ground)?;
    // Instructions are counted first, as in `check`: calls refused in the rounds below wait for a person, and each
    // later call looks for them.
    let instructions = instructions(&hooks)?;
    let in_memory = step("ground in memory", Ground::in_memory)?;
    hooks.extend(in_memory.as_ref().map(|ground| denied(release, ground)).transpose()?);
    let (mut times, nothing) = step("time", || measure::times(&hooks))?;
    let memory = in_memory.as_ref().and_then(|_| times.pop());
    let measured = CALLS.iter().zip(times).zip(instructions);
    let rows = measured.map(|((call, time), instructions)| Row { call, time, instructions }).collect();
    Ok(Calls { machine: format!("{}. `/bin/true` takes {}", machine(), tables::millis(nothing)), rows, memory })
}

/// The refused call with its state in memory; an error if it is not refused there.
fn denied<'a>(release: &'a Release, ground: &'a Ground) -> Result<Hook<'a>> {
    let call = CALLS.iter().find(|call| call.name == page::DENIED).context("no call is refused")?;
    let hook = Hook { caller: CLAUDE, binary: &release.binary, ground, payload: call.payload(&ground.repo) };
    let answer = hook.answer()?;
    ensure!(answer.is_denial(), "in memory: the hook answers `{}`", answer.shown());
    Ok(hook)
}

/// The name of the processor, and the system.
fn machine() -> String {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let name = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or("unknown", |(_, name)| name.trim());
    let system = [read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease")];
    let [kind, version] = system.each_ref().map(|text| text.trim());
    let system = if kind.is_empty() { std::env::consts::OS.to_owned() } else { format!("{kind} {version}") };
    format!("{name}, {system}")
}

/// Counts with small and large states; nothing without valgrind.
fn states(release: &Release) -> Result<Vec<Pair>> {
    if measure::has_valgrind() { step("states", || states::measure(&release.binary)) } else { Ok(Vec::new()) }
}

/// Counts instructions again: an error if a call takes far more than the page states, or more than its goal.
pub fn check(project: &Project, binary: Option<&Path>) -> Result<()> {
    let stored = page::read(&project.root)?;
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let counts = instructions(&hooks(&release, &ground)?)?;
    let mut problems = Vec::new();
    for ((call, now), row) in CALLS.iter().zip(counts).zip(&stored.rows) {
        let Some(now) = now else { return Ok(()) };
        println!("      {:<24} {:>8}", call.name, tables::millions(now));
        // Loading a C library does not count as growth.
        let before = row.instructions.filter(|_| stored.linkage == release.linkage);
        problems.extend(before.and_then(|before| grown(call.name, before, now)));
        // A missed goal is shown on the page; a goal that was met before must not be missed now.
        problems.extend(before.filter(|before| *before <= call.goal && call.goal < now).map(|_| {
            format!(
                "{}: {} instructions, the goal is {}",
                call.name,
                tables::millions(now),
                tables::millions(call.goal)
            )
        }));
    }
    let pairs = states(&release)?;
    for (case, Pair { small, large }) in states::CASES.iter().zip(&pairs) {
        println!("      {}, {}: {}, {}", case.state, case.call, tables::millions(*small), tables::millions(*large));
    }
    problems.extend(outgrown(&stored.states, &pairs));
    ensure!(problems.is_empty(), problems.join("\n"));
    Ok(())
}

/// Describes the difference if the page is not what this generator writes.
pub fn stale(project: &Project) -> Result<Option<String>> {
    let stored = page::read(&project.root)?;
    let file = page::file(&project.root);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok((stored.render() != text).then(|| format!("{}: run `cargo xtask bench`", file.display())))
}

/// The pairs that are within the goal on the page and not now.
fn outgrown(stored: &[Pair], pairs: &[Pair]) -> Vec<String> {
    let all = states::CASES.iter().zip(stored).zip(pairs);
    let outgrown = all.filter(|((_, stored), pair)| stored.is_within() && !pair.is_within());
    let shown = |(small, large)| format!("{} instructions, then {}", tables::millions(small), tables::millions(large));
    outgrown
        .map(|((case, _), pair)| {
            format!("{}, {}: {}, more than 10 % apart", case.state, case.call, shown((pair.small, pair.large)))
        })
        .collect()
}

fn grown(name: &str, before: u32, now: u32) -> Option<String> {
    let limit = before + before / 100 * GROWTH_PERCENT;
    (now > limit).then(|| {
        let (before, now) = (tables::millions(before), tables::millions(now));
        format!("{name}: {now} instructions, the page says {before}; if that is meant, run `cargo xtask bench`")
    })
}

/// The hook with each payload. Fails on a wrong answer, which would be useless to measure.
fn hooks<'a>(release: &'a Release, ground: &'a Ground) -> Result<Vec<Hook<'a>>> {
    let hooks: Vec<Hook<'_>> = CALLS
        .iter()
        .map(|call| Hook { caller: CLAUDE, binary: &release.binary, ground, payload: call.payload(&ground.repo) })
        .collect();
    for (call, hook) in CALLS.iter().zip(&hooks) {
        let answer = hook.answer()?;
        let is_right = match call.kind {
            Kind::Allow => answer.is_silent(),
            Kind::Deny => answer.is_denial(),
        };
        if !is_right {
            bail!("{}: the hook answers `{}`", call.name, answer.shown());
        }
    }
    Ok(hooks)
}

/// Thousands of instructions for each payload; `None` without valgrind.
fn instructions(hooks: &[Hook<'_>]) -> Result<Vec<Option<u32>>> {
    if !measure::has_valgrind() {
        println!("skip  instructions: valgrind is not installed");
        return Ok(vec![None; hooks.len()]);
    }
    step("instructions", || hooks.iter().map(|hook| hook.instructions().map(Some)).collect())
}

/// Limit for the time of a call, in hundredths of that of a program that does nothing.
fn goal(kind: Kind, linkage: Linkage) -> u32 {
    match (kind, linkage.is_static()) {
        (Kind::Allow, true) => 100,
        (Kind::Allow, false) | (Kind::Deny, true) => 200,
        (Kind::Deny, false) => 300,
    }
}
