//! `reflex watch`: whatever a program deletes or changes comes back with `reflex undo`.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use crate::support::{Machine, Ran, at_terminal_in};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Programs of many kinds, each with the files that it destroys, by an author who had not read the code. With the first
/// build that could run them, 37 of 49 came back whole.
const CASES: &str = include_str!("watch/cases.jsonl");

/// Lines of the shell and of small programs, in a project that this script sets up.
const OWN: &str = include_str!("watch/own.jsonl");
const OWN_SETUP: &str = include_str!("watch/own.sh");

/// A file as it must come back.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    content: Vec<u8>,
    mode: u32,
    /// Not that of folders, which changes with their entries.
    written: Option<(i64, i64)>,
    /// The paths of the same file.
    names: BTreeSet<PathBuf>,
}

/// Variables without which git commits nothing.
const AUTHOR: [&str; 4] = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/// A project, with a folder beside it.
struct Ground {
    machine: Machine,
    project: PathBuf,
}

impl Ground {
    /// `None` if this system cannot watch.
    fn new() -> Option<Ground> {
        if let Err(why) = reflex_supervise::probe() {
            println!("skipped: {why}");
            return None;
        }
        let machine = Machine::new();
        let ground = machine.root().join("ground");
        let project = ground.join("project");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir(ground.join("outside")).unwrap();
        Some(Ground { machine, project })
    }

    fn bash(&self, line: &str) -> Ran {
        let call = self.machine.program("bash", ["-c", line]).folder(&self.project);
        AUTHOR.iter().fold(call, |call, name| call.env(name, "n@example.invalid")).run()
    }

    fn sh(&self, line: &str) {
        let output = self.bash(line);
        assert_eq!(output.code, 0, "{line}: {output:?}");
    }

    fn watch(&self, line: &str) -> Ran {
        let call = self.machine.reflex(["watch", "--", "bash", "-c", line]).folder(&self.project);
        AUTHOR.iter().fold(call, |call, name| call.env(name, "n@example.invalid")).run()
    }

