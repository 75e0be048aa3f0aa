//! `reflex check`: judges a command as it would run here and now.

use crate::commands::setup::selection::agents;
use crate::error::{Error, QuestionError};
use crate::exit_code;
use crate::hook;
use crate::lifeline;
use crate::terminal::arguments::text;
use crate::terminal::output::{print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use clap::parser::ValueSource;
use reflex_agents::{Agent, Payload, caller, object, universal};
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Judgement, KeptCopy, Verdict};
use reflex_host::{Context, Host, Mode};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Message for a judgement that exceeds its time limit.
pub(in crate::commands) const TOO_MUCH: &str =
    "reflex: too much to judge in 60 seconds: take it as blocked, and split it into smaller calls";

/// A command, with everything its judgement depends on.
pub(in crate::commands) struct Question {
    pub(in crate::commands) host: Host,
    pub(in crate::commands) agent: &'static Agent,
    pub(in crate::commands) event: Event,
    /// Payload that the agent sent, if known.
    pub(in crate::commands) sent: Option<Value>,
}

impl Question {
    /// Judges the question.
    pub(in crate::commands) fn judgement(&self) -> Judgement {
        let mut judgement = self.host.judge(&self.event, self.sent.as_ref());
        self.host.foresee_keeping(&self.event, &mut judgement);
        judgement
    }
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let question = match question(context, matches) {
        Ok(question) => question,
        Err(error) => return error.report(),
    };
    lifeline::watch(TOO_MUCH);
    let judgement = question.judgement();
    lifeline::disarm();
    if matches.get_flag("json") {
        print_json(&as_json(&judgement.verdict).to_string());
    } else {
        show(&judgement.verdict, &subject(&question.event));
    }
    code(&judgement.verdict)
}

pub(in crate::commands) fn question(context: &Context, matches: &ArgMatches) -> Result<Question, Error> {
    let mode = mode(matches)?;
    let agent = text(matches, "agent");
    let agent = known_agent(agent)?;
    let host = context.host(mode);
    if matches.get_flag("payload") {
        let named = matches.value_source("agent") == Some(ValueSource::CommandLine);
        return payload(host, named.then_some(agent));
    }
    let cwd = folder(matches.get_one::<String>("cwd").map(String::as_str))?;
    let command = match text(matches, "command") {
        "-" => String::from_utf8_lossy(&input()?).into_owned(),
        command => command.to_owned(),
    };
    Ok(of_command(host, agent, (command, &cwd)))
}

/// Builds the question from the fields `command` and, if present, `cwd`, `agent` and `mode`.
pub(in crate::commands) fn asked(context: &Context, fields: &Map<String, Value>) -> Result<Question, Error> {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let command = field("command").ok_or(QuestionError::NoCommand)?.to_owned();
    // No command is a JSON object.
    if command.trim_start().starts_with('{')
        && let Ok(payload) = object(command.as_bytes())
    {
        let mode = field("mode").and_then(Mode::named).unwrap_or_default();
        return of_payload(context.host(mode), None, &payload);
    }
    let agent = known_agent(field("agent").unwrap_or("claude"))?;
    let mode = field("mode").map_or_else(|| Ok(Mode::default()), known_mode)?;
    let cwd = folder(field("cwd"))?;
    Ok(of_command(context.host(mode), agent, (command, &cwd)))
}

fn of_command(host: Host, agent: &'static Agent, (command, cwd): (String, &Path)) -> Question {
    let event = host.settled(Event {
        client: agent.name.into(),
        cwd: cwd.to_string_lossy().into_owned(),
        tool: "Bash".into(),
        actions: vec![Action::Shell { command, language: Language::default() }],
        ..Event::default()
    });
    Question { host, agent, event, sent: None }
}

/// Returns the mode given on the command line, else the one that people's policies name.
fn mode(matches: &ArgMatches) -> Result<Mode, Error> {
    if matches.value_source("mode") != Some(ValueSource::CommandLine) {
        return Ok(Mode::default());
    }
    known_mode(text(matches, "mode"))
}

fn known_mode(name: &str) -> Result<Mode, Error> {
    Mode::named(name).ok_or_else(|| Error::Mode { name: name.to_owned(), known: Mode::names().join(", ") })
}

fn known_agent(name: &str) -> Result<&'static Agent, QuestionError> {
    let unknown = || QuestionError::Agent { name: name.to_owned(), known: agents(|_| true) };
    reflex_agents::find(name).ok_or_else(unknown)
}

