//! `reflex watch`: runs one command, and keeps what it deletes or changes.

use crate::commands::setup::supervise::{changes_in_words, check_store, run_within};
use crate::exit_code;
use crate::terminal::output::complain;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::{Context, Mode, WatchedRun};
use reflex_supervise::{Scope, probe};
use std::process::Command;
use std::sync::Arc;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let words: Vec<String> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let Some((program, arguments)) = words.split_first() else { return exit_code::USAGE };
    if let Err(why) = probe() {
        complain(&format!("not started: {why}"));
        return exit_code::FOUND;
    }
    if let Err(error) = check_store(context) {
        return error.report();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let run = Arc::new(WatchedRun::new(context.host(Mode::default()), None, &here.to_string_lossy(), &words));
    let ended = run_within(Command::new(program).args(arguments), &Scope::Files(Arc::clone(&run) as _));
    let changes = run.finish();
    match ended {
        Ok(code) => {
            changes_in_words(&changes).iter().for_each(|line| complain(line));
            code
        }
        Err(error) => {
            complain(&format!("{}: {error}", visible(program)));
            exit_code::INTERNAL
        }
    }
}
