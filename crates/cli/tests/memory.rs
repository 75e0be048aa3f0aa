//! The guard's state: the audit log and its chain, approvals, sessions, last-seen files.

use crate::support::{Machine, Ran, at_terminal, bash, calls, files, passes, refused, shell_quoted, way_on};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

const PUSH: &str = "git push --force origin main";

fn state(machine: &Machine) -> PathBuf {
    machine.home().join(".local/state/reflex")
}

fn log(machine: &Machine) -> PathBuf {
    state(machine).join("audit/current.jsonl")
}

fn records(machine: &Machine) -> Vec<Value> {
    let text = std::fs::read_to_string(log(machine)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn verified(machine: &Machine) -> Value {
    machine.reflex(["audit", "verify", "--json"]).run().json()
}

#[test]
fn one_yes_lets_exactly_that_call_run_once() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert!(code == 0 && output.contains("force-push main"), "{output}");
    assert!(!passes(&machine, "git push --force origin master"), "another call was let through");
    assert!(passes(&machine, PUSH));
    assert!(!passes(&machine, PUSH), "a yes was used twice");
    let explanation = machine.reflex(["why", &id]).run().stdout;
    assert!(!explanation.contains("always "), "of the core nothing is suggested: {explanation}");
    assert!(explanation.contains(" (once)") && explanation.contains("library/rules/git.yaml:"), "{explanation}");
    assert_eq!(verified(&machine)["broken"], Value::Null);
}

#[test]
fn who_does_not_answer_yes_has_approved_nothing() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    for answer in ["n\n", "\n", "maybe\n"] {
        let Some((code, _)) = at_terminal(&machine, &format!("approve {id}"), answer) else { return };
        assert_eq!(code, 1);
    }
    assert!(!passes(&machine, PUSH));
}

#[test]
fn a_yes_that_holds_no_time_or_too_long_is_wrong_usage() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    for length in ["0s", "366d", "soon"] {
        let Some((code, output)) = at_terminal(&machine, &format!("approve {id} --for {length}"), "y\n") else {
            return;
        };
        assert!(code == 64 && output.contains("(e.g. 10m, 2h; max 365d)"), "{output}");
    }
    assert!(!passes(&machine, PUSH));
}

#[test]
fn a_yes_is_listed_for_a_month_after_it_is_over() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    let folder = state(&machine).join("calls/answered/s");
    std::fs::create_dir_all(&folder).unwrap();
    let day = 86_400_000;
    let now = u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    for (name, days) in [("older", 31), ("newer", 29)] {
        let grant = json!({"schema": "reflex/grant-v1", "id": name, "allow": true, "exact": "x", "scope": "once",
            "time": now - 40 * day, "expires": now - days * day});
        let file = folder.join(format!("{name}-c-s-e-l-0-yes.json"));
        std::fs::write(file, json!({"call": {}, "answer": grant}).to_string()).unwrap();
    }
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    let listed = machine.reflex(["grants"]).run().stdout;
    assert!(listed.contains("newer") && listed.contains(&id) && !listed.contains("older"), "{listed}");
}

