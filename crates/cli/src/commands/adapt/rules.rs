//! `reflex rules`: list, show, validate, test, new.

use crate::commands::adapt::rules_event;
use crate::commands::adapt::rules_new;
use crate::commands::adapt::rules_off;
use crate::commands::answer::prompt_counts;
use crate::error::{Error, RulesError};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use annotate_snippets::{AnnotationKind, Level as Shown, Renderer, Snippet};
use clap::ArgMatches;
use reflex_agents::{BadEvent, universal};
use reflex_engine::{Event, Finding, Severity, Tier};
use reflex_host::layers::{LAST_GOOD_IN_FORCE, NOT_IN_FORCE, NamedError, Opened, named, open, standing};
use reflex_host::rules::renamed;
use reflex_host::rules::{Level, Problem, Rule, SourceFile, review};
use reflex_host::store::Search;
use reflex_host::{Context, Host, Mode, library_rules, rationale};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("list", matches)) => list(context, matches),
        Some(("show", matches)) => show(context, matches),
        Some(("validate", matches)) => validate(context, matches),
        Some(("test", matches)) if rules_event::is_meant(matches) => rules_event::run(matches),
        Some(("test", matches)) => test(context, matches),
        Some(("stages", matches)) => stages(context, matches),
        Some(("new", matches)) => rules_new::run(context, matches),
        Some(("off", matches)) => off(context, matches),
        _ => exit_code::USAGE,
    }
}

/// Returns the layers in force here.
pub(in crate::commands) fn here(host: &Host) -> Vec<Opened> {
    let workspace = host.placed(Event::default()).workspace;
    open(host.folders(), std::path::Path::new(&workspace), &host.store())
}

/// A rule as shown by `list` and `show`.
struct Row {
    id: String,
    /// The usual action under the policy in force; a role, a place or an allowance may change it.
    usually: String,
    tier: String,
    message: String,
    at: String,
    all: Value,
}

fn rows(host: &Host) -> Vec<Row> {
    let policy = host.policy_in(&host.placed(Event::default()).workspace);
    let mut rows: Vec<Row> = library_rules()
        .map(|rule| {
            let finding = Finding {
                id: rule.id().to_owned(),
                category: rule.category().to_owned(),
                severity: Severity::named(rule.severity()).unwrap_or_default(),
                tier: if rule.tier() == "core" { Tier::Core } else { Tier::Recommended },
                ..Finding::default()
            };
            let usually = policy.as_ref().map(|policy| policy.usual(&finding).name()).unwrap_or_default();
            let mut all = json!({
                "id": rule.id(), "category": rule.category(), "severity": rule.severity(), "tier": rule.tier(),
                "detector": rule.detector(), "message": rule.message(), "remedy": rule.remedy(),
                "unknown": rule.unknown(), "usually": usually,
            });
            if let (Some(rationale), Some(fields)) = (rationale(rule.id()), all.as_object_mut()) {
                fields.insert("why".into(), rationale.why().into());
                fields.insert("source".into(), rationale.source().into());
            }
            Row {
                id: rule.id().to_owned(),
                usually: usually.to_owned(),
                tier: rule.tier().to_owned(),
                message: rule.message().to_owned(),
                at: format!("library/{}", rule.at()),
                all,
            }
        })
        .collect();
    for layer in here(host) {
        rows.extend(layer.compiled.rules.iter().map(|rule| layer_row(&layer, rule)));
    }
    rows
}

fn layer_row(layer: &Opened, rule: &Rule) -> Row {
    let conditions: Vec<String> = rule.conditions.iter().map(reflex_host::rules::Condition::shown).collect();
    let usually = if rule.enabled { rule.action.clone() } else { "off".into() };
    let all = json!({
        "id": layer.id(rule), "version": rule.version, "category": rule.category, "severity": rule.severity.name(),
        "tier": rule.tier.name(), "action": rule.action, "usually": usually, "enabled": rule.enabled, "events": rule.events,
        "conditions": conditions, "message": rule.message, "description": rule.description,
        "why": rule.why, "source": rule.source,
    });
    let tier = rule.tier.name().to_owned();
    Row { id: layer.id(rule), usually, tier, message: rule.message.clone(), at: rule.at.clone(), all }
}

/// Lists the rules that stopped calls according to the audit log, with people's answers.
fn list_by_asks(context: &Context, as_json: bool) -> u8 {
    let records = match context.store().log().search(&Search::default(), usize::MAX) {
        Ok(records) => records,
        Err(error) => return Error::Log(error).report(),
    };
    let rules = prompt_counts::by_rule(records.iter());
    if as_json {
        let rules: Vec<Value> = rules.iter().map(|(id, asks)| asks.json(id)).collect();
        print_json(&json!({"schema": "reflex/asks-v1", "rules": rules}).to_string());
        return exit_code::OK;
    }
    let width = rules.iter().map(|(id, _)| id.chars().count()).max().unwrap_or(0);
    if rules.is_empty() {
        print("no rule has stopped a call yet");
    }
    for (id, asks) in rules {
        let padding = " ".repeat(width.saturating_sub(id.chars().count()));
        print(&format!("{}{padding}  {}", visible(&id), asks.describe()));
    }
    exit_code::OK
}

