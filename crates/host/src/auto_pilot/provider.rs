//! The protocols by which a model is asked. Each sends the question in one request and reads an answer of bounded size.

use super::question::Question;
use super::reply::{Failure, Kind, ModelAnswer, Response, schema};
use crate::config::{JudgeConfig, Provider};
use crate::system::http::{self, Bounds, Request};
use crate::system::os;
use crate::system::run::{self, Ended, Limits};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// Maximum length of an answer, in bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// Maximum number of tokens of an answer, four times what its form needs.
const MAX_TOKENS: u32 = 400;

/// The version of Anthropic's API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The name of the tool through which Anthropic's models return their answer.
const TOOL: &str = "answer";

/// The variable set for a command that answers, by which an agent that it starts is recognized as one.
const MARK: &str = "REFLEX_JUDGE";

pub(super) fn ask(
    config: &JudgeConfig,
    question: &Question,
    within: Duration,
    scratch: &Path,
) -> Result<Response, Failure> {
    match &config.provider {
        Provider::Command { line } => command(line, question, within, scratch),
        Provider::Anthropic { url, key_file } => {
            let key = key(key_file)?;
            let headers = [("x-api-key", key.as_str()), ("anthropic-version", ANTHROPIC_VERSION)];
            let body = json!({
                "model": config.model, "max_tokens": MAX_TOKENS, "system": question.instructions(),
                "messages": [{"role": "user", "content": question.text()}],
                "tools": [{"name": TOOL, "description": "Hands in the decision.", "input_schema": schema()}],
                "tool_choice": {"type": "tool", "name": TOOL},
            });
            let url = format!("{}/v1/messages", url.trim_end_matches('/'));
            anthropic(&post(&url, &headers, &body, within)?)
        }
        Provider::OpenAi { url, key_file } => {
            let bearer = key_file.as_deref().map(key).transpose()?.map(|key| format!("Bearer {key}"));
            let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
            let form = json!({"name": TOOL, "strict": true, "schema": schema()});
            let body = json!({
                "model": config.model, "max_completion_tokens": MAX_TOKENS,
                "messages": [
                    {"role": "system", "content": question.instructions()},
                    {"role": "user", "content": question.text()},
                ],
                "response_format": {"type": "json_schema", "json_schema": form},
            });
            let url = format!("{}/chat/completions", url.trim_end_matches('/'));
            openai(&post(&url, &headers, &body, within)?)
        }
    }
}

/// Reads the key from a file that only its owner can read.
fn key(file: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::new(Kind::Unavailable, format!("the key file {}: {why}", file.display()));
    let data = fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if os::mode_of(&data) & 0o077 != 0 {
        return Err(failed("others can read it; run `chmod 600` on it".into()));
    }
    let key = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let key = key.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(failed("it holds no key".into()));
    }
    Ok(key.to_owned())
}

/// Sends one request. Redirects are not followed, so the key reaches only the configured host.
fn post(url: &str, headers: &[(&str, &str)], body: &Value, within: Duration) -> Result<Value, Failure> {
    let is_local = url.starts_with("http://");
    let bounds = Bounds { within, bytes: MAX_ANSWER, redirects: 0, is_local, is_encrypted: !is_local };
    let body = body.to_string();
    let request = Request { method: "POST", url, headers, body: Some(("application/json", &body)) };
    let begun = std::time::Instant::now();
    let answer = http::send(request, bounds).map_err(|why| match begun.elapsed() >= within {
        true => Failure::new(Kind::Slow, format!("no answer within {:.0} s", within.as_secs_f64())),
        false => Failure::passing(Kind::Unavailable, why.to_string()),
    })?;
    match answer.status {
        200..=299 => serde_json::from_str(&answer.text).map_err(|_| Failure::new(Kind::Malformed, "it sent no JSON")),
        300..=399 => Err(Failure::new(Kind::Unavailable, "it redirects to another address")),
        status @ (408 | 429 | 500..=599) => Err(Failure::passing(Kind::Unavailable, format!("HTTP {status}"))),
        status => Err(Failure::new(Kind::Unavailable, format!("HTTP {status}"))),
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn tokens(value: &Value, [question, answer]: [&str; 2]) -> Option<(u64, u64)> {
    Some((value.pointer(question)?.as_u64()?, value.pointer(answer)?.as_u64()?))
}

fn anthropic(answer: &Value) -> Result<Response, Failure> {
    let blocks = answer.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut handed_in =
        blocks.iter().filter(|block| text(block, "/type") == "tool_use" && text(block, "/name") == TOOL);
    let (Some(block), None) = (handed_in.next(), handed_in.next()) else {
        let why = format!("it handed in no answer (stop reason `{}`)", text(answer, "/stop_reason"));
        return Err(Failure::new(Kind::Malformed, why));
    };
    let parsed = ModelAnswer::parse(&block.get("input").map(Value::to_string).unwrap_or_default())?;
    let tokens = tokens(answer, ["/usage/input_tokens", "/usage/output_tokens"]);
    Ok(Response { answer: parsed, model: text(answer, "/model").to_owned(), tokens })
}

fn openai(answer: &Value) -> Result<Response, Failure> {
    let parsed = ModelAnswer::parse(text(answer, "/choices/0/message/content"))?;
    let tokens = tokens(answer, ["/usage/prompt_tokens", "/usage/completion_tokens"]);
    Ok(Response { answer: parsed, model: text(answer, "/model").to_owned(), tokens })
}

fn command(line: &str, question: &Question, within: Duration, scratch: &Path) -> Result<Response, Failure> {
    let input = json!({
        "schema": "reflex/judge-v1", "instructions": question.instructions(), "question": question.text(),
        "answer": schema(),
    });
    let mut command = os::shell(line);
    command.current_dir("/").env(MARK, "1");
    let failed = |error: std::io::Error| Failure::new(Kind::Unavailable, format!("the command cannot be run: {error}"));
    let limits = Limits { within, bytes: MAX_ANSWER, has_errors: false };
    let (ended, mut output) = run::run(command, input.to_string().as_bytes(), limits, scratch).map_err(failed)?;
    match ended {
        Ended::Exit(Some(0)) => {}
        Ended::Exit(code) => {
            let code = code.map_or_else(|| "a signal".into(), |code| format!("exit {code}"));
            return Err(Failure::new(Kind::Unavailable, format!("the command ended with {code}")));
        }
        Ended::Late => return Err(Failure::new(Kind::Slow, format!("no answer within {:.0} s", within.as_secs_f64()))),
        Ended::TooMuch => return Err(Failure::new(Kind::Malformed, "the command printed too much")),
    }
    let mut text = String::new();
    output.seek(SeekFrom::Start(0)).map_err(failed)?;
    output.take(MAX_ANSWER).read_to_string(&mut text).map_err(failed)?;
    Ok(Response { answer: ModelAnswer::parse(&text)?, model: String::new(), tokens: None })
}
