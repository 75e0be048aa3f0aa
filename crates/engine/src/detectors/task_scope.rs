//! Purpose of the work: changes outside of a declared scope, changes of sensitive places that the intent does not name,
//! and anything but looking where only looking is wanted.

use crate::analysis::command_pattern;
use crate::facts::cache::Facts;
use crate::facts::excerpt;
use crate::facts::fact::Fact;
use crate::facts::location;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::{Action, Purpose};
use crate::model::finding::{Decision, DetectorName, Finding, PolicyAction, Severity, Tier};
use crate::model::truth::Ternary;
use crate::policy::Policy;
use crate::secrets::redaction::redacted;
use crate::text::excerpt::quoted_from_stranger;
use reflex_shell::ExecTarget;
use reflex_tables::views::{Place, Policy as Preset};
use reflex_tables::{List, Texts};

/// Effects that change files of this machine.
const CHANGES: [EffectKind; 11] = [
    EffectKind::Overwrite,
    EffectKind::Append,
    EffectKind::Edit,
    EffectKind::Truncate,
    EffectKind::Link,
    EffectKind::Move,
    EffectKind::Delete,
    EffectKind::ChangePermissions,
    EffectKind::ChangeOwner,
    EffectKind::DiscardChanges,
    EffectKind::DiscardUntracked,
];

/// Returns all findings about the task and role of a call, before it runs.
pub(crate) fn inspect(policy: &Policy, facts: &Facts<'_>) -> Vec<Finding> {
    let event = facts.event;
    let mut findings = Vec::new();
    let mut scopes: Vec<(String, &str, Vec<&str>)> = Vec::new();
    if let Some(task) = &event.declared {
        scopes.push((format!("the task {}", task.id), &task.root, texts(&task.purpose)));
    }
    if !event.claimed.scope.is_empty() {
        scopes.push(("what the call says of its task".into(), &event.workspace, texts(&event.claimed)));
    }
    for (layer, entry) in event.role.as_deref().into_iter().flat_map(|role| policy.roles(role)) {
        let of = format!("the role {}", event.role.as_deref().unwrap_or(""));
        let scope: Vec<&str> = entry.scope().iter().collect();
        if layer.is_strange() {
            let found = beyond(facts, &of, &event.workspace, &scope);
            let quotation = quoted_from_stranger("The policy", &layer.folder, &scope.join(", "));
            let message = format!("It would change what does not belong to {of}. {quotation}");
            findings.extend(found.map(|finding| Finding { message, ..finding }));
        } else {
            scopes.push((of, &event.workspace, scope));
        }
    }
    for (owner, root, scope) in scopes {
        findings.extend(beyond(facts, &owner, root, &scope));
    }
    findings.extend(unnamed(facts));
    let cautious = policy.cautious(event.role.as_deref());
    findings.extend(cautious.into_iter().filter_map(|preset| more_than_looks(preset, facts)));
    findings
}

fn texts(purpose: &Purpose) -> Vec<&str> {
    purpose.scope.iter().map(String::as_str).collect()
}

/// The effects that change files of this machine, with their indices.
fn changes<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = (usize, &'f Effect)> {
    let changing = |effect: &Effect| effect.site == ExecTarget::Here && CHANGES.contains(&effect.kind);
    facts.analysis.effects.iter().enumerate().filter(move |(_, effect)| changing(effect))
}

/// Finding for the first change of a project file outside of a scope. Build output and temporary files belong to every
/// task; files outside of the project have their own rules.
fn beyond(facts: &Facts<'_>, owner: &str, root: &str, scope: &[&str]) -> Option<Finding> {
    if scope.is_empty() {
        return None;
    }
    let is_beyond = |effect: &Effect, target: &Target| match target.path {
        TargetPath::None => false,
        TargetPath::Unknown => true,
        TargetPath::Known { .. } => {
            let of_project =
                ["inside", "workspace"].iter().any(|place| facts.is(effect, target, place) == Ternary::Yes);
            of_project
                && !facts.user().lies_in_scope(effect, target, root, scope)
                && facts.fact(effect, Some(target), Fact::Regenerable) != Ternary::Yes
        }
    };
    let (index, effect, target) = changes(facts).find_map(|(index, effect)| {
        let target = effect.targets.iter().find(|target| is_beyond(effect, target))?;
        Some((index, effect, target))
    })?;
    let shown = redacted(&target.shown(), facts.tables);
    Some(Finding {
        id: "task/outside-scope".into(),
        category: "scope".into(),
        severity: Severity::High,
        message: format!("It would change {shown}, and the scope of {owner} is {}.", scope.join(", ")),
        remedy: "stay within the scope, or tell the user what else has to change".into(),
        ..about(index, effect, facts)
    })
}

/// Finding for a change of a sensitive place that the declared or claimed intent does not name.
fn unnamed(facts: &Facts<'_>) -> Option<Finding> {
    let declared = facts.event.declared.as_ref().map(|task| &task.purpose.intent);
    let intent = [declared, Some(&facts.event.claimed.intent)].into_iter().flatten().find(|text| !text.is_empty())?;
    let (index, effect, class) =
        changes(facts).find_map(|(index, effect)| Some((index, effect, sensitive(effect, facts, intent)?)))?;
    let shown: Vec<String> =
        effect.targets.iter().take(4).map(|target| redacted(&target.shown(), facts.tables)).collect();
    Some(Finding {
        id: "task/sensitive-path".into(),
        category: "scope".into(),
        severity: Severity::Medium,
        message: format!(
            "It would change {}, which belongs to {}, and the task is: {}.",
            shown.join(", "),
            class.trim_start_matches("sensitive-"),
            redacted(intent.trim_end_matches('.'), facts.tables)
        ),
        remedy: "leave it, or say why the task needs it".into(),
        ..about(index, effect, facts)
    })
}

