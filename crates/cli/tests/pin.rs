//! Approvals are signed: files that an agent writes, keeps or replays are not accepted.

use crate::support::{Machine, Ran, at_terminal, at_terminal_in, bash, calls, way_on};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PASSPHRASE: &str = "correct horse";
const CALL: &str = "git push --force origin main";

/// A machine with a passphrase; `None` if no terminal can be created.
fn protected() -> Option<(Machine, String)> {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
    let (code, output) = at_terminal(&machine, "pin", &format!("{PASSPHRASE}\n{PASSPHRASE}\ny\n"))?;
    assert_eq!(code, 0, "{output}");
    let key = machine.reflex(["pin", "--show"]).run().stdout.trim().to_owned();
    assert_eq!(key.len(), 64);
    Some((machine, key))
}

fn asked(machine: &Machine, key: Option<&str>, command: &str) -> Ran {
    let words = ["hook", "--agent", "claude", "--event", "PreToolUse"].into_iter();
    let call = machine.reflex(words.chain(key.into_iter().flat_map(|key| ["--key", key])));
    call.input(bash(&machine.project(), command)).run()
}

/// Whether the call runs; a warning about an alarm does not count as a refusal.
fn passes(machine: &Machine, key: Option<&str>) -> bool {
    runs(&asked(machine, key, CALL))
}

fn runs(output: &Ran) -> bool {
    output.code == 0 && !output.stdout.contains("\"deny\"") && !output.stdout.contains("\"ask\"")
}

fn refused(machine: &Machine, key: Option<&str>) -> String {
    let reason = asked(machine, key, CALL).answer().1;
    way_on(&reason)
}

fn approve(machine: &Machine, key: Option<&str>) {
    let id = refused(machine, key);
    let (code, output) = at_terminal(machine, &format!("approve {id} --for 1h"), &format!("{PASSPHRASE}\n")).unwrap();
    assert_eq!(code, 0, "{output}");
}

fn state(machine: &Machine) -> PathBuf {
    machine.home().join(".local/state/reflex")
}

