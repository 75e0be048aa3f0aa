//! Inputs of up to a megabyte: what judging each may cost at most.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::texts::base64;
use crate::ground::Ground;
use crate::measure::{CLAUDE, Caller, Count, Eval, Hook};
use std::path::Path;

use anyhow::Result;

/// Maximum for the result of a tool, in thousands of instructions. The goal is 400,000.
const MAX_OF_RESULT: u32 = 700_000;

/// Maximum for a call of up to 64 KiB and for each further KiB, in thousands of instructions. The budget of work grows by
/// 900 with each KiB; reading a call and writing what a person is asked about take as much again.
const MAX_OF_CALL: u32 = 700_000;
const MAX_OF_KIB: u32 = 1_800;

/// Sizes in KB of the nested JSON.
const NESTED: [usize; 3] = [64, 256, 900];

/// Growth in percent that counts as noise between the page and a check.
const NOISE_PERCENT: u32 = 15;

/// Words of the hook if its watchdog ends a judgement, before and after a tool.
const WATCHDOG: [&str; 2] = ["Reflex failed before it could judge", "did not finish checking"];

/// Mark of a count that ended before the judgement did.
const MORE: &str = "> ";
const UNFINISHED: &str = "`reflex eval` gave up after a minute; count again on a quiet machine";

/// Claude Code after a tool has run.
const AFTER: Caller = Caller { agent: CLAUDE.agent, event: "PostToolUse" };

/// A large input.
pub(super) struct Input {
    /// Name on the page.
    pub(super) name: String,
    /// Whether `linear --check` counts it: it takes a few seconds at most.
    pub(super) is_cheap: bool,
    kind: Kind,
}

enum Kind {
    /// A command.
    Command(String),
    /// A file of the agent's settings with this content.
    Settings(String),
    /// The output of a command.
    Result(String),
    /// `git status` in this folder.
    Folder(String),
}

/// The measurement of an input.
pub(super) struct Measured {
    /// The count of instructions.
    pub(super) count: Count,
    /// Whether the hook answered in time with the same input.
    pub(super) in_time: bool,
}

/// Every input, in the order of the page.
pub(super) fn inputs() -> Vec<Input> {
    const MEGABYTE: usize = 1 << 20;
    let result = |name: &str, text: String| input(name, Kind::Result(text));
    let command = |name: &str, text: String| input(name, Kind::Command(text));
    let mut inputs = vec![
        result("result: 1 MB of prose with orders to a model", prose(MEGABYTE)),
        result(
            "result: 1 MB of code",
            "    let value = compute(&item, 42)?; // returns the sum\n".repeat(MEGABYTE / 56),
        ),
        result("result: 1 MB of log lines", log(MEGABYTE)),
        result("result: 1 MB of JSON", list(MEGABYTE)),
        result("result: 1 MB of base64", base64(&noise(MEGABYTE / 4 * 3))),
        command("64 KB of `find . -exec ls {} \\;…`", format!("find . {}", "-exec ls {} \\; ".repeat(4_300))),
        command("64 KB of `find . -exec rm {} \\;…`", format!("find . {}", "-exec rm {} \\; ".repeat(4_300))),
    ];
    inputs.extend(NESTED.map(|size| input(&nested(size), Kind::Settings(objects(size * 1000)))));
    inputs.extend([
        command("`rm -rf` of 60,000 × `s*/0*`", format!("rm -rf {}", "s*/0* ".repeat(60_000))),
        command("900 KB of `find . -name a -o -name a…`", format!("find . -name a {}", "-o -name a ".repeat(81_800))),
        command("`git add` of 100,000 files", format!("git add {}", names())),
        command("`mv` of 100,000 files", format!("mv {} d", names())),
        command("`git push origin` of 100,000 refs", format!("git push origin {}", names())),
        input("`git status` in a folder whose path has 400 KB", Kind::Folder("/a".repeat(200_000))),
    ]);
    inputs
}

/// The inputs that a check counts.
const CHEAP: [&str; 4] = [
    "result: 1 MB of base64",
    "64 KB of `find . -exec ls {} \\;…`",
    "nested JSON objects of 64 KB in the agent's settings",
    "`git status` in a folder whose path has 400 KB",
];

fn input(name: &str, kind: Kind) -> Input {
    Input { name: name.to_owned(), is_cheap: CHEAP.contains(&name), kind }
}

fn nested(size: usize) -> String {
    format!("nested JSON objects of {size} KB in the agent's settings")
}

impl Input {
    /// Counts the judgement by `reflex eval`, because the hook's watchdog would end the count, and runs the hook.
    pub(super) fn measure(&self, binary: &Path, ground: &Ground) -> Result<Measured> {
        Ok(Measured { count: self.count(binary, ground)?, in_time: self.is_in_time(binary, ground)? })
    }

