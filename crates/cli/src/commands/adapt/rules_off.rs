//! `reflex rules off ID --reason WHY`: a person switches one rule off in their policy, or in the project's.

use crate::commands::answer::policy_line::{self, Line, Section, report};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::complain;
use crate::terminal::person::person;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::Host;

/// A rule from the list of rules.
pub(in crate::commands) struct Known<'r> {
    pub(in crate::commands) id: &'r str,
    pub(in crate::commands) tier: &'r str,
}

pub(in crate::commands) fn run(host: &Host, matches: &ArgMatches, rule: Known<'_>) -> u8 {
    let (reason, in_project) = (text(matches, "reason").trim(), matches.get_flag("project"));
    if reason.is_empty() {
        complain("--reason says why the rule is off; it is shown with every call that the rule would have stopped");
        return exit_code::USAGE;
    }
    if in_project && rule.tier == "core" {
        complain("a project cannot switch a core rule off; leave out --project to do it in your own policy");
        return exit_code::USAGE;
    }
    let Some(person) = person(&host.store(), "rules off", rule.id) else { return exit_code::FOUND };
    let workspace = host.placed(Event::default()).workspace;
    let entry = policy_line::off(rule.id, reason);
    let line = Line::new(Section::Rules, &entry, rule.id, (workspace, in_project));
    report(policy_line::add(host, &line, &person), "written; this rule stops nothing from now on")
}
