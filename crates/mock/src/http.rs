//! The subset of HTTP that the scripted model needs: one request and one response per connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const LARGEST_BODY: u64 = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

/// One request.
pub(crate) struct Request {
    /// The method as received.
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    /// The bytes announced by `content-length`.
    pub(crate) body: Vec<u8>,
}

/// Reads one request; `None` if the client closes the connection without sending one.
pub(crate) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    let length = content_length(&mut reader)?.min(LARGEST_BODY);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(Some(Request { method, path, body }))
}

fn content_length(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(length);
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

/// Sends a response with status 200 and closes the connection.
pub(crate) fn write(mut stream: &TcpStream, content_type: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}
