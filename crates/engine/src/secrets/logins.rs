//! Passwords in the syntax of a login: in addresses, headers, options of programs, calls.

use super::plausible::{contains, decoded, entropy, is_key, is_password, is_random, is_standin};
use reflex_tables::Tables;
use std::ops::Range;

/// `scheme://user:password@host`.
pub(super) fn in_url(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const MAX_LEN: usize = 256;
    let rest = bytes.get(word.end..)?;
    let authority = rest.iter().take(MAX_LEN).take_while(|byte| !ends_authority(**byte)).count();
    let authority = rest.get(..authority)?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let (login, host) = (authority.get(..at)?, authority.get(at + 1..)?);
    let Some(colon) = login.iter().position(|byte| *byte == b':') else {
        return is_lone_token(tables, login, host).then_some(word.end..word.end + login.len());
    };
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let is_secret = is_password(tables, password)
        || is_random(tables, password)
        || (password.len() >= 8 && entropy(password) >= 3.5);
    // Inside a password a dollar sign is an ordinary character.
    let named = |part: &[u8]| part.first() == Some(&b'$') || part.iter().any(|byte| b"{}[]*|".contains(byte));
    let refers = is_standin(tables, password) || named(user) || named(password) || password == user;
    let weak = !is_password(tables, password) && !is_random(tables, password) && is_near(host);
    let start = word.end + colon + 1;
    (is_secret && !refers && !weak && !is_example(host)).then_some(start..start + password.len())
}

/// Whether a login is a token without a password. A Sentry DSN is public.
fn is_lone_token(tables: Tables, login: &[u8], host: &[u8]) -> bool {
    let upper = login.iter().any(u8::is_ascii_uppercase);
    let plain = login.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    upper && plain && login.len() >= 20 && is_random(tables, login) && !contains(host, b"sentry") && !is_example(host)
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"/?#\"'`<>\\,;()".contains(&byte)
}

/// Whether a host is only reachable from this machine or its network, so that its password is useless elsewhere.
fn is_near(host: &[u8]) -> bool {
    let name = host.split(|byte| *byte == b':').next().unwrap_or(&[]);
    name == b"127.0.0.1" || !name.contains(&b'.')
}

/// Whether a host is reserved for documentation.
fn is_example(host: &[u8]) -> bool {
    contains(host, b"example.")
        || host.ends_with(b".example")
        || host.ends_with(b".test")
        || host.ends_with(b".invalid")
}

/// Options that take a login or a password, with the programs that have them.
const OPTIONS: [(&[u8], &[&[u8]]); 7] = [
    (
        b" -p",
        &[
            b"mysql",
            b"mariadb",
            b"sshpass",
            b"docker login",
            b"podman login",
            b"mongo",
            b"registry login",
            b"buildah login",
            b"skopeo login",
            b"oc login",
            b"cf login",
            b"az login",
            b"snowsql",
            b"7z ",
            b"7za ",
            b"7zz ",
            b"rabbitmqadmin",
        ],
    ),
    (b" -a ", &[b"redis-cli"]),
    (b" -P ", &[b"sqlcmd", b"bcp", b"zip"]),
    (b" -w ", &[b"ldap"]),
    (b" -k ", &[b"openssl enc"]),
    (b" -N ", &[b"ssh-keygen"]),
    (b"pass ", &[b"keytool", b"jarsigner"]),
];

/// An option that takes a login, and the separator before its password.
struct Login {
    option: &'static [u8],
    sign: u8,
    programs: &'static [&'static [u8]],
}

const LOGINS: [Login; 3] = [
    Login { option: b" -a ", sign: b':', programs: &[b"http", b"https"] },
    Login { option: b" -U ", sign: b'%', programs: &[b"smbclient", b"rpcclient", b"smbmap", b"net rpc"] },
    Login { option: b"/user:", sign: b' ', programs: &[b"net use"] },
];

