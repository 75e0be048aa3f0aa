//! User and project rules and policies: which may tighten or loosen, and what applies if a file is damaged.

use crate::support;
use crate::support::Machine;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A machine whose user and project have these files.
struct Surroundings {
    machine: Machine,
    project: PathBuf,
}

impl Surroundings {
    fn new() -> Surroundings {
        let machine = Machine::new();
        let project = machine.project();
        Surroundings { machine, project }
    }

    fn user(self, name: &str, text: &str) -> Surroundings {
        write(&self.machine.home().join(".config/reflex").join(name), text);
        self
    }

    fn project(self, name: &str, text: &str) -> Surroundings {
        write(&self.project.join(".reflex").join(name), text);
        self
    }

    fn run(&self, words: &[&str]) -> (String, i32) {
        let call = self.machine.reflex(words).folder(&self.project);
        let output = call.run();
        (output.stdout, output.code)
    }

    fn verdict(&self, command: &str) -> Value {
        serde_json::from_str(&self.run(&["check", "--json", command]).0).unwrap()
    }

    #[track_caller]
    fn check(&self, command: &str, decision: &str) {
        let verdict = self.verdict(command);
        assert_eq!(verdict["decision"], decision, "{command}: {verdict}");
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn validate_names_what_stands_there_and_does_not_count() {
    let policy = "rules:\n  git/push-force-protected: off\n  git/push-force: {action: log, until: 2020-12-31}\n\
        allow:\n  - {argv: [npm, ci], until: 2020-12-31}\n  - {argv: [npm, test]}\n";
    let here = Surroundings::new().user("policy.yaml", policy);
    let (output, code) = here.run(&["rules", "validate"]);
    for words in [
        ":2: `rules.git/push-force-protected` does not count: a core rule is lowered with a `reason`\n",
        ":3: `rules.git/push-force` does not count: its `until` is over\n",
        ":4: `allow` 1 of 2 entries no longer count: `until` is over\n",
        "0 errors, 3 warnings\n",
    ] {
        assert!(output.contains(words), "{words}: {output}");
    }
    assert_eq!(code, 0);
    here.check("git push --force origin topic", "require_approval");
}

const NO_PRUNE: &str = "name: no-prune\nevents: [bash_command]\nconditions:\n  - matches_command: docker image prune*\n\
    action: block\nseverity: high\nmessage: '{{command}} is not wanted'\n";

#[test]
fn a_rule_of_the_user_is_asked_about_the_parsed_command() {
    let here = Surroundings::new().user("rules/deep/a.yml", NO_PRUNE);
    here.check("sudo docker 'image' prune -a", "block");
    here.check("echo docker image prune", "allow");
    let verdict = here.verdict("docker image prune");
    assert_eq!(verdict["findings"][0]["id"], "user/no-prune");
    assert!(verdict["reasons"][0].as_str().unwrap().contains("docker image prune is not wanted."));
}

#[test]
fn a_project_tightens_at_once_and_loosens_nothing() {
    let policy = "rules: {git/push-force: off}\nallowedCommands: [git push --force origin topic]\npreset: observe\n\
        protectedPaths: [infra/**]\n";
    let here = Surroundings::new().project("policy.yaml", policy).project("rules/a.yaml", NO_PRUNE);
    here.check("docker image prune", "block");
    here.check("git push --force origin topic", "require_approval");
    here.check("echo x > infra/a", "require_approval");
    fs::create_dir(here.project.join("infra")).unwrap();
    here.check("rm -rf infra", "block");
}

#[test]
fn the_user_lowers_a_core_rule_only_with_a_reason() {
    let lowered = |policy: &str| Surroundings::new().user("policy.yaml", policy);
    lowered("rules: {write/boundary: off}").check("echo x > ~/.toolrc", "require_approval");
    let reasoned = "rules: {write/boundary: {action: warn, reason: my notes lie there}}";
    lowered(reasoned).check("echo x > ~/.toolrc", "warn");
    lowered("preset: observe").check("rm -rf ~", "block");
    lowered("preset: observe\nreason: a week of measuring").check("rm -rf ~", "allow");
}

#[test]
fn an_allowance_is_one_plain_command_and_ends() {
    let allow = |entry: &str| Surroundings::new().user("policy.yaml", &format!("allow: [{entry}]"));
    let push = "git push --force origin topic";
    allow("{argv: [git, push, --force]}").check(push, "allow");
    allow("{argv: [git, push, --force]}").check(&format!("{push} && rm -rf x"), "require_approval");
    allow("{argv: [git, push, --force]}").check(&format!("{push} > ../out"), "require_approval");
    allow("{argv: [git, push, --force]}").check(&format!("GIT_SSH=x {push}"), "require_approval");
    allow("{glob: 'git push --force origin *'}").check(push, "allow");
    allow("{glob: 'git push --force origin *'}").check("git push --force other topic", "require_approval");
    allow(&format!("{{command: '{push}'}}")).check(push, "allow");
    allow("{rule: git/push-force, until: 2030-01-01, reason: rebase week}").check(push, "allow");
    allow("{rule: git/push-force, until: 2020-01-01}").check(push, "require_approval");
    let paths = allow("{rule: write/boundary, path: ['~/.notes/**'], reason: my notes}");
    paths.check("echo x > ~/.notes/a", "allow");
    paths.check("echo x > ~/.notes/a; echo x > ~/.b", "require_approval");
    paths.check("echo x > ~/.notes/../.b", "require_approval");
}

#[test]
fn a_damaged_file_keeps_no_other_out_and_its_last_good_form_holds() {
    let here = Surroundings::new().user("rules/a.yaml", NO_PRUNE).user("rules/b.yaml", "name: [");
    let verdict = here.verdict("docker image prune");
    assert_eq!(verdict["decision"], "block");
    let advice = verdict["advice"][0].as_str().unwrap();
    assert!(advice.contains("guard/broken-rules") && advice.contains("b.yaml:1:"), "{advice}");
    write(&here.machine.home().join(".config/reflex/rules/a.yaml"), "name: x\ncondition: [");
    here.check("docker image prune", "block");
    let strict = here.run(&["check", "--mode", "strict", "touch a"]).0;
    assert!(strict.starts_with("ask"), "{strict}");
    assert_eq!(here.run(&["rules", "validate"]).1, 1);
}

#[test]
fn a_damaged_cache_is_made_again() {
    let here = Surroundings::new().user("rules/a.yaml", NO_PRUNE);
    here.check("docker image prune", "block");
    let cache = here.machine.home().join(".cache/reflex/rules");
    let kept = || fs::read_dir(&cache).unwrap().flatten().find(|entry| entry.path().is_file()).unwrap().path();
    for damage in [&b""[..], b"RFXTAB01", &[0xff; 4000]] {
        fs::write(kept(), damage).unwrap();
        here.check("docker image prune", "block");
    }
    // Files that other users can write are not read.
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    here.check("docker image prune", "block");
}

/// The modification time of a file, set by `touch`.
fn dated(path: &Path, date: &str) {
    let output = std::process::Command::new("touch").args(["-d", date]).arg(path).status();
    assert!(output.unwrap().success());
}

#[test]
fn a_change_that_keeps_size_and_time_is_noticed() {
    let here = Surroundings::new().user("rules/a.yaml", NO_LOOK);
    let file = here.machine.home().join(".config/reflex/rules/a.yaml");
    for date in ["2020-01-01 00:00:00", "2020-01-01 00:00:00"] {
        // A recent change is detected by content, regardless of the file's times.
        write(&file, NO_LOOK);
        dated(&file, date);
        here.check("docker image ls", "block");
        write(&file, &NO_LOOK.replace("image", "stack"));
        dated(&file, date);
        assert_eq!(fs::metadata(&file).unwrap().len(), NO_LOOK.len() as u64);
        here.check("docker image ls", "allow");
        here.check("docker stack ls", "block");
    }
}

#[test]
fn a_form_that_was_kept_for_other_files_is_not_taken() {
    let here = Surroundings::new().user("rules/a.yaml", NO_LOOK);
    here.check("docker image ls", "block");
    let cache = here.machine.home().join(".cache/reflex/rules");
    let kept = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_file()).collect()
    };
    let first = kept();
    let loose = fs::read(&first[0]).unwrap();
    write(&here.machine.home().join(".config/reflex/rules/a.yaml"), &NO_LOOK.replace("image", "stack"));
    here.check("docker stack ls", "block");
    // The cached valid version of the other content is stored under this file's name.
    for path in kept().iter().filter(|path| !first.contains(path)) {
        fs::write(path, &loose).unwrap();
    }
    here.check("docker stack ls", "block");
    here.check("docker image ls", "allow");
}

