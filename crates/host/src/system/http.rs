//! The only HTTP client, for requests of a person and of reflexes with a granted host. Judging a call never uses it.

use rustls::crypto::{CryptoProvider, ring};
use std::time::Duration;
use ureq::http::Request as Head;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, http::Response};

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// `GET`, `POST`, …
    pub method: &'r str,
    /// The URL.
    pub url: &'r str,
    /// Further headers.
    pub headers: &'r [(&'r str, &'r str)],
    /// The media type and the body.
    pub body: Option<(&'r str, &'r str)>,
}

/// The limits of a request.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Time limit, including the response.
    pub within: Duration,
    /// Maximum length of the response's body, in bytes. A longer one is an error.
    pub bytes: u64,
    /// Maximum number of redirects.
    pub redirects: u32,
    /// Whether the request stays on this machine, so that it uses no proxy.
    pub is_local: bool,
    /// Whether only encrypted connections are allowed, also after a redirect.
    pub is_encrypted: bool,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status; an error status is a response too.
    pub status: u16,
    /// The body as text; invalid UTF-8 is replaced.
    pub text: String,
}

/// A request has no usable response.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// An invalid request, no connection, no trust, or no response in time.
    #[error(transparent)]
    Failed(#[from] ureq::Error),
    /// The body has more than this number of MiB.
    #[error("it is larger than {0} MiB")]
    TooLong(u64),
}

/// Sends a request, by the proxies that the environment names and with the certificates that the machine trusts.
///
/// # Errors
/// No connection, no trust, no response in time, or a response that is too long.
pub fn send(request: Request<'_>, bounds: Bounds) -> Result<Answer, HttpError> {
    let response = ask(request, bounds)?;
    let status = response.status().as_u16();
    let body = response.into_body().into_with_config().limit(bounds.bytes).lossy_utf8(true);
    match body.read_to_string() {
        Ok(text) => Ok(Answer { status, text }),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(HttpError::TooLong(bounds.bytes >> 20)),
        Err(error) => Err(error.into()),
    }
}

/// The host of a URL, in lower case; `None` if the scheme is not http or https.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let url: ureq::http::Uri = url.parse().ok()?;
    let is_web = matches!(url.scheme_str(), Some("http" | "https"));
    url.host().filter(|_| is_web).map(str::to_ascii_lowercase)
}

fn ask(request: Request<'_>, bounds: Bounds) -> Result<Response<Body>, ureq::Error> {
    let named = Head::builder().method(request.method).uri(request.url);
    let head = request.headers.iter().fold(named, |head, (name, value)| head.header(*name, *value));
    let agent = agent(bounds);
    match request.body {
        Some((media_type, body)) => agent.run(head.header("content-type", media_type).body(body)?),
        None => agent.run(head.body(())?),
    }
}

fn agent(bounds: Bounds) -> Agent {
    // An error means that this process has already installed a provider.
    let _ = CryptoProvider::install_default(ring::default_provider());
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .https_only(bounds.is_encrypted)
        .max_redirects(bounds.redirects)
        .proxy(if bounds.is_local { None } else { Proxy::try_from_env() })
        .timeout_global(Some(bounds.within))
        .user_agent(concat!("reflex/", env!("CARGO_PKG_VERSION")))
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
    config.build().new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    const BOUNDS: Bounds =
        Bounds { within: Duration::from_secs(10), bytes: 64, redirects: 0, is_local: true, is_encrypted: false };

    /// Serves one request. Returns the request as received, and the result of sending it.
    fn served(answer: &'static str, body: Option<(&str, &str)>, bounds: Bounds) -> (String, Result<Answer, HttpError>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/a?b", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let lower = head.to_lowercase();
            let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            let mut sent = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut sent).unwrap();
            (&stream).write_all(answer.as_bytes()).unwrap();
            lower + &String::from_utf8(sent).unwrap()
        });
        let method = if body.is_some() { "POST" } else { "GET" };
        let answer = send(Request { method, url: &url, headers: &[], body }, bounds);
        (server.join().unwrap(), answer)
    }

    #[test]
    fn an_answer_in_chunks_is_joined_and_an_error_is_an_answer() {
        let (asked, answer) = served(
            "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n",
            Some(("application/json", "[1]")),
            BOUNDS,
        );
        assert_eq!(answer.ok(), Some(Answer { status: 503, text: "{\"a\":1}".into() }));
        assert!(asked.starts_with("post /a?b http/1.1\r\n") && asked.ends_with("\r\n\r\n[1]"), "{asked}");
        assert!(asked.contains("content-type: application/json\r\n"), "{asked}");
    }

    #[test]
    fn no_redirection_is_followed_that_was_not_allowed() {
        let (_, answer) =
            served("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n", None, BOUNDS);
        assert_eq!(answer.ok(), Some(Answer { status: 302, text: String::new() }));
    }

    #[test]
    fn more_than_was_allowed_is_no_answer() {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 70\r\n\r\n0123456789012345678901234567890123456789012345678901234567890123456789";
        let (_, answer) = served(answer, None, BOUNDS);
        assert!(answer.is_err_and(|problem| problem.to_string().contains("larger than")));
    }

    #[test]
    fn nothing_is_sent_without_encryption_where_that_is_asked_for() {
        let request = Request { method: "GET", url: "http://127.0.0.1:1/", headers: &[], body: None };
        let answer = send(request, Bounds { is_encrypted: true, ..BOUNDS });
        assert!(answer.is_err_and(|problem| problem.to_string().contains("https")));
    }
}
