//! Modules that are asked one after the other: each finds an interpreter that nobody has used.

use reflex_script::{Call, Chain, Limit, Limits, Module, ModuleDecision, Outcome, Problem};
use serde_json::{Value, json};
use std::time::Duration;

/// Says what of the language and of ours can be reached: every key, what it is, and what our functions answer.
const WITNESS: &str = r#"
    import * as core from "@agentreflex/core";
    import path from "node:path";
    const seen = new WeakSet();
    let [count, sum] = [0, 7];
    const add = (text) => { for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 1000000007; };
    const walk = (value, depth) => {
        if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
        seen.add(value);
        count++;
        add(`${typeof value} ${Object.isFrozen(value)} ${Object.isExtensible(value)}`);
        for (const key of Reflect.ownKeys(value)) {
            const is = Object.getOwnPropertyDescriptor(value, key);
            add(`${String(key)} ${typeof is.value} ${is.writable} ${is.enumerable} ${is.configurable} ${String(is.get)}`);
            if (typeof is.value !== "object" && typeof is.value !== "function" && key !== "timeOrigin") add(String(is.value));
            if (depth < 9) [is.value, is.get, is.set].forEach((one) => walk(one, depth + 1));
        }
        walk(Object.getPrototypeOf(value), depth + 1);
    };
    export default {
        async onToolCall(ctx) {
            walk(globalThis, 0);
            walk({ ...core, path, async: async () => {}, generator: function* () {}, regexp: /a/, error: new Error("x") }, 0);
            const parsed = JSON.stringify(core.parseCommand("a b | c"));
            const later = await Promise.resolve("later");
            console.log("said");
            return core.deny([count, sum, parsed, later, JSON.stringify(ctx), "a,b".split(",").length].join("|"));
        },
    };
"#;

fn limits() -> Limits {
    Limits { ticks: 2000, leave: true, watchdog: Duration::from_secs(60), ..Limits::default() }
}

fn asked(sources: &[&str], limits: Limits) -> Outcome {
    let modules = sources.iter().enumerate().map(|(at, source)| Module::single(&format!("m{at}"), source)).collect();
    let call = Call::tool_call(json!({"tool": "Bash", "command": "ls", "cwd": "/p", "raw": {"a": [1]}}));
    let call = Call { lazy: &["reflex"], ..call };
    Chain::new(modules, limits).run_with(call, &|_| json!({"risk": "none"}))
}

fn testimony(outcome: &Outcome) -> String {
    let last = outcome.reports.last().unwrap();
    assert_eq!(last.printed, ["said"], "{last:?}");
    match &last.decision {
        Some(Ok(ModuleDecision::Deny { reason })) => reason.clone(),
        other => format!("{other:?}"),
    }
}

/// What the second of two modules finds is what it finds when the first does nothing.
#[track_caller]
fn check(body: &str) {
    let expected = testimony(&asked(&[WITNESS], limits()));
    assert!(expected.contains("|later|"), "{expected}");
    let source = format!(
        "import * as core from '@agentreflex/core'; \
         export default {{ async onToolCall(ctx) {{ {body}; return {{ action: 'pass' }} }} }}"
    );
    assert_eq!(testimony(&asked(&[&source, WITNESS], limits())), expected, "{body}");
    assert_eq!(testimony(&asked(&[&source, &source, WITNESS], limits())), expected, "twice: {body}");
}

#[test]
fn what_a_module_changes_is_as_it_was_for_the_next() {
    for body in [
        "globalThis.leak = ctx; globalThis.console = null; globalThis.Promise = null",
        "delete globalThis.__reflex; delete globalThis.console; delete globalThis.JSON",
        "for (const key of Reflect.ownKeys(__reflex)) delete __reflex[key]; delete console.log; delete console.error",
        "Array.prototype.push = Array.prototype.map = () => { throw 1 }; Object.freeze(Object.prototype)",
        "JSON.stringify = () => '{}'; JSON.parse = () => ({}); Promise.prototype.then = () => {}; Promise.resolve = 1",
        "Object.setPrototypeOf(Object.prototype.constructor, null); Function.prototype.call = null",
        "core.deny.leak = 1; core.parseCommand.call = 1; Object.freeze(core.pass)",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw 1 }, configurable: false })",
        "Symbol.for('leak'); ctx.raw.a.push(2); ctx.reflex.risk = 'high'; Error.prepareStackTrace = () => 1",
        "Error.stackTraceLimit = 0; RegExp.prototype.exec = () => null; String.prototype.split = () => []",
        "(async () => { for (let n = 0; n < 50; n++) await null; globalThis.late = 1 })()",
        "setTimeout(() => { globalThis.late = 1 }, 0)",
        "const all = []; for (let n = 0; n < 1e4; n++) all.push({ ['key' + n]: n }); globalThis.all = all",
        "globalThis.large = new ArrayBuffer(8 << 20); new Uint8Array(globalThis.large).fill(7)",
        "globalThis.text = 'x'.repeat(1 << 20); globalThis.code = new Function('return 1')",
        "const held = __reflex.parse; delete __reflex.parse; globalThis.held = held; held('a')",
        "throw new Error('x')",
        "return new Promise(() => {})",
    ] {
        check(body);
    }
}

