//! Rules of other guards and agents: what becomes of each line.

use reflex_rules::import::{Import, Source, import};
use reflex_rules::{Rule, RuleEngine, rules_of};
use serde_json::{Value, json};

fn fates(import: &Import) -> Vec<String> {
    import.lines.iter().map(|line| format!("{} {}", line.fate.name(), line.text)).collect()
}

fn rules(import: &Import) -> Vec<Rule> {
    let (rules, problems) = rules_of("imported.yaml", &import.rules_text(), Some(&Default::default()));
    assert_eq!(problems, []);
    rules
}

/// What the imported rules do to an event.
fn actions(import: &Import, event: &Value) -> Vec<String> {
    let mut engine = RuleEngine::new::<String>([]);
    engine.add_rules(rules(import)).unwrap();
    engine.evaluate(event.as_object().unwrap()).into_iter().map(|result| result.action).collect()
}

fn run(import: &Import, command: &str) -> Vec<String> {
    actions(import, &json!({"event": "bash_command", "command": command}))
}

fn claude(deny: &[&str], ask: &[&str], allow: &[&str]) -> Import {
    let text = json!({"permissions": {"deny": deny, "ask": ask, "allow": allow}});
    import(Source::Claude, "settings.json", &serde_json::to_string_pretty(&text).unwrap()).unwrap()
}

#[test]
fn permissions_become_rules_over_the_parsed_command() {
    let made = claude(&["Bash(rm -rf:*)"], &["Bash(git push *)"], &[]);
    assert_eq!(run(&made, "ls; 'rm' -rf x"), ["block"]);
    assert_eq!(run(&made, "cd a && git push origin main"), ["ask"]);
    assert!(run(&made, "echo rm -rf x").is_empty());
    assert_eq!(made.lines[0].at, "settings.json:4");
}

#[test]
fn paths_hosts_and_tools_are_compared_as_they_are_meant() {
    let made = claude(
        &["Edit(/infra/**)", "Edit(*.pem)", "WebFetch(domain:evil.example)", "mcp__github", "Read(~/.aws/**)"],
        &[],
        &[],
    );
    let write = |path: &str| json!({"event": "file_write", "file_path": path, "workspace": "/repo", "content": "x"});
    assert_eq!(actions(&made, &write("/repo/infra/a.tf")), ["block"]);
    assert_eq!(actions(&made, &write("/repo/certs/a.pem")), ["block"]);
    assert!(actions(&made, &write("/repo/src/infra.tf")).is_empty());
    let fetch = |url: &str| json!({"event": "tool_call", "tool_name": "WebFetch", "url": url});
    assert_eq!(actions(&made, &fetch("https://a.evil.example/x")), ["block"]);
    assert!(actions(&made, &fetch("https://good.example/evil.example")).is_empty());
    let tool = |name: &str| json!({"event": "tool_call", "tool_name": name});
    assert_eq!(actions(&made, &tool("mcp__github__merge")), ["block"]);
    assert!(actions(&made, &tool("mcp__githubby__merge")).is_empty());
    assert!(made.lines.iter().filter(|line| line.fate.name() == "narrowed").count() == 2, "{:?}", fates(&made));
}

#[test]
fn what_was_allowed_elsewhere_lifts_no_core_rule_and_no_runner() {
    let made = claude(
        &[],
        &[],
        &["Bash(npm run test:*)", "Bash(bash:*)", "Bash(* --force)", "Bash(git * main)", "WebSearch", "Bash"],
    );
    assert_eq!(made.allow, [json!({"argv": ["npm", "run", "test"]}), json!({"glob": "git * main"})]);
    let refused = fates(&made).iter().filter(|fate| fate.starts_with("refused")).count();
    assert_eq!(refused, 4, "{:?}", fates(&made));
    assert!(made.policy_text().starts_with("allow:\n  - {\"argv\""));
}

#[test]
fn dead_and_shadowed_lines_are_told_and_left_out() {
    let made = claude(
        &["Bash(git push:*)"],
        &["Bash(rm:*)"],
        &["Bash(git push origin:*)", "Bash(npm:*)", "Bash(npm test:*)", "Bash(rm:*)"],
    );
    assert_eq!(
        fates(&made),
        [
            "imported deny Bash(git push:*)",
            "imported ask Bash(rm:*)",
            "dead allow Bash(git push origin:*)",
            "narrowed allow Bash(npm:*)",
            "shadowed allow Bash(npm test:*)",
            "dead allow Bash(rm:*)",
        ]
    );
    assert_eq!(made.allow.len(), 1);
}

#[test]
fn prefix_rules_stand_for_each_of_their_alternatives() {
    let text = "# x\nprefix_rule(\n  pattern = [\"git\", [\"push\", 'fetch']],\n  decision = \"prompt\",\n  \
        match = [[\"git\", \"push\"]],\n)\nprefix_rule(pattern=[\"rm\"], decision=\"forbidden\", justification=\"\"\"Use trash\"\"\")\n\
        prefix_rule(pattern=[\"rm\", \"-i\"])\nprefix_rule(pattern=[\"ls\"])\nhost_executable(name=\"git\", paths=[])\n";
    let made = import(Source::Codex, "default.rules", text).unwrap();
    assert_eq!(
        fates(&made),
        [
            "imported prompt git push",
            "imported prompt git fetch",
            "imported forbidden rm",
            "dead allow rm -i",
            "narrowed allow ls",
            "refused host_executable"
        ]
    );
    assert_eq!(made.lines[2].at, "default.rules:7");
    assert_eq!(rules(&made)[2].message, "Use trash");
    assert_eq!(run(&made, "rm a"), ["block"]);
    for bad in [
        "x = 1",
        "prefix_rule(pattern=[\"a\"",
        "prefix_rule(pattern=\"",
        "for x in y:\n  pass",
        "prefix_rule(pattern=[[[[[[\"a\"]]]]]])",
    ] {
        assert!(import(Source::Codex, "x.rules", bad).is_err(), "{bad}");
    }
}

