//! The page `docs/reference/speed.md`: rendered from a report and parsed back into one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};

use super::agents::Cost as OfAgent;
use super::discard;
use super::dispatch::{self, Dispatch};
use super::goal;
use super::keep;
use super::mcp::{self, Added};
use super::measure::Time;
use super::modules;
use super::payloads::{CALLS, Call};
use super::people::{self, Cost};
use super::reflexes::{self, Cost as Spent};
use super::search::{self, SEARCHES, Searched};
use super::states::Pair;
use super::tables::{self, digits, hundredths, millions, millis, reasons, yes};
use tasks::release::Linkage;

const HEAD: &str = "\
<!-- Written by `cargo xtask bench`; do not edit. -->

# Speed

What one call of the hook costs. Milliseconds belong to the machine below; ratios and instructions hardly do.

- *time* is the median duration of `reflex hook`, from start to exit, divided by that of `/bin/true`, a program that does
  nothing. Both get the same payload on standard input and take turns, 300 rounds in the same run. The answer is in the
  audit log by then; a refusal is also on the disk. *milliseconds* is the same median.
- *instructions* are what the processor executes for the call, in millions, counted by valgrind's callgrind.
- The calls are Claude Code's, before a tool runs, in a git repository of 500 files, with nothing but `HOME` and `PATH`
  in the environment.
";

const FOOT: &str = "\
`cargo xtask bench` measures again and writes this page. `cargo xtask bench --check` counts the instructions only; it
fails if a call needs 15 % more than listed here, or if one misses a goal that is met here.
";

const DISCARDS: &str = "\
## Commands that discard

Median duration of `reflex hook` in a repository of 30,000 files, divided by that of `git status` there; 15 rounds in
turns. The last call names as many paths as are looked at; more of them are a gap, which is asked about.

";

const KEEPS: &str = "\
## Keeping for undo

Shortest duration of `reflex hook` for `rm -rf` of files that are in no commit, divided by that of `cp -a` of the same files
without sharing blocks; 9 rounds in turns. Where the file system shares blocks keeping costs next to nothing.

";

const DISPATCH: &str = "\
## Rules that cannot apply

Instructions of `reflex check` and the same binary with a part of its rules and with all: a rule is looked at only if the
call has an effect that the rule is about.

";

/// Head of the first column of the table.
const RULES: &str = "rules";

const PEOPLE: &str = "\
## Rules of people

The call `git status` with rules of the user that say nothing about it, beside the same call without: the medians of 300
rounds in turns, divided by that of `/bin/true`. Their difference may be half a millisecond.

";

/// Head of the first column of the table.
const PEOPLES: &str = "rules of the user";

const SHARES: &str = "\
## Detectors

What each detector takes of the time that its description allows it (Sentinel 8 ms, Tripwire 5 ms, Loopbreaker 3 ms, all
12 ms), in per cent, rounded up: the median of the last of 64 equal calls in one session, by the clock of the
audit log. What a command would do is worked out once for all detectors and counted to Sentinel.

";

/// Head of the first column of the table.
const TEXT: &str = "command";

const SEARCH: &str = "\
## The audit log

Median duration of `reflex audit search` over one million records of mixed calls, divided by that of `cat` of the same
files; 9 rounds in turns, and whether it stayed below 200 ms on the machine that wrote this page. The oldest record is
found last.

";

const REFLEXES: &str = "\
## Reflexes

The same for `git status` with three reflexes that are asked about it and say nothing: three of the catalog, which share an
interpreter, and three TypeScript files of one's own, each with an interpreter of its own. Their code was kept by an
earlier call.

";

/// Head of the first column of the table.
const SOUGHT: &str = "search";

/// Head of the first column of the table.
const CONFIGURED: &str = "reflexes";

const MCP: &str = "\
## MCP servers

The time that `reflex mcp` adds to a call of a tool that it allows, from the request to the response: the median of 1,000
calls in turns with a server that is reached directly, divided by the time of `/bin/true`, and whether it stayed below a
millisecond on the machine that wrote this page. A call and its result are judged by one process.

";

