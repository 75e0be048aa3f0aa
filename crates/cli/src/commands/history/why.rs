//! `reflex why` and `reflex report-fp`: the history of one decision, and a test case that reproduces it.

use crate::commands::history::record::field;
use crate::commands::history::starts;
use crate::commands::setup::judge;
use crate::commands::setup::mode;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print, print_in_full, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::shell::quoted;
use reflex_host::answers::waiting;
use reflex_host::store::Search;
use reflex_host::{Context, Host, Mode, local, moment};
use serde_json::{Map, Value};
use std::io::Write;

/// Returns the record of a call by the id given to a person, the id of its backup or its own; the newest if several
/// match. Later records that mention the id do not hide the call.
pub(in crate::commands) fn record(host: &Host, id: &str) -> Option<Map<String, Value>> {
    let by = |field: &str| {
        let fields = [(field, id), ("kind", "call")].map(|(field, value)| (field.to_owned(), value.to_owned()));
        host.store().log().search(&Search { fields: fields.into(), ..Search::default() }, 1).ok()?.pop()
    };
    by("pending").or_else(|| by("grant")).or_else(|| by("kept")).or_else(|| by("id"))
}

pub(in crate::commands) fn why(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let newest = || waiting(&host.store()).into_iter().next().map(|call| call.id);
    let Some(id) = matches.get_one::<String>("id").cloned().or_else(newest) else {
        complain("no pending calls; name the id of a decision");
        return exit_code::FOUND;
    };
    let id = id.as_str();
    let Some(record) = record(&host, id).map(mode::without_modes) else {
        complain(&format!("no decision `{}` in the audit log", visible(id)));
        return exit_code::FOUND;
    };
    if matches.get_flag("json") {
        print_json(&Value::Object(record).to_string());
        return exit_code::OK;
    }
    print_record(&record);
    let kept = host.store().pending_call(field(&record, "pending"));
    for bound in kept.iter().flat_map(|call| &call.bound) {
        print(&format!("as of    {}", visible(&bound.shown)));
    }
    starts::tree(&host, &record).iter().for_each(|line| print(&format!("starts   {line}")));
    for later in later_records(&host, &record) {
        let what = match field(&later, "kind") {
            "outcome" => format!("it ran ({})", field(&later, "answered")),
            "approval" => format!("approved by {} ({})", field(&later, "by"), field(&later, "scope")),
            "denial" => format!("denied by {}", field(&later, "by")),
            kind => kind.to_owned(),
        };
        print(&format!("later    {}: {}", shown_time(&later), visible(&what)));
    }
    let lasting = record.get("pending").and_then(|_| lasting(&record));
    if let Some(entry) = lasting {
        let policy = host.folders().config.join("policy.yaml");
        print(&format!(
            "always   `rules: {{{}}}` in {} stops asking about calls like this",
            visible(&entry),
            visible(&policy.to_string_lossy())
        ));
    }
    if let Some(line) = replay(&record) {
        print_in_full(&format!("replay   {line}"));
    }
    print(&format!("wrong?   `reflex report-fp {}` prints it as a test case", visible(id)));
    exit_code::OK
}

/// Returns the later records about a call. A person's answer applies to every attempt of the call.
fn later_records(host: &Host, record: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let by = |name: &str, text: &str| {
        let search = Search { fields: vec![(name.into(), text.into())], ..Search::default() };
        host.store().log().search(&search, MAX_LATER).unwrap_or_default()
    };
    let mut later = by("of", field(record, "id"));
    let id = field(record, "pending");
    let answers = if id.is_empty() { Vec::new() } else { by("pending", id) };
    let news = answers.into_iter().filter(|one| field(one, "kind") != "call" && !later.contains(one));
    let news: Vec<Map<String, Value>> = news.collect();
    later.extend(news);
    later.sort_by(|one, other| field(one, "time").cmp(field(other, "time")));
    later
}

/// Maximum number of later records that are shown.
const MAX_LATER: usize = 40;

/// Returns the policy entries that would only record a call like this; `None` for core rules.
fn lasting(record: &Map<String, Value>) -> Option<String> {
    let findings = record.get("findings")?.as_array()?;
    let entry = |finding: &Value| {
        let recommended = finding.get("tier")?.as_str()? != "core";
        recommended.then(|| Some(format!("{}: log", finding.get("id")?.as_str()?)))?
    };
    let entries: Option<Vec<String>> = findings.iter().map(entry).collect();
    entries.filter(|entries| !entries.is_empty()).map(|entries| entries.join(", "))
}

