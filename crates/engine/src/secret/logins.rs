//! Passwords that stand where a login is: in addresses, headers, options of programs, calls.

use super::plausible::{contains, decoded, entropy, is_password, is_random, is_standin};
use std::ops::Range;

/// `scheme://user:password@host`.
pub(super) fn in_url(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const LONGEST: usize = 256;
    let rest = bytes.get(word.end..)?;
    let authority = rest.iter().take(LONGEST).take_while(|byte| !ends_authority(**byte)).count();
    let authority = rest.get(..authority)?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let (login, host) = (authority.get(..at)?, authority.get(at + 1..)?);
    let Some(colon) = login.iter().position(|byte| *byte == b':') else {
        return is_lone_token(login, host).then_some(word.end..word.end + login.len());
    };
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let is_secret = is_password(password) || is_random(password) || (password.len() >= 8 && entropy(password) >= 3.5);
    let refers = is_standin(password) || login.iter().any(|byte| b"${}[]*|".contains(byte)) || password == user;
    let weak = !is_password(password) && !is_random(password) && is_near(host);
    let start = word.end + colon + 1;
    (is_secret && !refers && !weak && !is_example(host)).then_some(start..start + password.len())
}

/// A token in place of a login. What reports to Sentry is known to everybody who has the page.
fn is_lone_token(login: &[u8], host: &[u8]) -> bool {
    let upper = login.iter().any(u8::is_ascii_uppercase);
    let plain = login.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    upper && plain && login.len() >= 20 && is_random(login) && !contains(host, b"sentry") && !is_example(host)
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

/// Options that are followed by a login or a password, and the programs of which they are.
const OPTIONS: [(&[u8], &[&[u8]]); 5] = [
    (b" -p", &[b"mysql", b"mariadb", b"sshpass", b"docker login", b"podman login", b"mongo", b"registry login"]),
    (b" -a ", &[b"redis-cli"]),
    (b" -P ", &[b"sqlcmd", b"bcp"]),
    (b" -w ", &[b"ldap"]),
    (b"pass ", &[b"keytool", b"jarsigner"]),
];

/// `curl -u user:password`, `mysql -ppassword`.
pub(super) fn in_option(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const BACK: usize = 512;
    let line = bytes.get(word.start.saturating_sub(BACK)..word.start)?;
    let line = line.rsplit(|byte| b"\n;|&".contains(byte)).next()?;
    let here = bytes.get(word.clone())?;
    if let Some((option, programs)) = OPTIONS.iter().find(|(option, _)| option == &here) {
        let (start, value) = argument(bytes, word.end)?;
        // `mysql -p name` asks for the password of a database that is named.
        let apart = start > word.end && option == b" -p" && (contains(line, b"mysql") || contains(line, b"mariadb"));
        let used = programs.iter().any(|program| contains(line, program)) && !apart;
        return (used && is_password(value) && !refers(value)).then_some(start..start + value.len());
    }
    let whole = bytes.get(word.start.saturating_sub(BACK)..word.start)?;
    if !contains(whole, b"curl") && !contains(whole, b"wget") && !contains(whole, b"http") {
        return None;
    }
    let (start, login) = argument(bytes, word.end)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let (secret, from) = if password.is_empty() { (user, start) } else { (password, start + colon + 1) };
    let strong = (is_password(secret) && secret.len() >= 8) || is_random(secret);
    let divided = start > word.end || !here.ends_with(b"r");
    (divided && strong && !refers(secret) && !is_standin(secret)).then_some(from..from + secret.len())
}

/// The word that begins at a place or behind the blanks and quotes there, and where it does.
fn argument(bytes: &[u8], at: usize) -> Option<(usize, &[u8])> {
    let rest = bytes.get(at..)?;
    let blanks = rest.iter().take(8).take_while(|byte| b" ='\"\\".contains(byte)).count();
    let length = rest.iter().skip(blanks).take(256).take_while(|byte| !b" \t\r\n'\"\\".contains(byte)).count();
    let start = at + blanks;
    Some((start, bytes.get(start..start + length)?))
}

fn refers(value: &[u8]) -> bool {
    value.iter().any(|byte| b"{}<>()`[/".contains(byte)) || value.starts_with(b"$") || value.starts_with(b"-")
}

/// `jdbc:oracle:thin:user/password@host`.
pub(super) fn of_oracle(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(128).take_while(|byte| !byte.is_ascii_whitespace() && !b"@\"'".contains(byte)).count();
    let login = rest.get(..length).filter(|_| rest.get(length) == Some(&b'@'))?;
    let slash = login.iter().position(|byte| *byte == b'/')?;
    let password = login.get(slash + 1..)?;
    let start = word.end + slash + 1;
    (is_password(password) && !refers(password)).then_some(start..start + password.len())
}

/// `auth=("user", "password")`: the second text of a call that logs in.
pub(super) fn in_call(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let (_, behind) = literal(bytes, word.end)?;
    let comma = bytes.get(behind..)?.iter().take(8).take_while(|byte| b", \n".contains(byte)).count();
    let (password, _) = literal(bytes, behind + comma)?;
    let value = bytes.get(password.clone())?;
    let whole = !value.contains(&b' ') && !refers(value) && is_password(value);
    (comma > 0 && whole).then_some(password)
}

/// A text in quotes, and the place behind it.
fn literal(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let rest = bytes.get(at..)?;
    let blanks = rest.iter().take(4).take_while(|byte| b" b".contains(byte)).count();
    let quote = *rest.get(blanks).filter(|byte| b"\"'".contains(byte))?;
    let start = at + blanks + 1;
    let length = bytes.get(start..)?.iter().take(128).position(|byte| *byte == quote)?;
    Some((start..start + length, start + length + 1))
}

/// `IDENTIFIED BY 'password'`.
pub(super) fn identified(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let (password, _) = literal(bytes, word.end)?;
    let value = bytes.get(password.clone())?;
    (is_password(value) && !refers(value) && !value.contains(&b' ')).then_some(password)
}

/// `Authorization: Basic BASE64`, of a login whose password is no sample.
pub(super) fn basic(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(512).take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte)).count();
    let login = decoded(rest.get(..length).filter(|_| (8..512).contains(&length))?);
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let printable = login.iter().all(u8::is_ascii_graphic);
    let secret = if password.is_empty() || password == b"x-oauth-basic" { user } else { password };
    (printable && (is_password(secret) || is_random(secret))).then_some(word.end..word.end + length)
}

/// `Authorization: Bearer TOKEN`.
pub(super) fn bearer(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(1024).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~:".contains(byte)).count();
    let token = rest.get(..length)?;
    (length < 1024 && is_random(token)).then_some(word.end..word.end + length)
}
