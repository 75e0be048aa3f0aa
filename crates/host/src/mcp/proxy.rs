//! A proxy between an MCP client and a server that it starts. Messages pass byte for byte. Each tool call is judged by
//! a hook, and the proxy answers a refused call itself.

use super::frame::{Ambiguous, Message, Response, call, read_line, strings};
use super::hooks::{Answer, FAILED, Hooks, locked};
use crate::store::Store;
use crate::store::pins::Pins;
use crate::system::os::{self, End};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of hooks at a time.
const MAX_HOOKS: usize = 8;

/// Maximum number of requests that wait for a response.
const MAX_PENDING: usize = 4096;

/// Maximum length of a judged text, in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// Maximum number of withheld lines that are reported on standard error.
const MAX_NOTES: usize = 100;

/// Interval of progress notifications while a person is asked.
const PROGRESS: Duration = Duration::from_secs(5);

/// Maximum silence of a server after its input has ended.
const GRACE: Duration = Duration::from_secs(5);

/// A server, and the way its calls are judged.
pub struct Proxy {
    /// The name of the server.
    pub name: String,
    /// The command that starts it.
    pub server: Vec<String>,
    /// The id of this run of the server, used as the session of its calls.
    pub session: String,
    /// The id of the client's process.
    pub client: Option<u32>,
    /// The working directory.
    pub cwd: String,
    /// The program and arguments that judge the payloads on standard input, a line each.
    pub hook: Vec<String>,
    /// The store of the pins.
    pub store: Store,
}

/// A request that waits for its response.
enum Waits {
    /// A call of a tool, with its arguments.
    Call { tool: String, arguments: Value },
    /// A list of tools.
    Tools,
    /// The start of the session.
    Start,
    /// Anything else.
    Other,
}

struct State {
    pending: BTreeMap<String, Waits>,
    /// Calls being judged; `true` once the client has cancelled one.
    judging: BTreeMap<String, bool>,
    pins: Pins,
    /// Whether this is the first use of the server and its tools are not all listed yet.
    is_first: bool,
    hooks: usize,
    /// Number of the server's lines that answered no request.
    unmatched: usize,
    /// The time of the server's last message.
    last_message: Instant,
}

struct Shared {
    proxy: Proxy,
    hooks: Arc<Hooks>,
    state: Mutex<State>,
    free: Condvar,
    client: Mutex<Box<dyn Write + Send>>,
    server: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
}

/// A place among the hooks. It is released however its thread ends.
struct Slot(Arc<Shared>);

impl Drop for Slot {
    fn drop(&mut self) {
        locked(&self.0.state).hooks -= 1;
        self.0.free.notify_all();
    }
}

impl Proxy {
    /// Starts the server and passes messages until one side ends. Returns the server's exit status.
    ///
    /// # Errors
    /// The server cannot be started, its pins cannot be read, or a message is too long.
    pub fn run(self, input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> io::Result<ExitStatus> {
        let known = self.store.pins(&self.name)?;
        let is_first = known.is_none();
        let mut pins = known.unwrap_or_else(|| Pins { server: self.server.clone(), ..Pins::default() });
        pins.see_server(&self.server);
        let (program, words) = self.server.split_first().ok_or_else(|| io::Error::other("no server is named"))?;
        let mut command = Command::new(program);
        // A group of its own allows ending the server together with its children.
        os::in_new_process_group(&mut command);
        let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (pending, judging) = (BTreeMap::new(), BTreeMap::new());
        let shared = Arc::new(Shared {
            hooks: Arc::new(Hooks::new(self.hook.clone())),
            proxy: self,
            state: Mutex::new(State {
                pending,
                judging,
                pins,
                is_first,
                hooks: 0,
                unmatched: 0,
                last_message: Instant::now(),
            }),
            free: Condvar::new(),
            client: Mutex::new(Box::new(output)),
            server: Mutex::new(stdin),
            child: Mutex::new(child),
        });
        let reader = Arc::clone(&shared);
        // This thread may wait for the client forever: the process ends with the server, not with the thread.
        thread::spawn(move || {
            let read = reader.from_client(input);
            reader.end(read);
        });
        let mut input = BufReader::new(stdout.ok_or_else(|| io::Error::other("the server has no output"))?);
        while let Some(line) = read_line(&mut input)? {
            locked(&shared.state).last_message = Instant::now();
            shared.from_server(line);
        }
        shared.idle();
        locked(&shared.child).wait()
    }
}

impl Shared {
    fn to_client(&self, line: &[u8]) {
        let mut client = locked(&self.client);
        // A client that has ended reads nothing; its input ends, too.
        let _ = client.write_all(line).and_then(|()| client.flush());
    }

