//! Checks that work grows linearly with the size of the text: instructions at four sizes of each construct.

mod bounded;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::ground::Ground;
use crate::measure::{CLAUDE, Check, Hook, has_valgrind};
use bounded::{Input, Measured, growths};
use tasks::project::Project;
use tasks::release::{self, Linkage};
use tasks::steps::step;
use texts::{CONSTRUCTS, Construct};

/// Sizes of the text in bytes, each twice the previous.
const SIZES: [usize; 4] = [4 * 1024, 8 * 1024, 16 * 1024, 32 * 1024];

/// Doubling the text may multiply the instructions by 2 to the power of this: sorted maps cost slightly more than
/// linear.
const MAX_GROWTH: f64 = 1.15;

const HEAD: &str = "\
<!-- Written by `cargo xtask linear`; do not edit. -->

# Limits

What a call may cost at most. Limits are counted and not timed, and what lies beyond one is a gap, which is asked about.

| limit | is |
|---|--:|
| bytes of a payload | 16 MiB |
| commands of a text | 8,192 |
| statements that are walked, loops and functions as often as they run | 50,000 |
| bytes that expansions and outputs make, in all | 4 MiB |
| constructs in each other, as they are parsed | 60 |
| functions, derived texts and wrappers in each other | 40 |
| lists in each other, over all functions and derived texts | 120 |
| scripts that run each other, one after the other | 64 |
| scripts and tasks that are read for one call | 512 |
| bytes of a file that is run | 1 MiB |
| targets of a command inside the project, and as many outside | 2,048 |
| targets of a call, likewise | 20,000 |
| levels of an agent's settings that are distinguished | 64 |
| units of work of one call, about a thousand instructions or 128 bytes of memory each | 300,000 |
| further units for each KiB that a call brings beyond 64 KiB | 900 |
| bytes of a text that is searched completely for orders to a model | 1,280 KiB |
| of a longer one: its begin, its end, and 64 windows of 4 KiB between them | 512 KiB each |
| seconds of the watchdog: of a hook by the processor and by the clock, of `check`, `explain` and each event of `eval` | 2, 8, 60 |

All readers, detectors and listings of one call draw from one budget of work. Where it ends before the call is understood,
what was understood is judged with a quarter of it that is kept back, and the call is asked about
(`judgement/too-much`). So is one of which orders (scripts, recipes, aliases) exceed another limit: the question names
it. After a tool both are reported. So is the part of a long text that was not searched (`injection/unread`).

## Work grows with the text

`reflex check` is given texts of 4, 8, 16 and 32 KiB in which one construct repeats; callgrind counts all instructions, in
millions. *growth* is the greatest exponent between neighbours: 1 is linear, 2 is quadratic. The page is not written if
one exceeds 1.15, which sorted maps explain. Nested `eval` gets a quarter of each size: 40 levels hold the text 40 times,
and what does not fit into the block of memory that a call begins with costs more.

| construct | 4 KiB | 8 KiB | 16 KiB | 32 KiB | growth |
|---|--:|--:|--:|--:|--:|
";

const BOUNDED: &str = "
## Inputs of up to a megabyte

Instructions of `reflex eval` for one event, in millions, and their limit: 700 for the result of a tool, else 700 and 1.8 for
each KiB beyond 64; `>` if `eval` gave up under callgrind. *in time*: `reflex hook` with the same input does not meet its
watchdog.

";

const LARGE: &str = "\n## Large calls\n\n";

/// Head of the table of these inputs.
const BOUNDED_HEAD: &str = "| input | instructions | limit | in time |\n|---|--:|--:|---|\n";

/// The constructs and the number of sizes that a check counts.
const CHECKED: [&str; 5] = ["words", "commands", "variables", "a heredoc", "passwords"];
const CHECKED_SIZES: usize = 2;

/// Growth in percent that counts as noise between the page and a check.
const NOISE_PERCENT: u32 = 15;

const FOOT: &str = "\
`cargo xtask linear` measures again and writes this page. `cargo xtask linear --check` counts some of it again and fails if
something needs 15 % more than listed here, exceeds its limit, or grows faster.
";

/// The counts of one construct.
struct Row {
    construct: &'static Construct,
    /// Thousands of instructions, by size.
    counts: Vec<u32>,
}

impl Row {
    fn growth(&self) -> f64 {
        let pairs = self.counts.iter().zip(self.counts.iter().skip(1));
        pairs.map(|(small, large)| (f64::from(*large) / f64::from(*small)).log2()).fold(0.0, f64::max)
    }

