//! The protocols by which a model is asked, against servers that answer, fail and lie.

use reflex_host::auto_pilot::{Choice, Question, Reply, ask};
use reflex_host::layers::{JudgeConfig, Provider};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A request as the server got it: the head in lower case, and the body.
type Asked = (String, Value);

/// Handles one connection.
type Turn = fn(TcpStream);

/// A server that handles each connection by the function of its turn, then ends; its address and what it was asked.
fn server(turns: Vec<Turn>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for turn in turns {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            sender.send((head, serde_json::from_slice(&body).unwrap_or_default())).unwrap();
            turn(stream);
        }
    });
    (url, receiver)
}

fn respond(mut stream: TcpStream, status: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // A client that has heard enough hangs up.
    let _ = stream.write_all((head + body).as_bytes());
}

fn allow() -> Value {
    json!({"decision": "allow", "confidence": 0.97, "reason": "as asked"})
}

fn messages(stream: TcpStream) {
    let block = json!({"type": "tool_use", "id": "t", "name": "answer", "input": allow()});
    let usage = json!({"input_tokens": 900, "output_tokens": 40});
    let body = json!({"model": "model-1-dated", "content": [block], "stop_reason": "tool_use", "usage": usage});
    respond(stream, "200 OK", &body.to_string());
}

fn chat(stream: TcpStream) {
    let message = json!({"role": "assistant", "content": allow().to_string()});
    let usage = json!({"prompt_tokens": 800, "completion_tokens": 30});
    let body = json!({"model": "local", "choices": [{"message": message}], "usage": usage});
    respond(stream, "200 OK", &body.to_string());
}

fn busy(stream: TcpStream) {
    respond(stream, "529 Overloaded", "{}");
}

struct Here {
    folder: tempfile::TempDir,
}

impl Here {
    fn new() -> Here {
        Here { folder: tempfile::tempdir().unwrap() }
    }

    fn key(&self, mode: u32) -> PathBuf {
        let file = self.folder.path().join("judge.key");
        fs::write(&file, "sk-test-key\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn anthropic(&self, url: &str) -> JudgeConfig {
        config(Provider::Anthropic { url: url.into(), key_file: self.key(0o600) })
    }

    fn ask(&self, config: &JudgeConfig) -> Reply {
        ask(config, &Question::new(&json!({"call": "git reset --hard"})).unwrap(), self.folder.path())
    }
}

fn config(provider: Provider) -> JudgeConfig {
    JudgeConfig { provider, model: "model-1".into(), timeout: Duration::from_secs(3), is_managed: false }
}

#[test]
fn anthropics_form_has_the_key_the_schema_and_the_answer() {
    let here = Here::new();
    let (url, asked) = server(vec![messages]);
    let reply = here.ask(&here.anthropic(&url));
    assert_eq!((reply.choice(), reply.reason()), (Ok(Choice::Allow), "as asked"));
    assert_eq!((&reply.json()["model"], reply.tokens()), (&json!("model-1-dated"), Some((900, 40))));
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("post /v1/messages http/1.1") && head.contains("x-api-key: sk-test-key"), "{head}");
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert_eq!(body["tools"][0]["input_schema"]["additionalProperties"], false);
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("git reset --hard"));
    assert!(!reply.json().to_string().contains("sk-test-key"));
}

#[test]
fn the_chat_form_needs_no_key() {
    let here = Here::new();
    let (url, asked) = server(vec![chat]);
    let reply = here.ask(&config(Provider::OpenAi { url: format!("{url}/v1/"), key_file: None }));
    assert_eq!((reply.choice(), reply.tokens()), (Ok(Choice::Allow), Some((800, 30))));
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("post /v1/chat/completions http/1.1") && !head.contains("authorization"), "{head}");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
}

#[test]
fn a_passing_failure_is_tried_again_within_the_same_time() {
    let here = Here::new();
    let (url, _asked) = server(vec![busy, messages]);
    let reply = here.ask(&here.anthropic(&url));
    assert_eq!((reply.choice(), reply.json()["attempts"].as_u64()), (Ok(Choice::Allow), Some(2)));
}

#[test]
fn every_failure_is_named() {
    let here = Here::new();
    let long: Turn = |mut stream| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n";
        let block = [b' '; 1 << 16];
        // The client hangs up long before the end.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| (0..1600).try_for_each(|_| stream.write_all(&block)));
    };
    let slow: Turn = |stream| {
        thread::sleep(Duration::from_secs(5));
        drop(stream);
    };
    let cases: [(Turn, &str, &str); 8] = [
        (long, "unavailable", "larger than 1 MiB"),
        (slow, "slow", "no answer within"),
        (
            |stream| respond(stream, "307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/", ""),
            "unavailable",
            "redirects",
        ),
        (|stream| respond(stream, "401 Unauthorized", "{}"), "unavailable", "HTTP 401"),
        (|stream| respond(stream, "200 OK", "<html>"), "malformed", "no JSON"),
        (|stream| respond(stream, "200 OK", "{\"content\": []}"), "malformed", "handed in no answer"),
        (
            |stream| {
                let input = json!({"decision": "allow", "confidence": 1, "reason": "", "approved": true});
                let block = json!({"type": "tool_use", "name": "answer", "input": input});
                respond(stream, "200 OK", &json!({"content": [block]}).to_string());
            },
            "malformed",
            "another form",
        ),
        (
            |stream| {
                let block = json!({"type": "tool_use", "name": "answer", "input": allow()});
                respond(stream, "200 OK", &json!({"content": [block, block]}).to_string());
            },
            "malformed",
            "handed in no answer",
        ),
    ];
    for (turn, outcome, why) in cases {
        // A passing failure is met several times.
        let (url, _asked) = server(vec![turn; 8]);
        let reply = here.ask(&JudgeConfig { timeout: Duration::from_secs(2), ..here.anthropic(&url) });
        let reason = reply.choice().unwrap_err().why().to_owned();
        assert_eq!((reply.outcome(), reason.contains(why)), (outcome, true), "{reason}");
    }
}

#[test]
fn a_server_that_is_down_and_a_key_that_others_read_are_no_answer() {
    let here = Here::new();
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let reply =
        here.ask(&JudgeConfig { timeout: Duration::from_secs(1), ..here.anthropic(&format!("http://{address}")) });
    assert_eq!(reply.outcome(), "unavailable");
    let open = Provider::Anthropic { url: "http://127.0.0.1:1".into(), key_file: here.key(0o644) };
    let reply = here.ask(&config(open));
    assert!(reply.choice().unwrap_err().why().contains("others can read it"), "{reply:?}");
}

#[test]
fn a_command_gets_json_and_its_errors_are_not_read() {
    let here = Here::new();
    let file = here.folder.path().join("asked");
    let ask_and = |end: &str| {
        let line = format!("cat > '{}'; echo noise >&2; echo '{}'{end}", file.display(), allow());
        here.ask(&config(Provider::Command { line }))
    };
    assert_eq!(ask_and("").choice(), Ok(Choice::Allow));
    let question: Value = serde_json::from_str(&fs::read_to_string(Path::new(&file)).unwrap()).unwrap();
    assert_eq!((&question["schema"], &question["answer"]["type"]), (&json!("reflex/judge-v1"), &json!("object")));
    assert_eq!(ask_and("; exit 3").outcome(), "unavailable");
    let reply = here.ask(&config(Provider::Command { line: "yes".into() }));
    assert_eq!(reply.outcome(), "malformed");
}