#[test]
fn of_policies_with_priorities_the_highest_counts() {
    let text = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git\"]\ndecision = \"allow\"\npriority = 200\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git push\"\ndecision = \"deny\"\npriority = 100\n\
        [[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"npm (un)?publish\"\ndecision = \"ask_user\"\n\
        [[rule]]\nmcpName = \"linear\"\ndecision = \"deny\"\ndenyMessage = \"not here\"\n\
        [[rule]]\ntoolName = \"write_*\"\ndecision = \"deny\"\nmodes = [\"plan\"]\n\
        [[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\nsubagent = \"a\"\n";
    let made = import(Source::Gemini, "p.toml", text).unwrap();
    let expected = ["narrowed", "dead", "imported", "imported", "narrowed", "refused"];
    assert_eq!(made.lines.iter().map(|line| line.fate.name()).collect::<Vec<_>>(), expected);
    let tool = |name: &str, command: &str| json!({"event": "tool_call", "tool_name": name, "command": command});
    assert_eq!(actions(&made, &tool("run_shell_command", "npm publish --tag x")), ["ask"]);
    assert_eq!(actions(&made, &tool("mcp_linear_create", "")), ["block"]);
    assert_eq!(actions(&made, &tool("write_file", "")), ["block"]);
    assert!(import(Source::Gemini, "p.toml", "[[rule").is_err());
}

#[test]
fn markdown_rules_load_with_their_message() {
    let of = |front: &str| import(Source::Hookify, "h.local.md", &format!("---\n{front}\n---\nDo not.\n")).unwrap();
    let made = of("name: warn-rm\nenabled: true\nevent: bash\npattern: rm\\s+-rf\naction: block");
    assert_eq!(run(&made, "RM  -rf x"), ["block"]);
    assert_eq!(rules(&made)[0].message, "Do not.");
    let made = of(
        "name: env\nevent: file\nconditions:\n  - {field: file_path, operator: regex_match, pattern: \\.env$}\n  - {field: new_text, operator: contains, pattern: KEY}",
    );
    let event = json!({"event": "file_edit", "file_path": "/repo/.env", "content": "KEY=1"});
    assert_eq!(actions(&made, &event), ["warn"]);
    for (front, why) in [
        ("name: a\nevent: bash\npattern: (?<!x)rm", "look-around"),
        ("name: a\nevent: stop\npattern: x", "before it stopped"),
        ("name: a\nevent: bash", "no pattern"),
        ("name: a\nevent: bash\nconditions: [{field: transcript, operator: contains, pattern: x}]", "transcript"),
    ] {
        let made = of(front);
        assert!(made.rules.is_empty() && made.lines[0].why.contains(why), "{front}: {:?}", made.lines);
    }
    assert!(import(Source::Hookify, "h.md", "no front").is_err());
}

#[test]
fn other_guards_rules_and_allowlists_map_where_they_can() {
    let text = json!({"version": 1, "rules": [{"name": "add-all", "command": "git", "subcommand": "add",
        "block_args": ["-A", "."], "reason": "Name the files."}]});
    let made = import(Source::SafetyNet, ".safety-net.json", &text.to_string()).unwrap();
    assert_eq!((run(&made, "git add -A"), run(&made, "git add a").len()), (vec!["block".into()], 0));
    let text = "[[allow]]\nrule = \"core.git:reset-hard\"\n[[allow]]\nexact_command = \"rm -rf ./build\"\n\
        reason = \"safe\"\nexpires_at = 2027-02-08T12:00:00Z\n[[allow]]\ncommand_prefix = \"bd create\"\ncontext = \"x\"\n\
        [[allow]]\npattern = \"rm .*\"\n[[allow]]\ncommand_prefix = \"git push\"\nexpires_at = \"2027-03-01T00:00:00Z\"\n";
    let made = import(Source::Dcg, "allowlist.toml", text).unwrap();
    let expected = [
        json!({"command": "rm -rf ./build", "until": "2027-02-08"}),
        json!({"argv": ["git", "push"], "until": "2027-03-01"}),
    ];
    assert_eq!(made.allow, expected);
    assert_eq!(fates(&made).iter().filter(|fate| fate.starts_with("refused")).count(), 3);
}

#[test]
fn a_file_tells_whose_it_is() {
    let check = |path: &str, source: Option<Source>| assert_eq!(Source::of_file(path), source, "{path}");
    check("/h/.claude/settings.json", Some(Source::Claude));
    check(".claude/hookify.x.local.md", Some(Source::Hookify));
    check("/h/.codex/rules/default.rules", Some(Source::Codex));
    check("/h/.gemini/policies/a.toml", Some(Source::Gemini));
    check(".dcg/allowlist.toml", Some(Source::Dcg));
    check("/h/.cc-safety-net/config.json", Some(Source::SafetyNet));
    check("a.txt", None);
}
