//! Reads a request of the client: what it tells the model.

use serde_json::Value;

/// What the client told the model in the course of the run.
pub(super) struct Told {
    /// One for each tool call that was answered, in order.
    pub(super) results: Vec<ToolResult>,
    /// All plain text: the prompt, the client's reminders, what hooks add.
    pub(super) beside: String,
}

/// The answer to one tool call.
pub(super) struct ToolResult {
    /// Whether the client called it an error.
    pub(super) is_error: bool,
    /// What it says.
    pub(super) text: String,
}

impl Told {
    /// Reads the last request of a run.
    pub(super) fn from_request(body: &Value) -> Self {
        let results =
            tool_results(body).map(|block| ToolResult { is_error: is_error(block), text: text(block) }).collect();
        let blocks = blocks(body).filter(|block| string(block, "type") == "text").map(|block| string(block, "text"));
        let whole = list(body, "messages").map(|message| string(message, "content"));
        let beside = blocks.chain(whole).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        Self { results, beside }
    }

    /// The answer to the call at this place in the script.
    pub(super) fn answer(&self, step: usize) -> Result<&ToolResult, String> {
        self.results.get(step).ok_or_else(|| format!("call {step} was not answered"))
    }
}

/// Side requests, such as for a title, offer none.
pub(super) fn offers_tools(body: &Value) -> bool {
    list(body, "tools").next().is_some()
}

/// The answers to tool calls in a request, in order.
pub(super) fn tool_results(body: &Value) -> impl Iterator<Item = &Value> {
    blocks(body).filter(|block| string(block, "type") == "tool_result")
}

fn is_error(result: &Value) -> bool {
    result.get("is_error").and_then(Value::as_bool).unwrap_or(false)
}

/// Content is a string or a list of blocks; both are sent by the client.
fn text(result: &Value) -> String {
    let blocks = list(result, "content").map(|block| string(block, "text"));
    [string(result, "content")].into_iter().chain(blocks).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn blocks(body: &Value) -> impl Iterator<Item = &Value> {
    list(body, "messages").flat_map(|message| list(message, "content"))
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The text under a key, empty when there is none.
pub(super) fn string<'a>(value: &'a Value, key: &str) -> &'a str {
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
        let told = Told::from_request(&json!({"messages": [user(json!("do it")), user(json!([text, short, long]))]}));
        let results: Vec<_> = told.results.iter().map(|result| (result.is_error, result.text.as_str())).collect();
        assert_eq!((results, told.beside.as_str()), (vec![(true, "no"), (false, "a\nb")], "beside\ndo it"));
    }
}
