//! Auto-pilot with the real client: a model server that answers, refuses, fails and lies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reflex_mock::Call;
use serde_json::{Value, json};

use super::cases::{ensure, holds, refused};
use super::person;
use super::sandbox::{Failure, Mode, Sandbox, read, write};

/// The server's answer to every request, until it is changed.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Decides(&'static str),
    Slow,
    Down,
    WrongForm,
    Redirects,
    Huge,
}

/// Length of the longest answer in bytes.
const HUGE: usize = 100 << 20;

/// Delay that exceeds the timeout in the policy.
const TOO_LONG: Duration = Duration::from_secs(8);

/// A model server on loopback.
struct Server {
    url: String,
    answer: Arc<Mutex<Answer>>,
    is_over: Arc<AtomicBool>,
}

impl Server {
    fn start() -> Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no model server")?;
        let url = format!("http://{}", listener.local_addr().context("no model server")?);
        let answer = Arc::new(Mutex::new(Answer::Down));
        let is_over = Arc::new(AtomicBool::new(false));
        let (shared, ended) = (Arc::clone(&answer), Arc::clone(&is_over));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(answer) = shared.lock().map(|answer| *answer) else { return };
                // A client that disconnects early is not an error.
                thread::spawn(move || drop(serve(stream, answer)));
            }
        });
        Ok(Server { url, answer, is_over })
    }

    fn will(&self, answer: Answer) {
        if let Ok(mut current) = self.answer.lock() {
            *current = answer;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that blocks in `accept`.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn serve(mut stream: TcpStream, answer: Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let length =
        head.to_lowercase().split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut Vec::new())?;
    let mut respond = |status: &str, body: &Value| {
        let body = body.to_string();
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    let handed_in = |input: Value| json!({"content": [{"type": "tool_use", "name": "answer", "input": input}]});
    match answer {
        Answer::Decides(decision) => {
            respond("200 OK", &handed_in(json!({"decision": decision, "confidence": 0.99, "reason": "scripted"})))
        }
        Answer::WrongForm => respond("200 OK", &handed_in(json!({"decision": "allow", "approved": true}))),
        Answer::Redirects => respond("307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/", &Value::Null),
        Answer::Down => Ok(()),
        Answer::Slow => {
            thread::sleep(TOO_LONG);
            Ok(())
        }
        Answer::Huge => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {HUGE}\r\n\r\n")?;
            let block = vec![b' '; 1 << 16];
            (0..HUGE / block.len()).try_for_each(|_| stream.write_all(&block))
        }
    }
}

/// A confident answer about a loss with a backup decides; every other outcome leaves the prompt to a person.
pub(super) fn auto_pilot(sandbox: &Sandbox, shell: fn(&str) -> Call) -> Result<(), Failure> {
    sandbox.wire_asking()?;
    let server = Server::start()?;
    let config = sandbox.home().join(".config/reflex");
    let key = config.join("judge.key");
    write(&key, "sk-mock\n")?;
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).context("cannot restrict the key file")?;
    let policy = config.join("policy.yaml");
    let judge = json!({
        "provider": "anthropic", "model": "mock", "url": server.url, "key_file": key, "timeout": "3s",
    });
    write(&policy, &format!("{}judge: {judge}\n", read(&policy)?))?;
    let output = person::types(sandbox, "mode auto-pilot --for 10m", "y\n")?;
    ensure(output.contains("unmeasured judge"), &format!("the start does not name the unmeasured model: {output}"))?;
    let (saved, unsaved) = ("first line\n", "first line\nunsaved work\n");
    for (answer, words, left) in [
        (Answer::Decides("allow"), "", saved),
        (Answer::Decides("refuse"), "Auto-pilot refused this", unsaved),
        (Answer::Decides("ask"), "model is unsure", unsaved),
        (Answer::Slow, "gave no answer (slow)", unsaved),
        (Answer::Down, "gave no answer (unavailable)", unsaved),
        (Answer::WrongForm, "gave no answer (malformed)", unsaved),
        (Answer::Redirects, "gave no answer (unavailable)", unsaved),
        (Answer::Huge, "gave no answer (unavailable)", unsaved),
    ] {
        server.will(answer);
        write(&sandbox.workspace().join("notes.txt"), unsaved)?;
        let transcript = sandbox.converse(&Mode::BypassPermissions, vec![shell("git reset --hard")])?;
        holds(sandbox, "notes.txt", left).map_err(|failure| Failure::Wrong(anyhow!("{answer:?}: {failure}")))?;
        if !words.is_empty() {
            refused(transcript.answer(0)?, &[words])?;
        }
    }
    Ok(())
}
