//! What a call destroys comes back: each call is answered by the hook, really runs in a folder that is thrown away
//! afterwards, and is undone. Every file is then what it was, with its mode, time, links and attributes, and so are the
//! index, the refs and the stash.

use reflex_agents::{Payload, find};
use reflex_host::keep::Refused;
use reflex_host::{Context, Host, Mode};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The guard that all tests of this process share.
fn guard() -> Host {
    static CONTEXT: OnceLock<(tempfile::TempDir, Context)> = OnceLock::new();
    let (_, context) = CONTEXT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let context = Context::at_home(folder.path().canonicalize().unwrap()).unwrap();
        (folder, context)
    });
    context.host(Mode::default())
}

/// A repository with work of every kind that a call could destroy.
struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// What can be told apart of one file.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Seen {
    kind: &'static str,
    mode: u32,
    written: (i64, i64),
    content: String,
    /// The first of its names, if it has several.
    first: Option<PathBuf>,
}

const UNTRACKED: [(&str, &str); 11] = [
    ("notes.md", "thoughts that are in no commit\n"),
    ("secret.txt", "only for me\n"),
    ("with space.txt", "a name of two words\n"),
    ("ünï.md", "a name of other letters\n"),
    ("todo/list.txt", "1\n2\n"),
    ("todo/deep/er/plan.md", "far below\n"),
    (".env", "TOKEN=not-a-real-one\n"),
    ("data/customers.csv", "a,b\n1,2\n"),
    ("data/app.db", "not really a database\n"),
    ("new/notes.md", "newer thoughts\n"),
    ("new/deep/list.txt", "3\n"),
];

impl Ground {
    /// A copy of one that is made once.
    fn new() -> Ground {
        static FIRST: OnceLock<Ground> = OnceLock::new();
        let first = FIRST.get_or_init(Ground::made);
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("shop");
        assert!(Command::new("cp").arg("-a").args([&first.root, &root]).status().unwrap().success());
        Ground { _folder: folder, root }
    }

