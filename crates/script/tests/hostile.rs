//! Modules that want more than they may: every way out is closed, every limit cuts by itself, and who comes after them
//! is asked as if they were not there.

use reflex_script::{
    Call, Capabilities, Chain, Limit, Limits, Machine, MachineError, Module, ModuleDecision, Outcome, Problem,
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A machine that gives everything it is asked for, and writes down that it was asked.
#[derive(Default)]
struct Open {
    asked: Mutex<Vec<String>>,
}

impl Open {
    fn note(&self, what: String, granted: &[String]) -> Result<(), MachineError> {
        if granted.is_empty() {
            return Err(MachineError::NotGranted(what));
        }
        self.asked.lock().unwrap().push(what);
        Ok(())
    }
}

impl Machine for Open {
    fn make_folder(&self, _path: &str, _granted: &[String]) -> Result<(), MachineError> {
        Ok(())
    }
    fn ungranted(&self, _path: &str, _granted: &[String]) -> Option<String> {
        None
    }
    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError> {
        self.note(format!("read {path}"), granted).map(|()| b"secret".to_vec())
    }
    fn write(&self, path: &str, _bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        self.note(format!("write {path}"), granted)
    }
    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, MachineError> {
        self.note(format!("list {path}"), granted).map(|()| Vec::new())
    }
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        self.note(format!("kind {path}"), granted).ok().map(|()| "file")
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.asked.lock().unwrap().push(format!("variable {name}"));
        Some("secret".into())
    }
    fn fetch(&self, url: &str, _request: (&str, &str), granted: &[String]) -> Result<(u16, String), MachineError> {
        self.note(format!("fetch {url}"), granted).map(|()| (200, String::new()))
    }
}

/// Limits that are far apart, so that none stands in for another: the watchdog is for a machine under load.
fn limits() -> Limits {
    Limits { ticks: 300, watchdog: Duration::from_secs(60), ..Limits::default() }
}

/// Asks a hostile module and, behind it, one that denies.
fn asked(source: &str, limits: Limits) -> (Outcome, Arc<Open>) {
    let guard = "export default { name: 'guard', onToolCall: () => ({ action: 'deny', reason: 'guard' }) }";
    let chain = Chain::new(vec![Module::single("hostile", source), Module::single("guard", guard)], limits);
    let machine = Arc::new(Open::default());
    let call = Call::tool_call(json!({"tool": "Bash", "command": "ls", "agent": "claude", "cwd": "/p"}));
    (chain.run(Call { machine: Arc::<Open>::clone(&machine), ..call }), machine)
}

fn result_of(outcome: &Outcome) -> &Result<ModuleDecision, Problem> {
    outcome.reports[0].decision.as_ref().unwrap()
}

/// The body of `onToolCall` and what becomes of it; the module behind it is asked in any case.
#[track_caller]
fn check(body: &str, expected: &dyn Fn(&Result<ModuleDecision, Problem>) -> bool) {
    let source = format!("export default {{ name: 'h', async onToolCall(ctx) {{ {body} }} }}");
    // Where the interpreter is set up with all that the language has, and where the next module begins from the memory of
    // the first, it is the same.
    let with_globals = format!("{source}; // globalThis");
    for (source, leave) in [(&source, false), (&with_globals, false), (&source, true)] {
        let (outcome, machine) = asked(source, Limits { leave, ..limits() });
        assert!(expected(result_of(&outcome)), "{source}, {leave}: {:?}", outcome.reports[0]);
        assert_eq!(
            outcome.reports[1].decision,
            Some(Ok(ModuleDecision::Deny { reason: "guard".into() })),
            "{source}, {leave}"
        );
        assert_eq!(*machine.asked.lock().unwrap(), Vec::<String>::new(), "{source}, {leave}");
    }
}

fn cut(limit: Limit) -> impl Fn(&Result<ModuleDecision, Problem>) -> bool {
    move |result| *result == Err(Problem::Cut(limit))
}