/// Returns the folder that was named, else the working directory.
fn folder(named: Option<&str>) -> Result<PathBuf, Error> {
    match named {
        Some(folder) => Ok(existing(folder)?),
        None => std::env::current_dir().map_err(Error::WorkingDirectory),
    }
}

/// Reads the call from the payload on standard input, like the hook.
fn payload(host: Host, agent: Option<&'static Agent>) -> Result<Question, Error> {
    let bytes = input()?;
    let fields = object(&bytes).map_err(QuestionError::from)?;
    of_payload(host, agent, &fields)
}

fn of_payload(host: Host, agent: Option<&'static Agent>, fields: &Map<String, Value>) -> Result<Question, Error> {
    // The environment of this terminal is not used: the payload comes from elsewhere.
    let payload = Payload { fields, event_name: None, variable: &|_| None };
    let agent = caller(agent, &payload);
    let event = (agent.read)(&payload).map_err(QuestionError::from)?;
    let event = host.unfolded(host.settled(event));
    Ok(Question { host, agent, event, sent: Some(fields.clone().into()) })
}

fn input() -> Result<Vec<u8>, QuestionError> {
    Ok(hook::read()?)
}

/// Describes the call in the fewest words.
pub(in crate::commands) fn subject(event: &Event) -> String {
    let of = |action: &Action| match action {
        Action::Shell { command, .. } => command.clone(),
        Action::Read { path } | Action::Search { path, .. } | Action::Delete { path } => path.text.clone(),
        Action::Write { path, .. } | Action::Edit { path, .. } => path.text.clone(),
        Action::Fetch { url } => url.clone(),
        Action::McpCall { tool, .. } => tool.clone(),
        Action::Skill { name } => name.clone(),
        Action::Prompt { text } | Action::Input { text } => text.clone(),
        Action::SpawnAgent { prompt } => prompt.clone(),
        Action::Other { arguments } => arguments.clone(),
    };
    // The interpreted actions describe the call better than its arguments.
    let meant =
        event.actions.iter().filter(|action| !matches!(action, Action::Other { .. }) || event.actions.len() == 1);
    let all = meant.map(of).collect::<Vec<_>>().join(", ");
    let is_shell = matches!(event.actions.as_slice(), [Action::Shell { .. }]);
    if is_shell || event.tool.is_empty() { all } else { format!("{} {all}", event.tool) }
}

fn existing(folder: &str) -> Result<PathBuf, QuestionError> {
    let failed = |source| QuestionError::Path { folder: folder.to_owned(), source };
    let path = std::path::absolute(folder).map_err(failed)?;
    if path.is_dir() { Ok(path) } else { Err(QuestionError::NotFolder(folder.to_owned())) }
}

fn as_json(verdict: &Verdict) -> Value {
    let mut object = universal::verdict(verdict);
    object.insert("schema".into(), "reflex/verdict-v1".into());
    Value::Object(object)
}

/// Returns the decision as people read it; `--json` uses `require_approval` for `ask` and for `keep`.
pub(in crate::commands) fn word(verdict: &Verdict) -> &'static str {
    match verdict.decision {
        Decision::Pass | Decision::Ask if verdict.is_kept_first() => "keep",
        Decision::Deny => "block",
        Decision::Ask => "ask",
        Decision::Pass if verdict.advice.is_empty() => "allow",
        Decision::Pass => "warn",
    }
}

/// Returns the exit status of `check` and `explain`.
pub(in crate::commands) fn code(verdict: &Verdict) -> u8 {
    match verdict.decision {
        Decision::Ask if verdict.is_kept_first() => exit_code::OK,
        Decision::Pass => exit_code::OK,
        Decision::Ask => exit_code::ASK,
        Decision::Deny => exit_code::BLOCK,
    }
}

fn show(verdict: &Verdict, command: &str) {
    let paint = Paint::of_stdout();
    print(&format!("{}  {}", paint.decision(word(verdict)), beginning(&visible(command))));
    for sentence in as_run(verdict).sentences() {
        print(&format!("  {}", visible(&sentence.brief())));
    }
}

/// Shortens a long call to its beginning and its size.
fn beginning(call: &str) -> String {
    const MAX_CHARS: usize = 400;
    match call.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", call.get(..end).unwrap_or(""), call.len()),
        None => call.to_owned(),
    }
}

/// Returns the verdict after the hook has made the backups that the call needs.
pub(in crate::commands) fn as_run(verdict: &Verdict) -> Verdict {
    let mut verdict = verdict.clone();
    if verdict.is_kept_first() {
        verdict.record_copy(KeptCopy::Backup("ID"));
    }
    verdict
}
