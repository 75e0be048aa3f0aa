//! A text without its secrets. It is stricter than what is told of: what only may be one goes too.

use super::{Candidate, Secret, Sure, apart, forms, meant, scan};
use reflex_tables::Node;
use std::borrow::Cow;

/// Replaces every secret in a text by a tag of its kind; `mark` may add what tells equal secrets from others.
pub fn redact(text: &str, tables: Node<'static>, mark: &dyn Fn(&str) -> String) -> String {
    let text = without_private_keys(text, mark);
    let text = without_formats(&text, tables, mark);
    let kinds = tables.get("secrets").get("kinds");
    let is_tag = |word: &str| is_tag(word, kinds);
    let tag =
        |kind: &str, secret: &str| if is_tag(secret) { secret.to_owned() } else { format!("[{kind}{}]", mark(secret)) };
    let mut out = String::with_capacity(text.len());
    let mut awaits = Awaits::Nothing;
    // `"password": "x"`: the name, then a word that is only the colon.
    let mut named = false;
    let mut lower = String::new();
    for token in tokens(&text) {
        let Token::Word(word) = token else {
            let Token::Divider(divider) = token else { continue };
            if divider.bytes().any(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&')) {
                (awaits, named) = (Awaits::Nothing, false);
            }
            out.push_str(divider);
            continue;
        };
        if word.starts_with('[') && is_tag(word) {
            (awaits, named) = (Awaits::Nothing, false);
            out.push_str(word);
            continue;
        }
        lower.clear();
        lower.push_str(word);
        lower.make_ascii_lowercase();
        let scheme = matches!(lower.as_str(), "token" | "bearer" | "basic" | "digest" | "apikey");
        if named && matches!(word, ":" | "=" | "=>" | ":=") {
            awaits = Awaits::Secret;
            out.push_str(word);
            continue;
        }
        named = names_secret(&lower);
        let introduces = introduces(&lower, named);
        if awaits == Awaits::Secret && !scheme && !introduces && !word.starts_with('$') {
            out.push_str(&tag("secret", word));
            awaits = Awaits::Nothing;
            continue;
        }
        awaits = if introduces || (awaits == Awaits::Secret && scheme) { Awaits::Secret } else { Awaits::Nothing };
        out.push_str(&redacted_word(word, &tag));
    }
    out
}

/// The text with every secret replaced by `[secret]` or a tag of its kind.
pub fn redacted(text: &str, tables: Node<'static>) -> String {
    redact(text, tables, &|_| String::new())
}

/// Whatever has one of the library's formats, or begins like it, as a tag of its kind.
fn without_formats<'t>(text: &'t str, tables: Node<'static>, mark: &dyn Fn(&str) -> String) -> Cow<'t, str> {
    let mut found: Vec<Secret> = Vec::new();
    scan(text, tables, &mut |at, start, after| {
        let secrets = start.items().filter_map(|candidate| {
            let entry = candidate.at(2);
            if Candidate::of(candidate) != Candidate::Form {
                return meant(text, at, candidate, after);
            }
            let exact = forms::around(candidate, text.as_bytes(), at);
            let span = exact.or_else(|| forms::begun(candidate, text.as_bytes(), at));
            span.filter(|span| span.start >= after).map(|span| Secret { span, sure: Sure::Formed, entry })
        });
        let before = found.len();
        found.extend(secrets);
        let formed = found.iter().skip(before).filter(|secret| secret.sure == Sure::Formed);
        formed.map(|secret| secret.span.end).max()
    });
    if found.is_empty() {
        return text.into();
    }
    let found = apart(found);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for secret in &found {
        out.push_str(text.get(copied..secret.span.start).unwrap_or(""));
        copied = secret.span.end;
        out.push_str(&format!("[{}{}]", secret.kind(), mark(text.get(secret.span.clone()).unwrap_or(""))));
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    out.into()
}

/// Whether the word before says that a secret follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Nothing,
    Secret,
}

enum Token<'t> {
    Word(&'t str),
    Divider(&'t str),
}

fn divides(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'(' | b')' | b'<' | b'>' | b',' | b';' | b'|' | b'&'
    )
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let divider = divides(*rest.as_bytes().first()?);
        // Dividers are ASCII: a token ends where a letter does.
        let end = rest.bytes().position(|byte| divides(byte) != divider).unwrap_or(rest.len());
        let (token, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = behind;
        Some(if divider { Token::Divider(token) } else { Token::Word(token) })
    })
}

