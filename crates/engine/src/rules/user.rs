//! Detector for rules that people write: compares the events of a call with the rules on them.

use crate::facts::cache::{Facts, Source};
use crate::facts::excerpt;
use crate::facts::location;
use crate::model::event::Action;
use crate::model::finding::{At, Decision, DetectorName, Finding, PolicyAction, Rewrite, Severity, Tier};
use crate::model::truth::Ternary;
use crate::policy::{Authority, Layer, Policy};
use crate::rules::condition::{Subject, evaluate};
use crate::rules::field::fill;
use crate::rules::rule_event::{self, FieldValue, RuleEvent};
use crate::secrets::redaction::redacted;
use crate::text::excerpt::quoted_from_stranger;
use reflex_shell::Span;
use reflex_tables::views::UserRule;
use reflex_tables::{Field, List, View, root};

/// Maximum number of characters of a message, and of each word that it contains.
const MAX_MESSAGE: usize = 500;
const MAX_WORD: usize = 80;

/// Returns the findings of the rules of all layers. A rule fires at most once per call.
pub(crate) fn inspect(policy: &Policy, facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if policy.layers().is_empty() {
        return findings;
    }
    let raised = rule_event::rule_events(facts.event, facts.analysis, facts);
    for (number, layer) in policy.layers().iter().enumerate() {
        let source = Source::Layer(number);
        let triggers = layer.tables.triggers();
        let mut fired: Vec<u32> = Vec::new();
        for one in raised.iter().filter(|_| !triggers.is_empty()) {
            for rule in one.events.iter().flat_map(|event| triggers.get(event).iter()) {
                if !fired.contains(&rule.node().record()) && holds(rule, source, one, facts) {
                    fired.push(rule.node().record());
                    findings.push(finding(layer, rule, one, facts));
                }
            }
        }
        findings.extend(protected(layer, source, facts));
    }
    findings
}

/// Whether a rule's conditions hold for an event. A rule without conditions never fires.
pub(crate) fn holds(rule: UserRule<'_>, source: Source, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> bool {
    let when = rule.when();
    !when.is_empty() && evaluate(when, Subject::raised(source, raised), facts) == Ternary::Yes
}

fn finding(layer: &Layer, rule: UserRule<'static>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Finding {
    let worth = PolicyAction::named(rule.action());
    let rewrite = rewrite(rule, raised, facts);
    let mut message = message(rule, raised, facts);
    // A rewrite of an unaccepted project would inject the repository's text into a call.
    let rewrite = rewrite.filter(|_| layer.authority > Authority::Project || layer.loosens.holds());
    let rewrite = rewrite.filter(|_| rule.would().is_none());
    if message.is_empty() {
        message = format!("The rule {} forbids it.", rule.name());
    }
    if !message.ends_with(['.', '!', '?', '…']) {
        message.push('.');
    }
    let of_command = rewrite.as_ref().and_then(|rewrite| rewrite.fields.iter().find(|(field, _)| field == "command"));
    let remedy = of_command
        .map(|(_, command)| format!("Run `{}` instead.", redacted(command, facts.tables)))
        .unwrap_or_default();
    let otherwise = if rule.otherwise() == "ask" { PolicyAction::Ask } else { PolicyAction::Deny };
    let by_stranger = layer.is_strange();
    let (message, remedy, category) = if by_stranger {
        (theirs(layer, rule.name(), &message), String::new(), "policy")
    } else {
        (message, remedy, rule.category())
    };
    Finding {
        id: format!("{}/{}", layer.authority.name(), rule.name()),
        detector: DetectorName::Rules,
        category: category.into(),
        severity: Severity::named(rule.severity()).unwrap_or(Severity::Medium),
        confidence: 100,
        tier: Tier::named(rule.tier()).unwrap_or(Tier::Custom),
        fixed: Some(worth.unwrap_or(otherwise)),
        would: rule.would().map(|action| PolicyAction::named(action).unwrap_or(otherwise)),
        message,
        remedy,
        command: excerpt::action_part(facts, raised.action.unwrap_or(0)),
        rewrite,
        by_stranger,
        otherwise: Decision::Deny,
        at: at(raised, facts),
        action: raised.action,
        effect: raised.effect,
        ..Finding::default()
    }
}

/// Message of an unreviewed rule, with its name. Both are text of the repository and are quoted as such.
fn theirs(layer: &Layer, rule: &str, message: &str) -> String {
    quoted_from_stranger("A rule", &layer.folder, &format!("{rule}: {message}"))
}

/// The rule's message with its `{{words}}` filled in, truncated and redacted.
pub(crate) fn message(rule: UserRule<'_>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> String {
    // Environment variables can be compared but are never shown, because they may contain secrets of any form.
    let word = |name: &str| match raised.field(name, facts) {
        FieldValue::Text(text) if !text.is_empty() && !name.starts_with("env.") => {
            Some(cut(&redacted(&text, facts.tables), MAX_WORD))
        }
        FieldValue::Text(_) | FieldValue::Unknown if name == "allowed_roots" => {
            Some(cut(&facts.call.roots().join(", "), MAX_WORD))
        }
        FieldValue::Text(_) | FieldValue::Unknown => None,
    };
    cut(fill(rule.message(), &word).trim(), MAX_MESSAGE)
}

