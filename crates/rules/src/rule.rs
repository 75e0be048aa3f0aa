//! Rules in YAML: the format of `@fozikio/reflex` and its extensions.

use crate::condition::{Condition, conditions_of};
use crate::error::RuleError;
use crate::pattern::{self, Variables};
use crate::problem::{Level, Problem, Problems};
use crate::yaml::{Key, Located, Yaml, documents};
use reflex_engine::{RULE_EVENTS, Severity, Tier};
use serde_json::{Map, Value, json};

/// The keys of a rule.
pub(crate) const KEYS: [&str; 21] = [
    "name",
    "version",
    "tier",
    "category",
    "description",
    "why",
    "source",
    "events",
    "conditions",
    "action",
    "severity",
    "message",
    "override",
    "enabled",
    "stage",
    "rewrite",
    "otherwise",
    "examples",
    "fires",
    "quiet",
    "id",
];

/// The stages of a rule.
const STAGES: [&str; 3] = ["observe", "warn", "enforce"];

/// The actions of a rule.
const ACTIONS: [&str; 5] = ["block", "ask", "warn", "log", "modify"];

const CATEGORIES: [&str; 5] = ["safety", "quality", "style", "cognitive", "policy"];

/// A rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name, unique among the rules of a layer.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `core`, `recommended` or `custom`.
    pub tier: Tier,
    /// `safety`, `quality`, `style`, `cognitive` or another word.
    pub category: String,
    /// Description for people.
    pub description: String,
    /// The danger, with a fact, for people who ask why the rule exists.
    pub why: String,
    /// URL of a page that confirms the fact.
    pub source: String,
    /// The events on which it is evaluated.
    pub events: Vec<String>,
    /// The conditions, all of which must hold. A rule without conditions never fires.
    pub conditions: Vec<Condition>,
    /// `block`, `ask`, `warn`, `log` or `modify`.
    pub action: String,
    /// Its severity, for sorting and reports.
    pub severity: Severity,
    /// The message, with `{{words}}` filled in.
    pub message: String,
    /// The permissions of configuration over the rule.
    pub overriding: Override,
    /// Whether it is evaluated at all.
    pub enabled: bool,
    /// Its stage: `observe` only counts, `warn` only warns, `enforce` applies the action.
    pub stage: String,
    /// For `modify`: fields of the call with their new values.
    pub rewrite: Vec<(String, String)>,
    /// For `modify`: the action if the call cannot be replaced, `block` or `ask`.
    pub otherwise: String,
    /// Calls on which it must fire, for tests: commands or universal events.
    pub fires: Vec<Value>,
    /// Calls on which it must not fire.
    pub quiet: Vec<Value>,
    /// `file:line`
    pub at: String,
}

/// The permissions of configuration over a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Override {
    /// Whether it may be disabled.
    pub allow_disable: bool,
    /// Whether its action may be weakened.
    pub allow_downgrade: bool,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            name: String::new(),
            version: "1".into(),
            tier: Tier::Custom,
            category: "safety".into(),
            description: String::new(),
            why: String::new(),
            source: String::new(),
            events: Vec::new(),
            conditions: Vec::new(),
            action: "warn".into(),
            severity: Severity::Medium,
            message: String::new(),
            overriding: Override { allow_disable: true, allow_downgrade: true },
            enabled: true,
            stage: "enforce".into(),
            rewrite: Vec::new(),
            otherwise: "block".into(),
            fires: Vec::new(),
            quiet: Vec::new(),
            at: String::new(),
        }
    }
}

impl Rule {
    /// Whether configuration may disable it: never a core rule, whatever its own file says.
    pub fn may_be_disabled(&self) -> bool {
        self.tier != Tier::Core && self.overriding.allow_disable
    }

    /// Its effective action at its stage.
    pub fn staged(&self) -> &str {
        match (self.stage.as_str(), self.action.as_str()) {
            ("observe", _) => "log",
            ("warn", "block" | "ask" | "modify") => "warn",
            (_, action) => action,
        }
    }

