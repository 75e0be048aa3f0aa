//! Attacks on what modules import and require: nothing of it leads to files, the network, the environment, another module's
//! state, another's decision or an output.

use reflex_script::{Call, Chain, Limit, Limits, Machine, MachineError, Module, ModuleDecision, Outcome, Problem};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A machine that would give everything, and writes down that it was asked.
#[derive(Default)]
struct Open(Mutex<Vec<String>>);

impl Open {
    fn note<T>(&self, what: &str, granted: &[String], value: T) -> Result<T, MachineError> {
        if granted.is_empty() {
            return Err(MachineError::NotGranted(what.into()));
        }
        self.0.lock().unwrap().push(what.to_owned());
        Ok(value)
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
        self.note(&format!("read {path}"), granted, b"secret".to_vec())
    }
    fn write(&self, path: &str, _bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        self.note(&format!("write {path}"), granted, ())
    }
    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, MachineError> {
        self.note(&format!("list {path}"), granted, Vec::new())
    }
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        self.note(&format!("kind {path}"), granted, "file").ok()
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().push(format!("variable {name}"));
        Some("secret".into())
    }
    fn fetch(&self, url: &str, _request: (&str, &str), granted: &[String]) -> Result<(u16, String), MachineError> {
        self.note(&format!("fetch {url}"), granted, (200, String::new()))
    }
}

/// Asks these modules, the last of which denies what it finds whole: what it uses is what every module uses.
fn asked(files: &[(&str, &str)], leave: bool) -> Outcome {
    let guard = "import { inspect } from 'node:util'; import EventEmitter from 'node:events'; import path from 'node:path';
        import { createHash } from 'node:crypto'; import { deny } from '@agentreflex/core';
        export default { name: 'guard', onToolCall(ctx) {
          const all = [inspect({ a: [1] }), Buffer.from('a').toString('hex'), path.join('a', 'b'), createHash('md5').update('a').digest('hex').slice(0, 4),
            new EventEmitter().emit('x'), typeof globalThis.leak, ({}).polluted, ctx.command, [3, 1].sort().join(), require('path').sep, JSON.stringify({ a: 1 })];
          return deny(all.join(' '));
        } };";
    let mut hostile = Module::single("hostile", "");
    hostile.entry = files[0].0.to_owned();
    hostile.files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let limits = Limits { ticks: 60, memory: 16 << 20, watchdog: Duration::from_secs(60), leave, ..Limits::default() };
    let machine = Arc::new(Open::default());
    let call = Call::tool_call(json!({"tool": "Bash", "command": "ls", "agent": "claude", "cwd": "/p"}));
    let chain = Chain::new(vec![hostile, Module::single("guard", guard)], limits);
    let outcome = chain.run(Call { machine: Arc::<Open>::clone(&machine), ..call });
    let expected = "{ a: [ 1 ] } 61 a/b 0cc1 false undefined  ls 1,3 / {\"a\":1}";
    assert_eq!(outcome.reports[1].decision, Some(Ok(ModuleDecision::Deny { reason: expected.into() })), "{files:?}");
    assert_eq!(*machine.0.lock().unwrap(), Vec::<String>::new(), "{files:?}");
    outcome
}

/// What becomes of a module of these files; the one behind it is asked, and finds everything as it was.
#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &dyn Fn(&Result<ModuleDecision, Problem>) -> bool) {
    for leave in [false, true] {
        let outcome = asked(files, leave);
        let result = outcome.reports[0].decision.as_ref().unwrap();
        assert!(expected(result), "{files:?}, {leave}: {result:?}");
    }
}

/// The same of the body of `onToolCall`, in a module of each kind.
#[track_caller]
fn check(body: &str, expected: &dyn Fn(&Result<ModuleDecision, Problem>) -> bool) {
    let newer =
        format!("import util from 'node:util'; export default {{ async onToolCall(ctx) {{ {body} }} }}; // Buffer");
    let common =
        format!("const util = require('util'); module.exports = {{ async onToolCall(ctx) {{ {body} }} }}; // Buffer");
    check_files(&[("index.js", &newer)], expected);
    check_files(&[("index.cjs", &common)], expected);
}