/// `Authorization:`, `Bearer`, `--password`, `"api_key":`: the next word is the secret. `named` says whether the word
/// names one.
fn introduces(lower: &str, named: bool) -> bool {
    let option = lower.starts_with("--") && !lower.contains('=');
    matches!(lower, "bearer" | "basic") || (named && (option || lower.ends_with([':', '='])))
}

fn names_secret(lower: &str) -> bool {
    let bytes = lower.as_bytes();
    // Most words hold none: a look at two letters is enough.
    bytes.windows(2).enumerate().any(|(at, pair)| {
        matches!(
            pair,
            [b't' | b'c', b'o']
                | [b's', b'e']
                | [b'p', b'a']
                | [b'a', b'p' | b'u' | b'c']
                | [b'c', b'r']
                | [b'_', b'p' | b'k']
                | [b'-', b'k' | b'-']
        ) && TELLTALE.iter().any(|telltale| bytes.get(at..).is_some_and(|rest| rest.starts_with(telltale.as_bytes())))
    })
}

const TELLTALE: [&str; 19] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "api_key",
    "api-key",
    "auth-key",
    "authorization",
    "credential",
    "cookie",
    "_pwd",
    "_pass",
    "_key",
    "-key",
    "access_key",
    "--pass",
    "accountkey",
];

fn redacted_word<'w>(word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if !word.bytes().any(|byte| matches!(byte, b':' | b'=')) {
        // `-pPASSWORD` of mysql and its kin cannot be told from other options; long random ones are.
        return redacted_value(word, tag);
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        let authority = rest.find(['/', '?', '#']).and_then(|end| rest.get(..end)).unwrap_or(rest);
        let (credentials, place) = match authority.rfind('@').and_then(|at| rest.split_at_checked(at)) {
            Some((login, place)) => match tag("", login) {
                known if known == login => (known, place),
                marked => (format!("[credentials{}]", marked.trim_matches(['[', ']'])), place),
            },
            None => (String::new(), rest),
        };
        // What stands behind a question mark may be a key; the place is enough to know what is meant.
        let (place, query) = place.split_once('?').map_or((place, ""), |(place, _)| (place, "?…"));
        let parts: Vec<Cow<'_, str>> = place.split('/').map(|part| redacted_value(part, tag)).collect();
        return format!("{scheme}://{credentials}{}{query}", parts.join("/")).into();
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && !value.is_empty()
    {
        let divider = word.get(name.len()..=name.len()).unwrap_or("=");
        if names_secret(&name.to_ascii_lowercase()) && !value.starts_with('$') {
            return format!("{name}{divider}{}", tag("secret", value)).into();
        }
        return format!("{name}{divider}{}", redacted_value(value, tag)).into();
    }
    redacted_value(word, tag)
}

/// Whether this is what we have put in place of a secret before.
fn is_tag(word: &str, kinds: Node<'_>) -> bool {
    let inner = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let kind = inner.map(|inner| inner.split(':').next().unwrap_or(""));
    kind.is_some_and(|kind| kind == "secret" || kind == "private-key" || kinds.get(kind).is_true())
}

fn redacted_value<'w>(word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if looks_random(word) { tag("secret", word).into() } else { word.into() }
}

/// Long, of letters and digits in both cases, without a path's or sentence's shape.
fn looks_random(word: &str) -> bool {
    let long = word.len() >= 32 && !word.contains(['/', '.', ' ']);
    let has = |test: fn(&char) -> bool| word.chars().filter(test).count() >= 4;
    let hexadecimal = word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal || (long && has(char::is_ascii_digit) && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
}

/// PEM blocks of private keys, whole or cut off.
fn without_private_keys<'t>(text: &'t str, mark: &dyn Fn(&str) -> String) -> Cow<'t, str> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    if !text.contains(BEGIN) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        out.push_str(before);
        let title = block.split("-----").next().unwrap_or("");
        let (body, behind) = block.split_once(END).unwrap_or((block, ""));
        if title.contains("PRIVATE KEY") && title.len() < 40 {
            out.push_str(&format!("[private-key{}]", mark(body)));
            rest = behind.split_once("-----").map_or("", |(_, behind)| behind);
        } else {
            out.push_str(BEGIN);
            rest = block;
        }
    }
    out.push_str(rest);
    out.into()
}
