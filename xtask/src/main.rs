//! Development and CI tasks: checks, all tests, the real clients, the speed report.

mod agent_pages;
mod docs;
mod package;
mod portable;
mod reference;
mod suite;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use bench::{adapters, layout, linear, supervise};
use bindings::recipes;
use signal_hook::consts::SIGINT;
use tasks::project::Project;
use tasks::steps::{self, step, succeed};
use tasks::{hermetic, page, release};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  check             the inner loop: format, lints, quick tests
  test              everything that needs no network: format, lints, all tests, documentation, dependencies
  clients [--binary FILE] [NAME…]
                    build the release, or take FILE, and play the cases of the real clients, or those named (`codex`, `codex/denied`)
  attacks           build the release and play the frozen attacks on the guard: no figure may get worse; with UPDATE=1 write
                    them and docs/reference/attacks.md
  page [--check]    build the page from ui/, play it in Chromium and take the manual's pictures;
                    with --check what is embedded has to be what ui/ builds, and no picture is taken
  terminal          take a picture of every command at 80 and 120 columns, dark and light, in `terminal/` of the target
                    folder, write the README's recording, and fail if a line breaks inside a word or is too long
  bindings          build the packages for Node.js and Python, install them into empty folders and test them there
  recipes           run examples/ with the packages of `bindings`, the real SDKs and a scripted model
  supervise [--check]
                    play builds and tests below `reflex run --supervise` beside a plain run and write
                    docs/reference/supervise.md; with --check once, and fail if anything of it is refused
  portable [TARGET…]
                    check that everything compiles for Linux, macOS and, as far as it goes, Windows
  release           build the binary that people get, with what a hook call runs side by side
  order             count which functions a call runs and write crates/cli/order.ld, by which releases are linked
  package [TARGET…]
                    build what people install, for this machine or for these targets: archive, wheel, npm packages,
                    installer and checksums, in `dist/` of the target folder
  bench [--binary FILE] [--check]
                    build the release, or take FILE, measure it and write docs/reference/speed.md;
                    with --check compare the instructions with that page and write nothing
  bench [--binary FILE] mcp|calls
                    measure MCP servers alone, or the calls, the agents and the states, and write that part of the page
  score [--check]   judge the development corpora and write docs/reference/quality.md;
                    with --check hold every case against that page, with --rules only write dev/score/fired.txt
  prose             look for translated constructions in comments and messages; with UPDATE=1 write smaller counts
  shape             count string errors, long closures, tuple parameters and more; dev/shape/shape.txt says what may be there;
                    with UPDATE=1 write smaller counts
  docs              write the pages that come from data: docs/reference/rules.md, agents.md and the schemas
  adapters          count what it costs to read and answer a payload of each agent, write docs/reference/adapters.md
  linear [--binary FILE] [--check]
                    build the release, or take FILE, count its instructions at four sizes of many constructs and for inputs
                    of up to a megabyte, and write docs/reference/limits.md;
                    with --check count some of them, compare them with that page and write nothing
  linear [--binary FILE] inputs
                    measure the inputs of up to a megabyte alone and write that section of the page
";

/// Exit status after an interrupt, as shells report it.
const INTERRUPTED: i32 = 130;

/// Exit status for an unknown command line, as in sysexits.
const WRONG_USAGE: u8 = 64;

fn main() -> ExitCode {
    handle_interrupts();
    run()
}

/// A shell ignores interrupts for what it starts in the background, and programs inherit that. As this program has a
/// handler, those that it starts have the default, which tests of interrupts expect.
fn handle_interrupts() {
    let is_to_end = Arc::new(AtomicBool::new(true));
    if let Err(error) = signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED, is_to_end) {
        eprintln!("interrupts are left as they are: {error}");
    }
}

