//! An MCP server on standard input and output with one tool, `shout`: it returns the text in capitals and optionally
//! writes a file.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// Serves requests until the client closes the input.
pub fn serve() {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = request.get("id") else { continue };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result(&request)});
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

fn result(request: &Value) -> Value {
    let parameters = request.get("params").unwrap_or(&Value::Null);
    match string(request, "method") {
        "initialize" => json!({
            "protocolVersion": parameters.get("protocolVersion"), "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "shout", "description": "Returns the text in capitals; with a path, also writes it there.",
            "inputSchema": {"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string"}, "path": {"type": "string"}}},
        }]}),
        "tools/call" => shout(parameters.get("arguments").unwrap_or(&Value::Null)),
        _ => json!({}),
    }
}

fn shout(arguments: &Value) -> Value {
    let text = string(arguments, "text").to_uppercase();
    let path = string(arguments, "path");
    let written = if path.is_empty() { Ok(()) } else { std::fs::write(path, &text) };
    let message = written.map_or_else(|error| error.to_string(), |()| text);
    json!({"content": [{"type": "text", "text": message}]})
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
