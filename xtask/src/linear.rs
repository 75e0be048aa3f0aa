//! Checks that work grows linearly with the size of the text: instructions at four sizes of each construct.

mod texts;

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::{CLAUDE, Check, Ground, Hook, has_valgrind};
use crate::project::Project;
use crate::release::{self, Linkage};
use crate::steps::step;
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
one exceeds 1.15. Nested `eval` gets a quarter of each size: 40 levels hold the text 40 times, and what does not fit into the
block of memory that a call begins with costs more.

| construct | 4 KiB | 8 KiB | 16 KiB | 32 KiB | growth |
|---|--:|--:|--:|--:|--:|
";

const FOOT: &str = "\
`cargo xtask linear` measures again and writes this page.
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

    fn line(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|count| format!("{:.1}", f64::from(*count) / 1000.0)).collect();
        format!("| {} | {} | {:.2} |\n", self.construct.name, counts.join(" | "), self.growth())
    }
}

/// Measures and writes the page; an error if a construct exceeds its budget.
pub(crate) fn write(project: &Project, binary: Option<&Path>) -> Result<(), String> {
    if !has_valgrind() {
        println!("skip  linear: valgrind is not there");
        return Ok(());
    }
    let release = release::given_or_built(project, binary)?;
    let ground = step("ground", Ground::prepare)?;
    let binary = &release.binary;
    let mut rows = Vec::new();
    for construct in &CONSTRUCTS {
        let count = |size: &usize| Check { binary, ground: &ground, text: &construct.text(*size) }.instructions();
        let counts = step(construct.name, || SIZES.iter().map(count).collect::<Result<Vec<u32>, String>>())?;
        rows.push(Row { construct, counts });
    }
    let mut page = HEAD.to_owned();
    page.extend(rows.iter().map(Row::line));
    page.push_str(&times(release.linkage, |text| {
        Hook { caller: CLAUDE, binary, ground: &ground, payload: payload(&ground.repo, text) }.ratio()
    })?);
    page.push_str(FOOT);
    println!("{page}");
    let grown: Vec<String> = rows.iter().filter(|row| row.growth() > MAX_GROWTH).map(Row::line).collect();
    if !grown.is_empty() {
        return Err(format!("more than linear:\n{}", grown.concat()));
    }
    let file = file(&project.root);
    fs::write(&file, page).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}

/// Describes the difference if the page is not what this generator writes.
pub(crate) fn stale(project: &Project) -> Result<Option<String>, String> {
    let file = file(&project.root);
    let page = fs::read_to_string(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    let is_complete = CONSTRUCTS.iter().all(|construct| page.contains(&format!("\n| {} | ", construct.name)));
    Ok((!page.starts_with(HEAD) || !is_complete).then(|| format!("{}: run `cargo xtask linear`", file.display())))
}

fn times(linkage: Linkage, ratio: impl Fn(&str) -> Result<u32, String>) -> Result<String, String> {
    let mut part = format!(
        "\n## Large calls\n\nThe median time of the hook divided by that of `/bin/true` with the same input, 20 rounds. Build: {}.\n\n\
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
