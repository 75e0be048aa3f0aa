//! Secrets without a format of their own: what is called a password or a key, logins in URLs and headers, private keys.

use super::assignments::{self, Assigned};
use super::plausible::{contains, entropy, is_password, is_random, is_standin};
use std::ops::Range;

/// The secret of this shape for which `word` stands.
pub(super) fn find(shape: &str, text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    match shape {
        "key" => key(bytes, word),
        "password" => password(bytes, word),
        "url" => login_in_url(bytes, word),
        "login" => login(bytes, word),
        "bearer" => bearer(bytes, word),
        "private-key" => private_key(bytes, word),
        _ => None,
    }
}

/// Last words of a name that say that the value is a key; others may stand before them.
const KEYS: [&str; 16] = [
    "token",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "credential",
    "credentials",
    "creds",
    "auth",
    "authorization",
    "jwt",
    "bearer",
    "signingkey",
    "encryptionkey",
];

/// Words before `key` with which it is one that must not be known. Most keys are names.
const KEY_OF: [&str; 36] = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "client",
    "consumer",
    "app",
    "application",
    "account",
    "service",
    "master",
    "admin",
    "session",
    "security",
    "license",
    "subscription",
    "storage",
    "webhook",
    "shared",
    "server",
    "deploy",
    "hmac",
    "jwt",
    "cipher",
    "aes",
    "crypt",
    "cookie",
    "integration",
    "rest",
    "developer",
    "ssh",
];

/// With one of these in its name a value is known to many, or no secret at all.
const NO_SECRETS: [&str; 34] = [
    "public",
    "pub",
    "csrf",
    "xsrf",
    "authenticity",
    "nonce",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "idempotency",
    "next",
    "page",
    "continuation",
    "cursor",
    "sync",
    "design",
    "publishable",
    "bucket",
    "kms",
    "hash",
    "checksum",
    "integrity",
    "digest",
    "fingerprint",
    "cancellation",
    "cancel",
    "syntax",
    "separator",
    "id",
    "sitekey",
    "site",
    "recaptcha",
];

/// Words behind the one that counts.
const SUFFIXES: [&str; 10] = ["value", "val", "str", "string", "default", "base64", "raw", "env", "plain", "prod"];

fn key(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::around(bytes, word)?;
    let value = bytes.get(assigned.value.clone())?;
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~@^%!#:$*".contains(byte));
    let refers = value.starts_with(b"$") || contains(value, b"://") || contains(value, b"sha512-");
    (plain && !refers && is_random(value) && is_key_name(bytes.get(assigned.name)?)).then_some(assigned.value)
}

fn is_key_name(name: &[u8]) -> bool {
    let words = words(name);
    let mut rest = words.as_slice();
    while let Some((last, before)) = rest.split_last()
        && (SUFFIXES.contains(&last.as_str()) || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        rest = before;
    }
    let Some((last, before)) = rest.split_last() else { return false };
    if rest.iter().any(|word| NO_SECRETS.contains(&word.as_str())) {
        return false;
    }
    let joined = KEYS.iter().any(|key| last.ends_with(key) && (key.len() > 4 || last.len() == key.len()));
    joined || (last == "key" && before.last().is_some_and(|word| KEY_OF.contains(&word.as_str())))
}

/// Last words of names of what everybody may know, also where a service stands in the name.
const KNOWN: [&str; 24] = [
    "commit",
    "sha",
    "sha1",
    "sha256",
    "md5",
    "rev",
    "revision",
    "ref",
    "tag",
    "hash",
    "checksum",
    "digest",
    "integrity",
    "version",
    "url",
    "uri",
    "host",
    "email",
    "user",
    "username",
    "region",
    "name",
    "path",
    "slug",
];

/// Whether what has this name, in which a service stands, may be a secret: not its version, nor the id of a project.
pub(super) fn may_name_a_secret(name: &[u8]) -> bool {
    let words = words(name);
    let Some((last, before)) = words.split_last() else { return true };
    let known = KNOWN.contains(&last.as_str()) || words.iter().any(|word| word == "public" || word == "publishable");
    let opens = |word: &String| ["access", "client", "key", "secret"].iter().any(|end| word.ends_with(end));
    !known && (last != "id" || before.last().is_some_and(opens))
}

