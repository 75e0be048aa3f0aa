//! Secrets without a format of their own: what is called a password or a key. Logins and blocks have files of their own.

use super::assignments::{self, Assigned, Sign};
use super::blocks;
use super::logins::{self, is_encoded_login};
use super::plausible::{changes, contains, entropy, is_password, is_random, is_scrambled, is_strong};
use crate::model::words::WordList;
use reflex_tables::Tables;
use std::ops::Range;

/// The secret of this shape for which `word` stands.
pub(super) fn find(tables: Tables, shape: &str, text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    match shape {
        "key" => key(tables, bytes, word),
        "password" => password(tables, bytes, word),
        "url" => logins::in_url(tables, bytes, word),
        "login" => logins::in_option(tables, bytes, word),
        "pgpass" => logins::of_postgres(tables, bytes, word),
        "oracle" => logins::of_oracle(tables, bytes, word),
        "login-call" => logins::in_call(tables, bytes, word, 0),
        "login-call-behind-one" => logins::in_call(tables, bytes, word, 1),
        "key-call" => logins::key_in_call(tables, bytes, word, 0),
        "key-call-behind-one" => logins::key_in_call(tables, bytes, word, 1),
        "key-call-behind-two" => logins::key_in_call(tables, bytes, word, 2),
        "piped" => logins::piped(tables, bytes, word),
        "bearer" => logins::bearer(tables, bytes, word),
        "basic" => logins::basic(tables, bytes, word),
        "identified" => logins::identified(tables, bytes, word),
        "private-key" => blocks::private_key(tables, bytes, word),
        "encoded-private-key" => blocks::encoded_private_key(tables, bytes, word),
        "static-key" => blocks::static_key(tables, bytes, word),
        "putty-key" => blocks::putty_key(tables, bytes, word),
        "web-key" => blocks::web_key(tables, bytes, word),
        "mnemonic" => blocks::mnemonic(bytes, word),
        _ => None,
    }
}

fn key(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::around(bytes, word)?;
    let value = bytes.get(assigned.value.clone())?;
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~@^%!#:$*".contains(byte));
    // A public key of SSH begins with the length of its name.
    let is_public = value.starts_with(b"AAAA") || contains(value, b"sha512-");
    let refers = value.starts_with(b"$") || contains(value, b"://") || is_public;
    let near = assigned.sign == Sign::Near;
    let name = bytes.get(assigned.name)?;
    if refers || near || !is_key_name(tables, name) {
        return None;
    }
    let login = assigned.quoted && name.ends_with(b"auth") && is_encoded_login(tables, value);
    let is_key = if plain { is_random(tables, value) || login } else { assigned.quoted && is_noise(tables, value) };
    is_key.then_some(assigned.value)
}

/// `h&1^x…)`: what a framework makes of every sign, and nobody writes.
fn is_noise(tables: Tables, value: &[u8]) -> bool {
    const LEAST: usize = 32;
    let signs = value.iter().all(|byte| byte.is_ascii_graphic() && !b"{}<>\\\"'`".contains(byte));
    signs && value.len() >= LEAST && entropy(value) >= 4.4 && is_random(tables, value)
}

fn is_key_name(tables: Tables, name: &[u8]) -> bool {
    let words = words(name);
    let endings = WordList::NameEndings.read(tables);
    let mut rest = words.as_slice();
    while let Some((last, before)) = rest.split_last()
        && (endings.has(last) || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        rest = before;
    }
    let Some((last, before)) = rest.split_last() else { return false };
    let harmless = WordList::HarmlessKeyWords.read(tables);
    if rest.iter().any(|word| harmless.has(word)) {
        return false;
    }
    let one = last.strip_suffix('s').filter(|one| one.len() > 4 || *one == "key").unwrap_or(last);
    let mut keys = WordList::KeyNames.read(tables).iter();
    let joined = keys.any(|key| one.ends_with(key) && (key.len() > 4 || one.len() == key.len()));
    let owners = WordList::KeyOwners.read(tables);
    joined || (one == "key" && before.last().is_some_and(|word| owners.has(word)))
}

/// Whether what has this name, in which a service stands, may be a secret: not its version, nor the id of a project.
pub(super) fn may_name_a_secret(tables: Tables, name: &[u8]) -> bool {
    let words = words(name);
    let Some((last, before)) = words.split_last() else { return true };
    let known = WordList::PublicValueNames.read(tables).has(last)
        || words.iter().any(|word| word == "public" || word == "publishable");
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

fn password(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::around(bytes, word)?;
    let value = bytes.get(assigned.value.clone())?;
    let refers =
        value.starts_with(b"$") || value.starts_with(b"%") || value.starts_with(b"@") || contains(value, b"://");
    let strange = value.iter().any(|byte| b" (){}[]<>/\\".contains(byte) || !byte.is_ascii_graphic());
    let name = bytes.get(assigned.name.clone())?;
    let named = is_password_name(tables, name) && is_given(&assigned, name, is_strong(value));
    let literal = is_literal(&assigned, value)
        || is_of_environment(&assigned, name, value)
        || is_of_machine(bytes, &assigned.name);
    (named && !refers && !strange && is_password(tables, value) && literal).then_some(assigned.value)
}

/// `DB_PASSWORD=harvest42`: behind the name of an environment variable stands a value, unless that is such a name too or
/// takes something out of another.
fn is_of_environment(assigned: &Assigned, name: &[u8], value: &[u8]) -> bool {
    let is_variable = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(byte));
    let plain = value.iter().all(u8::is_ascii_alphanumeric);
    // In what tests print (`PASS: parser3`) a blank follows.
    let joined = assigned.value.start == assigned.name.end + 1;
    joined && assigned.sign == Sign::Given && is_variable(name) && plain && !is_variable(value) && changes(value) > 0
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

fn is_password_name(tables: Tables, name: &[u8]) -> bool {
    let words = words(name);
    let endings = WordList::NameEndings.read(tables);
    let Some(last) = words.iter().rfind(|word| !endings.has(word)) else { return false };
    WordList::PasswordNames.read(tables).fit(last) || is_short_password_name(tables, last)
}

/// `pass`, and `mysqlpass`: `bypass` and `compass` end so as well, thus what stands before it must be an owner.
fn is_short_password_name(tables: Tables, word: &str) -> bool {
    let (owners, names) = (WordList::PasswordOwners.read(tables), WordList::ShortPasswordNames.read(tables));
    let owned = |name: &str| word.strip_suffix(name).is_some_and(|owner| owners.has(owner));
    names.has(word) || names.iter().any(owned)
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
