//! `reflex audit export`: exports every record as a line, a row, an OCSF event or an OTLP log record, printed or sent
//! to a collector.

mod csv;
mod ocsf;
mod otlp;
mod post;

use crate::commands::history::record::{Record, time};
use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use crate::terminal::progress::Progress;
use crate::terminal::visible::{visible, visible_json};
use clap::ArgMatches;
use reflex_host::store::{Log, Store};
use reflex_host::timestamp;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};

/// Maximum number of records per request.
const BATCH: usize = 500;

/// Names of the formats.
pub(in crate::commands) const FORMATS: [&str; 4] = ["jsonl", "csv", "ocsf", "otlp"];

pub(in crate::commands) fn run(store: &Store, matches: &ArgMatches) -> io::Result<u8> {
    let written = text(matches, "since");
    let since = if written.is_empty() { Some(0) } else { time(written) };
    let Some(since) = since else {
        complain(&format!("`{}` is not a time (e.g. 2h, 2026-11-21, 2026-11-21T10:00:00Z)", visible(written)));
        return Ok(exit_code::USAGE);
    };
    let since = if since == 0 { String::new() } else { timestamp(since) };
    let format = text(matches, "format");
    match matches.get_one::<String>("to") {
        Some(url) if matches!(format, "ocsf" | "otlp") => send(store, format, (url, &since)),
        Some(_) => {
            complain("a collector takes `--format otlp` or `--format ocsf`");
            Ok(exit_code::USAGE)
        }
        None => show(&store.log(), format, &since),
    }
}

/// Visits each record not older than `since`, with its line.
fn records(log: &Log, since: &str, each: &mut dyn FnMut(&str, Record) -> io::Result<()>) -> io::Result<()> {
    // At a terminal the printed records already show the progress.
    let hidden = !io::stdout().is_terminal();
    let (mut progress, mut seen) = (Progress::default(), 0_u64);
    log.each(&mut |line| {
        seen += 1;
        if hidden && seen.is_multiple_of(4096) {
            progress.at(seen);
        }
        let record: Record = serde_json::from_str(line).unwrap_or_default();
        if record.get("time").and_then(Value::as_str).unwrap_or("") >= since {
            each(line, record)?;
        }
        Ok(true)
    })
}

fn show(log: &Log, format: &str, since: &str) -> io::Result<u8> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if format == "csv" {
        writeln!(out, "{}", csv::header())?;
    }
    let mut batch = Vec::new();
    records(log, since, &mut |line, record| {
        match format {
            "csv" => writeln!(out, "{}", csv::row(&record))?,
            "ocsf" => writeln!(out, "{}", visible_json(&ocsf::event(&record).to_string()))?,
            "otlp" => {
                batch.push(otlp::log_record(&record));
                if batch.len() >= BATCH {
                    writeln!(out, "{}", visible_json(&otlp::request(std::mem::take(&mut batch)).to_string()))?;
                }
            }
            _ => writeln!(out, "{}", visible_json(line))?,
        }
        Ok(())
    })?;
    if !batch.is_empty() {
        writeln!(out, "{}", visible_json(&otlp::request(batch).to_string()))?;
    }
    out.flush()?;
    Ok(exit_code::OK)
}

/// Sends records to a collector. Only a person may export records, and the log records the export.
fn send(store: &Store, format: &str, (url, since): (&str, &str)) -> io::Result<u8> {
    let Some(person) = person(store, "audit export", "") else { return Ok(exit_code::FOUND) };
    let collector = match post::Collector::parse(url, if format == "otlp" { "/v1/logs" } else { "/" }) {
        Ok(collector) => collector,
        Err(error) => return Ok(Error::from(error).report()),
    };
    store.note("export", json!({"format": format, "to": collector.shown(), "by": person.name}))?;
    let mut sent = Sent { collector, otlp: format == "otlp", batch: Vec::new(), count: 0, rejected: 0 };
    records(&store.log(), since, &mut |_, record| sent.add(&record))?;
    sent.flush()?;
    print(&format!("{} records are sent, {} of them refused by the collector", sent.count, sent.rejected));
    Ok(if sent.rejected > 0 { exit_code::FOUND } else { exit_code::OK })
}

/// Sends records to a collector in batches.
struct Sent {
    collector: post::Collector,
    otlp: bool,
    batch: Vec<Value>,
    count: usize,
    rejected: u64,
}

impl Sent {
    fn add(&mut self, record: &Record) -> io::Result<()> {
        self.batch.push(if self.otlp { otlp::log_record(record) } else { ocsf::event(record) });
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        self.count += batch.len();
        let body = if self.otlp { otlp::request(batch) } else { Value::Array(batch) };
        let answer = self.collector.post(&body.to_string())?;
        self.rejected += otlp::rejected(&answer);
        Ok(())
    }
}
