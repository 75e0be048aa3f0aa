//! Questions that the agent cannot ask: the hook waits while a person can answer, and an approval counts once.

use crate::support;
use crate::support::{Call, Machine, Ran, Running, at_terminal, calls};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A command that a non-core rule asks about.
const PUSH: &str = "git push --force origin feature";

const MOMENT: Duration = Duration::from_millis(20);

const LONG: Duration = Duration::from_secs(20);

fn state(machine: &Machine) -> PathBuf {
    machine.home().join(".local/state/reflex")
}

/// Starts Codex's hook before a command: this client cannot ask.
fn codex(machine: &Machine, command: &str) -> Call {
    codex_in(machine, "s1", command)
}

/// Same, with the approval key in the hook's entry.
fn codex_keyed(machine: &Machine, key: &str, command: &str) -> Call {
    codex_with(machine, "s1", command, &["--key", key])
}

fn codex_in(machine: &Machine, session: &str, command: &str) -> Call {
    codex_with(machine, session, command, &[])
}

fn codex_with(machine: &Machine, session: &str, command: &str, more: &[&str]) -> Call {
    let payload = json!({
        "session_id": session, "turn_id": "t", "transcript_path": null, "cwd": machine.project(), "model": "m",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": format!("c{:?}", Instant::now()),
    });
    let words = [&["hook", "--agent", "codex", "--event", "PreToolUse"], more].concat();
    machine.reflex(words).input(payload.to_string())
}

fn pending(machine: &Machine) -> Vec<Value> {
    machine.reflex(["pending", "--json"]).run().json()["pending"].as_array().unwrap().clone()
}

/// The file that an open list locks.
fn present(machine: &Machine) -> File {
    std::fs::create_dir_all(state(machine)).unwrap();
    let file = File::create(state(machine).join("answering")).unwrap();
    file.try_lock().unwrap();
    file
}

/// Returns the id of the call that a hook waits for.
#[track_caller]
fn awaited(machine: &Machine) -> String {
    let begun = Instant::now();
    loop {
        let all = pending(machine);
        if let Some(call) = all.iter().find(|call| call["until"].as_u64().unwrap() > 0) {
            return call["id"].as_str().unwrap().to_owned();
        }
        assert!(begun.elapsed() < LONG, "no hook waits: {all:?}");
        std::thread::sleep(MOMENT);
    }
}

fn policy(machine: &Machine, text: &str) {
    let folder = machine.home().join(".config/reflex");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("policy.yaml"), text).unwrap();
}

#[track_caller]
fn refused(output: &Ran) -> String {
    assert_eq!(output.answer().0, "deny", "{output:?}");
    output.answer().1
}

fn start(call: Call) -> Running {
    call.start_and_close()
}

#[test]
fn nobody_is_there_and_the_hook_refuses_at_once_with_the_id() {
    let machine = Machine::new();
    let begun = Instant::now();
    let reason = refused(&codex(&machine, PUSH).run());
    assert!(begun.elapsed() < LONG && reason.contains("`reflex approve "), "{reason}");
}

#[test]
fn a_yes_while_the_hook_waits_lets_the_call_run_once() {
    let machine = Machine::new();
    let list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    assert_eq!(hook.finish(), Ran::silence());
    let explanation = machine.reflex(["why", &id]).run().stdout;
    assert!(explanation.contains("approved by ") && explanation.contains("(once)"), "{explanation}");
    drop(list);
    refused(&codex(&machine, PUSH).run());
}