    /// Describes how the counts exceed those of the page, or grow faster than the text.
    fn problems(&self, page: &str) -> Vec<String> {
        let name = self.construct.name;
        let mut problems = Vec::new();
        if self.growth() > MAX_GROWTH {
            problems.push(format!("{name}: grows by {:.2}", self.growth()));
        }
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        let before: Vec<u32> = row.into_iter().flat_map(|row| row.split('|')).map_while(tenths).collect();
        if before.len() < self.counts.len() {
            problems.push(format!("no row for {name}"));
        }
        let pairs = before.iter().zip(&self.counts);
        let grown = pairs.filter(|(before, now)| **now > **before + **before / 100 * NOISE_PERCENT);
        problems.extend(grown.map(|(before, now)| {
            let shown = |count: &u32| format!("{:.1} M", f64::from(*count) / 1000.0);
            format!("{name}: {} instructions, the page says {}", shown(now), shown(before))
        }));
        problems
    }

    fn line(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|count| format!("{:.1}", f64::from(*count) / 1000.0)).collect();
        format!("| {} | {} | {:.2} |\n", self.construct.name, counts.join(" | "), self.growth())
    }
}

/// Measures and writes the page; an error if a construct exceeds its budget.
pub fn write(project: &Project, binary: Option<&Path>) -> Result<()> {
    if !has_valgrind() {
        println!("skip  linear: valgrind is not there");
        return Ok(());
    }
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let binary = &release.binary;
    let rows = CONSTRUCTS.iter().map(|construct| counted(construct, &SIZES, (binary, &ground)));
    let rows = rows.collect::<Result<Vec<Row>>>()?;
    let (part, of_inputs) = inputs(binary, &ground)?;
    let mut page = HEAD.to_owned();
    page.extend(rows.iter().map(Row::line));
    page.push_str(&part);
    page.push_str(&times(release.linkage, |text| {
        Hook { caller: CLAUDE, binary, ground: &ground, payload: payload(&ground.repo, text) }.ratio()
    })?);
    page.push_str(FOOT);
    println!("{page}");
    let grown = rows.iter().filter(|row| row.growth() > MAX_GROWTH);
    let mut problems: Vec<String> = grown.map(|row| format!("more than linear: {}", row.line().trim_end())).collect();
    problems.extend(of_inputs);
    finish(project, &page, &problems)
}

/// Measures the large inputs only, and leaves the rest of the page unchanged.
pub fn write_inputs(project: &Project, binary: Option<&Path>) -> Result<()> {
    if !has_valgrind() {
        println!("skip  linear: valgrind is not there");
        return Ok(());
    }
    let page = read(project)?;
    let (before, rest) = page.split_once(BOUNDED).context("the page has no section about large inputs")?;
    let (_, after) = rest.split_once(LARGE).context("the page has no section about large calls")?;
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let (part, problems) = inputs(&release.binary, &ground)?;
    println!("{part}");
    finish(project, &format!("{before}{part}{LARGE}{after}"), &problems)
}

/// Measures the large inputs: the section about them, and what exceeds a limit.
fn inputs(binary: &Path, ground: &Ground) -> Result<(String, Vec<String>)> {
    let inputs = bounded::inputs();
    let measured = inputs.iter().map(|input| step(&input.name, || input.measure(binary, ground)));
    let measured = measured.collect::<Result<Vec<Measured>>>()?;
    let all = inputs.iter().zip(&measured);
    let mut problems: Vec<String> = all.flat_map(|(input, measured)| input.problems(measured)).collect();
    let grown = growths(&inputs, &measured).into_iter().filter(|growth| *growth > MAX_GROWTH);
    problems.extend(grown.map(|growth| format!("nested JSON grows by {growth:.2}")));
    Ok((section(&inputs, &measured), problems))
}

/// Writes the page, unless something exceeds a limit.
fn finish(project: &Project, page: &str, problems: &[String]) -> Result<()> {
    if !problems.is_empty() {
        bail!(problems.join("\n"));
    }
    let file = file(&project.root);
    fs::write(&file, page).with_context(|| format!("cannot write `{}`", file.display()))
}

