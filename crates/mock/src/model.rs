//! A model on loopback that plays a script, requesting one tool call after another. It speaks Anthropic Messages,
//! OpenAI Responses, OpenAI Chat Completions or Gemini's `generateContent`, depending on the client.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::conversation::{Conversation, offers_tools, string, tool_results};
use crate::http::{self, Request};

const LAST_WORDS: &str = "All done.";

/// A running scripted model; it stops when dropped.
pub struct Model {
    address: SocketAddr,
    script: Arc<Script>,
    accepting: Option<JoinHandle<()>>,
}

/// One tool call that the model requests.
pub struct Call {
    tool: &'static str,
    input: Value,
    /// The MCP server, if the protocol names it separately.
    server: Option<&'static str>,
    /// Whether the input is a text instead of an object.
    is_custom: bool,
}

enum Turn<'a> {
    Ask(usize, &'a Call),
    Speak,
}

struct Script {
    calls: Vec<Call>,
    bodies: Mutex<Vec<Value>>,
    answered: AtomicUsize,
    closing: AtomicBool,
}

impl Model {
    /// Starts a model on a free port.
    pub fn start(calls: Vec<Call>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let script = Arc::new(Script {
            calls,
            bodies: Mutex::default(),
            answered: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        });
        let served = Arc::clone(&script);
        let accepting = Some(thread::spawn(move || accept(&listener, &served)));
        Ok(Self { address, script, accepting })
    }

    /// The base URL to configure in the client.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Number of calls answered so far.
    pub fn answered(&self) -> usize {
        self.script.answered.load(Ordering::SeqCst)
    }

    /// The conversation as received by the model; `None` until a request with tools has arrived.
    pub fn conversation(&self) -> Option<Conversation> {
        let bodies = self.script.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies
            .iter()
            .filter(|body| offers_tools(body))
            .max_by_key(|body| tool_results(body).count())
            .map(Conversation::from_request)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.script.closing.store(true, Ordering::SeqCst);
        // The thread blocks in `accept`; a final connection wakes it.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            drop(accepting.join());
        }
    }
}

impl Call {
    /// A tool whose input is an object.
    pub fn function(tool: &'static str, input: Value) -> Self {
        Self { tool, input, server: None, is_custom: false }
    }

    /// A tool of an MCP server.
    pub fn of_server(server: &'static str, tool: &'static str, input: Value) -> Self {
        Self { server: Some(server), ..Self::function(tool, input) }
    }

    /// A tool whose input is a text.
    pub fn custom(tool: &'static str, input: String) -> Self {
        Self { is_custom: true, ..Self::function(tool, input.into()) }
    }
}

fn accept(listener: &TcpListener, script: &Arc<Script>) {
    for stream in listener.incoming().flatten() {
        if script.closing.load(Ordering::SeqCst) {
            return;
        }
        let script = Arc::clone(script);
        // A client that disconnects early is not an error.
        thread::spawn(move || drop(serve(&stream, &script)));
    }
}

fn serve(stream: &TcpStream, script: &Script) -> io::Result<()> {
    let Some(request) = http::read(stream)? else { return Ok(()) };
    if request.method == "HEAD" {
        return http::write(stream, "application/json", b"");
    }
    let language = match request.path.rsplit('/').next() {
        Some("messages") if request.method == "POST" => Language::Messages,
        Some("responses") if request.method == "POST" => Language::Responses,
        Some("completions") if request.method == "POST" => Language::Chat,
        Some(verb) if verb.ends_with(":generateContent") || verb.ends_with(STREAM) => Language::Content,
        _ => return http::write(stream, "application/json", elsewhere(&request).to_string().as_bytes()),
    };
    let body: Value = serde_json::from_slice(&request.body).map_err(io::Error::other)?;
    let turn = script.turn(&body);
    let streams = request.path.ends_with(STREAM) || body.get("stream").and_then(Value::as_bool) == Some(true);
    let (content_type, answer) = match streams {
        true => ("text/event-stream", turn.events(language)),
        false => ("application/json", turn.message(language).to_string()),
    };
    let results = if offers_tools(&body) { tool_results(&body).count() } else { 0 };
    script.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    script.answered.fetch_max(results, Ordering::SeqCst);
    http::write(stream, content_type, answer.as_bytes())
}