/// Head of the first column of the table.
const PASSED: &str = "through `reflex mcp`";

/// Maximum time of a backup, in hundredths of that of a copy.
const MAX_OF_COPY: u32 = 130;

/// Maximum time of a discard, in hundredths of that of `git status`.
const MAX_OF_STATUS: u32 = 150;

const BUILD: &str = "Measured build: ";

const MACHINE: &str = "Measured on: ";

/// The call that is also measured with its state in memory.
pub(crate) const DENIED: &str = "deny-home";

/// The measurements.
#[derive(Default)]
pub(crate) struct Report {
    /// Linkage of the measured build.
    pub(crate) linkage: Linkage,
    /// The processor, the system, and the time of a program that does nothing.
    pub(crate) machine: String,
    /// One row per call.
    pub(crate) rows: Vec<Row>,
    /// Time of [`DENIED`] with its state in memory; `None` if this machine has no files there.
    pub(crate) memory: Option<Time>,
    /// One for each payload in [`super::agents`]; empty if they were not measured.
    pub(crate) agents: Vec<OfAgent>,
    /// One for each of [`super::states::CASES`]; empty if they were not counted.
    pub(crate) states: Vec<Pair>,
    /// Hundredths of `git status`, one for each of [`discard::COMMANDS`].
    pub(crate) discards: Vec<u32>,
    /// Hundredths of `cp -a`, one for each of [`keep::CASES`].
    pub(crate) keeps: Vec<u32>,
    /// With a part of the rules and with all; empty if instructions could not be counted.
    pub(crate) dispatches: Vec<Dispatch>,
    /// One for each of [`people::CASES`]; empty if they were not measured.
    pub(crate) people: Vec<Cost>,
    /// Percent of its budget for each of [`modules::MODULES`], one line for each of [`modules::TEXTS`].
    pub(crate) modules: Vec<Vec<u32>>,
    /// One for each of [`SEARCHES`]; empty if they were not measured.
    pub(crate) searches: Vec<Searched>,
    /// One for each of [`mcp::CASES`]; empty if they were not measured.
    pub(crate) mcp: Vec<Added>,
    /// One for each of [`reflexes::ROWS`]; empty if they were not measured.
    pub(crate) reflexes: Vec<Spent>,
}

/// The measurements of one call.
pub(crate) struct Row {
    /// The call.
    pub(crate) call: &'static Call,
    /// Time of the hook.
    pub(crate) time: Time,
    /// Thousands of instructions; `None` if they could not be counted.
    pub(crate) instructions: Option<u32>,
}