    fn made() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let ground = Ground { root: folder.path().canonicalize().unwrap().join("shop"), _folder: folder };
        fs::create_dir(&ground.root).unwrap();
        ground.git("init -q -b main");
        for (name, text) in [
            ("a.txt", "committed\n"),
            ("b.txt", "committed, too\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("docs/guide.md", "one\n"),
            ("docs/more.md", "two\n"),
            ("tool.sh", "#!/bin/sh\n"),
            ("tools/wipe.sh", "#!/bin/sh\nrm -rf data notes.md\n"),
            ("tools/outer.sh", "echo first\nsh tools/wipe.sh\nsh tool.sh\n"),
            ("tools/along.sh", "mv todo todo-old\nrm -rf todo-old data\n"),
            ("tools/discard.sh", "git reset -q --hard\ngit clean -fdq\n"),
            ("tools/wipe.py", "import os, shutil\nshutil.rmtree('todo')\nos.remove('notes.md')\n"),
            ("tools/gen.sh", "make\n"),
            ("tools/late.sh", "sh tools/gen.sh\nrm notes.md\n"),
            ("tools/loop.sh", "for i in 1 2; do rm -f notes.md; make; done\n"),
            ("tools/named.sh", "mv \"$1\" $(cat list) data\nrm -rf data\n"),
            ("tools/twice.sh", "sh tools/wipe.sh\nmake\nsh tools/wipe.sh\n"),
            ("tools/trap.sh", "trap 'rm notes.md' EXIT\nmake\n"),
            ("Makefile", "clean:\n\trm -rf data\n\nwipe: clean\n\trm -f notes.md\n"),
            (".gitignore", ".env\ndata/\nnode_modules/\n"),
        ] {
            ground.write(name, text);
        }
        fs::set_permissions(ground.root.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        ground.commit("first");
        ground.git("switch -q -c topic");
        ground.write("topic.txt", "only here\n");
        ground.commit("on topic");
        ground.git("switch -q main");
        ground.write("b.txt", "second\n");
        ground.write("later.txt", "second\n");
        ground.commit("second");
        ground.write("a.txt", "stashed\n");
        ground.git("stash -q");
        ground.work();
        ground
    }

    /// What is in no commit.
    fn work(&self) {
        self.write("src/main.rs", "fn main() { staged(); }\n");
        self.git("add src/main.rs");
        self.write("src/main.rs", "fn main() { staged(); and_more(); }\n");
        self.write("docs/guide.md", "one, rewritten\n");
        for (name, text) in UNTRACKED {
            self.write(name, text);
        }
        self.write("data/app.db-wal", "what the database has not written yet\n");
        fs::create_dir(self.root.join("todo/empty")).unwrap();
        fs::set_permissions(self.root.join("secret.txt"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(self.root.join("todo/deep"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("list.txt", self.root.join("todo/link")).unwrap();
        symlink("nowhere", self.root.join("todo/broken")).unwrap();
        fs::hard_link(self.root.join("todo/list.txt"), self.root.join("todo/second-name")).unwrap();
        self.age();
    }

    /// Makes all of it older than the session.
    fn age(&self) {
        let arguments = [".", "-name", ".git", "-prune", "-o", "-exec", "touch", "-h", "-d", "3 days ago", "{}", "+"];
        assert!(Command::new("find").args(arguments).current_dir(&self.root).status().unwrap().success());
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git("add -A");
        self.git(&format!("commit -q -m {}", message.replace(' ', "-")));
    }

    fn git(&self, arguments: &str) {
        let (code, out) = self.run(&format!("git {arguments}"));
        assert_eq!(code, Some(0), "git {arguments}: {out}");
    }

    /// Really runs a command, in the folder that is thrown away and with nothing of this user's.
    fn run(&self, command: &str) -> (Option<i32>, String) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let known = [("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b"), ("GIT_COMMITTER_NAME", "a")];
        let known = known.into_iter().chain([("GIT_COMMITTER_EMAIL", "a@b"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        // Who only looks does not write the index.
        let known = known.chain([("GIT_OPTIONAL_LOCKS", "0")]);
        let output = Command::new("bash")
            .args(["-c", command])
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root.parent().unwrap())
            .envs(known)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// The hook's answer to a call.
    fn ask(&self, tool: &str, input: Value) -> Value {
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": self.root, "cwd": self.root, "tool_name": tool,
            "tool_input": input, "permission_mode": "default",
        });
        let payload = Payload { fields: payload.as_object().unwrap(), event_name: None, variable: &|_| None };
        let reply = guard().answer(find("claude").unwrap(), &payload).reply;
        serde_json::from_slice(reply.stdout.as_ref()).unwrap_or(Value::Null)
    }

    fn seen(&self) -> BTreeMap<PathBuf, Seen> {
        let mut all = BTreeMap::new();
        let mut names = HashMap::new();
        self.look(&self.root, &mut names, &mut all);
        all
    }

    fn look(&self, folder: &Path, names: &mut HashMap<u64, PathBuf>, all: &mut BTreeMap<PathBuf, Seen>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let data = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(&self.root).unwrap().to_owned();
            let (kind, content) = match () {
                () if data.is_dir() => ("folder", String::new()),
                () if data.is_symlink() => ("link", fs::read_link(&path).unwrap().to_string_lossy().into_owned()),
                () if !data.is_file() => ("pipe", String::new()),
                () => ("file", String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()),
            };
            // Of git's own files its objects may be more than before, and what it notes of its last steps.
            if name.ends_with(".git/objects") || name.ends_with(".git/COMMIT_EDITMSG") {
                continue;
            }
            let first = (kind == "file" && data.nlink() > 1)
                .then(|| names.entry(data.ino()).or_insert_with(|| name.clone()).clone());
            let is_work = kind == "file" && !name.components().any(|part| part.as_os_str() == ".git");
            let written = if is_work { (data.mtime(), data.mtime_nsec()) } else { (0, 0) };
            all.insert(name, Seen { kind, mode: data.mode() & 0o7777, written, content, first });
            if kind == "folder" {
                self.look(&path, names, all);
            }
        }
    }

    /// What git itself says: it reads objects, which the comparison of files leaves out.
    fn state_of_git(&self) -> String {
        let commands = "git status --porcelain; git stash list; git stash show -p; git log --all --oneline; \
                        git fsck --connectivity-only 2>&1 | grep -v dangling; git diff; git diff --cached";
        self.run(commands).1
    }
}

/// The id under which something was kept, if the answer lets the call run.
fn kept(answer: &Value) -> Option<String> {
    let text = answer["systemMessage"].as_str()?;
    let decides = answer["hookSpecificOutput"].get("permissionDecision").is_some();
    let id = text.split_once("`reflex undo ")?.1.split('`').next()?;
    (!decides).then(|| id.to_owned())
}

/// A call that did not come back.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("not kept: {0}")]
    NotKept(Value),
    #[error("it destroys nothing: {0}")]
    Harmless(String),
    #[error("git says\n{now}\nand not\n{before}")]
    Git { now: String, before: String },
    #[error("{}", .0.join("\n    "))]
    Files(Vec<String>),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Plays a call: hook, run, undo. Nothing where all is as before.
fn play(command: &str) -> Result<(), Lost> {
    let ground = Ground::new();
    // Git notes in its index what it has looked at.
    let shown_before = ground.state_of_git();
    let before = ground.seen();
    let answer = ground.ask("Bash", json!({"command": command}));
    let id = kept(&answer).ok_or(Lost::NotKept(answer))?;
    let (_, out) = ground.run(command);
    if ground.seen() == before {
        return Err(Lost::Harmless(out));
    }
    undo(&id)?;
    same(&before, &ground.seen())?;
    let now = ground.state_of_git();
    if now == shown_before { Ok(()) } else { Err(Lost::Git { now, before: shown_before }) }
}

fn undo(id: &str) -> Result<Option<String>, Lost> {
    let host = guard();
    let backup = host.backups().backup(id)?;
    let plan = host.undo_plan(&backup, &[], None);
    Ok(host.undo(&backup, &plan)?)
}

fn same(before: &BTreeMap<PathBuf, Seen>, after: &BTreeMap<PathBuf, Seen>) -> Result<(), Lost> {
    let names: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&&PathBuf| before.get(**name) != after.get(**name);
    let short = |seen: Option<&Seen>| format!("{seen:?}").chars().take(160).collect::<String>();
    let shown_before =
        |name: &PathBuf| format!("{}: {} was {}", name.display(), short(after.get(name)), short(before.get(name)));
    let all: Vec<String> = names.iter().filter(differs).map(|name| shown_before(name)).collect();
    if all.is_empty() { Ok(()) } else { Err(Lost::Files(all)) }
}

/// Plays many calls at once, for most of the time the disk is waited for.
fn play_all(commands: Vec<String>) {
    let commands = std::sync::Mutex::new(commands.into_iter());
    let failures = std::sync::Mutex::new((0, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(command) = commands.lock().unwrap().next() else { return };
                    let played = play(&command);
                    let mut failures = failures.lock().unwrap();
                    failures.0 += 1;
                    failures.1.extend(played.err().map(|why| format!("{command}\n    {why}")));
                }
            });
        }
    });
    let (count, failures) = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {count} did not come back:\n{}", failures.len(), failures.join("\n"));
}