#[test]
fn a_call_with_a_yes_waits_no_more_and_why_says_how_to_be_asked_no_more() {
    let machine = Machine::new();
    machine.bash(&machine.project(), "git push --force origin feature");
    let waiting = || machine.reflex(["pending", "--json"]).run().json()["pending"].as_array().unwrap().clone();
    let id = waiting()[0]["id"].as_str().unwrap().to_owned();
    let explanation = machine.reflex(["why", &id]).run().stdout;
    let policy = machine.home().join(".config/reflex/policy.yaml");
    let entry = format!(
        "always   `rules: {{git/push-force: log}}` in {} stops asking about calls like this\n",
        policy.display()
    );
    assert!(explanation.contains(&entry), "{explanation}");
    let replay = explanation.lines().find_map(|line| line.strip_prefix("replay   reflex ")).unwrap();
    let again =
        machine.program("sh", ["-c", &format!("\"$0\" --home \"$HOME\" {replay}"), env!("CARGO_BIN_EXE_reflex")]).run();
    assert_eq!(again.code, 3, "{replay}: {again:?}");
    let Some((code, _)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert_eq!((code, waiting().len()), (0, 0));
}

#[test]
fn a_yes_for_a_session_needs_a_reason_and_never_covers_the_core() {
    let machine = Machine::new();
    let asked = "git push --force origin feature";
    machine.bash(&machine.project(), asked);
    let pending = machine.reflex(["pending", "--json"]).run().json();
    let id = pending["pending"][0]["id"].as_str().unwrap().to_owned();
    let Some((code, _)) = at_terminal(&machine, &format!("approve {id} --scope session"), "y\n") else { return };
    assert_eq!(code, 64, "without a reason");
    let approved = at_terminal(&machine, &format!("approve {id} --scope session --reason tested"), "y\n").unwrap();
    assert_eq!(approved.0, 0, "{}", approved.1);
    assert!(passes(&machine, asked) && passes(&machine, asked));
    let core = refused(&machine, "rm -rf ~");
    let (code, output) = at_terminal(&machine, &format!("approve {core} --scope session --reason x"), "y\n").unwrap();
    assert!(code == 1 && output.contains("core"), "{output}");
    // A core rule's question can be approved for longer, with a reason.
    std::fs::write(machine.project().join(".env"), "A=1\n").unwrap();
    let reads = "cat .env";
    machine.bash(&machine.project(), reads);
    let pending = machine.reflex(["pending", "--json"]).run().json();
    let of_reads = |call: &&Value| call["text"] == reads;
    let id = pending["pending"].as_array().unwrap().iter().find(of_reads).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(at_terminal(&machine, &format!("approve {id} --scope repository"), "y\n").unwrap().0, 64);
    let approved = at_terminal(&machine, &format!("approve {id} --scope repository --reason local"), "y\n").unwrap();
    assert_eq!(approved.0, 0, "{}", approved.1);
    assert!(passes(&machine, reads) && passes(&machine, reads));
    let all = machine.reflex(["grants", "--json"]).run().json();
    let lasting = all["grants"].as_array().unwrap().iter().find(|grant| grant["scope"] == "repository").unwrap();
    let length = lasting["expires"].as_u64().unwrap() - lasting["time"].as_u64().unwrap();
    assert_eq!(length, 365 * 86_400_000);
    machine.reflex(["grants", "--revoke", &id]).run();
}

#[test]
fn nobody_but_a_person_at_a_terminal_approves_and_the_attempt_is_recorded() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    for arguments in [&["approve", &id][..], &["deny", &id], &["grants", "--revoke", &id], &["off", "--reason", "x"]] {
        let output = machine.reflex(arguments).input("y\n").run();
        assert!(output.code == 1 && output.stderr.contains("only a person"), "{arguments:?}: {output:?}");
    }
    let attempts = records(&machine).iter().filter(|record| record["kind"] == "attempt").count();
    assert_eq!(attempts, 4);
    let tail = machine.reflex(["audit", "tail", "-n", "4"]).run().stdout;
    assert!(tail.contains(&format!("attempt approve, {id}, no terminal is available")), "{tail}");
    let purge = machine.reflex(["audit", "purge", "--before", "1s"]).run();
    assert_eq!(purge.code, 1);
    assert!(!passes(&machine, PUSH));
}

#[test]
fn an_agent_with_a_terminal_of_its_own_is_no_person() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    // A shell with an agent's name, as its child sees it.
    let agent = machine.root().join("claude");
    std::os::unix::fs::symlink("/bin/sh", &agent).unwrap();
    let reflex = machine.line();
    let below =
        format!("{} -c '{} approve {id}; true'", shell_quoted(&agent.to_string_lossy()), reflex.replace('\'', "\""));
    let marked = format!("CLAUDECODE=1 {reflex} approve {id}");
    for line in [below, marked] {
        if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
            return println!("skipped: there is no program `script`");
        }
        let output = machine.program("script", ["-qec", &line, "/dev/null"]).input("y\n").run();
        assert!(output.stdout.contains("an agent started this"), "{line}: {output:?}");
    }
    assert!(!passes(&machine, PUSH));
}

#[test]
fn a_pause_lets_everything_run_and_ends() {
    let machine = Machine::new();
    let Some((code, output)) = at_terminal(&machine, "off --here --for 1m --reason repair", "y\n") else { return };
    assert!(code == 0 && output.contains("every call of every agent in /"), "{output}");
    let Some((code, output)) = at_terminal(&machine, "off --for 2s --reason repair", "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    assert!(passes(&machine, PUSH));
    assert!(machine.reflex(["status"]).run().stdout.contains("OFF"));
    let ended = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        !passes(&machine, PUSH)
    });
    assert!(ended, "the pause does not end");
    // A file that claims more than a person may set is not a pause.
    let far = json!({"schema": "reflex/off-v1", "from": 0, "until": u64::MAX, "reason": "x", "by": "x"});
    std::fs::write(state(&machine).join("off.json"), far.to_string()).unwrap();
    assert!(!passes(&machine, PUSH));
}

