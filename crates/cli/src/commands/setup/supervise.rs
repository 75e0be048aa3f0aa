//! `reflex run --supervise` and `--watch`: starts a program, judges every program that starts below it, and keeps what
//! they lose.

use crate::error::Error;
use crate::foreground::{self, Wait};
use crate::terminal::output::complain;
use clap::ArgMatches;
use reflex_agents::Agent;
use reflex_host::state_folder::obstacle;
use reflex_host::{Context, Counts, Mode, RunChanges, Starts, WatchedRun};
use reflex_supervise::{ProbeError, Scope, Supervision, is_below_supervisor, occupied, probe};
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

/// Time after which a person learns why the command has not returned.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time that no run lasts.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The way in which a program is started with `--supervise` or `--watch`.
pub(super) enum Supervisor {
    /// By this process.
    Own(Sight),
    /// By a run above this one.
    Above,
    /// This system cannot supervise, for this reason; the person accepts that.
    Absent(ProbeError),
}

/// The program of a run.
pub(super) struct Started<'a> {
    pub(super) agent: Option<&'static Agent>,
    /// The agent's name, or that of the program.
    pub(super) name: &'a str,
    /// The program with its arguments.
    pub(super) words: &'a [String],
    /// The mode that tightens this session, if one was named.
    pub(super) mode: Option<&'a str>,
}

/// The calls of a process tree that are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// Changes to files.
    Files,
    /// Those and starts of programs.
    All,
}

/// The supervisor that was asked for, if any.
///
/// # Errors
/// This system cannot supervise, or the supervisor could not keep files.
pub(super) fn wanted(context: &Context, matches: &ArgMatches) -> Result<Option<Supervisor>, Error> {
    let sight = match (matches.get_flag("supervise"), matches.get_flag("watch")) {
        (true, _) => Sight::All,
        (false, true) => Sight::Files,
        (false, false) => return Ok(None),
    };
    match probe() {
        Ok(()) => check_store(context).map(|()| Some(Supervisor::Own(sight))),
        Err(_) if is_below_supervisor() => Ok(Some(Supervisor::Above)),
        Err(why) if matches.get_flag("best-effort") => Ok(Some(Supervisor::Absent(why))),
        Err(why) => Err(Error::Unsupervised(why)),
    }
}

/// Checks that backups can be written, because a run that is said to keep what it destroys must be able to.
///
/// # Errors
/// The state folder cannot be written.
pub(super) fn check_store(context: &Context) -> Result<(), Error> {
    let consequence = "not started, because no backup could be written";
    obstacle(context.folders()).map_or(Ok(()), |trouble| Err(Error::StateFolder { trouble, consequence }))
}

impl Supervisor {
    /// Whether starts are judged.
    pub(super) fn judges(&self) -> bool {
        match self {
            Supervisor::Own(Sight::All) | Supervisor::Above => true,
            Supervisor::Own(Sight::Files) | Supervisor::Absent(_) => false,
        }
    }

    /// The enforcement of this run, in one line.
    pub(super) fn banner(&self, title: &str) -> String {
        match self {
            Supervisor::Own(Sight::All) => format!(
                "supervised: every program that {title} starts is judged, and what it deletes or changes is kept; what a \
                 running program reads and sends is not seen"
            ),
            Supervisor::Own(Sight::Files) => {
                format!("watched: what {title} and the programs below it delete or change is kept")
            }
            Supervisor::Above => "supervised by the run above: it judges every program that starts here".into(),
            Supervisor::Absent(why) => {
                format!(
                    "NOT supervised: {why}. Programs that {title} starts are judged only as far as its hooks see them"
                )
            }
        }
    }

    /// Runs the program to its end and returns its status as a shell would.
    pub(super) fn run(
        &self,
        context: &Context,
        command: &mut Command,
        Started { agent, name, words, mode }: &Started<'_>,
    ) -> io::Result<u8> {
        let Supervisor::Own(sight) = self else { return foreground::through(command, &foreground::plainly) };
        let folder = std::env::current_dir()?;
        let folder = folder.to_string_lossy();
        let host = || context.clone().patient(|_| occupied()).host(Mode::of_session(*mode));
        let watch = Arc::new(WatchedRun::new(host(), agent.map(|agent| agent.name), &folder, words));
        let judge = (*sight == Sight::All).then(|| Arc::new(Starts::new(host(), name, &folder)));
        let files = Arc::clone(&watch) as _;
        let scope = match &judge {
            Some(judge) => Scope::Both { judge: Arc::clone(judge) as _, watch: files },
            None => Scope::Files(files),
        };
        let ended = run_within(command, &scope);
        changes_in_words(&watch.finish()).iter().for_each(|line| complain(line));
        match judge.map_or(0, |judge| judge.unrecorded()) {
            0 => {}
            count => complain(&format!("{count} starts ran without a record: the log could not be written")),
        }
        ended
    }
}

/// Runs a program and its whole tree to the end, and returns its status as a shell would.
pub(super) fn run_within(command: &mut Command, scope: &Scope) -> io::Result<u8> {
    let start = |command: &mut Command| -> io::Result<(Child, Wait)> {
        let (supervision, child) = Supervision::start(command, scope.clone())?;
        Ok((child, Box::new(move |child: &mut Child| follow_to_the_end(&supervision, child))))
    };
    foreground::through(command, &start)
}

/// Waits for a program, and for what it has left in the background: without this process, that could change no file.
fn follow_to_the_end(supervision: &Supervision, child: &mut Child) -> io::Result<ExitStatus> {
    let status = supervision.wait(child)?;
    if !supervision.tree_ends_within(PATIENCE) {
        foreground::let_signals_end_this();
        complain(
            "it has ended, and left programs in the background that are still watched; Ctrl-C ends the watch, and \
             these programs can change no file from then on",
        );
        supervision.tree_ends_within(FOREVER);
    }
    Ok(status)
}

/// Summarizes the changes of a run, and how to undo them, in lines.
pub(super) fn changes_in_words(changes: &RunChanges) -> Vec<String> {
    let Counts { deleted, replaced, renamed, created, missed } = changes.counts;
    let counted = [
        (deleted, "deleted"),
        (replaced, "changed"),
        (renamed, "renamed"),
        (created, "created"),
        (missed, "LOST without a copy"),
    ];
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let counted: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    let mut lines = Vec::new();
    let back = match changes.kept.as_slice() {
        [] => String::new(),
        [id] => format!("; `reflex undo {id}` restores them"),
        [.., _] => "; `reflex undo` lists them".into(),
    };
    if !counted.is_empty() {
        lines.push(format!("files: {}{back}", counted.join(", ")));
    }
    match changes.missed {
        0 => {}
        1 => lines.push("1 change could not be looked at, so what it lost is not kept".into()),
        missed => lines.push(format!("{missed} changes could not be looked at, so what they lost is not kept")),
    }
    lines.extend(changes.problems.iter().map(|problem| format!("a backup could not be completed yet: {problem}")));
    lines
}
