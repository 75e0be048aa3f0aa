//! `reflex rules off ID --reason WHY`: a person switches one rule off in their policy, or in the project's.

use super::allow::told;
use super::policy_line::{self, Line, Section};
use crate::status;
use crate::terminal::arguments::text;
use crate::terminal::output::complain;
use crate::terminal::person::person;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::Host;

/// A rule from the list of rules.
pub(super) struct Known<'r> {
    pub(super) id: &'r str,
    pub(super) tier: &'r str,
}

pub(super) fn run(host: &Host, matches: &ArgMatches, rule: Known<'_>) -> u8 {
    let (reason, in_project) = (text(matches, "reason").trim(), matches.get_flag("project"));
    if reason.is_empty() {
        complain("--reason says why the rule is off; it is shown with every call that the rule would have stopped");
        return status::USAGE;
    }
    if in_project && rule.tier == "core" {
        complain("a project cannot switch a core rule off; leave out --project to do it in your own policy");
        return status::USAGE;
    }
    let Some(person) = person(&host.store(), "rules off", rule.id) else { return status::FOUND };
    let workspace = host.placed(Event::default()).workspace;
    let entry = policy_line::off(rule.id, reason);
    let line = Line::new(Section::Rules, &entry, rule.id, (workspace, in_project));
    told(policy_line::add(host, &line, &person), "written; this rule stops nothing from now on")
}