/// The words of a name in lower case: `dbApi_key` has `db`, `api`, `key`.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = b'_';
    for byte in name {
        let begins = byte.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if !byte.is_ascii_alphanumeric() || begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| byte.is_ascii_alphanumeric()) {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        before = *byte;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn password(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::around(bytes, word)?;
    let value = bytes.get(assigned.value.clone())?;
    let refers =
        value.starts_with(b"$") || value.starts_with(b"%") || value.starts_with(b"@") || contains(value, b"://");
    let strange = value.iter().any(|byte| b" (){}[]<>/\\".contains(byte) || !byte.is_ascii_graphic());
    let named = is_password_name(bytes.get(assigned.name.clone())?);
    (named && !refers && !strange && is_password(value) && is_literal(&assigned, value)).then_some(assigned.value)
}

fn is_password_name(name: &[u8]) -> bool {
    let words = words(name);
    let Some(last) = words.iter().rfind(|word| !SUFFIXES.contains(&word.as_str())) else { return false };
    let long =
        ["password", "passwd", "passphrase", "pwd", "passwort", "passcode"].iter().any(|end| last.ends_with(end));
    long || ["pass", "pw", "dbpass", "userpass", "mypass"].contains(&last.as_str())
}

/// Without quotes a value may also name a variable: `password = form.password1`.
fn is_literal(assigned: &Assigned, value: &[u8]) -> bool {
    let is_name = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
    let changes = value.windows(2).filter(|pair| match pair {
        [a, b] => a.is_ascii_digit() != b.is_ascii_digit(),
        _ => false,
    });
    // `*const T`, `!vault x`, `password= other=`.
    let is_other = value.first().is_some_and(|first| b"*&!?:=+~^#-|".contains(first)) || value.ends_with(b"=");
    assigned.quoted || (!is_name && !is_other) || (assigned.tight && !value.contains(&b'.') && changes.count() >= 2)
}

/// `scheme://user:password@host`.
fn login_in_url(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LONGEST: usize = 256;
    let rest = bytes.get(word.end..)?;
    let authority = rest.iter().take(LONGEST).take_while(|byte| !ends_authority(**byte)).count();
    let authority = rest.get(..authority)?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let (login, host) = (authority.get(..at)?, authority.get(at + 1..)?);
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let is_secret = is_password(password) || is_random(password) || (password.len() >= 8 && entropy(password) >= 3.5);
    let refers = is_standin(password) || login.iter().any(|byte| b"${}[]*|".contains(byte)) || password == user;
    let weak = !is_password(password) && !is_random(password) && is_near(host);
    let start = word.end + colon + 1;
    (is_secret && !refers && !weak && !is_example(host)).then_some(start..start + password.len())
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"/?#\"'`<>\\,;()".contains(&byte)
}

/// A host that only this machine or its neighbours know: what opens it opens nothing for others.
fn is_near(host: &[u8]) -> bool {
    let name = host.split(|byte| *byte == b':').next().unwrap_or(&[]);
    name == b"127.0.0.1" || !name.contains(&b'.')
}

/// Hosts that are set aside for manuals.
fn is_example(host: &[u8]) -> bool {
    contains(host, b"example.")
        || host.ends_with(b".example")
        || host.ends_with(b".test")
        || host.ends_with(b".invalid")
}

/// `curl -u user:password`.
fn login(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const BACK: usize = 512;
    let line = bytes.get(word.start.saturating_sub(BACK)..word.start)?;
    if !contains(line, b"curl") && !contains(line, b"wget") && !contains(line, b"http") {
        return None;
    }
    let rest = bytes.get(word.end..)?;
    let blanks = rest.iter().take(8).take_while(|byte| b" ='\"\\".contains(byte)).count();
    let length = rest.iter().skip(blanks).take(256).take_while(|byte| !b" \t\r\n'\"\\".contains(byte)).count();
    let start = word.end + blanks;
    let login = bytes.get(start..start + length)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let (secret, start) = if password.is_empty() { (user, start) } else { (password, start + colon + 1) };
    let refers = secret.iter().any(|byte| b"{}<>()`[".contains(byte)) || secret.starts_with(b"$") || is_standin(secret);
    let strong = (is_password(secret) && secret.len() >= 8) || is_random(secret);
    let divided = blanks > 0 || bytes.get(word).is_some_and(|word| !word.ends_with(b"r"));
    (divided && strong && !refers).then_some(start..start + secret.len())
}

/// `Authorization: Bearer TOKEN`.
fn bearer(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(1024).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~:".contains(byte)).count();
    let token = rest.get(..length)?;
    (length < 1024 && is_random(token)).then_some(word.end..word.end + length)
}

/// The block of a private key in PEM, whole or cut off, with a body that is none of a manual.
fn private_key(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LONGEST: usize = 16 * 1024;
    const LEAST: usize = 64;
    let rest = bytes.get(word.end..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let title = rest.iter().take(48).position(|byte| *byte == b'-')?;
    if !contains(rest.get(..title)?, b"PRIVATE KEY") {
        return None;
    }
    let end = position(rest, b"-----END ").unwrap_or(rest.len());
    let body: Vec<u8> = rest.get(title..end)?.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    (body.len() >= LEAST && entropy(&body) >= 4.0 && !is_standin(&body)).then_some(word.start..word.end + end)
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
