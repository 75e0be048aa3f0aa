//! The order of precedence, and the properties of a verdict.

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

fn policy() -> Policy {
    let actions =
        serde_json::json!({"info": "pass", "low": "pass", "medium": "warn", "high": "ask", "critical": "block"});
    let tables = serde_json::json!({"policies": {"test": actions}});
    let blob = reflex_tables::compile::encode(&tables).unwrap().leak();
    Policy::named(Tables::new(blob), "test").unwrap()
}

/// Returns a finding with this id, on which the policy acts by its severity.
fn finding(id: &str, severity: Severity) -> Finding {
    Finding { id: id.into(), severity, confidence: 100, message: "It would".into(), ..Finding::default() }
}

/// Returns it with a rewrite to this command.
fn with_rewrite(finding: Finding, command: &str) -> Finding {
    let rewrite = Rewrite { fields: vec![("command".into(), command.into())] };
    Finding { rewrite: Some(rewrite), ..finding }
}

/// Compares the verdict, in either order of the findings: the decision, the rules of its reasons and warnings, the
/// findings that count, and those that count after an approval.
#[track_caller]
fn check(findings: [Finding; 2], expected: &str) {
    check_all(findings.to_vec(), expected);
    check_all(findings.into_iter().rev().collect(), expected);
}

#[track_caller]
fn check_all(findings: Vec<Finding>, expected: &str) {
    let (event, analysis, world) = (Event::default(), Analysis::default(), FakeWorld::default());
    let verdict = decide(&policy(), &Facts::new(&event, &analysis, Tables::EMPTY, &world), findings);
    let reasons: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule.as_str()).collect();
    let advice: Vec<&str> = verdict.advice.iter().map(|advice| advice.finding.as_str()).collect();
    let counted: Vec<&str> = verdict.findings.iter().map(|finding| finding.id.as_str()).collect();
    let after = verdict.after.unwrap_or_default().findings;
    let after: Vec<&str> = after.iter().map(|finding| finding.id.as_str()).collect();
    let shown = format!("{:?} {reasons:?} {advice:?} {counted:?} {after:?}", verdict.decision).replace('"', "");
    assert_eq!(shown, expected);
}

#[test]
fn a_block_outranks_rewrites_that_differ() {
    let blocking = with_rewrite(finding("a", Severity::Critical), "ls");
    let conflicting = with_rewrite(finding("b", Severity::High), "pwd");
    check([blocking, conflicting], "Deny [a] [] [a, b] []");
}

#[test]
fn rewrites_that_differ_outrank_a_question() {
    let [one, other] = ["a", "b"].map(|id| with_rewrite(finding(id, Severity::High), "ls"));
    check_all(vec![one.clone(), other.clone()], "Ask [a, b] [] [a, b] []");
    check_all(vec![one, with_rewrite(other, "pwd")], "Deny [a, b] [] [a, b] []");
}

#[test]
fn a_question_outranks_a_warning() {
    check([finding("a", Severity::High), finding("b", Severity::Medium)], "Ask [a] [b] [a, b] []");
}

#[test]
fn a_warning_outranks_a_record() {
    check([finding("a", Severity::Medium), finding("b", Severity::Low)], "Pass [] [a] [a, b] []");
}

#[test]
fn a_record_counts_and_what_follows_a_question_waits() {
    let question = finding("a", Severity::High);
    let follows = |id: &str| Finding { after: Some(id.into()), ..finding("c", Severity::Critical) };
    let recorded = finding("b", Severity::Low);
    check_all(vec![question.clone(), recorded.clone(), follows("a")], "Ask [a] [] [a, b] [c]");
    // Behind a record nothing waits.
    check_all(vec![question, recorded, follows("b")], "Deny [c] [] [c, a, b] []");
}

#[test]
fn the_order_of_precedence_is_that_of_the_documentation() {
    let page = include_str!("../../../../../docs/detectors.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains(". `")).collect();
    let row = |(index, rank): (usize, &Rank)| {
        let effect = match rank.decision() {
            Some(Decision::Deny) => "is blocked",
            Some(Decision::Ask) => "needs approval",
            Some(Decision::Pass) => "runs",
            None => "does not count yet",
        };
        let name = format!("{rank:?}").to_lowercase();
        format!("| {}. `{name}` | {effect} | ", index + 1)
    };
    let expected: Vec<String> = PRECEDENCE.iter().enumerate().map(row).collect();
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.into_iter().zip(expected) {
        assert!(row.starts_with(&expected), "`{row}` should begin with `{expected}`");
    }
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
    let policy = policy();
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
            let weight = severity::shift(&finding, &facts).map_or(finding.severity, |shift| shift.weight);
            let steps = severity_steps(weight) - severity_steps(finding.severity);
            assert!(steps.abs() <= 1 && (finding.tier != Tier::Core || steps >= 0), "{finding:?} {weight:?}");
            let at_stake = finding.category == "credential" && finding.fixed.is_none();
            assert!(steps != 1 || (tainted && at_stake), "{finding:?} {weight:?}");
            assert!(finding.fixed.is_none() || steps == 0);
        }
    }
}

fn severity_steps(severity: Severity) -> i32 {
    Severity::ALL.iter().position(|(known, _)| *known == severity).map_or(0, |at| at as i32)
}

#[test]
fn detectors_that_agree_are_surer_together() {
    let of = |detector, confidence| Finding { detector, confidence, severity: Severity::High, ..Finding::default() };
    let sure = |findings: &[Finding]| severity::confidence(Severity::High, findings.iter());
    assert_eq!(sure(&[of(DetectorName::Sentinel, 80)]), 80);
    assert_eq!(sure(&[of(DetectorName::Sentinel, 80), of(DetectorName::Sentinel, 70)]), 80);
    assert_eq!(sure(&[of(DetectorName::Sentinel, 80), of(DetectorName::Tripwire, 70)]), 94);
    assert_eq!(sure(&[of(DetectorName::Sentinel, 99), of(DetectorName::Tripwire, 99)]), 99);
    assert_eq!(sure(&[]), 100);
}
