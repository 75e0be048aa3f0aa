//! Rules as JSON objects, in the form of `@fozikio/reflex` with our extensions.

use crate::error::Error;
use reflex_rules::{Condition, Rule, rules_of};
use serde_json::{Map, Value, json};

/// File name in the problems of a rule without a name.
const NAME_OF_SOURCE: &str = "rule";

/// Parses a rule. Its JSON is also YAML, so the same parser reads it, with the same checks.
pub(crate) fn from_json(value: &Value) -> Result<Rule, Error> {
    let name = value.get("name").and_then(Value::as_str).unwrap_or(NAME_OF_SOURCE);
    let (rules, problems) = rules_of(name, &value.to_string(), None);
    match <[Rule; 1]>::try_from(rules) {
        Ok([rule]) => Ok(rule),
        Err(_) if problems.is_empty() => Err(Error::rule("a rule must be an object".into())),
        Err(_) => Err(Error::problems(&problems)),
    }
}

/// Returns the rule as an object that [`from_json`] reads back.
pub(crate) fn to_json(rule: &Rule) -> Value {
    let version = rule.version.parse::<u64>().map_or_else(|_| json!(rule.version), |number| json!(number));
    let mut map = json!({
        "name": rule.name, "version": version, "tier": rule.tier.name(), "category": rule.category,
        "description": rule.description, "events": rule.events,
        "conditions": rule.conditions.iter().map(condition).collect::<Vec<Value>>(),
        "action": rule.action, "severity": rule.severity.name(), "message": rule.message,
        "override": {
            "allow_disable": rule.overriding.allow_disable, "allow_downgrade": rule.overriding.allow_downgrade,
        },
        "enabled": rule.enabled,
    });
    let default = Rule::default();
    if let Some(map) = map.as_object_mut() {
        if rule.stage != default.stage {
            map.insert("stage".into(), json!(rule.stage));
        }
        if rule.action == "modify" {
            let rewrite: Map<String, Value> = rule.rewrite.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
            map.insert("rewrite".into(), Value::Object(rewrite));
            map.insert("otherwise".into(), json!(rule.otherwise));
        }
    }
    map
}

fn condition(one: &Condition) -> Value {
    let each = |all: &[Condition]| all.iter().map(condition).collect::<Vec<Value>>();
    match one {
        Condition::Field(field) => {
            let pattern = match field.pattern.as_slice() {
                [only] => json!(only),
                several => json!(several),
            };
            let mut map = json!({"field": field.field, "op": field.op, "pattern": pattern});
            if let Some(map) = map.as_object_mut().filter(|_| field.case_insensitive) {
                map.insert("case_insensitive".into(), json!(true));
            }
            map
        }
        Condition::Runs(patterns) => json!({"matches_command": patterns}),
        Condition::Effect(effects, outside) => {
            let mut map = json!({"effect": effects});
            if let Some((map, outside)) = map.as_object_mut().zip(*outside) {
                map.insert("outside_workspace".into(), json!(outside));
            }
            map
        }
        Condition::All(all) => json!({"all": each(all)}),
        Condition::Any(any) => json!({"any": each(any)}),
        Condition::Not(inner) => json!({"not": condition(inner)}),
    }
}
