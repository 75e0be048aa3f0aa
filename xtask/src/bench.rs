//! The speed report: the cost of one call of the hook, compared with starting a program that does nothing.

mod discard;
mod dispatch;
mod ground;
mod keep;
mod mcp;
mod measure;
mod modules;
mod page;
mod payloads;
mod people;
mod reflexes;
mod search;

use std::fs;
use std::path::Path;

use crate::project::Project;
use crate::release::{self, Linkage, Release};
use crate::steps::step;
pub(crate) use ground::Ground;
pub(crate) use measure::{Check, Hook, has_valgrind, profile};
use page::{Report, Row};
use payloads::Kind;
pub(crate) use payloads::{CALLS, shell};

/// Growth in percent that counts as noise: of compilers, of the length of paths.
const GROWTH_PERCENT: u32 = 15;

/// Measures MCP servers only, and leaves the rest of the page unchanged.
fn write_mcp(project: &Project, binary: Option<&Path>) -> Result<(), String> {
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let mcp = step("MCP", || mcp::measure(&release.binary, &ground))?;
    let text = Report { mcp, ..page::read(&project.root)? }.render();
    let file = page::file(&project.root);
    fs::write(&file, text).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}

/// Measures and writes the page, or only its part about MCP servers.
pub(crate) fn write(project: &Project, binary: Option<&Path>, part: &[&str]) -> Result<(), String> {
    if !part.is_empty() {
        return write_mcp(project, binary);
    }
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let hooks = hooks(&release, &ground)?;
    // Instructions are counted first, as in `check`: calls refused in the rounds below wait for a person, and each
    // later call looks for them.
    let instructions = instructions(&hooks)?;
    let ratios = step("time", || measure::ratios(&hooks))?;
    let measured = CALLS.iter().zip(ratios).zip(instructions);
    let rows = measured.map(|((call, ratio), instructions)| Row { call, ratio, instructions }).collect();
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
    let linkage = release.linkage;
    let report = Report { linkage, rows, discards, keeps, dispatches, people, modules, reflexes, searches, mcp };
    let text = report.render();
    let file = page::file(&project.root);
    fs::write(&file, &text).map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    println!("{text}");
    for miss in report.misses() {
        println!("over the goal: {miss}");
    }
    Ok(())
}

/// Counts instructions again: an error if a call takes far more than the page states, or more than its goal.
pub(crate) fn check(project: &Project, binary: Option<&Path>) -> Result<(), String> {
    let stored = page::read(&project.root)?;
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let counts = instructions(&hooks(&release, &ground)?)?;
    let mut problems = Vec::new();
    for ((call, now), row) in CALLS.iter().zip(counts).zip(&stored.rows) {
        let Some(now) = now else { return Ok(()) };
        println!("      {:<24} {:>8}", call.name, page::millions(now));
        // Loading a C library does not count as growth.
        let before = row.instructions.filter(|_| stored.linkage == release.linkage);
        problems.extend(before.and_then(|before| grown(call.name, before, now)));
        // A missed goal is shown on the page; a goal that was met before must not be missed now.
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Describes the difference if the page is not what this generator writes.
pub(crate) fn stale(project: &Project) -> Result<Option<String>, String> {
    let stored = page::read(&project.root)?;
    let file = page::file(&project.root);
    let text = fs::read_to_string(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    Ok((stored.render() != text).then(|| format!("{}: run `cargo xtask bench`", file.display())))
}

fn grown(name: &str, before: u32, now: u32) -> Option<String> {
    let limit = before + before / 100 * GROWTH_PERCENT;
    (now > limit).then(|| {
        let (before, now) = (page::millions(before), page::millions(now));
        format!("{name}: {now} instructions, the page says {before}; if that is meant, run `cargo xtask bench`")
    })
}

/// The hook with each payload. Fails on a wrong answer, which would be useless to measure.
fn hooks<'a>(release: &'a Release, ground: &'a Ground) -> Result<Vec<Hook<'a>>, String> {
    let hooks: Vec<Hook<'_>> = CALLS
        .iter()
        .map(|call| Hook { binary: &release.binary, ground, payload: call.payload(&ground.repo) })
        .collect();
    for (call, hook) in CALLS.iter().zip(&hooks) {
        let answer = hook.answer()?;
        let is_right = match call.kind {
            Kind::Allow => answer.is_silent(),
            Kind::Deny => answer.is_denial(),
        };
        if !is_right {
            return Err(format!("{}: the hook answers `{}`", call.name, answer.shown()));
        }
    }
    Ok(hooks)
}

/// Thousands of instructions for each payload; `None` without valgrind.
fn instructions(hooks: &[Hook<'_>]) -> Result<Vec<Option<u32>>, String> {
    if !measure::has_valgrind() {
        println!("skip  instructions: valgrind is not installed");
        return Ok(vec![None; hooks.len()]);
    }
    step("instructions", || hooks.iter().map(|hook| hook.instructions().map(Some)).collect())
}

/// Limits for a call: hundredths of the time of a program that does nothing, and thousands of instructions.
fn goal(kind: Kind, linkage: Linkage) -> (u32, u32) {
    match (kind, linkage.is_static()) {
        (Kind::Allow, true) => (100, 1000),
        (Kind::Allow, false) => (200, 1000),
        (Kind::Deny, true) => (150, 2500),
        (Kind::Deny, false) => (240, 2500),
    }
}
