//! The prompts that a model may answer in a person's place: only those about recoverable losses.
//!
//! A rule permits it with `judge: true`. All other properties of the call can only revoke that permission, so a model
//! under an attacker's influence cannot cause a permanent loss.

use crate::facts::cache::Facts;
use crate::facts::fact::Fact;
use crate::model::effect::{Effect, EffectKind, Target, TargetKind};
use crate::model::finding::{Decision, Finding, Tier};
use crate::model::truth::Ternary;
use crate::model::verdict::Verdict;
use reflex_shell::ExecTarget;

/// A rule whose prompt a model may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedRule {
    /// The rule's id.
    pub id: &'static str,
    /// The way back from the loss.
    pub recovery: &'static str,
}

/// The reason why a person has to answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reservation {
    /// The verdict is another than a question about findings.
    #[error("the call is not asked about")]
    NotAsked,
    /// The answer would not settle the call as it is.
    #[error("a second question or a replaced command is involved")]
    SecondStep,
    /// The id of a finding whose rule leaves its prompt to a person.
    #[error("only a person answers for {0}")]
    Rule(String),
    /// The id of a finding whose loss has no copy.
    #[error("no copy is kept of what {0} would lose")]
    NoCopy(String),
    /// An effect that may leave this machine, or whose loss is unknown.
    #[error("only a person answers for the effect {}", .0.name())]
    Effect(EffectKind),
    /// An effect is on another system.
    #[error("it runs on another system")]
    Elsewhere,
    /// An effect may concern production.
    #[error("it may touch production")]
    Production,
    /// A target that may be a file of the reserved classes.
    #[error("only a person answers for {0}")]
    Target(String),
    /// A target that is neither in the project nor temporary.
    #[error("{0} is outside the project")]
    Outside(String),
}

/// Effects that stay on this machine and whose loss the rest of the judgement determines. A call with any other effect
/// requires a person.
const LOCAL: [EffectKind; 19] = [
    EffectKind::Delete,
    EffectKind::Overwrite,
    EffectKind::Append,
    EffectKind::Edit,
    EffectKind::Truncate,
    EffectKind::Move,
    EffectKind::Read,
    EffectKind::Stage,
    EffectKind::Stash,
    EffectKind::SetTimes,
    EffectKind::DiscardChanges,
    EffectKind::DiscardUntracked,
    EffectKind::DropStash,
    EffectKind::DeleteBranch,
    EffectKind::RunFile,
    EffectKind::RunTask,
    EffectKind::Compile,
    EffectKind::SetVariable,
    EffectKind::PathArgument,
];

/// Effects that do not change their targets.
const HARMLESS: [EffectKind; 5] =
    [EffectKind::Read, EffectKind::Stage, EffectKind::RunFile, EffectKind::RunTask, EffectKind::Compile];

/// Places in which a model may approve a deletion or replacement.
const PLACES: [&str; 3] = ["inside", "workspace", "temporary"];

/// Classes of files that only a person decides about.
const RESERVED: [&str; 6] = ["secret", "environment", "key-files", "guard", "agent-settings", "agent-hooks"];

/// Returns the rules that ask, if a model may answer. `is_kept`: a copy of everything at stake exists.
///
/// # Errors
/// The reason why a person has to answer.
pub(crate) fn judged_rules(
    facts: &Facts<'_>,
    verdict: &Verdict,
    is_kept: bool,
) -> Result<Vec<JudgedRule>, Reservation> {
    if verdict.decision != Decision::Ask || verdict.findings.is_empty() {
        return Err(Reservation::NotAsked);
    }
    if verdict.after.is_some() || verdict.rewrite.is_some() {
        return Err(Reservation::SecondStep);
    }
    let rules: Result<Vec<_>, _> = verdict.findings.iter().map(|finding| rule(facts, finding, is_kept)).collect();
    let rules = rules?;
    facts.analysis.effects.iter().try_for_each(|effect| stays_within(facts, effect))?;
    Ok(rules)
}

fn rule(facts: &Facts<'_>, finding: &Finding, is_kept: bool) -> Result<JudgedRule, Reservation> {
    let reserved = || Reservation::Rule(finding.id.clone());
    let effect = finding.effect.and_then(|index| facts.analysis.effects.get(index)).ok_or_else(reserved)?;
    let mut rules = facts.tables.library().triggers().get(effect.kind.name()).iter();
    let rule = rules.find(|rule| rule.id() == finding.id).ok_or_else(reserved)?;
    let judged = JudgedRule { id: rule.id(), recovery: rule.recovery() };
    if judged.recovery.is_empty() || finding.tier == Tier::Core || finding.fixed.is_some() {
        return Err(reserved());
    }
    if !is_kept {
        return Err(Reservation::NoCopy(finding.id.clone()));
    }
    Ok(judged)
}

fn stays_within(facts: &Facts<'_>, effect: &Effect) -> Result<(), Reservation> {
    if !LOCAL.contains(&effect.kind) {
        return Err(Reservation::Effect(effect.kind));
    }
    if effect.site != ExecTarget::Here {
        return Err(Reservation::Elsewhere);
    }
    if facts.fact(effect, None, Fact::Production) != Ternary::No {
        return Err(Reservation::Production);
    }
    let is_one_of =
        |target: &Target, classes: &[&str]| classes.iter().any(|class| facts.is(effect, target, class) != Ternary::No);
    let takes_files = effect.kind.target_kind() == TargetKind::Path && !HARMLESS.contains(&effect.kind);
    for target in &effect.targets {
        if is_one_of(target, &RESERVED) {
            return Err(Reservation::Target(target.shown()));
        }
        let is_within = |class: &&str| facts.is(effect, target, class) == Ternary::Yes;
        if takes_files && !PLACES.iter().any(is_within) {
            return Err(Reservation::Outside(target.shown()));
        }
    }
    Ok(())
}