/// The call with which the rule replaces this one, or `None` if one of its words is unknown.
fn rewrite(rule: UserRule<'static>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Rewrite> {
    let template = rule.rewrite();
    if template.is_empty() {
        return None;
    }
    let word = |name: &str| match raised.field(name, facts) {
        FieldValue::Text(text) if !name.starts_with("env.") => Some(text),
        FieldValue::Text(_) | FieldValue::Unknown => None,
    };
    let fields: Vec<(String, String)> =
        template.entries().map(|(field, text)| (field.to_owned(), fill(text, &word))).collect();
    fields.iter().all(|(_, text)| !text.contains("{{")).then_some(Rewrite { fields })
}

/// Findings for `protectedPaths` and `approvalRequiredPaths` of a layer's policy, which are rules over effects.
fn protected(layer: &Layer, source: Source, facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in layer.tables.paths().iter() {
        if rule.role().is_some_and(|role| facts.event.role.as_deref() != Some(role)) {
            continue;
        }
        for (index, effect) in facts.analysis.effects.iter().enumerate() {
            if !rule.on().iter().any(|name| name == effect.kind.name()) {
                continue;
            }
            if evaluate(rule.when(), Subject::effect(source, effect), facts) != Ternary::Yes {
                continue;
            }
            let shown: Vec<String> =
                effect.targets.iter().take(4).map(|target| redacted(&target.shown(), facts.tables)).collect();
            let message = rule.message().replace("{targets}", &shown.join(", "));
            let by_stranger = layer.is_strange();
            findings.push(Finding {
                id: format!("{}/{}", layer.authority.name(), rule.name()),
                detector: DetectorName::Rules,
                category: "policy".into(),
                severity: Severity::High,
                confidence: 100,
                tier: Tier::Custom,
                fixed: PolicyAction::named(rule.action()),
                message: if by_stranger { theirs(layer, rule.name(), &message) } else { message },
                by_stranger,
                command: excerpt::guilty_part(effect, facts),
                otherwise: Decision::Deny,
                at: location::at(effect, facts),
                action: Some(effect.action),
                effect: Some(index),
                ..Finding::default()
            });
        }
    }
    findings
}

fn at(raised: &RuleEvent<'_>, facts: &Facts<'_>) -> At {
    let action = raised.action.and_then(|index| facts.event.actions.get(index));
    let (within, text): (&str, &str) = match action {
        Some(Action::Shell { command, .. }) => ("command", command),
        Some(Action::Write { content, .. } | Action::Edit { content, .. }) => ("content", content),
        Some(Action::Prompt { text }) => ("prompt", text),
        Some(Action::Fetch { url }) => ("arg:url", url),
        Some(Action::McpCall { arguments, .. } | Action::Other { arguments }) => ("arg:tool_input", arguments),
        Some(Action::Read { path } | Action::Delete { path } | Action::Search { path, .. }) => {
            ("arg:file_path", &path.text)
        }
        Some(Action::SpawnAgent { prompt }) => ("prompt", prompt),
        Some(Action::Skill { name }) => ("arg:skill", name),
        Some(Action::Input { text }) => ("content", text),
        None => ("output", ""),
    };
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    At { within: within.into(), span: Span { start: 0, end }, derived: Vec::new() }
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.into();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

/// A rule that fired, for callers that evaluate rules without a call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The rule's message, filled in.
    pub message: String,
    /// Number of its conditions. A rule only fires if all of them hold.
    pub conditions: usize,
}

/// Compiled rules in their order.
#[derive(Debug, Clone, Copy)]
pub struct RuleList<'b>(List<'b, UserRule<'b>>);

impl<'b> RuleList<'b> {
    /// Reads the rules from a blob. The list is empty if the bytes are not a blob of this version.
    pub fn new(blob: &'b [u8]) -> RuleList<'b> {
        RuleList(List::read(root(blob)))
    }

    /// Evaluates the rule at an index for an event.
    pub fn ask(self, index: usize, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Answer> {
        self.0.at(index).and_then(|rule| ask(rule, raised, facts))
    }
}

fn ask(rule: UserRule<'_>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Answer> {
    // Callers without a call may use event names of their own.
    let named = raised.field("event", facts);
    let asked = rule
        .events()
        .iter()
        .any(|event| event == "any" || raised.events.contains(&event) || named == FieldValue::Text(event.to_owned()));
    let fires = asked && holds(rule, Source::Alone, raised, facts);
    fires.then(|| Answer { message: message(rule, raised, facts), conditions: rule.when().len() })
}