fn failed(result: &Result<ModuleDecision, Problem>) -> bool {
    matches!(result, Err(Problem::Threw(_) | Problem::NoDecision(_) | Problem::Unsettled | Problem::Load(_)))
}

/// It ran to its end and found nothing: what it throws otherwise is the way out that it found.
const NOTHING: &str = "return { action: 'pass' }";

#[track_caller]
fn finds_nothing(body: &str) {
    check(&format!("{body}; {NOTHING}"), &|result| *result == Ok(ModuleDecision::Pass));
}

#[test]
fn steps_are_counted_wherever_they_are_taken() {
    for body in [
        "while (true) {}",
        "for (;;) { try { while (true) {} } catch {} }",
        "try { while (true) {} } finally { while (true) {} }",
        "await null; while (true) {}",
        "const f = async () => { for (;;) await null; }; await f();",
        "const f = () => Promise.resolve().then(f); await f();",
        "queueMicrotask(function f() { queueMicrotask(f) }); await new Promise(() => {});",
        "setTimeout(function f() { setTimeout(f, 0) }, 0); await new Promise(() => {});",
        "setInterval(() => {}, 0); while (true) await null;",
        "/^(a+)+$/.test('a'.repeat(60) + 'b'); return 1",
        "/(x+x+)+y/.exec('x'.repeat(80)); return 1",
        "'a'.repeat(50).replace(/(a|a)*b/g, ''); /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60)); return 1",
        "function* g() { for (;;) yield 1 } for (const x of g()) {}",
        "return { get action() { for (;;) {} } }",
        "return new Proxy({}, { get() { for (;;) {} } })",
        "return { then(f) { for (;;) {} } }",
        "return { action: 'deny', reason: { toJSON() { for (;;) {} } } }",
        "[3, 2, 1].sort(() => { for (;;) {} })",
        "JSON.parse('[1]', () => { for (;;) {} })",
        "eval('for (;;) {}')",
        "new Function('for (;;) {}')()",
        "for (let n = 0; ; n++) console.log('x'.repeat(100000))",
        "const { parseCommand } = await import('@agentreflex/core'); for (;;) parseCommand('a | b | c'.repeat(10))",
    ] {
        check(body, &cut(Limit::Steps));
    }
}

#[test]
fn memory_is_counted() {
    for body in [
        "const all = []; for (let n = 0; ; n++) all.push(new Array(1000).fill(n));",
        "const all = []; for (let n = 0; ; n++) all.push(String(n).repeat(10000).split(''));",
        "new ArrayBuffer(1 << 30)",
        "new Uint8Array(64 << 20).fill(1)",
        "return 'x'.repeat(1 << 28).toUpperCase().length",
        "const all = []; const f = async () => { all.push(new Array(1000).fill(1)); await null; return f() }; await f();",
        "let m = new Map(); for (let n = 0; n < 1e6; n++) m.set(n, { n });",
    ] {
        check(body, &cut(Limit::Memory));
    }
}

#[test]
fn depth_is_counted() {
    for body in [
        "(function f() { f() })()",
        "const f = () => [1].map(f); f()",
        "let a = []; for (let n = 0; n < 1e5; n++) a = [a]; JSON.stringify(a)",
        "const o = {}; Object.defineProperty(o, 'x', { get() { return this.x } }); o.x",
        "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')",
    ] {
        check(body, &|result| cut(Limit::Stack)(result) || failed(result));
    }
    check("(function f() { f() })()", &cut(Limit::Stack));
}

#[test]
fn a_command_nested_without_end_is_read() {
    for part in ["$(", "(", "{ ", "`", "bash -c '", "eval \\\"", "if ", "a=${b:-", "<(", "[[ ("] {
        finds_nothing(&format!(
            "const {{ parseCommand }} = await import('@agentreflex/core'); parseCommand(\"{part}\".repeat(2000))"
        ));
    }
}