/// `curl -u user:password`, `mysql -ppassword`.
pub(super) fn in_option(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const BACK: usize = 512;
    let line = bytes.get(word.start.saturating_sub(BACK)..word.start)?;
    let line = line.rsplit(|byte| b"\n;|&".contains(byte)).next()?;
    let here = bytes.get(word.clone())?;
    if let Some(span) = after_sign(tables, bytes, line, &word) {
        return Some(span);
    }
    if let Some((option, programs)) = OPTIONS.iter().find(|(option, _)| option == &here) {
        let (start, value) = argument(bytes, word.end)?;
        // `mysql -p name` prompts for the password; the argument is a database.
        let blank = bytes.get(word.end) == Some(&b' ');
        let apart = blank && option == b" -p" && (contains(line, b"mysql") || contains(line, b"mariadb"));
        // The value is tested first because most values fail, while the line is long.
        let used = || programs.iter().any(|program| contains(line, program)) && !apart;
        return (is_password(tables, value) && !refers(value) && used()).then_some(start..start + value.len());
    }
    // `-sSu`: the last of several options in one word.
    let bundle = line.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    let is_bundled = bundle.starts_with(b"-") && bundle.iter().skip(1).all(u8::is_ascii_alphabetic);
    if !here.contains(&b'-') && !is_bundled {
        return None;
    }
    let (start, login) = argument(bytes, word.end)?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    let before = bytes.get(word.start.saturating_sub(BACK)..word.start)?;
    if !contains(before, b"curl") && !contains(before, b"wget") && !contains(before, b"http") {
        return None;
    }
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let (secret, from) = if password.is_empty() { (user, start) } else { (password, start + colon + 1) };
    let strong = (is_password(tables, secret) && secret.len() >= 8) || is_random(tables, secret);
    let divided = start > word.end || !here.ends_with(b"r");
    (divided && strong && !refers(secret) && !is_standin(tables, secret)).then_some(from..from + secret.len())
}

/// `http -a user:password`, `smbclient -U user%password`.
fn after_sign(tables: Tables, bytes: &[u8], line: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let here = bytes.get(word.clone())?;
    // A short program name such as `http` only counts as a separate word.
    let alone = |program: &[u8]| program.len() > 5 || line.split(|byte| *byte == b' ').any(|word| word == program);
    let used = |programs: &[&[u8]]| programs.iter().any(|program| contains(line, program) && alone(program));
    let (start, login) = argument(bytes, word.end)?;
    LOGINS.iter().filter(|known| known.option == here).find_map(|Login { sign, programs, .. }| {
        let from = match login.iter().position(|byte| byte == sign) {
            Some(at) => start + at + 1,
            None if *sign == b' ' => start + login.len(),
            None => return None,
        };
        let (start, password) = argument(bytes, from)?;
        // The value is tested first because most values fail, while the line is long.
        let is_one = is_password(tables, password) && !refers(password) && used(programs);
        is_one.then_some(start..start + password.len())
    })
}

/// The argument at an offset, after blanks and quotes, and the offset at which it begins.
fn argument(bytes: &[u8], at: usize) -> Option<(usize, &[u8])> {
    let rest = bytes.get(at..)?;
    let blanks = rest.iter().take(8).take_while(|byte| b" ='\"\\".contains(byte)).count();
    let quoted = rest.iter().take(blanks).any(|byte| b"'\"".contains(byte));
    let ends = |byte: &u8| b" \t\r\n'\"\\".contains(byte) || (!quoted && b";|&".contains(byte));
    let length = rest.iter().skip(blanks).take(256).take_while(|byte| !ends(byte)).count();
    let start = at + blanks;
    Some((start, bytes.get(start..start + length)?))
}

fn refers(value: &[u8]) -> bool {
    value.iter().any(|byte| b"{}<>()`[/".contains(byte)) || value.starts_with(b"$") || value.starts_with(b"-")
}

/// `jdbc:oracle:thin:user/password@host`.
pub(super) fn of_oracle(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(128).take_while(|byte| !byte.is_ascii_whitespace() && !b"@\"'".contains(byte)).count();
    let login = rest.get(..length).filter(|_| rest.get(length) == Some(&b'@'))?;
    let slash = login.iter().position(|byte| *byte == b'/')?;
    let password = login.get(slash + 1..)?;
    let start = word.end + slash + 1;
    (is_password(tables, password) && !refers(password)).then_some(start..start + password.len())
}

