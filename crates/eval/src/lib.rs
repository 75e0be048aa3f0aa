//! Judges universal events in a simulated world: what `reflex eval` and the packages for Node.js and Python answer.
//!
//! ```
//! use reflex_eval::Judge;
//!
//! let judge = Judge::new("balanced", "/home/user").unwrap();
//! let verdict = judge.line(br#"{"event": "pre-command", "command": "rm -rf ~"}"#);
//! assert_eq!(verdict["decision"], "block");
//! ```
//!
//! This crate reads no disk, clock or environment: facts about files and repositories are fields of the event.

mod session;

use reflex_agents::{BadEvent, universal};
use reflex_engine::{AgentPath, Decision, Engine, Event, Policy, Severity, Verdict};
use serde_json::{Map, Value};
use session::Session;

/// Judges events under a policy of the library. Threads may share it.
#[derive(Debug)]
pub struct Judge {
    policy: Policy,
    home: String,
}

impl Judge {
    /// Creates a judge for the policy of this name. `home` is the home folder of events that name none. Returns `None`
    /// if the library has no such policy.
    pub fn new(policy: &str, home: &str) -> Option<Judge> {
        // Without layers no rule expires, so the minute does not matter.
        let policy = Policy::named(reflex_library::tables(), policy)?.with_layers(Vec::new(), 0, true);
        Some(Judge { policy, home: home.into() })
    }

    /// Returns the verdict of one event or sequence of events, a JSON object in UTF-8, with its `id` echoed. Input that
    /// cannot be read is denied.
    pub fn line(&self, line: &[u8]) -> Map<String, Value> {
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

    fn verdict(&self, object: &Map<String, Value>) -> Result<Verdict, BadEvent> {
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
        let engine = Engine::new(reflex_library::tables(), &self.policy);
        let judgement = engine.judge(&event, &world);
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