const FILES: [&str; 9] = [
    "notes.md",
    "secret.txt",
    "'with space.txt'",
    "ünï.md",
    "todo/list.txt",
    "todo/deep/er/plan.md",
    ".env",
    "data/customers.csv",
    "data/app.db",
];

#[test]
fn deleted_files_come_back() {
    let forms = ["rm -f {}", "rm ./{}", "unlink {}", "rm -rf -- {}", "cd . && rm {}", "rm {} && true"];
    let files = FILES.iter().filter(|file| **file != ".env");
    play_all(files.flat_map(|file| forms.map(|form| form.replace("{}", file))).collect());
}

#[test]
fn deleted_folders_come_back() {
    let forms = ["rm -rf {}", "rm -r -f ./{}/", "rm -rf \"$PWD/{}\"", "rm -rf {}/*", "nice rm -rf {}"];
    let folders = ["todo", "data", "todo/deep", "docs"];
    play_all(folders.iter().flat_map(|folder| forms.map(|form| form.replace("{}", folder))).collect());
}

#[test]
fn several_things_come_back_together() {
    let commands = [
        "rm notes.md secret.txt",
        "rm notes.md; rm secret.txt",
        "rm -rf todo data secret.txt",
        "rm *.md",
        "rm -f data/*.csv notes.md",
        "rm -rf todo && rm notes.md && echo done",
        "echo x > notes.md && rm secret.txt",
        "rm -rf docs src",
        "rm {notes,ünï}.md",
        "for f in notes.md secret.txt; do rm $f; done",
        "mv data/customers.csv x.csv && rm x.csv",
        "truncate -s 0 notes.md data/customers.csv",
        "rm notes.md && sh tool.sh",
        "rm notes.md; sh tool.sh | tail -3",
        "git status && rm notes.md",
        "mv src todo/src && rm -rf todo",
        "python3 -c \"import os; os.rename('src', 'todo/src')\" && rm -rf todo",
    ];
    play_all(commands.map(String::from).to_vec());
}