#[test]
fn a_no_with_a_message_reaches_the_agent_now_and_when_it_tries_again() {
    let machine = Machine::new();
    let list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    let words = format!("deny {id} --message 'push a new branch'");
    let Some((code, output)) = at_terminal(&machine, &words, "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    let reason = refused(&hook.finish());
    assert!(reason.contains("A person said no to this, and this: push a new branch."), "{reason}");
    let again = refused(&codex(&machine, PUSH).run());
    assert!(again.contains("push a new branch") && pending(&machine).is_empty(), "{again}");
    drop(list);
}

#[test]
fn a_no_without_a_word_ends_the_wait() {
    let machine = Machine::new();
    let _list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    let Some((code, _)) = at_terminal(&machine, &format!("deny {id}"), "") else { return };
    assert_eq!(code, 0);
    assert!(refused(&hook.finish()).contains("A person said no to this."));
}

#[test]
fn who_waits_too_long_is_refused_before_the_client_loses_patience() {
    let machine = Machine::new();
    policy(&machine, "ask: {wait: 1s}\n");
    let _list = present(&machine);
    let reason = refused(&codex(&machine, PUSH).run());
    assert!(reason.contains("No answer within 1 s.") && reason.contains("`reflex approve "), "{reason}");
}

#[test]
fn an_answer_that_was_begun_has_more_time_and_nobody_is_named_as_such() {
    let machine = Machine::new();
    let Some(mut open) = list(&machine) else { return };
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    let until = || pending(&machine).iter().find(|call| call["id"] == *id).and_then(|call| call["until"].as_u64());
    let before = until().unwrap();
    press_slowly(&mut open, &["m", "n", "o", "t", " ", "t", "h", "i", "s"]);
    let after = until().unwrap();
    assert!(after > before, "{before} {after}");
    press_slowly(&mut open, &["\r", "q"]);
    let reason = refused(&hook.finish());
    assert!(reason.contains("A person said no to this, and this: not this."), "{reason}");
    assert_eq!(open.finish().code, 0);
    let list = present(&machine);
    let hook = start(codex(&machine, "git push --force origin other"));
    awaited(&machine);
    drop(list);
    let reason = refused(&hook.finish());
    assert!(reason.contains("The user is not there to answer.") && !reason.contains("No answer within"), "{reason}");
}

#[test]
fn a_policy_forbids_to_wait() {
    let machine = Machine::new();
    policy(&machine, "ask: {wait: 0}\n");
    let _list = present(&machine);
    let begun = Instant::now();
    refused(&codex(&machine, PUSH).run());
    assert!(begun.elapsed() < LONG);
}

#[test]
fn a_list_that_is_killed_ends_the_wait() {
    let machine = Machine::new();
    let list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    awaited(&machine);
    let begun = Instant::now();
    drop(list);
    refused(&hook.finish());
    assert!(begun.elapsed() < LONG, "it waited for nobody");
}

#[test]
fn a_hook_that_was_stopped_beyond_its_time_lets_nothing_run() {
    let machine = Machine::new();
    policy(&machine, "ask: {wait: 2s}\n");
    let _list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    let until = pending(&machine).iter().find_map(|call| call["until"].as_u64()).unwrap();
    hook.signal("STOP");
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    // The hook's time limit of two seconds has passed.
    let is_over = || u128::from(until) < std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    while !is_over() {
        std::thread::sleep(MOMENT);
    }
    hook.signal("CONT");
    refused(&hook.finish());
    // The approval remains valid for one later call.
    assert_eq!(codex(&machine, PUSH).run(), Ran::silence());
    refused(&codex(&machine, PUSH).run());
}

#[test]
fn what_changed_while_the_hook_waited_has_no_yes() {
    let machine = Machine::new();
    let project = machine.project();
    std::fs::write(project.join("clean.sh"), "git push --force origin feature\n").unwrap();
    let _list = present(&machine);
    let hook = start(codex(&machine, "sh clean.sh"));
    let id = awaited(&machine);
    std::fs::write(project.join("clean.sh"), "git push --force origin feature other\n").unwrap();
    give(&machine, &id);
    let reason = refused(&hook.finish());
    assert!(!reason.contains(&id), "what changed has an id of its own: {reason}");
}

/// A person's yes as stored when no key is in force.
fn give(machine: &Machine, id: &str) {
    let now = u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    calls::give(machine, id, |call| {
        json!({"schema": "reflex/grant-v1", "id": id, "allow": true, "exact": call["exact"], "scope": "once",
            "within": call["holder"], "time": now, "expires": now + 600_000, "text": call["text"], "by": "a test"})
    });
}

/// Returns the ids of the waiting calls.
fn ids(machine: &Machine) -> Vec<String> {
    calls::waiting_files(machine).iter().map(|file| calls::id_of(file)).collect()
}

#[test]
fn whoever_is_killed_doubles_no_yes() {
    const ROUNDS: u64 = 200;
    let machine = Machine::new();
    let mut list = Some(present(&machine));
    let (mut seed, mut ran_at_once, mut lost) = (88_172_645_463_325_252_u64, 0, 0);
    for round in 0..ROUNDS {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let command = format!("git push --force origin f{round}");
        let before = ids(&machine);
        let hook = start(codex(&machine, &command));
        let begun = Instant::now();
        let id = loop {
            if let Some(id) = ids(&machine).into_iter().find(|id| !before.contains(id)) {
                break id;
            }
            assert!(begun.elapsed() < LONG, "no hook waits");
            std::thread::sleep(Duration::from_millis(1));
        };
        match seed % 4 {
            0 => hook.signal("KILL"),
            1 => list = None,
            _ => {}
        }
        give(&machine, &id);
        std::thread::sleep(Duration::from_micros(seed % 120_000));
        hook.signal_if_running("KILL");
        let output = hook.finish();
        list = list.or_else(|| Some(present(&machine)));
        drop(list.take());
        let first = usize::from(output == Ran::silence());
        let runs = (0..2).filter(|_| codex(&machine, &command).run() == Ran::silence()).count();
        assert!(first + runs <= 1, "round {round}: one yes let a call run {} times: {output:?}", first + runs);
        ran_at_once += first;
        lost += usize::from(first + runs == 0);
        // This many calls of one session cannot wait at the same time.
        calls::forget(&machine);
        list = Some(present(&machine));
    }
    assert!(ran_at_once > 10, "the hooks were killed too early: {ran_at_once}");
    assert_eq!(lost, 0, "a yes was lost although its call did not run");
}

#[test]
fn an_approval_whose_command_is_killed_is_given_or_not() {
    const ROUNDS: u64 = 40;
    let machine = Machine::new();
    if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        return;
    }
    let (mut seed, mut given) = (88_172_645_463_325_252_u64, 0);
    // The first round is not interrupted. An approval takes as long as the fastest round.
    let mut usual = 60_000;
    for round in 0..ROUNDS {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let limit = if round == 0 { usual } else { seed % (2 * usual) };
        let command = format!("git push --force origin f{round}");
        let list = present(&machine);
        let hook = start(codex(&machine, &command));
        let id = awaited(&machine);
        let seconds = format!("{}.{:03}", limit / 1000, limit % 1000);
        let line = format!("timeout --foreground -s KILL {seconds} {} approve {id}", machine.line());
        let begun = Instant::now();
        machine.program("script", ["-qec", &line, "/dev/null"]).env("TERM", "xterm").input("y\n").run();
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap().max(1);
        drop(list);
        let first = usize::from(hook.finish() == Ran::silence());
        let is_given = calls::is_answered(&machine, &id);
        let runs = (0..2).filter(|_| codex(&machine, &command).run() == Ran::silence()).count();
        assert_eq!(first + runs, usize::from(is_given), "round {round}: {id}");
        // Other work on this machine may slow a round down, so the fastest one counts.
        if is_given {
            usual = usual.min(took);
        }
        given += u64::from(is_given);
        // This many calls of one session cannot wait at the same time.
        calls::forget(&machine);
    }
    assert!(given > 0, "all were killed too early");
}

