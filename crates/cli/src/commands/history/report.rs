//! `reflex report --since 12h`: one page about the agents' calls and the guard's decisions.

mod html;
mod page;

use crate::commands::answer::prompt_counts::{self, Asks};
use crate::commands::history::record::{Record, field, time};
use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print, print_in_full, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use page::{Page, Section};
use reflex_engine::DetectorName;
use reflex_host::store::Search;
use reflex_host::store::canary::CANARY;
use reflex_host::{Context, local, moment, now, timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rows per list, so that the report fits on one page.
const MAX_ROWS: usize = 8;

/// Maximum number of characters of a call.
const MAX_CHARS: usize = 100;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let written = text(matches, "since");
    let Some(since) = time(written) else {
        complain(&format!("`{}` is not a time (e.g. 12h, 2026-11-21, 2026-11-21T10:00:00Z)", visible(written)));
        return exit_code::USAGE;
    };
    let log = context.store().log();
    let search = Search { since: Some(timestamp(since)), ..Search::default() };
    let (records, checked) =
        match log.search(&search, usize::MAX).and_then(|found| Ok((found, log.verify(&mut |_| true)?))) {
            Ok(found) => found,
            Err(source) => return Error::File { file: log.folder().to_owned(), source }.report(),
        };
    let broken = checked.broken.map(|_| "damaged line of the log (`reflex audit verify`)".to_owned());
    let page = Page { since: timestamp(since), until: timestamp(now()), sections: sections(&records, broken) };
    if matches.get_flag("json") {
        print_json(&page.json().to_string());
    } else if matches.get_flag("html") {
        print_in_full(&html::page(&page));
    } else {
        page.show();
    }
    exit_code::OK
}

impl Page {
    fn show(&self) {
        let shown = |time: &str| moment(time).map_or_else(|| time.to_owned(), local);
        let paint = Paint::of_stdout();
        print(&format!("from {} to {}", shown(&self.since), shown(&self.until)));
        for section in &self.sections {
            if section.rows.is_empty() {
                continue;
            }
            print(&format!("\n{}", paint.bold(section.title)));
            section.rows.iter().for_each(|(count, what)| print(&format!("{count:>7}  {}", visible(what))));
            if section.more > 0 {
                print(&format!("         … {} more", section.more));
            }
        }
        let nothing: Vec<&str> =
            self.sections.iter().filter(|one| one.rows.is_empty()).map(|one| one.nothing).collect();
        if !nothing.is_empty() {
            print(&paint.faint(&format!("\nalso: {}", nothing.join(", "))));
        }
    }

    fn json(&self) -> Value {
        let row = |(count, what): &(usize, String)| json!({"count": count, "what": what});
        let section = |section: &Section| json!({"title": section.title, "rows": section.rows.iter().map(row).collect::<Vec<_>>(), "more": section.more});
        let sections: Vec<Value> = self.sections.iter().map(section).collect();
        json!({"schema": "reflex/report-v1", "since": self.since, "until": self.until, "sections": sections})
    }
}

fn sections(records: &[Record], broken: Option<String>) -> Vec<Section> {
    let records: Vec<Record> = records.iter().filter(|record| !is_probe(record)).cloned().collect();
    let records = records.as_slice();
    let calls: Vec<&Record> = of_kind(records, "call").filter(|record| !is_end(record) && !is_unread(record)).collect();
    let decided =
        |decision: &'static str| calls.iter().copied().filter(move |call| field(call, "decision") == decision);
    vec![
        ran(records, &calls),
        Section::new("blocked", "nothing was blocked", counted(decided("deny").map(about))),
        Section::new("asked", "nothing was asked", counted(decided("ask").map(about))),
        Section::new("rules", "no rule stopped a call", rules(records)),
        Section::new(
            "loops",
            "no loops",
            counted(found(records, |f| field(f, "detector") == DetectorName::Loopbreaker.name())),
        ),
        Section::new(
            "taint",
            "no injected instructions",
            counted(found(records, |f| field(f, "category") == "injection")),
        ),
        Section::new("failed", "no tool failed", counted(failed(records))),
        Section::new("changed", "no file changed", counted(changed(records))),
        Section::new("duties", "no required checks", counted(duties(records))),
        Section::new("people", "no answers by people", counted(people(records))),
        Section::new("unjudged", "no unknown tools", counted(unjudged(&calls))),
        Section::new("gaps", "no gaps", counted(gaps(records).chain(broken))),
    ]
}