    /// Lowers the rule to the condition language.
    ///
    /// # Errors
    /// A condition is invalid.
    pub fn lower(&self, variables: &Variables) -> Result<Value, RuleError> {
        let when = self.conditions.iter().map(|condition| condition.lower(variables));
        let when = when
            .collect::<Result<Vec<Value>, _>>()
            .map_err(|source| RuleError::Condition { rule: self.name.clone(), source })?;
        let filled = |text: &str| pattern::fill_noting_unknown(text, variables, &mut |_, _| {});
        let rewrite: Map<String, Value> =
            self.rewrite.iter().map(|(field, text)| (field.clone(), filled(text).into())).collect();
        let core = self.tier == Tier::Core;
        let would = (self.staged() != self.action).then_some(self.action.as_str());
        Ok(json!({
            "name": self.name, "version": self.version, "tier": self.tier.name(), "category": self.category,
            "description": self.description, "events": self.events, "when": when, "action": self.staged(),
            "would": would,
            "severity": self.severity.name(), "message": filled(&self.message), "rewrite": rewrite,
            "otherwise": self.otherwise, "at": self.at,
            "fixed": core || !self.overriding.allow_disable,
            "undowngradable": core || !self.overriding.allow_downgrade,
        }))
    }
}

/// Parses the rules of one file. A rule with an error is left out; `variables` are checked if given.
pub fn rules_of(file: &str, text: &str, variables: Option<&Variables>) -> (Vec<Rule>, Vec<Problem>) {
    let mut problems = Problems::new(file, text);
    let mut rules = Vec::new();
    for document in documents(text, &mut problems) {
        let listed = document.entries().and_then(|entries| match entries {
            [(key, list)] if key.text == "rules" => Some(list.items().to_vec()),
            _ => None,
        });
        for one in listed.as_deref().unwrap_or(document.items()) {
            let before = problems.errors();
            let rule = rule_of(one, variables, &mut problems);
            rules.extend(rule.filter(|_| problems.errors() == before));
        }
    }
    if rules.is_empty() && problems.found.is_empty() {
        problems.warning(&(0..0), "this file holds no rule", "");
    }
    (rules, problems.found)
}

struct Reader<'r, 't> {
    entries: &'r [(Key, Located)],
    problems: &'r mut Problems<'t>,
}

fn rule_of(located: &Located, variables: Option<&Variables>, problems: &mut Problems<'_>) -> Option<Rule> {
    let Some(entries) = located.entries() else {
        problems.error(&located.span, "a rule is a map", "begin with `name:`");
        return None;
    };
    for (key, _) in entries.iter().filter(|(key, _)| !KEYS.contains(&key.text.as_str())) {
        problems.unknown(Level::Warning, &key.span, ("key of a rule", &key.text), &KEYS);
    }
    let at = problems.at(&located.span);
    let mut reader = Reader { entries, problems };
    let mut rule = Rule { at, ..Rule::default() };
    rule.name = reader.name(located);
    rule.version = reader.text("version").unwrap_or(rule.version);
    rule.category = reader.word("category", &CATEGORIES, Level::Warning).unwrap_or(rule.category);
    rule.description = reader.text("description").unwrap_or_default();
    rule.why = reader.text("why").unwrap_or_default();
    rule.source = reader.text("source").unwrap_or_default();
    rule.message = reader.text("message").unwrap_or_default();
    rule.action = reader.word("action", &ACTIONS, Level::Error).unwrap_or(rule.action);
    rule.otherwise = reader.word("otherwise", &["block", "ask"], Level::Error).unwrap_or(rule.otherwise);
    let tier = reader.word("tier", &["core", "recommended", "custom"], Level::Warning);
    rule.tier = tier.and_then(|word| Tier::named(&word)).unwrap_or(Tier::Custom);
    let names = Severity::ALL.map(|(_, name)| name);
    let severity = reader.word("severity", &names, Level::Error);
    rule.severity = severity.and_then(|word| Severity::named(&word)).unwrap_or(rule.severity);
    rule.enabled = reader.flag("enabled").unwrap_or(true);
    rule.stage = reader.word("stage", &STAGES, Level::Error).unwrap_or(rule.stage);
    rule.overriding = reader.overriding();
    rule.events = reader.events();
    let before = reader.problems.errors();
    if let Some((_, conditions)) = reader.get("conditions") {
        rule.conditions = conditions_of(conditions, variables, reader.problems);
    }
    if rule.conditions.is_empty() && rule.enabled && reader.problems.errors() == before {
        reader.problems.warning(&located.span.clone(), "this rule has no conditions, so it never fires", "");
    }
    reader.rewrite(&mut rule, located);
    reader.examples(&mut rule);
    variables.into_iter().for_each(|variables| reader.words(variables));
    Some(rule)
}