#[test]
fn losses_by_scripts_and_tasks_come_back() {
    let commands = [
        "sh tools/wipe.sh",
        "bash tools/wipe.sh | tail -3",
        "sh tools/outer.sh",
        "sh tools/along.sh",
        "sh tools/discard.sh",
        "python3 tools/wipe.py",
        "make clean",
        "make wipe && sh tool.sh",
        "bash -c 'sh tools/wipe.sh'",
        "cat tools/wipe.sh | sh",
        "cd tools && sh -c 'cd .. && sh tools/wipe.sh'",
    ];
    play_all(commands.map(String::from).to_vec());
}

#[test]
fn overwritten_files_come_back() {
    let forms = [
        "echo x > {}",
        ": > {}",
        "cp a.txt {}",
        "mv -f b.txt {}",
        "tee {} < a.txt",
        "cat a.txt b.txt > {}",
        "truncate -s 0 {}",
        "install -m 644 a.txt {}",
        "python3 -c \"open('{}', 'w').write('x')\"",
    ];
    // Keys that are gone or emptied are a block, as before.
    let is_block = |command: &String| command == ": > .env" || command == "truncate -s 0 .env";
    let named = |form: &str, file: &str| match form.starts_with("python3") {
        true => form.replace("{}", file.trim_matches('\'')),
        false => form.replace("{}", file),
    };
    let commands = FILES.iter().flat_map(|file| forms.map(|form| named(form, file)));
    play_all(commands.filter(|command| !is_block(command)).collect());
}

#[test]
fn files_under_which_others_land_come_back() {
    let commands = [
        "mv new/*.md .",
        "mv new/*.md ./",
        "cp new/* .",
        "install -m 600 new/*.md .",
        "for f in new/*.md; do mv \"$f\" .; done",
        "for f in new/*; do cp \"$f\" .; done",
        "find new -name '*.md' -exec mv {} . \\;",
        "find new/deep -type f -exec cp {} todo/ \\;",
        "find new/deep -type f | xargs mv -t todo",
        "find new/deep -type f -print0 | xargs -0 -I{} mv {} todo/",
        "ls new/*.md | xargs -I{} cp {} .",
        "ls new | while read -r f; do cp \"new/$f\" .; done",
    ];
    play_all(commands.map(String::from).to_vec());
    let ground = Ground::new();
    for silent in ["mv new/deep/*.txt docs", "cp new/*.txt .", "mv new/*.md tools", "cp new/deep/* docs/"] {
        assert_eq!(ground.ask("Bash", json!({"command": silent})), Value::Null, "{silent}");
    }
}