#[test]
fn who_is_cut_leaves_nothing_either() {
    for body in [
        "for (;;) {}",
        "(function f() { f() })()",
        "const all = []; for (let n = 0; ; n++) all.push(new Array(1000).fill(n))",
        "for (;;) globalThis['k' + Math.random()] = {}",
        "delete globalThis.__reflex; const f = () => Promise.resolve().then(f); await f()",
        "return { action: 'deny', reason: 'x'.repeat(1e6) }",
    ] {
        check(body);
    }
}

#[test]
fn what_few_modules_name_is_there_for_those_and_gone_for_the_next() {
    let common = "const { EventEmitter } = require('events'); const util = require('util'); globalThis.leak = require('crypto');
        module.exports = { onToolCall() { const e = new EventEmitter(); let n; e.on('x', (v) => { n = v }); e.emit('x', Buffer.from('a').toString('hex'));
            return { action: 'ask', reason: util.format('%s %j', n, new AbortController().signal.aborted) } } };";
    let next = "export default { onToolCall: () => ({ action: 'ask', reason: [typeof globalThis.leak, typeof globalThis['req' + 'uire'], \
        typeof globalThis['Buf' + 'fer'], typeof globalThis['Abort' + 'Signal']].join() }) }";
    let chain = Chain::new(vec![Module::single("a", common), Module::single("b", next)], limits());
    for _ in 0..3 {
        let outcome = chain.run(Call::tool_call(Value::Null));
        assert_eq!(outcome.decision, ModuleDecision::Ask { reason: "61 false".into() });
        let undefined = "undefined,undefined,undefined,undefined";
        assert_eq!(outcome.after, Some((1, ModuleDecision::Ask { reason: undefined.into() })));
    }
}

#[test]
fn a_module_sees_its_own_files_only() {
    let of = |name: &str, text: &str| {
        let source = "import data from './data.json'; export default { onToolCall: async () => ({ action: 'ask', \
            reason: data.of + await import('../0/data.json').catch(() => '-') + await import('reflex:0/data.json').catch(() => '-') }) }";
        let mut module = Module::single(name, source);
        module.files.push(("data.json".into(), json!({ "of": text }).to_string()));
        module
    };
    let chain = Chain::new(vec![of("a", "first"), of("b", "second")], limits());
    let outcome = chain.run(Call::tool_call(Value::Null));
    assert_eq!(outcome.decision, ModuleDecision::Ask { reason: "first--".into() });
    assert_eq!(outcome.after, Some((1, ModuleDecision::Ask { reason: "second--".into() })));
}

#[test]
fn limits_are_those_of_each() {
    let some = "const all = []; for (let n = 0; n < 20; n++) all.push(new Uint8Array(1 << 20).fill(n))";
    let source = format!("export default {{ onToolCall() {{ {some}; return {{ action: 'pass' }} }} }}");
    let outcome = asked(&[&source, &source, &source], limits());
    assert!(outcome.reports.iter().all(|report| report.decision == Some(Ok(ModuleDecision::Pass))), "{outcome:?}");
    let bomb = "export default { onToolCall() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } }";
    let outcome = asked(&[bomb, bomb, &source], limits());
    let cut = Some(Err(Problem::Cut(Limit::Memory)));
    assert_eq!(
        outcome.reports.iter().map(|report| report.decision.clone()).collect::<Vec<_>>(),
        [cut.clone(), cut, Some(Ok(ModuleDecision::Pass))]
    );
    let steps: Vec<u64> = asked(&["export default { onToolCall() { for (let n = 0; n < 1e6; n++); } }"; 3], limits())
        .reports
        .iter()
        .map(|report| report.ticks)
        .collect();
    assert!(steps[0] > 10 && steps.iter().all(|ticks| ticks.abs_diff(steps[0]) <= 1), "{steps:?}");
}

#[test]
fn who_does_not_come_back_keeps_the_interpreter() {
    let hangs = "export default { onToolCall() { const text = 'a'.repeat(3e6); \
        for (let n = 0; n < 300; n++) text.lastIndexOf('b'); return { action: 'pass' } } }";
    let asks = "export default { onToolCall: () => { globalThis.all = Array.from({ length: 1e4 }, (_, n) => ({ n })); \
        return { action: 'ask', reason: String(all.length) } } }";
    let brief = Limits { watchdog: Duration::from_millis(100), ..limits() };
    let outcome = asked(&[hangs, asks, asks], brief);
    assert_eq!(outcome.reports[0].decision, Some(Err(Problem::Cut(Limit::Watchdog))));
    let expected = ModuleDecision::Ask { reason: "10000".into() };
    // While it goes on in its own, others are asked in another.
    for _ in 0..20 {
        assert_eq!(asked(&[asks], limits()).decision, expected);
    }
}
