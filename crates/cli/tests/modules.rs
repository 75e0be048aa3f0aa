//! User and project reflexes during a call: which run, which may run, and how their answers are combined.

use crate::support;
use crate::support::{Machine, Ran};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A machine whose user and project have these reflexes.
struct Here {
    machine: Machine,
    project: PathBuf,
}

impl Here {
    fn new() -> Here {
        let machine = Machine::new();
        let project = machine.project();
        fs::create_dir_all(project.join(".git")).unwrap();
        Here { machine, project }
    }

    fn user(self, name: &str, text: &str) -> Here {
        write(&self.machine.home().join(".config/reflex").join(name), text);
        self
    }

    fn project_file(self, name: &str, text: &str) -> Here {
        write(&self.project.join(".reflex").join(name), text);
        self
    }

    /// Returns the decision of `check` with the ids of its findings.
    fn decision(&self, folder: &str, command: &str) -> (String, Vec<String>) {
        let folder = self.project.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let call = self.machine.reflex(["check", "--json", command]).folder(&folder);
        let verdict: Value = serde_json::from_str(&call.run().stdout).unwrap();
        let findings = verdict["findings"].as_array().cloned().unwrap_or_default();
        let ids = findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned());
        (verdict["decision"].as_str().unwrap().to_owned(), ids.collect())
    }

    #[track_caller]
    fn check(&self, command: &str, decision: &str, ids: &[&str]) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(self.decision("", command), (decision.to_owned(), ids), "{command}");
    }

    fn records(&self) -> Vec<Value> {
        let audit = self.machine.home().join(".local/state/reflex/audit");
        let texts = support::files(&audit).into_iter().map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned());
        let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns a module that answers commands that contain a word.
fn on(word: &str, answer: &str) -> String {
    format!(
        "import * as core from '@agentreflex/core';\nexport default {{ name: 'x', onToolCall: (ctx) => \
         ctx.command?.includes('{word}') ? core.{answer} : core.pass() }};\n"
    )
}

