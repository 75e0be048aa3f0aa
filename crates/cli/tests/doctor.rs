//! `doctor` names every fault between an agent and the guard with its fix, and verifies a working hook with a call.

use crate::support::{APP_SERVER, Machine, Ran, with_program};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A machine on which three agents are used.
struct Wired {
    machine: Machine,
    path: String,
}

impl Wired {
    fn new() -> Wired {
        let machine = Machine::new();
        let path = with_program(&machine, "codex", APP_SERVER);
        let wired = Wired { machine, path };
        for agent in ["claude", "codex", "copilot"] {
            assert_eq!(wired.run(&["init", "--yes", "--agent", agent]).code, 0);
        }
        wired
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.machine.reflex(arguments).env("PATH", &self.path).run()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.machine.home().join(name)
    }

    fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        fs::write(self.file(name), change(text)).unwrap();
    }

    /// Asserts that an agent has exactly one problem, with this text and fix.
    #[track_caller]
    fn check(&self, agent: &str, words: &str, fix: &str) {
        let output = self.run(&["doctor", "--json", "--agent", agent]);
        assert_eq!((output.code, output.stderr.as_str()), (1, ""), "{output:?}");
        let examined: Value = serde_json::from_str(&output.stdout).unwrap();
        let troubles = examined["examined"][0]["troubles"].as_array().unwrap();
        let [trouble] = troubles.as_slice() else { panic!("{troubles:?}") };
        assert!(trouble["problem"].as_str().unwrap().contains(words), "{trouble}");
        assert!(trouble["fix"].as_str().unwrap().contains(fix), "{trouble}");
    }
}

