//! URLs and their parts.

use serde_json::{Value, json};
use url::{Url, quirks};

/// Returns the host of an http or https URL.
pub fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    url.host_str().map(str::to_owned)
}

/// Parses a URL into its parts; `null` if it is invalid.
pub(super) fn url(text: &str, base: &str) -> Value {
    let parsed = match base {
        "" => Url::parse(text),
        base => Url::parse(base).and_then(|base| base.join(text)),
    };
    parsed.map_or(Value::Null, |url| parts_of(&url))
}

/// Returns the parts of a URL after one of them was set. An invalid value changes nothing.
pub(super) fn changed(text: &str, part: &str, value: &str) -> Value {
    let Ok(mut url) = Url::parse(text) else { return Value::Null };
    let _ = match part {
        "protocol" => quirks::set_protocol(&mut url, value),
        "username" => quirks::set_username(&mut url, value),
        "password" => quirks::set_password(&mut url, value),
        "host" => quirks::set_host(&mut url, value),
        "hostname" => quirks::set_hostname(&mut url, value),
        "port" => quirks::set_port(&mut url, value),
        "pathname" => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
        _ => Err(()),
    };
    parts_of(&url)
}

pub(super) fn parts_of(url: &Url) -> Value {
    let host = url.host_str().unwrap_or("");
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let with = |sign: &str, part: Option<&str>| {
        part.filter(|part| !part.is_empty()).map_or(String::new(), |part| format!("{sign}{part}"))
    };
    json!({
        "href": url.as_str(), "protocol": format!("{}:", url.scheme()), "username": url.username(),
        "password": url.password().unwrap_or(""), "hostname": host, "port": port,
        "host": if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") },
        "pathname": url.path(), "search": with("?", url.query()), "hash": with("#", url.fragment()),
        "origin": url.origin().ascii_serialization(),
    })
}