    fn kept(&self) -> Vec<String> {
        let listed = self.machine.reflex(["undo", "--json"]).run().json();
        listed["kept"].as_array().unwrap().iter().map(|known| known["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Restores all backups, the newest one first; `None` without a terminal.
    fn undo(&self) -> Option<()> {
        for id in self.kept() {
            let (code, output) = at_terminal_in(&self.machine, &self.project, &format!("undo {id}"), "y\n")?;
            assert_eq!(code, 0, "{output}");
        }
        Some(())
    }

    fn seen(&self) -> BTreeMap<PathBuf, Seen> {
        let mut found = BTreeMap::new();
        let mut names: HashMap<u64, BTreeSet<PathBuf>> = HashMap::new();
        let mut left = vec![self.project.parent().unwrap().to_owned()];
        while let Some(folder) = left.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let data = path.symlink_metadata().unwrap();
                let content = match data.file_type() {
                    kind if kind.is_dir() => {
                        left.push(path.clone());
                        Vec::new()
                    }
                    kind if kind.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                    kind if kind.is_file() => fs::read(&path).unwrap_or_default(),
                    _ => Vec::new(),
                };
                if data.is_file() {
                    names.entry(data.ino()).or_default().insert(path.clone());
                }
                // Git sets the times of objects that it would write again.
                let is_object = path.components().any(|part| part.as_os_str() == "objects");
                let written = (!data.is_dir() && !is_object).then_some((data.mtime(), data.mtime_nsec()));
                found.insert(path, Seen { content, mode: data.mode(), written, names: BTreeSet::new() });
            }
        }
        for shared in names.into_values() {
            for name in &shared {
                found.get_mut(name).unwrap().names.clone_from(&shared);
            }
        }
        found
    }
}

/// Names of what has not come back.
fn lost(before: &BTreeMap<PathBuf, Seen>, after: &BTreeMap<PathBuf, Seen>) -> Vec<PathBuf> {
    let is_back = |path: &PathBuf, seen: &Seen| {
        let now = after.get(path);
        now.is_some_and(|now| {
            let as_it_was = (&now.content, now.mode, now.written) == (&seen.content, seen.mode, seen.written);
            as_it_was && seen.names.is_subset(&now.names)
        })
    };
    before.iter().filter(|(path, seen)| !is_back(path, seen)).map(|(path, _)| path.clone()).collect()
}

/// Runs every fourth case, from this one on.
fn check_cases(cases: &str, first: usize) {
    let mut checked = 0;
    for case in cases.lines().skip(first).step_by(4) {
        let case: Value = serde_json::from_str(case).unwrap();
        let command = case["command"].as_str().unwrap();
        let Some(ground) = Ground::new() else { return };
        let has = |program: &Value| {
            let line = format!("command -v {}", program.as_str().unwrap());
            ground.machine.program("sh", ["-c", &line]).run().code == 0
        };
        let has_all = case["needs"].as_array().unwrap().iter().all(has);
        if !has_all || ground.bash(case["setup"].as_str().unwrap_or(OWN_SETUP)).code != 0 {
            println!("skipped: it needs {}: {command}", case["needs"]);
            continue;
        }
        let before = ground.seen();
        let output = ground.watch(command);
        assert_eq!(output.code, 0, "{command}: {output:?}");
        if ground.undo().is_none() {
            return;
        }
        assert_eq!(lost(&before, &ground.seen()), Vec::<PathBuf>::new(), "{command}: {output:?}");
        checked += 1;
    }
    assert!(checked > 3, "only {checked} cases could run");
}

#[test]
fn what_programs_of_many_kinds_destroy_comes_back_1() {
    check_cases(CASES, 0);
}

#[test]
fn what_programs_of_many_kinds_destroy_comes_back_2() {
    check_cases(CASES, 1);
}

#[test]
fn what_programs_of_many_kinds_destroy_comes_back_3() {
    check_cases(CASES, 2);
}

#[test]
fn what_programs_of_many_kinds_destroy_comes_back_4() {
    check_cases(CASES, 3);
}

#[test]
fn single_lines_are_undone_1() {
    check_cases(OWN, 0);
}

#[test]
fn single_lines_are_undone_2() {
    check_cases(OWN, 1);
}

#[test]
fn single_lines_are_undone_3() {
    check_cases(OWN, 2);
}

#[test]
fn single_lines_are_undone_4() {
    check_cases(OWN, 3);
}

#[test]
fn a_restore_shows_what_it_does_and_is_taken_back() {
    let Some(ground) = Ground::new() else { return };
    ground.sh("echo a > a; echo b > b; mkdir d; echo c > d/c");
    let output = ground.watch("rm a; echo x > b; mv d e; echo new > n");
    assert!(output.stderr.contains("files: 1 deleted, 1 changed, 1 renamed, 1 created; `reflex undo K"), "{output:?}");
    let after = ground.seen();
    let id = ground.kept().remove(0);
    ground.sh("echo mine > b");
    let shown = ground.machine.reflex(["undo", &id, "--diff"]).folder(&ground.project).run().stdout;
    let place = |name: &str| ground.project.join(name).to_string_lossy().into_owned();
    let lines = [
        format!("restore {}", place("a")),
        format!("OVERWRITE {} (changed since the call)", place("b")),
        format!("move {} back to {}", place("e"), place("d")),
        "1 file that it created will stay".to_owned(),
    ];
    assert!(lines.iter().all(|line| shown.contains(line)), "{shown}");
    ground.sh("echo x > b");
    let restore = |words: &str| at_terminal_in(&ground.machine, &ground.project, words, "y\n");
    let Some((0, _)) = restore(&format!("undo {id} {}", place("a"))) else { return };
    assert!(ground.project.join("a").exists() && !ground.project.join("d").exists(), "one file alone");
    assert_eq!(restore(&format!("undo {id} --created")).unwrap().0, 0);
    let read = |name: &str| fs::read_to_string(ground.project.join(name)).unwrap_or_default();
    assert_eq!(
        (read("a"), read("b"), read("d/c"), read("n")),
        ("a\n".into(), "b\n".into(), "c\n".into(), String::new())
    );
    let (code, output) = restore("redo").unwrap();
    assert_eq!(code, 0, "{output}");
    let contents = |seen: BTreeMap<PathBuf, Seen>| -> Vec<(PathBuf, Vec<u8>)> {
        seen.into_iter().map(|(path, seen)| (path, seen.content)).filter(|(path, _)| !path.ends_with("a")).collect()
    };
    assert_eq!(contents(ground.seen()), contents(after), "{output}");
}

#[test]
fn what_is_not_lost_is_not_kept() {
    let Some(ground) = Ground::new() else { return };
    ground.sh("echo a > a; mkdir -p node_modules/x; echo '{}' > package.json; echo p > node_modules/x/p");
    let output = ground.watch("cat a > b; exec 3<>a; rm -rf node_modules; T=$(mktemp ./tmpXXXX); rm $T; rm b");
    assert_eq!((ground.kept(), output.stderr.as_str()), (vec![], ""), "{output:?}");
    assert_eq!(ground.machine.reflex(["watch", "--", "sh", "-c", "exit 3"]).run().code, 3);
    assert_eq!(ground.machine.reflex(["watch", "--", "no-such-program"]).run().code, 70);
    assert_eq!(ground.machine.reflex(["watch"]).run().code, 64);
}

#[test]
fn the_record_has_numbers_and_names_and_no_content() {
    let Some(ground) = Ground::new() else { return };
    ground.sh("echo 'a content' > gone; echo 'a content' > changed; chmod 600 gone");
    ground.watch("rm gone; echo > changed; echo > made");
    let found = ground.machine.reflex(["audit", "search", "kind=changes", "--json"]).run();
    let record: Value = serde_json::from_str(found.stdout.lines().next().unwrap()).unwrap();
    let shown = ground.machine.reflex(["audit", "search", "kind=changes"]).run().stdout;
    assert!(shown.contains("1 deleted, 1 replaced, 1 created"), "{shown}");
    let counts = ["deleted", "replaced", "renamed", "created", "missed"].map(|key| record[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 0, 1, 0], "{record}");
    assert_eq!(record["names"]["deleted"][0], ground.project.join("gone").to_str().unwrap());
    assert!(record["kept"] == ground.kept()[0].as_str() && !found.stdout.contains("a content"));
    let folder = ground.machine.home().join(".local/state/reflex/kept");
    let kept = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_watcher_that_is_killed_has_kept_what_is_gone() {
    // Four processes, of which some wait for an answer at each moment.
    let line = "for n in 0 1 2; do (for f in f*$n; do rm $f; done) & done; \
                for f in f*3; do echo new > $f; mv h${f#f} moved${f#f}; done; wait";
    let mut seed = 88_172_645_463_325_252_u64;
    for round in 0..ROUNDS {
        let Some(ground) = Ground::new() else { return };
        ground.sh("for i in $(seq 0 99); do echo $i > f$i; echo $i > h$i; done");
        let before = ground.seen();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let words = ["watch", "--", "bash", "-c", line];
        let watcher = ground.machine.reflex(words).folder(&ground.project).start_waiting();
        let begun = Instant::now();
        while ground.project.join("f0").exists() {
            assert!(begun.elapsed() < LONG, "no file is removed");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(seed % 50_000));
        watcher.signal_if_running("KILL");
        // The tree writes to the same pipe, so this returns when no process of it is left.
        watcher.finish();
        if ground.undo().is_none() {
            return;
        }
        assert_eq!(lost(&before, &ground.seen()), Vec::<PathBuf>::new(), "round {round}");
    }
}

/// Time after which a program is taken to hang.
const LONG: Duration = Duration::from_secs(60);

/// Number of rounds in which the watcher is killed.
const ROUNDS: usize = 20;

/// An agent that reports calls to its hook and runs those that are not refused.
const AGENT: &str = r#"#!/bin/bash
call() {
    payload="{\"session_id\": \"s\", \"cwd\": \"$PWD\", \"tool_name\": \"Bash\", \"tool_use_id\": \"$1\", \"tool_input\": {\"command\": \"$2\"}"
    answer=$(echo "$payload, \"hook_event_name\": \"PreToolUse\"}" | eval "$REFLEX hook --agent claude")
    case $answer in
    *'"ask"'* | *'"deny"'*) echo "not run: $2" ;;
    *) bash -c "$2"; echo "$payload, \"hook_event_name\": \"PostToolUse\", \"tool_response\": {}}" | eval "$REFLEX hook --agent claude" >/dev/null ;;
    esac
}
call 1 'python3 clean.py'
call 2 'rm -rf many'
call 3 'sh make.sh && rm -r data'
call 4 'find logs -type f -delete'
"#;