    /// Counts the instructions of `reflex eval` for the input.
    pub(super) fn count(&self, binary: &Path, ground: &Ground) -> Result<Count> {
        Eval { binary, ground, event: &self.event(ground).to_string() }.count()
    }

    fn is_in_time(&self, binary: &Path, ground: &Ground) -> Result<bool> {
        let caller = if matches!(self.kind, Kind::Result(_)) { AFTER } else { CLAUDE };
        let hook = Hook { caller, binary, ground, payload: self.payload(ground).to_string() };
        let answer = hook.answer()?.shown();
        Ok(!WATCHDOG.iter().any(|words| answer.contains(words)))
    }

    /// Maximum of instructions, in thousands.
    pub(super) fn limit(&self) -> u32 {
        let bytes = match &self.kind {
            Kind::Result(_) => return MAX_OF_RESULT,
            Kind::Command(text) | Kind::Settings(text) | Kind::Folder(text) => text.len(),
        };
        let further = u32::try_from((bytes / 1024).saturating_sub(64)).unwrap_or(u32::MAX);
        MAX_OF_CALL.saturating_add(further.saturating_mul(MAX_OF_KIB))
    }

    /// The universal event.
    fn event(&self, ground: &Ground) -> Value {
        let mut event = match &self.kind {
            Kind::Command(text) => json!({"event": "pre-command", "command": text}),
            Kind::Settings(text) => json!({"event": "pre-write", "path": settings(ground), "content": text}),
            Kind::Result(text) => json!({"event": "post-command", "command": "cat log.txt", "output": text}),
            Kind::Folder(_) => json!({"event": "pre-command", "command": "git status"}),
        };
        if let Value::Object(fields) = &mut event {
            fields.extend(object(json!({"cwd": self.folder(ground), "home": ground.home})));
        }
        event
    }

