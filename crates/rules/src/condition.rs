//! The conditions of a rule, and their lowering to the condition language.

use crate::error::ConditionError;
use crate::pattern::{Variables, fill, needs, regex};
use crate::problem;
use crate::problem::{Level, Problems};
use crate::renamed;
use crate::yaml::{Located, Yaml};
use reflex_engine::{EffectKind, RULE_FIELDS};
use serde_json::{Value, json};

/// Every operator of a condition on a field. An operator with `not_` is the negation of the one without.
pub const OPERATORS: [&str; 20] = [
    "matches",
    "not_matches",
    "contains",
    "not_contains",
    "equals",
    "not_equals",
    "starts_with",
    "not_starts_with",
    "ends_with",
    "not_ends_with",
    "regex",
    "not_regex",
    "in",
    "not_in",
    "under_path",
    "not_under_path",
    "greater_than",
    "less_than",
    "at_least",
    "at_most",
];

/// Comparison signs as spellings of the numeric operators.
const SIGNS: [(&str, &str); 4] = [(">", "greater_than"), ("<", "less_than"), (">=", "at_least"), ("<=", "at_most")];

const KEYS: [&str; 13] = [
    "field",
    "op",
    "pattern",
    "value",
    "case_insensitive",
    "any",
    "all",
    "not",
    "matches_command",
    "effect",
    "outside_workspace",
    "in",
    "under_path",
];

/// One condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A comparison of a field with a pattern.
    Field(FieldCondition),
    /// Whether a command of the call, as the shell would run it, fits one of these patterns, such as `git push
    /// --force*`.
    Runs(Vec<String>),
    /// Whether the call has one of these effects; if given, on a target outside or inside the workspace.
    Effect(Vec<String>, Option<bool>),
    /// Holds if all hold.
    All(Vec<Condition>),
    /// Holds if at least one holds.
    Any(Vec<Condition>),
    /// Holds if the condition does not hold.
    Not(Box<Condition>),
}

/// A comparison of a field with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCondition {
    /// The field: `command`, `file_path`, `tool_input.url`, …
    pub field: String,
    /// One of [`OPERATORS`].
    pub op: String,
    /// The pattern; several for `in`, `under_path` and `matches`.
    pub pattern: Vec<String>,
    /// Whether case is ignored.
    pub case_insensitive: bool,
}

impl Condition {
    /// A condition in the form of `@fozikio/reflex`.
    pub fn field(field: &str, op: &str, pattern: &str) -> Condition {
        let pattern = vec![pattern.to_owned()];
        Condition::Field(FieldCondition { field: field.into(), op: op.into(), pattern, case_insensitive: false })
    }

    /// The condition as text: `field op pattern`.
    pub fn shown(&self) -> String {
        match self {
            Condition::Field(one) => format!("{} {} {}", one.field, one.op, one.pattern.join(", ")),
            Condition::Runs(patterns) => format!("matches_command {}", patterns.join(", ")),
            Condition::Effect(effects, _) => format!("effect {}", effects.join(", ")),
            Condition::All(all) => format!("all of {}", all.len()),
            Condition::Any(any) => format!("any of {}", any.len()),
            Condition::Not(not) => format!("not {}", not.shown()),
        }
    }

    /// Lowers the condition to the condition language.
    ///
    /// # Errors
    /// A variable is not set, or a regular expression is invalid.
    pub fn lower(&self, variables: &Variables) -> Result<Value, ConditionError> {
        let each = |all: &[Condition]| all.iter().map(|one| one.lower(variables)).collect::<Result<Vec<Value>, _>>();
        Ok(match self {
            Condition::Field(one) => one.lower(variables)?,
            Condition::Runs(patterns) => {
                let joined = |values: &[String]| values.join(" ");
                let filled = patterns.iter().map(|one| fill(one, variables, &joined).map(|(text, _)| text));
                json!({"runs": filled.collect::<Result<Vec<String>, _>>()?})
            }
            Condition::Effect(effects, outside) => {
                let mut inner = serde_json::Map::new();
                if !effects.is_empty() {
                    inner.insert("effect".into(), json!(effects));
                }
                if let Some(outside) = outside {
                    let places: &[&str] = match outside {
                        true => &["outside", "other-home", "home", "root"],
                        false => &["inside", "workspace"],
                    };
                    inner.insert("target".into(), json!({"is": places}));
                }
                json!({"also": inner})
            }
            Condition::All(all) => json!({"all": each(all)?}),
            Condition::Any(any) => json!({"any": each(any)?}),
            Condition::Not(not) => json!({"not": not.lower(variables)?}),
        })
    }
}

