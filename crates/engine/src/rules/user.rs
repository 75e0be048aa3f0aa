//! The detector of rules that people write: what a call raises, compared with every rule about it.

use crate::facts::cache::{Facts, Source};
use crate::facts::excerpt;
use crate::facts::location;
use crate::model::event::Action;
use crate::model::finding::{At, Decision, Finding, PolicyAction, Rewrite, Severity, Tier};
use crate::model::truth::Ternary;
use crate::policy::{Authority, Layer, Policy};
use crate::rules::condition::{Subject, evaluate};
use crate::rules::field::fill;
use crate::rules::rule_event::{self, FieldValue, RuleEvent};
use crate::secrets::redaction::redacted;
use crate::text::excerpt::told_by_stranger;
use reflex_shell::Span;
use reflex_tables::{Node, root};

/// Of a message and of each word that it names, so many letters are shown.
const MAX_MESSAGE: usize = 500;
const MAX_WORD: usize = 80;

/// The findings of every layer's rules. A rule fires once for a call.
pub(crate) fn inspect(policy: &Policy, facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if policy.layers().is_empty() {
        return findings;
    }
    let raised = rule_event::rule_events(facts.event, facts.analysis, facts);
    for (number, layer) in policy.layers().iter().enumerate() {
        let source = Source::Layer(number);
        let triggers = layer.tables.get("triggers");
        let mut fired: Vec<u32> = Vec::new();
        for one in raised.iter().filter(|_| !triggers.is_empty()) {
            for rule in one.events.iter().flat_map(|event| triggers.get(event).items()) {
                if !fired.contains(&rule.record()) && holds(rule, source, one, facts) {
                    fired.push(rule.record());
                    findings.push(finding(layer, rule, one, facts));
                }
            }
        }
        findings.extend(protected(layer, source, facts));
    }
    findings
}

/// Whether a rule's conditions hold for what is raised. A rule without conditions never does.
pub(crate) fn holds(rule: Node<'_>, source: Source, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> bool {
    let when = rule.get("when");
    !when.is_empty() && evaluate(when, Subject::raised(source, raised), facts) == Ternary::Yes
}