    /// Claude Code's payload.
    fn payload(&self, ground: &Ground) -> Value {
        let (tool, input) = match &self.kind {
            Kind::Command(text) => ("Bash", json!({"command": text})),
            Kind::Settings(text) => ("Write", json!({"file_path": settings(ground), "content": text})),
            Kind::Result(_) => ("Bash", json!({"command": "cat log.txt"})),
            Kind::Folder(_) => ("Bash", json!({"command": "git status"})),
        };
        let mut payload = object(json!({
            "session_id": "s2", "transcript_path": "/t", "cwd": self.folder(ground), "permission_mode": "default",
            "hook_event_name": CLAUDE.event, "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        }));
        if let Kind::Result(text) = &self.kind {
            let response = json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false});
            payload.extend(object(json!({"hook_event_name": AFTER.event, "tool_response": response})));
        }
        payload.into()
    }

    fn folder(&self, ground: &Ground) -> String {
        match &self.kind {
            Kind::Folder(path) => path.clone(),
            Kind::Command(_) | Kind::Settings(_) | Kind::Result(_) => ground.repo.to_string_lossy().into_owned(),
        }
    }

    /// The row of the page.
    pub(super) fn line(&self, measured: &Measured) -> String {
        let counted = measured.count.thousands;
        let more = if measured.count.is_complete { "" } else { MORE };
        let millions = format!("{more}{}.{}", counted / 1000, counted % 1000 / 100);
        let in_time = if measured.in_time { "yes" } else { "no" };
        format!("| {} | {millions} | {} | {in_time} |\n", self.name, self.limit() / 1000)
    }

    /// Describes what exceeds a limit.
    pub(super) fn problems(&self, measured: &Measured) -> Vec<String> {
        let mut problems = Vec::new();
        if !measured.count.is_complete {
            problems.push(format!("{}: {UNFINISHED}", self.name));
        }
        if measured.count.thousands > self.limit() {
            let (counted, limit) = (measured.count.thousands / 1000, self.limit() / 1000);
            problems.push(format!("{}: {counted} M instructions, the limit is {limit} M", self.name));
        }
        if !measured.in_time {
            problems.push(format!("{}: the hook meets its watchdog", self.name));
        }
        problems
    }

    /// Describes how a new count exceeds the limit or the page.
    pub(super) fn grown(&self, page: &str, count: Count) -> Option<String> {
        if !count.is_complete {
            return Some(format!("{}: {UNFINISHED}", self.name));
        }
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {} | ", self.name)));
        let Some(before) = row.and_then(|row| super::tenths(row.trim_start_matches(MORE))) else {
            return Some(format!("no row for {}", self.name));
        };
        // An input that exceeds its limit on the page may not grow either.
        let limit = (before + before / 100 * NOISE_PERCENT).min(self.limit().max(before));
        let (now, limit) = (count.thousands / 1000, limit / 1000);
        (now > limit).then(|| format!("{}: {now} M instructions, at most {limit} M are expected", self.name))
    }
}

/// The growth exponents of nested JSON between neighbouring sizes.
pub(super) fn growths(inputs: &[Input], measured: &[Measured]) -> Vec<f64> {
    let count = |size: usize| {
        let all = inputs.iter().zip(measured);
        all.clone()
            .find(|(input, _)| input.name == nested(size))
            .map(|(_, measured)| f64::from(measured.count.thousands))
    };
    let growth = |(small, large): (&usize, &usize)| {
        let sizes = (*large as f64 / *small as f64).log2();
        Some((count(*large)? / count(*small)?).log2() / sizes)
    };
    NESTED.iter().zip(NESTED.iter().skip(1)).filter_map(growth).collect()
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(fields) = value { fields } else { Map::new() }
}

fn settings(ground: &Ground) -> String {
    ground.repo.join(".claude/settings.json").to_string_lossy().into_owned()
}

fn names() -> String {
    let mut names = String::new();
    for number in 0..100_000 {
        let _ = write!(names, "a{number} ");
    }
    names.truncate(names.trim_end().len());
    names
}

/// JSON objects in each other, of this size in bytes.
fn objects(bytes: usize) -> String {
    let depth = bytes / "{\"a\":}".len();
    format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
}

/// A list of JSON objects of about this size in bytes.
fn list(bytes: usize) -> String {
    let item = |id: usize| json!({"id": id, "name": format!("item {id}"), "tags": ["a", "b"], "ok": true});
    Value::from((0..bytes / 62).map(item).collect::<Vec<_>>()).to_string()
}

fn log(bytes: usize) -> String {
    let line = |id: usize| {
        let (minute, second, took) = (id % 60, id % 59, id % 977);
        format!("2026-11-24T10:{minute:02}:{second:02}Z INFO server request id={id:08x} took {took} ms status=200\n")
    };
    (0..bytes / 78).map(line).collect()
}

/// Words in an order without a pattern, among them those of orders to a model.
fn prose(bytes: usize) -> String {
    const WORDS: [&str; 24] = [
        "the",
        "function",
        "returns",
        "error",
        "value",
        "of",
        "line",
        "test",
        "ignore",
        "previous",
        "instructions",
        "file",
        "run",
        "please",
        "system",
        "data",
        "{",
        "}",
        "=",
        "fn",
        "0x1f",
        "https://e.x/a",
        "tool",
        "user",
    ];
    let mut text = String::new();
    for (number, byte) in noise(bytes / 4).into_iter().enumerate() {
        text.push_str(WORDS.get(usize::from(byte) % WORDS.len()).unwrap_or(&""));
        text.push(if number % 12 == 11 { '\n' } else { ' ' });
    }
    text.truncate(bytes);
    text
}

/// Bytes without a pattern, the same in every run: a linear congruential generator with Knuth's constants for MMIX.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_as_large_as_their_names_say() {
        let length = |input: &Input| match &input.kind {
            Kind::Command(text) | Kind::Settings(text) | Kind::Result(text) | Kind::Folder(text) => text.len(),
        };
        for input in inputs().iter().filter(|input| input.name.contains("1 MB")) {
            assert!((950_000..1_060_000).contains(&length(input)), "{}: {}", input.name, length(input));
        }
        for (mark, bytes) in [("64 KB", 64_000), ("256 KB", 256_000), ("400 KB", 400_000), ("900 KB", 900_000)] {
            for input in inputs().iter().filter(|input| input.name.contains(mark)) {
                assert!(length(input).abs_diff(bytes) < bytes / 50, "{}: {}", input.name, length(input));
            }
        }
    }

    #[test]
    fn a_check_counts_some_of_the_inputs() {
        assert_eq!(inputs().iter().filter(|input| input.is_cheap).count(), CHEAP.len());
    }

    #[test]
    fn growth_is_an_exponent() {
        let measured = |thousands| Measured { count: Count { thousands, is_complete: true }, in_time: true };
        let inputs = NESTED.map(|size| input(&nested(size), Kind::Settings(String::new())));
        let growths = growths(&inputs, &[64, 256, 900].map(measured));
        assert!(growths.len() == 2 && growths.iter().all(|growth| (growth - 1.0).abs() < 1e-6), "{growths:?}");
    }

    #[test]
    fn a_count_beyond_the_page_or_the_limit_is_a_problem() {
        let one = input("a", Kind::Command(String::new()));
        let count = |thousands| Count { thousands, is_complete: true };
        let grown = |page: &str, thousands| one.grown(page, count(thousands)).is_some();
        assert!(one.grown("| a | 100.0 | 450 | yes |", Count { is_complete: false, ..count(1) }).is_some());
        assert_eq!(
            [grown("| a | 100.0 | 450 | yes |", 114_000), grown("| a | 100.0 | 450 | yes |", 117_000)],
            [false, true]
        );
        assert_eq!(
            [grown("| a | 690.0 | 700 | yes |", 710_000), grown("| a | 900.0 | 700 | yes |", 900_000)],
            [true, false]
        );
        assert!(grown("", 1));
    }
}
