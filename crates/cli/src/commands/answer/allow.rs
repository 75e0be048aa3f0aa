//! `reflex allow ID`: turns a recurring prompt into a rule. The rule is shown as it will appear in the policy, and
//! written after a yes.

use crate::commands::answer::policy_line::{self, Line, Section};
use crate::commands::answer::suggest::key_and_command;
use crate::commands::history::why;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::{Host, Mode};
use serde_json::json;

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    let host = Host::new(Mode::default());
    let id = text(matches, "id");
    let Some(person) = person(&host.store(), "allow", id) else { return exit_code::FOUND };
    let written = line(&host, matches).and_then(|line| policy_line::add(&host, &line, &person));
    report(written, "written; calls like this run without a question from now on")
}

/// Reports whether the line was written; returns the exit status.
pub(in crate::commands) fn report(written: Result<bool, String>, done: &str) -> u8 {
    match written {
        Ok(true) => {
            print(done);
            exit_code::OK
        }
        Ok(false) => {
            print("not written");
            exit_code::FOUND
        }
        Err(problem) => {
            complain(&visible(&problem));
            exit_code::FOUND
        }
    }
}

fn line(host: &Host, matches: &ArgMatches) -> Result<Line, String> {
    let id = text(matches, "id");
    let record = why::record(host, id).ok_or_else(|| format!("no decision `{id}` in the audit log"))?;
    let ((workspace, rule, _), command) = key_and_command(&record)
        .ok_or("only a plain command that one rule asked about can be allowed, and nothing that a core rule stopped")?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let reason = match text(matches, "reason").trim() {
        "" => format!("allowed by {id}"),
        reason => reason.to_owned(),
    };
    let entry = json!({"argv": words, "rule": rule, "reason": reason}).to_string();
    Ok(Line::new(Section::Allow, &entry, id, (workspace, matches.get_flag("project"))))
}
