//! Decodes paths as a lenient program would: dots and slashes written as percent escapes, overlong or full-width
//! characters, numbers, backslashes, surplus dots, and files inside a wrapper URL.

/// Decoded readings of a path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Disguise {
    /// Readings that differ from the written path. Relative ones stay relative.
    pub(crate) paths: Vec<String>,
    /// Whether the spelling is one that no path writer produces: encoded alphanumerics, invalid bytes, control
    /// characters.
    pub(crate) malformed: bool,
}

/// Maximum number of decoding rounds. Double encoding is common, triple encoding is not; the rest is left encoded.
const MAX_DECODINGS: usize = 4;

/// Maximum length of a path, which exceeds the limit of every system.
const MAX_PATH: usize = 16 * 1024;

/// Returns the hidden readings of a path, if it has any.
pub(crate) fn disguise(text: &str) -> Disguise {
    let mut found = Disguise::default();
    if text.len() > MAX_PATH || !is_suspicious(text) {
        return found;
    }
    let mut plain = spelled_out(text);
    for _ in 0..MAX_DECODINGS {
        let next = decoded(&plain, &mut found.malformed);
        if next == plain {
            break;
        }
        plain = next;
    }
    let ended = without_controls(&plain, &mut found.malformed);
    let inner = unwrapped(&ended).unwrap_or(&ended);
    let mut keep = |path: String| {
        if path != text && !found.paths.contains(&path) {
            found.paths.push(path);
        }
    };
    keep(climbing(&inner.replace('\\', "/")));
    if inner.contains("\\.") || inner.contains("\\/") {
        keep(climbing(&inner.replace('\\', "")));
    }
    found
}

fn is_suspicious(text: &str) -> bool {
    let odd = |ch: char| matches!(ch, '%' | '\\' | '?' | '\u{ff0e}' | '\u{2215}' | '\u{ff0f}') || is_control(ch);
    let lower = || text.to_ascii_lowercase();
    text.contains(odd)
        || ["...", "..;", "0x", "..2", "..5", "..c"].iter().any(|sign| text.contains(sign))
        || text.contains("://")
        || lower().starts_with("jar:")
}

fn is_control(ch: char) -> bool {
    ch.is_ascii_control()
}

/// Replaces dots and slashes written as numbers without a percent sign, and lookalikes of both.
fn spelled_out(text: &str) -> String {
    let mut plain = text.replace(['\u{2215}', '\u{ff0f}'], "/").replace('\u{ff0e}', ".");
    let lower = plain.to_ascii_lowercase();
    if lower.contains("0x2") || lower.contains("0x5c") {
        plain = replaced(&plain, &[("0x2e", "."), ("0x2f", "/"), ("0x5c", "/")]);
    }
    if lower.contains("..2f") || lower.contains("..5c") {
        plain = replaced(&plain, &[("2f", "/"), ("5c", "/")]);
    }
    plain
}

fn replaced(text: &str, spellings: &[(&str, &str)]) -> String {
    let mut plain = text.to_owned();
    for (spelled, meant) in spellings {
        plain = plain.replace(spelled, meant).replace(&spelled.to_ascii_uppercase(), meant);
        plain = plain.replace(&spelled.to_ascii_uppercase().replacen("0X", "0x", 1), meant);
    }
    plain
}

/// Decodes one round. Unusual spellings that only lenient decoders accept set `malformed`.
fn decoded(text: &str, malformed: &mut bool) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        if let Some((ch, after)) = wide(rest) {
            let mut buffer = [0; 4];
            bytes.extend_from_slice(ch.encode_utf8(&mut buffer).as_bytes());
            *malformed = true;
            rest = after;
        } else if let Some((meant, after)) = overlong(rest) {
            bytes.push(meant);
            *malformed = true;
            rest = after;
        } else if let Some((byte, after)) = strict(rest) {
            *malformed |= byte.is_ascii_alphanumeric() || byte.is_ascii_control();
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Decodes `%2e`.
fn strict(rest: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = rest else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(high)? * 16 + digit(low)?, after))
}

/// Decodes `%qf` like a decoder that accepts characters after `f` as digits.
fn lenient(rest: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = rest else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(36);
    Some(((digit(high)? * 16 + digit(low)?) as u8, after))
}

/// Decodes `%uff0e`: full-width dots and slashes, and code points that some systems map to them.
fn wide(rest: &[u8]) -> Option<(char, &[u8])> {
    let [b'%', b'u' | b'U', a, b, c, d, after @ ..] = rest else { return None };
    let code = std::str::from_utf8(&[*a, *b, *c, *d]).ok().and_then(|code| u32::from_str_radix(code, 16).ok())?;
    let ch = match code {
        0xff0e | 0x2024 => '.',
        0x2215 | 0x2216 | 0xff0f | 0xff3c | 0xefc8 | 0xf025 => '/',
        code => char::from_u32(code)?,
    };
    Some((ch, after))
}

