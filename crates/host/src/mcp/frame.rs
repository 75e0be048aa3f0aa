//! Messages of MCP over standard input and output: one line of JSON each, kept byte for byte.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// Maximum length of a line, in bytes. A longer one ends the proxy: it cannot be judged, and is not passed on unjudged.
const MAX_LINE: usize = 32 << 20;

/// Keys of a request that affect its decision. They must not be ambiguous.
const REQUEST_KEYS: [&str; 5] = ["jsonrpc", "id", "method", "params", "result"];

/// Keys of a tool call that affect its decision.
const CALL_KEYS: [&str; 2] = ["name", "arguments"];

/// Reads one line including its line end. `None` at the end of the input.
///
/// # Errors
/// The input fails, or the line is longer than 32 MiB.
pub fn read_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let read = input.fill_buf()?;
        if read.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = read.iter().position(|byte| *byte == b'\n').map_or(read.len(), |at| at + 1);
        let part = read.get(..end).unwrap_or_default();
        if line.len() + part.len() > MAX_LINE {
            return Err(io::Error::other(format!("a message is longer than {} MiB", MAX_LINE >> 20)));
        }
        line.extend_from_slice(part);
        input.consume(end);
        if line.last() == Some(&b'\n') {
            return Ok(Some(line));
        }
    }
}

/// A message as far as the proxy parses it. Everything else in it stays raw.
#[derive(Debug, PartialEq, Eq)]
pub struct Message<'l> {
    /// The id as written; `None` for a notification.
    pub id: Option<&'l str>,
    /// The method; `None` for a response.
    pub method: Option<String>,
    /// The parameters as written.
    pub params: Option<&'l str>,
    /// The result as written.
    pub result: Option<&'l str>,
}

/// The reason why readers may disagree about a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Ambiguous(
    /// The text for the client.
    pub String,
);

type Fields<'l> = Vec<(String, &'l RawValue)>;

impl<'l> Message<'l> {
    /// Parses a client's line.
    ///
    /// # Errors
    /// The line is not a JSON object, or readers may disagree about it: a key occurs twice or in another case.
    pub fn parse(line: &'l str) -> Result<Message<'l>, Ambiguous> {
        // Python's text files also end a line at a carriage return, so another message could follow it.
        if line.contains('\r') {
            return Err(Ambiguous("a carriage return is inside the line".into()));
        }
        let fields = fields(line, &REQUEST_KEYS)?;
        let raw = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.get());
        let method = match raw("method") {
            None => None,
            Some(text) => Some(serde_json::from_str(text).map_err(|_| Ambiguous("the method is not a string".into()))?),
        };
        Ok(Message { id: raw("id"), method, params: raw("params"), result: raw("result") })
    }
}

/// A response as a client may read it: the last of repeated keys counts, as in JavaScript and Python.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Response<'l> {
    /// The id as written.
    pub id: Option<&'l str>,
    /// The result as written.
    pub result: Option<&'l str>,
    /// The error as written.
    pub error: Option<&'l str>,
}

impl<'l> Response<'l> {
    /// Parses a server's line. `None` for a request or a notification, which have neither a result nor an error.
    ///
    /// # Errors
    /// The line is not a JSON object.
    pub fn parse(line: &'l str) -> Result<Option<Response<'l>>, Ambiguous> {
        let fields = all_fields(line)?;
        let mut response = Response::default();
        let mut is_one = false;
        for (key, value) in &fields {
            match folded(key).as_str() {
                "id" => response.id = Some(value.get()),
                "result" => (is_one, response.result) = (true, Some(value.get())),
                "error" => (is_one, response.error) = (true, Some(value.get())),
                _ => {}
            }
        }
        Ok(is_one.then_some(response))
    }
}

/// The strings of a JSON text, decoded, one per line; the full text if it has none. Works on text that one reader
/// rejects and another accepts, such as Python's `NaN`.
pub fn strings(text: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('"') {
        let mut is_escaped = false;
        let end = after.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let raw = end.and_then(|end| after.get(..end)).unwrap_or(after);
        let decoded = serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned());
        found.push_str(&decoded);
        found.push('\n');
        rest = end.and_then(|end| after.get(end + 1..)).unwrap_or_default();
    }
    if found.is_empty() { text.to_owned() } else { found }
}

/// The tool and the arguments of a call, from its parameters.
///
/// # Errors
/// As for a message; or the call does not name a tool.
pub fn call(params: Option<&str>) -> Result<(String, Option<&str>), Ambiguous> {
    let fields = fields(params.unwrap_or("{}"), &CALL_KEYS)?;
    let raw = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.get());
    let name = raw("name").and_then(|name| serde_json::from_str(name).ok());
    Ok((name.ok_or_else(|| Ambiguous("the call names no tool".into()))?, raw("arguments")))
}