fn run() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let start = Instant::now();
    let (binary, command) = without_binary(&words);
    let done = match command.as_slice() {
        ["check"] => project().and_then(|project| check(&project)),
        ["test"] => project().and_then(|project| test(&project)),
        // Started inside a hostile home, see `hermetic`.
        [hermetic::ENCLOSED, reflex, words @ ..] => hermetic::enclosed(reflex, words),
        [TESTS, selection @ ..] => project().and_then(|project| run_tests(&project, selection)),
        ["bench", part @ ..] if matches!(part, [] | [bench::MCP | bench::CALL_PARTS]) => {
            project().and_then(|project| bench::write(&project, binary, part))
        }
        ["release"] => project().and_then(|project| release::build(&project)).map(|release| {
            println!("{}", release.binary.display());
        }),
        ["order"] => project().and_then(|project| layout::write(&project)),
        ["package", triples @ ..] => project().and_then(|project| package::run(&project, triples)),
        ["score"] => project().and_then(|project| score::write(&project)),
        ["score", "--rules"] => project().and_then(|project| score::rank_rules(&project)),
        ["score", "--check"] => hermetic_release(&words, score::check),
        ["attacks"] => hermetic_release(&words, attacks),
        [name @ ("prose" | "shape")] => project().and_then(|project| beside(&project, name)).map(|out| print!("{out}")),
        ["docs"] => project().and_then(|project| reference::write(&project)),
        ["adapters"] => project().and_then(|project| adapters::write(&project)),
        // Started by the command above, under callgrind.
        ["adapter", agent, file, rounds] => adapters::work(agent, Path::new(file), rounds),
        ["page"] => project().and_then(|project| page::write(&project)),
        ["page", "--check"] => hermetic_release(&words, page::check),
        ["terminal"] => project().and_then(|project| page::terminal(&project)),
        ["bindings"] => project().and_then(|project| bindings::check(&project)),
        ["recipes"] => project().and_then(|project| recipes::check(&project)),
        ["supervise"] => project().and_then(|project| supervise::write(&project)),
        ["supervise", "--check"] => hermetic_release(&words, supervise::check),
        ["portable", names @ ..] => project().and_then(|project| portable::check(&project, names)),
        ["linear"] => project().and_then(|project| linear::write(&project, binary)),
        ["linear", "inputs"] => project().and_then(|project| linear::write_inputs(&project, binary)),
        ["linear", "--check"] => hermetic_of(binary, &words, |project| linear::check(project, binary)),
        ["bench", "--check"] => hermetic_of(binary, &words, |project| bench::check(project, binary)),
        #[cfg(unix)]
        // Started by the clients.
        ["mcp"] => {
            clients::serve_mcp();
            Ok(())
        }
        #[cfg(unix)]
        ["clients", "--binary", binary, names @ ..] => {
            project().and_then(|project| clients::run(&project.root, Path::new(binary), &owned(names)))
        }
        ["clients", names @ ..] if names.iter().all(|name| !name.starts_with('-')) => {
            hermetic_release(&words, |project| play_clients(project, names))
        }
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(WRONG_USAGE);
        }
    };
    report(done, start)
}

/// The file that `--binary` names, for the commands that measure, and the other words.
fn without_binary<'a>(words: &[&'a str]) -> (Option<&'a Path>, Vec<&'a str>) {
    match words {
        [command @ ("bench" | "linear"), "--binary", file, rest @ ..] => {
            (Some(Path::new(*file)), [*command].into_iter().chain(rest.iter().copied()).collect())
        }
        [command @ ("bench" | "linear"), "--check", "--binary", file] => {
            (Some(Path::new(*file)), vec![*command, "--check"])
        }
        _ => (None, words.to_vec()),
    }
}