impl Ground {
    /// Sets up losses that a hook alone cannot keep; returns an agent that causes them.
    fn agent(&self) -> PathBuf {
        self.sh("git init -q . && mkdir data logs many && echo l > logs/l && echo d > data/d && echo n > notes && \
                 for i in $(seq 2100); do : > many/$i; done && echo 'import os; os.remove(\"notes\")' > clean.py && \
                 echo ./unknown-program data > make.sh && printf '#!/bin/sh\\n' > unknown-program && \
                 chmod +x unknown-program && touch -d '3 days ago' notes data/d logs/l many/*");
        let agent = self.machine.root().join("claude");
        fs::write(&agent, AGENT).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        agent
    }
}

#[test]
fn each_call_of_an_agent_has_a_backup_and_is_not_asked_about() {
    // Without a watch, too many files are not copied, nor those that a script may have changed before or a search finds.
    let Some(ground) = Ground::new() else { return };
    let plain = ground.machine.program(ground.agent().to_str().unwrap(), [""; 0]);
    let plain = plain.env("REFLEX", ground.machine.line()).folder(&ground.project).run();
    let refused = ["rm -rf many", "sh make.sh && rm -r data", "find logs -type f -delete"];
    assert_eq!(plain.stdout, refused.map(|call| format!("not run: {call}\n")).concat(), "{plain:?}");

    let Some(ground) = Ground::new() else { return };
    let words = ["run", "--supervise", "--"].map(PathBuf::from).into_iter().chain([ground.agent()]);
    let before = ground.seen();
    let call = ground.machine.reflex(words).env("REFLEX", ground.machine.line());
    let output = call.folder(&ground.project).run();
    assert_eq!((output.stdout.as_str(), output.code), ("", 0), "{output:?}");
    let lost_files = ["many", "data", "logs/l"];
    assert!(lost_files.iter().all(|name| !ground.project.join(name).exists()));
    let listed = ground.machine.reflex(["undo", "--json"]).run().json();
    let kept = listed["kept"].as_array().unwrap();
    let calls: Vec<&str> = kept.iter().map(|kept| kept["call"].as_str().unwrap()).collect();
    assert_eq!(calls, ["find logs -type f -delete", "sh make.sh && rm -r data", "rm -rf many", "python3 clean.py"]);
    let record = kept[3]["record"].as_str().unwrap();
    assert!(ground.machine.reflex(["why", record]).run().stdout.contains("python3 clean.py"));
    if ground.undo().is_some() {
        assert_eq!(lost(&before, &ground.seen()), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_watched_program_does_not_destroy_the_copies() {
    let Some(ground) = Ground::new() else { return };
    ground.sh("echo n > notes; touch -d '3 days ago' notes");
    let state = ground.machine.home().join(".local/state/reflex");
    let state = state.display();
    let line = format!(
        "rm notes; rm -rf '{state}'; mv '{state}' gone; : > '{state}/kept/x'; ls -d '{state}'/kept/.watching*/0"
    );
    let output = ground.watch(&line);
    assert!(output.code == 0 && output.stderr.contains("Operation not permitted"), "{output:?}");
    assert!(ground.undo().is_none() || ground.project.join("notes").exists());
}

#[test]
fn a_process_that_only_says_so_is_no_watcher() {
    let Some(ground) = Ground::new() else { return };
    ground.sh("mkdir data; echo d > data/d; touch -d '3 days ago' data/d");
    let folder = ground.machine.home().join(".local/state/reflex/watching");
    fs::create_dir_all(&folder).unwrap();
    // Names of all processes above, and a lock that another process holds.
    for process in 1..std::process::id() + 1000 {
        fs::write(folder.join(process.to_string()), "").unwrap();
    }
    assert_eq!(ground.machine.bash(&ground.project, "find data -delete").answer().0, "ask");
}

#[test]
fn an_agent_neither_ends_a_watch_nor_loses_what_it_keeps() {
    let Some(ground) = Ground::new() else { return };
    let kept = ground.machine.home().join(".local/state/reflex/kept");
    let below = |path: &Path| path.to_string_lossy().into_owned();
    for command in [format!("rm -rf '{}'/.watching-*", below(&kept)), "pkill -9 reflex".to_owned()] {
        let answer = ground.machine.bash(&ground.project, &command).answer();
        assert_eq!(answer.0, "deny", "{command}: {answer:?}");
    }
}
