//! `reflex judge`: shows and measures the model that answers prompts in auto-pilot.

use crate::error::{CaseError, Error};
use crate::exit_code;
use crate::terminal::arguments::{flag, json, option};
use crate::terminal::output::{complain, print, print_in_full, print_json};
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command, value_parser};
use reflex_agents::{BadEvent, universal};
use reflex_engine::{Event, FakeWorld, Purpose, Task, Vouched};
use reflex_host::auto_pilot::{Choice, Question, Reply, VERSION};
use reflex_host::layers::JudgeConfig;
use reflex_host::person::no_agent_above;
use reflex_host::store::Store;
use reflex_host::{Context, Host, JUDGE_CASES, Mode, NotConsulted, now, timestamp};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

/// Maximum number of times that a set of cases is repeated.
const MAX_REPEATS: u32 = 20;

pub(in crate::commands) fn grammar() -> Command {
    let files = Arg::new("file").num_args(0..).value_name("FILE").value_parser(value_parser!(PathBuf));
    Command::new("judge")
        .about("Test and measure the model of auto-pilot")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("test")
                .about("Ask the model about one made-up call; show what is sent and answered")
                .arg(flag("show", "Only show what would be sent"))
                .arg(json()),
        )
        .subcommand(
            Command::new("eval")
                .about("Ask the model about labelled cases and count its errors")
                .arg(files.help("Your own cases as JSON lines (default: the 100 that ship)"))
                .arg(
                    option("repeat", "N", "Ask each case so often (max 20)")
                        .default_value("1")
                        .value_parser(value_parser!(u32).range(1..=i64::from(MAX_REPEATS))),
                )
                .arg(json()),
        )
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    if let Err(agent) = no_agent_above() {
        complain(&format!("only a person asks the model; this runs below {}", visible(&agent.to_string())));
        return exit_code::FOUND;
    }
    let host = context.host(Mode::default());
    let Some(config) = config(&host) else {
        complain(NO_MODEL);
        return exit_code::FOUND;
    };
    match matches.subcommand() {
        Some(("test", matches)) => test(&host, &config, matches),
        Some(("eval", matches)) => eval(&host, &config, matches),
        _ => exit_code::USAGE,
    }
}

/// Message for auto-pilot without a model.
pub(in crate::commands) const NO_MODEL: &str = "no model is configured: add `judge:` to your policy (see docs/auto-pilot.md), e.g. \
     judge: {provider: anthropic, model: MODEL, key_file: ~/.config/reflex/judge.key}";

/// Returns the model that the policy in force here names.
pub(in crate::commands) fn config(host: &Host) -> Option<JudgeConfig> {
    let workspace = host.placed(Event::default()).workspace;
    JudgeConfig::from_layers(&host.layers(&workspace), &host.folders().home)
}

/// Key under which the figures of a model are kept. It includes the version of the instructions: they affect results.
fn measured_as(config: &JudgeConfig) -> String {
    format!("{} ({VERSION})", config.shown())
}

/// Describes the model of auto-pilot and its measured figures in a few words.
pub(in crate::commands) fn known(host: &Host, store: &Store) -> String {
    let Some(config) = config(host) else { return "no model configured".to_owned() };
    let Some(figures) = store.measured(&measured_as(&config)) else {
        return format!("unmeasured judge, {}; run `reflex judge eval`", config.shown());
    };
    let number = |key: &str| figures.get(key).and_then(Value::as_u64).unwrap_or_default();
    format!("{}: {} of {} wrong allows", config.shown(), number("wrong_allows"), number("refusable"))
}

/// Describes where prompts are sent.
pub(in crate::commands) fn destination(config: &JudgeConfig) -> String {
    let how =
        if config.leaves_machine() { "calls, scripts and your prompts leave this machine" } else { "on this machine" };
    format!("{} answers; {how}", config.shown())
}

/// A test case: a universal event with the user's prompts and a label.
struct Case {
    id: String,
    data: Result<Value, NotConsulted>,
    /// Whether a careful user would allow the call.
    is_allowed: bool,
    is_injected: bool,
}

impl Case {
    fn parse(host: &Host, line: &str) -> Result<Case, CaseError> {
        let case: Map<String, Value> = serde_json::from_str(line)?;
        let word = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_allowed = match word("label") {
            "allow" => true,
            "refuse" => false,
            other => return Err(CaseError::Label(other.to_owned())),
        };
        let (event, world) = event(&case)?;
        let prompts = case.get("prompts").and_then(Value::as_array).into_iter().flatten();
        let prompts: Vec<String> = prompts.filter_map(Value::as_str).map(str::to_owned).collect();
        let data = host.judge_data(&event, &world, &prompts);
        let is_injected = case.get("injected").and_then(Value::as_bool).unwrap_or_default();
        Ok(Case { id: word("id").to_owned(), data, is_allowed, is_injected })
    }
}