/// The fields of an object in their order. Each of `known` may occur at most once and in no other spelling: Go's JSON
/// package, for one, compares keys case-insensitively, and treats `ſ` as `s`.
fn fields<'l>(text: &'l str, known: &[&str]) -> Result<Fields<'l>, Ambiguous> {
    let fields = all_fields(text)?;
    let mut seen = BTreeMap::new();
    for (key, _) in &fields {
        let folded = folded(key);
        if !known.contains(&folded.as_str()) {
            continue;
        }
        if folded != *key || seen.insert(folded, ()).is_some() {
            return Err(Ambiguous(format!("the key `{key}` can be read in two ways")));
        }
    }
    Ok(fields)
}

fn all_fields(text: &str) -> Result<Fields<'_>, Ambiguous> {
    struct All<'l>(Fields<'l>);
    impl<'l> Deserialize<'l> for All<'l> {
        fn deserialize<D: serde::Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'l> serde::de::Visitor<'l> for Visitor {
                type Value = All<'l>;
                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'l>>(self, mut map: A) -> Result<All<'l>, A::Error> {
                    let mut fields = Vec::new();
                    while let Some(entry) = map.next_entry::<String, &'l RawValue>()? {
                        fields.push(entry);
                    }
                    Ok(All(fields))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    let All(fields) =
        serde_json::from_str(text).map_err(|error| Ambiguous(format!("not an object of JSON: {error}")))?;
    Ok(fields)
}

fn folded(key: &str) -> String {
    let fold = |ch: char| match ch {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        ch => ch.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_what_it_does_not_read() {
        let line =
            r#"{"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"a","arguments":{"b": 1.0e5}}}"#;
        let message = Message::parse(line).unwrap();
        assert_eq!((message.id, message.method.as_deref()), (Some("7"), Some("tools/call")));
        assert_eq!(call(message.params), Ok(("a".to_owned(), Some(r#"{"b": 1.0e5}"#))));
        let text = r#"{"id":"x","method":"tools\u002fcall"}"#;
        assert_eq!(Message::parse(text).unwrap().method.as_deref(), Some("tools/call"));
    }

    #[test]
    fn what_servers_read_in_two_ways_is_no_message() {
        for line in [
            "",
            "[]",
            "null",
            r#"{"id":1,"method":"ping"} {"id":2}"#,
            r#"{"id":1,"method":"ping","method":"tools/call"}"#,
            r#"{"id":1,"Method":"tools/call"}"#,
            "{\"id\":1,\"method\":\"ping\",\"param\u{17f}\":{}}",
            r#"{"id":1,"method":7}"#,
            "{\"x\":\r{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\r}",
            r#"{"id":1,'method':"tools/call"}"#,
        ] {
            assert!(Message::parse(line).is_err(), "{line}");
        }
        for params in [r#"{"name":"a","name":"b"}"#, r#"{"name":"a","Arguments":{}}"#, r#"{"arguments":{}}"#] {
            assert!(call(Some(params)).is_err(), "{params}");
        }
    }

    #[test]
    fn responses_are_read_as_clients_may_read_them() {
        assert_eq!(Response::parse(r#"{"id":1,"method":"ping"}"#), Ok(None));
        let read = Response::parse(r#"{"id":1,"result":{},"id":"2","method":"x"}"#).unwrap().unwrap();
        assert_eq!((read.id, read.result, read.error), (Some("\"2\""), Some("{}"), None));
        assert!(Response::parse(r#"{"Error":{"x":1e400},"id":3}"#).unwrap().unwrap().error.is_some());
        assert!(Response::parse(r#"{"id":1,"result":NaN}"#).is_err());
    }

    #[test]
    fn strings_are_decoded_in_any_text() {
        assert_eq!(strings(r#"{"a":"\u0049gn\"ore","x":NaN,"b":["c"]"#), "a\nIgn\"ore\nx\nb\nc\n");
        assert_eq!(strings("no JSON"), "no JSON");
        assert_eq!(strings(r#"{"open: \u0049"#), "open: I\n");
    }

    #[test]
    fn lines_come_with_their_end_and_none_without_limit() {
        let mut input: &[u8] = b"one\r\n\ntwo";
        let lines: Vec<_> = std::iter::from_fn(|| read_line(&mut input).unwrap()).collect();
        assert_eq!(lines, [&b"one\r\n"[..], b"\n", b"two"]);
        let long = vec![b'a'; MAX_LINE + 1];
        assert!(read_line(&mut long.as_slice()).is_err());
    }
}