#[test]
fn an_environment_never_moves_where_the_policy_is_read() {
    let here = Surroundings::new().user("policy.yaml", "rules: {git/push-force: off}");
    here.check("git push --force origin topic", "allow");
    let other = here.machine.root().join("other");
    fs::create_dir_all(other.join("reflex")).unwrap();
    fs::write(other.join("reflex/policy.yaml"), "rules: {git/push: off, rm/recursive-outside: off}").unwrap();
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        let call = here.machine.reflex(["config", "show", "--origin"]).folder(&here.project).env(name, &other);
        let output = call.run().stdout;
        assert!(output.contains("git/push-force") && !output.contains("rm/recursive-outside"), "{name}: {output}");
    }
}

#[test]
fn only_a_person_trusts_a_project() {
    let here = Surroundings::new().project("policy.yaml", "rules: {git/push-force: off}");
    let (output, code) = here.run(&["trust"]);
    assert_eq!(code, 1, "{output}");
    here.check("git push --force origin topic", "require_approval");
    assert!(here.run(&["config", "show", "--origin"]).0.contains("only tightens"));
}

#[test]
fn a_rewrite_is_offered_only_if_it_would_pass() {
    let rule = |command: &str| {
        format!(
            "name: r\nevents: [bash_command]\nconditions: [{{matches_command: npm install}}]\naction: modify\n\
            rewrite: {{command: '{command}'}}\nmessage: m\n"
        )
    };
    let verdict = Surroundings::new().user("rules/a.yaml", &rule("npm ci")).verdict("npm install");
    assert_eq!((&verdict["decision"], &verdict["rewrite"]["command"]), (&"block".into(), &"npm ci".into()));
    let verdict = Surroundings::new().user("rules/a.yaml", &rule("rm -rf ~")).verdict("npm install");
    assert!(verdict["rewrite"].is_null(), "{verdict}");
    let project = Surroundings::new().project("rules/a.yaml", &rule("npm ci"));
    assert!(project.verdict("npm install")["rewrite"].is_null());
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let rule = "name: a\nevents: [bash_comand]\nconditions:\n  - {field: command, op: containz, pattern: x}\n";
    let here = Surroundings::new().user("rules/a.yaml", rule);
    let (output, code) = here.run(&["rules", "validate"]);
    assert_eq!(code, 1);
    assert!(output.contains("a.yaml:4:26") && output.contains("^^^^^^^^"), "{output}");
    assert!(output.contains("did you mean `contains`?") && output.contains("did you mean `bash_command`?"), "{output}");
}