fn passes(result: &Result<ModuleDecision, Problem>) -> bool {
    *result == Ok(ModuleDecision::Pass)
}

fn fails(result: &Result<ModuleDecision, Problem>) -> bool {
    matches!(result, Err(Problem::Threw(_) | Problem::NoDecision(_) | Problem::Unsettled | Problem::Load(_)))
}

fn is_cut(result: &Result<ModuleDecision, Problem>) -> bool {
    matches!(result, Err(Problem::Cut(Limit::Steps | Limit::Memory | Limit::Stack)))
}

const PASS: &str = "return { action: 'pass' }";

#[test]
fn require_leads_to_own_files_and_what_is_built_in() {
    for name in [
        "/etc/passwd",
        "../../../../etc/passwd",
        "./../x",
        "file:///etc/passwd",
        "https://example.com/x.js",
        "data:text/javascript,1",
        "node:vm",
        "node:worker_threads",
        "node:http",
        "net",
        "lodash",
        "reflex:1/index.js",
        "ours:no-rm-rf/index.ts",
        "require:x",
        "reflex part process",
        "part process",
        "__proto__",
        "constructor",
        "",
        "./index.js\\u0000.json",
    ] {
        check(&format!("const make = require; make('{name}')"), &fails);
        check(&format!("require('module').createRequire('/etc/x.js')('{name}')"), &fails);
        check(&format!("require('module').createRequire('reflex:1/index.js')('{name}')"), &fails);
    }
    for call in ["require({ toString: () => 'fs' })", "require()", "require(null)", "require(Symbol('fs'))"] {
        check(call, &fails);
    }
}

#[test]
fn what_is_required_does_no_more_than_what_is_imported() {
    for body in [
        "require('fs').readFileSync('/etc/passwd')",
        "require('f' + 's').writeFileSync('/tmp/x', 'x')",
        "require('node:fs').promises.readFile('/etc/passwd'); require('fs').readdirSync('/')",
        "require('child_process').execSync('id')",
        "require('child_process').spawn('sh', ['-c', 'id']).on('exit', () => {})",
        "process.exit(0)",
        "process.kill(1)",
        "process.chdir('/')",
        "require('process').binding('fs')",
        "await fetch('https://example.com')",
        "process.env.PATH.length",
        "module.constructor._load('fs')",
        "require.main.require('fs')",
        "__reflex.machine('read', '/etc/passwd', undefined)",
        "__reflex.load('/etc/passwd').json.length",
        "__reflex.load('reflex:1/index.js').code()",
        "__reflex.common('reflex:1/index.js').onToolCall.length",
    ] {
        check(body, &fails);
    }
    // What is written to the outputs of a process stands in the record.
    let text = "process.stdout.write('{\"decision\":\"allow\"}\\n'); process.stderr.write('x'); process.emitWarning('w'); return { action: 'pass' }";
    let source = format!("export default {{ onToolCall() {{ {text} }} }}");
    let outcome = asked(&[("index.js", &source)], true);
    assert_eq!(outcome.reports[0].printed, ["{\"decision\":\"allow\"}", "x", "w"]);
}

#[test]
fn bytes_are_counted() {
    for body in [
        "Buffer.alloc(2 ** 31 - 1)",
        "Buffer.allocUnsafe(1e9)",
        "const all = []; for (;;) all.push(Buffer.alloc(1 << 20))",
        "Buffer.concat([Buffer.alloc(1)], 2 ** 31 - 1)",
        "Buffer.from('x'.repeat(2 ** 25)); const all = []; for (;;) all.push(Buffer.from('x'.repeat(1e5)).toString('hex'))",
        "Buffer.from({ length: 2 ** 31 - 1 })",
        "for (;;) require('crypto').createHash('md5').update(Buffer.alloc(1e5)).digest()",
        "for (;;) crypto.getRandomValues(new Uint8Array(65536))",
        "const o = {}; for (let at = o, n = 0; n < 1e5; n++) at = at.a = {}; for (;;) util.inspect(o, { depth: Infinity })",
        "const EventEmitter = require('events'); const e = new EventEmitter(); e.on('x', () => e.emit('x')); e.emit('x')",
        "util.inspect({ [util.inspect.custom]() { for (;;) {} } })",
        "util.isDeepStrictEqual({ get a() { for (;;) {} } }, { a: 1 })",
        "require('querystring').parse('a&'.repeat(1e6), '&', '=', { maxKeys: 0 })",
        "const s = new AbortController().signal; for (;;) s.addEventListener('x' + Math.random(), () => {})",
        "for (;;) process.stdout.write('x'.repeat(1e5))",
    ] {
        check(body, &is_cut);
    }
    for body in
        ["crypto.getRandomValues(new Uint8Array(1e7))", "require('crypto').randomBytes(1e9)", "Buffer.alloc(-1)"]
    {
        check(body, &fails);
    }
}

