//! Lines between an MCP client and its server.

use reflex_host::mcp::{Message, Response, call, read_line, strings};
use serde_json::Value;

/// Lines keep every byte, and two kinds of readers agree with ours about each line that passes: one that takes the last
/// of repeated keys, as JavaScript and Python do, and one that ignores case, as Go does.
pub fn mcp_frame(bytes: &[u8]) {
    let mut input = bytes;
    let lines: Vec<Vec<u8>> = std::iter::from_fn(|| read_line(&mut input).ok().flatten()).collect();
    assert_eq!(lines.concat(), bytes);
    for line in &lines {
        assert!(!line[..line.len() - 1].contains(&b'\n'), "two lines in one");
        let Ok(text) = std::str::from_utf8(line) else { continue };
        agreed(text.trim_end_matches(['\r', '\n']));
    }
}

fn agreed(line: &str) {
    // Each string of a text that is JSON is found.
    if let Ok(Value::String(text)) = serde_json::from_str(line) {
        assert_eq!(strings(line), format!("{text}\n"));
    }
    let response = Response::parse(line);
    let _ = strings(line);
    let Ok(message) = Message::parse(line) else { return };
    // Numbers and nesting have limits of their own; a call with such arguments is refused later.
    let Ok(read) = serde_json::from_str::<Value>(line) else { return };
    let raw = |text: Option<&str>| text.map(|text| serde_json::from_str::<Value>(text).expect("a value"));
    assert_eq!(read.get("method").and_then(Value::as_str), message.method.as_deref());
    assert_eq!(read.get("id"), raw(message.id).as_ref());
    assert_eq!(read.get("params"), raw(message.params).as_ref());
    assert_eq!(read.get("result"), raw(message.result).as_ref());
    let response = response.expect("an object").unwrap_or_default();
    assert!(response.result.is_none() || response.result == message.result);
    spelled_once(&read, &["jsonrpc", "id", "method", "params", "result"]);
    if let Ok((name, arguments)) = call(message.params) {
        let params = read.get("params").expect("a tool's name is in them");
        assert_eq!(params.get("name").and_then(Value::as_str), Some(name.as_str()));
        assert_eq!(params.get("arguments"), raw(arguments).as_ref());
        spelled_once(params, &["name", "arguments"]);
    }
}

fn spelled_once(value: &Value, known: &[&str]) {
    let keys = value.as_object().expect("an object").keys();
    for key in keys.filter(|key| known.iter().any(|known| key.eq_ignore_ascii_case(known))) {
        assert!(known.contains(&key.as_str()), "`{key}` is read in two ways");
    }
}
