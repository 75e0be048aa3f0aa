//! The layer whose value counts for each policy key, and the reasons why another layer's does not.

use super::overview::Opened;
use crate::system::clock::{moment, now};
use reflex_engine::{Authority, PolicyAction, Severity, action_of};
use reflex_tables::views::Policy as Preset;
use serde_json::Value;

/// Keys without effect in a layer that may only tighten.
const LOOSENING: [&str; 4] = ["allow", "allowedCommands", "allowed_roots", "disabled_rules"];

const ONLY_TIGHTENS: &str = "does not count: this layer only tightens";

/// The status of each key of each layer, in their order. `usual` is the policy in force if no file names one.
pub fn standing(layers: &[Opened], usual: &str) -> Vec<Vec<String>> {
    let of = |layer: &Opened| {
        let each = layer.origins().iter().map(|(key, _, value)| of_key(layers, layer, (key, value), usual));
        each.map(|lost| lost.unwrap_or_else(|| "in force".into())).collect()
    };
    layers.iter().map(of).collect()
}

/// The name of the strictest preset that counts, or `usual`.
pub fn preset_in_force(layers: &[Opened], usual: &str) -> String {
    let counts = |layer: &&Opened| of_preset(layers, layer, usual).is_none();
    let named = layers.iter().filter(counts).find_map(|layer| value_of(layer, "preset"));
    named.and_then(Value::as_str).unwrap_or(usual).to_owned()
}

/// The reason why a key has no effect; `None` if it is in force.
fn of_key(layers: &[Opened], layer: &Opened, (key, value): (&str, &Value), usual: &str) -> Option<String> {
    let tight = !layer.loaded.layer.loosens.holds();
    if let Some(over) = over(value) {
        return Some(over);
    }
    if key == "preset" {
        return of_preset(layers, layer, usual);
    }
    if let Some(rule) = key.strip_prefix("rules.") {
        return of_rule(layers, layer, (rule, value), usual);
    }
    if key.starts_with("variables.") {
        let other = others(layers, layer).find(|other| value_of(other, key).is_some_and(|set| set != value))?;
        return Some(format!("for the rules of this layer; the {} has another", authority_name(other)));
    }
    if key == "rule_dirs" && layer.loaded.layer.authority == Authority::Project {
        return Some("does not count: a project names no further folders".into());
    }
    (tight && LOOSENING.contains(&key)).then(|| ONLY_TIGHTENS.into())
}

/// Reports an entry, or entries of a list, whose `until` date has passed.
fn over(value: &Value) -> Option<String> {
    const DAY: u64 = 86_400_000;
    let is_over = |entry: &Value| {
        let last = entry.get("until").and_then(Value::as_str).and_then(moment);
        last.is_some_and(|last| last + DAY <= now())
    };
    if is_over(value) {
        return Some("does not count: its `until` is over".into());
    }
    let entries = value.as_array()?;
    match entries.iter().filter(|entry| is_over(entry)).count() {
        0 => None,
        expired => Some(format!("{expired} of {} entries no longer count: `until` is over", entries.len())),
    }
}

fn of_preset(layers: &[Opened], layer: &Opened, usual: &str) -> Option<String> {
    let current = value_of(layer, "preset")?.as_str()?;
    let stricter = others(layers, layer).find_map(|other| {
        let name = value_of(other, "preset")?.as_str()?;
        is_stricter(name, current).then(|| lost_to(other, name))
    });
    let asks_less = !layer.loaded.layer.loosens.holds() && is_stricter(usual, current);
    stricter.or_else(|| asks_less.then(|| ONLY_TIGHTENS.into()))
}

/// Whether a preset is at least as strict as another for every severity, and stricter for one.
fn is_stricter(one: &str, other: &str) -> bool {
    let policy = |name| reflex_library::tables().library().policies().get(name);
    let (one, other) = (policy(one), policy(other));
    let severities = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];
    let more = severities.iter().map(|at| action_of(one, *at).cmp(&action_of(other, *at)));
    let rest = [(one.asks().len(), other.asks().len()), (denies(one), denies(other))];
    let more: Vec<std::cmp::Ordering> = more.chain(rest.map(|(one, other)| one.cmp(&other))).collect();
    more.iter().all(|order| order.is_ge()) && more.iter().any(|order| order.is_gt())
}

fn denies(policy: Preset<'_>) -> usize {
    usize::from(policy.ask() == "deny")
}

fn of_rule(layers: &[Opened], layer: &Opened, (rule, value): (&str, &Value), usual: &str) -> Option<String> {
    let current = worth(value)?;
    let stricter = others(layers, layer).find_map(|other| {
        let set = worth(value_of(other, &format!("rules.{rule}"))?)?;
        (set > current).then(|| lost_to(other, set.name()))
    });
    if stricter.is_some() {
        return stricter;
    }
    let (base, is_core) = weighs(layers, rule, usual)?;
    let reason = value.get("reason").and_then(Value::as_str).unwrap_or("");
    match () {
        () if current >= base => None,
        () if !layer.loaded.layer.loosens.holds() => Some(ONLY_TIGHTENS.into()),
        () if is_core && layer.loaded.layer.authority == Authority::Project => {
            Some("does not count: a core rule".into())
        }
        () if is_core && reason.trim().is_empty() => {
            Some("does not count: a core rule is lowered with a `reason`".into())
        }
        () => None,
    }
}

/// The default action of a rule, and whether it is a core rule.
fn weighs(layers: &[Opened], id: &str, usual: &str) -> Option<(PolicyAction, bool)> {
    let tables = reflex_library::tables();
    if let Some(rule) = tables.library().rules().find(id) {
        let policy = tables.library().policies().get(&preset_in_force(layers, usual));
        return Some((action_of(policy, Severity::named(rule.severity())?)?, rule.tier() == "core"));
    }
    let is_it = |layer: &Opened, name: &str| name == id || format!("{}/{name}", authority_name(layer)) == id;
    let mut named = layers.iter().flat_map(|layer| layer.compiled.rules.iter().filter(|rule| is_it(layer, &rule.name)));
    named.next().map(|rule| {
        (PolicyAction::named(rule.staged()).unwrap_or(PolicyAction::Deny), rule.tier == reflex_engine::Tier::Core)
    })
}

/// The action of an entry: `warn`, or `{action: warn, …}`.
fn worth(value: &Value) -> Option<PolicyAction> {
    let word = ["action", "do", "decision"].iter().find_map(|key| value.get(key)).unwrap_or(value);
    PolicyAction::named(word.as_str()?)
}

fn others<'l>(layers: &'l [Opened], layer: &'l Opened) -> impl Iterator<Item = &'l Opened> {
    layers.iter().filter(move |other| !std::ptr::eq(*other, layer))
}

fn value_of<'l>(layer: &'l Opened, key: &str) -> Option<&'l Value> {
    layer.origins().iter().find(|(name, ..)| name == key).map(|(.., value)| value)
}

fn authority_name(layer: &Opened) -> &'static str {
    layer.loaded.layer.authority.name()
}

fn lost_to(other: &Opened, word: &str) -> String {
    format!("the {}'s `{word}` is stricter", authority_name(other))
}
