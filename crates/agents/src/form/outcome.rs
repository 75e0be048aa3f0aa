//! A tool's output and exit status.

use crate::model::payload::Payload;
use reflex_engine::Event;
use serde_json::Value;

/// Reads a call's output and exit status in the format of Gemini CLI and its fork: a text or parts of one, an `error`
/// in the response, `Exit Code: 1` in the text.
pub(crate) fn end_of(payload: &Payload<'_>, event: &mut Event) {
    let Some(outcome) = event.outcome.as_mut() else { return };
    let parts = payload.fields.get("tool_response").and_then(|response| response.get("llmContent")?.as_array());
    if let Some(parts) = parts {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        outcome.output = texts.join("\n");
    }
    // The client's own wrapper around untrusted text is not part of the output.
    let inside = outcome.output.trim().strip_prefix("<untrusted_context>");
    if let Some(inside) = inside.and_then(|text| text.strip_suffix("</untrusted_context>")) {
        outcome.output = inside.trim_matches('\n').to_owned();
    }
    let code = outcome.output.lines().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
    outcome.exit_code = outcome.exit_code.or(code);
    let error = payload.fields.get("tool_response").and_then(|response| response.get("error"));
    outcome.failed |= error.is_some_and(|error| !error.is_null()) || outcome.exit_code.is_some_and(|code| code != 0);
}

/// Returns a tool's output as text: the response itself, the part meant for the model, or all strings in it.
pub(super) fn text(response: &Value) -> String {
    let for_model =
        ["textResultForLlm", "text_result_for_llm", "llmContent"].iter().find_map(|key| response.get(key)?.as_str());
    response.as_str().or(for_model).map_or_else(|| texts(response).join("\n"), str::to_owned)
}

/// Collects the strings of a structured result, unescaped: a newline is a newline, not `\n`.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

pub(super) fn failed(response: &Value) -> bool {
    let result = ["resultType", "result_type"].iter().find_map(|key| response.get(key)?.as_str());
    result.is_some_and(|result| result != "success")
}

/// Parses `<shellId: 0 completed with exit code 1>` at the end of an output, as one client writes it.
pub(super) fn exit_code(output: &str) -> Option<i64> {
    let last = output.trim_end().lines().next_back()?.strip_prefix("<shellId: ")?;
    last.strip_suffix('>')?.rsplit_once(" completed with exit code ")?.1.parse().ok()
}
