//! Modules that are Reflex's own text follow each other in one interpreter: what each says is what it says alone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, unsafe_code, reason = "a test that cannot go on shall stop")]

use reflex_script::{Call, Chain, Code, Limit, Limits, Manifest, Module, ModuleDecision, Outcome, Problem, Report};
use reflex_types::{Compiled, Needs, compile};
use serde_json::json;

/// A module of ours with options and with what its manifest reads.
fn ours(name: &str, body: &str) -> Module {
    of_source(name, &format!("export default {{ name: '{name}', onToolCall(ctx) {{ {body} }} }}"))
}

fn of_source(name: &str, source: &str) -> Module {
    let raw = json!({"events": ["onToolCall"], "capabilities": {"decisions": ["deny", "ask"], "reads": ["options"]}});
    let code = compile(&format!("ours:{name}/index.js"), source).unwrap();
    // SAFETY: it was made by this build's compiler just now.
    let code = unsafe { Compiled::trusted(code.leak()) };
    Module {
        code: Some(Code { files: vec![("index.js", code)].leak(), needs: Needs::from_source(source) }),
        is_ours: true,
        files: Vec::new(),
        options: json!({ "of": name }),
        manifest: raw.as_object().map(Manifest::from_json),
        ..Module::single(name, source)
    }
}

fn limits() -> Limits {
    Limits { ticks: 300, leave: true, ..Limits::default() }
}

fn asked(modules: Vec<Module>) -> Outcome {
    let context = json!({"tool": "Bash", "command": "ls", "cwd": "/p"});
    Chain::new(modules, limits()).run(Call::tool_call(context))
}

fn describe(report: &Report) -> String {
    match &report.decision {
        Some(Ok(decision)) => decision.name().to_owned(),
        Some(Err(problem)) => problem.to_string(),
        None => "nothing".to_owned(),
    }
}

#[track_caller]
fn check(modules: Vec<Module>, expected: &[&str]) {
    let outcome = asked(modules);
    assert_eq!(outcome.reports.iter().map(describe).collect::<Vec<_>>(), expected);
}

const PASS: &str = "return { action: 'pass' }";

#[test]
fn each_sees_its_own_options_and_nothing_that_it_does_not_read() {
    let body = "if (ctx.command !== undefined) throw 1; return { action: 'ask', reason: ctx.options.of }";
    let outcome = asked(vec![ours("a", body), ours("b", body)]);
    assert_eq!(outcome.decision, ModuleDecision::Ask { reason: "a".into() });
    assert_eq!(outcome.after, Some((1, ModuleDecision::Ask { reason: "b".into() })));
}

#[test]
fn one_that_fails_stops_no_other() {
    let failed = "it failed: no";
    check(vec![ours("a", PASS), ours("b", "throw new Error('no')"), ours("c", PASS)], &["pass", failed, "pass"]);
    let steps = "it was cut at its limit of steps";
    check(vec![ours("a", "for (;;) {}"), ours("b", PASS), ours("c", "for (;;) {}")], &[steps, "pass", steps]);
    let memory = "it was cut at its limit of memory";
    let bomb = "const all = []; for (;;) all.push('x'.repeat(65536) + all.length)";
    check(vec![ours("a", bomb), ours("b", PASS), ours("c", bomb)], &[memory, "pass", memory]);
}

#[test]
fn what_one_leaves_waiting_does_not_run_for_the_next() {
    let waits = "Promise.resolve().then(() => { for (;;) {} }); return { action: 'pass' }";
    check(vec![ours("a", waits), ours("b", "return Promise.resolve({ action: 'pass' })")], &["pass", "pass"]);
}

#[test]
fn what_one_keeps_counts_not_for_the_next() {
    let body = "kept.push('x'.repeat(20 << 20)); return { action: 'pass' }";
    let source = format!("const kept = []; export default {{ onToolCall() {{ {body} }} }}");
    let keeps = |name: &str| of_source(name, &source);
    check(vec![keeps("a"), keeps("b"), keeps("c")], &["pass", "pass", "pass"]);
}

#[test]
fn others_between_them_have_interpreters_of_their_own_and_the_order_stays() {
    let spoils = "export default { onToolCall() { globalThis.spoilt = Object.prototype.action = 'deny'; \
        return { action: 'ask', reason: 'other' } } }";
    let looks = "return { action: typeof spoilt === 'undefined' && !({}).action ? 'deny' : 'ask', reason: 'ours' }";
    let outcome = asked(vec![ours("a", PASS), Module::single("other", spoils), ours("b", looks)]);
    assert_eq!((outcome.by, outcome.decision), (Some(1), ModuleDecision::Ask { reason: "other".into() }));
    assert_eq!(outcome.after, Some((2, ModuleDecision::Deny { reason: "ours".into() })));
}

#[test]
fn what_costs_something_is_worked_out_once_for_all() {
    let asked = std::cell::Cell::new(0);
    let lazily = |_: &str| {
        asked.set(asked.get() + 1);
        json!({"commands": ["ls"]})
    };
    let body = "return { action: ctx.reflex.commands[0] === 'ls' ? 'pass' : 'deny' }";
    let reads = |name: &str| Module { manifest: None, ..ours(name, body) };
    let other = Module::single("c", &format!("export default {{ onToolCall(ctx) {{ {body} }} }}"));
    let call = Call { lazy: &["reflex"], ..Call::tool_call(json!({"tool": "Bash"})) };
    let outcome = Chain::new(vec![reads("a"), other, reads("b")], limits()).run_with(call, &lazily);
    assert_eq!(outcome.reports.iter().map(describe).collect::<Vec<_>>(), ["pass", "pass", "pass"]);
    assert_eq!(asked.get(), 1);
}

#[test]
fn one_that_takes_timers_or_files_is_asked_as_everybody_is() {
    let waits = "return new Promise((done) => setTimeout(() => done({ action: 'deny', reason: 'late' }), 5))";
    let outcome = asked(vec![ours("a", PASS), ours("b", waits)]);
    assert_eq!(outcome.decision, ModuleDecision::Deny { reason: "late".into() });
    let problem = Problem::Cut(Limit::Output);
    let long = "return { action: 'deny', reason: 'x'.repeat(100000) }";
    assert_eq!(asked(vec![ours("a", long)]).reports[0].decision, Some(Err(problem)));
}