#[test]
fn a_moved_file_comes_back_from_under_the_next_one() {
    let commands = [
        "mv notes.md out.md; mv secret.txt out.md",
        "for f in notes.md secret.txt; do mv $f out.md; done",
        "for f in *.md; do mv \"$f\" out.txt; done",
        "mv notes.md out.md && echo done > out.md",
        "for f in todo/list.txt new/deep/list.txt; do mv $f docs/; done",
        "find . -name list.txt -exec mv {} docs/ \\;",
    ];
    for command in commands {
        let ground = Ground::new();
        let mut before = ground.seen();
        let id = kept(&ground.ask("Bash", json!({"command": command}))).expect(command);
        ground.run(command);
        undo(&id).unwrap();
        let mut after = ground.seen();
        after.retain(|name, _| before.contains_key(name));
        // A name that stays may come first.
        before.values_mut().chain(after.values_mut()).for_each(|seen| seen.first = None);
        same(&before, &after).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
    let ground = Ground::new();
    let silent = ["mv notes.md out.md; mv secret.txt other.md", "mkdir out && mv notes.md out && mv secret.txt out"];
    for command in silent {
        assert_eq!(ground.ask("Bash", json!({"command": command})), Value::Null, "{command}");
    }
}

#[test]
fn work_in_several_repositories_comes_back() {
    for command in [
        "for r in work/*/; do git -C \"$r\" reset -q --hard; done",
        "for r in work/*/; do (cd \"$r\" && git checkout -q . && git clean -qfd); done",
        "ls -d work/*/ | xargs -I{} git -C {} checkout -q .",
        "for d in work/*/; do make -s -C \"$d\" clean; done",
        "for d in work/*/; do (cd \"$d\" && make -s clean); done",
    ] {
        let ground = Ground::new();
        for name in ["one", "two"] {
            ground.write(&format!("work/{name}/f"), "committed\n");
            ground.write(&format!("work/{name}/Makefile"), "clean:\n\trm -f fresh\n");
            let begin = "git init -q . && git add f Makefile && git commit -q -m first";
            assert_eq!(ground.run(&format!("cd work/{name} && {begin}")).0, Some(0));
            ground.write(&format!("work/{name}/f"), "changed\n");
            ground.write(&format!("work/{name}/fresh"), "new\n");
        }
        let before = ground.seen();
        let answer = ground.ask("Bash", json!({"command": command}));
        let id = kept(&answer).unwrap_or_else(|| panic!("{command}: {answer}"));
        ground.run(command);
        assert_ne!(ground.seen(), before, "{command}");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
}

#[test]
fn the_folder_behind_a_link_comes_back() {
    for command in [
        "rm -rf \"$(readlink -f link)\"",
        "rm -rf $(realpath link)",
        "rm -rf \"$(cd link && pwd -P)\"",
        "D=$(cd link && pwd -P); rm -rf \"$D\"",
        "python3 -c \"import os, shutil; shutil.rmtree(os.path.realpath('link'))\"",
        "mv \"$(realpath link)\" moved && rm -rf moved",
    ] {
        let ground = Ground::new();
        symlink("todo", ground.root.join("link")).unwrap();
        let before = ground.seen();
        let answer = ground.ask("Bash", json!({"command": command}));
        let id = kept(&answer).unwrap_or_else(|| panic!("{command}: {answer}"));
        ground.run(command);
        assert_ne!(ground.seen(), before, "{command}");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
    let ground = Ground::new();
    symlink("todo", ground.root.join("link")).unwrap();
    for command in ["rm -rf link", "rm -rf \"$(dirname link/x)\"", "rm -f \"$(cd . && pwd)/link\""] {
        assert_eq!(ground.ask("Bash", json!({"command": command})), Value::Null, "{command}");
    }
}

#[test]
fn files_come_back_where_something_else_is_now() {
    let commands = [
        "rm -rf data && ln -s todo data",
        "rm -rf todo && ln -s /nowhere todo",
        "rm -rf todo && echo x > todo",
        "rm -rf todo/deep && ln -s ../data todo/deep",
        "rm -rf todo data && ln -s data todo && mkdir data && echo y > data/app.db",
        "rm notes.md && mkdir -p notes.md/folder && echo x > notes.md/folder/file",
        "rm notes.md && ln -s /etc/passwd notes.md",
        "mv data old-data && ln -s old-data data && rm -rf old-data",
        "rm -r todo/deep && mkfifo todo/deep",
        "git rm -q -r -f docs src && ln -s todo docs",
    ];
    play_all(commands.map(String::from).to_vec());
}

#[test]
fn the_index_comes_back_with_files_that_git_moves() {
    let commands = [
        "git mv -f a.txt docs/guide.md",
        "git mv -k -f docs/more.md docs/guide.md",
        "git add notes.md && git mv -f notes.md src/main.rs",
        "git rm -q -f docs/guide.md",
        "git rm -r -f -q docs src",
    ];
    play_all(commands.map(String::from).to_vec());
}

#[test]
fn names_with_line_breaks_come_back() {
    let ground = Ground::new();
    ground.write("two\nlines.md", "work\n");
    ground.write("todo/a\tb\n", "more work\n");
    ground.age();
    for command in [
        "rm two*",
        "rm -rf todo",
        "rm $'two\\nlines.md'",
        "rm 'two\nlines.md'",
        "git clean -fdq",
        "git stash -u -q && git stash drop -q",
    ] {
        let before = ground.seen();
        let answer = ground.ask("Bash", json!({"command": command}));
        let id = kept(&answer).unwrap_or_else(|| panic!("{command} is not kept: {answer}"));
        ground.run(command);
        assert_ne!(ground.seen(), before, "{command}");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap();
    }
}

/// Calls whose losses are kept, if there is anything left to lose. Of the file with two names none takes only one: a
/// second name in another folder is not found again.
const LOSSES: [&str; 24] = [
    "rm -rf todo",
    "rm -rf data && ln -s todo data",
    "rm notes.md secret.txt",
    "rm -rf docs && echo x > docs",
    "mv -f notes.md secret.txt",
    "mv -f todo/deep/er/plan.md data/customers.csv",
    "mv data todo/data && rm -rf todo",
    "git mv -f a.txt b.txt",
    "git mv -f docs/more.md docs/guide.md",
    "git rm -q -f src/main.rs",
    "git reset --hard",
    "git reset --hard HEAD~1",
    "git checkout .",
    "git checkout -f topic",
    "git clean -fdq",
    "git clean -fdxq",
    "git stash drop",
    "git stash clear",
    "git branch -D topic",
    "echo x > data/app.db",
    "ln -sf a.txt notes.md",
    "cp a.txt ünï.md",
    "truncate -s 0 data/customers.csv",
    "git restore --staged --worktree .",
];

#[test]
fn losses_in_any_order_are_undone_in_the_reverse_order() {
    let total = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let total = &total;
            scope.spawn(move || {
                let mut random = Random(seed * 7919);
                while total.load(std::sync::atomic::Ordering::Relaxed) < 100 {
                    total.fetch_add(scenario(&mut random), std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
}

/// Numbers that look random and are the same in every run (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).unwrap()
    }
}

/// Six calls one after another, then everything that was kept is restored, newest first; how many backups that were.
fn scenario(random: &mut Random) -> usize {
    let ground = Ground::new();
    let mut played = Vec::new();
    for _ in 0..6 {
        let command = LOSSES[random.below(LOSSES.len())];
        let state = ground.state_of_git();
        let before = ground.seen();
        let Some(id) = kept(&ground.ask("Bash", json!({"command": command}))) else { continue };
        ground.run(command);
        played.push((command, id, before, state));
    }
    let order: Vec<&str> = played.iter().map(|(command, ..)| *command).collect();
    for (command, id, before, state) in played.iter().rev() {
        undo(id).unwrap_or_else(|why| panic!("{command} of {order:?}: {why}"));
        // The bytes of the index change with each look of git; what is in it is compared by what git says.
        let without_index = |mut seen: BTreeMap<PathBuf, Seen>| {
            seen.remove(Path::new(".git/index"));
            seen
        };
        let (before, now) = (without_index(before.clone()), without_index(ground.seen()));
        same(&before, &now).unwrap_or_else(|why| panic!("{command} of {order:?}:\n    {why}"));
        assert_eq!(ground.state_of_git(), *state, "{command} of {order:?}");
    }
    played.len()
}

#[test]
fn objects_that_git_has_pruned_come_back() {
    for command in ["git stash clear", "git branch -D topic", "git reset --hard HEAD~1"] {
        let ground = Ground::new();
        let shown_before = ground.state_of_git();
        let id = kept(&ground.ask("Bash", json!({"command": command}))).unwrap();
        ground.run(command);
        ground.git("reflog expire --expire=now --all");
        ground.git("gc -q --prune=now");
        undo(&id).unwrap();
        assert_eq!(ground.state_of_git(), shown_before, "{command}");
    }
}

#[test]
fn what_a_file_tool_overwrites_comes_back() {
    for file in ["notes.md", ".env", "data/customers.csv"] {
        let ground = Ground::new();
        let (before, path) = (ground.seen(), ground.root.join(file));
        let id = kept(&ground.ask("Write", json!({"file_path": path, "content": "x"}))).unwrap();
        ground.write(file, "x");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap();
    }
}

#[test]
fn an_edit_of_work_that_is_in_no_commit_is_kept_once_and_without_a_word() {
    let newest = |ground: &Ground| {
        let root = ground.root.to_str().unwrap().to_owned();
        let is_ours = |known: &reflex_keep::Listed| known.about().unwrap().workspace == root;
        guard().backups().listed().into_iter().find(is_ours).map(|known| known.id)
    };
    for (file, old) in [("notes.md", "thoughts"), (".env", "TOKEN"), ("docs/guide.md", "rewritten")] {
        let ground = Ground::new();
        let before = ground.seen();
        let command = format!("sed -i s/{old}/other/ {file}");
        let answer = ground.ask("Bash", json!({"command": command}));
        assert!(answer["hookSpecificOutput"]["permissionDecision"].is_null(), "{file}: {answer}");
        let id = newest(&ground).unwrap_or_else(|| panic!("{file} was not kept"));
        ground.run(&command);
        // What the session wrote itself is not the person's work.
        ground.ask("Bash", json!({"command": format!("sed -i s/other/third/ {file}")}));
        assert_eq!(newest(&ground).as_ref(), Some(&id), "{file}");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap();
    }
    let ground = Ground::new();
    ground.ask("Bash", json!({"command": "sed -i s/second/third/ b.txt"}));
    assert_eq!(newest(&ground), None);
    for (file, old) in [("notes.md", "thoughts"), (".env", "TOKEN"), ("docs/guide.md", "rewritten")] {
        let ground = Ground::new();
        let (before, path) = (ground.seen(), ground.root.join(file));
        let edit = |old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
        let answer = ground.ask("Edit", edit(old, "other"));
        assert!(answer["hookSpecificOutput"]["permissionDecision"].is_null(), "{file}: {answer}");
        let id = newest(&ground).unwrap_or_else(|| panic!("{file} was not kept"));
        ground.run(&format!("sed -i s/{old}/other/ {file}"));
        ground.ask("Edit", edit("other", "third"));
        assert_eq!(newest(&ground).as_ref(), Some(&id), "{file}");
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap();
    }
    let ground = Ground::new();
    let edit = json!({"file_path": ground.root.join("b.txt"), "old_string": "second", "new_string": "third"});
    ground.ask("Edit", edit);
    assert_eq!(newest(&ground), None);
}

#[test]
fn a_database_in_a_file_comes_back_and_the_journals_of_the_call_go() {
    let code = |statements: &str| {
        format!(
            "python3 -c \"import os, sqlite3; c = sqlite3.connect('runs.db'); {statements} c.commit(); os._exit(0)\""
        )
    };
    let made = "c.execute('create table runs (a)'); c.execute('insert into runs values (1)');";
    for statement in ["delete from runs", "update runs set a = 2 where a = 1", "drop table runs"] {
        for journal in ["wal", "delete"] {
            let ground = Ground::new();
            ground.run(&code(&format!("c.execute('pragma journal_mode = {journal}'); {made}")));
            ground.age();
            let before = ground.seen();
            let command = code(&format!("c.execute('{statement}');"));
            let answer = ground.ask("Bash", json!({"command": command}));
            let id = kept(&answer).unwrap_or_else(|| panic!("{statement} is not kept: {answer}"));
            ground.run(&command);
            assert_ne!(before, ground.seen(), "{statement} changes nothing");
            undo(&id).unwrap();
            same(&before, &ground.seen()).unwrap();
        }
    }
}

#[test]
fn a_work_tree_that_is_removed_comes_back() {
    let ground = Ground::new();
    ground.git("worktree add -q trees/one topic");
    ground.write("trees/one/a.txt", "changed\n");
    ground.write("trees/one/plan.md", "in no commit\n");
    ground.age();
    let shown_before = ground.state_of_git();
    let before = ground.seen();
    let command = "git worktree remove --force trees/one";
    let id = kept(&ground.ask("Bash", json!({"command": command}))).unwrap();
    ground.run(command);
    assert!(!ground.root.join("trees/one").exists());
    undo(&id).unwrap();
    same(&before, &ground.seen()).unwrap();
    assert_eq!(ground.state_of_git(), shown_before);
    assert_eq!(ground.run("cd trees/one && git status --porcelain").1, " M a.txt\n?? plan.md\n");
}

#[test]
fn strict_and_who_wants_to_be_asked_are_asked() {
    let ground = Ground::new();
    let file = ground.root.join(".reflex/policy.yaml");
    for policy in ["preset: strict\n", "rules: {rm/from-before: ask}\n"] {
        ground.write(".reflex/policy.yaml", policy);
        let answer = ground.ask("Bash", json!({"command": "rm notes.md"}));
        assert!(kept(&answer).is_none(), "{policy}: {answer}");
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn a_restored_file_is_kept_again() {
    let ground = Ground::new();
    let before = ground.seen();
    for command in
        ["rm notes.md", "rm ./notes.md", "rm -rf todo", "rm -rf ./todo", "echo x > data/app.db", "rm data/app.db"]
    {
        let answer = ground.ask("Bash", json!({"command": command}));
        let id = kept(&answer).unwrap_or_else(|| panic!("{command} is not kept: {answer}"));
        ground.run(command);
        undo(&id).unwrap();
        same(&before, &ground.seen()).unwrap();
    }
}

#[test]
fn an_undo_is_undone_like_anything_else() {
    let ground = Ground::new();
    let id = kept(&ground.ask("Bash", json!({"command": "rm -rf todo notes.md"}))).unwrap();
    ground.run("rm -rf todo notes.md");
    ground.write("notes.md", "written anew\n");
    let between = ground.seen();
    let back = undo(&id).unwrap().unwrap();
    assert!(ground.root.join("todo/list.txt").exists());
    undo(&back).unwrap();
    same(&between, &ground.seen()).unwrap();
}

/// The call is asked about, and the question says why nothing is kept.
#[track_caller]
fn asks(ground: &Ground, command: &str, why: &str) {
    let answer = ground.ask("Bash", json!({"command": command}));
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
    let asks = answer["hookSpecificOutput"]["permissionDecision"] == "ask";
    assert!(asks && reason.contains(why), "{command}: {answer}");
}

#[test]
fn what_is_too_much_is_asked_about() {
    let ground = Ground::new();
    ground.write("huge/one", "");
    fs::File::options().write(true).open(ground.root.join("huge/one")).unwrap().set_len(65 << 20).unwrap();
    (0..2001).for_each(|number| ground.write(&format!("many/{number}"), ""));
    ground.age();
    asks(&ground, "rm -rf huge", "more than is kept");
    asks(&ground, "rm -rf many", "more than are kept");
    asks(&ground, "rm -rf notes.md many", "more than are kept");
}

#[test]
fn what_another_part_of_the_call_may_change_is_asked_about() {
    let ground = Ground::new();
    ground.write("gen.sh", "make\n");
    for command in [
        "sh gen.sh && rm notes.md",
        "f() { rm notes.md; }; sh gen.sh; f",
        "for f in notes.md; do rm $f; sh gen.sh; done",
        "while true; do rm notes.md; sh gen.sh; done",
        "(sleep 1; rm notes.md) & sh gen.sh",
        "sh gen.sh | rm notes.md",
        "unheard-of && rm notes.md",
        "git stash pop && rm notes.md",
        "git unheard-of; git reset --hard",
        "find . -maxdepth 1 -name notes.md -exec rm {} \\; -exec sh gen.sh \\;",
        "sh tools/late.sh",
        "sh tools/loop.sh",
        "sh tools/twice.sh",
        "sh tools/trap.sh",
        "sh tools/named.sh notes.md",
        "sh tools/gen.sh && sh tools/wipe.sh",
        "sh tools/wipe.sh & sh tools/gen.sh",
    ] {
        asks(&ground, command, "No copy can be kept: ");
    }
}

#[test]
fn what_is_not_known_or_no_plain_file_is_asked_about() {
    let ground = Ground::new();
    ground.run("mkfifo todo/pipe; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('data/socket')\"");
    ground.run("cp -a . ../copy && mv ../copy other && touch -d '3 days ago' $'docs/\\xff.md'");
    asks(&ground, "shopt -s dotglob; rm *.md", "which files would be lost is unknown");
    asks(&ground, "find todo -delete", "which files would be lost is unknown");
    asks(&ground, "rm -rf data", "is a device or socket");
    asks(&ground, "rm docs/*.md", "not valid UTF-8");
    asks(&ground, "git -C other stash drop", "it reaches into another work tree");
    asks(&ground, "GIT_DIR=other/.git git stash drop", "No copy can be kept");
    asks(&ground, "git -c core.worktree=other checkout .", "No copy can be kept");
    asks(&ground, "export GIT_DIR=other/.git; git stash drop", "No copy can be kept");
}

#[test]
fn what_git_discards_comes_back() {
    let commands = [
        "git reset --hard",
        "git reset --hard HEAD",
        "git reset --hard HEAD~1",
        "git reset --hard topic",
        "git reset -q --hard && true",
        "git checkout .",
        "git checkout -- .",
        "git checkout -- docs/guide.md",
        "git checkout docs",
        "git checkout HEAD -- src/main.rs",
        "git checkout -f topic",
        "git checkout -f HEAD~1",
        "git checkout -q -f main",
        "git switch -f topic",
        "git switch --discard-changes topic",
        "git restore .",
        "git restore docs/guide.md",
        "git restore --worktree --staged .",
        "git restore --source HEAD~1 docs/guide.md",
        "git clean -fd",
        "git clean -f",
        "git clean -fdx",
        "git clean -fdX",
        "git clean -fd todo",
        "git stash drop",
        "git stash drop stash@{0}",
        "git stash clear",
        "git branch -D topic",
        "git branch -d -f topic",
        "git branch -f topic HEAD~1",
        "git branch -M main topic",
        "git update-ref -d refs/heads/topic",
        "git reset --hard && git clean -fd",
        "git checkout . && git clean -fdx",
        "git reset --hard; git stash drop",
        "git add -A && git reset --hard",
        "git reset --hard && git stash drop && git branch -D topic",
        "git rm -q -f src/main.rs docs/guide.md; git clean -f",
        "git -C . reset --hard",
        "git -C docs checkout .",
        "cd docs && git checkout .",
        "cd docs && git reset --hard HEAD~1",
        "git checkout-index -f -a",
        "git add -f data/app.db && git reset --hard",
        "git stash -q -a && git stash drop -q",
        "git stash -q -u; git stash clear",
    ];
    play_all(commands.map(String::from).to_vec());
}
