//! Words of a call as they may be shown: short, and without secrets.

use crate::effect::Effect;
use crate::event::Action;
use crate::facts::Facts;
use reflex_shell::Command;

/// A reason quotes at most this many characters of a call.
const MAX_QUOTED: usize = 80;

/// The part of the call that an effect comes from.
pub(crate) fn guilty_part(effect: &Effect, facts: &Facts<'_>) -> String {
    let action = facts.event.actions.get(effect.action);
    let derived = effect.origin.derivation.and_then(|_| facts.analysis.command(effect)).map(words);
    let text = match action {
        Some(Action::Shell { command }) => derived.as_deref().unwrap_or(effect.origin.span.of(command)),
        Some(Action::Read { path } | Action::Search { path } | Action::Delete { path }) => &path.text,
        Some(Action::Write { path, .. } | Action::Edit { path, .. }) => &path.text,
        Some(Action::Fetch { url }) => url,
        Some(Action::McpCall { tool, .. }) => tool,
        Some(Action::Skill { name }) => name,
        Some(Action::Prompt { .. } | Action::SpawnAgent { .. } | Action::Input { .. } | Action::Other { .. })
        | None => "",
    };
    let named = matches!(action, Some(Action::Shell { .. })) || facts.event.tool.is_empty();
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&redacted(&if named { folded } else { format!("{} {folded}", facts.event.tool) }))
}

/// A command that stands nowhere in the text is shown as it would run.
fn words(command: &Command) -> String {
    command.words.iter().map(|word| word.shown()).collect::<Vec<_>>().join(" ")
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_QUOTED {
        return text.into();
    }
    text.chars().take(MAX_QUOTED - 1).chain(['…']).collect()
}

/// The text with what looks like a secret replaced by a tag: values behind words such as `token=`, credentials in
/// URLs, and long random-looking words.
pub fn redacted(text: &str) -> String {
    let mut words = Vec::new();
    let mut hide_next = false;
    for word in text.split(' ') {
        let introduces = introduces_secret(word);
        // `Authorization: Bearer x`, `Authorization: token x`: the scheme's name is no secret, what follows it is.
        let scheme = hide_next && matches!(word.to_ascii_lowercase().as_str(), "token" | "bearer" | "basic" | "digest");
        let hidden = hide_next && !introduces && !scheme && !word.is_empty();
        words.push(if hidden { "[secret]".into() } else { redacted_word(word) });
        hide_next = introduces || scheme;
    }
    words.join(" ")
}

/// `Authorization:`, `Bearer`, `--password`: the next word is the secret.
fn introduces_secret(word: &str) -> bool {
    let bare = word.trim_matches(['"', '\'', ':']).to_ascii_lowercase();
    let option = bare.starts_with("--") && !bare.contains('=');
    matches!(bare.as_str(), "bearer" | "basic")
        || ((option || word.ends_with(':')) && TELLTALE.iter().any(|telltale| bare.contains(telltale)))
}

const TELLTALE: [&str; 18] = [
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
];

const PREFIXES: [&str; 20] = [
    "SG.",
    "AIza",
    "hf_",
    "pypi-",
    "dop_v1_",
    "ya29.",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "sk-",
    "sk_live_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "glpat-",
    "npm_",
    "eyJ",
];

fn redacted_word(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        let login = rest.split_once('@').filter(|(login, _)| !login.contains('/'));
        let (credentials, place) = login.map_or(("", rest), |(_, host)| ("[credentials]@", host));
        // What stands behind a question mark may be a key; the place is enough to know what is meant.
        let (place, query) = place.split_once('?').map_or((place, ""), |(place, _)| (place, "?…"));
        return format!("{scheme}://{credentials}{place}{query}");
    }
    if let Some((name, value)) = word.split_once(['=', ':'])
        && !value.is_empty()
        && TELLTALE.iter().any(|telltale| name.to_ascii_lowercase().contains(telltale))
    {
        return format!("{name}=[secret]");
    }
    let bare = word.trim_matches(['"', '\'']);
    if PREFIXES.iter().any(|prefix| bare.contains(prefix) && bare.len() >= prefix.len() + 12) || looks_random(bare) {
        return "[secret]".into();
    }
    word.into()
}

/// Long, of letters and digits in both cases, without a path's or sentence's shape.
fn looks_random(word: &str) -> bool {
    let long = word.len() >= 32 && !word.contains(['/', '.', ' ']);
    let has = |test: fn(&char) -> bool| word.chars().filter(test).count() >= 4;
    let hexadecimal = word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal || (long && has(char::is_ascii_digit) && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn secrets_become_tags() {
        assert_eq!(
            redacted("curl -H X-Api-Key:abc https://u:p@h/x"),
            "curl -H X-Api-Key=[secret] https://[credentials]@h/x"
        );
        assert_eq!(redacted("curl https://tok@h/x?key=abc"), "curl https://[credentials]@h/x?…");
        assert_eq!(redacted("MYSQL_PWD=abc mysql"), "MYSQL_PWD=[secret] mysql");
        assert_eq!(redacted("-H 'Authorization: token abc'"), "-H 'Authorization: token [secret]");
        assert_eq!(redacted("git push origin main"), "git push origin main");
        assert_eq!(redacted("curl -H 'Authorization: Bearer abc' x"), "curl -H 'Authorization: Bearer [secret] x");
        assert_eq!(redacted("login --password abc x"), "login --password [secret] x");
        assert_eq!(redacted("echo ghp_abcdefghijklmnopqrstuvwxyz"), "echo [secret]");
    }
}
