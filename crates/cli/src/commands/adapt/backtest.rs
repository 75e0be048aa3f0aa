//! `reflex policy backtest FILE`: judges recorded calls again under a changed policy.

use crate::commands::adapt::presets;
use crate::commands::history::record::{action, field};
use crate::commands::preview::check::word;
use crate::error::{Error, RulesError};
use crate::exit_code;
use crate::terminal::arguments::{json, text};
use crate::terminal::output::{print, print_json};
use crate::terminal::progress::Progress;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command, value_parser};
use reflex_engine::Verdict;
use reflex_host::layers::Candidate;
use reflex_host::store::Search;
use reflex_host::{Context, Host, Mode};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of different calls listed for one kind of change.
const MAX_LISTED: usize = 20;

/// A call, and the working directory in which it was made.
type Call = (String, String);

/// Number of times each call was made, and the rules that decide about it under the new policy.
type Counted = BTreeMap<Call, (usize, Vec<String>)>;

/// Results of a backtest.
#[derive(Default)]
struct Outcome {
    /// Number of calls that were judged, and number that are incomplete in the log.
    judged: usize,
    left_out: usize,
    /// Calls by their old and new decision.
    changes: BTreeMap<(&'static str, &'static str), Counted>,
}

pub(in crate::commands) fn grammar() -> Command {
    let last = Arg::new("last").long("last").value_name("N").help("Judge the newest N recorded calls");
    let backtest = Command::new("backtest")
        .about("Judge recorded calls again with FILE in place of your policy, without changing it")
        .arg(Arg::new("file").value_name("FILE").required(true).help("A policy"))
        .arg(last.value_parser(value_parser!(usize)).default_value("1000"))
        .arg(json());
    Command::new("policy")
        .about("List presets, or try a policy on recorded calls")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(presets::grammar())
        .subcommand(backtest)
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let matches = match matches.subcommand() {
        Some(("presets", matches)) => return presets::run(context, matches),
        Some(("backtest", matches)) => matches,
        _ => return exit_code::USAGE,
    };
    let file = Path::new(text(matches, "file"));
    let last = matches.get_one::<usize>("last").copied().unwrap_or_default();
    let policy = std::fs::read_to_string(file).map_err(|source| Error::Input { file: file.to_owned(), source });
    let outcome = match policy.and_then(|policy| outcome(&context.host(Mode::default()), file, &policy, last)) {
        Ok(outcome) => outcome,
        Err(error) => return error.report(),
    };
    if matches.get_flag("json") {
        print_json(&outcome.json().to_string());
    } else {
        outcome.show();
    }
    exit_code::OK
}

/// Returns the output of `--json` for a policy text that replaces the user's policy.
pub(in crate::commands) fn as_json(context: &Context, policy: &str, last: usize) -> Result<Value, Error> {
    Ok(outcome(&context.host(Mode::default()), Path::new("policy"), policy, last)?.json())
}

/// Shows which decisions about the newest recorded calls a policy would have changed.
pub(in crate::commands) fn preview(host: &Host, file: &Path, policy: &str) {
    const LAST: usize = 1000;
    const MAX_SHOWN: usize = 5;
    let Ok(outcome) = outcome(host, file, policy, LAST) else { return };
    let total: usize = outcome.changes.values().flat_map(BTreeMap::values).map(|(count, _)| count).sum();
    let judged = outcome.judged;
    print(&format!("It would have changed {total} of the newest {judged} recorded calls."));
    let all = outcome.changes.iter().flat_map(|(words, calls)| calls.iter().map(move |call| (words, call)));
    for ((before, after), ((text, _), (count, _))) in all.take(MAX_SHOWN) {
        let first = visible(text.lines().next().unwrap_or(""));
        print(&format!("  {count:>4} x  {before} -> {after}  {first}"));
    }
}

/// # Errors
/// The problems of the policy, or the reason why the log cannot be read.
fn outcome(host: &Host, file: &Path, policy: &str, last: usize) -> Result<Outcome, Error> {
    let candidate = Candidate::compile(host.folders(), file, policy).map_err(RulesError::Candidate)?;
    let calls = Search { fields: vec![("kind".into(), "call".into())], ..Search::default() };
    let records = host.store().log().search(&calls, last).map_err(Error::Log)?;
    Ok(judged(host, &candidate, &records))
}

/// Judges every call under both policies; a repeated call is judged once.
fn judged(host: &Host, candidate: &Candidate, records: &[Map<String, Value>]) -> Outcome {
    let (mut outcome, mut progress) = (Outcome::default(), Progress::default());
    let mut known: BTreeMap<(Call, String), Option<(Verdict, Verdict)>> = BTreeMap::new();
    for (count, record) in (0_u64..).zip(records) {
        progress.at(count);
        let call = (subject(record), folder(record));
        let verdicts = known
            .entry((call.clone(), field(record, "agent").to_owned()))
            .or_insert_with(|| host.backtest(record, candidate));
        let Some((before, after)) = verdicts else {
            outcome.left_out += 1;
            continue;
        };
        outcome.judged += 1;
        let words = (word(before), word(after));
        if words.0 != words.1 {
            let rules = after.findings.iter().map(|finding| finding.id.to_string()).collect();
            outcome.changes.entry(words).or_default().entry(call).or_insert((0, rules)).0 += 1;
        }
    }
    outcome
}

fn subject(record: &Map<String, Value>) -> String {
    let actions = record.get("actions").and_then(Value::as_array);
    actions.and_then(|actions| actions.first()).map(action).unwrap_or_default()
}

fn folder(record: &Map<String, Value>) -> String {
    ["cwd", "workspace"].map(|key| field(record, key)).into_iter().find(|text| !text.is_empty()).unwrap_or("").into()
}

impl Outcome {
    fn show(&self) {
        let left_out = match self.left_out {
            0 => String::new(),
            count => format!("; {count} are not whole in the log and were left out"),
        };
        print(&format!("{} recorded calls judged again{left_out}", self.judged));
        if self.changes.is_empty() {
            print("no decision changes");
        }
        for ((before, after), calls) in &self.changes {
            let total: usize = calls.values().map(|(count, _)| count).sum();
            print(&format!("{total} {before} -> {after}"));
            let mut often: Vec<_> = calls.iter().collect();
            often.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            for ((text, folder), (count, rules)) in often.iter().take(MAX_LISTED) {
                let first = visible(text.lines().next().unwrap_or(""));
                let rules = if rules.is_empty() { String::new() } else { format!("  [{}]", rules.join(", ")) };
                print(&format!("  {count:>4} x  {first}  in {}{}", visible(folder), visible(&rules)));
            }
            if often.len() > MAX_LISTED {
                print(&format!("        and {} more; --json lists all", often.len() - MAX_LISTED));
            }
        }
    }

    fn json(&self) -> Value {
        let all = self.changes.iter().flat_map(|(words, calls)| calls.iter().map(move |call| (words, call)));
        let rows: Vec<Value> = all
            .map(|((before, after), ((text, folder), (count, rules)))| {
                json!({"before": before, "after": after, "call": text, "cwd": folder, "count": count, "rules": rules})
            })
            .collect();
        json!({"schema": "reflex/backtest-v1", "judged": self.judged, "left_out": self.left_out, "changes": rows})
    }
}