impl Report {
    /// Renders the page.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("{HEAD}\n{BUILD}{}.\n\n{MACHINE}{}.\n\n", self.linkage.name(), self.machine);
        text.push_str(&self.calls());
        let denied = self.rows.iter().find(|row| row.call.name == DENIED);
        text.push_str(&tables::disk(denied.map(|row| row.time), self.memory));
        text.push_str(&tables::agents(&self.agents));
        text.push_str(&tables::states(&self.states));
        text.push_str(&self.discarded());
        text.push_str(&self.kept());
        text.push_str(&self.dispatched());
        text.push_str(&self.peoples());
        text.push_str(&self.shares());
        text.push_str(&self.searched());
        text.push_str(&self.of_reflexes());
        text.push_str(&self.of_mcp());
        text.push_str(&format!("\n{FOOT}"));
        text
    }

    /// The table of calls.
    fn calls(&self) -> String {
        let mut text = "| call | what it is | time | goal | milliseconds | instructions | goal |\n".to_owned();
        text.push_str("|---|---|--:|--:|--:|--:|--:|\n");
        for row in &self.rows {
            let ratio = hundredths(goal(row.call.kind, self.linkage));
            let counted = row.instructions.map_or("–".into(), millions);
            let (time, millis) = (hundredths(row.time.ratio), millis(row.time.micros));
            let Call { name, about, goal, .. } = row.call;
            let cells = [name, about, time.as_str(), &ratio, &millis, &counted, &millions(*goal)];
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        let missed = self.rows.iter().filter(|row| !row.misses(self.linkage).is_empty());
        text + &reasons(missed.map(|row| (row.call.name, row.call.why)))
    }

    /// The section about commands that discard.
    fn discarded(&self) -> String {
        let mut text = format!("\n{DISCARDS}| call | time | goal |\n|---|--:|--:|\n");
        for (command, ratio) in discard::COMMANDS.iter().zip(&self.discards) {
            let goal = if is_discard(command) { hundredths(MAX_OF_STATUS) } else { "–".into() };
            text.push_str(&format!("| `{command}` | {} | {goal} |\n", hundredths(*ratio)));
        }
        text + &reasons(self.slow_discards().map(|(command, _)| (command, discard::WHY)))
    }

    fn slow_discards(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let all = discard::COMMANDS.into_iter().zip(self.discards.iter().copied());
        all.filter(|(command, ratio)| is_discard(command) && *ratio > MAX_OF_STATUS)
    }

    /// The section about backups.
    fn kept(&self) -> String {
        let mut text = format!("\n{KEEPS}| kept | time | goal |\n|---|--:|--:|\n");
        for ((name, ..), ratio) in keep::CASES.iter().zip(&self.keeps) {
            text.push_str(&format!("| {name} | {} | {} |\n", hundredths(*ratio), hundredths(MAX_OF_COPY)));
        }
        text + &reasons(self.slow_keeps().map(|(name, _)| (name, keep::WHY)))
    }

    fn slow_keeps(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let all = keep::CASES.iter().zip(&self.keeps).map(|((name, ..), ratio)| (*name, *ratio));
        all.filter(|(_, ratio)| *ratio > MAX_OF_COPY)
    }

    /// The section about rules that cannot apply.
    fn dispatched(&self) -> String {
        let mut text = String::new();
        text.push_str(&format!("\n{DISPATCH}"));
        let cells = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push_str(&cells(
            [RULES.to_owned()].into_iter().chain(dispatch::TEXTS.iter().map(|(name, _)| (*name).into())).collect(),
        ));
        text.push_str(&format!("|--:|{}\n", "--:|".repeat(dispatch::TEXTS.len())));
        for dispatch in &self.dispatches {
            let counts = dispatch.instructions.iter().map(|count| millions(*count));
            text.push_str(&cells([dispatch.rules.to_string()].into_iter().chain(counts).collect()));
        }
        text
    }

    /// The section about users' rules; empty if they were not measured.
    fn peoples(&self) -> String {
        if self.people.is_empty() {
            return String::new();
        }
        let mut text =
            format!("\n{PEOPLE}| {PEOPLES} | time | within half a millisecond | instructions |\n|---|--:|---|--:|\n");
        for ((name, _), cost) in people::CASES.iter().zip(&self.people) {
            let within = yes(cost.is_within);
            let cells =
                [name, hundredths(cost.ratio).as_str(), within, millions(cost.instructions).as_str()].join(" | ");
            text.push_str(&format!("| {cells} |\n"));
        }
        let missed = people::CASES.iter().zip(&self.people).filter(|(_, cost)| !cost.is_within);
        text + &reasons(missed.map(|((name, _), _)| (*name, people::WHY)))
    }

    /// The section about the detectors; empty if they were not measured.
    fn shares(&self) -> String {
        if self.modules.is_empty() {
            return String::new();
        }
        let names = modules::MODULES.map(|(name, ..)| name).join(" | ");
        let mut text = format!("\n{SHARES}| {TEXT} | {names} |\n|---|{}\n", "--:|".repeat(modules::MODULES.len()));
        for (name, shares) in modules::TEXTS.iter().zip(&self.modules) {
            let shares: Vec<String> = shares.iter().map(|share| format!("{share} %")).collect();
            text.push_str(&format!("| {name} | {} |\n", shares.join(" | ")));
        }
        let over = |shares: &&Vec<u32>| shares.iter().any(|share| *share > 100);
        let missed = modules::TEXTS.iter().zip(&self.modules).filter(|(_, shares)| over(shares));
        text + &reasons(missed.map(|(name, _)| (*name, modules::WHY)))
    }

    /// The section about the audit log; empty if it was not measured.
    fn searched(&self) -> String {
        if self.searches.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{SEARCH}| {SOUGHT} | time | below 200 ms |\n|---|--:|---|\n");
        for ((name, _), searched) in SEARCHES.iter().zip(&self.searches) {
            let in_time = yes(searched.in_time);
            text.push_str(&format!("| {name} | {} | {in_time} |\n", hundredths(searched.ratio)));
        }
        let missed = SEARCHES.iter().zip(&self.searches).filter(|(_, searched)| !searched.in_time);
        text + &reasons(missed.map(|((name, _), _)| (*name, search::WHY)))
    }

    /// The section about reflexes; empty if they were not measured.
    fn of_reflexes(&self) -> String {
        if self.reflexes.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{REFLEXES}| {CONFIGURED} | time | goal | instructions |\n|---|--:|--:|--:|\n");
        for (name, cost) in reflexes::ROWS.iter().zip(&self.reflexes) {
            let counted = cost.instructions.map_or("–".into(), millions);
            let (ratio, goal) = (hundredths(cost.ratio), hundredths(reflexes::MAX_RATIO));
            text.push_str(&format!("| {name} | {ratio} | {goal} | {counted} |\n"));
        }
        let missed = reflexes::ROWS.iter().zip(&self.reflexes).filter(|(_, cost)| cost.ratio > reflexes::MAX_RATIO);
        text + &reasons(missed.map(|(name, _)| (*name, reflexes::WHY)))
    }

    /// The section about MCP servers; empty if they were not measured.
    fn of_mcp(&self) -> String {
        if self.mcp.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{MCP}| {PASSED} | time | below 1 ms |\n|---|--:|---|\n");
        for (name, added) in mcp::CASES.iter().zip(&self.mcp) {
            let in_time = yes(added.in_time);
            text.push_str(&format!("| {name} | {} | {in_time} |\n", hundredths(added.ratio)));
        }
        let missed = mcp::CASES.iter().zip(&self.mcp).filter(|(_, added)| !added.in_time);
        text + &reasons(missed.map(|(name, _)| (*name, mcp::WHY)))
    }

    /// Describes each missed goal.
    pub(crate) fn misses(&self) -> Vec<String> {
        let mut misses: Vec<String> = self.rows.iter().flat_map(|row| row.misses(self.linkage)).collect();
        let over = |(command, ratio)| format!("{command}: {} `git status`", hundredths(ratio));
        misses.extend(self.slow_discards().map(over));
        misses.extend(self.slow_keeps().map(|(name, ratio)| format!("keeping {name}: {} `cp -a`", hundredths(ratio))));
        misses.extend(tables::missed_agents(&self.agents));
        misses.extend(tables::missed_states(&self.states));
        let slow = people::CASES.iter().zip(&self.people).filter(|(_, cost)| !cost.is_within);
        misses.extend(slow.map(|((name, _), _)| format!("rules of the user, {name}: more than half a millisecond")));
        for (name, shares) in modules::TEXTS.iter().zip(&self.modules) {
            let over = modules::MODULES.iter().zip(shares).filter(|(_, share)| **share > 100);
            misses.extend(over.map(|((module, ..), share)| format!("{module} at {name}: {share} % of its time")));
        }
        let slow = SEARCHES.iter().zip(&self.searches).filter(|(_, searched)| !searched.in_time);
        misses.extend(slow.map(|((name, _), _)| format!("a search for {name}: not below 200 ms here")));
        let over = reflexes::ROWS.iter().zip(&self.reflexes).filter(|(_, cost)| cost.ratio > reflexes::MAX_RATIO);
        misses.extend(over.map(|(name, cost)| format!("{name}: {} `/bin/true`", hundredths(cost.ratio))));
        let slow = mcp::CASES.iter().zip(&self.mcp).filter(|(_, added)| !added.in_time);
        misses.extend(slow.map(|(name, _)| format!("reflex mcp, {name}: not below 1 ms here")));
        misses
    }

    /// Parses a rendered page.
    fn parse(text: &str) -> Result<Self> {
        let linkage = text.lines().find_map(|line| {
            let name = line.strip_prefix(BUILD)?.strip_suffix('.')?;
            Linkage::ALL.iter().find(|(_, known)| *known == name).map(|(linkage, _)| *linkage)
        });
        let machine = text.lines().find_map(|line| line.strip_prefix(MACHINE)?.strip_suffix('.'));
        let rows = CALLS.iter().map(|call| Row::parse(call, text).with_context(|| format!("no row for {}", call.name)));
        let cells = |line: &str| line.split('|').skip(1).filter_map(digits).collect::<Vec<u32>>();
        let discards = discard::COMMANDS.iter().map(|command| {
            let line = text.lines().find(|line| line.starts_with(&format!("| `{command}` |")));
            line.and_then(|line| digits(line.split('|').nth(2)?)).with_context(|| format!("no row for {command}"))
        });
        let keeps = keep::CASES.iter().map(|(name, ..)| {
            let line = text.lines().find(|line| line.starts_with(&format!("| {name} |")));
            line.and_then(|line| digits(line.split('|').nth(2)?)).with_context(|| format!("no row for {name}"))
        });
        let table = text.lines().skip_while(|line| !line.starts_with(&format!("| {RULES} |"))).skip(2);
        let dispatches = table.take_while(|line| line.starts_with('|')).filter_map(|line| {
            let mut cells = cells(line).into_iter();
            Some(Dispatch { rules: cells.next()? as usize, instructions: cells.collect() })
        });
        let searched = text.lines().skip_while(|line| !line.starts_with(&format!("| {SOUGHT} |"))).skip(2);
        let searches = searched.take_while(|line| line.starts_with('|')).filter_map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(2);
            Some(Searched { ratio: digits(cells.next()?)?, in_time: cells.next()? == "yes" })
        });
        let table = text.lines().skip_while(|line| !line.starts_with(&format!("| {PEOPLES} |"))).skip(2);
        let people = table.take_while(|line| line.starts_with('|')).filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, _, ratio, within, instructions, ..] = cells.as_slice() else { return None };
            Some(Cost { ratio: digits(ratio)?, is_within: *within == "yes", instructions: digits(instructions)? })
        });
        let shares = text.lines().skip_while(|line| !line.starts_with(&format!("| {TEXT} |"))).skip(2);
        let shares = shares.take_while(|line| line.starts_with('|'));
        let modules = shares.map(|line| line.split('|').skip(2).filter_map(digits).collect());
        let costs = text.lines().skip_while(|line| !line.starts_with(&format!("| {CONFIGURED} |"))).skip(2);
        let costs = costs.take_while(|line| line.starts_with('|')).filter_map(|line| {
            let mut cells = line.split('|').skip(2);
            Some(Spent { ratio: digits(cells.next()?)?, instructions: digits(cells.nth(1)?) })
        });
        let table = text.lines().skip_while(|line| !line.starts_with(&format!("| {PASSED} |"))).skip(2);
        let mcp = table.take_while(|line| line.starts_with('|')).filter_map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(2);
            Some(Added { ratio: digits(cells.next()?)?, in_time: cells.next()? == "yes" })
        });
        Ok(Self {
            mcp: mcp.collect(),
            people: people.collect(),
            reflexes: costs.collect(),
            modules: modules.collect(),
            searches: searches.collect(),
            linkage: linkage.context("no known build is named")?,
            machine: machine.context("no machine is named")?.to_owned(),
            memory: tables::parse_memory(text),
            agents: tables::parse_agents(text),
            states: tables::parse_states(text),
            rows: rows.collect::<Result<_, _>>()?,
            discards: discards.collect::<Result<_, _>>()?,
            keeps: keeps.collect::<Result<_, _>>()?,
            dispatches: dispatches.collect(),
        })
    }
}

