//! The types that a client requires of keys: lines of the library such as `permissions.allow: list`.
//!
//! A component of the path is a key, `*` for any key, `#` for any entry of a list, or `EVENT` for an event that the
//! client knows; a key with `!` is required. ` when type=command` restricts the line to maps with that entry.

use super::json::{Broken, Json, Kind};
use serde_json::Value;

/// Checks that every value that the line applies to has its type.
pub(super) fn check(value: &Json, line: &str, events: &[&str]) -> Result<(), Broken> {
    let Some((path, wanted)) = line.split_once(": ") else { return Ok(()) };
    let (wanted, condition) = wanted.split_once(" when ").map_or((wanted, None), |(wanted, when)| (wanted, Some(when)));
    let path: Vec<&str> = path.split('.').collect();
    let rule = Rule { wanted, condition, events };
    rule.walk(value, &path, "")
}

struct Rule<'l> {
    wanted: &'l str,
    condition: Option<&'l str>,
    events: &'l [&'l str],
}

impl Rule<'_> {
    fn walk(&self, value: &Json, path: &[&str], name: &str) -> Result<(), Broken> {
        let Some((part, rest)) = path.split_first() else { return self.hold(value, name) };
        match (&value.kind, *part) {
            (Kind::List(items), "#") => items.iter().try_for_each(|item| self.walk(item, rest, name)),
            (Kind::Map(entries), "*" | "EVENT") => {
                let meant = |key: &str| *part == "*" || self.events.contains(&key);
                let mut entries = entries.iter().filter(|(key, _)| meant(key));
                entries.try_for_each(|(key, value)| self.walk(value, rest, &format!("{name}.{key}")))
            }
            (Kind::Map(_), key) => self.key(value, (key, rest), name),
            (Kind::Plain(_) | Kind::List(_), _) => Ok(()),
        }
    }

    fn key(&self, map: &Json, (key, rest): (&str, &[&str]), name: &str) -> Result<(), Broken> {
        if rest.is_empty() && !self.is_meant(map) {
            return Ok(());
        }
        let (key, has_to_be) = key.strip_suffix('!').map_or((key, false), |key| (key, true));
        let name = format!("{name}.{key}");
        match map.get(key) {
            Some(value) => self.walk(value, rest, &name),
            None if has_to_be => Err((map.at, format!("`{}` is missing", name.trim_start_matches('.')))),
            None => Ok(()),
        }
    }

    fn is_meant(&self, map: &Json) -> bool {
        let Some((key, state)) = self.condition.and_then(|condition| condition.split_once('=')) else { return true };
        map.get(key).is_some_and(|value| value.plain() == state)
    }

    fn hold(&self, value: &Json, name: &str) -> Result<(), Broken> {
        let plain = value.plain();
        if self.wanted.split(" or ").any(|wanted| is_of(&plain, wanted)) {
            return Ok(());
        }
        let name = name.trim_start_matches('.');
        Err((value.at, format!("`{name}` has to be {}, and is {}", describe(self.wanted), shown(&plain))))
    }
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "text" => value.is_string(),
        "flag" => value.is_boolean(),
        "number" => value.is_number(),
        "natural" => value.is_u64(),
        "whole" => value.is_i64() || value.is_u64(),
        "positive" => value.as_u64().is_some_and(|number| number > 0),
        "list" => value.is_array(),
        "map" => value.is_object(),
        "null" => value.is_null(),
        "texts" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        "map of texts" => value.as_object().is_some_and(|entries| entries.values().all(Value::is_string)),
        words => match words.parse::<u64>() {
            Ok(number) => value.as_u64() == Some(number),
            Err(_) => value.as_str().is_some_and(|text| words.split('|').any(|word| word == text)),
        },
    }
}

fn describe(wanted: &str) -> String {
    let one = |wanted: &str| match wanted {
        "text" => "a text".to_owned(),
        "flag" => "true or false".to_owned(),
        "number" => "a number".to_owned(),
        "natural" => "a whole number, 0 or more".to_owned(),
        "whole" => "a whole number".to_owned(),
        "positive" => "a whole number above 0".to_owned(),
        "list" => "a list".to_owned(),
        "map" => "a map".to_owned(),
        "null" | "map of texts" => wanted.to_owned(),
        "texts" => "a list of texts".to_owned(),
        words if !words.contains('|') => format!("`{words}`"),
        words => format!("one of {}", words.replace('|', ", ")),
    };
    wanted.split(" or ").map(one).collect::<Vec<_>>().join(" or ")
}

/// Returns a truncated value.
fn shown(value: &Value) -> String {
    const MAX_CHARS: usize = 40;
    let text = value.to_string();
    let start: String = text.chars().take(MAX_CHARS).collect();
    if start.len() < text.len() { format!("`{start}…`") } else { format!("`{start}`") }
}
