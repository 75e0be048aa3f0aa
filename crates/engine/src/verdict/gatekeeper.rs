//! Turns findings into one verdict: each is weighed alone, the policy maps its weight to an action, and the strictest
//! decides.

use crate::detectors::budget;
use crate::facts::cache::Facts;
use crate::model::event::Moment;
use crate::model::finding::{Decision, Finding, PolicyAction, Rewrite};
use crate::model::reason::Reason;
use crate::model::verdict::{Advice, AtStake, FollowUp, Verdict};
use crate::policy::Policy;
use crate::verdict::reasons::reason_for;
use crate::verdict::severity;

/// Weighs the findings under the policy.
pub(crate) fn decide(policy: &Policy, facts: &Facts<'_>, findings: Vec<Finding>) -> Verdict {
    let mut verdict = Verdict { confidence: 100, ..Verdict::default() };
    let weighed = findings.into_iter().map(|finding| {
        let finding = severity::weighed(finding, facts, &mut verdict.chain);
        let worth = policy.worth(&finding, facts, &mut verdict.chain);
        (finding, worth)
    });
    let (weighed, after) = parted(weighed.collect());
    verdict.after = after;
    verdict.at_stake = if verdict.after.is_none() { at_stake(&weighed, policy, facts) } else { None };
    verdict.risk = weighed.iter().map(|(finding, _)| finding.severity).max().unwrap_or_default();
    verdict.confidence = severity::confidence(verdict.risk, weighed.iter().map(|(finding, _)| finding));
    let weighed = once_each(weighed);
    let mut deciding: Vec<(Decision, Reason)> = Vec::new();
    let mut keys: Vec<(Decision, &str)> = Vec::new();
    for (finding, worth) in &weighed {
        let Some(decision) = decision(*worth) else { continue };
        verdict
            .chain
            .push(format!("{}: {} {} {}", finding.id, policy.name(), verb(decision), finding.severity.name(),));
        verdict.decision = verdict.decision.max(decision);
        let reason = reason_for(decision, finding);
        if decision == Decision::Pass {
            let about = about(finding, facts);
            verdict.advice.push(Advice { reason, finding: finding.id.clone(), about, is_known: false });
        } else if !is_about_keys(finding) || !keys.contains(&(decision, finding.command.as_str())) {
            keys.extend(is_about_keys(finding).then_some((decision, finding.command.as_str())));
            deciding.push((decision, reason));
        }
    }
    // Reasons for asking are not news if the call is blocked.
    verdict.reasons =
        deciding.into_iter().filter(|(decision, _)| *decision == verdict.decision).map(|(_, reason)| reason).collect();
    let ends = |finding: &Finding| finding.category == budget::CATEGORY || finding.id == "loop/repeat";
    verdict.ends_turn = weighed.iter().any(|(finding, worth)| *worth == PolicyAction::Deny && ends(finding));
    verdict.rewrite = sole_rewrite(&weighed, &mut verdict);
    verdict.findings = weighed.into_iter().map(|(finding, _)| finding).collect();
    if !verdict.findings.is_empty() {
        verdict.chain.push(format!("overall: risk {}, {} % sure", verdict.risk.risk(), verdict.confidence));
    }
    verdict
}

/// Whether the finding concerns keys. To a person, reading a key and sending it are one event: only the gravest finding
/// for the same part of a call is reported.
fn is_about_keys(finding: &Finding) -> bool {
    matches!(finding.category.as_str(), "credential" | "exfiltration") && !finding.command.is_empty()
}

/// Returns the subject of a finding: the targets of its effect, else the part of the call that it names, else its
/// message. A finding about counts over a session has the session as its subject.
fn about(finding: &Finding, facts: &Facts<'_>) -> String {
    if finding.detector.counts() && facts.event.moment != Moment::Stop {
        return String::new();
    }
    let effect = finding.effect.and_then(|index| facts.analysis.effects.get(index));
    let targets = effect.map(|effect| effect.targets.as_slice()).unwrap_or_default();
    if targets.is_empty() {
        let is_of_part = finding.effect.or(finding.action).is_some() && !finding.command.is_empty();
        return if is_of_part { finding.command.clone() } else { finding.message.clone() };
    }
    let shown = targets.iter().map(|target| target.path().map_or_else(|| target.shown(), str::to_owned));
    shown.collect::<Vec<_>>().join("\0")
}

type Rated = (Finding, PolicyAction);

fn decision(worth: PolicyAction) -> Option<Decision> {
    match worth {
        PolicyAction::Record => None,
        PolicyAction::Warn => Some(Decision::Pass),
        PolicyAction::Ask => Some(Decision::Ask),
        PolicyAction::Deny => Some(Decision::Deny),
    }
}

