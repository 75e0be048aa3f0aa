//! What scripts import from `node:`: paths as node has them, files only as they were granted.

use reflex_script::{Call, Capabilities, Chain, Limits, Machine, MachineError, Module, ModuleDecision};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A machine with one file, that grants by the first pattern.
#[derive(Default)]
struct One {
    written: Mutex<Vec<(String, String)>>,
}

impl Machine for One {
    fn make_folder(&self, _path: &str, _granted: &[String]) -> Result<(), MachineError> {
        Ok(())
    }
    fn ungranted(&self, _path: &str, _granted: &[String]) -> Option<String> {
        None
    }
    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError> {
        match granted.first().map(String::as_str) {
            Some(pattern) if pattern == path => Ok("café".into()),
            Some(_) | None => Err(MachineError::NotGranted(path.into())),
        }
    }
    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        if granted.is_empty() {
            return Err(MachineError::NotGranted(path.into()));
        }
        self.written.lock().unwrap().push((path.into(), String::from_utf8_lossy(bytes).into()));
        Ok(())
    }
    fn list(&self, _path: &str, _granted: &[String]) -> Result<Vec<String>, MachineError> {
        Ok(vec!["a.txt".into()])
    }
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        granted.iter().any(|pattern| pattern == path).then_some("file")
    }
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn fetch(&self, _url: &str, _request: (&str, &str), _granted: &[String]) -> Result<(u16, String), MachineError> {
        Err(MachineError::NoNetwork("there is no network"))
    }
}

/// What an expression gives in a module with these imports.
#[track_caller]
fn check(imports: &str, expression: &str, expected: &str, granted: Capabilities) -> Vec<(String, String)> {
    let source = format!(
        "{imports}\nexport default {{ name: 'x', async onToolCall() {{ let said; try {{ said = await ({expression}); }} \
         catch (error) {{ said = `${{error.code}} ${{error.message}}`; }} return {{ action: 'deny', reason: String(said) }}; }} }};"
    );
    let module = Module { granted, ..Module::single("x", &source) };
    let machine = Arc::new(One::default());
    let call = Call { machine: Arc::clone(&machine) as Arc<dyn Machine>, ..Call::tool_call(json!({})) };
    let outcome = Chain::new(vec![module], Limits::default()).run(call);
    assert_eq!(
        outcome.decision,
        ModuleDecision::Deny { reason: expected.into() },
        "{expression}: {:?}",
        outcome.reports
    );
    machine.written.lock().unwrap().clone()
}