#[test]
fn what_is_whole_is_proven_by_a_call_of_each_hook() {
    let wired = Wired::new();
    let output = wired.run(&["doctor"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    let line = |agent| format!("{agent}: ok, the hook is installed and answers; no call seen yet");
    assert_eq!((output.code, lines), (0, vec![&*line("claude"), &*line("codex"), &*line("copilot")]));
    let output = wired.run(&["verify"]);
    let hooks = output.stdout.lines().filter_map(|line| line.split_whitespace().nth(2)?.parse::<u32>().ok());
    assert_eq!((output.code, hooks.sum::<u32>()), (0, 14), "{output:?}");
    assert!(!output.stdout.contains("FAILS"));
    // A verification is not a call: nothing waits for a person, and no agent is recorded as the caller.
    assert_eq!(wired.run(&["pending"]).stdout, "nothing waits now\n");
    wired.machine.bash(&wired.machine.project(), "ls");
    assert!(wired.run(&["doctor", "--agent", "claude"]).stdout.contains("; last call "));
}

#[test]
fn a_hook_that_is_missing_or_cannot_be_read_is_named() {
    let wired = Wired::new();
    wired.edit(".claude/settings.json", |_| "{}".into());
    wired.check("claude", "has no Reflex hook", "reflex init --agent claude");
    wired.edit(".codex/hooks.json", |text| format!("// mine\n{text}"));
    wired.check("codex", ":1:1: a comment", "reflex init --agent codex --repair");
    wired.edit(".codex/hooks.json", |_| "{\"hooks\": 5}".into());
    wired.check("codex", ":1:11: `hooks` has to be a map", "mend line 1 of ");
    fs::remove_file(wired.file(".copilot/hooks/reflex.json")).unwrap();
    wired.check("copilot", "has no Reflex hook", "reflex init --agent copilot");
}

#[test]
fn a_switch_that_turns_hooks_off_is_named() {
    let wired = Wired::new();
    wired.edit(".claude/settings.json", |text| text.replacen('{', "{\"disableAllHooks\": true,", 1));
    wired.check("claude", "\"disableAllHooks\": true", "settings.json");
    wired.edit(".codex/config.toml", |text| format!("{text}\n[features]\nhooks = false # for now\n"));
    wired.check("codex", "[features] hooks = false", "config.toml");
    wired.edit(".copilot/hooks/reflex.json", |text| text.replacen('{', "{\"disableAllHooks\": true,", 1));
    wired.check("copilot", "\"disableAllHooks\": true", "reflex.json");
}

#[test]
fn a_hook_that_codex_does_not_trust_is_named() {
    let wired = Wired::new();
    wired.edit(".codex/config.toml", |_| String::new());
    wired.check("codex", "may not trust the hook: no person has trusted it", "reflex init --agent codex");
    assert_eq!(fs::read_to_string(wired.file(".codex/config.toml")).unwrap(), "", "looking changes nothing");
}

#[test]
fn a_hook_that_does_not_answer_is_found_by_calling_it() {
    let wired = Wired::new();
    wired.edit(".codex/hooks.json", |text| text.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex"));
    let output = wired.run(&["verify", "--agent", "codex"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.starts_with("FAILS  codex  PreToolUse: status 2, "), "{output:?}");
    assert!(output.stdout.contains("Blocked: reflex failed (127)"), "{output:?}");
    wired.edit(".claude/settings.json", |text| text.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex"));
    let output = wired.run(&["verify", "--agent", "claude", "--json"]);
    let json = output.json();
    assert_eq!((output.code, json["hooks"][0]["answers"].as_bool()), (1, Some(false)), "{output:?}");
    wired.edit(".claude/settings.json", |text| text.replace("/nowhere/reflex", "/bin/true"));
    let output = wired.run(&["doctor", "--agent", "claude"]);
    let once = "the hook of PreToolUse, UserPromptExpansion, ConfigChange, PreSkillShellCommand \
                does not answer as it should: ";
    assert!(output.stdout.contains(once), "{output:?}");
    assert_eq!(output.stdout.matches("fix: reflex init --agent claude").count(), 2, "{output:?}");
}

#[test]
fn the_home_is_no_project() {
    let wired = Wired::new();
    let (home, link) = (wired.machine.home(), wired.machine.root().join("link"));
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let healthy = |home: &Path, folder: &Path| {
        let run = |words: &str| wired.machine.in_home(home, [words]).env("PATH", &wired.path).folder(folder).run();
        let (doctor, verify, status) = (run("doctor"), run("verify"), run("status"));
        assert_eq!((doctor.code, doctor.stdout.matches(": ok, ").count()), (0, 3), "{doctor:?}");
        assert_eq!((verify.code, verify.stdout.matches("ok     ").count()), (0, 3), "{verify:?}");
        // The stand-in for Codex keeps no trust for each event.
        assert_eq!(status.stdout.matches("no call seen yet").count(), 2, "{status:?}");
    };
    healthy(&home, &home);
    // Dotfiles: the home itself is a repository.
    fs::create_dir(home.join(".git")).unwrap();
    healthy(&home, &home);
    // The user database names the home by a link; the working directory has no links.
    for agent in ["claude", "codex", "copilot"] {
        let init = ["init", "--yes", "--agent", agent];
        assert_eq!(wired.machine.in_home(&link, init).env("PATH", &wired.path).run().code, 0);
    }
    healthy(&link, &home);
    // A repository of dotfiles to which the home links.
    let dotfiles = wired.machine.project();
    fs::rename(home.join(".claude"), dotfiles.join(".claude")).unwrap();
    std::os::unix::fs::symlink(dotfiles.join(".claude"), home.join(".claude")).unwrap();
    healthy(&link, &dotfiles);
    let output = wired.machine.reflex(["init", "--scope", "project", "--agent", "claude"]).folder(&dotfiles).run();
    assert!(output.code == 64 && output.stderr.contains("are the settings of your home"), "{output:?}");
}

#[test]
fn a_project_with_hooks_is_examined_beside_the_home() {
    let wired = Wired::new();
    let project = wired.machine.project();
    let run = |words: &[&str]| wired.machine.reflex(words).env("PATH", &wired.path).folder(&project).run();
    assert_eq!(run(&["init", "--scope", "project", "--agent", "claude", "--yes"]).code, 0);
    let doctor = run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("claude (project): ok, "), "{doctor:?}");
    let verify = run(&["verify"]).stdout;
    assert!(
        verify.contains("ok     claude  7 hooks") && verify.contains("ok     claude (project)  7 hooks"),
        "{verify}"
    );
}

#[test]
fn a_program_that_is_gone_is_named_with_what_the_client_does_then() {
    let wired = Wired::new();
    let gone = |text: String| text.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex");
    wired.edit(".codex/hooks.json", gone);
    wired.check("codex", "starts /nowhere/reflex, which is not there; Codex CLI blocks every call", "reflex init");
    wired.edit(".claude/settings.json", gone);
    let unknown = "Claude Code blocks every call, before 2.1.295 it runs them unjudged";
    wired.check("claude", unknown, "reflex init --agent claude");
    let status = wired.run(&["status"]).stdout;
    assert!(status.contains("Reflex is OFF for Claude Code, Codex CLI") && status.contains(unknown), "{status}");
}

#[test]
fn another_program_with_the_name_on_the_path_is_named() {
    let mut wired = Wired::new();
    wired.path = with_program(&wired.machine, "reflex", "#!/bin/sh\n");
    let output = wired.run(&["doctor"]);
    assert!(
        output.stdout.contains("programs/reflex is another program with the name of reflex on the PATH"),
        "{output:?}"
    );
    assert_eq!(output.code, 1);
}

#[test]
fn what_init_mends_doctor_mends_too_and_the_rest_is_named() {
    let wired = Wired::new();
    wired.edit(".claude/settings.json", |text| text.replace("\"block\"", "\"continue\""));
    wired.edit(".codex/config.toml", |_| String::new());
    wired.edit(".copilot/hooks/reflex.json", |text| text.replacen('{', "{\"disableAllHooks\": true,", 1));
    let output = wired.run(&["doctor", "--fix"]);
    assert_eq!(
        (output.code, output.stdout.matches("ok, the hook is installed and answers").count()),
        (1, 2),
        "{output:?}"
    );
    assert!(output.stderr.contains(".claude/settings.json is written"), "{output:?}");
    assert!(output.stdout.contains("copilot: OFF: `\"disableAllHooks\": true`"), "a person's switch stays: {output:?}");
}

/// Another guard is already installed for the same events.
const OLDER: &str = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"vf hook pre-command\"}, {\"type\": \"command\", \"command\": \"mine\"}]},\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"/usr/local/bin/arx hook --agent claude\"}]}\n    ]\n  }\n}\n";

#[test]
fn a_guard_that_came_before_is_named_and_replaced_if_a_person_wants_it() {
    let wired = Wired::new();
    wired.edit(".claude/settings.json", |_| OLDER.into());
    let output = wired.run(&["init", "--yes", "--agent", "claude"]);
    assert!(output.stdout.contains("`vf hook pre-command` in "), "{output:?}");
    let text = || fs::read_to_string(wired.file(".claude/settings.json")).unwrap();
    assert!(text().contains("vf hook") && text().contains("arx hook"), "nothing goes unasked");
    let output = wired.run(&["doctor", "--agent", "claude"]);
    assert!(output.code == 1 && output.stdout.contains("fix: reflex init --agent claude --replace"), "{output:?}");
    assert_eq!(wired.run(&["init", "--yes", "--replace", "--agent", "claude"]).code, 0);
    assert!(!text().contains("vf hook") && !text().contains("arx hook") && text().contains("\"mine\""), "{}", text());
    assert_eq!(wired.run(&["doctor", "--agent", "claude"]).code, 0);
    assert_eq!(wired.run(&["uninstall", "--yes", "--agent", "claude"]).code, 0);
    assert_eq!(text(), OLDER, "what stood there before comes back");
}

#[test]
fn a_folder_that_gemini_does_not_trust_is_named() {
    let machine = Machine::new();
    assert_eq!(machine.reflex(["init", "--yes", "--agent", "gemini"]).run().code, 0);
    let project = machine.project();
    fs::create_dir_all(project.join(".git")).unwrap();
    let doctor = || machine.reflex(["doctor", "--agent", "gemini"]).folder(&project).run();
    let output = doctor();
    assert!(output.code == 1 && output.stdout.contains("Gemini CLI does not trust "), "{output:?}");
    let real = project.canonicalize().unwrap();
    let lists = [
        ("trustedFolders.json", format!("{{{:?}: \"TRUST_FOLDER\"}}", real.display().to_string())),
        ("trustedFolders.json", format!("{{\"{}/x\": \"TRUST_PARENT\"}} // mine", real.display())),
    ];
    for (file, text) in lists {
        fs::write(machine.home().join(".gemini").join(file), text).unwrap();
        assert_eq!(doctor().code, 0, "{:?}", doctor());
    }
}

/// Files of a cloned repository that keep these clients from running the user's hooks, as observed.
#[test]
fn a_switch_that_a_project_brings_is_named_there() {
    for (agent, file, text) in [
        ("claude", ".claude/settings.json", "{\"disableAllHooks\": true}"),
        ("claude", ".claude/settings.local.json", "{\"disableAllHooks\": true}"),
        ("claude", ".claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SHELL_PREFIX\": \"/bin/true\"}}"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": 1, \"hooks\": 5}"),
        ("gemini", ".env", "BASH_ENV=./x"),
        ("qwen", ".qwen/settings.json", "{\"disableAllHooks\": true}"),
    ] {
        let machine = Machine::new();
        assert_eq!(machine.reflex(["init", "--yes", "--agent", agent]).run().code, 0);
        let file = machine.project().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let run = |words: &[&str]| machine.reflex(words).folder(&machine.project()).run();
        let place = format!("{}:1", file.display());
        let started = ["run", "--check", "--", agent];
        for words in [&["status"][..], &["doctor"], &["verify"], &["init", "--yes", "--agent", agent], &started] {
            let output = run(words);
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(output.code == 1 && said.contains("OFF") && said.contains(&place), "{agent} {words:?}: {output:?}");
        }
        fs::remove_file(&file).unwrap();
        assert!(!run(&["status"]).stdout.contains("OFF"), "{agent}: {:?}", run(&["status"]));
    }
}

/// Sends Claude Code's report of changed settings of the project.
fn change_settings(machine: &Machine, text: &str) -> Ran {
    let file = machine.project().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    let payload = json!({
        "session_id": "s", "cwd": machine.project(), "hook_event_name": "ConfigChange",
        "source": "project_settings", "file_path": file,
    });
    machine.reflex(["hook", "--agent", "claude", "--event", "ConfigChange"]).input(payload.to_string()).run()
}

#[test]
fn settings_that_would_silence_a_running_client_are_not_applied() {
    let machine = Machine::new();
    for text in ["{\"env\": {\"CLAUDE_CODE_SHELL_PREFIX\": \"/bin/true\"}}", "{\"disableAllHooks\": true}"] {
        let output = change_settings(&machine, text);
        assert!(output.code == 2 && output.stderr.contains("[guard/hooks-off"), "{text}: {output:?}");
    }
    for text in ["{\"env\": {\"EDITOR\": \"vi\"}}", "{\"permissions\": {\"allow\": [\"Bash(ls)\"]}}"] {
        assert_eq!(change_settings(&machine, text), Ran::silence(), "{text}");
    }
}

#[test]
fn settings_that_a_call_brought_are_named_once_and_raise_an_alarm() {
    let machine = Machine::new();
    let file = machine.project().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"disableAllHooks\": true}").unwrap();
    let after = |command: &str| {
        let payload = json!({
            "session_id": "s", "cwd": machine.project(), "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_response": {"stdout": "", "stderr": "", "interrupted": false},
        });
        machine.reflex(["hook", "--agent", "claude", "--event", "PostToolUse"]).input(payload.to_string()).run().stdout
    };
    let said = after("git switch topic");
    assert!(said.contains("without the guard") && said.contains("disableAllHooks"), "{said}");
    assert_eq!(after("ls"), "");
    assert!(machine.reflex(["status"]).run().stdout.contains("ALARM"));
}

#[test]
fn a_command_file_with_a_dangerous_line_is_named_where_no_hook_sees_it() {
    let machine = Machine::new();
    assert_eq!(machine.reflex(["init", "--yes", "--agent", "qwen"]).run().code, 0);
    let doctor = || machine.reflex(["doctor"]).folder(&machine.project()).run();
    let file = machine.project().join(".qwen/commands/deploy.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "Deploy.\n!{git status}\n").unwrap();
    assert_eq!(doctor().code, 0, "{:?}", doctor());
    fs::write(&file, "Deploy.\n!{rm -rf ~}\n").unwrap();
    let output = doctor();
    assert!(output.code == 1 && output.stdout.contains(".qwen/commands/deploy.md:2: `rm -rf ~`"), "{output:?}");
    let start = json!({
        "session_id": "s", "cwd": machine.project(), "hook_event_name": "SessionStart", "timestamp": "t",
        "permission_mode": "default", "transcript_path": "", "source": "startup",
    });
    let said = machine.reflex(["hook", "--agent", "qwen", "--event", "SessionStart"]).input(start.to_string()).run();
    assert!(said.stdout.contains("without asking the guard"), "{said:?}");
}

#[test]
fn git_names_silencing_settings_that_a_checkout_brought() {
    let machine = Machine::new();
    let run = || machine.reflex(["git-hook", "post-checkout", "a", "b", "1"]).folder(&machine.project()).run();
    assert_eq!(run(), Ran::silence());
    let file = machine.project().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\"disableAllHooks\": true}").unwrap();
    let output = run();
    assert!(output.code == 0 && output.stderr.contains("Claude Code would run here without the guard"), "{output:?}");
}

/// The client's record of trust in the guard's three hooks, in its own format.
fn trust_hooks_of_codex(machine: &Machine) {
    let file = machine.home().join(".codex/config.toml");
    let hooks = machine.home().join(".codex/hooks.json");
    let trusted = ["pre_tool_use", "post_tool_use", "stop"]
        .map(|event| format!("[hooks.state.\"{}:{event}:0:0\"]\ntrusted_hash = \"sha256:1\"\n", hooks.display()));
    fs::write(file, trusted.concat()).unwrap();
}

/// `doctor` and `status` report the facts in `library/settings` about other files, which were verified with the
/// clients.
#[test]
fn a_file_beside_the_hooks_is_off_only_if_the_client_was_seen_to_fall_silent() {
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/settings");
    for agent in ["claude", "codex", "copilot", "gemini", "qwen"] {
        let text = fs::read_to_string(library.join(format!("{agent}.yaml"))).unwrap();
        let examples = reflex_tables::compile::list(&text).unwrap();
        for example in examples.iter().flat_map(|form| form["beside"].as_array().unwrap()) {
            let [file, text, hook] = ["file", "text", "hook"].map(|key| example[key].as_str().unwrap());
            let machine = Machine::new();
            machine.reflex(["init", "--yes", "--agent", agent]).run();
            if agent == "codex" {
                trust_hooks_of_codex(&machine);
            }
            let file = file.strip_prefix("~/").map_or(machine.project().join(file), |file| machine.home().join(file));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let before = fs::read_to_string(&file).unwrap_or_default();
            fs::write(&file, format!("{text}\n{}", if agent == "codex" { &before } else { "" })).unwrap();
            let output = machine.reflex(["status", "--json"]).folder(&machine.project()).run().stdout;
            let status: serde_json::Value = serde_json::from_str(&output).unwrap();
            let agents = status["agents"].as_array().unwrap();
            let row = agents.iter().find(|row| row["agent"] == agent).unwrap();
            let is_off = row["surfaces"].as_object().unwrap().values().any(|surface| surface["state"] == "OFF");
            // Copilot CLI applies a project's switch only in a trusted folder, which cannot be determined here.
            let is_sure = agent != "copilot" || !file.starts_with(machine.project());
            assert!(!is_sure || is_off == (hook == "silent"), "{agent} with `{text}`: {output}");
        }
    }
}

#[test]
fn a_variable_that_silences_hooks_is_named() {
    let wired = Wired::new();
    let output = wired.machine.reflex(["doctor", "--agent", "claude"]).env("CLAUDE_CODE_SIMPLE", "1").run();
    assert!(output.code == 1 && output.stdout.contains("`CLAUDE_CODE_SIMPLE` is set here"), "{output:?}");
    wired.edit(".claude/settings.json", |text| text.replacen('{', "{\"env\": {\"CLAUDE_CODE_SIMPLE\": 1},", 1));
    wired.check("claude", "`CLAUDE_CODE_SIMPLE` is set in `env`", "take it out of ");
}

#[test]
fn a_client_that_runs_calls_without_the_guard_is_named() {
    let wired = Wired::new();
    let package = wired.file("lib/claude-code");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("cli.js"), "#!/bin/sh\n").unwrap();
    let bin = wired.path.split(':').next().unwrap().to_owned();
    std::os::unix::fs::symlink(package.join("cli.js"), format!("{bin}/claude")).unwrap();
    let named = "Claude Code 2.1.197 runs a call unjudged if the hook is missing or crashes";
    fs::write(package.join("package.json"), r#"{"version": "2.1.197"}"#).unwrap();
    wired.check("claude", named, "update Claude Code to 2.1.295 or newer");
    assert!(wired.run(&["status"]).stdout.contains(named));
    let whole = fs::read_to_string(wired.file(".claude/settings.json")).unwrap();
    wired.edit(".claude/settings.json", |text| text.replace(env!("CARGO_BIN_EXE_reflex"), "/nowhere/reflex"));
    let gone = wired.run(&["status"]).stdout;
    assert!(gone.contains("which is not there; Claude Code 2.1.197 runs every call unjudged"), "{gone}");
    wired.edit(".claude/settings.json", |_| whole);
    let of_json: Value = serde_json::from_str(&wired.run(&["status", "--json"]).stdout).unwrap();
    let claude = of_json["agents"].as_array().unwrap().iter().find(|agent| agent["agent"] == "claude").unwrap();
    assert_eq!(claude["fails_open"], named);
    fs::write(package.join("package.json"), r#"{"version": "2.1.295"}"#).unwrap();
    assert_eq!(wired.run(&["doctor", "--agent", "claude"]).code, 0);
    assert!(!wired.run(&["status"]).stdout.contains("runs a call unjudged"));
}

#[test]
fn status_says_who_can_remove_the_guard() {
    let wired = Wired::new();
    let output = wired.run(&["status", "--all"]).stdout;
    assert!(output.contains("assurance user (claude, copilot): programs of yours that are not judged"), "{output}");
    let of_json: Value = serde_json::from_str(&wired.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(of_json["agents"][0]["assurance"], "user");
}

/// Acts as an administrator in a separate mount namespace: entry, executable and key belong to root, then one does not.
#[test]
fn a_managed_install_is_told_by_who_owns_it() {
    const PLAY: &str = r#"
        reflex=$1 home=$2
        mount --make-rprivate / && mount -t tmpfs -o mode=755 tmpfs /etc || exit 77
        mkdir -p /etc/claude-code /etc/reflex/keys /etc/bin "$home/.claude"
        cp "$reflex" /etc/bin/reflex
        chmod -R go-w /etc && chown -R 64000 "$home"
        "$reflex" emit --scope managed --agent claude --binary /etc/bin/reflex > /tmp/emitted 2>&1
        sed -n '/^{/,/^}/p' /tmp/emitted > /etc/claude-code/managed-settings.json
        as_user() { setpriv --reuid=64000 --regid=64000 --clear-groups /etc/bin/reflex --home "$home" status --all; }
        level() { as_user | grep -E '^(assurance|Reflex)'; }
        level
        echo 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef > /etc/reflex/keys/64000
        level
        chmod 777 /etc/bin
        level
    "#;
    let machine = Machine::new();
    let play = "mount -t tmpfs tmpfs /tmp && mkdir /tmp/home && cp \"$1\" /tmp/reflex && chmod 755 /tmp /tmp/reflex";
    let script = format!("set -- \"$1\" /tmp/home; {play} && {PLAY}").replace("reflex=$1 ", "reflex=/tmp/reflex ");
    let words = ["--mount", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_reflex")];
    let output = machine.program("unshare", words).run();
    if !output.stdout.starts_with("Reflex") && output.code != 0 {
        return println!("skipped: this needs root and mount namespaces: {}", output.stderr);
    }
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 6, "{output:?}");
    assert!(lines.iter().step_by(2).all(|line| *line == "Reflex is on"), "{lines:?}");
    assert!(lines[1].starts_with("assurance user (claude)") && lines[1].contains("no key"), "{lines:?}");
    assert_eq!(lines[3], "assurance managed (claude): only root can remove the guard");
    assert!(lines[5].contains("/etc/bin/reflex or a folder above it does not belong to root alone"), "{lines:?}");
}

#[test]
fn a_plugin_counts_if_it_is_installed_and_enabled() {
    let wired = Wired::new();
    assert_eq!(wired.run(&["uninstall", "--yes", "--agent", "claude"]).code, 0);
    fs::create_dir_all(wired.file(".claude")).unwrap();
    let settings = |is_on: bool| format!(r#"{{"enabledPlugins": {{"reflex-guard@reflex": {is_on}}}}}"#);
    wired.edit(".claude/settings.json", |_| settings(true));
    let output = wired.run(&["doctor", "--agent", "claude"]);
    assert!(output.code == 1 && output.stdout.contains("plugin reflex-guard, which is not installed"), "{output:?}");
    let installed = wired.file(".claude/plugins/cache/reflex/reflex-guard/0.1.0");
    fs::create_dir_all(installed.join("hooks")).unwrap();
    let list = serde_json::json!({"plugins": {"reflex-guard@reflex": [{"installPath": installed}]}, "version": 2});
    fs::write(wired.file(".claude/plugins/installed_plugins.json"), list.to_string()).unwrap();
    assert!(wired.run(&["status"]).stdout.contains("OFF for Claude"));
    fs::write(installed.join("hooks/hooks.json"), "{}").unwrap();
    assert_eq!(wired.run(&["doctor", "--agent", "claude"]).code, 0, "{:?}", wired.run(&["doctor"]));
    assert!(!wired.run(&["status"]).stdout.contains("OFF for Claude"));
    wired.edit(".claude/settings.json", |_| settings(false));
    let output = wired.run(&["doctor", "--agent", "claude"]);
    assert!(
        output.code == 1 && output.stdout.contains("the plugin reflex-guard of Claude Code is disabled"),
        "{output:?}"
    );
}

#[test]
fn the_plugin_blocks_calls_if_the_program_is_missing() {
    let machine = Machine::new();
    let guard = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude/guard");
    let guard = guard.to_str().unwrap();
    let run = |event: &str| machine.program("/bin/sh", [guard, event]).env("PATH", "/usr/bin:/bin").run();
    let output = run("PreToolUse");
    assert!(
        output.code == 2 && output.stderr.starts_with("Blocked: the plugin reflex-guard found no program"),
        "{output:?}"
    );
    assert_eq!(run("PostToolUse").code, 0);
    // The guard's own folder comes before one into which other packages write.
    with_program(&machine, "reflex", "#!/bin/sh\n");
    let shared = machine.home().join(".local/bin");
    fs::create_dir_all(shared.parent().unwrap()).unwrap();
    fs::rename(machine.root().join("programs"), shared).unwrap();
    let programs = machine.home().join(".local/share/reflex-guard");
    fs::create_dir_all(&programs).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_reflex"), programs.join("reflex")).unwrap();
    let Some(call) = machine.as_user("/bin/sh", [guard, "PreToolUse"]) else { return };
    let output = call.run();
    // The program refuses an empty event in the client's dialect.
    assert!(output.stdout.contains("cannot read this event"), "{output:?}");
}