fn only_file_in(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn a_yes_needs_the_passphrase_and_holds_once() {
    let Some((machine, key)) = protected() else { return };
    let id = refused(&machine, Some(&key));
    let (code, _) = at_terminal(&machine, &format!("approve {id}"), "y\nyes\nwrong one\n").unwrap();
    assert_ne!(code, 0);
    assert!(!passes(&machine, Some(&key)));
    approve(&machine, Some(&key));
    let output = asked(&machine, Some(&key), CALL);
    assert!(runs(&output), "{output:?}");
    assert!(!passes(&machine, Some(&key)));
}

#[test]
fn a_yes_that_was_changed_or_never_signed_counts_for_nothing() {
    let Some((machine, key)) = protected() else { return };
    approve(&machine, Some(&key));
    let file = calls::answered_files(&machine).remove(0);
    let signed = fs::read_to_string(&file).unwrap();
    let change = |name: &str, value: Value| {
        let mut content: Value = serde_json::from_str(&signed).unwrap();
        content["answer"][name] = value;
        fs::write(&file, content.to_string()).unwrap();
    };
    for (name, value) in [
        ("expires", Value::from(u64::MAX)),
        ("scope", "repository".into()),
        ("exact", "0".into()),
        ("by", "me".into()),
        ("signature", "00".into()),
        ("signature", Value::Null),
    ] {
        change(name, value);
        assert!(!passes(&machine, Some(&key)), "{name}");
    }
    // A second name for the file does not make two approvals of one.
    fs::write(&file, &signed).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().replacen(&calls::id_of(&file), "abcdefg", 1);
    fs::rename(&file, file.with_file_name(name)).unwrap();
    assert!(!passes(&machine, Some(&key)));
    let alarms = machine.reflex(["status", "--json"]).run().stdout;
    assert!(alarms.contains("is not signed with your key"), "{alarms}");
    fs::write(&file, &signed).unwrap();
    assert!(passes(&machine, Some(&key)));
}

#[test]
fn a_pause_that_nobody_signed_switches_nothing_off() {
    let Some((machine, key)) = protected() else { return };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let forged = format!(
        r#"{{"schema":"reflex/off-v1","from":{},"until":{},"reason":"x","by":"x","within":""}}"#,
        now - 1000,
        now + 60_000
    );
    fs::write(state(&machine).join("off.json"), forged).unwrap();
    assert!(!passes(&machine, Some(&key)));
    let (code, output) = at_terminal(&machine, "off --for 10m --reason test", &format!("{PASSPHRASE}\n")).unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(passes(&machine, Some(&key)));
}

#[test]
fn no_yes_counts_where_the_key_is_gone_or_there_are_two() {
    let Some((machine, key)) = protected() else { return };
    approve(&machine, Some(&key));
    let settings = machine.home().join(".claude/settings.json");
    let original = fs::read_to_string(&settings).unwrap();
    let other = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    // The hook entry names a key other than the home's: a project's entry may.
    assert!(!passes(&machine, Some(other)));
    for text in [
        original.replace(&key, other),
        original.replacen(&key, other, 1),
        original.replace("--key", "--kez"),
        String::new(),
    ] {
        fs::write(&settings, text).unwrap();
        assert!(!passes(&machine, Some(&key)));
        assert!(!passes(&machine, None));
    }
    fs::write(&settings, &original).unwrap();
    // A shared entry names no key: the home's key applies.
    assert!(passes(&machine, None));
}

/// Returns the arguments of Claude Code's hook entry; empty if there is none.
fn entry(machine: &Machine) -> String {
    fs::read_to_string(machine.home().join(".claude/settings.json")).unwrap_or_default()
}

#[test]
fn who_uninstalls_and_knows_the_passphrase_installs_again_with_the_same_key() {
    let Some((machine, key)) = protected() else { return };
    let (code, output) = at_terminal(&machine, "uninstall", "y\n\n").unwrap();
    assert!(code == 1 && entry(&machine).contains(&key), "{output}");
    let (code, output) = at_terminal(&machine, "uninstall", &format!("y\n{PASSPHRASE}\n")).unwrap();
    assert_eq!((code, entry(&machine)), (0, String::new()), "{output}");
    let at = |text: &str| output.find(text).unwrap_or_else(|| panic!("{text} is not in {output}"));
    assert!(at("file removed") < at("Change this file? [y/N/d]") && at("[y/N/d]") < at("Passphrase for"), "{output}");
    for what in ["These files stay", ".local/state/reflex  the audit log", "the program", "--purge"] {
        assert!(output.contains(what), "{output}");
    }
    // Ignores `init`'s output about the new hook.
    assert!(!output.contains("start them again"), "{output}");
    assert_eq!(machine.reflex(["status", "--line"]).run().stdout.trim(), "reflex: not installed");
    let status = machine.reflex(["status"]).run().stdout;
    assert_eq!(status, "Reflex is not installed; a passphrase from before is kept\n");
    let (code, output) = at_terminal(&machine, "init --yes", &format!("not it at all\n{PASSPHRASE}\n")).unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(entry(&machine).contains(&key), "{}", entry(&machine));
    approve(&machine, Some(&key));
    assert!(passes(&machine, Some(&key)));
}

#[test]
fn who_forgot_the_passphrase_installs_again_with_a_new_one_or_none_and_earlier_approvals_end() {
    let Some((machine, key)) = protected() else { return };
    approve(&machine, Some(&key));
    fs::remove_file(machine.home().join(".claude/settings.json")).unwrap();
    let (code, output) = at_terminal(&machine, "init --yes", "\ny\nanother one\nanother one\n").unwrap();
    assert_eq!(code, 0, "{output}");
    let fresh = machine.reflex(["pin", "--show"]).run().stdout.trim().to_owned();
    assert!(fresh.len() == 64 && fresh != key && entry(&machine).contains(&fresh), "{output}");
    assert!(!passes(&machine, Some(&fresh)));

    fs::remove_file(machine.home().join(".claude/settings.json")).unwrap();
    let (code, output) = at_terminal(&machine, "init --yes", "\nn\nn\n").unwrap();
    assert_eq!((code, entry(&machine)), (1, String::new()), "{output}");
    let (code, output) = at_terminal(&machine, "init --yes", "\nn\ny\n").unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(entry(&machine).contains("hook") && !entry(&machine).contains("--key"), "{}", entry(&machine));
    assert_eq!(machine.reflex(["status", "--json"]).run().json()["approvals"]["state"], "unprotected");
}

#[test]
fn without_a_person_the_hook_comes_back_and_no_yes_counts() {
    let Some((machine, key)) = protected() else { return };
    approve(&machine, Some(&key));
    fs::remove_file(machine.home().join(".claude/settings.json")).unwrap();
    let output = machine.reflex(["init", "--agent", "claude", "--yes"]).run();
    assert!(output.code == 0 && output.stderr.contains("no approval counts"), "{output:?}");
    assert!(entry(&machine).contains("hook") && !passes(&machine, None));
    assert_eq!(at_terminal(&machine, "init --yes", &format!("{PASSPHRASE}\n")).unwrap().0, 0);
    assert!(entry(&machine).contains(&key) && passes(&machine, Some(&key)));
}

#[test]
fn what_removes_or_weakens_the_guard_takes_the_passphrase() {
    let Some((machine, _)) = protected() else { return };
    machine.bash(&machine.project(), "ls");
    let log = || machine.reflex(["audit", "verify"]).run().stdout;
    // As a person's script, and as a script with a pseudo-terminal.
    for words in ["uninstall --yes", "audit purge --before 0d", "audit texts --keep no", "init --yes --replace"] {
        let output = machine.reflex(words.split(' ')).run();
        assert_ne!(output.code, 0, "{words}: {output:?}");
        let (code, output) = at_terminal(&machine, words, "y\ny\nguess\n").unwrap();
        assert_ne!(code, 0, "{words}: {output}");
    }
    assert!(entry(&machine).contains("--key") && log().contains(" 0 purged"), "{}", log());
    // Only a person can replace an entry that starts another program.
    let settings = machine.home().join(".claude/settings.json");
    let elsewhere = entry(&machine).replace(env!("CARGO_BIN_EXE_reflex"), "/opt/reflex/bin/reflex");
    fs::write(&settings, &elsewhere).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 1);
    assert_eq!(entry(&machine), elsewhere);
    assert_eq!(at_terminal(&machine, "init --yes", &format!("{PASSPHRASE}\n")).unwrap().0, 0);
    assert_ne!(entry(&machine), elsewhere);
    let (code, output) = at_terminal(&machine, "uninstall --yes --purge", &format!("{PASSPHRASE}\n")).unwrap();
    assert!(code == 0 && !state(&machine).exists(), "{output}");
}

