//! A model that plays a script: Anthropic Messages on loopback, asking for one tool call after the other.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::http::{self, Request};
use super::told::{Told, offers_tools, string, tool_results};

const LAST_WORDS: &str = "All done.";

/// A running scripted model; it stops when dropped.
pub(super) struct Model {
    address: SocketAddr,
    script: Arc<Script>,
    accepting: Option<JoinHandle<()>>,
}

/// One tool call that the model asks for.
pub(super) struct Call {
    tool: &'static str,
    input: Value,
}

enum Turn<'a> {
    Ask(usize, &'a Call),
    Speak,
}

struct Script {
    calls: Vec<Call>,
    bodies: Mutex<Vec<Value>>,
    closing: AtomicBool,
}

impl Model {
    /// Starts to listen on a free port.
    pub(super) fn start(calls: Vec<Call>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let script = Arc::new(Script { calls, bodies: Mutex::default(), closing: AtomicBool::new(false) });
        let served = Arc::clone(&script);
        let accepting = Some(thread::spawn(move || accept(&listener, &served)));
        Ok(Self { address, script, accepting })
    }

    /// The address to give to the client.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the model was told; `None` as long as no request with tools has reached it.
    pub(super) fn told(&self) -> Option<Told> {
        let bodies = self.script.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies
            .iter()
            .filter(|body| offers_tools(body))
            .max_by_key(|body| tool_results(body).count())
            .map(Told::from_request)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.script.closing.store(true, Ordering::SeqCst);
        // The loop waits in accept: a last connection wakes it.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            drop(accepting.join());
        }
    }
}

impl Call {
    /// A shell command.
    pub(super) fn bash(command: &str) -> Self {
        Self { tool: "Bash", input: json!({"command": command, "description": "One step of the task"}) }
    }

    /// A file with this content.
    pub(super) fn write(path: &Path, content: &str) -> Self {
        Self { tool: "Write", input: json!({"file_path": path, "content": content}) }
    }

    /// A look into a file.
    pub(super) fn read(path: &Path) -> Self {
        Self { tool: "Read", input: json!({"file_path": path}) }
    }
}

fn accept(listener: &TcpListener, script: &Arc<Script>) {
    for stream in listener.incoming().flatten() {
        if script.closing.load(Ordering::SeqCst) {
            return;
        }
        let script = Arc::clone(script);
        // A client that hangs up early is no concern of the model's.
        thread::spawn(move || drop(serve(&stream, &script)));
    }
}

fn serve(stream: &TcpStream, script: &Script) -> io::Result<()> {
    let Some(request) = http::read(stream)? else { return Ok(()) };
    if request.method == "HEAD" {
        return http::write(stream, "application/json", b"");
    }
    if request.method != "POST" || !request.path.ends_with("/messages") {
        return http::write(stream, "application/json", elsewhere(&request).to_string().as_bytes());
    }
    let body: Value = serde_json::from_slice(&request.body).map_err(io::Error::other)?;
    let turn = script.turn(&body);
    let (content_type, answer) = match body.get("stream").and_then(Value::as_bool) {
        Some(true) => ("text/event-stream", turn.events()),
        Some(false) | None => ("application/json", turn.message().to_string()),
    };
    script.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    http::write(stream, content_type, answer.as_bytes())
}

fn elsewhere(request: &Request) -> Value {
    if request.path.ends_with("/count_tokens") { json!({"input_tokens": 10}) } else { json!({"data": []}) }
}

impl Script {
    /// Keeps no place: the number of results in the request says which call comes next.
    fn turn(&self, body: &Value) -> Turn<'_> {
        let step = tool_results(body).count();
        let call = self.calls.get(step).filter(|_| offers_tools(body));
        call.map_or(Turn::Speak, |call| Turn::Ask(step, call))
    }
}

impl Turn<'_> {
    fn message(&self) -> Value {
        envelope(&json!([self.block()]), &json!(self.stop_reason()))
    }

    fn events(&self) -> String {
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

    fn script() -> Script {
        let calls = vec![Call::bash("one"), Call::bash("two")];
        Script { calls, bodies: Mutex::default(), closing: AtomicBool::new(false) }
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
        let stream = script().turn(&request(&[])).events();
        let delta = stream.lines().find(|line| line.contains("partial_json")).unwrap();
        let event: Value = serde_json::from_str(delta.strip_prefix("data: ").unwrap()).unwrap();
        let input: Value = serde_json::from_str(string(&event["delta"], "partial_json")).unwrap();
        assert_eq!(input, Call::bash("one").input);
    }
}