#[test]
fn the_next_call_tells_of_a_late_yes_and_one_that_is_almost_it_is_told_the_difference() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    let Some((code, output)) = at_terminal(&machine, "approve", "y\n") else { return };
    assert!(code == 1 && output.contains("no call waits now"), "nothing that nobody named: {output}");
    let id = ids(&machine).remove(0);
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert!(code == 0 && output.contains("| git push --force origin feature"), "{output}");
    assert!(output.contains("approved; it runs when its agent tries it again"), "{output}");
    let almost = refused(&codex(&machine, &format!("{PUSH} | tail -3")).run());
    assert!(almost.contains(&format!("A person said yes to `{PUSH}`, and this call differs")), "{almost}");
    let next = codex(&machine, "git status").run();
    assert!(next.stdout.contains(&format!("A person said yes to `{PUSH}`: run exactly that again now")), "{next:?}");
    assert_eq!(codex(&machine, "git status").run(), Ran::silence());
    assert_eq!(codex(&machine, PUSH).run(), Ran::silence());
    refused(&codex(&machine, PUSH).run());
}

/// Opens the list in a separate terminal.
fn list(machine: &Machine) -> Option<Running> {
    list_in(machine, "", "")
}

/// Same, with these variables, and with these keys typed before it opens.
fn list_in(machine: &Machine, variables: &str, keys: &str) -> Option<Running> {
    let line = format!("stty rows 24 cols 80; {variables}{} pending", machine.line());
    if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        return None;
    }
    let mut running = machine.program("script", ["-qec", &line, "/dev/null"]).env("TERM", "xterm").start_waiting();
    running.press(keys);
    let begun = Instant::now();
    let is_open = || {
        let file = File::open(state(machine).join("answering"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
    };
    while !is_open() {
        assert!(begun.elapsed() < LONG, "the list did not open");
        std::thread::sleep(MOMENT);
    }
    Some(running)
}

/// Types keys, with several refreshes of the list between them.
fn press_slowly(list: &mut Running, keys: &[&str]) {
    for key in keys {
        // A call that has just appeared takes no answer for half a second, and is read within a quarter of one.
        std::thread::sleep(Duration::from_millis(900));
        list.press(key);
    }
}

const SHOWS: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

#[test]
fn a_key_in_the_open_list_answers_and_the_terminal_comes_back() {
    let machine = Machine::new();
    let Some(mut open) = list(&machine) else { return };
    let hook = start(codex(&machine, PUSH));
    awaited(&machine);
    press_slowly(&mut open, &["a", "y"]);
    assert_eq!(hook.finish(), Ran::silence());
    let hook = start(codex(&machine, PUSH));
    awaited(&machine);
    press_slowly(&mut open, &["m", "not this one", "\r"]);
    let reason = refused(&hook.finish());
    assert!(reason.contains("A person said no to this, and this: not this one."), "{reason}");
    let hook = start(codex(&machine, "git push --force origin other"));
    awaited(&machine);
    press_slowly(&mut open, &["a", "n", "?", "x", "j", "k", "d", "y"]);
    assert!(refused(&hook.finish()).contains("A person said no to this."));
    press_slowly(&mut open, &["q"]);
    let output = open.finish();
    assert_eq!(output.code, 0, "{output:?}");
    let (_, drawn) = output.stdout.split_once(SHOWS).unwrap();
    let (drawn, after) = drawn.split_once(GIVES_BACK).unwrap();
    assert!(drawn.contains("1 call waits for you") && drawn.contains("git push --force"), "{drawn}");
    assert!(after.trim().is_empty() && !drawn.contains("\u{1b}[38;"), "{after}");
}

#[test]
fn keys_that_come_at_once_answer_nothing() {
    let machine = Machine::new();
    let Some(mut open) = list(&machine) else { return };
    let hook = start(codex(&machine, PUSH));
    awaited(&machine);
    press_slowly(&mut open, &["ay", "dy", "\r", "a", "yes\r", "\r", "m", "a word\rq", "\u{1b}"]);
    assert_eq!(counts(&machine), (1, 0));
    assert_eq!(calls::answered_files(&machine).len(), 0, "a burst was a yes");
    press_slowly(&mut open, &["a", "y"]);
    assert_eq!(hook.finish(), Ran::silence());
    press_slowly(&mut open, &["q"]);
    assert_eq!(open.finish().code, 0);
}

#[test]
fn a_command_in_place_of_a_call_is_judged_and_confirmed() {
    let machine = Machine::new();
    let Some(mut open) = list(&machine) else { return };
    let hook = start(codex(&machine, PUSH));
    awaited(&machine);
    // The command as it is would be stopped again; with this option it changes nothing.
    press_slowly(&mut open, &["e", "\r", "e", " --dry-run", "\r", "n", "e", " --dry-run", "\r"]);
    assert_eq!(counts(&machine), (1, 0), "sent without a yes");
    press_slowly(&mut open, &["y"]);
    let reason = refused(&hook.finish());
    assert!(reason.contains(&format!("run exactly `{PUSH} --dry-run` instead")), "{reason}");
    press_slowly(&mut open, &["q"]);
    let drawn = open.finish().stdout;
    let drawn = drawn.replace("\u{1b}[K", "").replace("\u{1b}[1m", "");
    assert!(drawn.contains("that would be stopped too") && drawn.contains("Judged: it runs without"), "{drawn}");
}

#[test]
fn what_waits_now_is_told_from_what_was_stopped_earlier() {
    let machine = Machine::new();
    refused(&codex(&machine, "git push --force origin earlier").run());
    assert_eq!(counts(&machine), (0, 1));
    let list = present(&machine);
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    assert_eq!(counts(&machine), (1, 1));
    assert_eq!(pending(&machine)[0]["id"], id, "what waits comes first");
    let text = machine.reflex(["pending"]).run().stdout;
    let places = ["waiting now", "origin feature", "stopped earlier", "origin earlier"].map(|part| text.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert_eq!(machine.reflex(["status", "--json"]).run().json()["pending"], 1);
    hook.signal("KILL");
    hook.finish();
    assert_eq!(counts(&machine), (0, 2), "a killed hook waits");
    drop(list);
    let Some((code, output)) = at_terminal(&machine, "pending --clear", "") else { return };
    assert!(code == 0 && output.contains("2 calls cleared"), "{output}");
    assert_eq!(counts(&machine), (0, 0));
    refused(&codex(&machine, PUSH).run());
}

/// Returns how many calls wait now, and how many were stopped earlier.
fn counts(machine: &Machine) -> (u64, u64) {
    let list = machine.reflex(["pending", "--json"]).run().json();
    (list["waiting_now"].as_u64().unwrap(), list["stopped_earlier"].as_u64().unwrap())
}

#[test]
fn control_c_ends_the_list_and_gives_the_terminal_back() {
    let machine = Machine::new();
    let Some(mut open) = list(&machine) else { return };
    press_slowly(&mut open, &["\u{3}"]);
    let output = open.finish();
    assert!(output.code == 0 && output.stdout.contains(GIVES_BACK), "{output:?}");
}

#[test]
fn an_agent_with_a_terminal_answers_nothing_and_the_attempt_is_recorded() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    let id = ids(&machine).remove(0);
    let commands = [
        format!("approve {id}"),
        "approve".to_owned(),
        format!("deny {id} --message no"),
        format!("allow {id}"),
        "pending --clear".to_owned(),
        "rules off git/push-force --reason no".to_owned(),
    ];
    for command in &commands {
        let line = format!("{} {command}", machine.line());
        let script =
            machine.program("script", ["-qec", &line, "/dev/null"]).env("CLAUDECODE", "1").env("TERM", "xterm");
        let output = script.input("y\n").run();
        assert!(output.code != 0 && output.stdout.contains("only a person at a terminal"), "{command}: {output:?}");
    }
    let listed = machine.program("script", ["-qec", &format!("{} pending", machine.line()), "/dev/null"]);
    let listed = listed.env("CLAUDECODE", "1").env("TERM", "xterm").run().stdout;
    assert!(listed.contains(&id) && !listed.contains(SHOWS), "an agent was given the list: {listed}");
    let log = std::fs::read_to_string(state(&machine).join("audit/current.jsonl")).unwrap();
    assert_eq!(log.matches("\"kind\":\"attempt\"").count(), commands.len(), "{log}");
    refused(&codex(&machine, PUSH).run());
}

#[test]
fn a_yes_is_of_one_agent_in_one_session() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    give(&machine, &ids(&machine).remove(0));
    refused(&codex_in(&machine, "s2", PUSH).run());
    // Another agent with the same session id.
    assert_eq!(machine.bash(&machine.project(), PUSH).answer().0, "ask");
    refused(&codex(&machine, &format!("{PUSH} --no-verify")).run());
    assert_eq!(codex(&machine, PUSH).run(), Ran::silence());
}