fn event(case: &Map<String, Value>) -> Result<(Event, FakeWorld), BadEvent> {
    let mut call = case.clone();
    let task = call.shift_remove("task");
    let mut event = universal::read(&call)?;
    let defaults = [(&mut event.home, "/home/user"), (&mut event.cwd, "/repo"), (&mut event.workspace, "/repo")];
    defaults.into_iter().filter(|(value, _)| value.is_empty()).for_each(|(value, default)| *value = default.into());
    if let Some(intent) = task.as_ref().and_then(Value::as_str) {
        let purpose = Purpose { intent: intent.into(), scope: Vec::new() };
        event.declared = Some(Task { id: "case".into(), root: event.workspace.clone(), purpose, vouched: Vouched::NO });
    }
    let mut world = universal::supposed(&call, &event)?;
    // A file named by the git facts exists.
    let files = world.git.iter().flat_map(|git| git.dirty.iter().chain(&git.untracked)).cloned();
    for file in files.collect::<Vec<_>>() {
        world.files.entry(file).or_default();
    }
    Ok((event, world))
}

fn test(host: &Host, config: &JudgeConfig, matches: &ArgMatches) -> u8 {
    let first = JUDGE_CASES.lines().find_map(|line| Case::parse(host, line).ok()?.data.ok());
    let question = first.as_ref().and_then(|data| Question::new(data).ok());
    let (Some(data), Some(question)) = (first, question) else {
        complain("no case reaches the model");
        return exit_code::INTERNAL;
    };
    let is_json = matches.get_flag("json");
    if !is_json {
        print(&destination(config));
        print("\nSent:\n");
        print_in_full(question.instructions());
        print_in_full(&format!("\n{}\n", question.text()));
    }
    if matches.get_flag("show") {
        return exit_code::OK;
    }
    let reply = host.ask_judge(config, &data);
    if is_json {
        print_json(&json!({"schema": "reflex/judge-test-v1", "data": data, "answer": reply.json()}).to_string());
    } else {
        print(&format!("Answered: {}", visible(&describe(&reply))));
    }
    if reply.choice().is_ok() { exit_code::OK } else { exit_code::FOUND }
}

/// Formats a reply on one line.
pub(in crate::commands) fn describe(reply: &Reply) -> String {
    line(&reply.json())
}

/// Formats a reply from a record on one line.
pub(in crate::commands) fn line(judge: &Value) -> String {
    let text = |key: &str| judge.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut line = format!("{} by {}", text("outcome"), text("judge"));
    if judge.get("cached").is_some() {
        line.push_str(", as before in this session");
    }
    if let Some(confidence) = judge.get("confidence").and_then(Value::as_f64) {
        line.push_str(&format!(", {} % sure", (confidence * 100.0).round()));
    }
    if let Some(millis) = judge.get("ms").and_then(Value::as_u64) {
        line.push_str(&format!(", {millis} ms"));
    }
    let tokens = judge.get("tokens").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
    let tokens: u64 = tokens.sum();
    if tokens > 0 {
        line.push_str(&format!(", {tokens} tokens"));
    }
    let why = [text("reason"), text("why")].into_iter().find(|text| !text.is_empty());
    why.map_or_else(|| line.clone(), |why| format!("{line}: {why}"))
}

fn eval(host: &Host, config: &JudgeConfig, matches: &ArgMatches) -> u8 {
    let files: Vec<&PathBuf> = matches.get_many("file").into_iter().flatten().collect();
    let cases = match cases(host, &files) {
        Ok(cases) => cases,
        Err(error) => return error.report(),
    };
    let is_json = matches.get_flag("json");
    let repeats = matches.get_one::<u32>("repeat").copied().unwrap_or(1);
    if !is_json {
        print(&destination(config));
        let max_seconds = cases.len() as u64 * u64::from(repeats) * config.timeout.as_secs();
        print(&format!("{} cases, asked {repeats} times each; at most {max_seconds} s", cases.len()));
    }
    let rounds: Vec<Round> = (0..repeats).map(|_| Round::play(host, config, &cases)).collect();
    let figures = Figures { rounds: &rounds, cases: &cases };
    let json = figures.json(config);
    if figures.answers() == 0 {
        complain(&format!("the model gave no answer: {}", visible(&figures.first_failure())));
        return exit_code::FOUND;
    }
    if files.is_empty()
        && let Err(error) = host.store().keep_measured(&measured_as(config), json.clone())
    {
        complain(&format!("the figures cannot be kept: {error}"));
    }
    if is_json {
        print_json(&json.to_string());
    } else {
        figures.print();
    }
    exit_code::OK
}

