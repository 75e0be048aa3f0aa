//! What looks like a secret in a text, and the text without it.

use std::borrow::Cow;

/// Replaces every secret in a text by a tag of its kind; `mark` may add what tells equal secrets from others.
pub fn redact(text: &str, mark: &dyn Fn(&str) -> String) -> String {
    let text = without_private_keys(text, mark);
    let tag =
        |kind: &str, secret: &str| if is_tag(secret) { secret.to_owned() } else { format!("[{kind}{}]", mark(secret)) };
    let mut out = String::with_capacity(text.len());
    let mut awaits = Awaits::Nothing;
    // `"password": "x"`: the name, then a word that is only the colon.
    let mut named = false;
    for token in tokens(&text) {
        let Token::Word(word) = token else {
            let Token::Divider(divider) = token else { continue };
            if divider.contains(['\n', ';', '|', '&']) {
                (awaits, named) = (Awaits::Nothing, false);
            }
            out.push_str(divider);
            continue;
        };
        let lower = word.to_ascii_lowercase();
        let scheme = matches!(lower.as_str(), "token" | "bearer" | "basic" | "digest" | "apikey");
        if named && matches!(word, ":" | "=" | "=>" | ":=") {
            awaits = Awaits::Secret;
            out.push_str(word);
            continue;
        }
        named = names_secret(&lower);
        if awaits == Awaits::Secret && !scheme && !introduces(&lower) && !word.starts_with('$') {
            out.push_str(&tag("secret", word));
            awaits = Awaits::Nothing;
            continue;
        }
        awaits =
            if introduces(&lower) || (awaits == Awaits::Secret && scheme) { Awaits::Secret } else { Awaits::Nothing };
        out.push_str(&redacted_word(word, &tag));
    }
    out
}

/// The text with every secret replaced by `[secret]` or a tag of its kind.
pub fn redacted(text: &str) -> String {
    redact(text, &|_| String::new())
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

const DIVIDERS: [char; 15] = [' ', '\t', '\n', '\r', '"', '\'', '`', '(', ')', '<', '>', ',', ';', '|', '&'];

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let divides = DIVIDERS.contains(&first);
        let end = rest.find(|letter| DIVIDERS.contains(&letter) != divides).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(if divides { Token::Divider(token) } else { Token::Word(token) })
    })
}

/// `Authorization:`, `Bearer`, `--password`, `"api_key":`: the next word is the secret.
fn introduces(lower: &str) -> bool {
    let option = lower.starts_with("--") && !lower.contains('=');
    let key = lower.ends_with([':', '=']);
    matches!(lower, "bearer" | "basic") || ((option || key) && names_secret(lower))
}

