//! Real work below `reflex run --supervise`, and below `reflex watch`: its refused starts, of which none is allowed, and
//! its time beside a plain run.

use std::cell::Cell;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tasks::project::{Project, TOOLS_HOME, XDG};
use tasks::release;
use tasks::steps::{step, succeed};

const PAGE: &str = "docs/reference/supervise.md";

/// Number of plain and supervised runs of each piece of work, in turns. The fastest of each counts.
const ROUNDS: usize = 7;

/// One piece of work.
struct Work {
    name: &'static str,
    /// The programs without which it is left out.
    needs: &'static [&'static str],
    /// A shell text that fetches what the work needs into the folder `$FETCHED`, once. The work is left out if it
    /// fails, as it does without a network.
    fetch: &'static str,
    /// A shell text that prepares a new repository, without supervision.
    prepare: &'static str,
    /// The shell text that is measured.
    run: &'static str,
    /// Factor that the time should keep to, if there is one.
    goal: Option<f64>,
}

const WORK: &[Work] = &[
    Work {
        name: "500 starts of `true` by a shell",
        needs: &[],
        fetch: ":",
        prepare: ":",
        run: "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done",
        goal: Some(1.5),
    },
    Work {
        name: "a configure script",
        needs: &["cc"],
        fetch: ":",
        prepare: ":",
        run: "i=0; while [ $i -lt 40 ]; do echo \"int main(void){return 0;}\" > conftest.c; \
              cc -o conftest conftest.c && ./conftest; expr $i + 1 >/dev/null; \
              echo x | sed 's/x/y/' | grep -q y; rm -f conftest conftest.c; i=$((i+1)); done",
        goal: Some(1.3),
    },
    Work {
        name: "a session of git",
        needs: &["git"],
        fetch: ":",
        prepare: "echo 1 > a; git add -A; git commit -qm one",
        run: "git switch -q -c x && echo 2 >> a && git add -A && git commit -qm two && git diff HEAD~1 --stat && \
              git switch -q - && git merge -q x && git rebase -q x && git gc -q && git fsck --no-dangling && \
              git worktree add -q ../$$ && git worktree remove ../$$ && git branch -d x && git reflog && \
              git reflog expire --expire=1.year.ago --all && git archive HEAD | wc -c",
        goal: None,
    },
    Work {
        name: "make, its tests and `make clean`",
        needs: &["make", "cc"],
        fetch: ":",
        prepare: "printf 'all: a.o b.o\\n\\tcc -o prog a.o b.o\\n%%.o: %%.c\\n\\tcc -c $<\\nclean:\\n\\trm -f *.o prog\\ntest: all\\n\\t./prog && sh t.sh\\n' > Makefile; \
                  echo 'int f(void){return 0;}' > b.c; echo 'int f(void);int main(void){return f();}' > a.c; \
                  echo 'for i in 1 2 3; do echo $i | sort | uniq -c; done' > t.sh; echo '*.o\nprog' > .gitignore; \
                  git add -A; git commit -qm one",
        run: "make -s -j2 && make -s test && make -s clean",
        goal: None,
    },
    Work {
        name: "`npm test`, `npm run build` and `clean`",
        needs: &["npm", "node"],
        fetch: ":",
        prepare: "echo '{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"mkdir -p dist && node -e \\\"require(`fs`).writeFileSync(`dist/a`,`1`)\\\"\",\"test\":\"node t.js\",\"clean\":\"rm -rf dist\"}}' | tr '`' \"'\" > package.json; \
                  echo 'console.log(1)' > t.js; echo dist > .gitignore; git add -A; git commit -qm one",
        run: "npm test && npm run build && npm run clean",
        goal: Some(1.1),
    },
    Work {
        name: "`cargo check` of this project's shell grammar",
        needs: &["cargo"],
        fetch: ":",
        prepare: "cp -r \"$REFLEX/Cargo.toml\" \"$REFLEX/Cargo.lock\" \"$REFLEX/crates\" \"$REFLEX/dev\" \"$REFLEX/xtask\" . && \
                  echo target > .gitignore && git add -A && git commit -qm one",
        run: "cargo check -q --offline -p reflex-shell",
        goal: Some(1.1),
    },
    Work {
        name: "`cargo build`, `test` and `clean` of one file",
        needs: &["cargo"],
        fetch: ":",
        prepare: "printf '[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n' > Cargo.toml; mkdir src; echo 'fn main() {}' > src/main.rs; printf 'fn main(){println!(\"cargo:rerun-if-changed=build.rs\");}' > build.rs; echo target > .gitignore; git add -A; git commit -qm one",
        run: "cargo build -q && cargo test -q && cargo clean -q",
        goal: None,
    },
    Work {
        name: "`python3 -m venv`, `unittest` and the end of both",
        needs: &["python3"],
        fetch: ":",
        prepare: "printf 'import subprocess, unittest\\nclass A(unittest.TestCase):\\n  def test_a(self):\\n    subprocess.run([\"true\"], check=True)\\n' > test_a.py; printf '.venv\\n__pycache__\\n' > .gitignore; git add -A; git commit -qm one",
        run: "python3 -m venv --without-pip .venv && . .venv/bin/activate && python -m unittest -q && rm -rf .venv __pycache__",
        goal: None,
    },
    Work {
        name: "`pip install pytest` and `pytest`",
        needs: &["python3"],
        // Debian has the module without what `pip` in it takes.
        fetch: "python3 -m venv \"$FETCHED/tried\" && python3 -m pip download --quiet --dest \"$FETCHED\" pytest",
        prepare: "printf 'import subprocess\\ndef test_a():\\n  subprocess.run([\"true\"], check=True)\\n' > test_a.py; \
                  printf '.venv\\n__pycache__\\n.pytest_cache\\n' > .gitignore; git add -A; git commit -qm one",
        run: "python3 -m venv .venv && .venv/bin/pip install --quiet --no-index --find-links \"$FETCHED\" pytest && \
              .venv/bin/pytest -q && rm -rf .venv __pycache__ .pytest_cache",
        goal: None,
    },
];

