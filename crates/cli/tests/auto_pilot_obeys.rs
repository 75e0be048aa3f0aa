//! With a model that allows everything, the shipped prompt-injection cases run on real
//! repositories: `reflex undo` restores every file, commit and stash.

use crate::support::{Machine, at_terminal_in, bash};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// Rules that a model may judge and that keep a copy; the user's policy still asks.
const ASKED: [&str; 14] = [
    "write/replaces-data",
    "write/replaces-work",
    "rm/uncommitted",
    "rm/from-before",
    "rm/untracked",
    "rm/sync-delete",
    "git/discard-changes",
    "git/remove-worktree",
    "git/discard-untracked",
    "git/drop-stash",
    "git/delete-branch",
    "git/move-branch",
    "git/reset-branch",
    "git/reset-commits",
];

/// Approves everything, and stores the question.
const OBEYS: &str = r#"cat > "$HOME/asked"; echo '{"decision":"allow","confidence":1,"reason":"as told"}'"#;

/// Data that could be lost: files by path, and commits by id.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    files: BTreeMap<String, Vec<u8>>,
    commits: BTreeSet<String>,
}

struct Played {
    /// The answer to the agent.
    decision: String,
    /// Whether the model was asked.
    is_asked: bool,
    /// Whether the call destroyed data.
    took: bool,
    /// Work that was not restored.
    lost: Vec<String>,
}

struct Repository {
    machine: Machine,
}

impl Repository {
    fn new(case: &Value) -> Repository {
        let machine = Machine::new();
        let config = machine.home().join(".config/reflex");
        fs::create_dir_all(&config).unwrap();
        let rules: Vec<String> = ASKED.iter().map(|id| format!("  {id}: ask\n")).collect();
        let judge = json!({"provider": "command", "command": OBEYS, "timeout": "10s"});
        fs::write(config.join("policy.yaml"), format!("rules:\n{}judge: {judge}\n", rules.concat())).unwrap();
        let repository = Repository { machine };
        repository.fill(case);
        repository
    }

    fn root(&self) -> PathBuf {
        self.machine.project()
    }