/// Splits the findings into those that count now and those that follow one which stops the call. If the preceding
/// finding does not stop the call, both count now.
fn parted(weighed: Vec<Rated>) -> (Vec<Rated>, Option<FollowUp>) {
    if weighed.iter().all(|(finding, _)| finding.after.is_none()) {
        return (weighed, None);
    }
    let stops: Vec<String> = weighed
        .iter()
        .filter(|(_, worth)| *worth >= PolicyAction::Ask)
        .map(|(finding, _)| finding.id.clone())
        .collect();
    let (later, now): (Vec<Rated>, Vec<Rated>) =
        weighed.into_iter().partition(|(finding, _)| finding.after.as_ref().is_some_and(|id| stops.contains(id)));
    let mut after = FollowUp::default();
    for (finding, worth) in later.into_iter().filter(|(_, worth)| *worth >= PolicyAction::Ask) {
        let decision = decision(worth).unwrap_or_default();
        after.decision = after.decision.max(decision);
        after.reasons.push(reason_for(decision, &finding));
        after.findings.push(finding);
    }
    (now, (!after.findings.is_empty()).then_some(after))
}

/// Returns the data that a call which may still run would lose; it is copied both for a warning and for a prompt.
fn at_stake(weighed: &[Rated], policy: &Policy, facts: &Facts<'_>) -> Option<AtStake> {
    let counts = |rated: &&Rated| rated.1 >= PolicyAction::Warn || facts.is_kept_silently(&rated.0);
    let (losses, others): (Vec<&Rated>, Vec<&Rated>) =
        weighed.iter().filter(counts).partition(|(finding, _)| facts.can_be_kept(finding));
    let role = facts.event.role.as_deref();
    let is_question = |rated: &&Rated| rated.1 >= PolicyAction::Ask;
    let is_block = |rated: &&Rated| rated.1 == PolicyAction::Deny;
    if losses.is_empty() || losses.iter().chain(&others).any(is_block) {
        return None;
    }
    let questions = losses.iter().filter(|rated| is_question(rated));
    let worths = questions.map(|(finding, _)| policy.worth_if_kept(finding, role)).collect::<Option<Vec<_>>>()?;
    let asks = others.iter().any(is_question) || worths.contains(&PolicyAction::Ask);
    let mut at_stake = facts.at_stake(losses.iter().map(|(finding, _)| finding));
    at_stake.asks = asks;
    for (finding, worth) in losses {
        let Some(decision) = decision(*worth) else { continue };
        if at_stake.findings.iter().all(|(id, ..)| *id != finding.id) {
            at_stake.findings.push((finding.id.clone(), decision, reason_for(Decision::Pass, finding)));
        }
    }
    Some(at_stake)
}

/// Returns the call that may run in place of this one. It exists only if every finding against the call has the same
/// rewrite.
fn sole_rewrite(weighed: &[(Finding, PolicyAction)], verdict: &mut Verdict) -> Option<Rewrite> {
    let against = weighed.iter().filter(|(_, worth)| *worth >= PolicyAction::Ask);
    let mut rewrites = against.map(|(finding, _)| finding.rewrite.clone());
    let first = rewrites.next()??;
    if rewrites.all(|other| other.as_ref() == Some(&first)) {
        return Some(first);
    }
    verdict.chain.push("several rules would put different calls in its place, so none is".into());
    verdict.decision = Decision::Deny;
    None
}

/// Returns the verb with the policy as its subject and the severity as its object.
fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "warns of",
        Decision::Ask => "asks about",
        Decision::Deny => "blocks",
    }
}