/// Work that changes many files, below `reflex watch`.
const CHANGES: &[Work] = &[
    Work {
        name: "deleting 5,000 files",
        needs: &[],
        fetch: ":",
        prepare: "mkdir d && cd d && seq 5000 | split -l 1 -a 4",
        run: "rm -r d",
        goal: Some(3.0),
    },
    Work {
        name: "unpacking 5,000 files",
        needs: &["tar"],
        fetch: ":",
        prepare: "mkdir d && (cd d && seq 5000 | split -l 1 -a 4) && tar cf d.tar d && rm -r d",
        run: "tar xf d.tar",
        goal: Some(1.5),
    },
    Work {
        name: "unpacking over 5,000 files",
        needs: &["tar"],
        fetch: ":",
        prepare: "mkdir d && (cd d && seq 5000 | split -l 1 -a 4) && tar cf d.tar d",
        run: "tar xf d.tar",
        goal: None,
    },
    Work {
        name: "`git checkout` of 1,500 files",
        needs: &["git"],
        fetch: ":",
        prepare: "seq 1500 | split -l 1 -a 4 && git add -A && git commit -qm one && git checkout -qb other && \
                  for f in x*; do echo more >> $f; done && git commit -qam two",
        run: "git checkout -q main",
        goal: Some(1.5),
    },
    Work {
        name: "`cargo check` of this project's shell grammar",
        needs: &["cargo"],
        fetch: ":",
        prepare: "cp -r \"$REFLEX/Cargo.toml\" \"$REFLEX/Cargo.lock\" \"$REFLEX/crates\" \"$REFLEX/dev\" \"$REFLEX/xtask\" . && \
                  echo target > .gitignore && git add -A && git commit -qm one",
        run: "cargo check -q --offline -p reflex-shell",
        goal: Some(1.1),
    },
    Work {
        name: "`npm ci` of 40 packages",
        needs: &["npm"],
        fetch: ":",
        prepare: "mkdir package p && for i in $(seq 40); do \
                  echo \"{\\\"name\\\":\\\"p$i\\\",\\\"version\\\":\\\"1.0.0\\\"}\" > package/package.json && \
                  (cd package && seq 50 | split -l 1) && tar czf p/$i.tgz package; done && rm -r package && \
                  echo '{\"name\":\"a\",\"version\":\"1.0.0\"}' > package.json && \
                  npm install --silent --offline --no-audit ./p/*.tgz",
        run: "npm ci --silent --offline --no-audit",
        goal: Some(1.1),
    },
    Work {
        name: "`cc` of 20 files",
        needs: &["cc"],
        fetch: ":",
        prepare: "for i in $(seq 20); do echo \"#include <stdio.h>\" > $i.c; echo \"int f$i(void){return puts(\\\"\\\");}\" >> $i.c; done",
        run: "for i in $(seq 20); do cc -O2 -c $i.c; done",
        goal: Some(1.1),
    },
];