#[test]
fn what_was_refused_and_ran_is_an_alarm() {
    let machine = Machine::new();
    refused(&machine, PUSH);
    let after = |command: &str| {
        let mut payload: Value = serde_json::from_slice(&bash(&machine.project(), command)).unwrap();
        payload["hook_event_name"] = "PostToolUse".into();
        payload["tool_response"] = json!({"stdout": "done"});
        machine.reflex(["hook", "--agent", "claude", "--event", "PostToolUse"]).input(payload.to_string()).run()
    };
    machine.bash(&machine.project(), "ls");
    assert_eq!(after("ls"), Ran::silence());
    assert!(!machine.reflex(["status"]).run().stdout.contains("ALARM"));
    assert_eq!(after(PUSH), Ran::silence());
    let status = machine.reflex(["status", "--json"]).run();
    assert_eq!(status.code, 1);
    assert!(status.json()["alarms"][0]["text"].as_str().unwrap().contains(PUSH));
    let output = machine.bash(&machine.project(), "ls");
    assert!(output.stdout.contains("it ran all the same"), "{output:?}");
    assert_eq!(machine.bash(&machine.project(), "ls"), Ran::silence(), "an alarm is told once in a session");
    let ran = records(&machine).into_iter().filter(|record| record["kind"] == "outcome").collect::<Vec<_>>();
    assert_eq!(ran[0]["answered"], "nobody was asked");
    assert_eq!(ran[1]["decision"], "deny");
}

#[test]
fn every_change_to_the_log_is_found_at_its_line() {
    let machine = Machine::new();
    for index in 0..6 {
        machine.bash(&machine.project(), &format!("echo {index}"));
    }
    let log_text = std::fs::read_to_string(log(&machine)).unwrap();
    let lines: Vec<&str> = log_text.lines().collect();
    assert_eq!(
        verified(&machine),
        json!({"schema": "reflex/audit-check-v1", "records": 6, "purged": 0, "broken": null, "missing": []})
    );
    let check = |changed: Vec<String>, line: u64| {
        std::fs::write(log(&machine), changed.join("\n") + "\n").unwrap();
        let found = verified(&machine);
        assert_eq!(found["broken"]["line"], line, "{found}");
    };
    let with = |index: usize, line: &str| {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        changed[index] = line.to_owned();
        changed
    };
    check(with(2, &lines[2].replace("echo 2", "echo 9")), 3);
    check(with(3, "{}"), 4);
    check(with(4, lines[3]), 5);
    let without = |index: usize| {
        lines.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, line)| (*line).into()).collect()
    };
    check(without(0), 1);
    check(without(3), 4);
    let mut swapped: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    swapped.swap(1, 2);
    check(swapped, 2);
}

#[test]
fn purging_keeps_the_chain_and_says_who_did_it() {
    let machine = Machine::new();
    for index in 0..5 {
        machine.bash(&machine.project(), &format!("echo {index}"));
    }
    for _ in 0..2 {
        let Some((code, output)) = at_terminal(&machine, "audit purge --before 0s --reason old", "") else { return };
        assert_eq!(code, 0, "{output}");
        let found = verified(&machine);
        assert_eq!(found["broken"], Value::Null, "{found}");
        machine.bash(&machine.project(), "echo later");
    }
    assert!(!std::fs::read_to_string(log(&machine)).unwrap().contains("echo 1"));
    // A tombstone without a matching record is invalid.
    let text = std::fs::read_to_string(log(&machine)).unwrap();
    let stone = text.lines().next().unwrap().to_owned();
    std::fs::write(log(&machine), stone + "\n").unwrap();
    assert_ne!(verified(&machine)["broken"], Value::Null);
}

#[test]
fn a_torn_line_is_taken_back_and_foreign_lines_are_reported() {
    let machine = Machine::new();
    machine.bash(&machine.project(), "echo one");
    let log_text = std::fs::read_to_string(log(&machine)).unwrap();
    std::fs::write(log(&machine), format!("{log_text}{{\"schema\":\"reflex/aud")).unwrap();
    machine.bash(&machine.project(), "echo two");
    assert_eq!(verified(&machine)["records"], 2);
    assert_eq!(verified(&machine)["broken"], Value::Null);
    std::fs::write(log(&machine), format!("{}hello\n", std::fs::read_to_string(log(&machine)).unwrap())).unwrap();
    machine.bash(&machine.project(), "echo three");
    assert_eq!(verified(&machine)["broken"]["line"], 3);
}

