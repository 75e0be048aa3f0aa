//! Warnings about well-formed rules: rules that can never fire, that another one covers, or that contradict each other,
//! and names in a policy that do not exist.

use crate::condition::{Condition, FieldCondition};
use crate::layer::{Compiled, SourceFile};
use crate::problem::{Level, Problem, nearest};
use crate::rule::Rule;
use crate::rule_engine::core_rules;
use reflex_engine::Tier;
use reflex_tables::compile::encode;
use reflex_tables::views::{LayerTables, UserPolicy};
use reflex_tables::{Field, root};

/// The fields of each event besides the common ones.
const FIELDS: [(&str, &[&str]); 7] = [
    ("bash_command", &["command", "deletes", "tool_input"]),
    ("file_write", &["file_path", "content", "added", "command", "tool_input"]),
    ("file_edit", &["file_path", "content", "added", "command", "tool_input"]),
    ("file_delete", &["file_path", "command", "deletes", "tool_input"]),
    ("prompt_submit", &["prompt", "user_prompt", "tool_input"]),
    ("session_start", &[]),
    ("session_stop", &[]),
];

/// Fields that every event has.
const COMMON: [&str; 8] = ["event", "tool_name", "cwd", "workspace", "agent", "user", "git.branch", "git.dirty"];

/// Reviews the files of one layer. `library` are the ids of the shipped rules.
pub fn review(compiled: &Compiled, files: &[SourceFile], library: &[&str]) -> Vec<Problem> {
    let mut found = Found { files, problems: Vec::new() };
    let enabled: Vec<&Rule> = compiled.rules.iter().filter(|rule| rule.enabled).collect();
    let core = core_rules();
    for (index, rule) in enabled.iter().enumerate() {
        // The package writes its core rules into its users' folders.
        if core.iter().any(|core_rule| core_rule.name == rule.name) {
            let message = format!("the rule `{}` has the name of one that ships and is in force without it", rule.name);
            found.warn(&rule.at, message, "delete it, or rename it");
        }
        if let Some(why) = never(rule) {
            found.warn(&rule.at, format!("the rule `{}` can never fire: {why}", rule.name), "");
            continue;
        }
        covered(rule, index, &enabled, &mut found);
    }
    // A tree that is too large for a blob is reported where it is loaded.
    let blob = encode(&compiled.tree).unwrap_or_default();
    let policy = LayerTables::read(root(&blob)).policy();
    overrides(policy, compiled, library, &mut found);
    allowances(policy, &enabled, &mut found);
    found.problems
}

struct Found<'f> {
    files: &'f [SourceFile],
    problems: Vec<Problem>,
}

impl Found<'_> {
    /// Adds a warning at a place `file:line`.
    fn warn(&mut self, at: &str, message: String, help: &str) {
        let (file, line) = at.rsplit_once(':').unwrap_or((at, "1"));
        let line: usize = line.parse().unwrap_or(1);
        let text = self.files.iter().find(|source| source.name == file).map_or("", |source| source.text.as_str());
        let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        self.problems.push(Problem {
            level: Level::Warning,
            file: file.into(),
            span: start..start + length,
            place: (line, 1),
            message,
            help: help.into(),
        });
    }
}

