//! Parses a client's request in any of the supported protocols: the results and texts passed to the model.

use serde_json::Value;

/// The texts that the client passed to the model during the run.
pub struct Conversation {
    /// Results of the answered tool calls, in order.
    pub results: Vec<ToolResult>,
    /// All other text: the prompt, the client's reminders, additions by hooks.
    pub beside: String,
}

/// The result of one tool call.
pub struct ToolResult {
    /// Whether the client marked it as an error; `None` if the protocol has no such field.
    pub is_error: Option<bool>,
    /// Text of the result.
    pub text: String,
}

/// The client has passed no result of the script's call with this index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("call {0} was not answered")]
pub struct Unanswered(pub usize);

impl Conversation {
    /// Parses the last request of a run.
    pub fn from_request(body: &Value) -> Self {
        let results =
            tool_results(body).map(|result| ToolResult { is_error: is_error(result), text: text(result) }).collect();
        let plain = messages(body).filter(|message| !is_result(message)).flat_map(|message| {
            let blocks = list(message, "content").chain(list(message, "parts")).filter(|block| !is_result(block));
            blocks.map(|block| string(block, "text")).chain([string(message, "content")])
        });
        let beside = plain.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        Self { results, beside }
    }

    /// Returns the result of the script's call with this index.
    ///
    /// # Errors
    /// The client passed fewer results.
    pub fn answer(&self, step: usize) -> Result<&ToolResult, Unanswered> {
        self.results.get(step).ok_or(Unanswered(step))
    }
}

/// Whether the request offers tools. Side requests, such as for a title, do not.
pub(crate) fn offers_tools(body: &Value) -> bool {
    list(body, "tools").next().is_some() || list(body, "input").any(|item| string(item, "type") == "additional_tools")
}

/// The tool results in a request, in order: blocks of a message, separate messages, or items next to messages.
pub(crate) fn tool_results(body: &Value) -> impl Iterator<Item = &Value> {
    messages(body)
        .flat_map(|message| [message].into_iter().chain(list(message, "content")).chain(list(message, "parts")))
        .filter(|part| is_result(part))
}

fn is_result(part: &Value) -> bool {
    matches!(string(part, "type"), "tool_result" | "function_call_output" | "custom_tool_call_output")
        || string(part, "role") == "tool"
        || part.get(RESPONSE).is_some()
}

/// Key of a tool result in Gemini's protocol.
const RESPONSE: &str = "functionResponse";

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    list(body, "messages").chain(list(body, "input")).chain(list(body, "contents"))
}

fn is_error(result: &Value) -> Option<bool> {
    if let Some(answer) = result.get(RESPONSE) {
        return Some(answer.get("response").is_some_and(|answer| answer.get("error").is_some()));
    }
    let has_word = string(result, "type") == "tool_result";
    has_word.then(|| result.get("is_error").and_then(Value::as_bool).unwrap_or(false))
}

/// Returns the text of a result, whose content is a string or a list of blocks.
fn text(result: &Value) -> String {
    if let Some(answer) = result.get(RESPONSE).and_then(|answer| answer.get("response")) {
        let parts = ["output", "error"]
            .map(|key| answer.get(key).map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)));
        return parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    }
    let of = |key: &'static str| list(result, key).map(|block| string(block, "text")).chain([string(result, key)]);
    of("content").chain(of("output")).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The text under a key; empty if missing.
pub(crate) fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_content_are_read() {
        let text = json!({"type": "text", "text": "beside"});
        let short = json!({"type": "tool_result", "is_error": true, "content": "no"});
        let long =
            json!({"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        let user = |content: Value| json!({"role": "user", "content": content});
        let conversation =
            Conversation::from_request(&json!({"messages": [user(json!("do it")), user(json!([text, short, long]))]}));
        let results: Vec<_> =
            conversation.results.iter().map(|result| (result.is_error, result.text.as_str())).collect();
        assert_eq!(
            (results, conversation.beside.as_str()),
            (vec![(Some(true), "no"), (Some(false), "a\nb")], "do it\nbeside")
        );
    }

    #[test]
    fn results_are_read_in_the_other_languages_too() {
        let items = json!({"input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do it"}]},
            {"type": "function_call", "call_id": "1"}, {"type": "function_call_output", "call_id": "1", "output": "a"},
            {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "b"}]}]});
        let chat = json!({"messages": [{"role": "user", "content": "do it"},
            {"role": "tool", "content": "a"}, {"role": "tool", "content": [{"type": "text", "text": "b"}]}]});
        for body in [items, chat] {
            let conversation = Conversation::from_request(&body);
            let results: Vec<_> =
                conversation.results.iter().map(|result| (result.is_error, result.text.as_str())).collect();
            assert_eq!((results, conversation.beside.as_str()), (vec![(None, "a"), (None, "b")], "do it"));
        }
    }

    #[test]
    fn a_response_says_by_its_key_whether_it_is_an_error() {
        let part = |response: Value| json!({"functionResponse": {"name": "shell", "response": response}});
        let conversation = Conversation::from_request(&json!({"contents": [
            {"role": "user", "parts": [{"text": "do it"}]},
            {"role": "user", "parts": [part(json!({"output": "a"})), part(json!({"error": "b"}))]}]}));
        let results: Vec<_> =
            conversation.results.iter().map(|result| (result.is_error, result.text.as_str())).collect();
        assert_eq!((results, conversation.beside.as_str()), (vec![(Some(false), "a"), (Some(true), "b")], "do it"));
    }
}