#[test]
fn who_holds_the_lock_stops_nobody_and_no_record_is_lost() {
    let machine = Machine::new();
    machine.bash(&machine.project(), "echo one");
    let lock = state(&machine).join("audit/lock");
    let holder = machine.program("flock", [lock.as_os_str(), "sleep".as_ref(), "20".as_ref()]).start_waiting();
    let held = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        machine.program("flock", ["-n".as_ref(), lock.as_os_str(), "true".as_ref()]).run().code == 1
    });
    assert!(held, "the lock is not held");
    assert!(!passes(&machine, "rm -rf ~"));
    assert!(passes(&machine, "echo two"));
    assert_eq!(records(&machine).len(), 1);
    holder.signal("KILL");
    drop(holder);
    machine.program("pkill", ["-f".as_ref(), lock.as_os_str()]).run();
    let folded = (0..100).any(|_| {
        machine.bash(&machine.project(), "echo three");
        std::thread::sleep(Duration::from_millis(50));
        records(&machine).len() >= 4
    });
    assert!(folded, "what waited did not come into the log");
    assert_eq!(verified(&machine)["broken"], Value::Null);
}

#[test]
fn hooks_at_the_same_time_and_killed_ones_leave_a_whole_chain() {
    let machine = Machine::new();
    let killed = std::env::var("REFLEX_TEST_KILLS").map_or(50, |count| count.parse::<u64>().unwrap());
    let project = machine.project();
    let answered = AtomicU64::new(0);
    let answered_calls = Mutex::new(Vec::new());
    let (left, lasted) = (AtomicU64::new(killed), AtomicU64::new(10_000));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (machine, project, answered, left, lasted) = (&machine, &project, &answered, &left, &lasted);
            scope.spawn(move || {
                for round in 0.. {
                    if round >= 25 && left.load(Relaxed) == 0 {
                        break;
                    }
                    let command = if round % 5 == 0 { "rm -rf ~".to_owned() } else { format!("echo {thread} {round}") };
                    let begun = std::time::Instant::now();
                    machine.bash(project, &command);
                    lasted.store(begun.elapsed().as_micros() as u64, Relaxed);
                    answered.fetch_add(1, Relaxed);
                }
            });
        }
        scope.spawn(|| {
            for round in 0..killed {
                let hook = machine.hook().input(bash(&project, &format!("rm -rf ~/killed-{round}-")));
                // Kills at a random moment within the current duration of calls; some end before.
                let share = round * 37 % 101;
                let output = hook.killed_after(Duration::from_micros(lasted.load(Relaxed) * share / 70));
                if !output.is_empty() {
                    answered_calls.lock().unwrap().push(format!("/killed-{round}-"));
                }
                left.fetch_sub(1, Relaxed);
            }
        });
    });
    let found = verified(&machine);
    assert_eq!(found["broken"], Value::Null, "{found}");
    let all = records(&machine);
    let texts: Vec<String> = all.iter().map(Value::to_string).filter(|text| text.contains("/killed-")).collect();
    let (answered, answered_calls) = (answered.into_inner(), answered_calls.into_inner().unwrap());
    assert_eq!(all.len() - texts.len(), answered as usize);
    let missing: Vec<_> = answered_calls.iter().filter(|call| !texts.iter().any(|text| text.contains(*call))).collect();
    assert!(missing.is_empty(), "answered and not in the log: {missing:?}");
    let between = texts.len() - answered_calls.len();
    println!(
        "{killed} killed: {between} between record and answer, {} after it; {answered} others",
        answered_calls.len()
    );
    assert!(texts.len() < killed as usize, "no kill came before its record");
}

#[test]
fn a_session_remembers_its_last_calls_and_no_more() {
    let machine = Machine::new();
    for index in 0..200 {
        machine.bash(&machine.project(), &format!("echo {index}"));
    }
    let sessions = files(&state(&machine).join("sessions"));
    assert_eq!(sessions.len(), 1);
    let lines = sessions[0].1.iter().filter(|byte| **byte == b'\n').count();
    assert!((100..=151).contains(&lines), "{lines} lines");
}