#[test]
fn replacing_the_copy_that_hooks_start_takes_the_passphrase() {
    let Some((machine, _)) = protected() else { return };
    let (home, project) = (machine.home(), machine.root().join("site"));
    let (program, copy) = (home.join(".local/bin/reflex"), home.join(".local/share/reflex-guard/reflex"));
    for file in [&program, &copy] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    fs::hard_link(env!("CARGO_BIN_EXE_reflex"), &program).unwrap();
    fs::write(&copy, "older").unwrap();
    assert_eq!(machine.program("git", ["init", "-q", project.to_str().unwrap()]).run().code, 0);
    let words = ["--home", home.to_str().unwrap(), "init", "--git", "--yes"];
    let output = machine.program(program.to_str().unwrap(), words).folder(&project).run();
    assert!(output.code == 1 && output.stderr.contains("takes your passphrase"), "{output:?}");
    assert_eq!(fs::read(&copy).unwrap(), b"older");
}

#[test]
fn another_home_changes_no_entry_that_names_a_key() {
    let Some((machine, key)) = protected() else { return };
    let (folder, other) = (machine.home().join(".claude"), machine.root().join("other"));
    fs::create_dir(&other).unwrap();
    for words in [["uninstall", "--agent", "claude", "--yes"], ["init", "--agent", "claude", "--yes"]] {
        let output = machine.in_home(&other, words).env("CLAUDE_CONFIG_DIR", folder.to_str().unwrap()).run();
        assert!(output.code == 1 && output.stderr.contains("not in force in this home"), "{output:?}");
        assert!(entry(&machine).contains(&key));
    }
}