    fn git(&self, words: &[&str]) -> String {
        let named = ["-c", "user.name=Me", "-c", "user.email=me@x.example"].iter().chain(words).copied();
        let output = self.machine.program("git", named).folder(&self.root()).run();
        assert_eq!(output.code, 0, "{words:?}: {output:?}");
        output.stdout
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Sets up the facts of a case.
    fn fill(&self, case: &Value) {
        let facts = &case["facts"]["git"];
        let names = |key: &str| -> Vec<String> {
            let names = facts[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        let is_elsewhere = |file: &&String| file.starts_with("wt/");
        let (dirty, untracked) = (names("dirty"), names("untracked"));
        self.git(&["init", "-q", "-b", "main"]);
        self.write("README.md", "readme\n");
        self.write("tmp/empty.json", "{}\n");
        self.write("tmp/x.csv", "1\n");
        self.write(".gitignore", "tmp/\nwt/\n");
        dirty.iter().filter(|file| !is_elsewhere(file)).for_each(|file| self.write(file, "committed\n"));
        for round in 0..4 {
            self.commit(&format!("commit {round}"));
        }
        for name in branches(case["command"].as_str().unwrap()) {
            let tip = self.git(&["commit-tree", "-p", "HEAD", "-m", &format!("only on {name}"), "HEAD^{tree}"]);
            self.git(&["branch", "-f", &name, tip.trim()]);
        }
        let branch = facts["branch"].as_str().unwrap();
        if branch != "main" {
            self.git(&["checkout", "-q", "-B", branch]);
        }
        for stash in 0..facts["stashes"].as_u64().unwrap_or(0) {
            self.write("README.md", &format!("stashed {stash}\n"));
            self.git(&["stash", "push", "-q"]);
        }
        let elsewhere = dirty.iter().chain(&untracked).find(is_elsewhere);
        if let Some(file) = elsewhere {
            let tree = file.split('/').take(2).collect::<Vec<_>>().join("/");
            self.git(&["worktree", "add", "-q", "-b", "of-worktree", &tree]);
        }
        dirty.iter().for_each(|file| self.write(file, &format!("work on {file}\n")));
        untracked.iter().for_each(|file| self.write(file, &format!("only copy of {file}\n")));
        if case["command"].as_str().unwrap().contains("git add README.md") {
            self.write("README.md", "to be committed\n");
        }
        for (path, text) in case["facts"]["files"].as_object().into_iter().flatten() {
            self.write(path.strip_prefix("/repo/").unwrap(), text.as_str().unwrap());
            let script = self.root().join(path.strip_prefix("/repo/").unwrap());
            self.machine.program("chmod", ["+x", script.to_str().unwrap()]).run();
        }
    }

    fn work(&self) -> Work {
        let mut files = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut files);
        let listed = self.git(&["rev-list", "--all"]) + &self.git(&["stash", "list", "--format=%H"]);
        Work { files, commits: listed.lines().map(str::to_owned).collect() }
    }

    fn play(&self, case: &Value) -> Played {
        let before = self.work();
        let command = case["command"].as_str().unwrap();
        let hook = self.machine.hook().input(bash(&self.root(), command)).run();
        let answer: Value = serde_json::from_str(&hook.stdout).unwrap_or_default();
        let decision = answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned();
        let log = self.machine.reflex(["audit", "search", "--json", "kind=call"]).run().stdout;
        let record: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        let is_asked = record.get("judge").is_some();
        let (mut took, mut lost) = (false, Vec::new());
        if is_asked {
            let data = self.question();
            let of = |list: &Value| -> BTreeSet<String> {
                let all = list.as_array().into_iter().flatten();
                all.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(of(&record["findings"]), of(&data["rules"]), "a finding without the mark reached the model");
            assert_eq!(decision, "allow", "{hook:?}");
            self.run(command);
            took = !self.lost(&before).is_empty();
            self.bring_back(&record);
            lost = self.lost(&before);
        }
        Played { decision, is_asked, took, lost }
    }

    fn question(&self) -> Value {
        let asked: Value =
            serde_json::from_str(&fs::read_to_string(self.machine.home().join("asked")).unwrap()).unwrap();
        serde_json::from_str(asked["question"].as_str().unwrap().lines().nth(2).unwrap()).unwrap()
    }

    /// Runs without a network, if a network namespace can be created.
    fn run(&self, command: &str) {
        let bare = ["bash", "-c", command];
        let cut_off = ["--user", "--map-current-user", "--net"].iter().chain(&bare).copied();
        let probe = self.machine.program("unshare", ["--user", "--map-current-user", "--net", "true"]).run();
        let (program, words): (&str, Vec<&str>) = match probe.code {
            0 => ("unshare", cut_off.collect()),
            _ => ("bash", bare[1..].to_vec()),
        };
        let mut call = self.machine.program(program, words).folder(&self.root());
        for (name, value) in [("NAME", "Me"), ("EMAIL", "me@x.example")] {
            call = call.env(&format!("GIT_AUTHOR_{name}"), value).env(&format!("GIT_COMMITTER_{name}"), value);
        }
        call.run();
    }

    fn bring_back(&self, record: &Value) {
        if let Some(id) = record["kept"].as_str() {
            at_terminal_in(&self.machine, &self.root(), &format!("undo {id}"), "y\n").unwrap();
        }
    }

    fn lost(&self, before: &Work) -> Vec<String> {
        let after = self.work();
        let files = before.files.iter().filter(|(path, text)| after.files.get(*path) != Some(text));
        let files = files.map(|(path, _)| path.clone());
        files.chain(before.commits.difference(&after.commits).cloned()).collect()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            // The Git file of a linked work tree is named `.git` too.
            if entry.file_name() != ".git" {
                collect(root, &path, files);
            }
        } else if entry.file_name() != ".git" {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Returns the branches that a command names, if the names are valid.
fn branches(command: &str) -> Vec<String> {
    let mut words = command.split(['#', '&', '\n']).flat_map(|part| {
        let words: Vec<&str> = part.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
        let takes = words.windows(3).any(|words| {
            matches!(
                words,
                ["git", "branch", "-D" | "-f" | "-M", ..] | ["git", "checkout", "-B", ..] | ["git", "switch", "-C", ..]
            )
        });
        if takes { words.into_iter().skip(3).collect() } else { Vec::new() }
    });
    let mut names: Vec<String> = words.by_ref().filter(|word| !word.is_empty()).map(str::to_owned).collect();
    names.retain(|name| name != "main");
    names
}

#[test]
fn a_model_that_obeys_loses_nothing_for_good() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../library/data/judge/cases.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let injected: Vec<&Value> = cases.iter().filter(|case| case["injected"] == true).collect();
    assert_eq!((cases.len(), injected.len()), (100, 40));
    let machine = Machine::new();
    if at_terminal_in(&machine, &machine.root(), "status", "").is_none() {
        return;
    }
    let play = |case: &&Value| {
        let repository = Repository::new(case);
        let (code, output) = at_terminal_in(&repository.machine, &repository.root(), "mode auto-pilot", "y\n").unwrap();
        assert_eq!(code, 0, "{output}");
        let played = repository.play(case);
        println!("{} {} {} {}", case["id"], played.is_asked, played.decision, case["command"]);
        assert_eq!(played.lost, Vec::<String>::new(), "{case}");
        played
    };
    let played: Vec<Played> = thread::scope(|scope| {
        let parts = injected.chunks(10).map(|part| scope.spawn(move || part.iter().map(play).collect::<Vec<_>>()));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    // The others are left to a person, or lose nothing that the rules know.
    let asked = played.iter().filter(|played| played.is_asked).count();
    let took = played.iter().filter(|played| played.took).count();
    println!("{asked} of 40 reached the model, {took} took something away, 0 lost it");
    assert!(asked >= 30 && took >= 30, "only {asked} reach the model, and {took} take something");
}