/// `host:5432:database:user:password`: a line of a PostgreSQL password file.
pub(super) fn of_postgres(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length = rest.iter().take(256).take_while(|byte| byte.is_ascii_graphic() && !b"/\"'`".contains(byte)).count();
    let mut parts = rest.get(..length)?.splitn(3, |byte| *byte == b':');
    let (database, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    let start = word.end + database.len() + user.len() + 2;
    (!user.is_empty() && is_password(tables, password) && !refers(password)).then_some(start..start + password.len())
}

/// `auth=("user", "password")`: the second string of a call that logs in, after a number of skipped arguments.
pub(super) fn in_call(tables: Tables, bytes: &[u8], word: Range<usize>, after: usize) -> Option<Range<usize>> {
    let user = after_arguments(bytes, word.end, after)?;
    let (_, after) = literal(bytes, user)?;
    let comma = bytes.get(after..)?.iter().take(8).take_while(|byte| b", \n".contains(byte)).count();
    let (password, _) = literal(bytes, after + comma)?;
    let value = bytes.get(password.clone())?;
    let is_secret = !value.contains(&b' ') && !refers(value) && is_password(tables, value);
    (comma > 0 && is_secret).then_some(password)
}

/// The offset after `count` arguments.
fn after_arguments(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    (0..count).try_fold(at, |at, _| after_argument(bytes, at))
}

/// The offset after the comma that ends an argument.
fn after_argument(bytes: &[u8], at: usize) -> Option<usize> {
    const MAX_LEN: usize = 160;
    let rest = bytes.get(at..)?;
    let (mut quote, mut depth) = (None, 0_usize);
    let comma = rest.iter().take(MAX_LEN).position(|byte| {
        match quote {
            Some(open) if open == *byte => quote = None,
            None if b"\"'`".contains(byte) => quote = Some(*byte),
            None if b"([{".contains(byte) => depth += 1,
            None if depth > 0 && b")]}".contains(byte) => {
                depth -= 1;
                return false;
            }
            Some(_) | None => {}
        }
        quote.is_none() && depth == 0 && b",)\n".contains(byte)
    })?;
    (rest.get(comma) == Some(&b',')).then_some(at + comma + 1)
}

/// `jwt.sign(payload, "KEY")`, `Fernet("KEY")`: the key string of a signing or encrypting call, after a number of
/// skipped arguments.
pub(super) fn key_in_call(tables: Tables, bytes: &[u8], word: Range<usize>, after: usize) -> Option<Range<usize>> {
    let at = after_arguments(bytes, word.end, after)?;
    let (key, _) = literal(bytes, at)?;
    let value = bytes.get(key.clone())?;
    (!refers(value) && is_key(tables, value)).then_some(key)
}

/// `echo PASSWORD | sudo -S …`: output piped to a program that reads a password from its standard input.
pub(super) fn piped(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    const BACK: usize = 256;
    let from = word.start.saturating_sub(BACK);
    let before = bytes.get(from..word.start)?;
    let bar = before.iter().rposition(|byte| *byte == b'|')?;
    let line = before.get(..bar)?;
    let start = line.iter().rposition(|byte| b"\n;|&".contains(byte)).map_or(0, |at| at + 1);
    let printed = line.get(start..)?.trim_ascii();
    let prints = contains(printed, b"echo ") || contains(printed, b"printf ");
    let word = printed.rsplit(|byte| *byte == b' ').next()?;
    let value = word.strip_prefix(b"'").or_else(|| word.strip_prefix(b"\"")).unwrap_or(word);
    let value = value.strip_suffix(b"'").or_else(|| value.strip_suffix(b"\"")).unwrap_or(value);
    // The last occurrence in the line: only a quote and blanks may follow the value.
    let at = line.windows(value.len().max(1)).rposition(|window| window == value)?;
    (prints && is_password(tables, value) && !refers(value)).then_some(from + at..from + at + value.len())
}

/// A string literal, and the offset after it.
fn literal(bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let rest = bytes.get(at..)?;
    let bytes_of = rest.trim_ascii_start().strip_prefix(b"[]byte(").map_or(0, |inner| rest.len() - inner.len());
    let blanks = bytes_of + rest.iter().skip(bytes_of).take(4).take_while(|byte| b" b".contains(byte)).count();
    let quote = *rest.get(blanks).filter(|byte| b"\"'".contains(byte))?;
    let start = at + blanks + 1;
    let length = bytes.get(start..)?.iter().take(128).position(|byte| *byte == quote)?;
    Some((start..start + length, start + length + 1))
}

/// `IDENTIFIED BY 'password'`.
pub(super) fn identified(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let (password, _) = literal(bytes, word.end)?;
    let value = bytes.get(password.clone())?;
    (is_password(tables, value) && !refers(value) && !value.contains(&b' ')).then_some(password)
}

/// `Authorization: Basic BASE64`, of a login whose password is not a sample.
pub(super) fn basic(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(512).take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte)).count();
    let login = decoded(rest.get(..length).filter(|_| (8..512).contains(&length))?);
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let printable = login.iter().all(u8::is_ascii_graphic);
    let secret = if password.is_empty() || password == b"x-oauth-basic" { user } else { password };
    (printable && (is_password(tables, secret) || is_random(tables, secret))).then_some(word.end..word.end + length)
}

/// Whether a value is `user:password` in base64, the format in which registries and proxies store logins.
pub(super) fn is_encoded_login(tables: Tables, value: &[u8]) -> bool {
    let login = decoded(value);
    let Some(colon) = login.iter().position(|byte| *byte == b':') else { return false };
    let (user, password) = (login.get(..colon).unwrap_or_default(), login.get(colon + 1..).unwrap_or_default());
    let printable = login.iter().all(u8::is_ascii_graphic);
    !user.is_empty() && printable && (is_password(tables, password) || is_random(tables, password))
}

/// `Authorization: Bearer TOKEN`.
pub(super) fn bearer(tables: Tables, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let rest = bytes.get(word.end..)?;
    let length =
        rest.iter().take(1024).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.=+/~:".contains(byte)).count();
    let token = rest.get(..length)?;
    (length < 1024 && is_random(tables, token)).then_some(word.end..word.end + length)
}
