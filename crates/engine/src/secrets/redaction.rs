//! Redacts the secrets of a text. Redaction is stricter than detection: it also removes values that only may be
//! secrets.

use super::forms;
use super::plausible;
use super::scan::{Candidate, Secret, Sure, apart, meant, scan};
use super::veils;
use crate::model::words::{WordFinder, WordList};
use reflex_tables::views::SecretFormat;
use reflex_tables::{Field, Map, Tables};
use std::borrow::Cow;
use std::ops::Range;

/// Replaces every secret in a text by a tag of its kind. `mark` may add text that distinguishes different secrets.
pub fn redact(text: &str, tables: Tables, mark: &dyn Fn(&str) -> String) -> String {
    redact_known(text, tables, &[], mark)
}

/// Like [`redact`], and also removes the texts in `known`, in any encoding.
pub fn redact_known(text: &str, tables: Tables, known: &[String], mark: &dyn Fn(&str) -> String) -> String {
    let text = unveiled(text, tables, known, mark);
    let text = without_private_keys(&text, mark);
    let text = without_formats(&text, tables, mark);
    let kinds = tables.library().secrets().kinds();
    let is_tag = |word: &str| is_tag(word, kinds);
    let tag =
        |kind: &str, secret: &str| if is_tag(secret) { secret.to_owned() } else { format!("[{kind}{}]", mark(secret)) };
    let mut out = String::with_capacity(text.len());
    let mut awaits = Awaits::Nothing;
    // `"password": "x"`: the name, then a word that is only the colon.
    let mut named = false;
    let mut lower = String::new();
    let names = secret_names(tables);
    for token in tokens(&text) {
        let Token::Word(word) = token else {
            let Token::Divider(divider) = token else { continue };
            if divider.bytes().any(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&')) {
                (awaits, named) = (Awaits::Nothing, false);
            }
            out.push_str(divider);
            continue;
        };
        if is_all_backslashes(word) {
            // `\\\"password\\\": \\\"x\\\"`: a string within a string.
            out.push_str(word);
            continue;
        }
        if word.starts_with('[') && is_tag(word) {
            (awaits, named) = (Awaits::Nothing, false);
            out.push_str(word);
            continue;
        }
        lower.clear();
        lower.push_str(word);
        lower.make_ascii_lowercase();
        let scheme = is_scheme(&lower);
        if named && matches!(word, ":" | "=" | "=>" | ":=") {
            awaits = Awaits::Secret;
            out.push_str(word);
            continue;
        }
        named = names.is_in(&lower);
        let introduces = introduces(&lower, named);
        if awaits == Awaits::Secret && !scheme && !introduces && !word.starts_with('$') {
            out.push_str(&tag("secret", word));
            awaits = Awaits::Nothing;
            continue;
        }
        awaits = if introduces || (awaits == Awaits::Secret && scheme) { Awaits::Secret } else { Awaits::Nothing };
        out.push_str(&redacted_word(&names, word, &tag));
    }
    out
}

/// Replaces every secret in a text by `[secret]` or a tag of its kind.
pub fn redacted(text: &str, tables: Tables) -> String {
    redact(text, tables, &|_| String::new())
}

/// Replaces secrets in an encoded form, and known secrets in any form.
fn unveiled<'t>(text: &'t str, tables: Tables, known: &[String], mark: &dyn Fn(&str) -> String) -> Cow<'t, str> {
    let mut spans: Vec<(Range<usize>, String)> = Vec::new();
    let is_known = |plain: &str, each: &mut dyn FnMut(Range<usize>, &str)| {
        for secret in known {
            let places = plain.match_indices(secret.as_str());
            places.for_each(|(at, _)| each(at..at + secret.len(), secret));
        }
    };
    is_known(text, &mut |span, secret| spans.push((span, secret.into())));
    veils::lifted(text, &mut |plain, place| {
        let mut add = |span: Range<usize>, secret: &str| {
            spans.extend(place(&span).map(|place| (place, secret.to_owned())));
        };
        is_known(plain, &mut add);
        let found = formed(plain, tables);
        let spans = found.into_iter().map(|secret| secret.span).chain(called(tables, plain));
        spans.for_each(|span| add(span.clone(), plain.get(span).unwrap_or("")));
    });
    if spans.is_empty() {
        return text.into();
    }
    spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, secret) in spans {
        // An overlapping span is contained in the previous one, or extends it.
        if span.end <= copied {
            continue;
        }
        out.push_str(text.get(copied..span.start.max(copied)).unwrap_or(""));
        // A span that extends the previous one shares its tag.
        if span.start >= copied {
            out.push_str(&format!("[secret{}]", mark(&secret)));
        }
        copied = span.end;
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    out.into()
}

