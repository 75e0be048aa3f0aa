//! Cost of one call of the hook for each agent: the command `git status` in the payload that the agent sends.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::ground::Ground;
use super::measure::{self, Caller, Hook, Time, has_valgrind};
use super::payloads::SESSION;
pub(crate) use crate::adapters::PAYLOADS;

/// Maximum time of a call, in hundredths of that of a program that does nothing.
pub(crate) const MAX_RATIO: u32 = 100;

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "as for allow-simple above, whatever the form of the payload";

/// The fields in which agents name the session.
const SESSIONS: [&str; 4] = ["session_id", "sessionId", "conversation_id", "trajectory_id"];

/// The measurement of one of [`PAYLOADS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Time of the hook.
    pub(crate) time: Time,
    /// Thousands of instructions; `None` if they could not be counted.
    pub(crate) instructions: Option<u32>,
}

/// Measures each of [`PAYLOADS`], in turns, with a new state, in which no calls wait for a person.
pub(crate) fn measure(root: &Path, binary: &Path) -> Result<Vec<Cost>> {
    let ground = Ground::named("agent")?;
    let hook = |(agent, file): &(&'static str, &'static str)| {
        let payload = payload(&root.join("crates/agents/tests/fixtures").join(file), &ground.repo)?;
        Ok(Hook { caller: Caller { agent, event: event(file) }, binary, ground: &ground, payload })
    };
    let hooks: Vec<Hook<'_>> = PAYLOADS.iter().map(hook).collect::<Result<_>>()?;
    for (hook, (agent, _)) in hooks.iter().zip(PAYLOADS) {
        let answer = hook.answer()?;
        if !answer.is_permission() {
            bail!("{agent}: the hook answers `{}`", answer.shown());
        }
    }
    let count = |hook: &Hook<'_>| has_valgrind().then(|| hook.instructions()).transpose();
    let counts: Vec<Option<u32>> = hooks.iter().map(count).collect::<Result<_, _>>()?;
    let (times, _) = measure::times(&hooks)?;
    Ok(times.into_iter().zip(counts).map(|(time, instructions)| Cost { time, instructions }).collect())
}

/// The name of a payload on the page.
pub(crate) fn name((agent, file): &(&'static str, &'static str)) -> String {
    format!("{agent}, `{}`", event(file))
}

/// The agent's name of the event, from the name of the recording.
fn event(file: &'static str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".json");
    name.split('-').next().unwrap_or(name)
}

/// The recorded payload with the command, the folder and the session of a measured call.
fn payload(file: &Path, repo: &Path) -> Result<String> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let fields: Map<String, Value> = serde_json::from_str(&text).with_context(|| format!("`{}`", file.display()))?;
    Ok(Value::from(adapted(fields, &repo.to_string_lossy())).to_string())
}

fn adapted(fields: Map<String, Value>, repo: &str) -> Map<String, Value> {
    let value = |key: &str, value: Value| {
        if let Value::Object(fields) = value {
            return adapted(fields, repo).into();
        }
        match key {
            _ if value == "/repo" => repo.into(),
            _ if value == json!(["/repo"]) => json!([repo]),
            _ if SESSIONS.contains(&key) => SESSION.into(),
            "command" | "command_line" => "git status".into(),
            _ => value,
        }
    };
    fields.into_iter().map(|(key, one)| (key.clone(), value(&key, one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_gets_the_measured_call() {
        let recorded = json!({"cwd": "/repo", "sessionId": "1", "tool_input": {"command": "echo"}, "roots": ["/repo"]});
        let Value::Object(fields) = recorded else { panic!() };
        let expected =
            json!({"cwd": "/x", "sessionId": SESSION, "tool_input": {"command": "git status"}, "roots": ["/x"]});
        assert_eq!(Value::from(adapted(fields, "/x")), expected);
    }

    #[test]
    fn recordings_are_named_by_agent_and_event() {
        let names = ["opencode/tool.execute.before-bash.json", "windsurf/pre_run_command.json"].map(event);
        assert_eq!(names, ["tool.execute.before", "pre_run_command"]);
    }
}
