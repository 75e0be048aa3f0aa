//! `policy.yaml`: settings for folders, commands and rules.

pub(crate) mod asking;
pub(crate) mod duties;
pub(crate) mod judging;
pub(crate) mod watch;

use crate::pattern::Variables;
use crate::problem::{Level, Problems};
use crate::renamed;
use crate::yaml::{Key, Located, documents};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::ops::Range;

/// The keys of a policy. Keys of VibeFlow policies may also be written with underscores.
pub(crate) const KEYS: [&str; 21] = [
    "preset",
    "reason",
    "allowedCommands",
    "protectedPaths",
    "approvalRequiredPaths",
    "variables",
    "allowed_roots",
    "rules",
    "disabled_rules",
    "installs",
    "allow",
    "rule_dirs",
    "roles",
    "extends",
    "verify",
    "budgets",
    "ask",
    "notify",
    "judge",
    "watch",
    "version",
];

/// Other accepted spellings of keys.
const SPELLINGS: [(&str, &str); 6] = [
    ("allowed_commands", "allowedCommands"),
    ("protected_paths", "protectedPaths"),
    ("approval_required_paths", "approvalRequiredPaths"),
    ("mode", "preset"),
    ("allowedRoots", "allowed_roots"),
    ("disabledRules", "disabled_rules"),
];

/// The actions that a policy may give a rule.
const WORTHS: [&str; 5] = ["off", "log", "warn", "ask", "block"];

/// The rule that `installs` configures.
const NEW_PACKAGE: &str = "package/new";

/// Compiled numbers have 29 bits; in minutes since 1970 that is the year 2990.
const MAX_MINUTE: u32 = 1 << 29;

/// The keys of an entry of `allow`.
const ALLOWANCE: [&str; 8] = ["command", "argv", "glob", "path", "rule", "in", "reason", "until"];

/// A base of a policy: the name of a shipped preset, a folder or a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Base {
    /// `recommended`, or a path.
    pub path: String,
    /// Whether the path must be a git checkout; then a digest is required.
    pub git: bool,
    /// The required digest of its files; empty to accept any.
    pub digest: String,
    /// `file:line`
    pub at: String,
}

/// The keys of a role.
const ROLE: [&str; 3] = ["scope", "protectedPaths", "mode"];

/// A parsed policy file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policy {
    /// The keys in compiled form.
    pub node: Map<String, Value>,
    /// Rules over effects, made from protected paths.
    pub paths: Vec<Value>,
    /// Values for `{{names}}` in rules.
    pub variables: Variables,
    /// Additional folders of rules.
    pub rule_dirs: Vec<String>,
    /// The policies that it extends.
    pub extends: Vec<Base>,
    /// Each key with its place and its value, for `config show`.
    pub origins: Vec<(String, String, Value)>,
}

/// Parses a policy. An invalid entry is reported; the rest stays in force.
pub(crate) fn policy_of(text: &str, presets: &[&str], problems: &mut Problems<'_>) -> Policy {
    let mut policy = Policy::default();
    let documents = documents(text, problems);
    for document in &documents {
        let Some(entries) = document.entries() else {
            problems.error(&document.span, "a policy is a map", "begin with `preset: balanced`");
            continue;
        };
        for (key, value) in entries {
            Reader { policy: &mut policy, problems, presets }.key(key, value);
        }
    }
    policy
}

struct Reader<'r, 't> {
    policy: &'r mut Policy,
    problems: &'r mut Problems<'t>,
    presets: &'r [&'r str],
}