/// Values whose preceding word names a secret.
fn called(tables: Tables, text: &str) -> Vec<Range<usize>> {
    const LEAST: usize = 4;
    let place = |word: &str| {
        let start = (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        start..start + word.len()
    };
    let (mut awaits, mut named) = (Awaits::Nothing, false);
    let names = secret_names(tables);
    let mut values = Vec::new();
    for token in tokens(text) {
        match token {
            Token::Divider(divider) if divider.contains(['\n', ';', '|', '&']) => {
                (awaits, named) = (Awaits::Nothing, false);
            }
            Token::Word(":" | "=" | "=>" | ":=") if named => awaits = Awaits::Secret,
            Token::Word(word) if is_all_backslashes(word) => {}
            Token::Word(word) => {
                let lower = word.to_ascii_lowercase();
                named = names.is_in(&lower);
                let introduces = introduces(&lower, named);
                let scheme = is_scheme(&lower);
                let is_value = awaits == Awaits::Secret && !scheme && !introduces;
                let assigned = word.split_once(['=', ':']).filter(|(name, _)| names.is_in(&name.to_ascii_lowercase()));
                let value = if is_value { Some(word) } else { assigned.map(|(_, value)| value) };
                let is_one = |value: &&str| value.len() >= LEAST && !value.starts_with(['$', '[']);
                values.extend(value.filter(is_one).map(place));
                let goes_on = introduces || (awaits == Awaits::Secret && scheme);
                awaits = if goes_on { Awaits::Secret } else { Awaits::Nothing };
            }
            Token::Divider(_) => {}
        }
    }
    values
}

/// Replaces each match of a library format, complete or partial, by a tag of its kind.
fn without_formats<'t>(text: &'t str, tables: Tables, mark: &dyn Fn(&str) -> String) -> Cow<'t, str> {
    let found = formed(text, tables);
    if found.is_empty() {
        return text.into();
    }
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

/// Matches of the library's formats, complete or partial.
fn formed(text: &str, tables: Tables) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    scan(text, tables, &mut |at, start, after| {
        let secrets = start.items().filter_map(|candidate| {
            let entry = SecretFormat::read(candidate.at(2));
            if Candidate::from_node(candidate) != Candidate::Form {
                return meant(tables, text, at, candidate, after);
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
    apart(found)
}

/// Whether a text looks like a password or a key without context.
pub(crate) fn looks_like_one(tables: Tables, text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = !text.contains(['/', ' ', '\n']) && !is_no_password(tables, text);
    plain && (plausible::is_strong(bytes) || plausible::is_scrambled(bytes) || plausible::is_random(tables, bytes))
}

/// Whether a password argument may be shown: a reference, a sample, or a word too short to search for.
pub(crate) fn is_no_password(tables: Tables, text: &str) -> bool {
    const LEAST: usize = 4;
    let refers = text.starts_with(['$', '-', '<', '{', '%', '/']) || text.contains("://");
    let lower = text.to_ascii_lowercase();
    let values = WordList::NoPasswordValues.read(tables);
    text.len() < LEAST || refers || values.has(&lower) || plausible::is_standin(tables, text.as_bytes())
}

/// Whether the previous word announces a secret.
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
        // Dividers are ASCII, so a token ends at a character boundary.
        let end = rest.bytes().position(|byte| divides(byte) != divider).unwrap_or(rest.len());
        let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after;
        Some(if divider { Token::Divider(token) } else { Token::Word(token) })
    })
}

fn is_all_backslashes(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'\\')
}

/// Words for the scheme of a secret in a header.
fn is_scheme(lower: &str) -> bool {
    matches!(lower, "token" | "bearer" | "basic" | "digest" | "apikey")
}

/// Whether the next word is the secret: `Authorization:`, `Bearer`, `--password`, `"api_key":`. `named` states that the
/// word names one.
fn introduces(lower: &str, named: bool) -> bool {
    let option = lower.starts_with("--") && !lower.contains('=');
    matches!(lower, "bearer" | "basic") || (named && (option || lower.ends_with([':', '='])))
}

/// A search for the parts of names of secrets, which are in lower case.
pub(crate) fn secret_names(tables: Tables) -> WordFinder {
    WordFinder::new(WordList::SecretWords.read(tables))
}

fn redacted_word<'w>(names: &WordFinder, word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if !word.bytes().any(|byte| matches!(byte, b':' | b'=')) {
        // `-pPASSWORD` of mysql and similar programs is indistinguishable from other options, so only long random
        // values count.
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
        // The query may contain a key, and the address is clear without it.
        let (place, query) = place.split_once('?').map_or((place, ""), |(place, _)| (place, "?…"));
        let parts: Vec<Cow<'_, str>> = place.split('/').map(|part| redacted_value(part, tag)).collect();
        return format!("{scheme}://{credentials}{}{query}", parts.join("/")).into();
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && !value.is_empty()
    {
        let divider = word.get(name.len()..=name.len()).unwrap_or("=");
        if names.is_in(&name.to_ascii_lowercase()) && !value.starts_with('$') {
            return format!("{name}{divider}{}", tag("secret", value)).into();
        }
        return format!("{name}{divider}{}", redacted_value(value, tag)).into();
    }
    redacted_value(word, tag)
}

/// Whether a word is a tag from an earlier redaction.
fn is_tag(word: &str, kinds: Map<'_, bool>) -> bool {
    let inner = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let kind = inner.map(|inner| inner.split(':').next().unwrap_or(""));
    kind.is_some_and(|kind| kind == "secret" || kind == "private-key" || kinds.get(kind))
}

fn redacted_value<'w>(word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if looks_random(word) { tag("secret", word).into() } else { word.into() }
}

/// Whether a word is long and has digits and characters of both cases, without the form of a path or sentence.
fn looks_random(word: &str) -> bool {
    let long = word.len() >= 32 && !word.contains(['/', '.', ' ']);
    let has = |test: fn(&char) -> bool| word.chars().filter(test).count() >= 4;
    let hexadecimal = word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal || (long && has(char::is_ascii_digit) && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
}

/// Replaces PEM blocks of private keys, complete or truncated.
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
        let (body, after) = block.split_once(END).unwrap_or((block, ""));
        if title.contains("PRIVATE KEY") && title.len() < 40 {
            out.push_str(&format!("[private-key{}]", mark(body)));
            rest = after.split_once("-----").map_or("", |(_, after)| after);
        } else {
            out.push_str(BEGIN);
            rest = block;
        }
    }
    out.push_str(rest);
    out.into()
}