#[test]
fn paths_are_as_in_node() {
    let check = |expression: &str, expected: &str| {
        check("import path, { join } from 'node:path';", expression, expected, Capabilities::default());
    };
    check("join('/a', '../b', './c')", "/b/c");
    check("join('a', '..', '..', 'b')", "../b");
    check("path.resolve('/a/b', '../c')", "/a/c");
    check("path.normalize('/a//b/./c/')", "/a/b/c/");
    check("path.basename('/a/b.test.ts', '.ts')", "b.test");
    check("path.dirname('/a')", "/");
    check("path.dirname('a')", ".");
    check("path.extname('.env') + path.extname('a.b.c')", ".c");
    check("path.relative('/a/b/c', '/a/d')", "../../d");
    check("path.isAbsolute('/a') && !path.posix.isAbsolute('a')", "true");
    check("JSON.stringify(path.parse('/x/a.ts'))", r#"{"root":"/","dir":"/x","base":"a.ts","ext":".ts","name":"a"}"#);
    check("path.format(path.parse('/x/a.ts'))", "/x/a.ts");
}

#[test]
fn files_are_there_only_as_they_were_granted() {
    let granted = Capabilities { files: vec!["/a".into()], writes: vec!["/b".into()], ..Capabilities::default() };
    let fs = "import fs, { readFileSync } from 'node:fs'; import { readFile } from 'fs/promises';";
    check(fs, "readFileSync('/a', 'utf8')", "café", granted.clone());
    check(fs, "readFileSync('/a').length", "5", granted.clone());
    check(fs, "readFile('/a', { encoding: 'utf8' })", "café", granted.clone());
    check(fs, "fs.existsSync('/a') && !fs.existsSync('/c')", "true", granted.clone());
    check(fs, "fs.statSync('/a').size", "5", granted.clone());
    check(fs, "fs.readdirSync('/')", "a.txt", granted.clone());
    check(fs, "readFileSync('/c')", "EACCES EACCES: /c: this was not granted", granted.clone());
    check(fs, "readFileSync('/a')", "EACCES EACCES: /a: this was not granted", Capabilities::default());
    check(fs, "fs.writeFileSync('/b', 'x')", "EACCES EACCES: /b: this was not granted", Capabilities::default());
    let written = check(fs, "fs.copyFileSync('/a', '/b')", "undefined", granted.clone());
    assert_eq!(written, [("/b".into(), "café".into())]);
    let written = check(fs, "fs.writeFileSync('/b', 'é')", "undefined", granted);
    assert_eq!(written, [("/b".into(), "é".into())]);
}

#[test]
fn the_parts_of_a_url_can_be_changed() {
    let check = |expression: &str, expected: &str| check("", expression, expected, Capabilities::default());
    let set = |part: &str, value: &str| {
        format!(
            "(() => {{ const u = new URL('https://a.example:8080/b?c=d#e'); u.{part} = '{value}'; return u.href }})()"
        )
    };
    for (part, value, expected) in [
        ("protocol", "http", "http://a.example:8080/b?c=d#e"),
        ("hostname", "b.example", "https://b.example:8080/b?c=d#e"),
        ("host", "b.example:1", "https://b.example:1/b?c=d#e"),
        ("port", "", "https://a.example/b?c=d#e"),
        ("pathname", "/x y", "https://a.example:8080/x%20y?c=d#e"),
        ("search", "", "https://a.example:8080/b#e"),
        ("hash", "f", "https://a.example:8080/b?c=d#f"),
        ("username", "me", "https://me@a.example:8080/b?c=d#e"),
        ("password", "p", "https://:p@a.example:8080/b?c=d#e"),
        ("href", "http://b.example", "http://b.example/"),
        ("port", "no", "https://a.example:8080/b?c=d#e"),
    ] {
        check(&set(part, value), expected);
    }
    check("(() => { const u = new URL('http://a/?b=1'); u.search = 'c=2'; return u.searchParams.get('c') })()", "2");
    check("(() => { const u = new URL('http://a/'); u.searchParams.set('b', '1'); return u.href })()", "http://a/?b=1");
    check("(() => { new URL('http://a/').href = 'x' })()", "undefined this is no URL: x");
    check("JSON.stringify(new TextEncoder().encodeInto('aé☃', new Uint8Array(4)))", r#"{"read":2,"written":3}"#);
}

#[test]
fn what_is_printed_is_as_a_person_reads_it() {
    let source = "export default { onToolCall() {
        const round = {}; round.self = round;
        console.log('a', 1, { b: [2] }, null, undefined, true, new Error('x'), () => 1);
        console.dir([1n]); console.log(round, Symbol('s'), Object.create(null)); console.table([{ a: 1 }]);
        console.group('g'); console.groupEnd(); console.time('t'); console.timeEnd('t');
        console.assert(1, 'holds'); console.assert(0, 'not', { so: 1 });
        return { action: 'pass' };
    } };";
    let outcome = Chain::new(vec![Module::single("x", source)], Limits::default()).run(Call::tool_call(json!({})));
    assert_eq!(outcome.reports[0].decision, Some(Ok(ModuleDecision::Pass)), "{outcome:?}");
    assert_eq!(
        outcome.reports[0].printed,
        [
            "a 1 {\"b\":[2]} null undefined true Error: x () => 1",
            "[object]",
            "[object] [symbol] {}",
            "[{\"a\":1}]",
            "g",
            "Assertion failed: not {\"so\":1}",
        ]
    );
}
