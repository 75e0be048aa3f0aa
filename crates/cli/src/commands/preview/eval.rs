//! `reflex eval`: judges universal events in a simulated world.

use crate::commands::preview::check::TOO_MUCH;
use crate::exit_code;
use crate::lifeline;
use crate::terminal::arguments::text;
use crate::terminal::output::{complain, note};
use clap::ArgMatches;
use reflex_agents::{BadEvent, universal};
use reflex_engine::loopbreaker::{Step, finish};
use reflex_engine::{
    Action, AgentPath, Decision, Effect, EffectKind, Event, FakeWorld, Judgement, Moment, RemnantKind, Severity, Taint,
    Target, Verdict, absolute, written_by,
};
use reflex_host::store::session::WINDOW;
use reflex_host::{Host, Mode};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    let Some(mode) = Mode::named(text(matches, "mode")) else {
        complain(&format!("unknown mode `{}`; known: {}", text(matches, "mode"), Mode::names().join(", ")));
        return exit_code::USAGE;
    };
    let judge = Judge { host: Host::new(mode), home: text(matches, "home").into() };
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => {}
            Err(error) => {
                complain(&format!("cannot read the input: {error}"));
                return exit_code::INTERNAL;
            }
        }
        lifeline::watch(TOO_MUCH);
        let verdict = judge.line(&line);
        lifeline::disarm();
        // A caller that sends one line at a time waits for the answer before the next line.
        let written = writeln!(output, "{}", Value::Object(verdict)).and_then(|()| output.flush());
        if written.is_err() {
            note(written);
            return exit_code::OK;
        }
    }
    exit_code::OK
}

pub(in crate::commands) struct Judge {
    pub(in crate::commands) host: Host,
    pub(in crate::commands) home: String,
}

impl Judge {
    /// Returns the verdict of one line, with its `id` echoed.
    fn line(&self, line: &[u8]) -> Map<String, Value> {
        let object = match reflex_agents::object(line) {
            Ok(object) => object,
            Err(problem) => return universal::unreadable(&problem),
        };
        let mut verdict = match self.verdict(&object) {
            Ok(verdict) => {
                let mut output = universal::verdict(&verdict);
                if verdict.can_be_kept() {
                    // The hook would back up the data at risk, and warn.
                    output.insert("undo".into(), true.into());
                }
                output
            }
            Err(problem) => universal::unreadable(&problem),
        };
        if let Some(id) = object.get("id") {
            verdict.insert("id".into(), id.clone());
        }
        verdict
    }

    pub(in crate::commands) fn verdict(&self, object: &Map<String, Value>) -> Result<Verdict, BadEvent> {
        if object.get("event").and_then(Value::as_str) == Some("sequence") {
            return self.sequence(object);
        }
        self.step(object, &mut Session::default())
    }

    /// Judges one event of a session; its effects are visible to the next event.
    fn step(&self, object: &Map<String, Value>, session: &mut Session) -> Result<Verdict, BadEvent> {
        let mut event = self.completed(universal::read(object)?);
        event.declared = universal::declared(object, &event.workspace)?;
        let mut world = universal::supposed(object, &event)?;
        session.enter(&mut world);
        let judgement = self.host.judge_in(&event, &world);
        session.keep(&event, &judgement);
        Ok(judgement.verdict)
    }

    /// Completes an event that is judged without a machine with defaults.
    fn completed(&self, mut event: Event) -> Event {
        let filled = |value: String, default: &str| if value.is_empty() { default.to_owned() } else { value };
        event.home = filled(event.home, &self.home);
        event.cwd = filled(event.cwd, "/repo");
        event.workspace = filled(event.workspace, &event.cwd.clone());
        for folder in [&mut event.cwd, &mut event.workspace, &mut event.home] {
            *folder = AgentPath::new(folder.as_str()).with_slashes();
        }
        event
    }

    /// Plays the steps in one session and returns the strictest verdict, with the findings of all steps; each finding
    /// names its step.
    fn sequence(&self, object: &Map<String, Value>) -> Result<Verdict, BadEvent> {
        let Some(Value::Array(steps)) = object.get("steps") else { return Err(problem("steps", "is not a list")) };
        let mut strictest = Verdict { confidence: 100, ..Verdict::default() };
        let (mut session, mut others) = (Session::default(), Vec::new());
        for (index, step) in steps.iter().enumerate() {
            let mut verdict = self.step(&step_event(object, step)?, &mut session)?;
            if step.is_string() {
                verdict = without_prose(verdict);
            }
            verdict.findings.iter_mut().for_each(|finding| finding.at.within = format!("step:{index}"));
            let rank = |verdict: &Verdict| (verdict.decision, !verdict.advice.is_empty());
            let findings = if rank(&verdict) > rank(&strictest) {
                std::mem::replace(&mut strictest, verdict).findings
            } else {
                verdict.findings
            };
            others.extend(findings);
        }
        strictest.findings.extend(others);
        Ok(strictest)
    }
}