/// Returns the recorded attempts to approve.
fn attempts(machine: &Machine) -> usize {
    let log = std::fs::read_to_string(state(machine).join("audit/current.jsonl")).unwrap();
    log.matches("\"kind\":\"attempt\"").count()
}

#[test]
fn no_detour_of_an_agent_makes_it_a_person() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    let id = ids(&machine).remove(0);
    let approve = format!("{} approve {id}", machine.line());
    let in_terminal = format!("script -qec {} /dev/null", support::shell_quoted(&approve));
    // Each runs in a shell marked as an agent's, which outlives it.
    let detours = [
        in_terminal.clone(),
        format!("setsid -w {in_terminal}"),
        format!("env -u CLAUDECODE {in_terminal}"),
        format!("env -i PATH=\"$PATH\" TERM=xterm setsid -w {in_terminal}"),
        format!("nohup sh -c {}", support::shell_quoted(&format!("unset CLAUDECODE; {in_terminal}; :"))),
        format!("script -qec {} /dev/null", support::shell_quoted(&format!("env -u CLAUDECODE {in_terminal}"))),
    ];
    for (index, detour) in detours.iter().enumerate() {
        let shell = machine.program("sh", ["-c", &format!("{detour}; :")]);
        let output = shell.env("CLAUDECODE", "1").env("TERM", "xterm").input("y\ny\n").run();
        assert!(output.stdout.contains("only a person at a terminal"), "{detour}: {output:?}");
        assert_eq!(attempts(&machine), index + 1, "{detour}");
    }
    // A terminal that stays open keeps the mark, whoever uses it afterwards.
    let socket = machine.root().join("t");
    let line =
        format!("tmux -S '{}' -f /dev/null new-session -d {}", socket.display(), support::shell_quoted(&approve));
    let shell = machine.program("sh", ["-c", &format!("command -v tmux && {line}")]);
    if shell.env("CLAUDECODE", "1").env("TERM", "xterm").run().code == 0 {
        let begun = Instant::now();
        while attempts(&machine) == detours.len() {
            assert!(begun.elapsed() < LONG, "the attempt is not on record");
            std::thread::sleep(MOMENT);
        }
    }
    refused(&codex(&machine, PUSH).run());
}