impl Row {
    fn parse(call: &'static Call, text: &str) -> Option<Self> {
        let line = text.lines().find(|line| line.starts_with(&format!("| {} | {} |", call.name, call.about)))?;
        let mut cells = line.split('|').map(str::trim).skip(3);
        let ratio = digits(cells.next()?)?;
        let micros = digits(cells.nth(1)?)?;
        let instructions = digits(cells.next()?);
        Some(Self { call, time: Time { ratio, micros }, instructions })
    }

    /// Describes each missed goal.
    pub(crate) fn misses(&self, linkage: Linkage) -> Vec<String> {
        let (name, ratio) = (self.call.name, goal(self.call.kind, linkage));
        let mut misses = Vec::new();
        if self.time.ratio > ratio {
            misses.push(format!("{name}: {} `/bin/true`, not {}", hundredths(self.time.ratio), hundredths(ratio)));
        }
        if let Some(count) = self.instructions.filter(|count| *count > self.call.goal) {
            misses.push(format!("{name}: {} instructions, not {}", millions(count), millions(self.call.goal)));
        }
        misses
    }
}

/// Path of the page.
pub(crate) fn file(root: &Path) -> PathBuf {
    root.join("docs").join("reference").join("speed.md")
}

/// Reads the stored report.
pub(crate) fn read(root: &Path) -> Result<Report> {
    let file = file(root);
    let text = fs::read_to_string(&file).map_err(Error::from);
    text.and_then(|text| Report::parse(&text))
        .with_context(|| format!("cannot read `{}`, which `cargo xtask bench` writes", file.display()))
}