#[test]
fn output_is_counted() {
    check("return { action: 'deny', reason: 'x'.repeat(1e6) }", &cut(Limit::Output));
    check("return { action: 'modify', args: { command: 'x'.repeat(1e6) } }", &cut(Limit::Output));
    let source = "export default { onToolCall() { for (let n = 0; n < 1000; n++) console.log('x'.repeat(9999)); return { action: 'pass' } } }";
    let printed = &asked(source, limits()).0.reports[0].printed;
    assert!(printed.len() == 50 && printed.iter().all(|line| line.len() <= 500));
}

#[test]
fn each_limit_cuts_when_the_others_are_far() {
    let far = Limits { ticks: u64::MAX, memory: 1 << 30, stack: 512 << 10, output: usize::MAX, ..limits() };
    let of = |body: &str, limits: Limits| {
        let source = format!("export default {{ onToolCall() {{ {body} }} }}");
        result_of(&asked(&source, limits).0).clone()
    };
    assert_eq!(of("for (;;) {}", Limits { ticks: 10, ..far }), Err(Problem::Cut(Limit::Steps)));
    let bomb = "const all = []; for (;;) all.push(new Array(1000).fill(0));";
    assert_eq!(of(bomb, Limits { memory: 4 << 20, ..far }), Err(Problem::Cut(Limit::Memory)));
    assert_eq!(of("(function f() { f() })()", Limits { stack: 64 << 10, ..far }), Err(Problem::Cut(Limit::Stack)));
    let long = "return { action: 'deny', reason: 'abc' }";
    assert_eq!(of(long, Limits { output: 10, ..far }), Err(Problem::Cut(Limit::Output)));
    let slow = Limits { watchdog: Duration::from_millis(50), ..far };
    assert_eq!(of("for (;;) {}", slow), Err(Problem::Cut(Limit::Watchdog)));
}

