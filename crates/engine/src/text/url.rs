//! Properties of a URL that say something about where it leads.

/// Whether the URL has a property: `password`, `disguised`, `plain`, `own`, `script`, `laden`.
///
/// `password` – a password stands before the host; `disguised` – the host is not what it looks like (letters of other
/// alphabets, their ASCII form, encoded letters, a name before an `@`); `plain` – it is fetched without encryption from
/// a host that is not this machine; `own` – this machine; `script` – the path names a script; `laden` – a part
/// of it is so long that it carries something, or is printed by a program.
pub(crate) fn has(url: &str, property: &str) -> bool {
    let Parts { scheme, user, host, path } = parts(url);
    match property {
        "password" => user.contains(':'),
        "disguised" => {
            let encoded = host.contains('%') || host.split('.').any(|label| label.starts_with("xn--"));
            // What is not known is shown as an ellipsis.
            let other_letters = |text: &str| text.chars().any(|letter| !letter.is_ascii() && letter != '…');
            let in_place_of_host = !user.is_empty() && !user.contains(':') && user.contains('.') && scheme != "ssh";
            encoded || other_letters(host) || other_letters(path) || in_place_of_host || host.contains('\\')
        }
        "plain" => matches!(scheme, "http" | "ftp") && !is_own(host) && !host.is_empty(),
        "own" => is_own(host),
        "laden" => url.split(['?', '&', '=', '/', '.', '#', '+', '…']).any(is_load) || url.contains("$("),
        "script" => {
            let file = path.split(['?', '#']).next().unwrap_or("").rsplit('/').next().unwrap_or("");
            [".sh", ".bash", ".py", ".ps1", ".run"].iter().any(|end| file.ends_with(end))
        }
        _ => false,
    }
}

/// The host of an address, if it is not of this machine or its neighbours.
pub(crate) fn far_host(url: &str) -> Option<&str> {
    let host = parts(url).host;
    let near = is_own(host) || [".local", ".internal", ".lan"].iter().any(|end| host.ends_with(end));
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

/// A part of letters and digits in which more could stand than a name or a digest.
fn is_load(part: &str) -> bool {
    let digest = part.len() == 40 || part.len() == 64;
    let hexadecimal = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = part.bytes().any(|byte| byte.is_ascii_digit()) || part.bytes().any(|byte| byte.is_ascii_uppercase());
    part.len() >= 32 && word && !(digest && hexadecimal) && !part.contains(' ')
}

/// This machine, or a name that only stands inside of it.
fn is_own(host: &str) -> bool {
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

    #[test]
    fn hosts_are_what_they_are() {
        let check = |url, property, expected| assert_eq!(has(url, property), expected, "{url} {property}");
        check("https://x.example/a", "disguised", false);
        check("https://g\u{456}thub.com/a", "disguised", true);
        check("https://xn--gthub-cua.com/a", "disguised", true);
        check("https://ex%61mple.com/a", "disguised", true);
        check("http://github.com@x.example/a", "disguised", true);
        check("https://x.example/a%20b", "disguised", false);
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
