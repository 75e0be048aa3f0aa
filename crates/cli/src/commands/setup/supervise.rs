//! `reflex run --supervise`: starts a program and judges every program that starts below it.

use crate::foreground::{self, Wait};
use crate::terminal::output::complain;
use clap::ArgMatches;
use reflex_host::{Context, Mode, Starts};
use reflex_supervise::{Scope, Supervision, is_below_supervisor, occupied, probe};
use std::io;
use std::process::{Child, Command};
use std::sync::Arc;

/// The way in which a program is started with `--supervise`.
pub(super) enum Supervisor {
    /// By this process.
    Own,
    /// By a run above this one.
    Above,
    /// This system cannot supervise, for this reason; the person accepts that.
    Absent(String),
}

/// The supervisor that was asked for, if any.
///
/// # Errors
/// This system cannot supervise.
pub(super) fn wanted(matches: &ArgMatches) -> Result<Option<Supervisor>, String> {
    if !matches.get_flag("supervise") {
        return Ok(None);
    }
    match probe() {
        Ok(()) => Ok(Some(Supervisor::Own)),
        Err(_) if is_below_supervisor() => Ok(Some(Supervisor::Above)),
        Err(why) if matches.get_flag("best-effort") => Ok(Some(Supervisor::Absent(why))),
        Err(why) => Err(format!("{why}. `--best-effort` starts it without a supervisor")),
    }
}

impl Supervisor {
    /// Whether starts are judged.
    pub(super) fn judges(&self) -> bool {
        match self {
            Supervisor::Own | Supervisor::Above => true,
            Supervisor::Absent(_) => false,
        }
    }

    /// The enforcement of this run, in one line.
    pub(super) fn banner(&self, title: &str) -> String {
        match self {
            Supervisor::Own => format!(
                "supervised: every program that {title} starts is judged; what a running program does itself is not"
            ),
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
        agent: &str,
        mode: Option<&str>,
    ) -> io::Result<u8> {
        let Supervisor::Own = self else { return foreground::through(command, &foreground::plainly) };
        let folder = std::env::current_dir()?;
        let host = context.clone().patient(|_| occupied()).host(Mode::of_session(mode));
        let judge = Arc::new(Starts::new(host, agent, &folder.to_string_lossy()));
        let start = |command: &mut Command| -> io::Result<(Child, Wait)> {
            let (supervision, child) = Supervision::start(command, Scope::Starts(Arc::clone(&judge) as _))?;
            Ok((child, Box::new(move |child: &mut Child| supervision.wait(child))))
        };
        let ended = foreground::through(command, &start);
        match judge.unrecorded() {
            0 => {}
            count => complain(&format!("{count} starts ran without a record: the log could not be written")),
        }
        ended
    }
}
