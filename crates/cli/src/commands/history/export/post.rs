//! Sends JSON to a collector on this machine. The collector forwards it to other machines with its own encryption and
//! credentials: the guard has no credentials.

use crate::error::CollectorError;
use reflex_host::http::{Bounds, Request, send};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// Limits of a request: the maximum time and size of the answer.
const BOUNDS: Bounds =
    Bounds { within: Duration::from_secs(10), bytes: 1024 * 1024, redirects: 0, is_local: true, is_encrypted: false };

/// Maximum number of attempts at a busy collector, with a growing pause between them.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// The collector that receives records.
pub(super) struct Collector {
    host: String,
    path: String,
    /// Resolved addresses of the host: a second lookup could give others.
    addresses: Vec<SocketAddr>,
}

impl Collector {
    /// Parses a URL such as `http://127.0.0.1:4318`.
    ///
    /// # Errors
    /// The URL has another scheme, or names another machine.
    pub(super) fn parse(url: &str, usual: &str) -> Result<Collector, CollectorError> {
        let rest = url.strip_prefix("http://").ok_or(CollectorError::Scheme)?;
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let path = if path.trim_matches('/').is_empty() { usual } else { path };
        if host.contains('@') || !plain(host) || !plain(path) {
            return Err(CollectorError::Url);
        }
        let port = if host.ends_with(']') || !host.contains(':') { format!("{host}:80") } else { host.to_owned() };
        let failed = |source| CollectorError::Host { host: host.to_owned(), source };
        let addresses: Vec<SocketAddr> = port.to_socket_addrs().map_err(failed)?.collect();
        if addresses.is_empty() || !addresses.iter().all(|address| address.ip().is_loopback()) {
            return Err(CollectorError::Elsewhere(host.to_owned()));
        }
        Ok(Collector { host: host.into(), path: path.into(), addresses })
    }

    /// Returns the URL as the log shows it.
    pub(super) fn shown(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Sends a body and returns the text of the answer.
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
        let mut last = None;
        for address in &self.addresses {
            let url = format!("http://{address}{}", self.path);
            match send(
                Request { method: "POST", url: &url, headers: &[], body: Some(("application/json", body)) },
                BOUNDS,
            ) {
                Ok(answer) => return Ok((answer.status, answer.text)),
                Err(error) => last = Some(error),
            }
        }
        let last = last.map_or("no address".to_owned(), |error| error.to_string());
        Err(io::Error::other(format!("{}: {last}", self.shown())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_a_collector() {
        let of = |url| Collector::parse(url, "/v1/logs").map(|collector| collector.shown());
        assert_eq!(of("http://127.0.0.1:4318").unwrap(), "http://127.0.0.1:4318/v1/logs");
        assert_eq!(of("http://127.0.0.1:4318/x").unwrap(), "http://127.0.0.1:4318/x");
        assert!(
            of("https://127.0.0.1").is_err() && of("http://192.0.2.1").is_err() && of("http://a@127.0.0.1").is_err()
        );
        assert!(of("http://127.0.0.1/ HTTP/1.1\r\nX: y").is_err());
    }
}