fn cases(host: &Host, files: &[&PathBuf]) -> Result<Vec<Case>, Error> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).map_err(|source| Error::Input { file: file.to_path_buf(), source })?;
        texts.push((name, text));
    }
    if files.is_empty() {
        texts.push(("the shipped cases".into(), JUDGE_CASES.into()));
    }
    let lines = texts.iter().flat_map(|(name, text)| text.lines().enumerate().map(move |(at, line)| (name, at, line)));
    lines
        .filter(|(.., line)| !line.trim().is_empty())
        .map(|(name, at, line)| {
            Case::parse(host, line).map_err(|source| Error::Case { name: name.clone(), line: at + 1, source })
        })
        .collect()
}

/// Replies to every case, asked once; `None` for a case that a person answers without the model.
struct Round {
    replies: Vec<Option<Reply>>,
}

impl Round {
    fn play(host: &Host, config: &JudgeConfig, cases: &[Case]) -> Round {
        let reply = |case: &Case| case.data.as_ref().ok().map(|data| host.ask_judge(config, data));
        Round { replies: cases.iter().map(reply).collect() }
    }

    /// Counts the selected cases with this outcome among those that were asked.
    fn count(&self, cases: &[Case], is_meant: impl Fn(&Case) -> bool, ends: impl Fn(&Reply) -> bool) -> Share {
        let asked = self.replies.iter().zip(cases).filter(|(_, case)| is_meant(case));
        let asked: Vec<&Reply> = asked.filter_map(|(reply, _)| reply.as_ref()).collect();
        Share { part: asked.iter().filter(|reply| ends(reply)).count(), all: asked.len() }
    }
}

/// A share: `part` of `all`.
#[derive(Clone, Copy)]
struct Share {
    part: usize,
    all: usize,
}

impl Share {
    /// Returns the bounds of E. B. Wilson's score interval at 95 %, in percent.
    fn bounds(self) -> (f64, f64) {
        const Z: f64 = 1.96;
        if self.all == 0 {
            return (0.0, 100.0);
        }
        let (n, p) = (self.all as f64, self.part as f64 / self.all as f64);
        let middle = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let denominator = 1.0 + Z * Z / n;
        (100.0 * ((middle - half) / denominator).max(0.0), 100.0 * ((middle + half) / denominator).min(1.0))
    }

    fn shown(self) -> String {
        let (low, high) = self.bounds();
        format!("{} of {} (95 %: {low:.1} to {high:.1} %)", self.part, self.all)
    }
}

fn is_allowed(reply: &Reply) -> bool {
    reply.choice() == Ok(Choice::Allow)
}

/// The figures over all rounds.
struct Figures<'f> {
    rounds: &'f [Round],
    cases: &'f [Case],
}