#[test]
fn planted_secrets_stand_in_no_file_of_ours() {
    let machine = Machine::new();
    let secrets = planted();
    assert!(secrets.len() >= 50);
    // The stored text is truncated in the middle of this secret.
    let torn = format!("echo {} ghp_{}", "x".repeat(4096 - 5 - 20), "aB3dE5gH7j".repeat(4));
    machine.bash(&machine.project(), &torn);
    let kept = std::fs::read_to_string(log(&machine)).unwrap();
    assert!(kept.contains("xxx") && !kept.contains("ghp_"), "a part of a secret is kept");
    // A quoted part of a call lacks the context that marks it as a secret.
    let parts = planted_in_parts();
    let secrets: Vec<_> = secrets.into_iter().chain(parts).collect();
    for (index, (command, _)) in secrets.iter().enumerate() {
        machine.bash(&machine.project(), command);
        machine.bash(&machine.project(), &format!("{command}; rm -rf ~ # {index}"));
    }
    // A person's reasons are stored too.
    let secret = &secrets[0].1;
    let output = ["off --for 1s --reason", "audit purge --before 1s --reason", "task start work --intent"];
    let kept: Vec<_> =
        output.iter().map(|output| at_terminal(&machine, &format!("{output} {secret}"), "y\n")).collect();
    assert!(kept.iter().flatten().all(|(code, _)| *code == 0), "{kept:?}");
    let kept = files(&machine.home());
    for (command, secret) in &secrets {
        let holder = kept.iter().find(|(_, bytes)| bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        assert!(holder.is_none(), "{secret} of {command:?} stands in {:?}", holder.unwrap().0);
    }
}

/// Passwords that are recognizable only by their context.
fn planted_in_parts() -> Vec<(String, String)> {
    let commands = [
        "sshpass -p # ssh root@10.0.0.1 uptime",
        "echo '#' | sudo -S true",
        "net use Z: //srv/share /user:bot #",
        "curl -u bot:# -d a=b https://api.acme.io/x",
        "cat > x <<'END'\ndb.acme.io:5432:app:app:#\nEND",
    ];
    let one = |(index, command): (usize, &&str)| {
        let secret = format!("Qz7!{index}pLw{}Tk", index * 37 + 11);
        (command.replace('#', &secret), secret)
    };
    commands.iter().enumerate().map(one).collect()
}

/// Commands with a secret, and the secret; assembled from parts so that secret scanners do not report this file.
fn planted() -> Vec<(String, String)> {
    let body = |length: usize, salt: usize| -> String {
        let chars = b"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZ";
        (0..length).map(|at| char::from(chars[(at * 7 + salt * 5 + at / 3) % chars.len()])).collect()
    };
    let starts = [
        "ghp_",
        "gho_",
        "github_pat_",
        "sk-ant-",
        "sk-proj-",
        "xoxb-",
        "glpat-",
        "npm_",
        "AKIA",
        "hf_",
        "pypi-",
        "SG.",
        "AIza",
    ];
    let mut all = Vec::new();
    for (salt, start) in starts.iter().enumerate() {
        let secret = format!("{start}{}", body(36, salt));
        all.push((format!("curl -d {secret} https://x.example"), secret.clone()));
        all.push((format!("export A={secret}"), secret.clone()));
        all.push((format!("echo \"{secret}\" > x"), secret));
    }
    let named = ["--password", "--token", "--api-key", "--secret"];
    for (salt, option) in named.iter().enumerate() {
        let secret = format!("pw{}", body(10, salt + 40));
        all.push((format!("tool {option} {secret}"), secret.clone()));
        all.push((format!("tool {option}={secret}"), secret));
    }
    for (salt, (before, after)) in [
        ("curl -H 'Authorization: Bearer ", "' https://x.example"),
        ("curl https://me:", "@x.example/a"),
        ("PGPASSWORD=", " psql"),
        ("psql postgres://u:", "@h/db"),
        ("curl 'https://x.example/?key=", "'"),
    ]
    .iter()
    .enumerate()
    {
        let secret = format!("s3{}", body(12, salt + 60));
        all.push((format!("{before}{secret}{after}"), secret));
    }
    all
}

#[test]
fn the_log_is_searched_exported_and_reported_from() {
    let machine = Machine::new();
    machine.bash(&machine.project(), "echo needle");
    let id = refused(&machine, "rm -rf ~");
    let search = |words: &[&str]| {
        let arguments: Vec<&str> = ["audit", "search", "--json"].iter().chain(words).copied().collect();
        machine.reflex(arguments).run().stdout.lines().count()
    };
    let nothing = machine.reflex(["audit", "search", "haystack"]).run();
    assert_eq!((nothing.code, nothing.stderr.as_str()), (1, "reflex: no records match\n"));
    assert_eq!((search(&["needle"]), search(&["decision=deny"]), search(&["decision=ask"])), (1, 1, 0));
    // Names used by people, in the log and in the protocol.
    assert_eq!((search(&["decision=block"]), search(&["decision=require_approval"])), (1, 0));
    assert_eq!((search(&["decision=allow"]), search(&["decision=warn"])), (1, 0));
    assert_eq!((search(&["decision=deny", "--since", "1h"]), search(&["needle", "--until", "2001-01-01"])), (1, 0));
    let failed = |word: &str| {
        let output = machine.reflex(["audit", "search", word]).run();
        assert!(output.code == 64 && output.stdout.is_empty(), "{output:?}");
        output.stderr
    };
    assert!(failed("decision=bloc").contains("unknown decision `bloc`, did you mean `block`?"));
    assert!(failed("agnet=claude").contains("unknown field `agnet`, did you mean `agent`?"));
    assert!(failed("agent=cluade").contains("unknown agent `cluade`, did you mean `claude`?"));
    assert!(failed("foo=bar").contains("unknown field `foo`; known: agent, "));
    // What the log has is known, and what it may have as well.
    assert_eq!(search(&["exact=0", "needle"]), 0);
    for word in ["exact=0", "kind=approval", "risk=low", "agent=codex", "tool=Nothing", "a text with=sign"] {
        let output = machine.reflex(["audit", "search", word]).run();
        assert_eq!((output.code, output.stderr.as_str()), (1, "reflex: no records match\n"), "{word}");
    }
    // The id for `reflex why` is printed with stopped calls only.
    let shown = |word: &str| machine.reflex(["audit", "search", word]).run().stdout;
    assert!(shown("decision=block").contains(&format!("block {id}")) && shown("needle").contains("allow  echo"));
    let csv = machine.reflex(["audit", "export", "--format", "csv"]).run().stdout;
    assert!(csv.lines().count() == 3 && csv.starts_with("seq,time,"), "{csv}");
    let case = machine.reflex(["report-fp", &id, "--add"]).run().stdout;
    let verdict = machine.reflex(["eval"]).input(case.clone()).run().json();
    assert_eq!((&verdict["id"], &verdict["decision"]), (&json!(format!("fp-{id}")), &json!("block")));
    let kept = std::fs::read_to_string(machine.home().join(".config/reflex/cases.jsonl")).unwrap();
    assert_eq!(kept, case);
    assert!(!case.contains(&*machine.root().to_string_lossy()), "{case}");
}

#[test]
fn a_case_is_the_whole_call_and_is_found_however_often_its_id_was_named() {
    let machine = Machine::new();
    let long = format!("{}rm -rf ~", "echo one of many lines\n".repeat(300));
    let id = refused(&machine, &long);
    (0..25).for_each(|_| drop(machine.reflex(["deny", &id]).run()));
    let case = machine.reflex(["report-fp", &id]).run();
    assert_eq!(case.json()["command"].as_str().unwrap(), long);
    assert_eq!(machine.reflex(["eval"]).input(case.stdout).run().json()["decision"], "block");
    assert!(machine.reflex(["why", &id]).run().stdout.contains("rm/home-or-root"));
    // Once the call itself is deleted, its record alone is incomplete.
    calls::forget(&machine);
    let output = machine.reflex(["report-fp", &id]).run();
    assert!(output.code == 1 && output.stderr.contains("cannot be played again"), "{output:?}");
}

#[test]
fn a_record_says_how_long_each_part_took() {
    let machine = Machine::new();
    let id = refused(&machine, "rm -rf ~; git push --force");
    let record = records(&machine).pop().unwrap();
    let micros = record["micros"].as_object().unwrap();
    for part in ["read", "analyze", "facts", "sentinel", "gatekeeper", "whole"] {
        assert!(micros.contains_key(part), "no {part} in {record}");
    }
    let sum: u64 = micros.iter().filter(|(part, _)| *part != "whole").filter_map(|(_, time)| time.as_u64()).sum();
    assert!(sum > 0 && sum <= micros["whole"].as_u64().unwrap(), "{record}");
    let slow = machine.reflex(["audit", "search", "--json", "slow=true"]).run().stdout;
    assert_eq!(slow.contains("rm -rf"), record["slow"] == true, "{slow}");
    let output = machine.reflex(["why", &id]).run().stdout;
    assert!(output.contains("\ntook     ") && output.contains(" ms\n"), "{output}");
}

#[test]
fn a_record_may_leave_out_every_text() {
    let machine = Machine::new();
    assert_eq!(machine.reflex(["audit", "texts", "--keep", "no"]).run().code, 1, "who is no person may not");
    let Some((code, output)) = at_terminal(&machine, "audit texts --keep no", "") else { return };
    assert_eq!(code, 0, "{output}");
    machine.bash(&machine.project(), "echo private; rm -rf ~");
    assert!(!std::fs::read_to_string(log(&machine)).unwrap().contains("private"));
    let kinds: Vec<Value> = records(&machine).iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["attempt", "texts", "call"]);
}