/// Returns the command line that judges the same command again, if it is one line and was kept in full.
fn replay(record: &Map<String, Value>) -> Option<String> {
    let [action] = record.get("actions")?.as_array()?.as_slice() else { return None };
    let command = action.get("command")?.as_str()?;
    let folder = [field(record, "cwd"), field(record, "workspace")].into_iter().find(|folder| !folder.is_empty())?;
    let line = format!("reflex explain --cwd {} -- {}", quoted(folder), quoted(command));
    (visible(&line) == line).then_some(line)
}

/// Returns the local time of a record, or the text as written if it cannot be parsed.
fn shown_time(record: &Map<String, Value>) -> String {
    let written = field(record, "time");
    moment(written).map_or_else(|| visible(written), local)
}

fn print_record(record: &Map<String, Value>) {
    let decided = match field(record, "decision") {
        "deny" => "blocked",
        "ask" => "stopped for your approval",
        _ if record.contains_key("kept") => "allowed, after a copy was kept",
        _ => "allowed",
    };
    let (agent, tool) = (visible(field(record, "agent")), visible(field(record, "tool")));
    print(&format!("{}  {agent} called {tool}; it was {decided}", shown_time(record)));
    for action in record.get("actions").and_then(Value::as_array).into_iter().flatten() {
        let text = action.as_object().and_then(|object| object.iter().nth(1)).and_then(|(_, text)| text.as_str());
        text.unwrap_or("(its text is not kept)").lines().for_each(|line| print(&format!("         {}", visible(line))));
    }
    print(&format!("where    {} (session {})", visible(field(record, "workspace")), visible(field(record, "session"))));
    let list = |value: Option<&Value>| -> Vec<String> {
        value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(visible).collect()
    };
    let effects = list(record.get("analysis").and_then(|analysis| analysis.get("effects")));
    effects.iter().for_each(|effect| print(&format!("would    {effect}")));
    for finding in record.get("findings").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| visible(finding.get(key).and_then(Value::as_str).unwrap_or(""));
        let id = part("id");
        let place = reflex_host::rule_place(&id).unwrap_or_else(|| "no rule of this version".into());
        print(&format!("found    {id} ({}, {}): {}", part("severity"), part("tier"), part("message")));
        print(&format!("         {place}"));
    }
    list(record.get("chain")).iter().for_each(|step| print(&format!("because  {step}")));
    record.get("judge").iter().for_each(|answer| print(&format!("judge    {}", visible(&judge::line(answer)))));
    let by = [("policy", ""), ("library", "library "), ("reflex", "reflex ")];
    let by = by.map(|(key, word)| {
        Some(field(record, key)).filter(|text| !text.is_empty()).map(|text| format!("{word}{text}"))
    });
    print(&format!("policy   {}", by.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    if let Some(micros) = record.get("micros").and_then(|parts| parts.get("whole")).and_then(Value::as_u64) {
        print(&format!("took     {}.{} ms", micros / 1000, micros % 1000 / 100));
    }
    if let Some(id) = record.get("pending").and_then(Value::as_str) {
        print(&format!("you can  allow it once with `reflex approve {id}`, or leave it"));
    }
}

pub(in crate::commands) fn report(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let id = text(matches, "id");
    let Some(record) = record(&host, id) else {
        complain(&format!("no decision `{}` in the audit log", visible(id)));
        return exit_code::FOUND;
    };
    let Some(case) = host.case(&record) else {
        complain("the text of this call is not in the audit log, so it cannot be played again");
        return exit_code::FOUND;
    };
    let line = Value::Object(case).to_string();
    print_json(&line);
    if !matches.get_flag("add") {
        return exit_code::OK;
    }
    let file = host.folders().config.join("cases.jsonl");
    let written = std::fs::create_dir_all(&host.folders().config).and_then(|()| {
        std::fs::OpenOptions::new().create(true).append(true).open(&file)?.write_all(format!("{line}\n").as_bytes())
    });
    match written {
        Ok(()) => complain(&format!("added to {}", file.display())),
        Err(error) => {
            complain(&format!("{}: {error}", file.display()));
            return exit_code::INTERNAL;
        }
    }
    exit_code::OK
}