/// A class of sensitive places that an effect touches and the intent does not name.
fn sensitive(effect: &Effect, facts: &Facts<'_>, intent: &str) -> Option<&'static str> {
    let intent = intent.to_lowercase();
    let words: Vec<&str> = intent.split(|ch: char| !ch.is_alphanumeric()).collect();
    let classes = facts.tables.library().places().entries().filter(|(class, _)| class.starts_with("sensitive-"));
    let unnamed = |entries: List<'static, Place<'static>>| {
        let mut subjects = entries.iter().flat_map(|entry| entry.subjects().iter());
        !subjects.any(|subject| words.contains(&subject))
    };
    let touches = |class: &str| effect.targets.iter().any(|target| facts.is(effect, target, class) == Ternary::Yes);
    classes.filter(|(_, entries)| unnamed(*entries)).map(|(class, _)| class).find(|class| touches(class))
}

/// The class of sensitive places that an effect changes, unless a person's intent names it. In that case it is judged
/// without a denial for its place.
pub(crate) fn sensitive_place(effect: &Effect, facts: &Facts<'_>) -> Option<&'static str> {
    if effect.site != ExecTarget::Here || !CHANGES.contains(&effect.kind) {
        return None;
    }
    let class = sensitive(effect, facts, "").filter(|class| is_about(effect, facts, class))?;
    match &facts.event.declared {
        // An intent that names the place makes it less severe, so it must come from a person.
        Some(task) if sensitive(effect, facts, &task.purpose.intent).is_none() && task.vouched.holds() => None,
        Some(_) | None => Some(class),
    }
}

/// Whether the changed file is the reason for the sensitivity of the place: a name of the class, or a file that git
/// tracks or would add. A file that git ignores there is a by-product, and a change of permissions does not change the
/// content.
fn is_about(effect: &Effect, facts: &Facts<'_>, class: &str) -> bool {
    let touches = |target: &&Target| facts.is(effect, target, class) == Ternary::Yes;
    effect.targets.iter().filter(touches).any(|target| {
        let is_named = target.path().is_some_and(|path| facts.call.is_named_by(class, path));
        let is = |class: &&str| facts.is(effect, target, class) == Ternary::Yes;
        let is_by_product = facts.fact(effect, Some(target), Fact::Ignored) == Ternary::Yes
            && !["documents", "environment", "key-files", "data"].iter().any(is);
        let is_held = effect.kind != EffectKind::ChangePermissions && !is_by_product;
        is_named || is_held
    })
}

/// Finding for a call that a read-only preset asks about.
fn more_than_looks(preset: Preset<'static>, facts: &Facts<'_>) -> Option<Finding> {
    let (asks, looks) = (preset.asks(), preset.looks());
    let is_asked = |effect: &Effect| {
        let discards = effect.targets.iter().all(|target| facts.is(effect, target, "device") == Ternary::Yes);
        asks.iter().any(|name| name == effect.kind.name()) && (effect.targets.is_empty() || !discards)
    };
    let effect = facts.analysis.effects.iter().enumerate().find(|(_, effect)| is_asked(effect));
    let what = match effect {
        Some((_, effect)) => effect.kind.name().to_owned(),
        None => acts(facts, looks)?,
    };
    let about = match effect {
        Some((index, effect)) => about(index, effect, facts),
        None => Finding { command: excerpt::action_part(facts, 0), ..plain() },
    };
    Some(Finding {
        id: "policy/read-only".into(),
        category: "policy".into(),
        severity: Severity::High,
        fixed: Some(PolicyAction::Ask),
        message: format!("Only looking is wanted here, and this does more: {what}."),
        remedy: "tell the user what should be done, and ask for a yes".into(),
        action: about.action.or(Some(0)),
        ..about
    })
}

/// Describes an action without an effect: a remote tool, input for a running program, a command that is not on the list
/// of read-only ones.
fn acts(facts: &Facts<'_>, looks: Texts<'_>) -> Option<String> {
    let of_action = |action: &Action| match action {
        Action::McpCall { server, tool, .. } => Some(format!("a tool of {server}, {tool}")),
        Action::Input { .. } => Some("input for a running program".into()),
        Action::Write { .. } | Action::Edit { .. } | Action::Delete { .. } => Some("a change of a file".into()),
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Prompt { .. }
        | Action::SpawnAgent { .. }
        | Action::Skill { .. }
        | Action::Other { .. } => None,
    };
    let commands = facts.analysis.readings.iter().flat_map(|reading| &reading.commands);
    let mut others = commands.filter(|command| !looks.iter().any(|pattern| command_pattern::fits(pattern, command)));
    let of_command = || others.next().map(|command| format!("{} is run", redacted(&command.name, facts.tables)));
    facts.event.actions.iter().find_map(of_action).or_else(of_command)
}

fn about(index: usize, effect: &Effect, facts: &Facts<'_>) -> Finding {
    Finding {
        command: excerpt::guilty_part(effect, facts),
        at: location::at(effect, facts),
        action: Some(effect.action),
        effect: Some(index),
        ..plain()
    }
}

fn plain() -> Finding {
    Finding {
        detector: DetectorName::Rules,
        confidence: 100,
        tier: Tier::Recommended,
        otherwise: Decision::Deny,
        ..Finding::default()
    }
}
