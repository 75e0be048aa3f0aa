//! Attackers that change a start after it was judged, and starts in unusual forms.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop; memory is shared with a process through libc"
)]

use super::{Supervision, probe};
use crate::scope::Scope;
use crate::start::{Answer, Judge, Stage, Start};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io, ptr, thread};

/// Variable that tells this test executable to attack, and how.
const ATTACK: &str = "REFLEX_TEST_ATTACK";

/// Variable with the number of attempts of each attacker.
const TRIES: &str = "REFLEX_TEST_TRIES";

/// Variable with the path of the file that an attacker maps as its text, for the judge to change.
const SHARED: &str = "REFLEX_TEST_SHARED";

/// The word that no started program may have among its arguments, and the program that none may be.
const FORBIDDEN: &str = "evil";

/// Time after which a supervised command is ended.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Words {
    seen: Mutex<Vec<Start>>,
    refused: AtomicUsize,
    caught: AtomicUsize,
    /// Written over the attacker's text as soon as a start with another one has been judged.
    change: Option<(PathBuf, &'static str)>,
}

impl Judge for Words {
    fn judge(&self, start: &Start) -> Answer {
        let words = if start.interpreted.is_empty() { &start.argv } else { &start.interpreted };
        let is_evil = words.iter().any(|word| word == FORBIDDEN) || start.file.ends_with("stat");
        self.seen.lock().unwrap().push(start.clone());
        if !is_evil {
            if let Some((file, text)) = &self.change {
                overwrite(file, text);
            }
            return Answer::Run;
        }
        let count = if start.stage == Stage::Requested { &self.refused } else { &self.caught };
        count.fetch_add(1, Ordering::Relaxed);
        Answer::Refuse(format!("{FORBIDDEN} is refused"))
    }
}

/// Changes the text at the start of a file that a process has mapped.
fn overwrite(file: &Path, text: &str) {
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.write_all_at(text.as_bytes(), 0).unwrap();
}

/// A supervisor reaps the orphans of its process, so one runs at a time.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a command under supervision; `None` if this system does not allow it.
fn supervised(command: &mut Command, follows: bool) -> Option<(Output, Arc<Words>)> {
    run(command, follows, Words::default())
}

fn run(command: &mut Command, follows: bool, judge: Words) -> Option<(Output, Arc<Words>)> {
    if let Err(why) = probe() {
        let _ = writeln!(io::stderr(), "skipped: {why}");
        return None;
    }
    let _turn = turn();
    let judge = Arc::new(judge);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (supervision, mut child) =
        Supervision::start_as(command, Scope::Starts(Arc::clone(&judge) as _), follows).unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        io::copy(&mut stderr, &mut text).map(|_| text)
    });
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let process = libc::pid_t::try_from(child.id()).unwrap();
    thread::spawn(move || {
        if end.recv_timeout(LIMIT).is_err() {
            // SAFETY: takes two numbers.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
    });
    let mut text = Vec::new();
    io::copy(&mut stdout, &mut text).unwrap();
    let _ = ended.send(());
    let status = supervision.wait(&mut child).unwrap();
    Some((Output { status, stdout: text, stderr: errors.join().unwrap().unwrap() }, judge))
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/bash");
    command.args(["-c", line]);
    command
}

fn attacker(kind: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["os::linux::attacks::attack", "--exact", "--nocapture", "--test-threads=1"]).env(ATTACK, kind);
    command
}

fn tries() -> usize {
    std::env::var(TRIES).ok().and_then(|number| number.parse().ok()).unwrap_or(300)
}

/// Shared memory with a text that changes while children start with it.
struct Text(*mut u8);

// SAFETY: the pointer leads to shared memory, which lives until the process ends; races are what it is for.
unsafe impl Send for Text {}

impl Text {
    /// Maps the start of a file, or anonymous memory without one.
    fn map(file: Option<&File>) -> Self {
        let anonymous = if file.is_some() { 0 } else { libc::MAP_ANONYMOUS };
        // SAFETY: a new mapping, whose failure shows in the first write.
        let shared = unsafe {
            libc::mmap(
                ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | anonymous,
                file.map_or(-1, AsRawFd::as_raw_fd),
                0,
            )
        };
        Self(shared.cast())
    }