/// Whether `init`, `verify` or `doctor` made the call to prove the hook.
fn is_probe(record: &Record) -> bool {
    record.contains_key("probe") || findings(record).any(|finding| field(finding, "id") == CANARY)
}

/// Whether the event could not be read. Such records are counted as gaps.
fn is_unread(record: &Record) -> bool {
    findings(record).next().is_none()
        && record.get("actions").and_then(Value::as_array).is_some_and(Vec::is_empty)
        && field(record, "decision") == "deny"
}

/// Whether the record is about the end of a turn at which an agent was held back. Such records are counted as duties.
fn is_end(record: &Record) -> bool {
    record.get("actions").and_then(Value::as_array).is_some_and(Vec::is_empty)
        && findings(record)
            .any(|finding| ["verify/", "skill/"].iter().any(|prefix| field(finding, "id").starts_with(prefix)))
}

impl Section {
    fn new(title: &'static str, nothing: &'static str, mut rows: Vec<(usize, String)>) -> Section {
        let more = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        Section { title, rows, nothing, more }
    }
}

/// Counts equal items, most frequent first.
fn counted(all: impl Iterator<Item = String>) -> Vec<(usize, String)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    let mut rows: Vec<(usize, String)> = counts.into_iter().map(|(what, count)| (count, what)).collect();
    rows.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    rows
}

fn ran(records: &[Record], calls: &[&Record]) -> Section {
    let with = |key: &str| calls.iter().filter(|call| call.contains_key(key)).count();
    let kept = with("kept");
    let passed = calls.iter().filter(|call| field(call, "decision") == "pass").count().saturating_sub(kept);
    let sessions: BTreeSet<(&str, &str)> = records
        .iter()
        .map(|record| (field(record, "agent"), field(record, "session")))
        .filter(|(_, session)| !session.is_empty())
        .collect();
    let mut rows = vec![
        (calls.len(), format!("calls in {} sessions", sessions.len())),
        (passed, "allowed".to_owned()),
        (kept, "allowed after a copy was kept (`reflex undo`)".to_owned()),
        (with("grant"), "allowed by a person".to_owned()),
        (of_kind(records, "outcome").count(), "reported finished by the agent".to_owned()),
    ];
    rows.extend(counted(calls.iter().map(|call| format!("by {}", field(call, "agent")))));
    Section::new("ran", "no call", rows)
}

/// Returns the rule and the call on one line.
fn about(call: &Record) -> String {
    let ids: Vec<&str> = findings(call).map(|finding| field(finding, "id")).take(2).collect();
    format!("{}  {}", ids.join(", "), subject(call))
}

/// Returns the rules that stopped calls, with people's answers.
fn rules(records: &[Record]) -> Vec<(usize, String)> {
    let row = |(id, asks): (String, Asks)| (asks.asked + asks.blocked, format!("{id}  {}", asks.describe()));
    prompt_counts::by_rule(records.iter()).into_iter().map(row).collect()
}