/// Whether the goal for discards applies: not to `rm`, which examines each of its paths.
fn is_discard(command: &str) -> bool {
    command.starts_with("git ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let rows = CALLS.iter().zip([612, 0, 99, 1000, 612, 612, 1, 1, 2501]);
        let counted = |count| if count == 0 { None } else { Some(count) };
        let time = Time { ratio: 97, micros: 1_200 };
        let row = |(call, count)| Row { call, time, instructions: counted(count) };
        let rows = rows.map(row).collect();
        let discards = vec![70, 71, 149, 150];
        let keeps = vec![80, 102];
        let dispatches = [150, 451].map(|rules| Dispatch { rules, instructions: vec![218, 909, 867] });
        let modules = vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8], vec![9, 10, 11, 12]];
        let searches = [(3, true), (71, true), (64, true), (120, false)];
        let searches = searches.map(|(ratio, in_time)| Searched { ratio, in_time }).to_vec();
        let linkage = Linkage::StaticMusl;
        let people = [(150, true), (170, true), (181, false)];
        let cost = |(ratio, is_within): (u32, bool)| Cost { ratio, is_within, instructions: 612 };
        let people = people.into_iter().map(cost).collect();
        let spent = |(ratio, instructions)| Spent { ratio, instructions };
        let reflexes = [(190, Some(1234)), (201, None)].map(spent).to_vec();
        let dispatches = dispatches.into();
        let mcp = [(150, true), (170, false)].map(|(ratio, in_time)| Added { ratio, in_time }).to_vec();
        let report = Report {
            linkage,
            machine: "A processor, Linux 6. `/bin/true` takes 0.612 ms".into(),
            rows,
            memory: Some(time),
            agents: vec![OfAgent { time, instructions: Some(400) }],
            states: vec![Pair { small: 100, large: 110 }],
            discards,
            keeps,
            dispatches,
            people,
            modules,
            reflexes,
            searches,
            mcp,
        };
        let text = report.render();
        let read = Report::parse(&text).unwrap();
        assert_eq!(read.render(), text);
        assert!(text.contains(&format!("\n- deny-home: {}.\n", read.rows[8].call.why)) && !text.contains("- allow-"));
        let dear = "rules of the user, 200 in one file: more than half a millisecond";
        let slow = "a search for two fields and a text that nothing holds: not below 200 ms here";
        let passed = "reflex mcp, the last 1,000 of them: not below 1 ms here";
        let own_reflexes = "three of one's own: 2.01 × `/bin/true`";
        assert_eq!(read.misses(), ["deny-home: 2.501 M instructions, not 2.500 M", dear, slow, own_reflexes, passed]);
    }

    #[test]
    fn a_page_that_somebody_broke_is_an_error() {
        assert!(Report::parse("# Speed\n").is_err());
    }
}