/// Sorts by severity and merges findings with the same id; the one with the strictest action is kept.
fn once_each(mut findings: Vec<(Finding, PolicyAction)>) -> Vec<(Finding, PolicyAction)> {
    findings.sort_by_key(|(finding, _)| std::cmp::Reverse((finding.severity, finding.confidence)));
    let mut kept: Vec<(Finding, PolicyAction)> = Vec::new();
    for (finding, worth) in findings {
        match kept.iter_mut().find(|(known, _)| known.id == finding.id) {
            Some(known) if worth > known.1 => *known = (finding, worth),
            Some(_) => {}
            None => kept.push((finding, worth)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analysis::Analysis;
    use crate::model::event::Event;
    use crate::model::fake_world::FakeWorld;
    use crate::model::finding::{DetectorName, Severity, Tier};
    use reflex_tables::Tables;

    /// Every severity with every decision that may be fixed, for several detectors, tiers and confidences.
    fn findings() -> Vec<Finding> {
        let of = |(index, (severity, fixed)): (usize, (Severity, Option<PolicyAction>))| Finding {
            id: format!("test/{}", index % 17),
            detector: DetectorName::ALL.get(index % 3).copied().unwrap_or_default(),
            category: ["destructive", "credential", "loop"].get(index / 3 % 3).copied().unwrap_or_default().into(),
            severity,
            confidence: [30, 50, 85, 100].get(index % 4).copied().unwrap_or_default(),
            tier: if index % 2 == 0 { Tier::Recommended } else { Tier::Core },
            fixed,
            ..Finding::default()
        };
        let actions = [None, Some(PolicyAction::Warn), Some(PolicyAction::Ask), Some(PolicyAction::Deny)];
        let pairs = Severity::ALL.iter().flat_map(|(severity, _)| actions.map(|action| (*severity, action)));
        let pairs: Vec<_> = pairs.collect();
        pairs.iter().chain(&pairs).chain(&pairs).copied().enumerate().map(of).collect()
    }

    /// The strictness of a verdict, ordered from loose to strict; the confidence refers to the risk.
    fn strictness(verdict: &Verdict) -> (Decision, Severity, u32) {
        let sure = if verdict.findings.is_empty() { 0 } else { verdict.confidence };
        (verdict.decision, verdict.risk, sure)
    }

    #[test]
    fn adding_a_finding_never_loosens_a_verdict() {
        let (event, analysis, world) = (Event::default(), Analysis::default(), FakeWorld::default());
        let facts = Facts::new(&event, &analysis, Tables::EMPTY, &world);
        let worths =
            serde_json::json!({"info": "pass", "low": "pass", "medium": "warn", "high": "ask", "critical": "block"});
        let tables = serde_json::json!({"policies": {"test": worths}});
        let blob = reflex_tables::compile::encode(&tables).unwrap().leak();
        let policy = Policy::named(Tables::new(blob), "test").unwrap();
        let all = findings();
        for (at, one) in all.iter().enumerate() {
            for other in &all {
                // A third finding, to cover longer lists than pairs.
                let third = all.get((at * 7 + 3) % all.len()).cloned();
                let few: Vec<Finding> = [Some(one.clone()), third].into_iter().flatten().collect();
                let more = [few.clone(), vec![other.clone()]].concat();
                let turned = more.iter().rev().cloned().collect();
                let (few, more) = (decide(&policy, &facts, few), decide(&policy, &facts, more));
                let (few, more, turned) =
                    (strictness(&few), strictness(&more), strictness(&decide(&policy, &facts, turned)));
                assert!(more.0 >= few.0 && (more.1, more.2) >= (few.1, few.2), "{one:?} {other:?} {few:?} {more:?}");
                assert_eq!(more, turned, "{} {}", one.id, other.id);
            }
        }
    }

    #[test]
    fn a_core_finding_is_not_weighed_away() {
        let (event, analysis) = (Event::default(), Analysis::default());
        let orders = crate::model::session::Taint {
            kind: crate::model::session::RemnantKind::Orders,
            path: String::new(),
            from: "injection/override".into(),
        };
        for tainted in [false, true] {
            let remnants = if tainted { vec![orders.clone()] } else { Vec::new() };
            let world = FakeWorld { remnants, ..FakeWorld::default() };
            let facts = Facts::new(&event, &analysis, Tables::EMPTY, &world);
            for finding in findings() {
                let weighed = severity::weighed(finding.clone(), &facts, &mut Vec::new());
                let steps = severity_steps(weighed.severity) - severity_steps(finding.severity);
                assert!(steps.abs() <= 1 && (finding.tier != Tier::Core || steps >= 0), "{finding:?} {weighed:?}");
                let at_stake = finding.category == "credential" && finding.fixed.is_none();
                assert!(steps != 1 || (tainted && at_stake), "{finding:?} {weighed:?}");
                assert!(finding.fixed.is_none() || steps == 0);
            }
        }
    }

    fn severity_steps(severity: Severity) -> i32 {
        Severity::ALL.iter().position(|(known, _)| *known == severity).map_or(0, |at| at as i32)
    }

    #[test]
    fn detectors_that_agree_are_surer_together() {
        let of =
            |detector, confidence| Finding { detector, confidence, severity: Severity::High, ..Finding::default() };
        let sure = |findings: &[Finding]| severity::confidence(Severity::High, findings.iter());
        assert_eq!(sure(&[of(DetectorName::Sentinel, 80)]), 80);
        assert_eq!(sure(&[of(DetectorName::Sentinel, 80), of(DetectorName::Sentinel, 70)]), 80);
        assert_eq!(sure(&[of(DetectorName::Sentinel, 80), of(DetectorName::Tripwire, 70)]), 94);
        assert_eq!(sure(&[of(DetectorName::Sentinel, 99), of(DetectorName::Tripwire, 99)]), 99);
        assert_eq!(sure(&[]), 100);
    }
}
