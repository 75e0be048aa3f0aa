//! JSON Schemas of rule files and policies, for editors.

use crate::condition::OPERATORS;
use crate::policy::KEYS as POLICY_KEYS;
use crate::policy::asking::{FORMATS, UNATTENDED};
use crate::policy::duties::BUDGETS;
use crate::policy::judging::PROVIDERS;
use crate::policy::watch::FULL;
use crate::rule::KEYS as RULE_KEYS;
use reflex_engine::{EffectKind, RULE_EVENTS, RULE_FIELDS, Severity};
use serde_json::{Map, Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a rule file's documents.
pub fn rule() -> Value {
    let severities = Severity::ALL.map(|(_, name)| name);
    let known = json!({
        "name": {"type": "string", "maxLength": 80}, "id": {"type": "string"}, "version": {"type": ["number", "string"]},
        "tier": {"enum": ["core", "recommended", "custom"]}, "category": {"type": "string"},
        "description": {"type": "string"}, "why": {"type": "string"}, "source": {"type": "string", "format": "uri"},
        "message": {"type": "string"}, "enabled": {"type": "boolean"},
        "stage": {"enum": ["observe", "warn", "enforce"]},
        "events": texts(&json!({"enum": RULE_EVENTS})),
        "conditions": {"type": "array", "items": {"$ref": "#/$defs/condition"}},
        "action": {"enum": ["block", "ask", "warn", "log", "modify"]}, "severity": {"enum": severities},
        "override": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "rewrite": {"type": "object", "additionalProperties": {"type": "string"}},
        "otherwise": {"enum": ["block", "ask"]},
        "examples": {"type": "object", "properties": {"fires": {"type": "array"}, "quiet": {"type": "array"}}},
        "fires": {"type": "array"}, "quiet": {"type": "array"},
    });
    let rule = json!({
        "type": "object", "required": ["name", "events", "conditions"], "properties": only(&known, &RULE_KEYS),
    });
    json!({
        "$schema": DRAFT, "title": "A rule of Reflex",
        "anyOf": [{"$ref": "#/$defs/rule"}, {"type": "array", "items": {"$ref": "#/$defs/rule"}}],
        "$defs": {"rule": rule, "condition": condition()},
    })
}

fn condition() -> Value {
    let effects: Vec<&str> = EffectKind::ALL.iter().map(|kind| kind.name()).collect();
    let nested = json!({"type": "array", "items": {"$ref": "#/$defs/condition"}});
    let one = json!({"$ref": "#/$defs/condition"});
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "field": {"anyOf": [{"enum": RULE_FIELDS}, {"type": "string"}]}, "op": {"enum": OPERATORS},
            "pattern": {}, "value": {}, "in": {"type": "array"}, "under_path": texts(&json!({"type": "string"})),
            "case_insensitive": {"type": "boolean"}, "any": nested, "all": nested,
            "not": {"anyOf": [one, nested]}, "matches_command": texts(&json!({"type": "string"})),
            "effect": texts(&json!({"enum": effects})), "outside_workspace": {"type": "boolean"},
        },
    })
}

/// The schema of a policy.
pub fn policy() -> Value {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let worth = json!({"enum": ["off", "log", "warn", "ask", "block", false]});
    let reasoned = json!({
        "type": "object", "required": ["action"],
        "properties": {"action": worth, "reason": {"type": "string"}, "until": {"type": "string"}},
    });
    let known = json!({
        "version": {}, "preset": {"type": "string"}, "reason": {"type": "string"}, "allowedCommands": list,
        "protectedPaths": list, "approvalRequiredPaths": list, "allowed_roots": list, "rule_dirs": list,
        "disabled_rules": list, "installs": worth, "variables": {"type": "object"},
        "roles": {"type": "object", "additionalProperties": {
            "type": "object", "additionalProperties": false,
            "properties": {"scope": list, "protectedPaths": list, "mode": {"type": "string"}},
        }},
        "extends": texts(&json!({"anyOf": [{"type": "string"}, {
            "type": "object", "additionalProperties": false,
            "properties": {
                "path": {"type": "string"}, "git": {"type": "string"}, "digest": {"type": "string"},
            },
        }]})),
        "verify": {"type": "object", "additionalProperties": false, "properties": {
            "acceptance": {"type": "string"},
            "run": {"type": "array", "items": {"anyOf": [{"type": "string"}, {
                "type": "object", "required": ["command"], "additionalProperties": false,
                "properties": {"name": {"type": "string"}, "command": {"type": "string"}, "timeout": {"type": ["string", "number"]}},
            }]}},
        }},
        "budgets": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}, "propertyNames": {"enum": BUDGETS}},
        "ask": {"type": "object", "additionalProperties": false, "properties": {
            "wait": {"type": ["string", "number"]}, "unattended": {"enum": UNATTENDED},
        }},
        "notify": {"type": "object", "additionalProperties": false, "properties": {
            "desktop": {"type": "boolean"}, "command": {"type": "string"},
            "webhook": {"anyOf": [{"type": "string"}, {
                "type": "object", "required": ["url"], "additionalProperties": false,
                "properties": {"url": {"type": "string"}, "as": {"enum": FORMATS}},
            }]},
        }},
        "watch": {"type": "object", "additionalProperties": false, "properties": {"full": {"enum": FULL}}},
        "judge": {"type": "object", "required": ["provider"], "additionalProperties": false, "properties": {
            "provider": {"enum": PROVIDERS}, "model": {"type": "string"}, "url": {"type": "string"},
            "key_file": {"type": "string"}, "command": {"type": "string"}, "timeout": {"type": ["string", "number"]},
        }},
        "rules": {"type": "object", "additionalProperties": {"anyOf": [worth, reasoned]}},
        "allow": {"type": "array", "items": {"anyOf": [{"type": "string"}, {
            "type": "object", "additionalProperties": false,
            "properties": {
                "command": {"type": "string"}, "argv": list, "glob": {"type": "string"}, "in": {"type": "string"},
                "path": texts(&json!({"type": "string"})), "rule": texts(&json!({"type": "string"})),
                "reason": {"type": "string"}, "until": {"type": "string"},
            },
        }]}},
    });
    json!({
        "$schema": DRAFT, "title": "A policy of Reflex", "type": "object", "additionalProperties": false,
        "properties": only(&known, &POLICY_KEYS),
    })
}

/// A value, or a list of such values.
fn texts(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}

/// The properties restricted to the keys that the parser knows.
fn only(properties: &Value, keys: &[&str]) -> Value {
    let one = |key: &&str| ((*key).to_owned(), properties.get(*key).cloned().unwrap_or_else(|| json!({})));
    Value::Object(keys.iter().map(one).collect::<Map<String, Value>>())
}