#[test]
fn one_mistake_is_told_once_and_a_condition_that_says_nothing_is_one() {
    let check = |conditions: &str, expected: &str| {
        let rule = format!("name: a\nevents: [bash_command]\nconditions: [{conditions}]\naction: block\n");
        let (output, _) = Surroundings::new().user("rules/a.yaml", &rule).run(&["rules", "validate"]);
        assert!(output.contains(expected) && output.contains("1 errors, 0 warnings"), "{conditions}: {output}");
    };
    check("{field: command, op: regexp, pattern: x}", "did you mean `regex`?");
    check("{field: command, op: regex, pattern: '(?!x)a'}", "look-around");
    check("{any: []}", "`any` is empty");
    check("{all: []}", "`all` is empty");
    check("{not: []}", "`not` is empty");
    check("{matches_command: []}", "`matches_command` is empty");
    check("{matches_command: ''}", "`matches_command` is empty");
    check("{effect: []}", "`effect` is empty");
    check("{}", "this condition is empty");
}

#[test]
fn a_message_tells_what_is_set_and_a_word_that_is_not_is_told_as_it_stands() {
    let rule = NO_LOOK.replace("is not wanted", "{{own}} {{comand}}");
    let here = Surroundings::new().user("rules/a.yaml", &rule).user("policy.yaml", "variables: {own: [a, b]}\n");
    let reason = here.verdict("docker image ls")["reasons"][0].to_string();
    assert!(reason.contains("docker image ls a, b {{comand}}."), "{reason}");
    let (output, code) = here.run(&["rules", "validate"]);
    assert!(
        code == 0 && output.contains("the variable `comand` is not set") && output.contains("1 warnings"),
        "{output}"
    );
    assert!(output.contains("did you mean `command`?"), "{output}");
}