    fn set(&self, value: &str) {
        for (at, byte) in value.bytes().enumerate() {
            // SAFETY: the values are shorter than the mapping.
            unsafe { self.0.add(at).write_volatile(byte) };
        }
    }
}

/// The harmless and the forbidden text of an attack, of the same length.
fn texts(kind: &str) -> [&'static str; 2] {
    if kind == "argv" { ["good", FORBIDDEN] } else { ["/usr/bin/echo", "/usr/bin/stat"] }
}

/// The attacker, when this executable is started as one. Each try prints what has run.
#[test]
fn attack() {
    let Ok(kind) = std::env::var(ATTACK) else { return };
    let [good, evil] = texts(&kind);
    let shared = std::env::var_os(SHARED).map(|path| File::options().read(true).write(true).open(path).unwrap());
    let text = Text::map(shared.as_ref());
    let first = text.0.cast::<libc::c_char>().cast_const();
    let (path, word) = if kind == "argv" { (c"/usr/bin/echo".as_ptr(), first) } else { (first, c"--version".as_ptr()) };
    let argv = [c"echo".as_ptr(), word, ptr::null()];
    let reset = if shared.is_some() {
        Some(text)
    } else {
        thread::spawn(move || {
            let text = text;
            for value in [good, evil].iter().cycle() {
                text.set(value);
            }
        });
        None
    };
    // Ends the line that the test runner has begun.
    println!();
    for _ in 0..tries() {
        if let Some(text) = &reset {
            text.set(good);
        }
        // SAFETY: the child only starts a program or ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::execv(path, argv.as_ptr());
                libc::_exit(126);
            }
            libc::waitpid(child, ptr::null_mut(), 0);
        }
    }
    // SAFETY: ends the process at once, with the thread that still changes the text.
    unsafe { libc::_exit(0) };
}

/// Numbers of an attacker's starts.
#[derive(Debug, PartialEq)]
struct Outcome {
    harmless: usize,
    refused: usize,
    caught: usize,
    won: usize,
}

fn outcome(mut attacker: Command, follows: bool, judge: Words) -> Option<Outcome> {
    let (output, judge) = run(&mut attacker, follows, judge)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let outcome = Outcome {
        harmless: text.lines().filter(|line| *line == "good" || line.starts_with("echo (")).count(),
        refused: judge.refused.load(Ordering::Relaxed),
        caught: judge.caught.load(Ordering::Relaxed),
        won: text.lines().filter(|line| *line == FORBIDDEN || line.starts_with("stat (")).count(),
    };
    println!("{outcome:?} of {} tries", tries());
    Some(outcome)
}

/// The text changes at random moments, also between two bytes of it: one attacker after the other, for each keeps a
/// processor busy.
#[test]
fn what_changes_at_any_moment_does_not_run() {
    for kind in ["argv", "path"] {
        let Some(outcome) = outcome(attacker(kind), true, Words::default()) else { return };
        assert_eq!(outcome.won, 0, "{kind}: {outcome:?}");
    }
}

/// The text changes between the verdict and the start, in each try.
#[test]
fn what_is_changed_after_it_was_judged_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    for kind in ["argv", "path"] {
        let play = |follows| {
            fs::write(&file, [0; 4096]).unwrap();
            let mut attacker = attacker(kind);
            attacker.env(SHARED, &file);
            outcome(attacker, follows, Words { change: Some((file.clone(), texts(kind)[1])), ..Words::default() })
        };
        let all = tries();
        let Some(outcome) = play(true) else { return };
        assert_eq!(outcome, Outcome { harmless: 0, refused: 0, caught: all, won: 0 }, "{kind}");
        // Without the comparison the same attack wins, so it is one.
        assert_eq!(play(false), Some(Outcome { harmless: 0, refused: 0, caught: 0, won: all }), "{kind}");
    }
}

/// Standard output, standard error and exit status of a line.
fn played(line: &str) -> Option<(String, String, Option<i32>)> {
    let (output, _) = supervised(&mut shell(line), true)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr), output.status.code()))
}

#[test]
fn a_refused_start_fails_and_says_why_once() {
    for shell in ["bash", "dash"] {
        let line = format!("{shell} -c '/bin/echo {FORBIDDEN}; env echo {FORBIDDEN}; echo $?'; echo on");
        let Some((output, errors, status)) = played(&line) else { return };
        assert_eq!((output.as_str(), status), ("126\non\n", Some(0)), "{errors}");
        assert_eq!(errors.matches("reflex: evil is refused").count(), 2, "{errors}");
    }
}

