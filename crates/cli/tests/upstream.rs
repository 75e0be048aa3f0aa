//! Reflexes, packs and hooks of agentreflex and rules of @fozikio/reflex work here unchanged.

use crate::support::{Machine, Ran};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn config(machine: &Machine) -> PathBuf {
    machine.home().join(".config/reflex")
}

/// The user's list of reflexes.
fn list(machine: &Machine, reflexes: &Value) {
    write(&config(machine).join("config.json"), &json!({"reflexes": reflexes}).to_string());
}

/// Claude Code's hook before a tool.
fn hook(machine: &Machine, tool: &str, input: &Value) -> Ran {
    let payload = json!({
        "session_id": "s", "cwd": machine.project(), "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": tool, "tool_input": input, "tool_use_id": "t",
    });
    let call = machine.reflex(["hook", "--agent", "claude", "--event", "PreToolUse"]);
    call.folder(&machine.project()).input(payload.to_string()).run()
}

fn bash(machine: &Machine, command: &str) -> String {
    hook(machine, "Bash", &json!({"command": command})).stdout
}

/// A folder with a reflex whose manifest has these capabilities and options.
fn folder(machine: &Machine, name: &str, (capabilities, options): (Value, Value), source: &str) {
    let place = config(machine).join(name);
    let manifest = json!({
        "name": name, "title": name, "description": name, "events": ["onToolCall"], "entry": "dist/index.js",
        "capabilities": capabilities, "options": options,
    });
    write(&place.join("reflex.json"), &manifest.to_string());
    write(&place.join("dist/index.js"), source);
}

#[test]
fn a_file_that_a_module_may_not_see_is_told_once_and_logged() {
    let machine = Machine::new();
    write(&machine.project().join(".reflex/team.yaml"), "deny: everything\n");
    let source = "import fs from 'node:fs'; import path from 'node:path';
        export default { onToolCall(ctx) {
            const file = path.join(ctx.cwd, '.reflex', 'team.yaml');
            if (fs.existsSync(file)) return { action: 'deny', reason: 'team rules' };
            let code = ''; try { fs.statSync(file); } catch (error) { code = error.code; }
            return code === 'EACCES' ? { action: 'pass' } : { action: 'deny', reason: code };
        } };";
    write(&config(&machine).join("team.mjs"), source);
    list(&machine, &json!(["./team.mjs"]));
    let output = bash(&machine, "ls");
    assert!(output.contains("may not see `.reflex/team.yaml`") && output.contains("capabilities"), "{output}");
    assert!(!output.contains("permissionDecision"), "{output}");
    assert_eq!(bash(&machine, "ls -l"), "");
    let log = fs::read_to_string(machine.home().join(".local/state/reflex/audit/current.jsonl")).unwrap();
    assert_eq!(log.matches("\"missed\":[\".reflex/team.yaml\"]").count(), 2, "{log}");
    let status = machine.reflex(["status"]).folder(&machine.project()).run().stdout;
    assert!(status.contains("looked for `.reflex/team.yaml`"), "{status}");
}

#[test]
fn the_folder_of_a_call_is_seen_whatever_is_read_and_a_hidden_field_is_told() {
    let machine = Machine::new();
    let source = "export default { onToolCall(ctx) {
            if (ctx.raw !== undefined) return { action: 'deny', reason: 'raw' };
            return ctx.paths.every((path) => path.startsWith(ctx.cwd)) ? { action: 'pass' } : { action: 'deny', reason: 'outside' };
        } };";
    folder(&machine, "stay", (json!({"decisions": ["deny"], "reads": ["paths"]}), json!({})), source);
    list(&machine, &json!(["./stay"]));
    let inside = json!({"file_path": machine.project().join("src/a.ts"), "content": "x\n"});
    let output = hook(&machine, "Write", &inside).stdout;
    assert!(output.contains("may not see `raw`") && !output.contains("permissionDecision"), "{output}");
    let outside = json!({"file_path": machine.root().join("elsewhere/a.ts"), "content": "x\n"});
    assert!(hook(&machine, "Write", &outside).stdout.contains("outside"));
}

#[test]
fn options_of_any_type_are_read() {
    let machine = Machine::new();
    let source =
        "export default { onToolCall: ({ options }) => ({ action: 'deny', reason: JSON.stringify(options) }) };";
    let types = json!({"allow": {"type": "string[]"}, "how": {"type": "glob | regex"}});
    folder(&machine, "scope", (json!({"decisions": ["deny"], "reads": ["options"]}), types), source);
    for with in [json!({"allow": ["src/**"]}), json!({"allow": "src/**", "how": "glob"})] {
        list(&machine, &json!([{"source": "./scope", "with": with}]));
        let output = bash(&machine, "ls");
        assert!(output.contains("src/**") && output.contains("deny"), "{output}");
    }
    list(&machine, &json!([{"source": "./scope", "with": {"allow": [1]}}]));
    assert!(bash(&machine, "ls").contains("is not of type string[]"));
}