/// Returns the output of `rules list --json`.
pub(in crate::commands) fn listed(context: &Context) -> Value {
    let rows = rows(&context.host(Mode::default())).into_iter();
    let rows: Vec<Value> = rows.map(|row| with_place(row.all, &row.at)).collect();
    json!({"schema": "reflex/rules-v1", "rules": rows})
}

fn list(context: &Context, matches: &ArgMatches) -> u8 {
    if matches.get_flag("by-asks") {
        return list_by_asks(context, matches.get_flag("json"));
    }
    if matches.get_flag("json") {
        print_json(&listed(context).to_string());
        return exit_code::OK;
    }
    let rows = rows(&context.host(Mode::default()));
    let head = ["rule", "usually", "tier", "what it is about"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        // Only the core tier is shown: a policy cannot loosen it.
        let tier = if row.tier == "recommended" { String::new() } else { row.tier };
        table.push(vec![visible(&row.id), row.usually, tier, visible(&about(&row.message))]);
    }
    print_table(0, &table);
    exit_code::OK
}

/// Returns a message without the placeholders that a call would fill in: `delete {targets} and all below` as `delete …
/// and all below`.
fn about(message: &str) -> String {
    let mut about = String::new();
    let mut rest = message.replace(": {targets}", "");
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, after)) = after.split_once('}') else { break };
        about.push_str(before);
        about.push('…');
        rest = after.to_owned();
    }
    about + &rest
}

fn with_place(mut all: Value, at: &str) -> Value {
    if let Some(all) = all.as_object_mut() {
        all.insert("at".into(), at.into());
    }
    all
}

/// Returns the rule that a person names; the error suggests the nearest id.
fn row_of<'r>(rows: &'r [Row], written: &str) -> Result<&'r Row, RulesError> {
    let id = renamed::renamed(&renamed::RULES, written).unwrap_or(written);
    if id != written {
        complain(&renamed::note(written, id));
    }
    let is_it = |row: &Row| row.id == id || row.id.split_once('/').is_some_and(|(_, name)| name == id);
    rows.iter().find(|row| is_it(row)).ok_or_else(|| {
        let known: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let near = reflex_host::rules::nearest(id, &known).map(str::to_owned);
        RulesError::Unknown { id: id.to_owned(), near }
    })
}

fn off(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let rows = rows(&host);
    match row_of(&rows, text(matches, "id")) {
        Ok(row) => rules_off::run(&host, matches, rules_off::Known { id: &row.id, tier: &row.tier }),
        Err(error) => Error::from(error).report(),
    }
}

fn show(context: &Context, matches: &ArgMatches) -> u8 {
    let rows = rows(&context.host(Mode::default()));
    let row = match row_of(&rows, text(matches, "id")) {
        Ok(row) => row,
        Err(error) => return Error::from(error).report(),
    };
    let all = with_place(row.all.clone(), &row.at);
    if matches.get_flag("json") {
        print(&all.to_string());
        return exit_code::OK;
    }
    for (key, value) in all.as_object().into_iter().flatten() {
        let shown = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().map_or(item.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join("; "),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        };
        if !shown.is_empty() {
            print(&format!("{key:12} {}", visible(&shown)));
        }
    }
    exit_code::OK
}

/// Returns the layers that a person names, else all that are in force here.
fn asked(matches: &ArgMatches, host: &Host) -> Result<Vec<Opened>, NamedError> {
    let paths: Vec<PathBuf> = matches.get_many::<String>("path").into_iter().flatten().map(PathBuf::from).collect();
    if paths.is_empty() { Ok(here(host)) } else { Ok(vec![named(&paths)?]) }
}