#[test]
fn the_first_that_does_not_pass_decides_and_a_reflex_never_loosens() {
    let here = Here::new()
        .user("config.json", r#"{"reflexes": ["./quiet.mjs", "./asks.ts", "./denies.mjs"]}"#)
        .user("quiet.mjs", &on("zzz", "deny('never')"))
        .user("asks.ts", &on("frob", "ask('sure' as string)"))
        .user("denies.mjs", &on("frob", "deny('no')"));
    here.check("frob", "require_approval", &["reflex/asks"]);
    here.check("ls", "allow", &[]);
    let (decision, ids) = here.decision("", "git push --force origin main; frob");
    assert_eq!(decision, "block", "another detector's block stays: {ids:?}");
    // An approval at the agent's own prompt would hide the last reflex's denial, so this call is refused.
    let output = here.machine.bash(&here.project, "frob");
    assert!(output.stdout.contains("\"deny\"") && output.stdout.contains("sure"), "{output:?}");
    // No reflex answers `ls`, so the hook prints nothing.
    assert_eq!(here.machine.bash(&here.project, "ls"), Ran::silence());
}

#[test]
fn an_ask_is_the_agents_own_where_nothing_stands_behind_it() {
    let here = Here::new().user("config.json", r#"{"reflexes": ["./a.js"]}"#).user("a.js", &on("frob", "ask('sure')"));
    let output = here.machine.bash(&here.project, "frob");
    assert!(output.stdout.contains("\"ask\""), "{output:?}");
}

#[test]
fn after_a_yes_the_same_call_goes_on_to_the_next_reflex() {
    for (last, decided) in [("deny('never so')", "\"deny\""), ("ask('really')", "\"ask\""), ("pass()", "")] {
        let here = Here::new()
            .user("config.json", r#"{"reflexes": ["./asks.js", "no-rm-rf", "./last.js", "./after.js"]}"#)
            .user("asks.js", &on("frob", "ask('sure')"))
            .user("last.js", &on("frob", last))
            .user("after.js", &on("frob", "pass()"));
        let output = here.machine.bash(&here.project, "frob");
        assert!(output.stdout.contains("sure"), "{last}: {output:?}");
        let Some((_, rest)) = output.stdout.split_once("`reflex approve ") else {
            // No further reflex follows this question, so the agent asks it itself.
            assert!(last == "pass()" && output.stdout.contains("\"ask\""), "{last}: {output:?}");
            continue;
        };
        let id = rest.split('`').next().unwrap();
        let Some((code, text)) = at_terminal(&here, &format!("approve {id}")) else { return };
        assert_eq!(code, 0, "{text}");
        let resumed = here.machine.bash(&here.project, "frob");
        assert!(resumed.stdout.contains(decided) && !resumed.stdout.contains("sure"), "{last}: {resumed:?}");
        // The approval was for one call: the next call starts at the first reflex again.
        let again = here.machine.bash(&here.project, "frob");
        assert!(again.stdout.contains("sure"), "{last}: {again:?}");
    }
}

#[test]
fn code_of_a_project_runs_once_a_person_has_accepted_exactly_it() {
    let here = Here::new()
        .project_file("config.json", r#"{"reflexes": ["./reflexes/no-frob", "official/no-force-push"]}"#)
        .project_file("reflexes/no-frob/index.js", &on("frob", "deny('no frob')"))
        .project_file("reflexes/no-frob/part.js", "export default 1;\n");
    here.check("frob", "warn", &["guard/untrusted-reflexes"]);
    let Some((code, output)) = at_terminal(&here, "trust") else { return };
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("no frob") && output.contains("no-frob/part.js"), "{output}");
    here.check("frob", "block", &["reflex/no-frob"]);
    assert_eq!(here.decision("deep/below", "frob").0, "block", "the list is found above the folder of the call");
    // Every file is bound, not only the entry point; so is the list.
    for (name, text) in [
        ("reflexes/no-frob/part.js", "export default 2;\n"),
        ("config.json", r#"{"reflexes": ["./reflexes/no-frob"]}"#),
    ] {
        let path = here.project.join(".reflex").join(name);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, text).unwrap();
        here.check("frob", "require_approval", &["guard/changed-reflexes"]);
        fs::write(&path, before).unwrap();
    }
    here.check("frob", "block", &["reflex/no-frob"]);
    let nested = here.project_file("../sub/.reflex/config.json", r#"{"reflexes": []}"#);
    assert_eq!(nested.decision("sub", "frob").0, "block", "a list below takes nothing away");
}

#[test]
fn what_cannot_answer_is_asked_about_and_named() {
    let list = r#"{"reflexes": ["./throws.js", {"source": "./skips.js", "on_error": "skip"}, "./gone.js", {"source": "./loops.js", "on_error": "deny"}]}"#;
    let here = Here::new()
        .user("config.json", list)
        .user("throws.js", "export default { onToolCall() { throw new Error('broken') } }")
        .user("skips.js", "export default { onToolCall: () => 7 }")
        .user("loops.js", "export default { onToolCall() { for (;;) {} } }");
    let (decision, ids) = here.decision("", "touch a");
    assert_eq!(decision, "block", "{ids:?}");
    assert!(
        ["reflex/throws", "reflex/skips", "reflex/gone"].iter().all(|id| ids.iter().any(|other| other == id)),
        "{ids:?}"
    );
    here.machine.bash(&here.project, "touch a");
    let record = here.records().pop().unwrap();
    let reports = record["reflexes"].to_string();
    assert!(
        reports.contains("broken") && reports.contains("no valid decision") && reports.contains("steps"),
        "{reports}"
    );
    let broken = Here::new().user("config.json", "{\"reflexes\": [");
    broken.check("touch a", "require_approval", &["guard/broken-reflexes"]);
}

#[test]
fn another_call_is_offered_only_if_it_would_pass_and_the_others_are_asked_about_it() {
    let modify = |command: &str| on("npm install", &format!("modify({{ command: '{command}' }}, 'cleaner')"));
    let list = r#"{"reflexes": ["./clean.js", "./guard.js"]}"#;
    let verdict = |here: &Here| -> Value {
        let call = here.machine.reflex(["check", "--json", "npm install"]).folder(&here.project);
        serde_json::from_str(&call.run().stdout).unwrap()
    };
    let of = |command: &str| {
        Here::new()
            .user("config.json", list)
            .user("clean.js", &modify(command))
            .user("guard.js", &on("frob", "deny('no')"))
    };
    assert_eq!(verdict(&of("npm ci"))["rewrite"]["command"], "npm ci");
    assert!(verdict(&of("rm -rf ~"))["rewrite"].is_null());
    assert!(verdict(&of("frob"))["rewrite"].is_null(), "who comes after is asked about it too");
}

#[test]
fn a_manifest_is_kept_to() {
    let manifest = |decisions: &str| {
        format!(
            r#"{{"name": "strict-one", "title": "t", "description": "d", "events": ["onToolCall"], "entry": "index.js",
            "capabilities": {{"decisions": [{decisions}], "reads": ["command"]}},
            "options": {{"word": {{"type": "string", "required": true}}}}}}"#
        )
    };
    let source = "export default { onToolCall: (ctx) => ({ action: 'deny', reason: JSON.stringify(ctx) }), \
        onToolResult() { throw 1 } }";
    let here = |list: &str, decisions: &str| {
        Here::new()
            .user("config.json", list)
            .user("reflexes/one/reflex.json", &manifest(decisions))
            .user("reflexes/one/index.js", source)
    };
    let full = r#"{"reflexes": [{"source": "./reflexes/one", "with": {"word": "w"}}]}"#;
    let output = here(full, "\"deny\"").hook_output("frob");
    let shown: Value = serde_json::from_str(&output).unwrap();
    let keys: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["event", "agent", "tool", "cwd", "command", "options"], "{output}");
    here(full, "\"ask\"").check("frob", "require_approval", &["reflex/strict-one"]);
    let misfit = r#"{"reflexes": [{"source": "./reflexes/one", "with": {"word": 1}}]}"#;
    here(misfit, "\"deny\"").check("frob", "require_approval", &["reflex/one"]);
}

impl Here {
    fn hook_output(&self, command: &str) -> String {
        let call = self.machine.reflex(["check", "--json", command]).folder(&self.project);
        let verdict: Value = serde_json::from_str(&call.run().stdout).unwrap();
        verdict["findings"][0]["message"].as_str().unwrap_or("").to_owned()
    }
}

#[test]
fn what_ships_and_was_not_granted_says_so() {
    let here = Here::new().user("config.json", r#"{"reflexes": ["abide"]}"#);
    let (decision, ids) = here.decision("", "frob");
    assert_eq!(
        (decision.as_str(), ids),
        ("require_approval", vec!["reflex/abide".to_owned(), "guard/ungranted-reflexes".to_owned()])
    );
    assert!(here.hook_output("frob").contains("this was not granted"));
    for command in [["reflexes", "list"].as_slice(), &["status"]] {
        let call = here.machine.reflex(command).folder(&here.project);
        let output = call.run();
        assert!(output.stdout.contains("What `abide` may touch was not granted in "), "{output:?}");
        assert!(output.stdout.contains("`reflex reflexes add --user abide`"), "{output:?}");
    }
}

#[test]
fn lists_that_nobody_accepted_are_told_where_they_count() {
    let here = Here::new()
        .project_file("../a/b/.reflex/config.json", r#"{"reflexes": ["./x.mjs", "no-rm-rf"]}"#)
        .project_file("../a/b/.reflex/x.mjs", &on("frob", "deny('no')"));
    let output = |folder: &str, command: &[&str]| {
        let folder = here.project.join(folder);
        fs::create_dir_all(&folder).unwrap();
        here.machine.reflex(command).folder(&folder).run().stdout
    };
    for folder in ["a/b", "a/b/c"] {
        let listed = output(folder, &["reflexes", "list"]);
        assert!(listed.contains("not in force; in a/b/.reflex") && listed.contains("no-rm-rf"), "{listed}");
        for text in [listed, output(folder, &["status"]), output(folder, &["status", "--json"])] {
            assert!(text.contains("a/b/.reflex/config.json are not in force: no person has accepted them"), "{text}");
            assert!(text.contains("`reflex trust`"), "{text}");
        }
        assert_eq!(here.decision(folder, "frob"), ("warn".into(), vec!["guard/untrusted-reflexes".into()]));
    }
    assert!(!output("a", &["status"]).contains("not in force"));
}

#[test]
fn what_a_tool_gave_back_is_told_and_every_agent_is_heard() {
    let source = "export default { onToolResult(ctx) { console.log(ctx.event, ctx.tool, ctx.reflex.outcome.output) } }";
    let here = Here::new().user("config.json", r#"{"reflexes": ["./a.js"]}"#).user("a.js", source);
    let payload = json!({
        "session_id": "s1", "cwd": here.project, "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_response": {"stdout": "README", "stderr": ""},
    });
    let hook = here.machine.reflex(["hook", "--agent", "claude", "--event", "PostToolUse"]);
    hook.input(payload.to_string()).run();
    let record = here.records().pop().unwrap();
    assert!(record["reflexes"][0]["printed"][0].as_str().unwrap().starts_with("onToolResult Bash README"), "{record}");
}

#[test]
fn what_was_granted_is_the_whole_of_what_a_module_has() {
    let source = "import { readFileSync } from 'node:fs'; import { join } from 'node:path';\n\
        export default { onToolCall(ctx) { return { action: 'deny', reason: readFileSync(join(ctx.cwd, ctx.command.slice(5)), 'utf8') } } }";
    let manifest = r#"{"name": "reader", "title": "t", "description": "d", "events": ["onToolCall"], "entry": "index.js",
        "capabilities": {"decisions": ["deny"], "files": ["docs/**"]}}"#;
    let here = Here::new()
        .project_file("config.json", r#"{"reflexes": ["./reflexes/reader"]}"#)
        .project_file("reflexes/reader/reflex.json", manifest)
        .project_file("reflexes/reader/index.js", source);
    write(&here.project.join("docs/a"), "inside");
    write(&here.project.join("secret"), "outside");
    std::os::unix::fs::symlink(here.project.join("secret"), here.project.join("docs/link")).unwrap();
    if at_terminal(&here, "trust").is_none() {
        return;
    }
    let output = here.hook_output("read docs/a");
    assert!(output.contains("inside"), "{output}");
    for way in ["read secret", "read docs/../secret", "read docs/link", "read /etc/passwd"] {
        let output = here.hook_output(way);
        assert!(output.contains("not granted"), "{way}: {output}");
    }
}

/// Runs as a person at a terminal in the project who answers `y`; `None` if no terminal can be created.
fn at_terminal(here: &Here, arguments: &str) -> Option<(i32, String)> {
    let line = format!("{} {arguments}", here.machine.line());
    if here.machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        println!("skipped: there is no program `script`");
        return None;
    }
    let output = here.machine.program("script", ["-qec", &line, "/dev/null"]).folder(&here.project).input("y\n").run();
    Some((output.code, output.stdout))
}

#[test]
fn a_package_says_in_package_json_where_its_module_is() {
    let text = on("frob", "deny('no')");
    let common = "const core = require('@agentreflex/core'); const { word } = require('./word'); module.exports = \
        { onToolCall: (ctx) => ctx.command?.includes(word) ? core.deny('no') : core.pass() };";
    for (described, files) in [
        (r#"{"main": "./dist/main.js"}"#, vec![("dist/main.js", text.as_str())]),
        (
            r#"{"type": "commonjs", "main": "lib"}"#,
            vec![("lib/index.js", common), ("lib/word.cjs", "exports.word = 'frob'")],
        ),
        (r#"{"exports": "./a.mjs", "main": "./b.js"}"#, vec![("a.mjs", text.as_str()), ("b.js", "throw 1")]),
        (
            r#"{"type": "module", "exports": {".": {"types": "./a.d.ts", "import": {"default": "./dist/a.js"}, "require": "./dist/a.cjs"}}}"#,
            vec![("dist/a.js", text.as_str()), ("dist/a.cjs", "throw 1"), ("a.d.ts", "")],
        ),
        (r#"{"exports": {"require": "./only"}}"#, vec![("only.cjs", common), ("word.json", r#"{"word": "frob"}"#)]),
    ] {
        let mut here = Here::new().user("config.json", r#"{"reflexes": ["no-frob"]}"#);
        here = here.user("node_modules/no-frob/package.json", described);
        for (name, text) in files {
            here = here.user(&format!("node_modules/no-frob/{name}"), text);
        }
        here.check("frob", "block", &["reflex/no-frob"]);
        here.check("ls", "allow", &[]);
    }
}

/// Returns the files of the code cache, by name.
fn kept(here: &Here) -> Vec<PathBuf> {
    let folder = here.machine.home().join(".local/state/reflex/code");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn code_that_was_kept_says_what_its_text_says() {
    let module = "import { deny, pass } from '@agentreflex/core'; import { word } from './words.js'; import more from './more.json';
        export default { name: 'k', onToolCall: async (ctx: { command?: string }) =>
            ctx.command === word ? deny((await import('./late.js')).why + more.a + String(pass)) : pass() };";
    let late = "export const why = 'because ';";
    let here = Here::new().user("config.json", r#"{"reflexes": ["./k.ts"]}"#).user("k.ts", module);
    let here =
        here.user("words.js", "export const word = 'frob';").user("late.js", late).user("more.json", "{\"a\": 1}");
    let call = |command: &str| {
        let call = here.machine.reflex(["check", "--json", command]).folder(&here.project);
        let verdict: Value = serde_json::from_str(&call.run().stdout).unwrap();
        verdict["findings"][0]["message"].as_str().unwrap_or("").to_owned()
    };
    // The other path is used first, so that its late import was not loaded when the code was cached.
    assert_eq!((call("ls"), kept(&here).len()), (String::new(), 1));
    let output = call("frob");
    assert!(output.starts_with("because 1"), "{output}");
    let [file] = kept(&here).try_into().unwrap();
    // The answer came from the cached code: a different source would have a different digest.
    let bytes = fs::read(&file).unwrap();
    // Every damage is reported, and then the source is used.
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&file, damaged).unwrap();
        assert_eq!(call("frob"), output, "byte {at}");
        assert_eq!(fs::read(&file).unwrap(), bytes, "it is kept again");
    }
    let here = here.user("late.js", "export const why = 'changed ';");
    let call = here.machine.reflex(["check", "--json", "frob"]).folder(&here.project);
    assert!(call.run().stdout.contains("changed 1"));
    assert_eq!(kept(&here).len(), 2);
}

#[test]
fn no_code_is_kept_or_taken_where_the_environment_says_so() {
    let here = Here::new().user("config.json", r#"{"reflexes": ["./x.mjs"]}"#).user("x.mjs", &on("frob", "deny('no')"));
    let other = here.machine.root().join("other");
    let call = here.machine.reflex(["check", "frob"]).folder(&here.project);
    let call = call.env("HOME", &other).env("XDG_STATE_HOME", other.join("state"));
    assert!(call.run().stdout.contains("reflex/x"));
    assert!(!other.exists());
    assert_eq!(kept(&here).len(), 1);
}