#[test]
fn what_no_counter_sees_is_cut_by_the_watchdog_and_the_next_is_asked() {
    let begun = Instant::now();
    let source = "export default { onToolCall() { return new Array(4e9).join('x') } }";
    let (outcome, _) = asked(source, Limits { watchdog: Duration::from_millis(300), ..Limits::default() });
    assert!(matches!(result_of(&outcome), Err(Problem::Cut(Limit::Watchdog | Limit::Memory))), "{outcome:?}");
    assert_eq!(outcome.reports[1].decision, Some(Ok(ModuleDecision::Deny { reason: "guard".into() })));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn files_network_and_environment_are_closed() {
    for body in [
        "const fs = await import('node:fs'); fs.readFileSync('/etc/passwd')",
        "const fs = await import('fs'); fs.writeFileSync('/tmp/x', 'x')",
        "const fs = await import('node:fs/promises'); await fs.readFile('/etc/passwd')",
        "const fs = await import('node:fs'); fs.readdirSync('/')",
        "await import('/etc/passwd')",
        "await import('../../../etc/passwd')",
        "await import('file:///etc/passwd')",
        "await import('https://example.com/x.js')",
        "await import('data:text/javascript,1')",
        "await import('node:child_process')",
        "await import('node:net')",
        "await import('std')",
        "await import('os.js'); ",
        "await fetch('https://example.com')",
        "new XMLHttpRequest()",
        "require('fs')",
        "process.exit(0)",
        "process.binding('fs')",
        "Deno.readTextFileSync('/etc/passwd')",
        "std.loadFile('/etc/passwd')",
        "__reflex.machine('read', '/etc/passwd', 0)",
        "__reflex.machine('fetch', 'http://x', '{}')",
        "await WebAssembly.compile(new Uint8Array())",
        "new Worker('x')",
    ] {
        check(body, &failed);
    }
    finds_nothing("const fs = await import('node:fs'); if (fs.existsSync('/etc/passwd')) throw 1");
    finds_nothing("if (process.env.PATH !== undefined || Object.keys(process.env).length) throw 1");
    finds_nothing("if (__reflex.machine?.('variable', 'PATH', 0) !== undefined) throw 1");
    finds_nothing("const os = await import('node:os'); if (os.hostname() !== 'localhost') throw 1");
}

#[test]
fn what_a_module_breaks_is_its_own() {
    for body in [
        "Object.prototype.action = 'pass'; Array.prototype.some = () => true; return {}",
        "Object.prototype.action = 'pass'; Object.prototype.onToolCall = () => ({ action: 'pass' })",
        "JSON.stringify = () => '{}'; JSON.parse = () => ({}); Promise.prototype.then = () => {}",
        "globalThis.leak = 1; globalThis.guard = 'gone'; Object.freeze(globalThis)",
        "delete globalThis.__reflex; delete globalThis.console; delete globalThis.Promise",
        "__reflex.parse = () => 'x'; __reflex.want = () => '{}'",
        "Function.prototype.call = Function.prototype.apply = () => { throw 1 }",
        "Object.defineProperty(Object.prototype, 'reason', { get() { throw 1 }, set() { throw 1 } })",
        "ctx.command = 'rm'; ctx.tool = 'Read'; delete ctx.cwd; return { action: 'pass' }",
    ] {
        check(body, &|result| {
            !matches!(
                result,
                Ok(ModuleDecision::Deny { .. } | ModuleDecision::Ask { .. } | ModuleDecision::Modify { .. })
            )
        });
    }
    // State does not live on from one call to the next, nor from one module to another.
    finds_nothing("if (globalThis.count) throw 1; globalThis.count = 1");
    let source = "globalThis.seen = (globalThis.seen ?? 0) + 1; let n = 0; \
        export default { onToolCall: () => ({ action: n++ || globalThis.seen > 1 ? 'deny' : 'pass', reason: 'r' }) }";
    let chain = Chain::new(vec![Module::single("a", source), Module::single("b", source)], limits());
    for _ in 0..2 {
        assert_eq!(chain.run(Call::tool_call(json!({}))).decision, ModuleDecision::Pass);
    }
}

#[test]
fn what_is_no_decision_is_none() {
    for body in [
        "",
        "return null",
        "return 'deny'",
        "return 1",
        "return []",
        "return {}",
        "return { action: 'block' }",
        "return { action: 'ALLOW' }",
        "return { action: ['deny'] }",
        "return { action: { toString: () => 'pass' } }",
        "return { action: 'modify' }",
        "return { action: 'modify', args: 'x' }",
        "throw 1",
        "throw undefined",
        "throw { toString() { throw 1 } }",
        "throw new Error('x')",
        "return Promise.reject(new Error('x'))",
        "return new Promise(() => {})",
        "return { then: () => {} }",
        "await new Promise((f) => setTimeout(f, 1e9))",
        "return Symbol('x')",
        "return 1n",
        "return () => {}",
        "return new Proxy({}, { get() { throw 1 } })",
    ] {
        check(body, &failed);
    }
}

#[test]
fn what_cannot_be_loaded_is_reported_and_the_next_is_asked() {
    for source in [
        "",
        "export default 1",
        "export default null",
        "export const x = 1",
        "syntax error here",
        "export default {",
        "throw new Error('at the top')",
        "import './gone.js'",
        "import x from 'lodash'; export default x",
        "export default { onToolCall: 1 }",
        "await new Promise(() => {}); export default {}",
        "export default { get onToolCall() { throw 1 } }",
        "import { nothing } from '@agentreflex/core'; export default {}",
        "export default function f() {}; f.onToolCall = 1;",
        "\u{0}",
        "#!/bin/sh\nrm -rf /",
    ] {
        let (outcome, _) = asked(source, limits());
        let first = outcome.reports[0].decision.clone();
        assert!(matches!(first, Some(Err(_))), "{source}: {first:?}");
        assert_eq!(outcome.reports[1].decision, Some(Ok(ModuleDecision::Deny { reason: "guard".into() })), "{source}");
        assert_eq!(outcome.by, Some(1), "{source}");
        assert!(
            matches!(&outcome.failed[0].1, ModuleDecision::Ask { reason } if reason.contains("`hostile`")),
            "{source}"
        );
    }
    for source in [
        "for (;;) {}",
        "export default { get onToolCall() { for (;;) {} } }",
        "await (async () => { for (;;) await null })()",
    ] {
        assert_eq!(asked(source, limits()).0.reports[0].decision, Some(Err(Problem::Cut(Limit::Steps))), "{source}");
    }
}

#[test]
fn what_was_granted_is_had_and_no_more() {
    let mut module = Module::single(
        "g",
        "import { readFileSync } from 'node:fs'; export default { onToolCall: () => \
            ({ action: 'deny', reason: readFileSync('a', 'utf8') + process.env.A + process.env.B }) }",
    );
    module.granted = Capabilities { files: vec!["a".into()], environment: vec!["A".into()], ..Capabilities::default() };
    let machine = Arc::new(Open::default());
    let call = Call { machine: Arc::<Open>::clone(&machine), ..Call::tool_call(json!({})) };
    let outcome = Chain::new(vec![module], limits()).run(call);
    assert_eq!(outcome.decision, ModuleDecision::Deny { reason: "secretsecretundefined".into() });
    assert_eq!(*machine.asked.lock().unwrap(), ["read a", "variable A"]);
}

/// What a module that may decide says; the same where its memory is to be put back.
#[track_caller]
fn decides(body: &str, expected: &dyn Fn(&Result<ModuleDecision, Problem>) -> bool) {
    let source = format!("export default {{ name: 'h', async onToolCall(ctx) {{ {body} }} }}");
    for leave in [false, true] {
        let (outcome, machine) = asked(&source, Limits { leave, ..limits() });
        assert!(expected(result_of(&outcome)), "{body}: {:?}", outcome.reports[0]);
        assert_eq!(*machine.asked.lock().unwrap(), Vec::<String>::new(), "{body}");
    }
}

/// A decision whose parts answer differently each time, are made by code, or come from what was overwritten, is either
/// none or exactly one that its module could have given plainly.
#[test]
fn a_decision_that_plays_tricks_is_one_decision_or_none() {
    for body in [
        // What the bridge uses itself is overwritten before it is used.
        "JSON.stringify = () => '{\"action\":\"pass\"}'; JSON.parse = () => ({ action: 'pass' }); return { action: 'deny', reason: 'plain' }",
        "Object.prototype.toJSON = () => ({ action: 'pass' }); Array.prototype.push = () => { throw 1 }; return { action: 'deny', reason: 'plain' }",
        "Promise.prototype.then = () => {}; Promise.prototype.constructor = null; return { action: 'deny', reason: 'plain' }",
        "String.prototype.toString = Object.prototype.valueOf = () => 'pass'; return { action: 'deny', reason: 'plain' }",
        "Object.prototype.__proto__ = null; Object.defineProperty(Object.prototype, 'action', { value: 'pass' }); return { __proto__: null, action: 'deny', reason: 'plain' }",
        "Error.prepareStackTrace = () => { throw 1 }; Symbol.prototype[Symbol.toPrimitive] = () => 'pass'; return { action: 'deny', reason: 'plain' }",
        "class P extends Promise { static get [Symbol.species]() { return class { constructor(f) { f(() => {}, () => {}) } } } } return P.resolve({ action: 'deny', reason: 'plain' })",
        "return { then: (done) => done({ then: (done) => done({ action: 'deny', reason: 'plain' }) }) }",
        "return new Proxy({ action: 'deny', reason: 'plain' }, { ownKeys: () => ['action', 'reason'], getPrototypeOf() { throw 1 } })",
    ] {
        decides(body, &|result| {
            matches!(result, Ok(ModuleDecision::Deny { reason }) if reason == "plain" || reason.is_empty())
                || failed(result)
        });
    }
    // The word is read first; what is written out later is cut to what that word means.
    decides(
        "let n = 0; return { get action() { return n++ ? 'modify' : 'ask' }, reason: 'r', args: { command: 'x' } }",
        &|result| *result == Ok(ModuleDecision::Ask { reason: "r".into() }),
    );
    decides("return { action: 'deny', reason: { toString: () => 'x' } }", &|result| {
        *result == Ok(ModuleDecision::Deny { reason: String::new() })
    });
    for body in [
        "return { get action() { throw new Proxy({}, { get() { throw 1 } }) } }",
        "return { then(done) { done(this) } }",
        "return { then: (done, fail) => fail({ get message() { throw 1 } }) }",
        "const p = new Promise((f) => { setTimeout(() => f(p), 1) }); return p",
        "return { get then() { throw new Error('x') } }",
        "return Object.create({ action: 'deny' }, { action: { get() { throw 1 } } })",
    ] {
        check(body, &|result| failed(result) || *result == Err(Problem::Cut(Limit::Steps)));
    }
}

#[test]
fn no_path_and_no_name_leads_out_of_the_folder() {
    for path in [
        "./../../../../etc/passwd",
        "./%2e%2e/%2e%2e/etc/passwd",
        "./..\\..\\etc/passwd",
        ".//etc/passwd",
        "./index.js/../../1/index.js",
        "../1/index.js",
        "reflex:1/index.js",
        "ours:no-rm-rf/index.ts",
        "./index.js?x",
        "./index.js\u{0}.json",
        "node:fs/../../etc/passwd",
        "node:node:fs",
        "__proto__",
        "./__proto__",
        "",
        " node:fs",
    ] {
        check(&format!("await import('{path}')"), &failed);
        check(&format!("await import('{path}', {{ with: {{ type: 'json' }} }})"), &failed);
    }
    let mut module = Module::single(
        "json",
        "import data from './data.json'; import empty from './empty.json'; export default { onToolCall() { \
            if (({}).polluted || Object.getPrototypeOf(data) !== Object.prototype || empty !== null) throw 1; \
            return { action: 'deny', reason: JSON.stringify(data) } } }",
    );
    let data = r#"{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":"\u2028`${1}"}"#;
    module.files.extend([("data.json".into(), data.into()), ("empty.json".into(), "null".into())]);
    let outcome = Chain::new(vec![module], limits()).run(Call::tool_call(json!({})));
    let ModuleDecision::Deny { reason } = &outcome.decision else { panic!("{outcome:?}") };
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(reason).unwrap(),
        serde_json::from_str::<serde_json::Value>(data).unwrap()
    );
    // What is no JSON is no code either.
    let mut module =
        Module::single("json", "import data from './data.json'; export default { onToolCall: () => data }");
    module.files.push(("data.json".into(), "{}; globalThis.ran = 1".into()));
    let outcome = Chain::new(vec![module], limits()).run(Call::tool_call(json!({})));
    assert!(matches!(result_of(&outcome), Err(Problem::Load(_))), "{outcome:?}");
}