impl FieldCondition {
    fn lower(&self, variables: &Variables) -> Result<Value, ConditionError> {
        let (op, negated) = match self.op.strip_prefix("not_") {
            Some(op) => (op, true),
            None => (self.op.as_str(), false),
        };
        let mut template = false;
        let mut filled = |how: &dyn Fn(&[String]) -> String| {
            let all = self.pattern.iter().map(|one| fill(one, variables, how));
            let all = all.collect::<Result<Vec<(String, bool)>, ConditionError>>()?;
            template = all.iter().any(|(_, template)| *template);
            Ok::<_, ConditionError>(all.into_iter().map(|(text, _)| text).collect::<Vec<String>>())
        };
        let mut needed = Vec::new();
        let value: Value = match op {
            "matches" => {
                let entries = filled(&|values| values.join(","))?;
                let parts = entries.iter().flat_map(|entry| entry.split(',')).map(str::trim);
                let parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(|part| self.in_case(part)).collect();
                json!(parts)
            }
            "in" | "under_path" => {
                let entries = filled(&|values| values.join(","))?;
                let of_variable = |entry: &String| entry.split(',').map(|part| part.trim().to_owned()).collect();
                let split = self.pattern.iter().map(|one| one.starts_with("{{") && one.ends_with("}}"));
                let parts: Vec<Vec<String>> = entries
                    .iter()
                    .zip(split)
                    .map(|(entry, split)| if split { of_variable(entry) } else { vec![entry.clone()] })
                    .collect();
                json!(parts.concat().iter().map(|part| self.in_case(part)).collect::<Vec<_>>())
            }
            "regex" => {
                let one_of = |values: &[String]| {
                    let all: Vec<String> = values.iter().map(|value| regex_lite::escape(value)).collect();
                    format!("(?:{})", all.join("|"))
                };
                let pattern = filled(&one_of)?.join("|");
                if !template {
                    regex(&pattern, self.case_insensitive)?;
                    needed = needs(&pattern, self.case_insensitive);
                }
                json!(pattern)
            }
            _ => json!(self.in_case(&filled(&|values| values.join(", "))?.join(", "))),
        };
        let mut node = json!({"name": self.field, "op": op, "value": value});
        let mut put = |key: &str, value: Value| drop(node.as_object_mut().map(|map| map.insert(key.into(), value)));
        for (key, flag) in [("not", negated), ("fold", self.case_insensitive), ("template", template)] {
            if flag {
                put(key, true.into());
            }
        }
        if !needed.is_empty() {
            put("needs", json!(needed));
        }
        Ok(json!({"field": node}))
    }

    fn in_case(&self, text: &str) -> String {
        if self.case_insensitive { text.to_lowercase() } else { text.to_owned() }
    }
}

/// Parses a list of conditions. An invalid condition is reported and makes the rule invalid.
pub(crate) fn conditions_of(
    located: &Located,
    variables: Option<&Variables>,
    into: &mut Problems<'_>,
) -> Vec<Condition> {
    located.items().iter().filter_map(|one| condition_of(one, variables, into)).collect()
}

fn condition_of(located: &Located, variables: Option<&Variables>, into: &mut Problems<'_>) -> Option<Condition> {
    let Some(entries) = located.entries() else {
        let help = "write {field: command, op: contains, pattern: …}";
        into.error(&located.span, "a condition is a map", help);
        return None;
    };
    for (key, _) in entries.iter().filter(|(key, _)| !KEYS.contains(&key.text.as_str())) {
        into.unknown(Level::Error, &key.span, ("key of a condition", &key.text), &KEYS);
    }
    let get = |name: &str| entries.iter().find(|(key, _)| key.text == name).map(|(_, value)| value);
    let before = into.errors();
    let mut all = Vec::new();
    if let Some(any) = get("any") {
        all.push(Condition::Any(group("any", any, variables, into)));
    }
    if let Some(inner) = get("all") {
        all.push(Condition::All(group("all", inner, variables, into)));
    }
    if let Some(not) = get("not") {
        let inner = group("not", not, variables, into);
        all.push(Condition::Not(Box::new(Condition::All(inner))));
    }
    if let Some(patterns) = get("matches_command") {
        all.push(Condition::Runs(commands(patterns, into)));
    }
    if get("effect").is_some() || get("outside_workspace").is_some() {
        all.push(effect(get("effect"), get("outside_workspace"), into));
    }
    if let Some(field) = get("field") {
        all.extend(field_condition(located, field, into));
    }
    if into.errors() > before {
        return None;
    }
    if all.is_empty() {
        into.error(&located.span, "this condition is empty", "write `field`, `op` and `pattern`");
        return None;
    }
    let condition = if all.len() == 1 { all.pop()? } else { Condition::All(all) };
    if let Some(variables) = variables
        && let Err(error) = condition.lower(variables)
    {
        let at = get("pattern").or(get("value")).unwrap_or(located);
        into.error(&at.span, error.to_string(), error.help());
        return None;
    }
    Some(condition)
}