/// Counts a few constructs and inputs again: an error if one takes far more than the page states, or than its limit.
pub fn check(project: &Project, binary: Option<&Path>) -> Result<()> {
    if !has_valgrind() {
        println!("skip  linear: valgrind is not there");
        return Ok(());
    }
    let page = read(project)?;
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let mut problems = Vec::new();
    let sizes = SIZES.get(..CHECKED_SIZES).unwrap_or(&SIZES);
    for construct in CONSTRUCTS.iter().filter(|construct| CHECKED.contains(&construct.name)) {
        problems.extend(counted(construct, sizes, (&release.binary, &ground))?.problems(&page));
    }
    for input in bounded::inputs().iter().filter(|input| input.is_cheap) {
        let count = step(&input.name, || input.count(&release.binary, &ground))?;
        problems.extend(input.grown(&page, count));
    }
    ensure!(problems.is_empty(), problems.join("\n"));
    Ok(())
}

/// Counts a construct at each of these sizes.
fn counted(construct: &'static Construct, sizes: &[usize], (binary, ground): (&Path, &Ground)) -> Result<Row> {
    let count = |size: &usize| Check { binary, ground, text: &construct.text(*size) }.instructions();
    let counts = step(construct.name, || sizes.iter().map(count).collect::<Result<Vec<u32>>>())?;
    Ok(Row { construct, counts })
}

/// The section about large inputs.
fn section(inputs: &[Input], measured: &[Measured]) -> String {
    let mut part = format!("{BOUNDED}{BOUNDED_HEAD}");
    part.extend(inputs.iter().zip(measured).map(|(input, measured)| input.line(measured)));
    let growths: Vec<String> = growths(inputs, measured).iter().map(|growth| format!("{growth:.2}")).collect();
    part + &format!("\nGrowth of nested JSON from size to size: {}. It may be {MAX_GROWTH}.\n", growths.join(" and "))
}

/// Parses millions with one decimal as thousands.
fn tenths(cell: &str) -> Option<u32> {
    let (millions, tenth) = cell.split('|').next()?.trim().split_once('.')?;
    Some(millions.parse::<u32>().ok()? * 1000 + tenth.parse::<u32>().ok().filter(|_| tenth.len() == 1)? * 100)
}

fn read(project: &Project) -> Result<String> {
    let file = file(&project.root);
    fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))
}

/// Describes the difference if the page is not what this generator writes.
pub fn stale(project: &Project) -> Result<Option<String>> {
    let page = read(project)?;
    let has_row = |name: &str| page.contains(&format!("\n| {name} | "));
    let is_complete = CONSTRUCTS.iter().all(|construct| has_row(construct.name))
        && bounded::inputs().iter().all(|input| has_row(&input.name))
        && page.contains(&format!("{BOUNDED}{BOUNDED_HEAD}"))
        && page.ends_with(FOOT);
    let file = file(&project.root);
    Ok((!page.starts_with(HEAD) || !is_complete).then(|| format!("{}: run `cargo xtask linear`", file.display())))
}

fn times(linkage: Linkage, ratio: impl Fn(&str) -> Result<u32>) -> Result<String> {
    let mut part = format!(
        "{LARGE}The median time of the hook divided by that of `/bin/true` with the same input, 20 rounds. Build: {}.\n\n\
         | call | time |\n|---|--:|\n",
        linkage.name()
    );
    for (name, text) in texts::large() {
        let ratio = step(name, || ratio(&text))?;
        part.push_str(&format!("| {name} | {}.{:02} × |\n", ratio / 100, ratio % 100));
    }
    part.push('\n');
    Ok(part)
}

fn payload(folder: &Path, text: &str) -> String {
    let payload = serde_json::json!({
        "session_id": "s1", "transcript_path": "/t", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": text},
    });
    payload.to_string()
}

fn file(root: &Path) -> PathBuf {
    root.join("docs").join("reference").join("limits.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_page_are_read() {
        assert_eq!(["1.9 ", " 290.7 | 514.5", "0.95", "x"].map(tenths), [Some(1_900), Some(290_700), None, None]);
    }

    #[test]
    fn a_check_counts_constructs_of_the_page() {
        assert!(CHECKED.iter().all(|name| CONSTRUCTS.iter().any(|construct| construct.name == *name)));
    }

    #[test]
    fn growth_beyond_the_page_is_a_problem() {
        let row = |counts: [u32; 2]| Row { construct: &CONSTRUCTS[0], counts: counts.to_vec() };
        let page = "| words | 2.0 | 4.0 | 8.0 | 16.0 | 1.00 |\n";
        let problems = |counts| row(counts).problems(page).len();
        assert_eq!([problems([2_200, 4_400]), problems([2_400, 4_400]), problems([1_000, 4_400])], [0, 1, 1]);
        assert_eq!(row([1, 2]).problems("").len(), 1);
    }
}