fn subject(record: &Record) -> String {
    let first = record.get("actions").and_then(Value::as_array).and_then(|actions| actions.first()?.as_object());
    let text = first.and_then(|action| action.iter().find(|(key, value)| *key != "kind" && value.is_string()));
    let text =
        text.and_then(|(_, text)| text.as_str()).unwrap_or_else(|| first.map_or("", |action| field(action, "kind")));
    let line = text.lines().next().unwrap_or("");
    let end = line.char_indices().nth(MAX_CHARS).map_or(line.len(), |(at, _)| at);
    let cut = if end < text.trim_end().len() { "…" } else { "" };
    format!("{}{cut}", line.get(..end).unwrap_or(""))
}

fn found(records: &[Record], is_meant: fn(&Record) -> bool) -> impl Iterator<Item = String> {
    records.iter().flat_map(move |record| {
        let meant = findings(record).filter(move |finding| is_meant(finding));
        meant.map(|finding| {
            format!("{}  {} session {}", field(finding, "id"), field(record, "agent"), short(field(record, "session")))
        })
    })
}

fn failed(records: &[Record]) -> impl Iterator<Item = String> {
    let outcome =
        |record: &Record| record.get("outcome").and_then(|outcome| outcome.get("failed")).and_then(Value::as_bool);
    of_kind(records, "outcome").filter(move |record| outcome(record) == Some(true)).map(subject)
}

fn changed(records: &[Record]) -> impl Iterator<Item = String> {
    let lists = of_kind(records, "outcome").filter_map(|record| record.get("changed")?.as_array());
    lists.flatten().filter_map(Value::as_str).map(str::to_owned)
}

/// Returns the checks at the end of the work, with their verdicts.
fn duties(records: &[Record]) -> impl Iterator<Item = String> {
    records.iter().filter_map(|record| match field(record, "kind") {
        "verification" => Some(format!("verification {}", field(record, "verdict"))),
        "skills" => Some(format!("skill `{}` was {}", field(record, "skill"), field(record, "verdict"))),
        _ => None,
    })
}

fn people(records: &[Record]) -> impl Iterator<Item = String> {
    records.iter().filter_map(|record| match field(record, "kind") {
        "approval" => Some("approved".to_owned()),
        "denial" => Some("denied".to_owned()),
        "appeal" => Some(format!("appeal by {}", field(record, "by"))),
        "attempt" => Some(format!("attempt to {} that no person made", field(record, "what"))),
        "off" => Some(format!("guard switched off: {}", field(record, "reason"))),
        "trust" | "revocation" | "purge" => Some(field(record, "kind").to_owned()),
        _ => None,
    })
}

/// Returns the unknown tools, whose calls were not judged.
fn unjudged(calls: &[&Record]) -> impl Iterator<Item = String> {
    let unjudged = calls.iter().filter(|call| call.contains_key("unjudged"));
    unjudged.map(|call| format!("{} by {}", field(call, "tool"), field(call, "agent")))
}

/// Returns the parts of calls that were not fully analyzed.
fn gaps(records: &[Record]) -> impl Iterator<Item = String> {
    records.iter().flat_map(|record| {
        let parts = record.get("analysis").and_then(|analysis| analysis.get("gaps")).and_then(Value::as_u64);
        let unread = field(record, "kind") == "call" && is_unread(record);
        let anyway = field(record, "answered").starts_with("nobody: it was refused");
        [
            (parts.unwrap_or(0) > 0).then_some("calls with a part that is known only when it runs"),
            unread.then_some("events that could not be read"),
            anyway.then_some("calls that were blocked and ran anyway"),
            record.contains_key("slow").then_some("calls that took long to judge"),
            (field(record, "kind") == "texts").then_some("changes of whether the log keeps texts"),
        ]
        .into_iter()
        .flatten()
        .map(str::to_owned)
    })
}

fn findings(record: &Record) -> impl Iterator<Item = &Record> {
    record.get("findings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn of_kind<'r>(records: &'r [Record], kind: &'static str) -> impl Iterator<Item = &'r Record> {
    records.iter().filter(move |record| field(record, "kind") == kind)
}

fn short(name: &str) -> &str {
    name.get(..12).unwrap_or(name)
}