fn finding(layer: &Layer, rule: Node<'static>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Finding {
    let worth = PolicyAction::named(rule.get("action").text());
    let rewrite = rewrite(rule, raised, facts);
    let mut message = message(rule, raised, facts);
    // A rewrite of a project that nobody has accepted would put its own words into a call.
    let rewrite = rewrite.filter(|_| layer.authority > Authority::Project || layer.loosens.holds());
    let rewrite = rewrite.filter(|_| rule.get("would").is_nil());
    if message.is_empty() {
        message = format!("The rule {} forbids it.", rule.get("name").text());
    }
    if !message.ends_with(['.', '!', '?', '…']) {
        message.push('.');
    }
    let of_command = rewrite.as_ref().and_then(|rewrite| rewrite.fields.iter().find(|(field, _)| field == "command"));
    let remedy = of_command
        .map(|(_, command)| format!("Run `{}` instead.", redacted(command, facts.tables)))
        .unwrap_or_default();
    let otherwise = if rule.get("otherwise").text() == "ask" { PolicyAction::Ask } else { PolicyAction::Deny };
    let by_stranger = layer.is_strange();
    let (message, remedy, category) = if by_stranger {
        (theirs(layer, rule, &message), String::new(), "policy")
    } else {
        (message, remedy, rule.get("category").text())
    };
    Finding {
        id: format!("{}/{}", layer.authority.name(), rule.get("name").text()),
        detector: "rules".into(),
        category: category.into(),
        severity: Severity::named(rule.get("severity").text()).unwrap_or(Severity::Medium),
        confidence: 100,
        tier: Tier::named(rule.get("tier").text()).unwrap_or(Tier::Custom),
        fixed: Some(worth.unwrap_or(otherwise)),
        would: rule.get("would").is_text().then(|| PolicyAction::named(rule.get("would").text()).unwrap_or(otherwise)),
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

/// What a rule says that no person has reviewed, with its name: both are the words of the repository.
fn theirs(layer: &Layer, rule: Node<'_>, message: &str) -> String {
    told_by_stranger("A rule", &layer.folder, &format!("{}: {message}", rule.get("name").text()))
}

/// The rule's message with its `{{words}}` filled in, short and without secrets.
pub(crate) fn message(rule: Node<'_>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> String {
    // What stands in the environment is compared and never told: it may be a secret of any form.
    let word = |name: &str| match raised.field(name, facts) {
        FieldValue::Text(text) if !text.is_empty() && !name.starts_with("env.") => {
            Some(cut(&redacted(&text, facts.tables), MAX_WORD))
        }
        FieldValue::Text(_) | FieldValue::Unknown if name == "allowed_roots" => {
            Some(cut(&facts.roots().join(", "), MAX_WORD))
        }
        FieldValue::Text(_) | FieldValue::Unknown => None,
    };
    cut(fill(rule.get("message").text(), &word).trim(), MAX_MESSAGE)
}

/// The call that the rule would put in its place: nothing where a word of it is not known.
fn rewrite(rule: Node<'static>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Rewrite> {
    let template = rule.get("rewrite");
    if template.is_empty() {
        return None;
    }
    let word = |name: &str| match raised.field(name, facts) {
        FieldValue::Text(text) if !name.starts_with("env.") => Some(text),
        FieldValue::Text(_) | FieldValue::Unknown => None,
    };
    let fields: Vec<(String, String)> =
        template.entries().map(|(field, text)| (field.to_owned(), fill(text.text(), &word))).collect();
    fields.iter().all(|(_, text)| !text.contains("{{")).then_some(Rewrite { fields })
}

/// `protectedPaths` and `approvalRequiredPaths` of a layer's policy: rules over effects.
fn protected(layer: &Layer, source: Source, facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in layer.tables.get("paths").items() {
        let (on, role) = (rule.get("on"), rule.get("role"));
        if !role.is_nil() && facts.event.role.as_deref() != Some(role.text()) {
            continue;
        }
        for (index, effect) in facts.analysis.effects.iter().enumerate() {
            if !on.texts().any(|name| name == effect.kind.name()) {
                continue;
            }
            if evaluate(rule.get("when"), Subject::effect(source, effect), facts) != Ternary::Yes {
                continue;
            }
            let shown: Vec<String> =
                effect.targets.iter().take(4).map(|target| redacted(&target.shown(), facts.tables)).collect();
            let message = rule.get("message").text().replace("{targets}", &shown.join(", "));
            let by_stranger = layer.is_strange();
            findings.push(Finding {
                id: format!("{}/{}", layer.authority.name(), rule.get("name").text()),
                detector: "rules".into(),
                category: "policy".into(),
                severity: Severity::High,
                confidence: 100,
                tier: Tier::Custom,
                fixed: PolicyAction::named(rule.get("action").text()),
                message: if by_stranger { theirs(layer, rule, &message) } else { message },
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

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A rule that fired, for who asks rules without an agent's call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The rule's message, filled in.
    pub message: String,
    /// Which of its conditions hold, by their index: all of them, for a rule fires on all.
    pub conditions: usize,
}

/// Compiled rules in their order.
#[derive(Debug, Clone, Copy)]
pub struct RuleList<'b>(Node<'b>);

impl<'b> RuleList<'b> {
    /// The rules in the bytes of a blob; none if the bytes are not a blob of this version.
    pub fn new(blob: &'b [u8]) -> RuleList<'b> {
        RuleList(root(blob))
    }

    /// Asks the rule at an index about something that is raised.
    pub fn ask(self, index: usize, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Answer> {
        ask(self.0.at(index), raised, facts)
    }
}

fn ask(rule: Node<'_>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Option<Answer> {
    // Who asks rules without a call may have events of their own.
    let named = raised.field("event", facts);
    let asked = rule
        .get("events")
        .texts()
        .any(|event| event == "any" || raised.events.contains(&event) || named == FieldValue::Text(event.to_owned()));
    let fires = asked && holds(rule, Source::Alone, raised, facts);
    fires.then(|| Answer { message: message(rule, raised, facts), conditions: rule.get("when").len() })
}