/// The guard above a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Supervisor,
    Watch,
}

/// The figures of one piece of work.
struct Measured {
    plain: Duration,
    guarded: Duration,
    starts: usize,
    refused: usize,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.guarded.as_secs_f64() / self.plain.as_secs_f64().max(f64::EPSILON)
    }
}

/// Measures all work and writes the page.
pub fn write(project: &Project) -> Result<()> {
    let Some(Lines { supervised, watched }) = play(project, ROUNDS)? else { return Ok(()) };
    let page = format!(
        "# Supervised runs: figures\n\nWritten by `cargo xtask supervise`, which plays this work plainly and below \
         `reflex run --supervise` in turns, {ROUNDS} times each, and compares the fastest of each. With `--check` it is \
         played once, and a refused start is a failure. [What supervision is](../supervise.md).\n\n\
         | work | starts | refused | plain | supervised | factor | goal |\n|---|---|---|---|---|---|---|\n{supervised}\n\
         Below `reflex watch`, which keeps what is deleted or changed ([undo](../undo.md#watched-runs)):\n\n\
         | work | plain | watched | factor | goal |\n|---|---|---|---|---|\n{watched}"
    );
    fs::write(project.root.join(PAGE), page).with_context(|| format!("cannot write `{PAGE}`"))
}

/// Plays all work once below the supervisor; fails if anything of it is refused.
pub fn check(project: &Project) -> Result<()> {
    play(project, 1).map(drop)
}

/// The lines of both tables.
struct Lines {
    supervised: String,
    watched: String,
}

/// One line of a table for each piece of work; `None` if this system cannot supervise.
fn play(project: &Project, rounds: usize) -> Result<Option<Lines>> {
    let release = release::build(project)?;
    let ground = Ground::new(project, release.binary)?;
    if let Err(why) = succeed(ground.at_home(ground.supervised().args(["--check", "--", "true"]))) {
        println!("skip  supervised work: {why:#}");
        return Ok(None);
    }
    let mut lines = Lines { supervised: String::new(), watched: String::new() };
    let mut refused = 0;
    let works = WORK.iter().map(|work| (work, Above::Supervisor));
    for (work, above) in works.chain(CHANGES.iter().map(|work| (work, Above::Watch))) {
        let is_missing = |program: &&&str| succeed(ground.at_home(Command::new(program).arg("--version"))).is_err();
        if let Some(missing) = work.needs.iter().find(is_missing) {
            println!("skip  {}: `{missing}` is missing", work.name);
            continue;
        }
        if let Err(why) = ground.fetch(work) {
            println!("skip  {}: {why:#}", work.name);
            continue;
        }
        let measured = step(work.name, || ground.measure(work, above, rounds))?;
        refused += measured.refused;
        let goal = work.goal.map(|goal| format!("≤ {goal}")).unwrap_or_default();
        let Measured { plain, guarded, starts, refused, .. } = &measured;
        let times =
            format!("{} ms | {} ms | {:.2} | {goal} |", plain.as_millis(), guarded.as_millis(), measured.ratio());
        let _ = match above {
            Above::Supervisor => writeln!(lines.supervised, "| {} | {starts} | {refused} | {times}", work.name),
            Above::Watch => writeln!(lines.watched, "| {} | {times}", work.name),
        };
    }
    print!("{}{}", lines.supervised, lines.watched);
    ensure!(refused == 0, "{refused} starts of ordinary work were refused");
    Ok(Some(lines))
}