/// The reason why a rule can never fire.
fn never(rule: &Rule) -> Option<String> {
    let fields: Vec<&FieldCondition> = rule.conditions.iter().filter_map(as_field).collect();
    if let Some(one) = fields.iter().find(|one| !is_raised(one, &rule.events)) {
        return Some(format!("`{}` is empty in {}", one.field, rule.events.join(" and ")));
    }
    if let Some(one) = opposite(&rule.conditions) {
        return Some(format!("`{}` and its opposite", one.shown()));
    }
    let patterns = |field: &str, op: &str| {
        let of = move |one: &&&FieldCondition| one.field == field && one.op == op && !has_template(one);
        fields.iter().filter(of).map(|one| one.pattern.as_slice()).collect::<Vec<_>>()
    };
    for one in fields.iter().filter(|one| !has_template(one)) {
        let opposite = match one.op.strip_prefix("not_") {
            Some(op) => op.to_owned(),
            None => format!("not_{}", one.op),
        };
        if patterns(&one.field, &opposite).iter().any(|pattern| *pattern == one.pattern) {
            return Some(format!("`{} {} {}` and its opposite", one.field, one.op, one.pattern.join(", ")));
        }
        let others = patterns(&one.field, "equals");
        if one.op == "equals" && others.iter().any(|pattern| *pattern != one.pattern) {
            return Some(format!("`{}` cannot equal two texts", one.field));
        }
        if one.op == "in" && one.pattern.is_empty() {
            return Some(format!("`{}` is compared with nothing", one.field));
        }
    }
    None
}

/// Finds a condition that is required both to hold and not to hold.
fn opposite(conditions: &[Condition]) -> Option<&Condition> {
    let wanted = conditions.iter().flat_map(parts);
    let refused = conditions.iter().flat_map(parts).filter_map(|one| match one {
        Condition::Not(inner) => Some(parts(inner)),
        Condition::Field(_) | Condition::Runs(_) | Condition::Effect(..) | Condition::All(_) | Condition::Any(_) => {
            None
        }
    });
    let wanted: Vec<&Condition> = wanted.collect();
    let mut refused = refused.filter(|all| !all.is_empty() && all.iter().all(|one| wanted.contains(one)));
    refused.next()?.first().copied()
}

/// The conditions that must all hold for a condition to hold.
fn parts(condition: &Condition) -> Vec<&Condition> {
    match condition {
        Condition::All(all) => all.iter().flat_map(parts).collect(),
        Condition::Field(_) | Condition::Runs(_) | Condition::Effect(..) | Condition::Any(_) | Condition::Not(_) => {
            vec![condition]
        }
    }
}

fn as_field(condition: &Condition) -> Option<&FieldCondition> {
    match condition {
        Condition::Field(one) => Some(one),
        Condition::Runs(_) | Condition::Effect(..) | Condition::All(_) | Condition::Any(_) | Condition::Not(_) => None,
    }
}

fn has_template(one: &FieldCondition) -> bool {
    one.pattern.iter().any(|pattern| pattern.contains("{{"))
}

/// Whether the condition can hold: false if it requires a value of a field that none of the events has. Unknown and
/// `env.` fields count as present.
fn is_raised(one: &FieldCondition, events: &[String]) -> bool {
    let wants = !one.op.starts_with("not_") && one.pattern.iter().any(|pattern| !pattern.is_empty());
    if one.field.starts_with("env.") {
        return true;
    }
    let first = one.field.split('.').next().unwrap_or("");
    let known = reflex_engine::RULE_FIELDS.iter().any(|field| *field == one.field || *field == first);
    let has = |event: &String| match FIELDS.iter().find(|(name, _)| name == event) {
        Some((_, fields)) => fields.contains(&first) || COMMON.contains(&one.field.as_str()),
        None => true,
    };
    !wants || !known || events.iter().any(has)
}

/// The strictness of a rule's action.
fn weight(rule: &Rule) -> u8 {
    match rule.action.as_str() {
        "log" => 0,
        "warn" => 1,
        "ask" => 2,
        _ => 3,
    }
}

