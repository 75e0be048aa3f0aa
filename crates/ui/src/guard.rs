//! Rejects requests that do not come from the page, before any other processing: another host name for this machine
//! (DNS rebinding), another site's form or script (CSRF), a frame around the page.

use crate::assets::find;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Headers of every response. The page loads from and sends to its own origin only, has no inline script or style,
/// cannot be framed, and is not cached. A stricter `Referrer-Policy` would make the `Origin` of a form `null`.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Host names of this machine that are accepted in the `Host` header.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The response to a rejected request; `None` if the request comes from the page.
pub(crate) fn refusal(request: &Request<Body>, port: u16) -> Option<Response> {
    let headers = request.headers();
    let Some(host) = only(headers, header::HOST).filter(|host| is_ours(host, port)) else {
        return Some(text_response(
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers on 127.0.0.1, localhost and [::1] only",
        ));
    };
    let changes = *request.method() != Method::GET && *request.method() != Method::HEAD;
    let from_page = only(headers, header::ORIGIN).is_some_and(|origin| *origin == *format!("http://{host}"));
    if changes && !from_page {
        return Some(text_response(StatusCode::FORBIDDEN, "only the page itself may ask for this"));
    }
    // Other sites may not even load anything except the page's static files.
    let site = only(headers, "sec-fetch-site".parse().ok()?).unwrap_or("none");
    let is_shell = find(request.uri().path()).is_some();
    if !matches!(site, "same-origin" | "none") && !is_shell {
        return Some(text_response(StatusCode::FORBIDDEN, "only the page itself may ask for this"));
    }
    None
}

/// Returns the value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let one = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(one)
}

fn is_ours(host: &str, port: u16) -> bool {
    let named = host.rsplit_once(':').filter(|(_, number)| *number == port.to_string());
    named.is_some_and(|(name, _)| HOSTS.contains(&name))
}

/// A short plain-text response.
pub(crate) fn text_response(status: StatusCode, words: &str) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    (status, [kind], format!("{words}\n")).into_response()
}

/// Adds the common headers to a response.
pub(crate) fn sealed(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Name of the cookie. It contains the port, because browsers share cookies across ports.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("reflex-{port}")
}

/// Returns the value of the cookie.
pub(crate) fn cookie(headers: &HeaderMap, port: u16) -> Option<&str> {
    let name = cookie_name(port);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        refusal(&request.body(Body::empty()).unwrap(), 4000).map(|answer| answer.status().as_u16())
    }

    #[test]
    fn only_this_machine_by_its_own_names() {
        for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            assert_eq!(status("GET", "/", &[("host", host)]), None, "{host}");
        }
        for host in
            ["evil.example:4000", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:4000.evil.example", "LOCALHOST:4000", ""]
        {
            assert_eq!(status("GET", "/", &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(status("GET", "/", &[]), Some(421));
        assert_eq!(status("GET", "/", &[("host", "localhost:4000"), ("host", "evil.example")]), Some(421));
    }

    #[test]
    fn a_change_comes_from_the_page_itself() {
        let host = ("host", "127.0.0.1:4000");
        let from = |origin: &str| status("POST", "/api/unlock", &[host, ("origin", origin)]);
        assert_eq!(from("http://127.0.0.1:4000"), None);
        for origin in
            ["null", "http://127.0.0.1:3000", "http://localhost:4000", "https://127.0.0.1:4000", "http://evil.example"]
        {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
        assert_eq!(status("POST", "/api/unlock", &[host]), Some(403), "no origin is no page");
        assert_eq!(status("GET", "/api/status", &[host, ("sec-fetch-site", "cross-site")]), Some(403));
        assert_eq!(status("GET", "/api/status", &[host, ("sec-fetch-site", "same-site")]), Some(403), "another port");
        assert_eq!(status("GET", "/", &[host, ("sec-fetch-site", "cross-site")]), None, "a link to the page");
    }

    #[test]
    fn our_cookie_is_that_of_our_port() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("reflex-3000=x; a=b;  reflex-4000=y"));
        assert_eq!(cookie(&headers, 4000), Some("y"));
        assert_eq!(cookie(&headers, 5000), None);
    }
}