/// Accumulated effects of the steps of a sequence.
#[derive(Default)]
struct Session {
    past: Vec<Step>,
    remnants: Vec<Taint>,
    files: BTreeMap<String, String>,
}

impl Session {
    /// Applies the effects of the earlier steps to the world; facts given by the event itself take precedence.
    fn enter(&self, world: &mut FakeWorld) {
        world.past.clone_from(&self.past);
        for (path, text) in &self.files {
            world.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        let (links, rest): (Vec<&Taint>, Vec<&Taint>) =
            self.remnants.iter().partition(|remnant| remnant.kind == RemnantKind::Link);
        for link in links {
            world.links.entry(link.path.clone()).or_insert_with(|| link.from.clone());
        }
        world.remnants.extend(rest.into_iter().cloned());
    }

    fn keep(&mut self, event: &Event, judgement: &Judgement) {
        let refused = judgement.verdict.decision == Decision::Deny;
        let step = Step { refused, ..judgement.step.clone() };
        if event.moment == Moment::AfterTool {
            finish(&mut self.past, step);
        } else {
            self.past.push(step);
        }
        let excess = self.past.len().saturating_sub(WINDOW);
        self.past.drain(..excess);
        if !refused && event.moment.is_before_execution() {
            self.keep_left(event, judgement);
        } else if !refused {
            self.remnants.extend(judgement.left.iter().cloned());
        }
    }

    fn keep_left(&mut self, event: &Event, judgement: &Judgement) {
        self.remnants.extend(judgement.left.iter().cloned());
        self.files.extend(written_by(&judgement.analysis));
        self.keep_copies(&judgement.analysis.effects);
        for action in &event.actions {
            if let Action::Write { path, content } = action {
                self.files.insert(absolute(&path.with_slashes(), &event.cwd), content.clone());
            }
            if let Action::Edit { path, content, removed, .. } = action
                && let Some(text) = self.files.get_mut(&absolute(&path.with_slashes(), &event.cwd))
            {
                *text = if removed.is_empty() { content.clone() } else { text.replacen(removed.as_str(), content, 1) };
            }
        }
    }

    /// Gives files that a command copies or moves their text in the new place too.
    fn keep_copies(&mut self, effects: &[Effect]) {
        let is_direct = |effect: &&Effect| effect.script.is_none() && effect.command.is_some();
        for effect in effects.iter().filter(is_direct).filter(|effect| effect.kind == EffectKind::Overwrite) {
            let sources = effects.iter().filter(is_direct).filter(|other| {
                let gives = matches!(other.kind, EffectKind::Read | EffectKind::Move);
                gives && (other.action, other.command) == (effect.action, effect.command)
            });
            let paths: Vec<&str> = sources.flat_map(|source| &source.targets).filter_map(Target::path).collect();
            for (source, place) in paths.iter().flat_map(|source| effect.targets.iter().map(move |to| (source, to))) {
                let text = self.files.get(*source).cloned();
                self.files.extend(place.path().map(str::to_owned).zip(text));
            }
        }
    }
}

/// Removes findings about unreadable code: a bare text may be an agent's prose instead of a command, which no shell has
/// to read.
fn without_prose(mut verdict: Verdict) -> Verdict {
    let is_prose = |id: &str| matches!(id, "code/unreadable" | "code/unfinished");
    let found = verdict.findings.len();
    verdict.findings.retain(|finding| !is_prose(&finding.id));
    let risk = verdict.findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
    if verdict.findings.len() < found && risk < Severity::High {
        (verdict.decision, verdict.risk) = (Decision::Pass, risk);
        verdict.reasons.clear();
        verdict.advice.retain(|advice| !is_prose(&advice.finding));
    }
    verdict
}

/// Builds the event of a step. A step inherits the fields of the sequence; a bare text is a command.
fn step_event(sequence: &Map<String, Value>, step: &Value) -> Result<Map<String, Value>, BadEvent> {
    let mut event: Map<String, Value> = sequence
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "steps" | "event" | "id"))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if let Value::String(command) = step {
        event.insert("event".into(), "pre-command".into());
        event.insert("command".into(), command.as_str().into());
        return Ok(event);
    }
    let fields = step.as_object().ok_or_else(|| problem("steps", "holds something else than events and texts"))?;
    event.extend(fields.clone());
    Ok(event)
}

fn problem(field: &str, problem: &str) -> BadEvent {
    BadEvent { field: field.into(), problem: problem.into(), moment: None }
}
