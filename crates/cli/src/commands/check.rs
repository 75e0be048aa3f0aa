//! `reflex check`: what would happen to a command, here and now.

use super::{complain, print, text};
use crate::paint::Paint;
use crate::status;
use clap::ArgMatches;
use reflex_agents::{Agent, universal};
use reflex_engine::{Action, Decision, Event, Judgement, Verdict};
use reflex_host::{Host, Mode};
use serde_json::Value;
use std::path::PathBuf;

/// A command with everything it is judged by.
pub(super) struct Question {
    pub(super) host: Host,
    pub(super) agent: &'static Agent,
    pub(super) event: Event,
}

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let question = match question(matches) {
        Ok(question) => question,
        Err(problem) => {
            complain(&problem);
            return status::USAGE;
        }
    };
    let judgement = question.host.judge(&question.event);
    if matches.get_flag("json") {
        print(&as_json(&judgement.verdict).to_string());
    } else {
        show(&judgement, text(matches, "command"));
    }
    code(judgement.verdict.decision)
}

pub(super) fn question(matches: &ArgMatches) -> Result<Question, String> {
    let mode = text(matches, "mode");
    let mode =
        Mode::named(mode).ok_or_else(|| format!("unknown mode `{mode}`; there are {}", Mode::names().join(", ")))?;
    let agent = text(matches, "agent");
    let agent = reflex_agents::find(agent).ok_or_else(|| format!("unknown agent `{agent}`"))?;
    let cwd = match matches.get_one::<String>("cwd") {
        Some(folder) => existing(folder)?,
        None => std::env::current_dir().map_err(|error| format!("the working directory is not there: {error}"))?,
    };
    let host = Host::new(mode);
    let event = host.placed(Event {
        client: agent.name.into(),
        cwd: cwd.to_string_lossy().into_owned(),
        tool: "Bash".into(),
        actions: vec![Action::Shell { command: text(matches, "command").into() }],
        ..Event::default()
    });
    Ok(Question { host, agent, event })
}

fn existing(folder: &str) -> Result<PathBuf, String> {
    let path = std::path::absolute(folder).map_err(|error| format!("`{folder}`: {error}"))?;
    if path.is_dir() { Ok(path) } else { Err(format!("`{folder}` is no folder")) }
}

fn as_json(verdict: &Verdict) -> Value {
    let mut object = universal::verdict(verdict);
    object.insert("schema".into(), "reflex/verdict-v1".into());
    Value::Object(object)
}

pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict.decision {
        Decision::Deny => "block",
        Decision::Ask => "require_approval",
        Decision::Pass if verdict.advice.is_empty() => "allow",
        Decision::Pass => "warn",
    }
}

pub(super) fn code(decision: Decision) -> u8 {
    match decision {
        Decision::Pass => status::OK,
        Decision::Ask => status::ASK,
        Decision::Deny => status::BLOCK,
    }
}

fn show(judgement: &Judgement, command: &str) {
    let paint = Paint::of_stdout();
    let verdict = &judgement.verdict;
    print(&format!("{}  {command}", paint.decision(word(verdict))));
    for sentence in verdict.reasons.iter().chain(&verdict.advice) {
        print(&format!("  {sentence}"));
    }
}