    fn to_server(&self, line: &[u8]) -> io::Result<()> {
        let mut server = locked(&self.server);
        let server = server.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        server.write_all(line).and_then(|()| server.flush())
    }

    /// Ends the server's input, and kills the server if it does not end in time.
    fn end(&self, read: io::Result<()>) {
        if let Err(error) = read {
            eprintln!("reflex mcp: {}: {error}", self.proxy.name);
        }
        self.idle();
        drop(locked(&self.server).take());
        locked(&self.state).last_message = Instant::now();
        while locked(&self.state).last_message.elapsed() < GRACE {
            if !matches!(locked(&self.child).try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        os::end_group(locked(&self.child).id(), End::AtOnce);
    }

    /// Waits until no hook runs.
    fn idle(&self) {
        let state = locked(&self.state);
        drop(self.free.wait_while(state, |state| state.hooks > 0).unwrap_or_else(PoisonError::into_inner));
    }

    fn from_client(self: &Arc<Self>, input: impl Read) -> io::Result<()> {
        let mut input = BufReader::new(input);
        while let Some(line) = read_line(&mut input)? {
            if line.trim_ascii().is_empty() {
                self.to_server(&line)?;
                continue;
            }
            let text = std::str::from_utf8(&line).map_err(|_| Ambiguous("not UTF-8".into()));
            match text.and_then(|text| self.request(text.trim_end_matches(['\r', '\n']))) {
                Ok(true) => self.to_server(&line)?,
                Ok(false) => {}
                Err(Ambiguous(why)) => self.to_client(&error("null", -32700, &format!("reflex: {why}"))),
            }
        }
        Ok(())
    }

    /// Whether a client's line passes unchanged now. A call is judged first, on a thread of its own.
    fn request(self: &Arc<Self>, line: &str) -> Result<bool, Ambiguous> {
        let message = Message::parse(line)?;
        let method = message.method.as_deref().unwrap_or_default();
        let (Some(id), true) = (message.id, message.method.is_some()) else {
            if method == "notifications/cancelled" {
                self.cancel(message.params);
            }
            // A call without an id gets no response, but servers run it all the same.
            return if method == "tools/call" {
                Err(Ambiguous("a call of a tool needs an id".into()))
            } else {
                Ok(true)
            };
        };
        let (key, raw) = (normal(id), id.to_owned());
        let waits = match method {
            "tools/call" => {
                let (tool, arguments) = call(message.params)?;
                let arguments = arguments.map_or(Ok(json!({})), serde_json::from_str);
                let arguments = arguments.map_err(|error| Ambiguous(format!("the arguments: {error}")))?;
                Waits::Call { tool, arguments }
            }
            "tools/list" => Waits::Tools,
            "initialize" => Waits::Start,
            _ => Waits::Other,
        };
        {
            let mut state = locked(&self.state);
            if state.pending.len() + state.judging.len() >= MAX_PENDING || state.judging.contains_key(&key) {
                drop(state);
                self.to_client(&error(&raw, -32000, "reflex: too many calls at a time, or an id that is in use"));
                return Ok(false);
            }
            if !matches!(waits, Waits::Call { .. }) {
                // An id in use keeps its meaning, so that the response to a call is still judged.
                state.pending.entry(key).or_insert(waits);
                return Ok(true);
            }
            state.judging.insert(key.clone(), false);
        }
        let (line, token) = (format!("{line}\n"), progress_token(message.params));
        self.hooked(move |shared| shared.judge_call(&line, (&key, &raw), waits, token.as_deref()));
        Ok(false)
    }

    fn cancel(&self, params: Option<&str>) {
        let params: Value = params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
        if let Some(cancelled) = params.get("requestId").map(Value::to_string)
            && let Some(is_cancelled) = locked(&self.state).judging.get_mut(&cancelled)
        {
            *is_cancelled = true;
        }
    }

    /// Runs work that asks a hook on a thread of its own, as soon as fewer than [`MAX_HOOKS`] run.
    fn hooked(self: &Arc<Self>, work: impl FnOnce(&Shared) + Send + 'static) {
        let state = locked(&self.state);
        let mut state =
            self.free.wait_while(state, |state| state.hooks >= MAX_HOOKS).unwrap_or_else(PoisonError::into_inner);
        state.hooks += 1;
        drop(state);
        let slot = Slot(Arc::clone(self));
        thread::spawn(move || work(&slot.0));
    }

    fn judge_call(&self, line: &str, (key, raw): (&str, &str), waits: Waits, token: Option<&str>) {
        let Waits::Call { tool, arguments } = &waits else { return };
        let held = locked(&self.state).pins.holds(tool);
        let answer = match held {
            Some(why) => {
                self.note(tool, why);
                Answer::Refused(self.look_first(why))
            }
            None => {
                let payload = self.payload("call", tool, &[("arguments", arguments.clone())]);
                self.ask(&payload, token)
            }
        };
        let mut state = locked(&self.state);
        if state.judging.remove(key) == Some(true) {
            return;
        }
        match answer {
            Answer::Passed(_) => {
                state.pending.insert(key.to_owned(), waits);
                drop(state);
                if self.to_server(line.as_bytes()).is_err() {
                    locked(&self.state).pending.remove(key);
                    self.to_client(&error(raw, -32000, "reflex: the server has ended"));
                }
            }
            Answer::Refused(reason) => {
                drop(state);
                let result = json!({"content": [{"type": "text", "text": reason}], "isError": true});
                self.to_client(format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw},\"result\":{result}}}\n").as_bytes());
            }
        }
    }

