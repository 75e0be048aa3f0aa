//! Sends JSON to a collector on this machine by HTTP/1.1. To other machines the collector passes it on, with its own
//! encryption and credentials: the guard has neither.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// A collector answers in this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A collector that is busy is asked so often, with a pause in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// An answer is no longer than this.
const MAX_ANSWER: u64 = 1024 * 1024;

/// Where records go.
pub(super) struct Collector {
    host: String,
    path: String,
    addresses: Vec<SocketAddr>,
}

impl Collector {
    /// The collector of a URL such as `http://127.0.0.1:4318`.
    ///
    /// # Errors
    /// In words: another scheme, or another machine.
    pub(super) fn parse(url: &str, usual: &str) -> Result<Collector, String> {
        let rest = url.strip_prefix("http://").ok_or_else(|| {
            "only http:// to a collector on this machine is supported, e.g. http://127.0.0.1:4318".to_owned()
        })?;
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let path = if path.trim_matches('/').is_empty() { usual } else { path };
        if host.contains('@') || !plain(host) || !plain(path) {
            return Err("not a collector URL".into());
        }
        let port = if host.ends_with(']') || !host.contains(':') { format!("{host}:80") } else { host.to_owned() };
        let addresses: Vec<SocketAddr> =
            port.to_socket_addrs().map_err(|error| format!("`{host}`: {error}"))?.collect();
        if addresses.is_empty() || !addresses.iter().all(|address| address.ip().is_loopback()) {
            return Err(format!(
                "`{host}` is not this machine, and nothing would be encrypted: send to a collector here, which passes it on"
            ));
        }
        Ok(Collector { host: host.into(), path: path.into(), addresses })
    }

    /// As it stands in the log.
    pub(super) fn shown(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Sends a body; the text of the answer.
    pub(super) fn post(&self, body: &str) -> io::Result<String> {
        let mut tries = 1;
        loop {
            let (status, answer) = self.once(body)?;
            match status {
                200..=299 => return Ok(answer),
                429 | 502..=504 if tries < TRIES => thread::sleep(PAUSE * tries),
                _ => return Err(io::Error::other(format!("{} answers with status {status}", self.shown()))),
            }
            tries += 1;
        }
    }

    fn once(&self, body: &str) -> io::Result<(u16, String)> {
        let mut stream = self.connect()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nUser-Agent: reflex/{}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            body.len(),
            env!("CARGO_PKG_VERSION")
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
        let answer = String::from_utf8_lossy(&answer);
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("the collector does not answer in HTTP"))?;
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        Ok((status, if chunked { joined(text) } else { text.to_owned() }))
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::other("no address");
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, PATIENCE) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A body in chunks, each with its length in front.
fn joined(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length.split(';').next().unwrap_or("").trim(), 16).unwrap_or(0);
        let Some(chunk) = rest.get(..length).filter(|chunk| !chunk.is_empty()) else { break };
        whole.push_str(chunk);
        text = rest.get(length..).unwrap_or("").trim_start_matches("\r\n");
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        assert_eq!(joined("4\r\n{\"a\"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n"), "{\"a\":1}");
    }

    #[test]
    fn only_this_machine_is_a_collector() {
        let of = |url| Collector::parse(url, "/v1/logs").map(|collector| collector.shown());
        assert_eq!(of("http://127.0.0.1:4318"), Ok("http://127.0.0.1:4318/v1/logs".into()));
        assert_eq!(of("http://127.0.0.1:4318/x"), Ok("http://127.0.0.1:4318/x".into()));
        assert!(
            of("https://127.0.0.1").is_err() && of("http://192.0.2.1").is_err() && of("http://a@127.0.0.1").is_err()
        );
        assert!(of("http://127.0.0.1/ HTTP/1.1\r\nX: y").is_err());
    }
}