#[test]
fn what_is_asked_of_our_own_functions_without_measure_is_counted() {
    for body in [
        "const text = 'x'.repeat(1e6); for (;;) console.log(text)",
        "const big = new Uint8Array(1 << 20); for (;;) new TextDecoder().decode(big)",
        "const bytes = new Uint8Array(1 << 16); for (;;) await crypto.subtle.digest('SHA-512', bytes)",
        "const o = {}; o.o = o; for (;;) structuredClone(o)",
        "const u = new URL('http://a/'); for (;;) u.pathname = 'x'.repeat(1e5)",
    ] {
        check(body, &|result| cut(Limit::Steps)(result) || cut(Limit::Memory)(result));
    }
    for body in [
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 1e9)",
        "new WebAssembly.Memory({ initial: 1e5 })",
        "label: { for (;;) break label } throw 1",
        "new Intl.DateTimeFormat()",
        "new FinalizationRegistry(() => {}).register({}, 1); gc()",
    ] {
        check(body, &failed);
    }
    // No clock helps: time does not pass for timers, whatever they say.
    finds_nothing(
        "let n = 0; const id = setInterval(() => { if (++n === 5) clearInterval(id) }, 1000); \
        await new Promise((f) => setTimeout(f, 9000)); if (n !== 5) throw 1",
    );
}