/// A file size limit simulates a full disk: writes fail.
#[test]
fn a_full_disk_hides_nothing_is_told_and_leaves_a_whole_log() {
    let machine = Machine::new();
    let limited = |blocks: u32, command: &str| {
        let line = format!("ulimit -f {blocks}; exec \"$0\" --home \"$HOME\" hook --agent claude --event PreToolUse");
        let hook = machine.program("sh", ["-c", &line, env!("CARGO_BIN_EXE_reflex")]);
        hook.input(bash(&machine.project(), command)).run()
    };
    let nothing = limited(0, "rm -rf ~");
    assert_eq!(nothing.answer().0, "deny");
    assert!(nothing.stderr.contains("not in the audit log"), "{nothing:?}");
    assert_eq!(limited(0, "ls").code, 0);
    machine.bash(&machine.project(), "echo one");
    // Only a part of the next line fits.
    let torn = limited(2, &format!("rm -rf ~ # {}", "x".repeat(3000)));
    assert_eq!(torn.answer().0, "deny");
    machine.bash(&machine.project(), "echo two");
    assert_eq!(verified(&machine)["broken"], Value::Null);
    let drafts = files(&state(&machine))
        .into_iter()
        .filter(|(path, _)| path.file_name().unwrap().to_string_lossy().starts_with('.'));
    assert_eq!(drafts.count(), 0, "drafts stay behind");
}