fn validate(context: &Context, matches: &ArgMatches) -> u8 {
    let opened = match asked(matches, &context.host(Mode::default())) {
        Ok(opened) => opened,
        Err(error) => return Error::from(error).report(),
    };
    let unreadable: Vec<String> = opened.iter().flat_map(layer_problems).collect();
    let host = context.host(Mode::default());
    let idle = if matches.contains_id("path") { Vec::new() } else { idle(&host, &opened) };
    let library: Vec<&str> = library_rules().map(|rule| rule.id()).collect();
    let reviewed: Vec<Vec<Problem>> =
        opened.iter().map(|layer| review(&layer.compiled, &layer.files, &library)).collect();
    let problems: Vec<(&SourceFile, &Problem)> =
        opened.iter().zip(&reviewed).flat_map(|(layer, reviewed)| problems_of(layer, reviewed)).collect();
    let errors = problems.iter().filter(|(_, problem)| problem.level == Level::Error).count() + unreadable.len();
    if matches.get_flag("json") {
        let rows = problems.iter().map(|(_, problem)| as_json(problem));
        let rows: Vec<Value> = rows.chain(idle.iter().map(Idle::json)).collect();
        print_json(&json!({"schema": "reflex/problems-v1", "problems": rows, "unreadable": unreadable}).to_string());
    } else {
        problems.iter().for_each(|(file, problem)| print(&underlined(file, problem)));
        unreadable.iter().for_each(|problem| print(&format!("error: {}", visible(problem))));
        idle.iter().for_each(|key| print(&format!("warning: {}", visible(&key.describe()))));
        let files: usize = opened.iter().map(|layer| layer.files.len()).sum();
        let rules: usize = opened.iter().map(|layer| layer.compiled.rules.len()).sum();
        let warnings = problems.len() + unreadable.len() + idle.len() - errors;
        print(&format!("{files} files, {rules} rules in force, {errors} errors, {warnings} warnings"));
    }
    if errors > 0 { exit_code::FOUND } else { exit_code::OK }
}

/// A valid key of a policy that has no effect at its place.
struct Idle {
    key: String,
    at: String,
    why: String,
}

impl Idle {
    fn describe(&self) -> String {
        format!("{}: `{}` {}", self.at, self.key, self.why)
    }

    fn json(&self) -> Value {
        let (file, line) = self.at.rsplit_once(':').unwrap_or((&self.at, ""));
        let message = format!("`{}` {}", self.key, self.why);
        json!({"level": "warning", "file": file, "line": line.parse().unwrap_or(1), "column": 1, "message": message, "help": ""})
    }
}

fn idle(host: &Host, opened: &[Opened]) -> Vec<Idle> {
    let policy = host.policy_name(&host.placed(Event::default()));
    let all = opened.iter().zip(standing(opened, policy)).flat_map(|(layer, each)| layer.origins().iter().zip(each));
    let idle = all.filter(|(_, why)| why.starts_with("does not count") || why.contains("no longer count"));
    idle.map(|((key, at, _), why)| Idle { key: key.clone(), at: at.clone(), why }).collect()
}

/// Returns the problems of a layer that do not belong to a place in one of its files.
fn layer_problems(layer: &Opened) -> Vec<String> {
    let of_files: Vec<String> = layer.compiled.problems.iter().map(Problem::to_string).collect();
    let known = |problem: &&String| {
        of_files.contains(problem) || [LAST_GOOD_IN_FORCE, NOT_IN_FORCE].iter().any(|end| problem.ends_with(end))
    };
    layer.loaded.layer.problems.iter().filter(|problem| !known(problem)).cloned().collect()
}

/// Returns the errors of the files, then the warnings about valid rules.
fn problems_of<'l>(layer: &'l Opened, reviewed: &'l [Problem]) -> impl Iterator<Item = (&'l SourceFile, &'l Problem)> {
    let file = |problem: &Problem| layer.files.iter().find(|file| file.name == problem.file);
    let all = layer.compiled.problems.iter().chain(reviewed);
    all.filter_map(move |problem| Some((file(problem)?, problem)))
}

fn as_json(problem: &Problem) -> Value {
    let (line, column) = problem.place;
    let level = if problem.level == Level::Error { "error" } else { "warning" };
    json!({"level": level, "file": problem.file, "line": line, "column": column, "message": problem.message,
        "help": problem.help})
}

