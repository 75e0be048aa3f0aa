//! `reflex eval`: judges universal events in a simulated world.

use crate::commands::preview::check::TOO_MUCH;
use crate::exit_code;
use crate::lifeline;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, note};
use clap::ArgMatches;
use reflex_eval::Judge;
use reflex_host::Mode;
use serde_json::Value;
use std::io::{self, BufRead, Write};

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    let Some(judge) = Judge::new(text(matches, "mode"), text(matches, "home")) else {
        complain(&format!("unknown mode `{}`; known: {}", text(matches, "mode"), Mode::names().join(", ")));
        return exit_code::USAGE;
    };
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => {}
            Err(error) => {
                complain(&format!("cannot read the input: {error}"));
                return exit_code::INTERNAL;
            }
        }
        lifeline::watch(TOO_MUCH);
        let verdict = judge.line(&line);
        lifeline::disarm();
        // A caller that sends one line at a time waits for the answer before the next line.
        let written = writeln!(output, "{}", Value::Object(verdict)).and_then(|()| output.flush());
        if written.is_err() {
            note(written);
            return exit_code::OK;
        }
    }
    exit_code::OK
}