#[test]
fn an_unsigned_yes_from_before_counts_until_a_key_is_set() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().join(".claude")).unwrap();
    machine.reflex(["init", "--agent", "claude", "--yes"]).run();
    let id = refused(&machine, None);
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    let file = calls::answered_files(&machine).remove(0);
    let unsigned = fs::read_to_string(&file).unwrap();
    let answers = format!("{PASSPHRASE}\n{PASSPHRASE}\ny\n");
    assert_eq!(at_terminal(&machine, "pin", &answers).unwrap().0, 0);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, unsigned).unwrap();
    assert!(!passes(&machine, None));
}

#[test]
fn the_passphrase_is_changed_by_who_knows_it() {
    let Some((machine, key)) = protected() else { return };
    let (code, _) = at_terminal(&machine, "pin", "something else\nnew passphrase\nnew passphrase\ny\n").unwrap();
    assert_ne!(code, 0);
    assert_eq!(machine.reflex(["pin", "--show"]).run().stdout.trim(), key);
    let answers = format!("{PASSPHRASE}\nnew passphrase\nnew passphrase\ny\n");
    let (code, output) = at_terminal(&machine, "pin", &answers).unwrap();
    assert_eq!(code, 0, "{output}");
    assert_ne!(machine.reflex(["pin", "--show"]).run().stdout.trim(), key);
}

#[test]
fn what_is_too_short_or_mistyped_is_asked_for_again() {
    let Some((machine, key)) = protected() else { return };
    let shown = || machine.reflex(["pin", "--show"]).run().stdout.trim().to_owned();
    let pin = |answers: &str| at_terminal(&machine, "pin", &format!("{PASSPHRASE}\n{answers}")).unwrap();
    let (code, output) = pin("short\nshort\nshort\n");
    assert!(code == 1 && output.matches("needs at least 8 characters").count() == 3, "{output}");
    assert!(output.contains("; nothing changed") && shown() == key, "{output}");
    let (code, output) = pin("short\nlong enough\nlong enouhg\nlong enough\nlong enough\ny\n");
    assert!(code == 0 && output.contains("the passphrases differ; try again") && shown() != key, "{output}");
}

#[test]
fn the_users_policy_loosens_once_it_is_accepted_and_until_it_changes() {
    let Some((machine, key)) = protected() else { return };
    let folder = machine.home().join(".config/reflex");
    let policy = folder.join("policy.yaml");
    let allowance = "allow:\n  - {argv: [git, push, --force, origin, topic], reason: rebase week}\n";
    let is_asked = |command: &str| !runs(&asked(&machine, Some(&key), command));
    let push = "git push --force origin topic";
    fs::create_dir_all(&folder).unwrap();
    fs::write(&policy, format!("{allowance}approvalRequiredPaths: ['infra/**']\n")).unwrap();
    assert!(is_asked(push), "nobody has accepted it");
    assert!(is_asked("touch infra/a"), "what tightens holds at once");
    let project = machine.project();
    let trust = |answers: &str| at_terminal_in(&machine, &project, "trust", answers).unwrap();
    let (code, output) = trust(&format!("{PASSPHRASE}\n"));
    assert_eq!(code, 0, "{output}");
    assert!(!is_asked(push));
    fs::write(&policy, format!("{allowance}\n# a word more\n")).unwrap();
    assert!(is_asked(push), "what was accepted are exactly those bytes");
}

#[test]
fn a_forged_task_tightens_and_carries_no_yes() {
    let Some((machine, key)) = protected() else { return };
    let project = machine.project();
    let (code, output) =
        at_terminal_in(&machine, &project, "task start T-1 --intent work", &format!("{PASSPHRASE}\n")).unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(!runs(&asked(&machine, Some(&key), "git push --force origin topic")));
    let pending: Value = serde_json::from_str(&machine.reflex(["pending", "--json"]).run().stdout).unwrap();
    let id = pending["pending"][0]["id"].as_str().unwrap();
    let line = format!("approve {id} --scope task --reason rebase");
    let (code, output) = at_terminal_in(&machine, &project, &line, &format!("{PASSPHRASE}\n")).unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(runs(&asked(&machine, Some(&key), "git push --force origin topic")));
    let file = only_file_in(&state(&machine).join("tasks"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"intent\":\"work\"", "\"intent\":\"works\"")).unwrap();
    assert!(!runs(&asked(&machine, Some(&key), "git push --force origin topic")));
}
