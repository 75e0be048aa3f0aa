//! What node gives its scripts is what modules find here: expressions with what node 20 says to them. `UPDATE=1` asks node
//! again.

use reflex_script::{Call, Chain, Limits, Module, ModuleDecision};
use serde_json::json;
use std::fs;
use std::process::Command;
use std::time::Duration;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node.cases");

const IMPORTS: &str = "import util from 'node:util'; import EventEmitter, { once } from 'node:events'; import assert from 'node:assert';
    import qs from 'node:querystring'; import sd from 'node:string_decoder'; import crypto from 'node:crypto'; import * as mod from 'node:module';
    import path from 'node:path'; import buffer, { Buffer } from 'node:buffer'; import process from 'node:process';";

/// What says of an expression what it gives or throws.
fn answer(expression: &str) -> String {
    format!(
        "await (async () => {{ try {{ return String(await ({expression})) }} \
        catch (error) {{ return `throws ${{error.code ?? error.name}}` }} }})()"
    )
}

/// Expressions and what they give, as JSON.
fn cases() -> Vec<(String, String)> {
    let text = fs::read_to_string(CASES).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let of = |two: &[&str]| (two[0].to_owned(), two[1].trim_start().trim_start_matches("=> ").to_owned());
    lines.chunks_exact(2).map(of).collect()
}

fn here(expression: &str) -> String {
    let source = format!(
        "{IMPORTS} export default {{ async onToolCall() {{ return {{ action: 'deny', reason: {} }} }} }}",
        answer(expression)
    );
    let limits = Limits { watchdog: Duration::from_secs(60), ..Limits::default() };
    let outcome = Chain::new(vec![Module::single("x", &source)], limits).run(Call::tool_call(json!({"cwd": "/p"})));
    match &outcome.reports[0].decision {
        Some(Ok(ModuleDecision::Deny { reason })) => json!(reason).to_string(),
        other => format!("{other:?}"),
    }
}

fn in_node(expression: &str) -> String {
    let source = format!("{IMPORTS} console.log(JSON.stringify({}))", answer(expression));
    let output = Command::new("node").args(["--no-warnings", "--input-type=module", "-e", &source]).output().unwrap();
    assert!(output.status.success(), "{expression}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_is_built_in_gives_what_node_gives() {
    let mut cases = cases();
    if std::env::var_os("UPDATE").is_some() {
        cases.iter_mut().for_each(|(expression, expected)| *expected = in_node(expression));
        let text: String =
            cases.iter().map(|(expression, expected)| format!("{expression}\n    => {expected}\n")).collect();
        fs::write(CASES, text).unwrap();
    }
    let differ: Vec<String> = cases
        .iter()
        .map(|(expression, expected)| (expression, expected, here(expression)))
        .filter(|(_, expected, actual)| *expected != actual)
        .map(|(expression, expected, actual)| format!("{expression}\n  node: {expected}\n  here: {actual}\n"))
        .collect();
    assert!(differ.is_empty(), "{} of {} differ\n{}", differ.len(), cases.len(), differ.concat());
}