/// Reports a rule if another rule fires on every call on which it fires.
fn covered(rule: &Rule, index: usize, all: &[&Rule], found: &mut Found<'_>) {
    let covers = |other: &Rule| {
        let events =
            rule.events.iter().all(|event| other.events.contains(event) || other.events.iter().any(|one| one == "any"));
        let same = |condition: &Condition| rule.conditions.contains(condition);
        !other.conditions.is_empty() && events && other.conditions.iter().all(same)
    };
    for (at, other) in all.iter().enumerate().filter(|(at, _)| *at != index) {
        if !covers(other) || never(other).is_some() {
            continue;
        }
        let equal = rule.conditions.len() == other.conditions.len() && rule.events.len() == other.events.len();
        if equal && at > index {
            continue;
        }
        let (name, by) = (&rule.name, format!("`{}` at {}", other.name, other.at));
        if equal && weight(other) != weight(rule) {
            let message = format!("the rule `{name}` contradicts {by}: the same calls, another action");
            found.warn(&rule.at, message, "the strictest rule applies");
        } else if weight(other) > weight(rule) {
            let message = format!("the rule `{name}` has no effect: {by} fires on the same and does more");
            found.warn(&rule.at, message, "the strictest rule applies");
        } else if weight(other) == weight(rule) {
            found.warn(&rule.at, format!("the rule `{name}` is covered by {by}"), "");
        } else {
            continue;
        }
        return;
    }
}

/// Reports entries of `rules:` and `disabled_rules` for a rule that does not exist or that they cannot change.
fn overrides(policy: UserPolicy<'_>, compiled: &Compiled, library: &[&str], found: &mut Found<'_>) {
    for (name, entry) in policy.overrides().entries() {
        let bare = ["project/", "user/", "managed/"].iter().find_map(|layer| name.strip_prefix(layer)).unwrap_or(name);
        let known_rule = compiled.rules.iter().find(|rule| rule.name == bare);
        let off = matches!(entry.action(), "off" | "log");
        match known_rule {
            // With a reason, the user may change a core rule.
            Some(rule) if rule.tier == Tier::Core && !entry.reason().trim().is_empty() => {}
            Some(rule) if off && !rule.may_be_disabled() => {
                found.warn(
                    entry.at(),
                    format!("the rule `{name}` may not be switched off"),
                    "its tier or its `override` forbids it",
                );
            }
            Some(_) => {}
            None if library.contains(&name) || name != bare || is_built_in(name) => {}
            None => {
                let known: Vec<&str> =
                    library.iter().copied().chain(compiled.rules.iter().map(|rule| rule.name.as_str())).collect();
                let near = nearest(name, &known).map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
                found.warn(entry.at(), format!("unknown rule `{name}`"), &near);
            }
        }
    }
}

/// Whether the name is of a finding that does not come from a rule of the library.
fn is_built_in(name: &str) -> bool {
    let subjects = ["loop/", "task/", "policy/", "tripwire/"];
    subjects.iter().any(|subject| name.starts_with(subject))
        || matches!(name, "guard/broken-rules" | "guard/ran-anyway")
}

/// Reports allowances without effect, because a rule of the same layer blocks the command.
fn allowances(policy: UserPolicy<'_>, rules: &[&Rule], found: &mut Found<'_>) {
    for entry in policy.allow().iter() {
        let words: Vec<&str> = entry.argv().iter().collect();
        let blocks =
            |rule: &&&Rule| rule.action == "block" && rule.conditions.len() == 1 && blocks(&rule.conditions, &words);
        if let Some(rule) = rules.iter().find(blocks).filter(|_| !words.is_empty()) {
            let message = format!("this allowance has no effect: `{}` at {} blocks it", rule.name, rule.at);
            found.warn(entry.at(), message, "an allowance skips a question or a warning, never a block");
        }
    }
}

fn blocks(conditions: &[Condition], words: &[&str]) -> bool {
    conditions.iter().any(|condition| match condition {
        Condition::Runs(patterns) => patterns.iter().any(|pattern| {
            let wanted: Vec<&str> = pattern.trim_end_matches(" *").split_whitespace().collect();
            wanted.iter().all(|word| !word.contains('*')) && words.starts_with(&wanted)
        }),
        Condition::Field(_) | Condition::Effect(..) | Condition::All(_) | Condition::Any(_) | Condition::Not(_) => {
            false
        }
    })
}
