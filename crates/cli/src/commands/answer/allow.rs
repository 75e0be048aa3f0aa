//! `reflex allow ID`: turns a recurring prompt into a rule. The rule is shown as it will appear in the policy, and
//! written after a yes.

use crate::commands::answer::policy_line::{self, Line, Section, WRITTEN, report};
use crate::commands::answer::proposal::{Proposal, key_and_command, last_day};
use crate::commands::history::why;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::print;
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::{Context, Host, Mode};

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let id = text(matches, "id");
    let Some(person) = person(&host.store(), "allow", id) else { return exit_code::FOUND };
    let written = line(&host, matches).and_then(|line| policy_line::add(&host, &line, &person));
    report(written, WRITTEN)
}

fn line(host: &Host, matches: &ArgMatches) -> Result<Line, Error> {
    let id = text(matches, "id");
    let in_project = matches.get_flag("project");
    let record = why::record(host, id).ok_or_else(|| Error::NoDecision(id.to_owned()))?;
    let ((workspace, rule, _), command) = key_and_command(&record).map_err(Error::NoEntry)?;
    let exact = Proposal::exact(&command, &rule);
    let class = || {
        let judgement = host.judge_again(&host.store().pending_call(id)?)?;
        exact.clone().of_class(&judgement, &workspace)
    };
    let proposal = if matches.get_flag("exact") { None } else { class() };
    let mut proposal = proposal.unwrap_or_else(|| exact.clone());
    proposal.reason = match text(matches, "reason").trim() {
        "" => format!("allowed by {id}"),
        reason => reason.to_owned(),
    };
    if let Some(day) = matches.get_one::<String>("until") {
        proposal.until = last_day(day)?;
    }
    if in_project {
        proposal.within = String::new();
    }
    print(&visible(&format!("This allows {}.", proposal.sentence())));
    if proposal.argv != exact.argv {
        print("`--exact` allows this command alone.");
    }
    Ok(Line::new(Section::Allow, &proposal.yaml(), id, (workspace, in_project)))
}