#[test]
fn a_rule_about_files_hears_of_every_way_to_make_and_lose_them() {
    let rule = |event: &str| {
        let when = "conditions: [{field: file_path, under_path: db/moves}]";
        Surroundings::new()
            .user("rules/a.yaml", &format!("name: a\nevents: [{event}]\n{when}\naction: block\nmessage: m\n"))
    };
    let made = rule("file_write");
    write(&made.project.join("db/moves/old"), "x");
    for command in
        ["touch db/moves/new", "ln -s ../a db/moves/new", "git mv a db/moves/new", "cd db && touch moves/new"]
    {
        made.check(command, "block");
    }
    assert!(!made.run(&["check", "touch db/moves/old"]).0.starts_with("block"));
    let lost = rule("file_delete");
    write(&lost.project.join("db/moves/old"), "x");
    for command in ["rm db/m*/old", "rm -rf db", "git mv db/moves/old a", "mv db other"] {
        let id = lost.verdict(command)["findings"].to_string();
        assert!(id.contains("user/a"), "{command}: {id}");
    }
    assert!(!lost.verdict("rm -rf dist")["findings"].to_string().contains("user/a"));
    let kept = Surroundings::new().project("policy.json", "{\"protectedPaths\": [\"infra/**\"]}");
    write(&kept.project.join("infra/a"), "x");
    kept.check("touch infra/new", "require_approval");
    kept.check("touch infra/a", "allow");
    kept.check("git mv infra/a b", "block");
}

#[test]
fn further_roots_come_to_the_workspace_and_the_temporary_folders() {
    let boundary = "name: stay\nevents: [file_write, file_edit]\n\
        conditions: [{field: file_path, op: not_matches, pattern: '{{allowed_roots}}'}]\naction: block\nmessage: m\n";
    let here = Surroundings::new().user("rules/a.yaml", boundary).user("policy.yaml", "allowed_roots: [~/notes]\n");
    let blocked = |command: &str| here.verdict(command)["findings"].to_string().contains("user/stay");
    assert!(!blocked("echo x > a") && !blocked("echo x > ~/notes/a") && !blocked("echo x > /tmp/a"));
    assert!(blocked("echo x > ~/notes-of-others/a") && blocked("echo x > ~/.b"));
    // A project that no person has accepted adds none.
    let loose =
        Surroundings::new().project("rules/a.yaml", boundary).project("policy.yaml", "allowed_roots: [~/notes]\n");
    assert!(loose.verdict("echo x > ~/notes/a")["findings"].to_string().contains("project/stay"));
    let (output, _) =
        Surroundings::new().user("policy.yaml", "allowed_roots: ['~', /, a]\n").run(&["rules", "validate"]);
    assert!(output.contains("`~` has no effect") && output.contains("3 warnings"), "{output}");
}

#[test]
fn words_of_a_pattern_are_the_texts_that_they_are() {
    let rule = |pattern: &str| NO_LOOK.replace("matches_command: docker image ls*", pattern);
    let no = Surroundings::new().user("rules/a.yaml", &rule("{field: command, op: contains, pattern: no}"));
    no.check("docker image ls no", "block");
    no.check("docker image ls false", "allow");
    let version = Surroundings::new().user("rules/a.yaml", &rule("{field: command, op: ends_with, pattern: 1.10}"));
    version.check("docker image ls 1.10", "block");
    version.check("docker image ls 1.1", "allow");
}

