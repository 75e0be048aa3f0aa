//! Modules as the tools of their authors leave them: bundles of esbuild and tsup in both forms, minified, with source maps, for
//! old targets, and what TypeScript's compiler writes.

use reflex_script::{Call, Chain, Limits, Module, ModuleDecision};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What a module of these files says to a command, its first file being its entry.
fn decide(files: &[(&str, &str)], command: &str) -> ModuleDecision {
    let mut module = Module::single("m", "");
    module.entry = files[0].0.to_owned();
    module.files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let limits = Limits { watchdog: Duration::from_secs(60), ..Limits::default() };
    let outcome = Chain::new(vec![module], limits).run(Call::tool_call(json!({"command": command, "cwd": "/p"})));
    outcome.reports[0].decision.clone().unwrap().unwrap_or_else(|problem| panic!("{}: {problem}", files[0].0))
}

#[track_caller]
fn check(file: &str, command: &str, expected: &ModuleDecision) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bundles").join(file)).unwrap();
    assert_eq!(decide(&[(file, &text)], command), *expected, "{file}");
    assert_eq!(decide(&[(file, &text)], "ls"), ModuleDecision::Pass, "{file}");
}

fn deny(reason: &str) -> ModuleDecision {
    ModuleDecision::Deny { reason: reason.into() }
}

#[test]
fn bundles_load_and_answer() {
    // No program is started: what the module makes of that is its own.
    for file in ["by-hand.cjs", "plain-bundled.cjs"] {
        check(file, "/usr/bin/frob x", &deny("on main false"));
    }
    for file in ["old-target.cjs", "minified-with-map.js", "tsup-commonjs.js", "tsup-esm.mjs"] {
        check(file, "ls && xray", &deny("x 36 eHJheQ=="));
    }
    check("top-level-await.js", "bad", &deny("late true"));
    for file in ["of-tsc.js", "of-tsc-bundled.cjs", "commonjs-in-esm.mjs"] {
        check(file, "frob", &ModuleDecision::Ask { reason: "t".into() });
    }
}

#[test]
fn files_of_both_forms_load_each_other() {
    let entry = "const lib = require('./lib'); const { word } = require('./data.json');
        exports.onToolCall = async (ctx) => ctx.command === word + lib.end + (await import('./esm.mjs')).default + (await import('./esm.mjs')).named
            ? { action: 'deny', reason: [__filename, __dirname, module.id, require.resolve('./lib'), typeof require('./lib').again].join() }
            : { action: 'pass' };";
    let lib = "exports.again = require('./again.cjs'); exports.end = 'b';";
    let again = "const lib = require('./lib.js'); module.exports = () => lib.end;";
    let esm = "import lib, { end } from './lib.js'; import { sep } from 'node:path'; export default end + lib.end; export const named = sep;";
    let files = [
        ("src/index.js", entry),
        ("src/lib.js", lib),
        ("src/again.cjs", again),
        ("src/esm.mjs", esm),
        ("src/data.json", r#"{"word": "a"}"#),
    ];
    assert_eq!(
        decide(&files, "abbb/"),
        deny("/reflex/src/index.js,/reflex/src,/reflex/src/index.js,/reflex/src/lib.js,function")
    );
    assert_eq!(decide(&files, "x"), ModuleDecision::Pass);
}

#[test]
fn a_module_in_commonjs_exports_its_reflex_in_any_of_the_usual_ways() {
    let answer = "onToolCall: () => ({ action: 'deny', reason: 'd' })";
    for text in [
        format!("module.exports = {{ {answer} }}"),
        format!("exports.default = {{ {answer} }}"),
        format!("module.exports.reflex = {{ {answer} }}"),
        format!("exports = module.exports = {{ default: {{ default: {{ {answer} }} }} }}"),
        format!("#!/usr/bin/env node\nundeclared = 010; module.exports = {{ {answer} }}; // export {{ a }}"),
        format!("(function (root, make) {{ if (typeof exports === 'object') module.exports = make(); else root.x = make() }})(this, () => ({{ {answer} }}))"),
        format!("import {{ createRequire }} from 'module'; const require = createRequire(import.meta.url); const {{ join }} = require('path');
            export default {{ {answer} }}; if (join('a', 'b') !== 'a/b') throw 1"),
        format!("// require and exports are only named\nexport default {{ {answer} }}"),
    ] {
        assert_eq!(decide(&[("index.js", &text)], "x"), deny("d"), "{text}");
    }
}

#[test]
fn what_cannot_be_required_is_reported() {
    let problem_of = |text: &str| {
        let module = Module::single("m", text);
        let outcome = Chain::new(vec![module], Limits::default()).run(Call::tool_call(json!({})));
        outcome.reports[0].decision.clone().unwrap().unwrap_err().to_string()
    };
    for (text, words) in [
        (
            "module.exports = require('lodash')",
            "Cannot find module 'lodash': only the module's own files and what is built in",
        ),
        ("module.exports = require('node:http')", "a reflex reaches the network by `fetch` alone"),
        ("module.exports = require('./gone')", "the module has no such file"),
        ("module.exports = require('../../etc/passwd')", "it leads out of the module's folder"),
        ("import net from 'net'; export default net", "a reflex reaches the network by `fetch` alone"),
        ("module.exports = require('./index.js?'.slice(0, 5) + 'x')", "the module has no such file"),
        ("module.exports = require('pa' + 'th')", "has to stand in the text as it is"),
        ("module.exports = require(1)", "require takes the name of a module"),
        ("module.exports = { name: 'x' }", "neither `onToolCall` nor `onToolResult`"),
        ("exports.x = 1; }", "cannot be loaded"),
        ("import { execSync } from 'node:child_process'; execSync('ls')", "a reflex starts no programs"),
    ] {
        assert!(problem_of(text).contains(words), "{text}: {}", problem_of(text));
    }
}

#[test]
fn a_bundle_of_five_mebibytes_is_read() {
    let function = |number: usize| {
        format!(
            "function f{number}(a, b) {{ let s = 'text {number}'; for (let i = 0; i < a; i++) s += i; return s.length + b; }}\n"
        )
    };
    let mut source: String = (0..)
        .map(function)
        .scan(0, |sum, text| {
            *sum += text.len();
            (*sum < 4_900_000).then_some(text)
        })
        .collect();
    source.push_str("export default { onToolCall: (c) => c.command === 'frob' ? { action: 'deny', reason: String(f7(2, 3)) } : { action: 'pass' } };");
    let limits = Limits { watchdog: Duration::from_secs(60), ..Limits::default() };
    let outcome =
        Chain::new(vec![Module::single("large", &source)], limits).run(Call::tool_call(json!({"command": "frob"})));
    assert_eq!(outcome.decision.name(), "deny", "{:?}", outcome.reports[0].decision);
}