/// Formats the problem with the guilty text underlined.
fn underlined(file: &SourceFile, problem: &Problem) -> String {
    let level = if problem.level == Level::Error { Shown::ERROR } else { Shown::WARNING };
    let end = problem.span.end.min(file.text.len()).max(problem.span.start);
    // A mark over several lines hides the cause; the first line is enough.
    let first = file.text.get(problem.span.start..end).and_then(|text| text.lines().next()).unwrap_or("");
    let span = problem.span.start.min(file.text.len())..(problem.span.start + first.len()).min(file.text.len());
    let message = visible(&problem.message);
    let name = visible(&file.name);
    let snippet = Snippet::source(file.text.as_str()).path(name).annotation(AnnotationKind::Primary.span(span));
    let mut group = level.primary_title(message).element(snippet);
    if !problem.help.is_empty() {
        group = group.element(Shown::HELP.message(problem.help.as_str()));
    }
    let renderer = if Paint::of_stdout().is_on() { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

fn test(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let opened = match asked(matches, &host) {
        Ok(opened) => opened,
        Err(error) => return Error::from(error).report(),
    };
    let (mut played, mut wrong) = (0, 0);
    for layer in &opened {
        for rule in layer.compiled.rules.iter().filter(|rule| rule.enabled) {
            let sides = [(true, &rule.fires), (false, &rule.quiet)];
            for (wanted, example) in sides.iter().flat_map(|(wanted, all)| all.iter().map(move |one| (*wanted, one))) {
                played += 1;
                let why = match fires(&host, layer, rule, example) {
                    Err(error) => Some(error.to_string()),
                    Ok(fires) if fires == wanted => None,
                    Ok(true) => Some("fires, but should not".to_owned()),
                    Ok(false) => Some("does not fire, but should".to_owned()),
                };
                if let Some(why) = why {
                    wrong += 1;
                    print(&format!("{}: {}: {why}: {example}", rule.at, visible(&rule.name)));
                }
            }
        }
        let bare = layer.compiled.rules.iter().filter(|rule| rule.fires.is_empty() && rule.enabled);
        bare.for_each(|rule| print(&format!("{}: {} has no examples", rule.at, visible(&rule.name))));
    }
    print(&format!("{played} examples run, {wrong} failed"));
    if wrong > 0 { exit_code::FOUND } else { exit_code::OK }
}

/// An example of a rule cannot be judged.
#[derive(Debug, thiserror::Error)]
enum BadExample {
    #[error("not a command or an event")]
    Kind,
    #[error(transparent)]
    Event(#[from] BadEvent),
}

/// Whether a rule fires on an example: a command, `{run: COMMAND, facts: …}` or a universal event.
fn fires(host: &Host, layer: &Opened, rule: &Rule, example: &Value) -> Result<bool, BadExample> {
    let mut event = match example {
        Value::String(command) => json!({"event": "pre-command", "command": command}),
        Value::Object(map) if map.contains_key("run") => {
            json!({"event": "pre-command", "command": map.get("run"), "facts": map.get("facts")})
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => example.clone(),
    };
    let event = event.as_object_mut().ok_or(BadExample::Kind)?;
    for (key, value) in [("workspace", "/repo"), ("home", "/home/me")] {
        event.entry(key.to_owned()).or_insert_with(|| value.into());
    }
    let call = universal::read(event)?;
    let world = universal::supposed(event, &call)?;
    let judgement = host.judge_in(&call, &world, &[layer.loaded.again()]);
    let id = layer.id(rule);
    Ok(judgement.verdict.findings.iter().any(|finding| finding.id == id))
}

/// A rule on trial, and its would-be effect according to the audit log.
struct Trial {
    id: String,
    stage: String,
    action: String,
    fired: usize,
    last: String,
}

/// Maximum number of records that are counted.
const MAX_RECORDS: usize = 100_000;

fn stages(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let log = host.store().log();
    let mut trials: Vec<Trial> = Vec::new();
    for layer in here(&host) {
        for rule in layer.compiled.rules.iter().filter(|rule| rule.enabled && rule.staged() != rule.action) {
            let id = layer.id(rule);
            let fields = vec![("kind".into(), "call".into()), ("id".into(), id.clone())];
            let found = log.search(&Search { fields, ..Search::default() }, MAX_RECORDS).unwrap_or_default();
            let fired: Vec<&Map<String, Value>> = found.iter().filter(|record| would(record, &id)).collect();
            let last = fired.last().and_then(|record| record.get("time")).and_then(Value::as_str).unwrap_or("");
            let (last, fired) = (last.to_owned(), fired.len());
            trials.push(Trial { id, stage: rule.stage.clone(), action: rule.action.clone(), fired, last });
        }
    }
    if matches.get_flag("json") {
        let rows: Vec<Value> = trials
            .iter()
            .map(|one| {
                let last = Some(&one.last).filter(|last| !last.is_empty());
                json!({"id": one.id, "stage": one.stage, "would": one.action, "times": one.fired, "last": last})
            })
            .collect();
        print_json(&json!({"schema": "reflex/stages-v1", "rules": rows}).to_string());
        return exit_code::OK;
    }
    if trials.is_empty() {
        print("every rule of yours is fully in force; `stage: observe` or `stage: warn` in a rule tries it out");
    }
    for Trial { id, stage, action, fired, last } in &trials {
        let last = if last.is_empty() { String::new() } else { format!(", last {last}") };
        print(&format!("{}  {stage}: would have done `{action}` {fired} times{last}", visible(id)));
    }
    exit_code::OK
}

/// Whether a record holds a finding of this rule while it was on trial.
fn would(record: &Map<String, Value>, id: &str) -> bool {
    let findings = record.get("findings").and_then(Value::as_array).into_iter().flatten();
    let mut matching = findings.filter(|finding| finding.get("id").and_then(Value::as_str) == Some(id));
    matching.any(|finding| finding.get("would").is_some())
}