/// Simulates a file system without locks, as on some networks: a directory in place of the lock file cannot be locked.
#[test]
fn without_locks_records_go_beside_the_log_and_come_into_it_later() {
    let machine = Machine::new();
    machine.bash(&machine.project(), "echo one");
    let lock = state(&machine).join("audit/lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    assert!(!passes(&machine, "rm -rf ~") && passes(&machine, "echo two"));
    assert_eq!((records(&machine).len(), files(&state(&machine).join("audit/waiting")).len()), (1, 2));
    std::fs::remove_dir(&lock).unwrap();
    machine.bash(&machine.project(), "echo three");
    assert_eq!((records(&machine).len(), verified(&machine)["broken"].clone()), (4, Value::Null));
}

#[test]
fn a_clock_that_jumps_makes_no_yes_no_pause_and_no_broken_log() {
    let machine = Machine::new();
    let id = refused(&machine, PUSH);
    let pending = machine.reflex(["pending", "--json"]).run().json();
    let call = pending["pending"].as_array().unwrap().iter().find(|call| call["id"] == *id).unwrap().clone();
    let now = call["time"].as_u64().unwrap();
    let hour = 3_600_000;
    let grant = |time: u64, expires: u64| {
        calls::give(&machine, &id, |_| {
            json!({"schema": "reflex/grant-v1", "id": id, "allow": true, "exact": call["exact"], "scope": "once",
            "within": call["holder"], "time": time, "expires": expires, "uses": 0, "by": "x", "reason": "", "text": PUSH})
        });
    };
    // Approved in what is now the future, and expired in what is now the past.
    for (time, expires) in [(now + hour, now + 2 * hour), (now - 2 * hour, now - hour)] {
        grant(time, expires);
        assert!(!passes(&machine, PUSH));
    }
    let off = json!({"schema": "reflex/off-v1", "from": now + hour, "until": now + 2 * hour, "reason": "x", "by": "x"});
    std::fs::write(state(&machine).join("off.json"), off.to_string()).unwrap();
    assert!(!passes(&machine, PUSH));
    let beat = state(&machine).join("heartbeats/claude.shell");
    std::fs::write(&beat, (now + hour).to_string()).unwrap();
    assert!(!machine.reflex(["status"]).run().stdout.contains("ALARM"));
    assert_eq!(verified(&machine)["broken"], Value::Null);
    grant(now - 1, now + hour);
    assert!(passes(&machine, PUSH));
}

#[test]
fn whoever_holds_every_lock_stops_nobody_within_the_watchdogs_time() {
    let machine = Machine::new();
    refused(&machine, PUSH);
    let session = files(&state(&machine).join("sessions"))[0].0.clone();
    let held: Vec<std::fs::File> =
        [state(&machine).join("audit/lock"), session].iter().map(|path| std::fs::File::open(path).unwrap()).collect();
    held.iter().for_each(|file| file.lock().unwrap());
    let output = machine.bash(&machine.project(), PUSH);
    assert!(output.answer().1.contains("git/push-force"), "{output:?}");
}

#[test]
fn the_preview_shows_all_that_is_covered_and_obeys_no_letter_of_it() {
    let machine = Machine::new();
    let preview = |id: &str| at_terminal(&machine, &format!("approve {id}"), "n\n").map(|(_, output)| output);
    let derived = "echo cm0gLXJmIH4= | base64 -d | sh; rm -rf \"$HOME/a  b\"";
    let lying = format!("{derived} # \u{1b}[2K\u{202e}\u{200b}\r\n  parts  ls");
    let Some(output) = preview(&refused(&machine, &lying)) else { return };
    for part in ["rm -rf ~\r\n", "'~/a  b'", "␛[2K<U+202E><U+200B>␍\r\n", "  |   parts  ls"] {
        assert!(output.contains(part), "no {part:?} in {output:?}");
    }
    assert!(!output.contains('\u{202e}') && !output.contains("\u{1b}[2K"), "{output:?}");
    let write = json!({
        "session_id": "s1", "cwd": machine.project(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": machine.home().join(".bashrc"), "content": "first\nsecond"},
    });
    let reason = machine.hook().input(write.to_string()).run().answer().1;
    let id = way_on(&reason);
    let output = preview(&id).unwrap();
    assert!(output.contains("| first\r\n  | second"), "{output:?}");
}

#[test]
fn a_yes_is_only_taken_for_what_was_shown() {
    let machine = Machine::new();
    let lines = |count: usize| (0..count).map(|line| format!("echo line {line}\n")).collect::<String>();
    let id = refused(&machine, &format!("{}rm -rf ~", lines(400)));
    let Some((code, output)) = at_terminal(&machine, &format!("approve {id}"), "y\n") else { return };
    assert!(output.contains("… 341 more") && output.contains(&format!("reflex approve {id} --full")), "{output}");
    assert!(code == 1 && !output.contains("Let it run?"), "{output}");
    let (code, output) = at_terminal(&machine, &format!("approve {id} --full"), "y\n").unwrap();
    assert!(code == 0 && output.contains("| echo line 399") && output.contains("| rm -rf ~"), "{output}");
    let id = refused(&machine, &format!("rm -rf ~ # {}", "x ".repeat(150_000)));
    let (code, output) = at_terminal(&machine, &format!("approve {id} --full"), "y\n").unwrap();
    assert!(code == 1 && output.contains("too long to be kept in full"), "{code}");
}

#[test]
fn subagents_are_told_apart_and_no_memory_grows_without_end() {
    let machine = Machine::new();
    let long = format!("/{}", "x/".repeat(10_000));
    for (role, one) in
        [(None, None), (Some("Explore"), Some("a1")), (Some("Explore"), Some("a2")), (Some("Plan"), None)]
    {
        for round in 0..120 {
            let mut payload: Value = serde_json::from_slice(&bash(&machine.project(), "")).unwrap();
            let names = [("agent_type", role), ("agent_id", one)];
            let fields = names.into_iter().filter_map(|(key, name)| Some((key.to_owned(), Value::from(name?))));
            payload.as_object_mut().unwrap().extend(fields);
            payload["tool_name"] = "Write".into();
            payload["tool_input"] =
                json!({"file_path": if round % 2 == 0 { long.as_str() } else { "a" }, "content": ""});
            payload["hook_event_name"] = "PostToolUse".into();
            let hook = machine.reflex(["hook", "--agent", "claude", "--event", "PostToolUse"]);
            hook.input(payload.to_string()).run();
        }
    }
    let sessions = files(&state(&machine).join("sessions"));
    assert_eq!(sessions.len(), 4);
    // The amount read for each call is small enough to be negligible.
    sessions.iter().for_each(|(path, bytes)| assert!(bytes.len() < 64 * 1024, "{} in {path:?}", bytes.len()));
}