/// Parses the members of `any`, `all` or `not`. An empty group is an error: it would hold always or never.
fn group(name: &str, located: &Located, variables: Option<&Variables>, into: &mut Problems<'_>) -> Vec<Condition> {
    if located.items().is_empty() {
        into.error(&located.span, format!("`{name}` is empty"), "write its conditions as a list below it");
    }
    conditions_of(located, variables, into)
}

/// Parses the patterns of `matches_command`.
fn commands(located: &Located, into: &mut Problems<'_>) -> Vec<String> {
    let patterns = texts(located, into);
    if patterns.is_empty() || patterns.iter().any(|pattern| pattern.trim().is_empty()) {
        into.error(&located.span, "`matches_command` is empty", "begin with the program: git push --force*");
    }
    patterns
}

fn field_condition(located: &Located, field: &Located, into: &mut Problems<'_>) -> Option<Condition> {
    let entries = located.entries()?;
    let get = |name: &str| entries.iter().find(|(key, _)| key.text == name).map(|(_, value)| value);
    let name = field.text().unwrap_or_default();
    let reaches = name.contains('.') || RULE_FIELDS.contains(&name.as_str());
    if !reaches {
        // A warning only: events of other callers may have other fields.
        into.unknown(Level::Warning, &field.span, ("field", &name), &RULE_FIELDS);
    }
    let short = ["in", "under_path"].into_iter().find_map(|op| get(op).map(|value| (op, value)));
    let (op, pattern) = match (get("op"), short) {
        (Some(op), _) => {
            let written = op.text().unwrap_or_default();
            let named = SIGNS.iter().find(|(sign, _)| *sign == written).map_or(written.as_str(), |(_, name)| name);
            if !OPERATORS.contains(&named) {
                into.unknown(Level::Error, &op.span, ("operator", &written), &OPERATORS);
                return None;
            }
            (named.to_owned(), get("pattern").or(get("value")))
        }
        (None, Some((op, value))) => (op.to_owned(), Some(value)),
        (None, None) => {
            into.error(&field.span, "this condition has no operator", "add `op:`");
            return None;
        }
    };
    let Some(pattern) = pattern else {
        into.error(&field.span, "this condition has no pattern", "add `pattern:`");
        return None;
    };
    let fold = get("case_insensitive").is_some_and(|flag| flag.value == Yaml::Bool(true));
    let pattern = texts(pattern, into);
    Some(Condition::Field(FieldCondition { field: name, op, pattern, case_insensitive: fold }))
}

fn effect(effects: Option<&Located>, outside: Option<&Located>, into: &mut Problems<'_>) -> Condition {
    let known: Vec<&str> = EffectKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut named = Vec::new();
    for (text, span) in effects.and_then(Located::texts).unwrap_or_default() {
        if known.contains(&text.as_str()) {
            named.push(text);
        } else if let Some(new) = renamed::renamed(&renamed::EFFECTS, &text) {
            into.warning(&span, renamed::note(&text, new), format!("write `{new}`"));
            named.push(new.to_owned());
        } else {
            into.unknown(Level::Error, &span, ("effect", &text), &known);
        }
    }
    let outside = outside.and_then(|flag| match flag.value {
        Yaml::Bool(flag) => Some(flag),
        Yaml::Null | Yaml::Number(_) | Yaml::Text(_) | Yaml::List(_) | Yaml::Map(_) => {
            into.error(&flag.span, "`outside_workspace` is true or false", "");
            None
        }
    });
    if let Some(effects) = effects.filter(|effects| effects.items().is_empty()) {
        into.error(&effects.span, "`effect` is empty", "effect: delete");
    }
    Condition::Effect(named, outside)
}

fn texts(located: &Located, into: &mut Problems<'_>) -> Vec<String> {
    let Some(texts) = located.texts() else {
        into.error(&located.span, "this is neither a text nor a list of texts", "");
        return Vec::new();
    };
    texts.into_iter().map(|(text, _)| text).collect()
}

/// Checks an operator given in code.
pub(crate) fn is_operator(word: &str) -> Result<(), ConditionError> {
    match OPERATORS.contains(&word) {
        true => Ok(()),
        false => {
            let nearest = problem::nearest(word, &OPERATORS);
            Err(ConditionError::UnknownOperator { word: word.into(), nearest })
        }
    }
}