#[test]
fn in_a_terminal_that_programs_type_into_two_letters_are_no_yes() {
    let machine = Machine::new();
    let Some(mut open) = list_in(&machine, "TMUX=/tmp/x,1,0 ", "") else { return };
    let hook = start(codex(&machine, PUSH));
    let id = awaited(&machine);
    // After a wrong proof the question stays open, so `q` is not a key of the list.
    press_slowly(&mut open, &["a", "y", "\r", "q", "\r"]);
    assert_eq!(calls::answered_files(&machine).len(), 0, "two letters were a yes");
    press_slowly(&mut open, &[&id, "\r"]);
    assert_eq!(hook.finish(), Ran::silence());
    press_slowly(&mut open, &["q"]);
    assert_eq!(open.finish().code, 0);
}

#[test]
fn with_a_passphrase_each_yes_there_takes_it_again() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
    if at_terminal(&machine, "pin", "correct horse\ncorrect horse\ny\n").is_none() {
        return;
    }
    let key = machine.reflex(["pin", "--show"]).run().stdout.trim().to_owned();
    let mut open = list_in(&machine, "TMUX=/tmp/x,1,0 ", "correct horse\n").unwrap();
    let hook = start(codex_keyed(&machine, &key, PUSH));
    let id = awaited(&machine);
    press_slowly(&mut open, &["a", "y", "\r", &id, "\r"]);
    // A wrong passphrase is delayed.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(calls::answered_files(&machine).len(), 0, "the id was a signed yes");
    press_slowly(&mut open, &["correct horse", "\r"]);
    let output = hook.finish();
    assert!(output.code == 0 && !output.stdout.contains("deny"), "{output:?}");
    press_slowly(&mut open, &["q"]);
    let drawn = open.finish();
    // Before that, it was typed ahead of the prompt.
    let (_, shown) = drawn.stdout.split_once(SHOWS).unwrap();
    assert!(drawn.code == 0 && !shown.contains("correct horse"), "{shown}");
}