#[test]
fn a_rule_begins_with_what_a_recorded_call_did() {
    let here = Surroundings::new();
    let begun = |tool: &str, input: Value| {
        let payload = serde_json::json!({"session_id": tool, "cwd": here.project, "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input});
        let hook = here.machine.reflex(["hook", "--agent", "claude", "--event", "PreToolUse"]);
        hook.input(payload.to_string()).run();
        let record = here.machine.reflex(["audit", "search", "kind=call", "-n", "1", "--json"]).run();
        let record: Value = serde_json::from_str(record.stdout.lines().last().unwrap()).unwrap();
        let (rule, code) = here.run(&["rules", "new", record["id"].as_str().unwrap()]);
        assert_eq!(code, 0, "{rule}");
        let here = Surroundings::new().user("rules/a.yaml", &rule);
        assert_eq!(here.run(&["rules", "validate"]).0, "1 files, 1 rules in force, 0 errors, 0 warnings\n", "{rule}");
        assert_eq!(here.run(&["rules", "test"]), ("2 examples run, 0 failed\n".into(), 0), "{rule}");
        rule
    };
    let shell = |command: &str| begun("Bash", serde_json::json!({"command": command}));
    assert!(shell("cd infra && sudo -u x terraform -chdir=y apply -auto-approve").contains("'terraform apply *'"));
    assert!(shell("for i in 1 2; do kubectl delete pod $i; done").contains("'kubectl delete *'"));
    assert!(shell("ls").contains("'ls *'"));
    let file = here.project.join("src/a.py");
    let write = begun("Write", serde_json::json!({"file_path": file, "content": "x"}));
    assert!(write.contains("events: [file_write]") && write.contains("under_path, pattern: 'src/a.py'"), "{write}");
    let tool = begun("mcp__a__b", serde_json::json!({"c": {"d": "e"}}));
    assert!(tool.contains("events: [tool_call]") && tool.contains("pattern: 'mcp__a__b'"), "{tool}");
    assert_eq!(here.run(&["rules", "new", "nothing"]).1, 1);
}

#[test]
fn of_every_key_it_is_told_whether_it_counts() {
    let project = "preset: strict\nrules:\n  git/push-force: block\n  write/boundary: off\nallow: [npm test]\n";
    let user = "preset: balanced\nrules: {git/push-force: warn, rm/system: off, git/push-with-lease: log}\n";
    let here = Surroundings::new().project("policy.yaml", project).user("policy.yaml", user);
    let (output, _) = here.run(&["config", "show", "--origin"]);
    assert!(output.starts_with("policy strict\n"), "{output}");
    let standing = |key: &str, at: &str, standing: &str| {
        let line = output.lines().find(|line| line.contains(&format!("  {key}: ")) && line.contains(at));
        assert!(line.is_some_and(|line| line.ends_with(standing)), "{key} {at}: {output}");
    };
    standing("preset", "policy.yaml:1 ", "   in force");
    standing("preset", "config/reflex/policy.yaml:1 ", "the project's `strict` is stricter");
    standing("rules.git/push-force", ".reflex/policy.yaml:3 ", "   in force");
    standing("rules.git/push-force", ".config/reflex/policy.yaml:2 ", "the project's `block` is stricter");
    standing("rules.write/boundary", "policy.yaml:4 ", "this layer only tightens");
    standing("allow", "policy.yaml:5 ", "this layer only tightens");
    standing("rules.rm/system", "policy.yaml:2 ", "a core rule is lowered with a `reason`");
    standing("rules.git/push-with-lease", "policy.yaml:2 ", "   in force");
}

#[test]
fn the_record_says_why_less_is_made_of_a_core_rule() {
    let chain = |policy: &str| {
        let mine = NO_LOOK.replace("name:", "tier: core\nname:");
        let here = Surroundings::new().user("policy.yaml", policy).user("rules/a.yaml", &mine);
        let payload = serde_json::json!({"session_id": "s", "cwd": here.project, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "rm -rf ~; docker image ls"}});
        let hook = here.machine.reflex(["hook", "--agent", "claude", "--event", "PreToolUse"]);
        hook.input(payload.to_string()).run();
        let record = here.machine.reflex(["audit", "tail", "-n", "1", "--json"]).run();
        let record: Value = serde_json::from_str(&record.stdout).unwrap();
        (record["chain"].to_string(), here.run(&["doctor"]).0)
    };
    let (output, doctor) = chain(
        "rules:\n  rm/home-or-root: {action: warn, reason: a container}\n  no-look: {action: off, reason: a week}\n",
    );
    assert!(output.contains("policy.yaml:2: a container") && output.contains("policy.yaml:3: a week"), "{output}");
    assert!(doctor.contains("`no-look` is set to `off`: a week"), "{doctor}");
    let (output, doctor) = chain("preset: observe\nreason: measuring\n");
    assert!(output.contains("log by the user's preset observe: measuring"), "{output}");
    assert!(doctor.contains("also holds for core rules: measuring"), "{doctor}");
}

#[test]
fn rules_are_listed_shown_and_tested() {
    let rule = format!("{NO_PRUNE}examples: {{fires: [docker image prune -a], quiet: [docker ps]}}\n");
    let here = Surroundings::new().user("rules/a.yaml", &rule);
    let list = here.run(&["rules", "list"]).0;
    assert!(list.contains("user/no-prune") && list.contains("git/push-force"));
    assert!(here.run(&["rules", "show", "no-prune"]).0.contains("matches_command"));
    assert_eq!(here.run(&["rules", "test"]), ("2 examples run, 0 failed\n".into(), 0));
    let wrong = Surroundings::new().user("rules/a.yaml", &rule.replace("[docker ps]", "[docker image prune]"));
    assert_eq!(wrong.run(&["rules", "test"]).1, 1);
}

#[test]
fn a_rule_is_shown_with_the_reason_why_it_exists_and_its_source() {
    let rule = format!("{NO_PRUNE}why: Images took a day to build.\nsource: https://x.example/postmortem\n");
    let here = Surroundings::new().user("rules/a.yaml", &rule);
    for (id, why, source) in [
        ("user/no-prune", "Images took a day to build.", "https://x.example/postmortem"),
        ("rm/system", "Bumblebee", "https://github.com/MrMEEE/bumblebee-Old-and-abbandoned/issues/123"),
    ] {
        let shown = here.run(&["rules", "show", id]).0;
        assert!(shown.contains(why) && shown.contains(source), "{shown}");
        let shown: Value = serde_json::from_str(&here.run(&["rules", "show", id, "--json"]).0).unwrap();
        assert!(shown["why"].as_str().unwrap().contains(why) && shown["source"] == source, "{shown}");
    }
    let shown: Value = serde_json::from_str(&here.run(&["rules", "show", "git/push-force", "--json"]).0).unwrap();
    assert!(shown.get("why").is_none() && shown.get("source").is_none(), "{shown}");
}

#[test]
fn what_is_imported_is_printed_and_only_a_person_writes_it() {
    let settings = r#"{"permissions": {"deny": ["Bash(rm -rf:*)"], "allow": ["Bash(npm test)"]}}"#;
    let here = Surroundings::new();
    write(&here.project.join(".claude/settings.json"), settings);
    let (output, code) = here.run(&["import"]);
    assert_eq!(code, 0, "{output}");
    assert!(
        output.contains("# imported ") && output.contains("matches_command") && output.contains("npm test"),
        "{output}"
    );
    assert_eq!(here.run(&["import", "--write"]).1, 1);
    assert!(!here.machine.home().join(".config/reflex").exists());
    let json: Value = serde_json::from_str(&here.run(&["import", "--json"]).0).unwrap();
    assert_eq!(json["lines"][0]["fate"], "imported");
    assert_eq!(here.run(&["import", "--from", "nobody"]).1, 64);
}

#[test]
fn rules_that_never_fire_are_covered_or_contradict_are_told() {
    let rule = |name: &str, conditions: &str, action: &str| {
        format!("---\nname: {name}\nevents: [bash_command]\nconditions: [{conditions}]\naction: {action}\nmessage: m\n")
    };
    let runs = "{matches_command: docker push *}";
    let rules = [
        rule("never", "{field: content, op: contains, pattern: x}", "block"),
        rule("two", "{field: command, op: equals, pattern: a}, {field: command, op: equals, pattern: b}", "block"),
        rule("opposite", "{field: agent, op: equals, pattern: a}, {field: agent, op: not_equals, pattern: a}", "warn"),
        rule("not", "{matches_command: npm ci}, {not: {matches_command: npm ci}}", "block"),
        rule("all", runs, "block"),
        rule("some", &format!("{runs}, {{field: agent, op: equals, pattern: claude}}"), "ask"),
        rule("other", "{matches_command: npm publish}", "ask"),
        rule("same", "{matches_command: npm publish}", "warn"),
        rule("fine", "{matches_command: npm install}", "warn"),
    ];
    let policy = "rules: {git/push-forc: off, fine: log}\nallowedCommands: [docker push mine]\n";
    let here = Surroundings::new().user("rules/a.yaml", &rules.concat()).user("policy.yaml", policy);
    let (output, code) = here.run(&["rules", "validate"]);
    assert_eq!(code, 0, "{output}");
    for line in [
        "`never` can never fire: `content` is empty in bash_command",
        "`two` can never fire: `command` cannot equal two texts",
        "`opposite` can never fire",
        "`not` can never fire: `matches_command npm ci` and its opposite",
        "`some` has no effect: `all` at",
        "`same` contradicts `other`",
        "unknown rule `git/push-forc`",
        "did you mean `git/push-force`?",
        "this allowance has no effect: `all` at",
    ] {
        assert!(output.contains(line), "{line}\n{output}");
    }
    assert!(!output.contains("`fine`") && output.contains("8 warnings"), "{output}");
}

#[test]
fn the_recommended_rules_are_in_force_where_a_policy_builds_on_them() {
    let here = Surroundings::new().project("policy.yaml", "extends: recommended\n");
    here.check("git add .env", "block");
    assert_eq!(here.run(&["rules", "test"]).1, 0, "{}", here.run(&["rules", "test"]).0);
    let (output, code) = here.run(&["rules", "validate"]);
    assert!(code == 0 && output.contains("6 rules in force, 0 errors, 0 warnings"), "{output}");
    assert!(here.run(&["rules", "list"]).0.contains("project/warn-debug-code"));
    // Without them, changes to keys are reported if no repository ignores them.
    assert!(!Surroundings::new().run(&["check", "git add .env"]).0.contains("block-env-commit"));
    let lowered = "extends: [recommended]\nrules: {block-env-commit: warn}\n";
    Surroundings::new().user("policy.yaml", lowered).check("git add .env", "warn");
}

/// A rule about a command that no other rule covers.
const NO_LOOK: &str = "name: no-look\nevents: [bash_command]\nconditions:\n  - matches_command: docker image ls*\n\
    action: block\nseverity: high\nmessage: '{{command}} is not wanted'\n";

#[test]
fn a_policy_builds_on_folders_files_and_pinned_checkouts() {
    let policy = |text: &str| Surroundings::new().user("policy.yaml", text).user("team/rules/a.yaml", NO_LOOK);
    let rule = "docker image ls";
    policy("extends: [team]").check(rule, "block");
    policy("extends: team/rules/a.yaml").check(rule, "block");
    policy("rules: {}").check(rule, "allow");
    let pinned = policy("extends: [{path: team, digest: 'sha256:DIGEST'}]".replace("DIGEST", &"0".repeat(64)).as_str());
    pinned.check(rule, "warn");
    let advice = pinned.verdict(rule)["advice"][0].as_str().unwrap().to_owned();
    let digest = advice.split("sha256:").nth(1).unwrap().split(' ').next().unwrap().trim_end_matches(',').to_owned();
    let right = pinned.user("policy.yaml", &format!("extends: [{{path: team, digest: 'sha256:{digest}'}}]"));
    right.check(rule, "block");
    let changed = right.user("team/rules/b.yaml", "name: b\nevents: [any]\nconditions: []\n");
    changed.check(rule, "warn");
    // A pinned policy cannot extend an unpinned one.
    let loose =
        policy("extends: [team]").user("team/policy.yaml", "extends: [recommended, ../other]\nrule_dirs: [../more]");
    let loose = loose.user("other/rules/a.yaml", &NO_LOOK.replace("image", "stack")).user("more/b.yaml", NO_LOOK);
    loose.check("docker stack ls", "block");
    let shown: Value = serde_json::from_str(&loose.run(&["config", "show", "--json"]).0).unwrap();
    let layers = shown["layers"].as_array().unwrap();
    let team = layers.iter().find(|layer| layer["folder"].as_str().unwrap().ends_with("/team")).unwrap();
    let digest_of_team = team["digest"].as_str().unwrap();
    let pinned = loose.user("policy.yaml", &format!("extends: [{{path: team, digest: {digest_of_team}}}]"));
    pinned.check("docker stack ls", "warn");
    pinned.check("git add .env", "block");
    let output = pinned.run(&["rules", "validate"]).0;
    assert!(
        output.contains("other is not pinned") && output.contains("`rule_dirs: ../more` is not pinned"),
        "{output}"
    );
    let checkout = policy(&format!("extends: [{{git: team, digest: {digest}}}]"));
    assert!(checkout.run(&["rules", "validate"]).0.contains("is not a git checkout"));
    fs::create_dir(checkout.machine.home().join(".config/reflex/team/.git")).unwrap();
    checkout.check(rule, "block");
}

#[test]
fn what_cannot_be_built_on_is_told_and_the_rest_holds() {
    let here = Surroundings::new()
        .user("policy.yaml", "protectedPaths: [keep]\nextends: [a, nowhere]\n")
        .user("a/policy.yaml", "\nextends: ../b\n")
        .user("b/policy.yaml", "extends: [../a]\n")
        .user("b/rules/r.yaml", NO_LOOK);
    here.check("docker image ls", "block");
    let (output, code) = here.run(&["rules", "validate"]);
    assert_eq!(code, 1, "{output}");
    assert!(
        output.contains("b/policy.yaml:1: `extends` is circular") && output.contains("a was already named at"),
        "{output}"
    );
    assert!(output.contains("policy.yaml:2: ") && output.contains("nowhere: No such file"), "{output}");
    for (entry, why) in [
        ("{git: a}", "pinned by its digest"),
        ("{path: a, digest: sha256:12}", "pinned by its digest"),
        ("https://team.example/rules", "does not fetch policies"),
        ("{paht: a}", "did you mean `path`?"),
    ] {
        let output =
            Surroundings::new().user("policy.yaml", &format!("extends: [{entry}]")).run(&["rules", "validate"]).0;
        assert!(output.contains(why), "{entry}: {output}");
    }
    let project =
        Surroundings::new().user("team/a.yaml", NO_LOOK).project("policy.yaml", "extends: [~/.config/reflex/team]");
    project.check("docker image ls", "warn");
    assert!(project.run(&["rules", "validate"]).0.contains("is outside .reflex"));
}

#[test]
fn a_rule_is_tried_out_before_it_is_in_force() {
    let staged = |stage: &str| Surroundings::new().user("rules/a.yaml", &format!("{NO_LOOK}stage: {stage}\n"));
    staged("warn").check("docker image ls", "warn");
    staged("enforce").check("docker image ls", "block");
    let here = staged("observe");
    here.check("docker image ls", "allow");
    for session in ["docker image ls", "docker image ls -a", "docker ps"] {
        let call = here.machine.hook();
        call.input(support::bash(&here.project, session)).run();
    }
    let stages: Value = serde_json::from_str(&here.run(&["rules", "stages", "--json"]).0).unwrap();
    let rule = &stages["rules"][0];
    assert_eq!((&rule["id"], &rule["times"], &rule["would"]), (&"user/no-look".into(), &2.into(), &"block".into()));
    assert!(here.run(&["rules", "stages"]).0.contains("observe: would have done `block` 2 times"));
    assert_eq!(staged("later").run(&["rules", "validate"]).1, 1);
}

#[test]
fn what_was_made_of_core_rules_and_what_is_damaged_is_shown_by_the_doctor() {
    let policy = "rules:\n  write/boundary: {action: warn, reason: my notes lie there}\n  write/system: off\n  git/push-force: off\n\
        allow: [{rule: rm/*, path: [gen/**], reason: made again}]\n";
    let here = Surroundings::new().user("policy.yaml", policy).user("rules/a.yaml", "name: [");
    let (output, code) = here.run(&["doctor"]);
    assert_eq!(code, 1);
    assert!(
        output.contains("policy.yaml:2: the core rule `write/boundary` is set to `warn`: my notes lie there"),
        "{output}"
    );
    assert!(output.contains("an allowance also holds for core rules: made again"), "{output}");
    assert!(!output.contains("write/system") && !output.contains("git/push-force"), "{output}");
    assert!(output.contains("a.yaml:1:") && output.contains("fix: reflex rules validate"), "{output}");
    let json: Value = serde_json::from_str(&here.run(&["doctor", "--json"]).0).unwrap();
    assert_eq!(json["lowered"].as_array().unwrap().len(), 2);
    // A project's settings for core rules have no effect and cause no note.
    assert!(!Surroundings::new().project("policy.yaml", policy).run(&["doctor"]).0.contains("note:"));
}

#[test]
fn a_variable_of_the_environment_is_compared_and_never_shown() {
    let rule = "name: prod\nevents: [bash_command]\nconditions:\n  - {field: env.STAGE, op: equals, pattern: production-x}\n\
        action: ask\nmessage: 'at {{env.STAGE}} {{command}}'\n";
    let here = Surroundings::new().user("rules/a.yaml", rule);
    let run = |stage: &str| {
        let call = here.machine.reflex(["check", "--json", "ls"]).folder(&here.project);
        call.env("STAGE", stage).run().json()
    };
    let verdict = run("production-x");
    assert_eq!(verdict["decision"], "require_approval");
    assert!(!verdict.to_string().contains("production-x") && verdict.to_string().contains("ls"), "{verdict}");
    assert_eq!(run("test")["decision"], "allow");
    assert_eq!(here.run(&["rules", "validate"]).1, 0);
}

#[test]
fn an_install_of_what_the_project_lists_is_silent_and_of_what_it_does_not_as_the_policy_says() {
    let here = Surroundings::new();
    write(&here.project.join("package.json"), "{\"dependencies\": {\"lodash\": \"^4\"}}");
    write(&here.project.join("go.mod"), "module x.example/me\nrequire x.example/a v1.2.3\n");
    write(&here.project.join("web/requirements.txt"), "Typing_Extensions==4.1\n");
    for listed in [
        "npm install lodash@^4.17",
        "cd web && pip install -U typing-extensions",
        "cd web && npm i lodash",
        "go get x.example/a/b@latest",
    ] {
        here.check(listed, "allow");
    }
    for new in ["npm install lodash-es", "pip install typing-extensions", "go get x.example/abc@latest"] {
        let verdict = here.verdict(new);
        assert_eq!(verdict["decision"], "warn", "{new}: {verdict}");
        assert!(verdict["findings"].to_string().contains("package/new"), "{verdict}");
    }
    Surroundings::new().user("policy.yaml", "preset: strict\n").check("npm install left-pad", "require_approval");
    for (word, decision) in [("ask", "require_approval"), ("block", "block"), ("off", "allow")] {
        let policy = format!("installs: {word}\n");
        Surroundings::new().user("policy.yaml", &policy).check("npm install left-pad", decision);
    }
    let (output, _) = Surroundings::new().user("policy.yaml", "installs: maybe\n").run(&["rules", "validate"]);
    assert!(output.contains("1 error"), "{output}");
}
