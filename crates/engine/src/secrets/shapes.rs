//! Secrets without a format of their own: what is called a password or a key. Logins and blocks have files of their own.

use super::assignments::{self, Assigned, Sign};
use super::blocks;
use super::logins::{self, is_encoded_login};
use super::plausible::{changes, contains, entropy, is_password, is_random, is_scrambled, is_strong};
use std::ops::Range;

/// The secret of this shape for which `word` stands.
pub(super) fn find(shape: &str, text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    match shape {
        "key" => key(bytes, word),
        "password" => password(bytes, word),
        "url" => logins::in_url(bytes, word),
        "login" => logins::in_option(bytes, word),
        "pgpass" => logins::of_postgres(bytes, word),
        "oracle" => logins::of_oracle(bytes, word),
        "login-call" => logins::in_call(bytes, word, 0),
        "login-call-behind-one" => logins::in_call(bytes, word, 1),
        "key-call" => logins::key_in_call(bytes, word, 0),
        "key-call-behind-one" => logins::key_in_call(bytes, word, 1),
        "key-call-behind-two" => logins::key_in_call(bytes, word, 2),
        "piped" => logins::piped(bytes, word),
        "bearer" => logins::bearer(bytes, word),
        "basic" => logins::basic(bytes, word),
        "identified" => logins::identified(bytes, word),
        "private-key" => blocks::private_key(bytes, word),
        "encoded-private-key" => blocks::encoded_private_key(bytes, word),
        "static-key" => blocks::static_key(bytes, word),
        "putty-key" => blocks::putty_key(bytes, word),
        "web-key" => blocks::web_key(bytes, word),
        "mnemonic" => blocks::mnemonic(bytes, word),
        _ => None,
    }
}

/// Last words of a name that say that the value is a key; others may stand before them.
const KEYS: [&str; 17] = [
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
    "presharedkey",
];

/// Words before `key` with which it is one that must not be known. Most keys are names.
const KEY_OF: [&str; 39] = [
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
    "validation",
    "decryption",
    "preshared",
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
const SUFFIXES: [&str; 11] =
    ["value", "val", "str", "string", "default", "base64", "raw", "env", "plain", "prod", "base"];

fn key(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::around(bytes, word)?;
    let value = bytes.get(assigned.value.clone())?;
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~@^%!#:$*".contains(byte));
    // A public key of SSH begins with the length of its name.
    let is_public = value.starts_with(b"AAAA") || contains(value, b"sha512-");
    let refers = value.starts_with(b"$") || contains(value, b"://") || is_public;
    let near = assigned.sign == Sign::Near;
    let name = bytes.get(assigned.name)?;
    if refers || near || !is_key_name(name) {
        return None;
    }
    let login = assigned.quoted && name.ends_with(b"auth") && is_encoded_login(value);
    let is_key = if plain { is_random(value) || login } else { assigned.quoted && is_noise(value) };
    is_key.then_some(assigned.value)
}

/// `h&1^x…)`: what a framework makes of every sign, and nobody writes.
fn is_noise(value: &[u8]) -> bool {
    const LEAST: usize = 32;
    let signs = value.iter().all(|byte| byte.is_ascii_graphic() && !b"{}<>\\\"'`".contains(byte));
    signs && value.len() >= LEAST && entropy(value) >= 4.4 && is_random(value)
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
    let one = last.strip_suffix('s').filter(|one| one.len() > 4 || *one == "key").unwrap_or(last);
    let joined = KEYS.iter().any(|key| one.ends_with(key) && (key.len() > 4 || one.len() == key.len()));
    joined || (one == "key" && before.last().is_some_and(|word| KEY_OF.contains(&word.as_str())))
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
    let name = bytes.get(assigned.name.clone())?;
    let named = is_password_name(name) && is_given(&assigned, name, is_strong(value));
    let literal = is_literal(&assigned, value) || is_of_machine(bytes, &assigned.name);
    (named && !refers && !strange && is_password(value) && literal).then_some(assigned.value)
}

/// `machine HOST login USER password …`: a file of logins, in which a blank is enough.
fn is_of_machine(bytes: &[u8], name: &Range<usize>) -> bool {
    const BACK: usize = 200;
    let before = bytes.get(name.start.saturating_sub(BACK)..name.start).unwrap_or_default();
    bytes.get(name.clone()) == Some(b"password") && contains(before, b"machine ") && contains(before, b"login ")
}

/// `setPassword("…")` gives one, `hash_password("…")` looks at one, and in a sentence `is` says anything but what no word
/// looks like.
fn is_given(assigned: &Assigned, name: &[u8], is_strong: bool) -> bool {
    let sets = |words: &[String]| match words {
        [_] => true,
        [verb, ..] => ["set", "with"].contains(&verb.as_str()),
        [] => false,
    };
    match assigned.sign {
        Sign::Given => true,
        // `pass 'x'` is what a sentence says.
        Sign::Blank | Sign::Near => name.len() > 4,
        Sign::Called => sets(&words(name.rsplit(|byte| *byte == b'.').next().unwrap_or(name))),
        Sign::Said => is_strong,
    }
}

/// Ends of names of passwords, in the languages in which people write them.
const PASSWORDS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passwort",
    "passcode",
    "kennwort",
    "contrasena",
    "senha",
    "wachtwoord",
    "lozinka",
    "parola",
    "psk",
];

fn is_password_name(name: &[u8]) -> bool {
    let words = words(name);
    let Some(last) = words.iter().rfind(|word| !SUFFIXES.contains(&word.as_str())) else { return false };
    let long = PASSWORDS.iter().any(|end| last.ends_with(end));
    long || ["pass", "pw", "dbpass", "userpass", "mypass", "requirepass", "masterauth", "bindpw", "rootpw"]
        .contains(&last.as_str())
}

/// Without quotes a value may also name a variable: `password = form.password1`.
fn is_literal(assigned: &Assigned, value: &[u8]) -> bool {
    // `String!`, `Optional?`.
    let bare = value.strip_suffix(b"!").or_else(|| value.strip_suffix(b"?")).unwrap_or(value);
    let is_name = bare.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
    // `*const T`, `!vault x`, `password= other=`.
    let is_other = value.first().is_some_and(|first| b"*&!?:=+~^#-|".contains(first)) || value.ends_with(b"=");
    if assigned.sign == Sign::Near {
        return is_scrambled(value) || is_strong(value);
    }
    assigned.quoted
        || is_strong(value)
        || (!is_name && !is_other)
        || is_scrambled(value)
        || (assigned.tight && !value.contains(&b'.') && changes(value) >= 2)
}
