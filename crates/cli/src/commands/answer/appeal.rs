//! `reflex appeal ID --because …`: judges a refused call again. An agent only asks with it; a person decides.

use crate::commands::answer::approve::{View, length, preview_and_give};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::{Decision, Judgement};
use reflex_host::answers::once;
use reflex_host::person::at_terminal;
use reflex_host::store::approvals::{Grant, Pending};
use reflex_host::{Appeal, Context, Host, MAX_APPEALS, Mode};
use serde_json::json;

/// Name of a caller that has not been shown to be a person.
const AGENT: &str = "agent";

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let (id, because) = (text(matches, "id"), text(matches, "because"));
    let Some(pending) = host.store().pending_call(id) else {
        complain(&format!("no pending call `{}` (see `reflex pending`)", visible(id)));
        return exit_code::FOUND;
    };
    if because.trim().is_empty() {
        complain("say what the call is for with --because");
        return exit_code::USAGE;
    }
    let person = at_terminal().ok();
    let now = host.judge_again(&pending);
    let by = person.as_ref().map_or(AGENT, |person| person.name.as_str());
    let appeal = match host.store().appeal(pending.clone(), by, because, now.as_ref()) {
        Ok(Some(appeal)) => appeal,
        Ok(None) => {
            complain(&format!("this call was appealed against {MAX_APPEALS} times already; a person decides"));
            return exit_code::FOUND;
        }
        Err(error) => {
            complain(&format!("not done, because it cannot be logged: {error}"));
            return exit_code::INTERNAL;
        }
    };
    if matches.get_flag("json") {
        let output = json!({"schema": "reflex/appeal-v1", "pending": pending.id, "record": pending.record,
            "was": pending.decision, "appeal": appeal.json()});
        print_json(&output.to_string());
    } else {
        report(&pending, &appeal, now.as_ref());
    }
    let passes = now.is_some_and(|now| now.verdict.decision == Decision::Pass);
    match person {
        _ if passes => exit_code::OK,
        Some(person) if !matches.get_flag("json") => {
            decide(&host, &pending, &once(&pending, &person, because), matches)
        }
        Some(_) | None => exit_code::ASK,
    }
}

/// Prints the earlier decision, the current one and the next step.
fn report(pending: &Pending, appeal: &Appeal, now: Option<&Judgement>) {
    let was = word(&pending.decision);
    let Some(now) = now else {
        print(&format!("it was {was}; not all of it is kept, so it cannot be judged again"));
        return wait(appeal);
    };
    if now.verdict.decision == Decision::Pass {
        print(&format!("it was {was}, but it may run now: try the same call again"));
        return;
    }
    print(&format!("it was {was}, and now it is {}", word(&appeal.now)));
    now.verdict.reasons.iter().for_each(|reason| print(&format!("    why  {}", visible(&reason.brief()))));
    wait(appeal);
}

fn wait(appeal: &Appeal) {
    if appeal.by == AGENT {
        print("the request is in `reflex pending`; continue with something else, or end your turn and tell the user");
    }
}

fn word(decision: &str) -> &'static str {
    match decision {
        "deny" => "blocked",
        "ask" => "asked about",
        "pass" => "allowed",
        _ => "not judged",
    }
}

/// Shows the call to the person and asks, like `reflex approve`.
fn decide(host: &Host, pending: &Pending, grant: &Grant, matches: &ArgMatches) -> u8 {
    let view = if matches.get_flag("full") { View::Full } else { View::Short };
    let approved = length(matches, grant.scope).and_then(|length| {
        let grant = Grant { expires: grant.time + length, ..grant.clone() };
        let store = host.store();
        preview_and_give(&store, (pending, &grant), view, &mut Consent::each(&store))
    });
    match approved {
        Ok(true) => exit_code::OK,
        Ok(false) => {
            print("nothing changed");
            exit_code::ASK
        }
        Err(problem) => problem.report(),
    }
}
