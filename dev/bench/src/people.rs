//! Cost of users' rules for a call that none of them matches: no rules, 200 in as many files, 200 in one file.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use super::ground::Ground;
use super::measure::{CLAUDE, Hook, has_valgrind, medians};
use super::payloads;

/// Number of rules.
const RULES: usize = 200;

/// Maximum time in seconds that the rules may add to a call.
const MAX_ADDED: f64 = 0.0005;

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "each file of rules is looked at in every call, because it may have changed";

/// Name in the report, and number of files.
pub(crate) const CASES: [(&str, usize); 3] = [("none", 0), ("200 in 200 files", RULES), ("200 in one file", 1)];

/// Pause before measuring: recently changed files are read at every call until the clock has moved on.
pub(super) const REST: Duration = Duration::from_secs(5);

/// The measurement of one of [`CASES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Time in hundredths of that of a program that does nothing.
    pub(crate) ratio: u32,
    /// Whether the goal is met.
    pub(crate) is_within: bool,
    /// Thousands of instructions; 0 if they could not be counted.
    pub(crate) instructions: u32,
}

/// Measures all cases in turns.
pub(crate) fn measure(binary: &Path) -> Result<Vec<Cost>> {
    let grounds: Vec<Ground> =
        CASES.iter().map(|(_, files)| Ground::with_rules(*files, &texts(*files))).collect::<Result<_, _>>()?;
    let hooks: Vec<Hook<'_>> = grounds
        .iter()
        .map(|ground| Hook { caller: CLAUDE, binary, ground, payload: payloads::shell("git status", &ground.repo) })
        .collect();
    thread::sleep(REST);
    for hook in &hooks {
        // The first call compiles the rules.
        hook.answer()?;
        let answer = hook.answer()?;
        if !answer.is_silent() {
            bail!("rules that say nothing: the hook answers `{}`", answer.shown());
        }
    }
    let mut medians = medians(&hooks)?;
    let nothing = medians.pop().unwrap_or_default();
    let none = medians.first().copied().unwrap_or_default();
    let cost = |(hook, median): (&Hook<'_>, &f64)| {
        let instructions = if has_valgrind() { hook.instructions()? } else { 0 };
        Ok(Cost {
            ratio: (median / nothing * 100.0).round() as u32,
            is_within: median - none <= MAX_ADDED,
            instructions,
        })
    };
    hooks.iter().zip(&medians).map(cost).collect()
}

/// The rules, distributed over this number of files.
fn texts(files: usize) -> Vec<String> {
    let rules: Vec<String> = (0..RULES).map(rule).collect();
    match files {
        0 => Vec::new(),
        files => rules.chunks(RULES.div_ceil(files)).map(|rules| rules.join("---\n")).collect(),
    }
}

/// A rule about files with this number.
pub(super) fn of_files(number: usize) -> String {
    rule(number * 4 + 3)
}

/// A realistic rule: three in four are about commands, one is about files.
fn rule(number: usize) -> String {
    let (events, condition) = match number % 4 {
        0 => ("bash_command", format!("{{field: command, op: matches, pattern: 'git push --force{number}*'}}")),
        1 => ("bash_command", format!("{{field: command, op: contains, pattern: danger-{number}}}")),
        2 => ("bash_command", format!("{{field: command, op: regex, pattern: '\\bdeploy{number}\\b'}}")),
        _ => ("file_write, file_edit", format!("{{field: file_path, op: matches, pattern: 'secret{number}/*'}}")),
    };
    format!(
        "name: team-rule-{number}\nversion: 1.0.0\ntier: custom\ncategory: quality\ndescription: Rule {number} of the \
         team\nevents: [{events}]\nconditions:\n  - {condition}\naction: block\nseverity: high\nmessage: 'rule \
         {number} speaks against {{{{cwd}}}}'\n"
    )
}