#[test]
fn a_person_switches_one_rule_off_with_a_reason() {
    let machine = Machine::new();
    let words = "rules off git/push-force --reason 'my own branches'";
    let Some((code, output)) = at_terminal(&machine, words, "n\n") else { return };
    let file = machine.home().join(".config/reflex/policy.yaml");
    assert!(code == 1 && !file.exists(), "{output}");
    let entry = r#""git/push-force": {"action":"off","reason":"my own branches"}"#;
    assert!(output.contains(entry), "{output}");
    assert_eq!(at_terminal(&machine, words, "y\n").unwrap().0, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains(entry));
    assert_eq!(codex(&machine, PUSH).run(), Ran::silence());
    // Two identical answers do not suggest a policy.
    let (code, output) = at_terminal(&machine, words, "y\n").unwrap();
    assert!(code == 1 && output.contains("the policy would be wrong"), "{output}");
    let unknown = at_terminal(&machine, "rules off git/push-forse --reason x", "y\n").unwrap().1;
    assert!(unknown.contains("did you mean `git/push-force`?"), "{unknown}");
    assert_eq!(machine.reflex(["rules", "off", "git/push-force"]).run().code, 64);
}

#[test]
fn nothing_of_a_repository_is_accepted_along_with_a_rule() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    let id = ids(&machine).remove(0);
    let folder = machine.project().join(".reflex");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("policy.yaml"), "preset: quiet\nreason: so\n").unwrap();
    let Some((code, output)) = at_terminal(&machine, &format!("allow {id} --project"), "y\n") else { return };
    assert!(code == 1 && output.contains("`reflex trust` first"), "{output}");
    refused(&codex(&machine, PUSH).run());
}