/// The protocol between client and model.
#[derive(Clone, Copy)]
enum Language {
    Messages,
    Responses,
    Chat,
    Content,
}

/// Suffix of the path by which Gemini's protocol requests a stream.
const STREAM: &str = ":streamGenerateContent";

fn elsewhere(request: &Request) -> Value {
    if request.path.ends_with("/count_tokens") {
        json!({"input_tokens": 10})
    } else if request.path.ends_with(":countTokens") {
        json!({"totalTokens": 10})
    } else {
        json!({"data": [], "models": []})
    }
}

impl Script {
    /// Stateless: the number of results in the request determines the next call.
    fn turn(&self, body: &Value) -> Turn<'_> {
        let step = tool_results(body).count();
        let call = self.calls.get(step).filter(|_| offers_tools(body));
        call.map_or(Turn::Speak, |call| Turn::Ask(step, call))
    }
}

impl Turn<'_> {
    fn message(&self, language: Language) -> Value {
        match language {
            Language::Messages => envelope(&json!([self.block()]), &json!(self.stop_reason())),
            Language::Responses => response(&json!([self.item()])),
            Language::Chat => json!({"id": "chatcmpl_scripted", "object": "chat.completion", "model": "scripted",
                "choices": [{"index": 0, "message": self.choice(), "finish_reason": self.finish()}], "usage": chat_usage()}),
            Language::Content => self.content(),
        }
    }

    fn events(&self, language: Language) -> String {
        match language {
            Language::Messages => self.blocks(),
            Language::Responses => self.items(),
            Language::Chat => self.chunks(),
            Language::Content => format!("data: {}\n\n", self.content()),
        }
    }

    fn items(&self) -> String {
        let begun = json!({"id": "resp_scripted", "object": "response", "status": "in_progress", "output": []});
        let events = [
            json!({"type": "response.created", "response": begun}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": self.item()}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": self.item()}),
            json!({"type": "response.completed", "response": response(&json!([self.item()]))}),
        ];
        events.iter().map(event).collect()
    }

    fn item(&self) -> Value {
        match self {
            Self::Ask(step, call) => {
                let (kind, key) =
                    if call.is_custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
                let input = call.input.as_str().map_or_else(|| call.input.to_string(), str::to_owned);
                let mut item = json!({"type": kind, "id": format!("fc_scripted_{step}"), "status": "completed",
                    "call_id": format!("call_scripted_{step}"), "name": call.tool, key: input});
                if let (Some(server), Some(item)) = (call.server, item.as_object_mut()) {
                    item.insert("namespace".into(), server.into());
                }
                item
            }
            Self::Speak => json!({"type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": LAST_WORDS, "annotations": []}]}),
        }
    }

    fn chunks(&self) -> String {
        let chunk = |delta: Value, finish: Value| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
            json!({"id": "chatcmpl_scripted", "object": "chat.completion.chunk", "model": "scripted", "choices": choice})
        };
        let usage = json!({"id": "chatcmpl_scripted", "object": "chat.completion.chunk", "model": "scripted",
            "choices": [], "usage": chat_usage()});
        let chunks = [chunk(self.choice(), Value::Null), chunk(json!({}), json!(self.finish())), usage];
        let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
        lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
    }

    fn choice(&self) -> Value {
        match self {
            Self::Ask(step, call) => json!({"role": "assistant", "content": null, "tool_calls": [{
                "index": 0, "id": format!("call_scripted_{step}"), "type": "function",
                "function": {"name": call.tool, "arguments": call.input.to_string()}}]}),
            Self::Speak => json!({"role": "assistant", "content": LAST_WORDS}),
        }
    }

    fn content(&self) -> Value {
        let part = match self {
            Self::Ask(_, call) => json!({"functionCall": {"name": call.tool, "args": call.input}}),
            Self::Speak => json!({"text": LAST_WORDS}),
        };
        json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
            "modelVersion": "scripted"})
    }

    fn finish(&self) -> &'static str {
        match self {
            Self::Ask(..) => "tool_calls",
            Self::Speak => "stop",
        }
    }

    fn blocks(&self) -> String {
        let end = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        let events = [
            json!({"type": "message_start", "message": envelope(&json!([]), &Value::Null)}),
            json!({"type": "content_block_start", "index": 0, "content_block": self.empty_block()}),
            json!({"type": "content_block_delta", "index": 0, "delta": self.delta()}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ];
        events.iter().map(event).collect()
    }

    fn block(&self) -> Value {
        match self {
            Self::Ask(step, call) => tool_use(*step, call, &call.input),
            Self::Speak => json!({"type": "text", "text": LAST_WORDS}),
        }
    }

    fn empty_block(&self) -> Value {
        match self {
            Self::Ask(step, call) => tool_use(*step, call, &json!({})),
            Self::Speak => json!({"type": "text", "text": ""}),
        }
    }

    fn delta(&self) -> Value {
        match self {
            Self::Ask(_, call) => json!({"type": "input_json_delta", "partial_json": call.input.to_string()}),
            Self::Speak => json!({"type": "text_delta", "text": LAST_WORDS}),
        }
    }

    fn stop_reason(&self) -> &'static str {
        match self {
            Self::Ask(..) => "tool_use",
            Self::Speak => "end_turn",
        }
    }
}