#[test]
fn what_is_built_in_is_broken_for_its_breaker_alone() {
    for body in [
        "util.inspect = () => 'gone'; require('path').join = require('path').posix.join = () => '/etc'; require('path').sep = '!'",
        "Buffer.from = Buffer.prototype.toString = () => 'gone'; Uint8Array.prototype.set = () => {}; globalThis.Buffer = null",
        "const core = require('@agentreflex/core'); try { core.deny = core.pass } catch {} globalThis.leak = 1",
        "Object.prototype.polluted = 1; Array.prototype.sort = () => [9]; Object.prototype.json = '{}'; Object.prototype.code = () => 1",
        "require('events').prototype.emit = () => true; require('events').defaultMaxListeners = -1",
        "require('crypto').createHash = null; __reflex.digest = () => new Uint8Array(16); __reflex.utf8.decode = () => 'x'",
        "__reflex.resolve = () => 'fs'; __reflex.load = () => ({ space: {} }); __reflex.common = () => ({}); delete globalThis.require",
        "for (const key of Object.keys(__reflex)) __reflex[key] = undefined; delete globalThis.__reflex",
        "Error.prepareStackTrace = (error, frames) => { globalThis.leak = frames; return 'x' }; new Error('x').stack; Error.stackTraceLimit = Infinity; Error.captureStackTrace?.({})",
        "Object.freeze(Object.prototype); Object.freeze(Buffer.prototype); Object.preventExtensions(globalThis)",
        "process.env.PATH = '/evil'; process.platform = 'win32'; process = null",
        "JSON.stringify = JSON.parse = () => 'gone'; Symbol.for = () => 1; Reflect.ownKeys = () => []",
    ] {
        check(&format!("{body}; {PASS}"), &|result| passes(result) || fails(result));
    }
}

#[test]
fn modules_that_go_in_circles_come_to_an_end() {
    let answer = "export default { onToolCall: () => ({ action: 'pass' }) };";
    check_files(
        &[
            ("index.js", &format!("import {{ b }} from './b.js'; export const a = 1; {answer} if (b() !== 1) throw 1")),
            ("b.js", "import { a } from './index.js'; export const b = () => a === undefined ? 0 : 1;"),
        ],
        &passes,
    );
    check_files(
        &[
            (
                "index.cjs",
                "exports.a = 1; const b = require('./b'); exports.onToolCall = () => ({ action: b.seen === 1 ? 'pass' : 'x' });",
            ),
            ("b.cjs", "exports.seen = require('./index').a; require('./b.cjs')"),
        ],
        &passes,
    );
    // Both forms through each other: what is not there yet is not there.
    check_files(
        &[
            (
                "index.cjs",
                "const m = require('./m.mjs'); module.exports = { onToolCall: () => ({ action: m.default() ? 'pass' : 'x' }) };",
            ),
            ("m.mjs", "import c from './index.cjs'; export default () => typeof c === 'object';"),
        ],
        &|result| passes(result) || fails(result),
    );
    check_files(
        &[(
            "index.js",
            "import './index.js'; import * as own from './index.js'; export default { onToolCall: () => own.default === undefined ? 1 : ({ action: 'pass' }) }",
        )],
        &passes,
    );
    let many = (0..60).map(|at| format!("require('./{}.cjs')", at)).collect::<String>();
    check_files(&[("index.cjs", &many)], &fails);
    check_files(
        &[
            ("index.cjs", "const load = () => { try { require('./loop') } catch {} load() }; load(); // exports"),
            ("loop.cjs", "throw exports"),
        ],
        &is_cut,
    );
    check_files(
        &[("index.cjs", "module.exports = { onToolCall: () => 1 }; for (;;) require('./a.json')"), ("a.json", "{}")],
        &is_cut,
    );
    check_files(
        &[
            ("index.mjs", "export default { onToolCall: async () => { await import('./wait.mjs') } }"),
            ("wait.mjs", "await new Promise(() => {})"),
        ],
        &fails,
    );
    check_files(&[("index.cjs", "require('./wait.mjs')"), ("wait.mjs", "await null; export default 1")], &fails);
}

