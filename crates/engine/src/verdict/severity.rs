//! The weight of a finding: its severity, moved by at most one step by arguments for and against it.
//!
//! ```text
//! weight     = severity + raised − lowered            within one step of the severity
//! raised     : a changed place is sensitive and no person's intent names it; orders came into the session, and secrets
//!              or what leaves are at stake
//! lowered    : what would be lost can be had again; the detector doubts itself          never of a core finding
//! risk       = the heaviest weight
//! confidence = 1 − Π (1 − c)     over the detectors that found something of that weight, of each its surest finding
//! ```
//!
//! Each finding is weighed alone, so that an additional one never loosens. A finding with a decision fixed by a
//! person's rule is not moved.

use crate::detectors::task_scope;
use crate::facts::cache::Facts;
use crate::facts::fact::Fact;
use crate::model::effect::{Effect, EffectKind};
use crate::model::finding::{DetectorName, Finding, Severity, Tier};
use crate::model::truth::Ternary;
use reflex_shell::ExecTarget;

/// Confidence in percent below which a detector doubts its finding.
const DOUBT: u32 = 50;

/// Categories of harm that an injected instruction aims at.
const STAKES: [&str; 2] = ["exfiltration", "credential"];

/// A reason to move a finding, as worded in the chain.
enum Reason {
    Raises(String),
    Lowers(&'static str),
}

/// A move of a finding to a weight other than its severity.
pub(super) struct Shift {
    /// The weight.
    pub(super) weight: Severity,
    /// The move and its reason, as worded in the chain.
    pub(super) step: String,
}

/// Returns the move of a finding; `None` if it weighs what its severity says.
pub(super) fn shift(finding: &Finding, facts: &Facts<'_>) -> Option<Shift> {
    if finding.fixed.is_some() || finding.severity == Severity::Info {
        return None;
    }
    let reasons = reasons(finding, facts);
    let raised = reasons.iter().find_map(|reason| match reason {
        Reason::Raises(why) => Some(why.as_str()),
        Reason::Lowers(_) => None,
    });
    let lowered = reasons.iter().find_map(|reason| match reason {
        Reason::Lowers(why) => Some(*why),
        Reason::Raises(_) => None,
    });
    let (weight, why) = match (raised, lowered) {
        (Some(why), None) => (next(finding.severity), why),
        (None, Some(why)) => (before(finding.severity), why),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let step = format!("{}: {} weighs {}: {why}", finding.id, finding.severity.name(), weight.name());
    (weight != finding.severity).then_some(Shift { weight, step })
}

fn reasons(finding: &Finding, facts: &Facts<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let effect = finding.effect.and_then(|index| facts.analysis.effects.get(index));
    // A finding about the place itself already includes its weight; so does the loss of keys without another copy.
    let is_moved = finding.category != "scope" && finding.id != "write/replaces-data";
    let placed = effect.filter(|_| is_moved).and_then(|effect| task_scope::sensitive_place(effect, facts));
    reasons.extend(
        placed.map(|class| Reason::Raises(format!("{} is a sensitive place", class.trim_start_matches("sensitive-")))),
    );
    if STAKES.contains(&finding.category.as_str()) && facts.call.is_tainted() {
        reasons.push(Reason::Raises("a text that gives orders came into this session".into()));
    }
    if finding.tier != Tier::Core {
        if finding.confidence < DOUBT {
            reasons.push(Reason::Lowers("its detector is not sure"));
        }
        if finding.category == "destructive" && effect.is_some_and(|effect| is_recoverable(effect, facts)) {
            reasons.push(Reason::Lowers("all of it is in a commit"));
        }
    }
    reasons
}

fn removes(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Delete | EffectKind::Truncate | EffectKind::Overwrite | EffectKind::Move)
}

/// Whether git holds every target unchanged. Unknown content is not recoverable, nor is content that git cannot find.
fn is_recoverable(effect: &Effect, facts: &Facts<'_>) -> bool {
    let of_git = |target: &crate::model::effect::Target| {
        let is = |fact| facts.fact(effect, Some(target), fact);
        is(Fact::Tracked) == Ternary::Yes
            && [Fact::Uncommitted, Fact::Untracked, Fact::IgnoredData, Fact::Unreadable]
                .into_iter()
                .all(|fact| is(fact) == Ternary::No)
    };
    let here = effect.site == ExecTarget::Here && removes(effect.kind) && !effect.targets.is_empty();
    here && effect.targets.iter().all(|target| facts.is(effect, target, "inside") == Ternary::Yes && of_git(target))
}

fn next(severity: Severity) -> Severity {
    match severity {
        Severity::Info => Severity::Low,
        Severity::Low => Severity::Medium,
        Severity::Medium => Severity::High,
        Severity::High | Severity::Critical => Severity::Critical,
    }
}

fn before(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::High,
        Severity::High => Severity::Medium,
        Severity::Medium => Severity::Low,
        Severity::Low | Severity::Info => Severity::Info,
    }
}

/// Combined confidence of the detectors in the risk, in percent; 100 without findings.
pub(super) fn confidence<'f>(risk: Severity, findings: impl Iterator<Item = &'f Finding>) -> u32 {
    let mut surest: Vec<(DetectorName, u32)> = Vec::new();
    for finding in findings.filter(|finding| finding.severity == risk) {
        match surest.iter_mut().find(|(detector, _)| *detector == finding.detector) {
            Some((_, sure)) => *sure = (*sure).max(finding.confidence),
            None => surest.push((finding.detector, finding.confidence)),
        }
    }
    if let [] | [_] = surest.as_slice() {
        return surest.first().map_or(100, |(_, sure)| (*sure).min(100));
    }
    let doubt = surest.iter().map(|(_, sure)| 1.0 - f64::from((*sure).min(100)) / 100.0).product::<f64>();
    // Several detectors that are nearly sure do not add up to certainty.
    let max = if surest.iter().any(|(_, sure)| *sure >= 100) { 100 } else { 99 };
    percent(1.0 - doubt).min(max)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1")]
fn percent(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u32
}