#[test]
fn a_session_can_only_be_stricter() {
    let machine = Machine::new();
    let of_mode = |mode: &str, command: &str| codex(&machine, command).env("REFLEX_MODE", mode).run();
    assert_eq!(codex(&machine, "mkdir out").run(), Ran::silence());
    for mode in ["read-only", "balanced", "observe", "quiet", "nonsense"] {
        refused(&of_mode(mode, PUSH));
    }
    refused(&of_mode("read-only", "mkdir out"));
    let path = support::with_program(&machine, "gemini", "#!/bin/sh\necho \"mode $REFLEX_MODE\"\n");
    let run = |words: &[&str]| machine.reflex([&["run"], words].concat()).env("PATH", &path).run();
    assert_eq!(machine.reflex(["init", "--agent", "gemini", "--yes"]).env("PATH", &path).run().code, 0);
    assert_eq!(run(&["--mode", "read-only", "--", "gemini"]).stdout, "mode read-only\n");
    assert_eq!(run(&["--", "gemini"]).stdout, "mode \n");
    let unknown = run(&["--mode", "loose", "--", "gemini"]);
    assert!(unknown.code == 64 && unknown.stderr.contains("known: "), "{unknown:?}");
}

#[test]
fn a_decision_becomes_a_rule_as_it_was_shown() {
    let machine = Machine::new();
    refused(&codex(&machine, PUSH).run());
    let id = ids(&machine).remove(0);
    let Some((code, output)) = at_terminal(&machine, &format!("allow {id}"), "n\n") else { return };
    let file = machine.home().join(".config/reflex/policy.yaml");
    assert!(code == 1 && !file.exists(), "{output}");
    let exact = "  - argv: [git, push, \"--force\", origin, feature]\n    rule: git/push-force\n";
    let (_, shown) = at_terminal(&machine, &format!("allow {id} --exact"), "n\n").unwrap();
    assert!(shown.replace('\r', "").contains(exact), "{shown}");
    let entry = format!(
        "  - argv: [git, push]\n    rule: git/push-force\n    in: {}\n    reason: allowed by {id}\n",
        machine.project().display()
    );
    let output = output.replace('\r', "");
    assert!(
        output.contains(&entry) && output.contains("It would have changed 1 of the newest 1 recorded calls."),
        "{output}"
    );
    let (code, output) = at_terminal(&machine, &format!("allow {id}"), "y\n").unwrap();
    assert_eq!(code, 0, "{output}");
    assert!(std::fs::read_to_string(&file).unwrap().contains(&entry));
    assert_eq!(codex(&machine, PUSH).run(), Ran::silence());
    assert_eq!(codex(&machine, "git push --force origin next").run(), Ran::silence(), "the next branch asks again");
    let other = machine.root().join("other");
    std::fs::create_dir_all(&other).unwrap();
    assert_eq!(machine.bash(&other, "git push --force origin next").answer().0, "ask", "another project");
    refused(&codex(&machine, "git push --force origin main").run());
}