/// Prints the duration of a task or its problem.
fn report(done: Result<()>, start: Instant) -> ExitCode {
    match done {
        Ok(()) => {
            // The client of a test server may have closed the pipe.
            let _ = writeln!(io::stdout(), "done in {}", steps::duration(start.elapsed()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command that runs test executables; `test` and `check` start it in a hostile home.
const TESTS: &str = "tests";

/// Runs a suite that uses the release in a hostile home, if this machine supports it.
fn hermetic_release(words: &[&str], suite: impl FnOnce(&Project) -> Result<()>) -> Result<()> {
    hermetic_of(None, words, suite)
}

/// The same with the program in a file, if one is given.
fn hermetic_of(binary: Option<&Path>, words: &[&str], suite: impl FnOnce(&Project) -> Result<()>) -> Result<()> {
    let project = project()?;
    let release = release::given_or_built(&project, binary)?;
    if hermetic::play(&project, &release.binary, words)? { Ok(()) } else { suite(&project) }
}

fn logs(project: &Project) -> PathBuf {
    project.target.join("test-logs")
}

fn project() -> Result<Project> {
    Project::of_environment()
}

fn check(project: &Project) -> Result<()> {
    format_and_lints(project)?;
    // Most changes break examples of the library, so these belong to the inner loop.
    let quick = ["--workspace", "--lib", "--bins", "--test", "all", "--", "house", "library"];
    tests(project, "quick tests", &quick)?;
    doc_tests(project)
}

fn test(project: &Project) -> Result<()> {
    format_and_lints(project)?;
    // Fast checks run first.
    step("rustdoc", || {
        let mut rustdoc = project.cargo(&["doc", "--workspace", "--no-deps", "--locked", "--document-private-items"]);
        succeed(rustdoc.env("RUSTDOCFLAGS", "-D warnings")).map(drop)
    })?;
    step("documentation", || docs::check(project))?;
    dependencies(project)?;
    doc_tests(project)?;
    tests(project, "tests", &["--workspace"])
}

fn doc_tests(project: &Project) -> Result<()> {
    step("examples in comments", || {
        succeed(&mut project.cargo(&["test", "--workspace", "--locked", "--doc"])).map(drop)
    })
}

fn run_tests(project: &Project, selection: &[&str]) -> Result<()> {
    suite::run(suite::build(project, selection)?, &[], &logs(project))
}

fn tests(project: &Project, name: &str, selection: &[&str]) -> Result<()> {
    let executables = step(&format!("build of {name}"), || suite::build(project, selection))?;
    let words: Vec<&str> = [TESTS].into_iter().chain(selection.iter().copied()).collect();
    step(name, || {
        let is_played = hermetic::play(project, &project.target.join("debug/reflex"), &words)?;
        if is_played { Ok(()) } else { suite::run(executables, &[], &logs(project)) }
    })
}

/// Thousands of calls: an unoptimized build would take three times as long as all other tests together.
fn attacks(project: &Project) -> Result<()> {
    let release = release::build(project)?;
    let executables = suite::build(project, &["--package", "reflex-guard", "--test", "all", "--", "attacks"])?;
    step("attacks", || {
        let executables = executables.into_iter().map(|executable| executable.with("REFLEX_BINARY", &release.binary));
        suite::run(executables.collect(), &["--ignored"], &logs(project))
    })
}

/// Runs a program of `dev/` on the checkout and returns what it prints.
fn beside(project: &Project, name: &str) -> Result<String> {
    let mut cargo = project.cargo(&["run", "--quiet", "--locked", "--package", name, "--"]);
    succeed(cargo.arg(&project.root))
}

fn format_and_lints(project: &Project) -> Result<()> {
    step("format", || succeed(&mut project.cargo(&["fmt", "--all", "--check"])).map(drop))?;
    step("prose", || beside(project, "prose")).map(|out| print!("{out}"))?;
    step("shape", || beside(project, "shape"))?;
    step("lock files", || lock_files(project))?;
    step("lints", || {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        succeed(&mut project.cargo(&clippy)).map(drop)
    })
}

/// The workspaces beside the main one use its crates, so a new dependency of those makes their lock files stale. They
/// are built far less often than the main one.
fn lock_files(project: &Project) -> Result<()> {
    let is_current = |folder: &str, more: &[&str]| {
        let mut cargo = project.cargo(&["update", "--quiet", "--workspace", "--locked"]);
        succeed(cargo.args(more).current_dir(project.root.join(folder))).map(drop)
    };
    ["bindings", "fuzz"].into_iter().try_for_each(|folder| {
        // The index is asked only for what this machine has never seen.
        is_current(folder, &["--offline"])
            .or_else(|_| is_current(folder, &[]))
            .with_context(|| format!("`cargo update --workspace` in {folder}/ updates its lock file"))
    })
}

/// Advisories are skipped, because their database would have to be downloaded.
fn dependencies(project: &Project) -> Result<()> {
    let is_installed = succeed(&mut project.cargo(&["deny", "--version"])).is_ok();
    if !is_installed && std::env::var_os("CI").is_none() {
        println!("skip  dependencies: `cargo install --locked cargo-deny` brings the tool; CI insists on it");
        return Ok(());
    }
    step("dependencies", || succeed(&mut project.cargo(&["deny", "check", "licenses", "bans", "sources"])).map(drop))
}

#[cfg(unix)]
fn play_clients(project: &Project, names: &[&str]) -> Result<()> {
    let release = release::build(project)?;
    clients::run(&project.root, &release.binary, &owned(names))
}

#[cfg(unix)]
fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(not(unix))]
fn play_clients(_project: &Project, _names: &[&str]) -> Result<()> {
    anyhow::bail!("the client cases run on Unix only")
}