    fn look_first(&self, why: &str) -> String {
        let name = &self.proxy.name;
        format!(
            "Blocked: {why}. The user has to look at it first: `reflex mcp diff {name}`, then `reflex mcp trust {name}`."
        )
    }

    /// Records that a held tool was called.
    fn note(&self, tool: &str, why: &str) {
        let fields = json!({"server": self.proxy.name, "tool": tool, "what": why});
        if let Err(error) = self.proxy.store.note("mcp-held", fields) {
            eprintln!("reflex mcp: not recorded: {error}");
        }
    }

    fn payload(&self, event: &str, tool: &str, more: &[(&str, Value)]) -> Value {
        let Proxy { name, session, cwd, .. } = &self.proxy;
        let mut payload = Map::new();
        let common = [("event", event), ("server", name), ("tool", tool), ("session", session), ("cwd", cwd)];
        common.iter().for_each(|(key, text)| drop(payload.insert((*key).to_owned(), (*text).into())));
        payload.insert("client".to_owned(), self.proxy.client.into());
        more.iter().for_each(|(key, value)| drop(payload.insert((*key).to_owned(), value.clone())));
        Value::Object(payload)
    }

    /// A hook's answer to a payload. Sends progress notifications if the client requested them.
    fn ask(&self, payload: &Value, token: Option<&str>) -> Answer {
        let Some(token) = token else { return self.hooks.judge(payload) };
        let (sender, receiver) = channel();
        let (hooks, payload) = (Arc::clone(&self.hooks), payload.clone());
        thread::spawn(move || {
            // A dropped receiver has refused the call.
            let _ = sender.send(hooks.judge(&payload));
        });
        for step in 1_u32.. {
            match receiver.recv_timeout(PROGRESS) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let params = format!(
                        "{{\"progressToken\":{token},\"progress\":{step},\"message\":\"waiting for the user\"}}"
                    );
                    let method = "notifications/progress";
                    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n");
                    self.to_client(line.as_bytes());
                }
            }
        }
        Answer::Refused(FAILED.into())
    }

    fn from_server(self: &Arc<Self>, line: Vec<u8>) {
        let text = std::str::from_utf8(&line).map(str::trim_end);
        let response = text.map_err(|_| Ambiguous("not UTF-8".into())).and_then(Response::parse);
        let Ok(Some(Response { id, result, error })) = response else {
            let is_message = response.is_ok() || line.trim_ascii().is_empty();
            return if is_message { self.to_client(&line) } else { self.unmatched(line) };
        };
        let waits = id.and_then(|id| locked(&self.state).pending.remove(&normal(id)));
        let result = result.unwrap_or_default().to_owned();
        match waits {
            None => self.unmatched(line),
            Some(Waits::Other) => self.to_client(&line),
            Some(Waits::Call { tool, arguments }) => {
                let error = error.unwrap_or_default().to_owned();
                self.hooked(move |shared| shared.judge_result(&line, (&tool, arguments), (&result, &error)));
            }
            Some(Waits::Tools) => {
                self.see_tools(&result);
                self.offered("tools/list", result, line);
            }
            Some(Waits::Start) => {
                self.see_instructions(&result);
                self.offered("initialize", result, line);
            }
        }
    }

    fn judge_result(&self, line: &[u8], (tool, arguments): (&str, Value), (result, error): (&str, &str)) {
        let (text, is_error) = text_of(result);
        let text = if error.is_empty() { text } else { strings(error) + &text };
        let failed = is_error || !error.is_empty();
        let more = [("arguments", arguments), ("output", cut(&text).into()), ("failed", failed.into())];
        match self.ask(&self.payload("result", tool, &more), None) {
            Answer::Passed(warning) if warning.is_empty() => self.to_client(line),
            Answer::Passed(warning) | Answer::Refused(warning) => self.to_client(&with_warning(line, &warning)),
        }
    }

    /// A line whose id matches no request exactly, or that this reader does not parse as JSON. Clients are more lenient
    /// in both, so the line passes only if it contains no orders.
    fn unmatched(self: &Arc<Self>, line: Vec<u8>) {
        let number = {
            let mut state = locked(&self.state);
            state.unmatched += 1;
            state.unmatched
        };
        self.hooked(move |shared| {
            let text = strings(&String::from_utf8_lossy(&line));
            // A name of its own, so that equal lines do not count as repeated calls of the model.
            let name = format!("unmatched response {number}");
            match shared.ask(&shared.payload("offer", &name, &[("output", cut(&text).into())]), None) {
                Answer::Passed(warning) if warning.is_empty() => shared.to_client(&line),
                // A client that does not read standard error must not hold up the proxy.
                Answer::Passed(_) | Answer::Refused(_) if number > MAX_NOTES => {}
                Answer::Passed(warning) | Answer::Refused(warning) => {
                    eprintln!("reflex mcp: {}: withheld a line that answers no request: {warning}", shared.proxy.name);
                }
            }
        });
    }

    /// Pins tools on the first use, and records differences later.
    fn see_tools(&self, result: &str) {
        let Ok(result) = serde_json::from_str::<BTreeMap<String, &RawValue>>(result) else { return };
        let tools = result.get("tools").and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        let mut state = locked(&self.state);
        let is_first = state.is_first;
        for tool in tools.unwrap_or_default() {
            let name = serde_json::from_str::<Value>(tool.get()).ok();
            if let Some(name) = name.as_ref().and_then(|tool| tool.get("name")?.as_str()) {
                state.pins.see_tool(name, tool.get(), is_first);
            }
        }
        state.is_first = is_first && result.contains_key("nextCursor");
        self.keep(&state.pins);
    }

    fn see_instructions(&self, result: &str) {
        let Ok(result) = serde_json::from_str::<BTreeMap<String, &RawValue>>(result) else { return };
        let mut state = locked(&self.state);
        let is_first = state.is_first;
        state.pins.see_instructions(result.get("instructions").map_or("", |raw| raw.get()), is_first);
        self.keep(&state.pins);
    }

    fn keep(&self, pins: &Pins) {
        if let Err(error) = self.proxy.store.put_pins(&self.proxy.name, pins) {
            eprintln!("reflex mcp: the pins of {} cannot be kept: {error}", self.proxy.name);
        }
    }

    /// Judges a text that a server offers before any call. It is recorded, and its orders are remembered in the
    /// session.
    fn offered(self: &Arc<Self>, what: &'static str, result: String, line: Vec<u8>) {
        self.hooked(move |shared| {
            let output = cut(&result).into();
            if let Answer::Passed(warning) | Answer::Refused(warning) =
                shared.ask(&shared.payload("offer", what, &[("output", output)]), None)
                && !warning.is_empty()
            {
                eprintln!("reflex mcp: {}: {what}: {warning}", shared.proxy.name);
            }
            shared.to_client(&line);
        });
    }
}