#[test]
fn a_listed_module_that_is_missing_warns_once_and_asks_about_nothing() {
    let machine = Machine::new();
    list(&machine, &json!(["left-out"]));
    let output = bash(&machine, "make");
    assert!(output.contains("`left-out`") && !output.contains("permissionDecision"), "{output}");
    assert_eq!(bash(&machine, "make test"), "");
    let status = machine.reflex(["status"]).folder(&machine.project()).run().stdout;
    assert!(status.contains("`left-out`") && status.contains("is not in force"), "{status}");
}

#[test]
fn packages_that_are_installed_beside_a_module_are_imported() {
    let machine = Machine::new();
    let place = config(&machine);
    write(&place.join("node_modules/words/package.json"), r#"{"name": "words", "main": "./lib/index.js"}"#);
    write(
        &place.join("node_modules/words/lib/index.js"),
        "exports.bad = require('./bad').concat(require('more/list'));",
    );
    write(&place.join("node_modules/words/lib/bad.js"), "module.exports = ['frob'];");
    write(&place.join("node_modules/more/package.json"), r#"{"name": "more", "exports": {"./list": "./list.cjs"}}"#);
    write(&place.join("node_modules/more/list.cjs"), "module.exports = ['grob'];");
    let source = "import { bad } from 'words'; import type { Reflex } from '@agentreflex/core';
        export default { onToolCall: (ctx) => bad.includes(ctx.command) ? { action: 'deny', reason: 'bad' } : { action: 'pass' } } as Reflex;";
    write(&place.join("words.ts"), source);
    list(&machine, &json!(["./words.ts"]));
    for (command, denied) in [("frob", true), ("grob", true), ("ls", false)] {
        let output = bash(&machine, command);
        assert_eq!(output.contains("\"deny\""), denied, "{command}: {output}");
    }
}

#[test]
fn the_reflexes_of_an_installed_pack_run() {
    let machine = Machine::new();
    let source =
        "export default { onToolCall: ({ options }) => ({ action: 'deny', reason: `pack ${options.word}` }) };";
    let pack = json!({"name": "cell", "reflexes": [{"source": "guard.mjs", "with": {"word": "frob"}}], "skills": []});
    for place in [config(&machine).join("packs/cell"), machine.root().join("cell")] {
        write(&place.join("pack.json"), &pack.to_string());
        write(&place.join("guard.mjs"), source);
    }
    write(&config(&machine).join("config.json"), r#"{"reflexes": [], "packs": [{"name": "cell"}, {"name": "../x"}]}"#);
    assert!(bash(&machine, "ls").contains("pack frob"));
    let shown = machine.reflex(["reflexes", "add", "--show", "../cell"]).folder(&machine.project()).run();
    assert!(shown.stdout.contains("not its skills") && shown.stdout.contains("guard"), "{shown:?}");
}

#[test]
fn a_payload_is_shown_to_modules_as_the_hook_shows_it() {
    let machine = Machine::new();
    let source =
        "export default { onToolCall: (ctx) => ({ action: 'deny', reason: `raw ${ctx.raw.tool_input.command}` }) };";
    write(&config(&machine).join("raw.mjs"), source);
    list(&machine, &json!(["./raw.mjs"]));
    let payload = json!({"hook_event_name": "PreToolUse", "cwd": machine.project(), "tool_name": "Bash",
        "tool_input": {"command": "frob"}});
    let call = machine.reflex(["check", "--agent", "claude", "--payload"]).folder(&machine.project());
    let output = call.input(payload.to_string()).run();
    assert!(output.stdout.contains("raw frob"), "{output:?}");
    assert!(machine.reflex(["check", "frob"]).folder(&machine.project()).run().stdout.contains("raw frob"));
}

#[test]
fn hooks_of_agentreflex_are_found_and_replaced_in_home_and_project() {
    let machine = Machine::new();
    let (home, project) = (machine.home(), machine.project());
    fs::create_dir_all(project.join(".git")).unwrap();
    let claude = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"arx hook --agent claude"}]}]},"model":"x"}"#;
    let copilot =
        r#"{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"npx agentreflex hook --agent copilot"}]}}"#;
    let files = [
        (home.join(".claude/settings.json"), claude),
        (project.join(".claude/settings.json"), claude),
        (home.join(".copilot/hooks/agentreflex.json"), copilot),
        (project.join(".github/hooks/agentreflex.json"), copilot),
        (project.join(".opencode/plugins/agentreflex.js"), "spawn('arx', ['hook', '--agent', 'opencode'])"),
    ];
    files.iter().for_each(|(file, text)| write(file, text));
    fs::create_dir_all(home.join(".config/opencode")).unwrap();
    let init = |more: &[&str]| {
        let words = [&["init", "--yes"], more].concat();
        machine.reflex(words).folder(&project).run().stdout
    };
    let output = init(&["--dry-run"]);
    for (file, _) in &files {
        let shown = file.display().to_string();
        assert!(output.lines().any(|line| line.contains(&shown) && line.contains("came before")), "{shown}: {output}");
    }
    init(&["--replace"]);
    for (file, _) in &files {
        let text = fs::read_to_string(file).unwrap_or_default();
        assert!(!text.contains("arx") && !text.contains("agentreflex hook"), "{}: {text}", file.display());
    }
    assert!(fs::read_to_string(&files[1].0).unwrap().contains("\"model\":\"x\""));
    assert!(!files[4].0.exists() && !files[3].0.exists());
}