#[test]
fn only_the_users_own_policy_tells_anybody() {
    let machine = Machine::new();
    let mark = machine.root().join("told");
    let line = format!(
        "notify: {{command: 'echo \"$REFLEX_ID $REFLEX_LINE\" >> {}'}}\n",
        mark.display().to_string().replace(' ', "\\ ")
    );
    let project = machine.project().join(".reflex");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("policy.yaml"), &line).unwrap();
    refused(&codex(&machine, PUSH).run());
    assert!(!mark.exists(), "a project had a command run");
    policy(&machine, &format!("ask: {{unattended: park}}\n{line}"));
    let reason = refused(&codex(&machine, PUSH).run());
    assert!(reason.contains("The user was notified."), "{reason}");
    refused(&codex(&machine, "git push --force origin other").run());
    let messages = std::fs::read_to_string(&mark).unwrap();
    assert!(messages.lines().count() == 1 && messages.contains(PUSH), "a burst is one message: {messages}");
}

#[test]
fn of_low_weight_only_what_a_persons_policy_says_runs_unasked() {
    let machine = Machine::new();
    policy(&machine, "preset: strict\nask: {unattended: allow-low}\n");
    // High severity or core rules still ask.
    refused(&codex(&machine, "git push --force origin main").run());
}

/// A program with an agent's name, first on the `PATH`.
fn client(machine: &Machine, script: &str) -> String {
    support::with_program(machine, "codex", script)
}

#[test]
fn run_starts_an_agent_only_if_it_will_ask_and_passes_its_status_on() {
    let machine = Machine::new();
    let path = client(&machine, "#!/bin/sh\necho \"started $*\"\nexit 7\n");
    let run = |words: &[&str]| machine.reflex([&["run"], words].concat()).env("PATH", &path).run();
    let unwired = run(&["--", "codex", "exec", "hi"]);
    assert!(unwired.code == 1 && unwired.stderr.contains("reflex init --agent codex"), "{unwired:?}");
    assert_eq!(machine.reflex(["run", "--", "vim"]).run().code, 64);
    let off = run(&["--check", "--", "codex", "--disable", "hooks", "exec", "hi"]);
    assert!(off.code == 1 && off.stderr.contains("not started:") && off.stdout.is_empty(), "{off:?}");
    let task = run(&["--task", "T-1", "--check", "--", "codex"]);
    assert_eq!(task.code, 1, "{task:?}");
}

#[test]
fn run_ends_as_the_agent_did_with_a_summary() {
    let machine = Machine::new();
    assert_eq!(machine.program("git", ["init", "-q"]).run().code, 0);
    let path = support::with_program(&machine, "gemini", "#!/bin/sh\necho \"started $*\"\nexit 7\n");
    let init = machine.reflex(["init", "--agent", "gemini", "--yes"]).env("PATH", &path).run();
    assert_eq!(init.code, 0, "{init:?}");
    let output = machine.reflex(["run", "--", "gemini", "-p", "a b"]).env("PATH", &path).run();
    assert!(output.code == 7 && output.stdout == "started -p a b\n", "{output:?}");
    assert!(output.stderr.contains("0 calls: 0 stopped, 0 asked, 0 approved, 0 kept; 0 files changed"), "{output:?}");
}