fn response(output: &Value) -> Value {
    json!({"id": "resp_scripted", "object": "response", "status": "completed", "output": output,
        "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}})
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

fn envelope(content: &Value, stop_reason: &Value) -> Value {
    json!({
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": "scripted",
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    })
}

fn tool_use(step: usize, call: &Call, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_scripted_{step}"), "name": call.tool, "input": input})
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", string(data, "type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(command: &str) -> Call {
        Call::function("Bash", json!({"command": command}))
    }

    fn script() -> Script {
        let calls = vec![bash("one"), bash("two")];
        Script { calls, bodies: Mutex::default(), answered: AtomicUsize::new(0), closing: AtomicBool::new(false) }
    }

    fn request(results: &[Value]) -> Value {
        json!({"model": "m", "tools": [{"name": "Bash"}], "messages": [
            {"role": "user", "content": "do it"}, {"role": "user", "content": results}]})
    }

    #[track_caller]
    fn check(body: &Value, wanted: Option<&str>) {
        let script = script();
        let asked = match script.turn(body) {
            Turn::Ask(_, call) => Some(string(&call.input, "command")),
            Turn::Speak => None,
        };
        assert_eq!(asked, wanted);
    }

    #[test]
    fn the_results_in_the_request_say_which_call_is_next() {
        let result = || json!({"type": "tool_result", "content": "fine"});
        check(&request(&[]), Some("one"));
        check(&request(&[result()]), Some("two"));
        check(&request(&[result(), result()]), None);
    }

    #[test]
    fn a_request_without_tools_gets_plain_text() {
        check(&json!({"messages": []}), None);
    }

    #[test]
    fn a_stream_carries_the_whole_input() {
        let stream = script().turn(&request(&[])).events(Language::Messages);
        let delta = stream.lines().find(|line| line.contains("partial_json")).unwrap();
        let event: Value = serde_json::from_str(delta.strip_prefix("data: ").unwrap()).unwrap();
        let input: Value = serde_json::from_str(string(&event["delta"], "partial_json")).unwrap();
        assert_eq!(input, bash("one").input);
    }
}