/// A throw-away home outside of folders for temporary files, which are judged more mildly.
struct Ground {
    /// This project.
    root: PathBuf,
    folder: PathBuf,
    reflex: PathBuf,
    /// Number of runs so far.
    runs: Cell<usize>,
}

impl Ground {
    fn new(project: &Project, binary: PathBuf) -> Result<Ground> {
        let folder = project.target.join("supervised");
        let failed = || format!("cannot prepare `{}`", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(failed)?;
        }
        fs::create_dir_all(folder.join("home")).with_context(failed)?;
        Ok(Ground { root: project.root.clone(), folder, reflex: binary, runs: Cell::new(0) })
    }

    /// The start of a supervised run, before its `--`.
    fn supervised(&self) -> Command {
        let mut command = self.reflex("run");
        command.arg("--supervise");
        command
    }

    fn reflex(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.reflex);
        command.arg("--home").arg(self.folder.join("home")).arg(subcommand);
        command
    }

    fn fetch(&self, work: &Work) -> Result<()> {
        let mut shell = Command::new("sh");
        succeed(self.at_home(shell.args(["-c", work.fetch]))).map(drop)
    }

    /// Gives a command the throw-away home, and the user's Rust.
    fn at_home<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let user = env::var_os(TOOLS_HOME).map(PathBuf::from).or_else(env::home_dir).unwrap_or_default();
        for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(variable, env::var_os(variable).unwrap_or_else(|| user.join(folder).into()));
        }
        for variable in XDG {
            command.env_remove(variable);
        }
        command.env_remove("CARGO_TARGET_DIR").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.folder.join("home"));
        command.env("FETCHED", self.folder.join("fetched")).env("REFLEX", &self.root)
    }

    fn measure(&self, work: &Work, above: Above, rounds: usize) -> Result<Measured> {
        let (mut plain, mut guarded) = (Duration::MAX, Duration::MAX);
        let (mut starts, mut refused) = (0, 0);
        for _ in 0..rounds {
            let mut shell = Command::new("sh");
            shell.args(["-c", work.run]);
            plain = plain.min(self.timed(work, shell)?.0);
            let mut run = match above {
                Above::Supervisor => self.supervised(),
                Above::Watch => self.reflex("watch"),
            };
            run.args(["--", "sh", "-c", work.run]);
            let (time, output) = self.timed(work, run)?;
            guarded = guarded.min(time);
            if above == Above::Supervisor {
                (starts, refused) = summary(&output).with_context(|| format!("no summary: {output}"))?;
            }
        }
        Ok(Measured { plain, guarded, starts, refused })
    }

    /// Runs a command in a new repository. Returns its time and its standard error.
    fn timed(&self, work: &Work, mut command: Command) -> Result<(Duration, String)> {
        // A new one each time: git may still tidy up in the last one.
        let number = self.runs.get();
        self.runs.set(number + 1);
        let repository = self.folder.join(format!("home/shop-{number}"));
        fs::create_dir_all(&repository).with_context(|| format!("cannot make `{}`", repository.display()))?;
        let prepare = format!(
            "git init -q -b main . && git config user.email a@b.example && git config user.name a && {{ {}; }}",
            work.prepare
        );
        succeed(self.at_home(Command::new("sh").args(["-c", &prepare]).current_dir(&repository)))?;
        self.at_home(&mut command).current_dir(&repository).stdin(std::process::Stdio::null());
        let begun = Instant::now();
        let output = command.output().with_context(|| format!("{} cannot be started", work.name))?;
        let time = begun.elapsed();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "{}: {errors}", work.name);
        Ok((time, errors))
    }
}

/// The starts and the refused ones in the last line of a run: `reflex: 502 calls: 0 stopped, 0 asked, …`.
fn summary(output: &str) -> Option<(usize, usize)> {
    let line = output.lines().rev().find(|line| line.contains(" stopped, "))?;
    let numbers = line.split(|ch: char| !ch.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    Some((*numbers.first()?, numbers.get(1)? + numbers.get(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_a_run_is_read() {
        let line =
            "x\nreflex: 502 calls: 1 stopped, 2 asked, 0 approved, 4 kept; 0 files changed. More: `reflex report`\n";
        assert_eq!(summary(line), Some((502, 3)));
        assert_eq!(summary("reflex: x"), None);
    }
}