impl<'r> Reader<'r, '_> {
    fn get(&self, name: &str) -> Option<&'r (Key, Located)> {
        self.entries.iter().find(|(key, _)| key.text == name)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let (_, value) = self.get(name)?;
        let text = value.text();
        if text.is_none() {
            self.problems.error(&value.span, format!("`{name}` is a text"), "");
        }
        text
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        let (_, value) = self.get(name)?;
        match value.value {
            Yaml::Bool(flag) => Some(flag),
            Yaml::Null | Yaml::Number(_) | Yaml::Text(_) | Yaml::List(_) | Yaml::Map(_) => {
                self.problems.error(&value.span, format!("`{name}` is true or false"), "");
                None
            }
        }
    }

    /// A value from a fixed set. Another value is reported at the given level; an error drops the rule.
    fn word(&mut self, name: &str, known: &[&str], level: Level) -> Option<String> {
        let text = self.text(name)?;
        if !known.contains(&text.as_str())
            && let Some((_, value)) = self.get(name)
        {
            self.problems.unknown(level, &value.span, (name, &text), known);
        }
        Some(text)
    }

    /// The name. A rule without one is named after its file.
    fn name(&mut self, located: &Located) -> String {
        let name = self.text("name").or_else(|| self.text("id")).unwrap_or_default();
        if name.trim().is_empty() {
            self.problems.error(&located.span.clone(), "this rule has no name", "add `name:`");
        }
        let plain = |ch: char| ch.is_alphanumeric() || "-_./ ".contains(ch);
        if !name.chars().all(plain) || name.len() > 80 {
            let span = self.get("name").map_or(located.span.clone(), |(_, value)| value.span.clone());
            self.problems.error(&span, "a name has at most 80 characters: alphanumeric, `-`, `_`, `.`, `/`", "");
        }
        name
    }

    fn events(&mut self) -> Vec<String> {
        let Some((key, value)) = self.get("events") else { return Vec::new() };
        let Some(texts) = value.texts() else {
            self.problems.error(&key.span, "`events` is a list of names", "");
            return Vec::new();
        };
        let mut events = Vec::new();
        for (text, span) in texts {
            if !RULE_EVENTS.contains(&text.as_str()) {
                self.problems.unknown(Level::Warning, &span, ("event", &text), &RULE_EVENTS);
            }
            events.push(text);
        }
        if events.is_empty() {
            self.problems.warning(&key.span, "this rule names no event, so it never fires", "");
        }
        events
    }

    fn overriding(&mut self) -> Override {
        let mut overriding = Override { allow_disable: true, allow_downgrade: true };
        let Some((_, value)) = self.get("override") else { return overriding };
        for (key, value) in value.entries().unwrap_or(&[]) {
            let flag = value.value != Yaml::Bool(false);
            match key.text.as_str() {
                "allow_disable" => overriding.allow_disable = flag,
                "allow_downgrade" => overriding.allow_downgrade = flag,
                other => {
                    let known = ["allow_disable", "allow_downgrade"];
                    self.problems.unknown(Level::Warning, &key.span, ("key of `override`", other), &known);
                }
            }
        }
        overriding
    }

    fn rewrite(&mut self, rule: &mut Rule, located: &Located) {
        if let Some((_, value)) = self.get("rewrite") {
            let Some(entries) = value.entries() else {
                self.problems.error(&value.span, "`rewrite` is a map", "rewrite: {command: npm ci}");
                return;
            };
            let known = ["command", "content", "url", "prompt", "file_path"];
            for (key, value) in entries {
                if !known.contains(&key.text.as_str()) {
                    self.problems.unknown(Level::Error, &key.span, ("field to rewrite", &key.text), &known);
                }
                rule.rewrite.push((key.text.clone(), value.text().unwrap_or_default()));
            }
        }
        if (rule.action == "modify") == rule.rewrite.is_empty() {
            let help = "`action: modify` and `rewrite: {command: …}` belong together";
            self.problems.error(&located.span.clone(), "incomplete rewrite", help);
        }
    }

    /// Reports unknown names in messages and rewrites.
    fn words(&mut self, variables: &Variables) {
        let rewrite = self.get("rewrite").and_then(|(_, value)| value.entries()).unwrap_or(&[]);
        let texts = self.get("message").into_iter().chain(rewrite);
        for (_, value) in texts {
            let text = value.text().unwrap_or_default();
            pattern::fill_noting_unknown(&text, variables, &mut |message, help| {
                self.problems.warning(&value.span, message, help)
            });
        }
    }

    fn examples(&mut self, rule: &mut Rule) {
        let examples = self.get("examples").and_then(|(_, value)| value.entries());
        let all = self.entries.iter().chain(examples.unwrap_or(&[]));
        for (key, value) in all {
            let list = match key.text.as_str() {
                "fires" => &mut rule.fires,
                "quiet" => &mut rule.quiet,
                _ => continue,
            };
            list.extend(value.items().iter().map(Located::json));
        }
    }
}
