//! Patterns in rules: fills in variables, checks regular expressions, and finds literals that a match must contain.

use crate::error::ConditionError;
use crate::problem::nearest;
use reflex_engine::{MAX_PATTERN, RULE_FIELDS};
use std::collections::BTreeMap;

/// Values of `{{variables}}`: one text, or several for a list.
pub type Variables = BTreeMap<String, Vec<String>>;

/// Fills `{{name}}` from the variables. Names of fields are kept: they are filled in when the rule is evaluated.
pub(crate) fn fill(
    pattern: &str,
    variables: &Variables,
    how: &dyn Fn(&[String]) -> String,
) -> Result<(String, bool), ConditionError> {
    let mut template = false;
    let filled = each_word(pattern, &mut |name| match variables.get(name) {
        Some(values) => Ok(how(values)),
        None if is_known(name) => {
            template = true;
            Ok(format!("{{{{{name}}}}}"))
        }
        None => Err(unset(name, variables)),
    })?;
    Ok((filled, template))
}

/// As [`fill`], for a message or a rewrite. A name that is neither a variable nor a field is kept and reported to `odd`
/// with a remedy.
pub(crate) fn fill_noting_unknown(text: &str, variables: &Variables, odd: &mut dyn FnMut(String, String)) -> String {
    let filled = each_word(text, &mut |name| {
        let values = variables.get(name);
        if values.is_none() && !is_known(name) {
            let unset = unset(name, variables);
            odd(unset.to_string(), unset.help());
        }
        Ok(values.map_or_else(|| format!("{{{{{name}}}}}"), |values| values.join(", ")))
    });
    filled.unwrap_or_else(|_| text.to_owned())
}

/// Replaces each `{{name}}` in a text.
fn each_word(
    text: &str,
    word: &mut dyn FnMut(&str) -> Result<String, ConditionError>,
) -> Result<String, ConditionError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let named = after.split_once("}}").filter(|(name, _)| is_name(name.trim()));
        let Some((name, after)) = named else {
            filled.push_str("{{");
            rest = after;
            continue;
        };
        filled.push_str(&word(name.trim())?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn unset(name: &str, variables: &Variables) -> ConditionError {
    let known: Vec<&str> = variables.keys().map(String::as_str).chain(RULE_FIELDS).collect();
    ConditionError::Unset { name: name.into(), nearest: nearest(name, &known).map(str::to_owned) }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Whether a name is a field of the call.
fn is_known(name: &str) -> bool {
    name == "allowed_roots" || RULE_FIELDS.contains(&name) || name.starts_with("tool_input.")
}

/// Checks a regular expression, which must run in linear time.
pub(crate) fn regex(pattern: &str, fold: bool) -> Result<(), ConditionError> {
    let built = regex_lite::RegexBuilder::new(pattern).case_insensitive(fold).size_limit(MAX_PATTERN).build();
    built.map(drop).map_err(ConditionError::Regex)
}

/// Literals, at least one of which every match contains. Empty if they cannot be determined.
pub(crate) fn needs(pattern: &str, fold: bool) -> Vec<String> {
    let has_flags = pattern.split("(?").skip(1).any(|rest| !rest.starts_with([':', '<', 'P']));
    if has_flags {
        return Vec::new();
    }
    let mut chars = pattern.chars().peekable();
    let mut needs = Vec::new();
    let (mut best, mut run) = (String::new(), String::new());
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next() {
                Some(sign) if sign.is_ascii_punctuation() => {
                    run.push(sign);
                    continue;
                }
                // `\u0041`, `\x41` and `\x{41}` encode other characters than those that follow.
                Some('x' | 'u' | 'U') => return Vec::new(),
                _ => keep(&mut best, &mut run),
            },
            '[' => {
                keep(&mut best, &mut run);
                skip_set(&mut chars);
            }
            '(' => {
                keep(&mut best, &mut run);
                skip_group(&mut chars);
            }
            '*' | '?' | '{' => {
                run.pop();
                keep(&mut best, &mut run);
                if ch == '{' {
                    chars.by_ref().find(|ch| *ch == '}');
                }
            }
            '+' | '.' | '^' | '$' => keep(&mut best, &mut run),
            '|' => {
                keep(&mut best, &mut run);
                needs.push(std::mem::take(&mut best));
            }
            ch => run.push(ch),
        }
    }
    keep(&mut best, &mut run);
    needs.push(best);
    if needs.iter().any(|text| text.chars().count() < 2) {
        return Vec::new();
    }
    needs.into_iter().map(|text| if fold { text.to_lowercase() } else { text }).collect()
}

fn keep(best: &mut String, run: &mut String) {
    let run = std::mem::take(run);
    if run.len() > best.len() {
        *best = run;
    }
}

type PatternChars<'p> = std::iter::Peekable<std::str::Chars<'p>>;

/// Skips to the end of a set, after its `]`. A `]` right at the start is a member of the set.
fn skip_set(chars: &mut PatternChars<'_>) {
    chars.next_if_eq(&'^');
    chars.next_if_eq(&']');
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => drop(chars.next()),
            '[' => skip_set(chars),
            ']' => return,
            _ => {}
        }
    }
}

fn skip_group(chars: &mut PatternChars<'_>) {
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => drop(chars.next()),
            '[' => skip_set(chars),
            '(' => skip_group(chars),
            ')' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_needs_is_told() {
        let check = |pattern, expected: &[&str]| assert_eq!(needs(pattern, false), expected, "{pattern}");
        check(r"rm\s+-rf\s+[/~.]", &["-rf"]);
        check(r"(rm|del)\s+secret", &["secret"]);
        check(r"abc|def+", &["abc", "def"]);
        check(r"colou?r", &["colo"]);
        check(r"a{2}bc", &["bc"]);
        check(r"\d{16}", &[]);
        check(r"ab|\d", &[]);
        check(r"(?i)abc", &[]);
        check(r"[]a]bc", &["bc"]);
    }

    #[test]
    fn what_a_pattern_needs_stands_in_all_that_it_fits() {
        let texts =
            ["rm -rf /", "abc", "xdeffy", "color", "colour", "aabc", "a.b", "[x](y)", "", "del secret", "ab\nc"];
        let patterns =
            [r"rm\s+-rf", "abc|def+", "colou?r", "a{2}bc", r"a\.b", r"\[x\]\(y\)", "(rm|del) secret", "ab\nc", "^ab"];
        for pattern in patterns {
            let (regex, needs) = (regex_lite::Regex::new(pattern).unwrap(), needs(pattern, false));
            for text in texts.iter().filter(|text| regex.is_match(text)) {
                assert!(needs.is_empty() || needs.iter().any(|need| text.contains(need)), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn look_around_says_what_to_use_instead() {
        let error = regex("(?!x)a", false).unwrap_err();
        let (message, help) = (error.to_string(), error.help());
        assert!(message.contains("look-around") && help.contains("not_contains"), "{message} {help}");
    }
}
