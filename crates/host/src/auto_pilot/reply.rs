//! A model's answer in its closed form, and the failures to get one.

use crate::config::JudgeConfig;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Minimum confidence of a decision; a less certain one goes to a person.
pub const SURE: f64 = 0.9;

/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 200;

/// The model's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The call may run.
    Allow,
    /// The call may not run.
    Refuse,
    /// A person decides.
    Ask,
}

impl Choice {
    /// The name of the decision.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Allow => "allow",
            Choice::Refuse => "refuse",
            Choice::Ask => "ask",
        }
    }
}

/// The form of an answer; one with any other field is invalid.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelAnswer {
    decision: Choice,
    confidence: f64,
    reason: String,
}

/// The same form as a JSON schema, for providers that enforce one.
pub(super) fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["decision", "confidence", "reason"],
        "properties": {
            "decision": {"type": "string", "enum": ["allow", "refuse", "ask"]},
            "confidence": {"type": "number", "description": "0 to 1"},
            "reason": {"type": "string", "description": "at most 200 characters"},
        },
    })
}

impl ModelAnswer {
    /// Parses an answer.
    ///
    /// # Errors
    /// The answer deviates from the form.
    pub(super) fn parse(text: &str) -> Result<ModelAnswer, Failure> {
        let answer: ModelAnswer = serde_json::from_str(text.trim())
            .map_err(|error| Failure::new(Kind::Malformed, format!("the answer has another form: {error}")))?;
        let problem = if !(0.0..=1.0).contains(&answer.confidence) {
            "its confidence is not between 0 and 1"
        } else if answer.reason.chars().count() > MAX_REASON {
            "its reason is longer than 200 characters"
        } else {
            return Ok(answer);
        };
        Err(Failure::new(Kind::Malformed, format!("the answer has another form: {problem}")))
    }
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No connection, or an error status.
    Unavailable,
    /// The answer did not arrive in time.
    Slow,
    /// The answer does not have the form.
    Malformed,
    /// The question exceeds the maximum length.
    TooLong,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Unavailable => "unavailable",
            Kind::Slow => "slow",
            Kind::Malformed => "malformed",
            Kind::TooLong => "too long",
        }
    }
}

/// A failure to get an answer, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    why: String,
    /// Whether the failure is temporary, so that a further attempt makes sense.
    pub(super) passes: bool,
}

impl Failure {
    pub(super) fn new(kind: Kind, why: impl Into<String>) -> Failure {
        Failure { kind, why: why.into(), passes: false }
    }

    pub(super) fn passing(kind: Kind, why: impl Into<String>) -> Failure {
        Failure { passes: true, ..Failure::new(kind, why) }
    }

    /// The failure of a question that was too long to ask.
    pub(crate) fn too_long(why: &str) -> Failure {
        Failure::new(Kind::TooLong, why)
    }

    /// The reason in words.
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// The result of one request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Response {
    pub(super) answer: ModelAnswer,
    /// The model's name as the provider reports it; empty if it does not.
    pub(super) model: String,
    /// Tokens of the question and of the answer, if the provider counts them.
    pub(super) tokens: Option<(u64, u64)>,
}

/// The result of one question, over all attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    call: Result<Response, Failure>,
    asked: String,
    millis: u64,
    attempts: u32,
}

impl Reply {
    pub(super) fn new(config: &JudgeConfig, call: Result<Response, Failure>, took: Duration, attempts: u32) -> Reply {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Reply { call, asked: config.shown(), millis, attempts }
    }

    /// The reply to a question that was not asked.
    pub(crate) fn unasked(config: &JudgeConfig, failure: Failure) -> Reply {
        Reply { call: Err(failure), asked: config.shown(), millis: 0, attempts: 0 }
    }

    /// The decision that counts: [`Choice::Ask`] if the model is not sure enough.
    ///
    /// # Errors
    /// The failure to get an answer.
    pub fn choice(&self) -> Result<Choice, &Failure> {
        let answer = &self.call.as_ref()?.answer;
        Ok(if answer.confidence >= SURE { answer.decision } else { Choice::Ask })
    }

    /// The model's own words. The author of the call may have influenced them.
    pub fn reason(&self) -> &str {
        self.call.as_ref().map_or("", |call| &call.answer.reason)
    }

    /// Time over all attempts, in milliseconds.
    pub fn millis(&self) -> u64 {
        self.millis
    }

    /// Tokens of the question and of the answer, if the provider counts them.
    pub fn tokens(&self) -> Option<(u64, u64)> {
        self.call.as_ref().ok()?.tokens
    }

    /// The outcome: `allow`, `refuse`, `unsure`, `unavailable`, `slow`, `malformed`, `too long`.
    pub fn outcome(&self) -> &'static str {
        match self.choice() {
            Ok(Choice::Ask) => "unsure",
            Ok(choice @ (Choice::Allow | Choice::Refuse)) => choice.name(),
            Err(failure) => failure.kind.name(),
        }
    }

    /// The reply as the record holds it.
    pub fn json(&self) -> Value {
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| drop(record.insert(key.into(), value));
        put("outcome", self.outcome().into());
        put("judge", self.asked.as_str().into());
        put("ms", self.millis.into());
        put("attempts", self.attempts.into());
        match &self.call {
            Ok(call) => {
                put("decision", call.answer.decision.name().into());
                put("confidence", json!(call.answer.confidence));
                put("reason", call.answer.reason.as_str().into());
                put("model", call.model.as_str().into());
                if let Some((question, answer)) = call.tokens {
                    put("tokens", json!([question, answer]));
                }
            }
            Err(failure) => put("why", failure.why.as_str().into()),
        }
        Value::Object(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_closed_form_is_an_answer() {
        let good = r#"{"decision":"allow","confidence":0.95,"reason":"as asked"}"#;
        assert!(ModelAnswer::parse(good).is_ok());
        let long = format!(r#"{{"decision":"allow","confidence":1,"reason":"{}"}}"#, "a".repeat(201));
        for bad in [
            "",
            "allow",
            "```json\n{}\n```",
            r#"{"decision":"allow","confidence":0.95}"#,
            r#"{"decision":"yes","confidence":0.95,"reason":""}"#,
            r#"{"decision":"allow","confidence":1.5,"reason":""}"#,
            r#"{"decision":"allow","confidence":"1","reason":""}"#,
            r#"{"decision":"allow","confidence":0.95,"reason":"","also":1}"#,
            r#"{"decision":"ask","decision":"allow","confidence":1,"reason":""}"#,
            r#"{"decision":"refuse","confidence":1,"reason":""} {"decision":"allow","confidence":1,"reason":""}"#,
            &long,
        ] {
            assert_eq!(ModelAnswer::parse(bad).unwrap_err().kind, Kind::Malformed, "{bad}");
        }
    }
}