/// Decodes an ASCII byte in an overlong UTF-8 encoding (`%c0%ae`), like decoders that do not reject those. The low four
/// bits of the last byte are the same in all spellings: `e` for a dot, `f` for a slash, `c` for a backslash.
fn overlong(rest: &[u8]) -> Option<(u8, &[u8])> {
    // A lead byte always begins with a hexadecimal digit, unlike the variable `%USERPROFILE%`.
    let (lead, mut after) = lenient(rest).filter(|_| rest.get(1).is_some_and(u8::is_ascii_hexdigit))?;
    let continuing = match lead {
        0xc0 | 0xc1 => 1,
        0xe0 => 2,
        0xf0 => 3,
        0xf8 => 4,
        0xfc => 5,
        _ => return None,
    };
    let mut last = 0;
    for nth in 0..continuing {
        (last, after) = following(after)?;
        let needed = match (lead, nth) {
            (0xe0, 0) => last >= 0xa0,
            (0xf0, 0) => last >= 0x90,
            _ => false,
        };
        if needed {
            return None;
        }
    }
    let meant = match last & 0xf {
        0xe => b'.',
        0xf | 0xc => b'/',
        _ => return None,
    };
    Some((meant, after))
}

/// The next byte of a character: percent-encoded, as two hexadecimal digits without a percent sign, or literal.
fn following(rest: &[u8]) -> Option<(u8, &[u8])> {
    if let Some(encoded) = lenient(rest) {
        return Some(encoded);
    }
    match rest {
        [high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0) as u8;
            Some((digit(high) * 16 + digit(low), after))
        }
        [byte, after @ ..] => Some((*byte, after)),
        [] => None,
    }
}

/// Removes control characters. A zero byte or newline ends the path if a name has begun; before that it is dropped.
fn without_controls(text: &str, malformed: &mut bool) -> String {
    let mut kept = String::with_capacity(text.len());
    for ch in text.chars() {
        if !is_control(ch) {
            kept.push(ch);
            continue;
        }
        *malformed = true;
        let ends = matches!(ch, '\0' | '\n' | '\r') && kept.contains(|known: char| known.is_alphanumeric());
        if ends {
            break;
        }
    }
    kept
}

/// The file inside a wrapper: `file://`, `php://filter/…/resource=`, `zip://FILE#entry`, `jar:file:FILE!/entry`.
fn unwrapped(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let named = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    if !named || scheme.len() < 2 || ["http", "https", "ftp", "ws", "wss", "ssh", "git"].contains(&scheme) {
        return None;
    }
    if scheme.eq_ignore_ascii_case("jar") || scheme.eq_ignore_ascii_case("view-source") {
        let inner = rest.split('!').next().unwrap_or(rest);
        return Some(unwrapped(inner).unwrap_or(inner));
    }
    let path = match rest.strip_prefix("//") {
        Some(path) => path,
        None if scheme.eq_ignore_ascii_case("file") => rest,
        None => return None,
    };
    let path = path.split_once("resource=").map_or(path, |(_, resource)| resource);
    let path = if scheme.eq_ignore_ascii_case("file") { path.strip_prefix("localhost").unwrap_or(path) } else { path };
    Some(unwrapped(path).unwrap_or_else(|| path.split('#').next().unwrap_or(path)))
}

/// Replaces components that become `..` after a filter has removed dots, cut at a semicolon, or read `?` as any
/// character.
fn climbing(path: &str) -> String {
    let last = path.split('/').count() - 1;
    let climbs = |(at, part): (usize, &str)| {
        let head = part.split(';').next().unwrap_or(part);
        let dots = head.bytes().filter(|byte| matches!(byte, b'.' | b'?')).count();
        // `./...` is Go's pattern for all packages below a folder.
        (dots == 2 || (dots > 2 && at < last)) && head.bytes().all(|byte| matches!(byte, b'.' | b'?' | b'%' | b' '))
    };
    let parts = path.split('/').enumerate().map(|(at, part)| if climbs((at, part)) { ".." } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str) {
        let found = disguise(text);
        assert!(found.paths.iter().any(|known| known == path), "{text}: {found:?}");
    }

    #[test]
    fn hidden_dots_and_slashes_are_seen() {
        check("%2e%2e%2fetc", "../etc");
        check("%252e%252e/x", "../x");
        check("..%c0%af..%c0%afx%00.html", "../../x");
        check("%e0%80%ae%e0%80%ae/x", "../x");
        check("..%bg%qfx", "../x");
        check("%uff0e%uff0e%u2215x", "../x");
        check("%%32%65%%32%65/x", "../x");
        check("a\\..\\b", "a/../b");
        check(".\\/\\.\\.\\/x", "./../x");
        check("..;/x", "../x");
        check("..../x", "../x");
        check("..2f..2fvar2flog", "../../var/log");
        check("0x2e0x2e0x2fx", "../x");
        check(".%00.%01/x%00.png", "../x");
    }

    #[test]
    fn files_in_wrappers_are_seen() {
        check("file:///data/x", "/data/x");
        check("file://localhost/data/x", "/data/x");
        check("php://filter/convert.base64-encode/resource=../x", "../x");
        check("zip:///data/x.zip#y", "/data/x.zip");
        check("jar:file:/data/x.jar!/y", "/data/x.jar");
    }

    #[test]
    fn ordinary_paths_hide_nothing() {
        assert_eq!(disguise("./...").paths, Vec::<String>::new());
        for path in
            ["%USERPROFILE%/x", "src/a b.rs", "docs/a%20b.md", "src/[id].ts", "/home/me/x", "100%/x", "caf%c3%a9.md"]
        {
            let found = disguise(path);
            assert!(!found.malformed, "{path}");
        }
        assert!(disguise("%2e%68%74").malformed && disguise("a%00b").malformed && disguise("a%c0%af").malformed);
    }
}