impl Reader<'_, '_> {
    fn key(&mut self, key: &Key, value: &Located) {
        let name = SPELLINGS.iter().find(|(other, _)| *other == key.text).map_or(key.text.as_str(), |(_, name)| name);
        match value.entries().filter(|_| ["rules", "variables", "roles"].contains(&name)) {
            None => self.policy.origins.push((name.to_owned(), self.problems.at(&key.span), value.json())),
            Some(entries) => {
                for (inner, value) in entries {
                    let (name, at) = (format!("{name}.{}", inner.text), self.problems.at(&inner.span));
                    self.policy.origins.push((name, at, value.json()));
                }
            }
        }
        match name {
            "version" => {}
            "preset" => self.preset(value),
            "reason" => {
                let reason = value.text().unwrap_or_default();
                self.put("reason", reason.into());
            }
            "variables" => self.variables(value),
            "allowed_roots" => self.roots(value),
            "rule_dirs" => self.policy.rule_dirs = self.texts(value),
            "rules" => self.overrides(value),
            "disabled_rules" => {
                for (name, span) in value.texts().unwrap_or_default() {
                    let at = self.problems.at(&span);
                    self.put_override((&name, &span), json!({"do": "off", "at": at}));
                }
            }
            "installs" => self.installs(key, value),
            "allowedCommands" => {
                for (command, span) in value.texts().unwrap_or_default() {
                    self.allow_argv(&command, &span, Map::new());
                }
            }
            "allow" => value.items().iter().for_each(|entry| self.allowance(entry)),
            "protectedPaths" => self.paths(value, "protected-path", None),
            "approvalRequiredPaths" => self.paths(value, "approval-required-path", None),
            "roles" => self.roles(value),
            "extends" => value.items().iter().for_each(|base| self.base(base)),
            "verify" | "budgets" | "ask" | "notify" | "judge" | "watch" => {
                let read = match name {
                    "verify" => duties::verify_of,
                    "budgets" => duties::budgets_of,
                    "ask" => asking::ask_of,
                    "judge" => judging::judge_of,
                    "watch" => watch::watch_of,
                    _ => asking::notify_of,
                };
                let node = read(value, self.problems);
                self.put(name, node);
            }
            other => self.problems.unknown(Level::Error, &key.span, ("key of a policy", other), &KEYS),
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        self.policy.node.insert(key.into(), value);
    }

    fn texts(&mut self, value: &Located) -> Vec<String> {
        let Some(texts) = value.texts() else {
            self.problems.error(&value.span, "this is neither a text nor a list of texts", "");
            return Vec::new();
        };
        texts.into_iter().map(|(text, _)| text).filter(|text| !text.trim().is_empty()).collect()
    }

    fn preset(&mut self, value: &Located) {
        let name = value.text().unwrap_or_default();
        if self.presets.contains(&name.as_str()) {
            self.put("preset", name.into());
        } else {
            self.problems.unknown(Level::Error, &value.span, ("preset", &name), self.presets);
        }
    }

    fn variables(&mut self, value: &Located) {
        for (key, value) in value.entries().unwrap_or(&[]) {
            let values = self.texts(value);
            self.policy.variables.insert(key.text.clone(), values);
        }
    }

    fn roots(&mut self, value: &Located) {
        // One text may hold several folders, like a variable of the rules format.
        let texts = self.texts(value);
        let parts = texts.iter().flat_map(|text| text.split(',')).map(str::trim);
        let roots: Vec<String> = parts.filter(|root| !root.is_empty()).map(str::to_owned).collect();
        let counts =
            |root: &String| (root.starts_with('/') || root.starts_with("~/")) && root.trim_end_matches('/').len() > 1;
        for root in roots.iter().filter(|root| !counts(root)) {
            let help = "name a folder that begins at `/` or `~/`; the home itself cannot be one";
            self.problems.warning(&value.span, format!("`{root}` has no effect"), help);
        }
        self.put("allowed_roots", json!(roots));
    }

    fn installs(&mut self, key: &Key, value: &Located) {
        let word = value.text().unwrap_or_default();
        if WORTHS.contains(&word.as_str()) {
            let at = self.problems.at(&key.span);
            self.put_override((NEW_PACKAGE, &key.span), json!({"do": word, "at": at}));
        } else {
            self.problems.unknown(Level::Error, &value.span, ("weight of installs", &word), &WORTHS);
        }
    }

    /// `rules: {NAME: warn}` or `{NAME: {action: warn, reason: …, until: …}}`.
    fn overrides(&mut self, value: &Located) {
        let Some(entries) = value.entries() else {
            let help = "write `rules: {NAME: off}`; rules themselves lie in the folder `rules/`";
            self.problems.error(&value.span, "`rules` is a map", help);
            return;
        };
        for (name, weight) in entries {
            let mut entry = Map::new();
            entry.insert("at".into(), self.problems.at(&name.span).into());
            let (word, span) = match weight.entries() {
                None => (weight.text().unwrap_or_default(), weight.span.clone()),
                Some(keys) => self.override_keys(keys, &mut entry, weight),
            };
            if WORTHS.contains(&word.as_str()) {
                entry.insert("do".into(), word.into());
                self.put_override((&name.text, &name.span), Value::Object(entry));
            } else {
                self.problems.unknown(Level::Error, &span, ("weight of a rule", &word), &WORTHS);
            }
        }
    }

    fn override_keys(
        &mut self,
        keys: &[(Key, Located)],
        entry: &mut Map<String, Value>,
        weight: &Located,
    ) -> (String, Range<usize>) {
        let mut word = (String::new(), weight.span.clone());
        for (key, value) in keys {
            let text = value.text().unwrap_or_default();
            match key.text.as_str() {
                "action" | "do" | "decision" => word = (text, value.span.clone()),
                "reason" => drop(entry.insert("reason".into(), text.into())),
                "until" => self.until(value, entry),
                other => {
                    let known = ["action", "reason", "until"];
                    self.problems.unknown(Level::Error, &key.span, ("key", other), &known);
                }
            }
        }
        word
    }

    fn put_override(&mut self, (name, span): (&str, &Range<usize>), entry: Value) {
        let name = self.today(name, span);
        let overrides = self.policy.node.entry("overrides").or_insert_with(|| json!({}));
        if let Some(overrides) = overrides.as_object_mut() {
            overrides.insert(name.into(), entry);
        }
    }

    /// The current id of a rule; the file may use an old one.
    fn today<'n>(&mut self, name: &'n str, span: &Range<usize>) -> &'n str {
        let Some(new) = renamed::renamed(&renamed::RULES, name) else { return name };
        self.problems.warning(span, renamed::note(name, new), format!("write `{new}`"));
        new
    }

    /// The rules that an allowance names, and those that its patterns covered under their former ids.
    fn rules(&mut self, value: &Located) -> Vec<String> {
        let mut rules = self.texts(value);
        let missed: Vec<&str> = rules.iter().flat_map(|pattern| renamed::uncovered(pattern)).collect();
        for new in &missed {
            let old = renamed::formerly(&renamed::RULES, new).unwrap_or_default();
            self.problems.warning(&value.span, renamed::note(old, new), format!("name `{new}` too"));
        }
        rules.extend(missed.into_iter().map(str::to_owned));
        rules
    }

    fn until(&mut self, value: &Located, entry: &mut Map<String, Value>) {
        match minutes(&value.text().unwrap_or_default()) {
            Some(minute) => drop(entry.insert("until".into(), minute.into())),
            None => self.problems.error(&value.span, "this is not a date", "write `until: 2026-12-31`"),
        }
    }

    fn allow_argv(&mut self, command: &str, span: &Range<usize>, mut entry: Map<String, Value>) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let plain = |word: &&str| !word.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '(', ')']);
        if words.is_empty() || !words.iter().all(plain) {
            let help = "one program with its first words, without quotes: npm test";
            self.problems.error(span, format!("`{command}` is not a single plain command"), help);
            return;
        }
        entry.insert("argv".into(), json!(words));
        entry.insert("at".into(), self.problems.at(span).into());
        self.push_allowance(entry);
    }

    fn push_allowance(&mut self, entry: Map<String, Value>) {
        let allow = self.policy.node.entry("allow").or_insert_with(|| json!([]));
        if let Some(allow) = allow.as_array_mut() {
            allow.push(Value::Object(entry));
        }
    }

    fn allowance(&mut self, value: &Located) {
        let Some(keys) = value.entries() else {
            let text = value.text().unwrap_or_default();
            return self.allow_argv(&text, &value.span, Map::new());
        };
        let mut entry = Map::new();
        entry.insert("at".into(), self.problems.at(&value.span).into());
        let before = self.problems.errors();
        let mut argv = None;
        for (key, value) in keys {
            let text = value.text().unwrap_or_default();
            match key.text.as_str() {
                "command" | "glob" | "in" | "reason" => drop(entry.insert(key.text.clone(), text.into())),
                "argv" => argv = Some((self.texts(value), value.span.clone())),
                "path" => drop(entry.insert("path".into(), json!(self.texts(value)))),
                "rule" => drop(entry.insert("rule".into(), json!(self.rules(value)))),
                "until" => self.until(value, &mut entry),
                other => self.problems.unknown(Level::Error, &key.span, ("key of `allow`", other), &ALLOWANCE),
            }
        }
        let has_target =
            ["command", "glob", "path", "rule"].iter().any(|key| entry.contains_key(*key)) || argv.is_some();
        if !has_target {
            self.problems.error(
                &value.span,
                "this allowance matches no call",
                "name a command, argv, glob, path or rule",
            );
        }
        if self.problems.errors() > before {
            return;
        }
        match argv {
            Some((words, span)) => self.allow_argv(&words.join(" "), &span, entry),
            None => self.push_allowance(entry),
        }
    }

    /// `extends: [recommended, ~/team, {git: ~/checkout, digest: sha256:…}]`
    fn base(&mut self, value: &Located) {
        let mut base = Base { at: self.problems.at(&value.span), ..Base::default() };
        match value.entries() {
            None => base.path = value.text().unwrap_or_default(),
            Some(entries) => {
                for (key, value) in entries {
                    let text = value.text().unwrap_or_default();
                    match key.text.as_str() {
                        "path" => base.path = text,
                        "git" => (base.path, base.git) = (text, true),
                        "digest" => base.digest = text.trim().trim_start_matches("sha256:").to_lowercase(),
                        other => {
                            let known = ["path", "git", "digest"];
                            self.problems.unknown(Level::Error, &key.span, ("key of `extends`", other), &known);
                        }
                    }
                }
            }
        }
        let is_digest = base.digest.len() == 64 && base.digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if base.path.trim().is_empty() {
            self.problems.error(&value.span, "this entry has no path", "name a folder, a file or `recommended`");
        } else if base.path.contains("://") || base.path.starts_with("git@") {
            let help = "clone it, and name the checkout: {git: ~/team, digest: sha256:…}";
            self.problems.error(&value.span, "Reflex does not fetch policies", help);
        } else if (base.git || !base.digest.is_empty()) && !is_digest {
            let help = "write `digest: sha256:` and its 64 digits; `reflex config show` prints it";
            self.problems.error(&value.span, "a Git checkout must be pinned by its digest", help);
        } else {
            self.policy.extends.push(base);
        }
    }

    /// `roles: {NAME: {scope: …, protectedPaths: …, mode: …}}`. A role can only tighten: agents choose their role
    /// themselves.
    fn roles(&mut self, value: &Located) {
        let Some(entries) = value.entries() else {
            self.problems.error(&value.span, "`roles` is a map", "roles: {reviewer: {mode: read-only}}");
            return;
        };
        let mut roles = Map::new();
        for (role, value) in entries {
            let Some(keys) = value.entries() else {
                self.problems.error(&value.span, "a role is a map", "{scope: [docs/**], mode: read-only}");
                continue;
            };
            let mut settings = Map::new();
            for (key, value) in keys {
                match key.text.as_str() {
                    "scope" => drop(settings.insert("scope".into(), json!(self.texts(value)))),
                    "protectedPaths" | "protected_paths" => self.paths(value, "protected-path", Some(&role.text)),
                    "mode" | "preset" => {
                        let name = value.text().unwrap_or_default();
                        if self.presets.contains(&name.as_str()) {
                            settings.insert("mode".into(), name.into());
                        } else {
                            self.problems.unknown(Level::Error, &value.span, ("preset", &name), self.presets);
                        }
                    }
                    other => self.problems.unknown(Level::Error, &key.span, ("key of a role", other), &ROLE),
                }
            }
            roles.insert(role.text.clone(), Value::Object(settings));
        }
        self.put("roles", Value::Object(roles));
    }

    fn paths(&mut self, value: &Located, name: &str, role: Option<&str>) {
        let protected = name == "protected-path";
        let paths = self.texts(value);
        if paths.is_empty() {
            return;
        }
        // On Windows, people write `infra\prod`.
        let paths: Vec<String> = paths.iter().map(|path| path.replace('\\', "/")).collect();
        let when = json!({"target": {"path": paths}, "site": "here"});
        let change = ["overwrite", "append", "edit", "link", "change-permissions", "change-owner"];
        let remove = ["delete", "truncate", "move", "discard-changes", "discard-untracked", "format"];
        let (removal, removal_message) = match protected {
            true => ("block", "The policy protects {targets} from being removed."),
            false => ("ask", "The policy wants a person's yes before {targets} changes."),
        };
        let change_message = "The policy wants a person's yes before {targets} changes.";
        // `touch` changes only the times of an existing file, so it is allowed.
        let new = json!({"target": {"path": paths, "not": {"fact": "exists"}}, "site": "here"});
        let all = [
            (&change[..], &when, "ask", change_message),
            (&remove[..], &when, removal, removal_message),
            (&["set-times"][..], &new, "ask", change_message),
        ];
        for (on, when, action, message) in all {
            let mut rule = json!({"name": name, "on": on, "when": when, "action": action, "message": message});
            if let (Some(rule), Some(role)) = (rule.as_object_mut(), role) {
                rule.insert("role".into(), role.into());
            }
            self.policy.paths.push(rule);
        }
    }
}

/// The end of a day in UTC, in minutes since 1970.
fn minutes(day: &str) -> Option<u32> {
    let end = Date::strptime("%Y-%m-%d", day.trim()).ok()?.tomorrow().ok()?;
    let minutes = u32::try_from(end.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second() / 60).ok();
    minutes.filter(|minutes| *minutes < MAX_MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_end_at_midnight() {
        assert_eq!(minutes("1970-01-01"), Some(24 * 60));
        assert_eq!(minutes("2024-02-29"), Some(19_783 * 24 * 60));
        assert_eq!((minutes("tomorrow"), minutes("2026-13-01")), (None, None));
        assert!(minutes("2990-01-01").is_some() && minutes("2999-12-31").is_none());
        assert_eq!((minutes("2026-02-30"), minutes("1969-12-30"), minutes("9999-12-31")), (None, None, None));
    }
}