fn names_secret(lower: &str) -> bool {
    let bytes = lower.as_bytes();
    (0..bytes.len()).any(|at| {
        let Some(rest @ [first, ..]) = bytes.get(at..) else { return false };
        // Most words hold none: a look at one letter is enough.
        matches!(first, b't' | b's' | b'p' | b'a' | b'c' | b'_' | b'-')
            && TELLTALE.iter().any(|telltale| rest.starts_with(telltale.as_bytes()))
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

/// How tokens of well-known services begin, with the kind and the least length; as the services document them.
const TOKENS: [(&str, &str, usize); 47] = [
    ("SG.", "sendgrid-key", 20),
    ("AIza", "google-key", 30),
    ("hf_", "huggingface-token", 20),
    ("api_org_", "huggingface-token", 30),
    ("pypi-", "pypi-token", 24),
    ("dop_v1_", "digitalocean-token", 30),
    ("doo_v1_", "digitalocean-token", 30),
    ("ya29.", "google-token", 20),
    ("ghp_", "github-token", 20),
    ("gho_", "github-token", 20),
    ("ghu_", "github-token", 20),
    ("ghs_", "github-token", 20),
    ("ghr_", "github-token", 20),
    ("github_pat_", "github-token", 30),
    ("sk-ant-", "anthropic-key", 20),
    ("sk-proj-", "openai-key", 20),
    ("sk-", "api-key", 20),
    ("sk_live_", "stripe-key", 20),
    ("sk_test_", "stripe-key", 20),
    ("rk_live_", "stripe-key", 20),
    ("whsec_", "stripe-secret", 20),
    ("xoxb-", "slack-token", 16),
    ("xoxp-", "slack-token", 16),
    ("xoxa-", "slack-token", 16),
    ("xoxe-", "slack-token", 16),
    ("xapp-", "slack-token", 16),
    ("AKIA", "aws-key", 20),
    ("ASIA", "aws-key", 20),
    ("glpat-", "gitlab-token", 20),
    ("gldt-", "gitlab-token", 20),
    ("npm_", "npm-token", 20),
    ("eyJ", "jwt", 24),
    ("dapi", "databricks-token", 34),
    ("shpat_", "shopify-token", 24),
    ("shpss_", "shopify-token", 24),
    ("pplx-", "perplexity-key", 24),
    ("gsk_", "groq-key", 24),
    ("r8_", "replicate-token", 24),
    ("lin_api_", "linear-key", 24),
    ("sgp_", "sourcegraph-token", 24),
    ("HRKU-", "heroku-key", 24),
    ("pscale_", "planetscale-token", 24),
    ("figd_", "figma-token", 24),
    ("dckr_pat_", "docker-token", 24),
    ("tskey-", "tailscale-key", 20),
    ("hvs.", "vault-token", 20),
    ("AGE-SECRET-KEY-", "age-key", 30),
];

/// No token is shorter.
const SHORTEST: usize = 16;

/// The kind of a well-known token.
fn known_kind(word: &str) -> Option<(&'static str, usize)> {
    let bytes = word.as_bytes();
    if bytes.len() < SHORTEST {
        return None;
    }
    let mut inside = false;
    for (at, byte) in bytes.iter().enumerate() {
        let begins = !inside;
        inside = byte.is_ascii_alphanumeric();
        let Some(rest) = bytes.get(at..).filter(|rest| begins && rest.len() >= SHORTEST) else { continue };
        let fits =
            |(start, _, least): &&(&str, &str, usize)| rest.len() >= *least && rest.starts_with(start.as_bytes());
        if let Some((_, kind, _)) =
            TOKENS.iter().filter(|(start, ..)| start.as_bytes().first() == Some(byte)).find(fits)
        {
            return Some((*kind, at));
        }
    }
    None
}

fn redacted_word<'w>(word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let authority = rest.find(['/', '?', '#']).and_then(|end| rest.get(..end)).unwrap_or(rest);
        let (credentials, place) = match authority.rfind('@').and_then(|at| rest.split_at_checked(at)) {
            Some((login, place)) => (format!("[credentials{}]", tag("", login).trim_matches(['[', ']'])), place),
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
    // `-pPASSWORD` of mysql and its kin cannot be told from other options; long random ones are.
    redacted_value(word, tag)
}

/// Whether this is what we have put in place of a secret before.
fn is_tag(word: &str) -> bool {
    let inner = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let kind = inner.map(|inner| inner.split(':').next().unwrap_or(""));
    kind.is_some_and(|kind| {
        kind == "secret" || kind == "private-key" || TOKENS.iter().any(|(_, known, _)| *known == kind)
    })
}

fn redacted_value<'w>(word: &'w str, tag: &dyn Fn(&str, &str) -> String) -> Cow<'w, str> {
    if let Some((kind, at)) = known_kind(word) {
        let (before, secret) = word.split_at_checked(at).unwrap_or(("", word));
        return format!("{before}{}", tag(kind, secret)).into();
    }
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

#[cfg(test)]
mod tests {
    use super::{redact, redacted};

    #[test]
    fn secrets_become_tags() {
        for (text, expected) in [
            ("curl -H X-Api-Key:abc https://u:p@h/x", "curl -H X-Api-Key:[secret] https://[credentials]@h/x"),
            ("curl https://tok@h/x?key=abc", "curl https://[credentials]@h/x?…"),
            ("psql postgres://u:p@ss/w@h/db", "psql postgres://[credentials]@ss/w@h/db"),
            ("MYSQL_PWD=abc mysql", "MYSQL_PWD=[secret] mysql"),
            ("-H 'Authorization: token abc'", "-H 'Authorization: token [secret]'"),
            ("curl -H \"Authorization: Bearer abc\" x", "curl -H \"Authorization: Bearer [secret]\" x"),
            ("git push origin main", "git push origin main"),
            ("login --password abc x", "login --password [secret] x"),
            ("{\"password\": \"abc\"}", "{\"password\": \"[secret]\"}"),
            ("echo ghp_abcdefghijklmnopqrstuvwxyz", "echo [github-token]"),
            ("X=AKIAABCDEFGHIJKLMNOP; y", "X=[aws-key]; y"),
            ("a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[private-key]\nb"),
            ("--token $TOKEN x", "--token $TOKEN x"),
            ("desk-top-long-name-that-is-no-key", "desk-top-long-name-that-is-no-key"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
        }
    }

    #[test]
    fn equal_secrets_get_equal_marks() {
        let mark = |secret: &str| format!(":{}", secret.len());
        let once = redact("TOKEN=x K=ghp_abcdefghijklmnopqrstuvwxyz", &mark);
        assert_eq!(once, "TOKEN=[secret:1] K=[github-token:30]");
        assert_eq!(redact(&once, &mark), once);
    }
}
