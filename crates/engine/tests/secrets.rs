//! What is told as a secret, what stands in its place, and that no text makes either fail.

use crate::grammar::Chance;
use crate::library;
use reflex_engine::{find_secrets, redact};

fn redacted(text: &str) -> String {
    reflex_engine::redacted(text, library::tables())
}

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
        ("curl -u me:k3J8mQz92vT https://x", "curl -u me:[password-of-login] https://x"),
    ] {
        assert_eq!(redacted(text), expected, "{text}");
    }
}

/// The log keeps the first bytes of a text only: what is cut off there is still the beginning of a secret.
#[test]
fn a_token_that_is_cut_off_becomes_a_tag() {
    for start in ["ghp_", "glpat-", "xoxb-1234567890-", "sk-ant-api03-", "npm_", "hvs."] {
        let cut = redacted(&format!("echo {start}a1B2c3D4e5F6g7H8i9"));
        assert!(!cut.contains("a1B2c3D4e5F6"), "{start}: {cut}");
    }
}

#[test]
fn equal_secrets_get_equal_marks() {
    let mark = |secret: &str| format!(":{}", secret.len());
    let once = redact("TOKEN=x K=ghp_abcdefghijklmnopqrstuvwxyz", library::tables(), &mark);
    assert_eq!(once, "TOKEN=[secret:1] K=[github-token:30]");
    assert_eq!(redact(&once, library::tables(), &mark), once);
}

/// Parts of which texts are made that come close to secrets.
const PARTS: [&str; 40] = [
    "ghp_",
    "AKIA",
    "eyJ",
    ".",
    "xoxb-",
    "-",
    "12345678",
    "sk-",
    "sk_live_",
    "-----BEGIN ",
    "RSA PRIVATE KEY-----",
    "-----END ",
    "password",
    "token",
    "api_key",
    "=",
    ":",
    " ",
    "\"",
    "'",
    "\\",
    "\n",
    "://",
    "u:k3J8mQz92vT@h",
    "curl -u ",
    "Bearer ",
    "a1B2c3D4e5F6g7H8",
    "Zz9Yy8Xx7",
    "heroku",
    "é",
    "𝔘",
    "\u{0}",
    "-us1",
    ":AA",
    "AZDO",
    ">",
    "<",
    "${",
    "MTk4",
    "=>",
];

#[test]
fn no_text_makes_the_search_fail_and_what_is_found_is_redacted() {
    for seed in 0..1_000_u64 {
        let mut chance = Chance::seeded(seed);
        let count = chance.next(48);
        let text: String = (0..count).map(|_| chance.pick(&PARTS)).collect();
        let found = find_secrets(&text, library::tables());
        let mut end = 0;
        for secret in &found {
            assert!(secret.span.start >= end && text.get(secret.span.clone()).is_some(), "{text:?}: {found:?}");
            end = secret.span.end;
        }
        let clean = redacted(&text);
        for secret in &found {
            let word = &text[secret.span.clone()];
            let stays = text.matches(word).count() == 1 && clean.contains(word);
            assert!(!stays, "{} of {text:?} stands in {clean:?}", secret.id());
        }
    }
}

/// What a secret may stand behind without being a part of another word.
#[test]
fn a_secret_is_found_wherever_it_may_begin() {
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    for text in
        ["{}", "x={}", "\"{}\"", "a\\n{}\\n", "?t%3D{}&", "`{}`", "({})", "é{}é", "https://x/{}/y", "\u{feff}{}"]
    {
        let text = text.replace("{}", token);
        let found = find_secrets(&text, library::tables());
        assert_eq!(found.iter().map(|secret| secret.id()).collect::<Vec<_>>(), ["github/token"], "{text}");
    }
    assert!(find_secrets(&format!("x{token}"), library::tables()).is_empty());
}