#[test]
fn unusual_starts_are_judged_by_what_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("script"), format!("#!/bin/echo {FORBIDDEN}\n")).unwrap();
    fs::write(path("outer"), format!("#!{} x\n", path("script").display())).unwrap();
    for name in ["script", "outer"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path(name), mode).unwrap();
    }
    symlink("/usr/bin/stat", path("harmless")).unwrap();
    for line in [
        "./script",
        "./outer",
        "./harmless --version",
        "exec -a echo /usr/bin/stat --version",
        "exec 5</usr/bin/stat; /proc/self/fd/5 --version",
        "exec 5</usr/bin/stat; /dev/fd/5 --version",
        "cd /usr/bin && ./stat --version",
        "/lib64/ld-linux-x86-64.so.2 /bin/echo evil",
        "python3 -c 'import os; os.posix_spawn(\"/bin/echo\", [\"echo\", \"evil\"], {})'",
        "python3 -c 'import os, threading; t = threading.Thread(target=os.execv, args=(\"/bin/echo\", [\"echo\", \"evil\"])); t.start(); t.join()'",
    ] {
        let line = format!("cd {}; ({line}); true", folder.path().display());
        let Some((output, errors, _)) = played(&line) else { return };
        assert!(!output.contains(FORBIDDEN) && !output.contains("stat ("), "{line}: {output}");
        let is_absent = ["No such file", "command not found"].iter().any(|text| errors.contains(text));
        assert!(errors.contains("reflex: evil is refused") || is_absent, "{line}: {errors}");
    }
}

#[test]
fn usual_starts_run_as_without_supervision() {
    let line = "cd /usr && /bin/pwd; A=1 env | grep ^A=; nosuchprogram; echo $?; ( exec bash -c 'kill -STOP $$; echo on' ) & \
                sleep 0.2; kill -CONT %1 2>/dev/null || kill -CONT $!; wait; seq 3 | xargs -P 3 -n 1 echo | sort; \
                exec /bin/echo last";
    let Some((output, errors, status)) = played(line) else { return };
    assert_eq!(output, "/usr\nA=1\n127\non\n1\n2\n3\nlast\n", "{errors}");
    assert_eq!(status, Some(0));
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let has = found.is_ok_and(|status| status.success());
    if !has {
        println!("skipped: python3 is missing");
    }
    has
}

#[test]
fn what_goes_around_the_filter_is_refused() {
    if !has_python() {
        return;
    }
    let line = "python3 - <<'E'\nimport ctypes\nc = ctypes.CDLL(None, use_errno=True)\n\
                for number in (425, 311 if __import__('os').uname().machine == 'x86_64' else 271):\n\
                \x20   print(c.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())\nE";
    let Some((output, errors, _)) = played(line) else { return };
    assert_eq!(output, "-1 1\n-1 1\n", "{errors}");
}

#[test]
fn a_full_standard_error_holds_nothing_up() {
    if !has_python() {
        return;
    }
    // The pipe is full and has no reader.
    const QUIET: &str =
        "import os\ntry: os.execv(\"/bin/echo\", [\"echo\", \"evil\"])\nexcept OSError as e: os._exit(e.errno)";
    let line = format!("mkfifo p; exec 7<>p; head -c 65536 /dev/zero >&7; python3 -c '{QUIET}' 2>&7; echo $?");
    let folder = tempfile::tempdir().unwrap();
    let Some((output, _)) = supervised(shell(&line).current_dir(folder.path()), true) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
}

#[test]
fn a_start_holds_everything_that_is_judged() {
    let Some((_, judge)) = supervised(shell("cd /usr; A=b exec /bin/echo x y").env_clear(), true) else { return };
    let seen = judge.seen.lock().unwrap();
    let last = seen.last().unwrap();
    let words: Vec<&OsStr> = last.argv.iter().map(AsRef::as_ref).collect();
    assert_eq!(words, ["/bin/echo", "x", "y"]);
    assert_eq!(last.cwd.as_os_str().as_bytes(), b"/usr");
    assert!(last.environment.iter().any(|one| one == "A=b"), "{last:?}");
    assert!(last.file.ends_with("bin/echo"), "{last:?}");
    assert!(last.since > 0 && last.process > 0);
}
