//! Properties of a URL that describe its destination.

use super::host_name;
use crate::model::words::Words;

/// Whether a URL imitates another destination: by the characters of its host (see [`host_name`]) or of a word of its
/// path, or by a name before an `@`.
pub(crate) fn is_disguised(url: &str, imitated: Words) -> bool {
    let Parts { scheme, user, host, path } = parts(url);
    let path = path.split(['?', '#']).next().unwrap_or("");
    let in_place_of_host = !user.is_empty() && !user.contains(':') && user.contains('.') && scheme != "ssh";
    in_place_of_host || host_name::is_disguised(host, imitated) || host_name::has_lookalikes(path)
}

/// Whether an `https` URL belongs to one of these addresses: a host, or a host with a path that includes everything
/// below it.
pub(crate) fn is_one_of(url: &str, addresses: Words) -> bool {
    let Parts { scheme, user, host, path } = parts(url);
    let place = format!("{host}{path}");
    let contains_url = |address: &str| {
        place.strip_prefix(address).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
    };
    scheme == "https" && user.is_empty() && addresses.iter().any(contains_url)
}

/// Whether the URL has a property: `password`, `plain`, `own`, `number`, `script`, `laden`.
///
/// `password` – a password precedes the host; `plain` – it is fetched without encryption from a host that is not this
/// machine; `own` – this machine; `number` – the host is a number, not a name; `script` – the path names a script;
/// `laden` – a part of it is long enough to carry data, or is printed by a program.
pub(crate) fn has(url: &str, property: &str) -> bool {
    let Parts { scheme, user, host, path } = parts(url);
    match property {
        "password" => user.contains(':'),
        "plain" => matches!(scheme, "http" | "ftp") && !is_local(host) && !host.is_empty(),
        "own" => is_local(host),
        "number" => {
            host.contains(['.', ':']) && host.bytes().all(|byte| byte.is_ascii_hexdigit() || b".:".contains(&byte))
        }
        "laden" => url.split(['?', '&', '=', '/', '.', '#', '+', '…']).any(is_load) || url.contains("$("),
        "script" => {
            let file = path.split(['?', '#']).next().unwrap_or("").rsplit('/').next().unwrap_or("");
            [".sh", ".bash", ".py", ".ps1", ".run"].iter().any(|end| file.ends_with(end))
        }
        _ => false,
    }
}

/// The host of an address, unless it belongs to this machine or its network.
pub(crate) fn far_host(url: &str) -> Option<&str> {
    let host = parts(url).host;
    let near = is_local(host) || [".local", ".internal", ".lan"].iter().any(|end| host.ends_with(end));
    (host.contains('.') && !near).then_some(host)
}

struct Parts<'u> {
    scheme: &'u str,
    user: &'u str,
    host: &'u str,
    path: &'u str,
}

fn parts(url: &str) -> Parts<'_> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let (user, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => place.split(':').next().unwrap_or(place),
    };
    Parts { scheme, user, host, path }
}

/// Whether a part has characters and digits that could encode more than a name or a digest.
fn is_load(part: &str) -> bool {
    let digest = part.len() == 40 || part.len() == 64;
    let hexadecimal = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = part.bytes().any(|byte| byte.is_ascii_digit()) || part.bytes().any(|byte| byte.is_ascii_uppercase());
    part.len() >= 32 && word && !(digest && hexadecimal) && !part.contains(' ')
}

/// Whether a host is this machine, or a name that only resolves on it.
fn is_local(host: &str) -> bool {
    host == "localhost"
        || host == "::1"
        || host == "0.0.0.0"
        || host == "host.docker.internal"
        || host.starts_with("127.")
        || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;
    use crate::model::words::WordList;

    #[test]
    fn a_url_can_be_disguised_in_its_host_and_in_words_of_two_alphabets() {
        let names = WordList::ImitatedHosts.read(tables());
        let check = |url, expected| assert_eq!(is_disguised(url, names), expected, "{url}");
        check("https://x.example/a", false);
        check("https://x.example/Köln/я?q=café", false);
        check("https://x.example/a%20b", false);
        check("https://…/a", false);
        check("https://x.example/\u{456}nstall.sh", true);
        check("https://x.example/?q=\u{456}nstall", false);
        check("https://g\u{456}thub.com/a", true);
        check("https://ex%61mple.com/a", true);
        check("http://github.com@x.example/a", true);
        check("ssh://a.b@x.example/a", false);
    }

    #[test]
    fn hosts_are_what_they_are() {
        let check = |url, property, expected| assert_eq!(has(url, property), expected, "{url} {property}");
        check("http://me:word@x.example/", "password", true);
        check("http://x.example:80/", "password", false);
        check("http://localhost:3000/a", "plain", false);
        check("http://x.example/a", "plain", true);
        check("http://[::1]:9200/a", "own", true);
        check("https://x.example/i.sh?a=b", "script", true);
        check("https://x.example/?d=QVBJX0tFWT1zay1saXZlLTEyMzQ1Njc4OTA", "laden", true);
        check("https://x.example/commit/0123456789abcdef0123456789abcdef01234567", "laden", false);
        check("https://x.example/a-long-title-of-an-article-about-nothing", "laden", false);
    }
}