#[test]
fn rules_are_asked_about_an_event_from_a_file_or_the_command_line() {
    let machine = Machine::new();
    let rules = machine.root().join("rules");
    let rule = "name: no-frob\nevents: [bash_command, tool_call, post_tool, file_delete]\naction: block\nmessage: 'no {{word}}'\n\
                conditions: [{field: word, op: equals, pattern: frob}]\n";
    write(&rules.join("a.yaml"), rule);
    let event = machine.root().join("event.json");
    write(&event, r#"{"event": "bash_command", "command": "x", "word": "frob"}"#);
    let (rules, event) = (rules.to_str().unwrap(), event.to_str().unwrap());
    let output = machine.reflex(["rules", "test", rules, event]).run();
    assert!(output.code == 2 && output.stdout.contains("no frob"), "{output:?}");
    for (name, code) in [("tool_call", 2), ("post_tool", 2), ("file_delete", 2), ("prompt_submit", 0)] {
        let words = ["rules", "test", rules, "--event", name, "--field", "word=frob", "--command", "rm x", "--json"];
        let output = machine.reflex(words).run();
        assert_eq!((output.code, output.json()["blocked"] == true), (code, code == 2), "{name}: {output:?}");
    }
    // A rule of the package needs no import, and a copy of a shipped rule is reported.
    let output = machine.reflex(["import", &format!("{rules}/a.yaml")]).run();
    assert!(output.stderr.contains("loads as it is"), "{output:?}");
    write(&Path::new(rules).join("b.yaml"), &rule.replace("no-frob", "path-traversal"));
    let output = machine.reflex(["rules", "validate", rules]).run();
    assert!(format!("{output:?}").contains("has the name of one that ships"), "{output:?}");
}

#[test]
fn what_a_rule_says_of_a_prompt_or_a_session_reaches_the_person() {
    let machine = Machine::new();
    let rule = "name: think\nevents: [prompt_submit, session_start]\naction: warn\nmessage: 'Think first'\n\
                conditions: [{field: event, op: contains, pattern: s}]\n";
    write(&config(&machine).join("rules/think.yaml"), rule);
    for (word, more) in [("UserPromptSubmit", json!({"prompt": "go"})), ("SessionStart", json!({"source": "startup"}))]
    {
        let mut payload = json!({"session_id": word, "cwd": machine.project(), "hook_event_name": word});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let call = machine.reflex(["hook", "--agent", "claude", "--event", word]).folder(&machine.project());
        let output: Value = serde_json::from_str(&call.input(payload.to_string()).run().stdout).unwrap();
        assert!(output["systemMessage"].as_str().unwrap().contains("Think first"), "{word}: {output}");
        assert!(output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("Think first"), "{word}");
    }
}

#[test]
fn a_reason_keeps_the_punctuation_of_its_author() {
    let machine = Machine::new();
    let source =
        "export default { onToolCall: () => ({ action: 'deny', reason: 'never do this — see docs/why.md' }) };";
    write(&config(&machine).join("own.mjs"), source);
    list(&machine, &json!(["./own.mjs"]));
    let output = bash(&machine, "frob");
    assert!(output.contains("see docs/why.md") && !output.contains("why.md."), "{output}");
}