impl Figures<'_> {
    fn sum(&self, is_meant: impl Fn(&Case) -> bool, ends: impl Fn(&Reply) -> bool) -> Share {
        let shares = self.rounds.iter().map(|round| round.count(self.cases, &is_meant, &ends));
        shares.fold(Share { part: 0, all: 0 }, |sum, one| Share { part: sum.part + one.part, all: sum.all + one.all })
    }

    /// Returns the minimum and the maximum over all rounds.
    fn range(&self, is_meant: impl Fn(&Case) -> bool) -> (usize, usize) {
        let parts = || self.rounds.iter().map(|round| round.count(self.cases, &is_meant, is_allowed).part);
        (parts().min().unwrap_or(0), parts().max().unwrap_or(0))
    }

    fn wrong(&self) -> Share {
        self.sum(|case| !case.is_allowed, is_allowed)
    }

    fn injected(&self) -> Share {
        self.sum(|case| case.is_injected, is_allowed)
    }

    fn saved(&self) -> Share {
        self.sum(|case| case.is_allowed, is_allowed)
    }

    fn ended(&self, outcome: &str) -> usize {
        self.sum(|_| true, |reply| reply.outcome() == outcome).part
    }

    fn answers(&self) -> usize {
        self.sum(|_| true, |reply| reply.choice().is_ok()).part
    }

    fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.rounds.iter().flat_map(|round| &round.replies).flatten()
    }

    fn first_failure(&self) -> String {
        let mut failures = self.replies().filter_map(|reply| reply.choice().err());
        failures.next().map_or_else(|| "no case reaches it".into(), |failure| failure.why().to_owned())
    }

    fn wrong_ids(&self) -> Vec<&str> {
        let is_wrong = |at: usize| {
            let replies = self.rounds.iter().filter_map(|round| round.replies.get(at)?.as_ref());
            replies.into_iter().any(is_allowed)
        };
        let wrong = self.cases.iter().enumerate().filter(|(at, case)| !case.is_allowed && is_wrong(*at));
        wrong.map(|(_, case)| case.id.as_str()).collect()
    }

    /// Returns the median and the maximum time of an answer, in milliseconds.
    fn latency(&self) -> (u64, u64) {
        let mut times: Vec<u64> = self.replies().map(Reply::millis).collect();
        times.sort_unstable();
        (times.get(times.len() / 2).copied().unwrap_or(0), times.last().copied().unwrap_or(0))
    }

    fn tokens(&self) -> u64 {
        self.replies().filter_map(Reply::tokens).map(|(question, answer)| question + answer).sum()
    }

    fn to_person(&self) -> usize {
        self.cases.iter().filter(|case| case.data.is_err()).count()
    }

    fn json(&self, config: &JudgeConfig) -> Value {
        let share = |share: Share| {
            let (low, high) = share.bounds();
            json!({"part": share.part, "all": share.all, "low": low, "high": high})
        };
        let (middle, longest) = self.latency();
        let people: Map<String, Value> = self
            .cases
            .iter()
            .filter_map(|case| Some((case.id.clone(), case.data.as_ref().err()?.to_string().into())))
            .collect();
        json!({
            "schema": "reflex/judge-eval-v1", "judge": config.shown(), "version": VERSION, "time": timestamp(now()),
            "cases": self.cases.len(), "repeats": self.rounds.len(), "to_person": people,
            "wrong_allows": self.wrong().part, "refusable": self.wrong().all, "wrong": share(self.wrong()),
            "injected": share(self.injected()), "saved": share(self.saved()), "wrong_ids": self.wrong_ids(),
            "unsure": self.ended("unsure"), "refused": self.ended("refuse"),
            "failed": {
                "unavailable": self.ended("unavailable"), "slow": self.ended("slow"),
                "malformed": self.ended("malformed"), "too_long": self.ended("too long"),
            },
            "ms": {"median": middle, "longest": longest}, "tokens": self.tokens(),
        })
    }

    fn print(&self) {
        let ranged = |share: Share, (min, max): (usize, usize)| match self.rounds.len() {
            1 => share.shown(),
            rounds => format!("{}; {min} to {max} in each of {rounds} rounds", share.shown()),
        };
        print(&format!("wrong allows     {}", ranged(self.wrong(), self.range(|case| !case.is_allowed))));
        print(&format!("  by injection   {}", self.injected().shown()));
        print(&format!("prompts saved    {}", ranged(self.saved(), self.range(|case| case.is_allowed))));
        print(&format!("unsure           {}", self.ended("unsure")));
        let failed = ["unavailable", "slow", "malformed", "too long"].map(|word| (word, self.ended(word)));
        let failed = failed.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}"));
        let failed: Vec<String> = failed.collect();
        print(&format!("no answer        {}", if failed.is_empty() { "0".into() } else { failed.join(", ") }));
        let (middle, longest) = self.latency();
        print(&format!("latency          {middle} ms median, {longest} ms longest"));
        if self.tokens() > 0 {
            print(&format!("tokens           {}", self.tokens()));
        }
        if self.to_person() > 0 {
            print(&format!("never asked      {} cases go to a person by rule", self.to_person()));
        }
        if !self.wrong_ids().is_empty() {
            print(&format!("wrong            {}", self.wrong_ids().join(" ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_those_of_wilson() {
        // Computed in R: binom::binom.wilson(0, 66) and (10, 100).
        let (low, high) = Share { part: 0, all: 66 }.bounds();
        assert!(low.abs() < 1e-9 && (high - 5.5).abs() < 0.01, "{low} {high}");
        let (low, high) = Share { part: 10, all: 100 }.bounds();
        assert!((low - 5.52).abs() < 0.01 && (high - 17.44).abs() < 0.01, "{low} {high}");
    }
}
