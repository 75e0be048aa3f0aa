//! Looping and healthy sessions: `loops/sequences.txt`, run through `reflex eval`.

use crate::support::Machine;
use serde_json::{Value, json};

/// A session: its title, the expected final finding, and its steps.
struct Case<'t> {
    title: &'t str,
    expected: &'t str,
    steps: Vec<Value>,
}

/// `$` runs a command, `>` and `!` are its output on success and on failure, `e`, `w` and `r` edit, write and read a
/// file. `@ N` repeats the following lines, up to an empty line, with `{n}` as the counter.
fn cases(text: &str) -> Vec<Case<'_>> {
    let blocks = text.split("## ").skip(1);
    blocks
        .map(|block| {
            let (title, rest) = block.split_once('\n').unwrap();
            let (expected, lines) = rest.strip_prefix("expect: ").unwrap().split_once('\n').unwrap();
            Case { title, expected, steps: steps(&repeated(lines)) }
        })
        .collect()
}

fn repeated(lines: &str) -> String {
    let Some((count, rest)) = lines.strip_prefix("@ ").and_then(|rest| rest.split_once('\n')) else {
        return lines.into();
    };
    let (body, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let rounds = (0..count.parse::<usize>().unwrap()).map(|n| format!("{body}\n").replace("{n}", &n.to_string()));
    rounds.collect::<String>() + after
}

fn steps(lines: &str) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    let mut outputs: Vec<(usize, bool, Vec<&str>)> = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
        match sign {
            "$" => steps.push(json!({"event": "pre-command", "command": rest})),
            "e" => steps.push(json!({"event": "pre-edit", "files": [path], "content": content})),
            "w" => steps.push(json!({"event": "pre-write", "files": [path], "content": content})),
            "r" => steps.push(json!({"event": "pre-read", "files": [path]})),
            ">" | "!" => match outputs.last_mut().filter(|(step, ..)| step + 1 == steps.len()) {
                Some((_, _, output)) => output.push(rest),
                None => outputs.push((steps.len() - 1, sign == "!", vec![rest])),
            },
            _ => panic!("{line}"),
        }
    }
    for (step, failed, output) in outputs.into_iter().rev() {
        let mut after = steps[step].clone();
        let event = after["event"].as_str().unwrap().replace("pre-", "post-");
        (after["event"], after["output"], after["exit_code"]) =
            (event.into(), output.join("\n").into(), i32::from(failed).into());
        steps.insert(step + 1, after);
    }
    steps
}

/// Returns the loopbreaker's findings in a session, in the order of its steps.
fn found(machine: &Machine, case: &Case<'_>) -> Vec<String> {
    let event = json!({"id": case.title, "event": "sequence", "steps": case.steps});
    let output = machine.reflex(["eval"]).input(format!("{event}\n")).run();
    let verdict: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}: {}", case.title, output.stdout));
    assert_eq!(verdict["error"], Value::Null, "{}", case.title);
    let findings = verdict["findings"].as_array().unwrap().iter();
    let loops = findings.filter(|finding| finding["detector"] == "loopbreaker");
    loops.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn circles_are_found_and_healthy_work_is_left_alone() {
    let machine = Machine::new();
    let cases = cases(include_str!("loops/sequences.txt"));
    let mut problems: Vec<String> = Vec::new();
    for case in &cases {
        let found = found(&machine, case);
        let right = if case.expected == "none" { found.is_empty() } else { found.iter().any(|id| id == case.expected) };
        if !right {
            problems.push(format!("{}: {found:?}, not {}", case.title, case.expected));
        }
    }
    assert!(cases.len() >= 120, "only {} sessions", cases.len());
    assert!(problems.is_empty(), "{} of {} sessions:\n{}", problems.len(), cases.len(), problems.join("\n"));
}