/// An id in a normal form, independent of its spelling.
fn normal(id: &str) -> String {
    serde_json::from_str::<Value>(id).map_or_else(|_| id.to_owned(), |id| id.to_string())
}

fn progress_token(params: Option<&str>) -> Option<String> {
    let params: Value = serde_json::from_str(params?).ok()?;
    Some(params.get("_meta")?.get("progressToken")?.to_string())
}

fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").into_bytes()
}

/// The text of a tool's result that a model reads, and whether it is an error.
fn text_of(result: &str) -> (String, bool) {
    // A number too large or a list too deep for this parser may be valid for another.
    let Ok(result) = serde_json::from_str::<Value>(result) else { return (strings(result), false) };
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let text = |block: &Value| {
        let text = block.get("text").or_else(|| block.get("resource")?.get("text"));
        text.and_then(Value::as_str).map(str::to_owned)
    };
    let structured = result.get("structuredContent").map(Value::to_string);
    let all: Vec<String> = blocks.filter_map(text).chain(structured).collect();
    (all.join("\n"), result.get("isError") == Some(&Value::Bool(true)))
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_OUTPUT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The line of a response with a warning: an additional text block of a result, or an additional line of an error
/// message. A response that cannot take one is replaced.
fn with_warning(line: &[u8], warning: &str) -> Vec<u8> {
    let warned = || -> Option<Value> {
        let mut message = serde_json::from_slice::<Value>(line).ok()?;
        if message.get("result").is_some() == message.get("error").is_some() {
            return None;
        }
        if let Some(error) = message.get_mut("error") {
            let text = error.get_mut("message")?;
            *text = format!("{}\n{warning}", text.as_str()?).into();
            return Some(message);
        }
        let result = message.get_mut("result")?.as_object_mut()?;
        let blocks = result.entry("content").or_insert_with(|| json!([])).as_array_mut()?;
        blocks.push(json!({"type": "text", "text": warning}));
        Some(message)
    };
    if let Some(message) = warned() {
        return format!("{message}\n").into_bytes();
    }
    let text = std::str::from_utf8(line).unwrap_or_default();
    let id = Response::parse(text.trim_end()).ok().flatten().and_then(|response| response.id).unwrap_or("null");
    let text = format!("{warning} The result is withheld, because clients may read it in different ways.");
    let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}