#[test]
fn data_is_data() {
    let file = r#"{"__proto__": {"polluted": 1, "onToolCall": 1}, "constructor": {"prototype": {"polluted": 1}}, "toJSON": 1}"#;
    for entry in [
        "const data = require('./data.json'); if (({}).polluted || data.polluted) throw 1; Object.assign({}, data); module.exports = { onToolCall: () => ({ action: ({}).polluted ? 'deny' : 'pass' }) };",
        "import data from './data.json'; const copy = structuredClone(data); export default { onToolCall: () => ({ action: ({}).polluted || !Object.hasOwn(copy, 'constructor') ? 'deny' : 'pass' }) };",
    ] {
        check_files(&[("index.js", entry), ("data.json", file)], &passes);
    }
    check_files(
        &[("index.js", "module.exports = require('./data.json')"), ("data.json", "{}; globalThis.leak = 1")],
        &fails,
    );
    // A comment that names a map is a comment, wherever it leads.
    for map in [
        "file:///etc/passwd",
        "/etc/passwd",
        "../../../etc/shadow",
        "https://example.com/x.map",
        "data:application/json;base64,e30=",
    ] {
        let text = format!(
            "export default {{ onToolCall: () => ({{ action: 'pass' }}) }};\n//# sourceMappingURL={map}\n//# sourceURL=reflex:1/index.js\n"
        );
        check_files(&[("index.js", &text)], &passes);
        let text = format!(
            "module.exports = {{ onToolCall: () => ({{ action: 'pass' }}) }};\n//# sourceMappingURL={map}\n//# sourceURL=reflex:1/index.js"
        );
        check_files(&[("index.js", &text)], &passes);
    }
    // Text that ends the function around it early is still the module's own.
    check_files(
        &[(
            "index.cjs",
            "}); globalThis.leak = 1; (function (exports, require, module) { module.exports = { onToolCall: () => ({ action: 'pass' }) };",
        )],
        &|result| passes(result) || fails(result),
    );
}

#[test]
fn decisions_that_are_more_than_they_seem_are_one_decision_or_none() {
    for body in [
        "return new Proxy({}, { get: (_, key) => key === 'then' ? undefined : 'pass', has: () => { throw 1 }, ownKeys: () => { throw 1 } })",
        "async function* forever() { for (;;) yield { action: 'deny' } } return forever()",
        "return { [Symbol.toPrimitive]: () => 'pass', [Symbol.iterator]: function* () { yield 'pass' } }",
        "return { then(done) { Promise.prototype.then = () => {}; done({ action: 'maybe' }) } }",
        "const signal = AbortSignal.timeout(1); return new Promise((_, fail) => { signal.onabort = () => fail(signal.reason) }); // setTimeout",
        "throw Object.assign(new Error(), { get message() { for (const x of [1]) throw x } })",
        "return Buffer.from('pass')",
        "return new (require('events'))()",
        "const error = new Error('x'); Object.defineProperty(error, 'message', { get() { throw error } }); throw error",
    ] {
        check(body, &|result| fails(result) || passes(result) && body.contains("new Proxy"));
    }
    check("async function* forever() { for (;;) yield 1 } for await (const x of forever()) {}", &is_cut);
    check("for (const key in ctx) Object.defineProperty(ctx, key, { get() { for (;;) {} } }); return ctx", &|result| {
        is_cut(result) || fails(result)
    });
    // What one makes of the context is not what the next is given.
    check(
        &format!("ctx.command = 'rm'; Object.setPrototypeOf(ctx, {{ command: 'rm' }}); Object.freeze(ctx); {PASS}"),
        &passes,
    );
}
