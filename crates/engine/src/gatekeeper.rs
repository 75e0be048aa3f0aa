//! Turns findings into one verdict: the strictest finding decides, the policy says what a severity is worth.

use crate::effect::{Effect, EffectKind};
use crate::event::Event;
use crate::facts::Facts;
use crate::finding::{Decision, Finding, Rewrite, Severity, Worth};
use crate::layers::Policy;

/// What is said about a call, and why.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// What is to happen.
    pub decision: Decision,
    /// The worst severity among the findings.
    pub risk: Severity,
    /// How sure the strictest finding is, in percent; 100 without findings.
    pub confidence: u32,
    /// Strictest first.
    pub findings: Vec<Finding>,
    /// One sentence for each finding that decides.
    pub reasons: Vec<String>,
    /// Words that ride beside a call that may run.
    pub advice: Vec<String>,
    /// The finding of each piece of advice.
    pub advised: Vec<String>,
    /// A call that may run in its place.
    pub rewrite: Option<Rewrite>,
    /// What must be done before the call may run.
    pub precautions: Vec<Precaution>,
    /// How the decision came about, step by step.
    pub chain: Vec<String>,
    /// The id under which a person can say yes to a call that does not run.
    pub pending: Option<String>,
    /// What stands behind the decision: what holds when a person has said yes to it.
    pub behind: Option<Behind>,
}

/// What holds when a person has said yes to a first decision.
#[derive(Debug, Clone, Default)]
pub struct Behind {
    /// What is to happen then.
    pub decision: Decision,
    /// One sentence for each finding that decides it.
    pub reasons: Vec<String>,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// What must be done before a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precaution {
    /// Keep a copy of what these paths hold.
    Snapshot {
        /// Absolute paths.
        paths: Vec<String>,
    },
}

/// Weighs the findings under the policy.
pub(crate) fn decide(policy: &Policy, facts: &Facts<'_>, findings: Vec<Finding>) -> Verdict {
    let mut verdict = Verdict { confidence: 100, ..Verdict::default() };
    let weighed = findings.into_iter().map(|finding| {
        let worth = policy.worth(&finding, facts, &mut verdict.chain);
        (finding, worth)
    });
    let (weighed, behind) = parted(once_each(weighed.collect()));
    verdict.behind = behind;
    verdict.risk = weighed.iter().map(|(finding, _)| finding.severity).max().unwrap_or_default();
    let mut deciding: Vec<(Decision, String)> = Vec::new();
    for (finding, worth) in &weighed {
        let Some(decision) = decision(*worth) else { continue };
        verdict.chain.push(format!(
            "{}: {} is worth {} in {}",
            finding.id,
            finding.severity.name(),
            word(decision),
            policy.name
        ));
        verdict.decision = verdict.decision.max(decision);
        let said = said(decision, finding);
        if decision == Decision::Pass {
            verdict.advice.push(said);
            verdict.advised.push(finding.id.clone());
        } else {
            deciding.push((decision, said));
        }
    }
    // What would only have been asked about is no news beside what is blocked.
    verdict.reasons =
        deciding.into_iter().filter(|(decision, _)| *decision == verdict.decision).map(|(_, said)| said).collect();
    verdict.rewrite = sole_rewrite(&weighed, &mut verdict);
    verdict.findings = weighed.into_iter().map(|(finding, _)| finding).collect();
    let first = verdict.findings.first();
    verdict.confidence = first.map_or(100, |finding| finding.confidence);
    verdict.precautions = precautions(facts, verdict.decision);
    verdict
}

type Weighed = (Finding, Worth);

fn decision(worth: Worth) -> Option<Decision> {
    match worth {
        Worth::Record => None,
        Worth::Warn => Some(Decision::Pass),
        Worth::Ask => Some(Decision::Ask),
        Worth::Deny => Some(Decision::Deny),
    }
}

/// Those that count now, and those that stand behind one of them that stops the call. Behind one that does not, they
/// count now.
fn parted(weighed: Vec<Weighed>) -> (Vec<Weighed>, Option<Behind>) {
    if weighed.iter().all(|(finding, _)| finding.behind.is_none()) {
        return (weighed, None);
    }
    let stops: Vec<String> =
        weighed.iter().filter(|(_, worth)| *worth >= Worth::Ask).map(|(finding, _)| finding.id.clone()).collect();
    let (later, now): (Vec<Weighed>, Vec<Weighed>) =
        weighed.into_iter().partition(|(finding, _)| finding.behind.as_ref().is_some_and(|id| stops.contains(id)));
    let mut behind = Behind::default();
    for (finding, worth) in later.into_iter().filter(|(_, worth)| *worth >= Worth::Ask) {
        let decision = decision(worth).unwrap_or_default();
        behind.decision = behind.decision.max(decision);
        behind.reasons.push(said(decision, &finding));
        behind.findings.push(finding);
    }
    (now, (!behind.findings.is_empty()).then_some(behind))
}

/// The call that may run in place of this one: there is one only if nothing else stands against the call. Two that
/// differ are none.
fn sole_rewrite(weighed: &[(Finding, Worth)], verdict: &mut Verdict) -> Option<Rewrite> {
    let against = weighed.iter().filter(|(_, worth)| *worth >= Worth::Ask);
    let mut rewrites = against.map(|(finding, _)| finding.rewrite.clone());
    let first = rewrites.next()??;
    if rewrites.all(|other| other.as_ref() == Some(&first)) {
        return Some(first);
    }
    verdict.chain.push("several rules would put different calls in its place, so none is".into());
    verdict.decision = Decision::Deny;
    None
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "a warning",
        Decision::Ask => "a question",
        Decision::Deny => "a block",
    }
}

/// Strictest first; an id that fires for several parts is told once, for the part that weighs most.
fn once_each(mut findings: Vec<(Finding, Worth)>) -> Vec<(Finding, Worth)> {
    findings.sort_by_key(|(finding, _)| std::cmp::Reverse((finding.severity, finding.confidence)));
    let mut kept: Vec<(Finding, Worth)> = Vec::new();
    for (finding, worth) in findings {
        match kept.iter_mut().find(|(known, _)| known.id == finding.id) {
            Some(known) if worth > known.1 => *known = (finding, worth),
            Some(_) => {}
            None => kept.push((finding, worth)),
        }
    }
    kept
}

/// What triggered and why, then the harm and what to do instead.
fn said(decision: Decision, finding: &Finding) -> String {
    let begin = match decision {
        Decision::Pass => "Warning",
        Decision::Ask => "Needs approval",
        Decision::Deny => "Blocked",
    };
    let Finding { id, category, command, message, remedy, .. } = finding;
    let mut text = format!("{begin}: `{command}` matches safety pattern `{id}` (category: {category}). {message}");
    if !remedy.is_empty() {
        text.push_str(&format!(" Instead: {remedy}."));
    }
    text
}

/// What a call that may run would destroy is kept first.
fn precautions(facts: &Facts<'_>, decision: Decision) -> Vec<Precaution> {
    if decision == Decision::Deny {
        return Vec::new();
    }
    let destroys = |effect: &&Effect| {
        matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Truncate | EffectKind::DiscardChanges | EffectKind::DiscardUntracked
        )
    };
    let destroying = facts.analysis.effects.iter().filter(destroys);
    let paths: Vec<String> = destroying
        .flat_map(|effect| effect.targets.iter().map(|target| facts.real(effect, target).path))
        .filter(|path| !path.is_empty())
        .collect();
    if paths.is_empty() { Vec::new() } else { vec![Precaution::Snapshot { paths }] }
}

/// What is told about how a person can let a denied call run.
pub fn way_on(event: &Event, decision: Decision, pending: Option<&str>) -> Option<String> {
    if decision != Decision::Deny {
        return None;
    }
    let call = if event.tool.is_empty() { "it" } else { "this call" };
    let way = match pending {
        Some(id) => format!("can allow exactly it with `reflex approve {id}` in their own terminal"),
        None => "can run it in their own terminal".to_owned(),
    };
    Some(format!("Do not work around this. If {call} is really wanted, a person {way}."))
}

impl Verdict {
    /// Leaves out the advice that the agent has had before.
    pub fn advise_once(&mut self, told: impl Fn(&str) -> bool) {
        let known: Vec<bool> = self.advised.iter().map(|id| told(id)).collect();
        let mut keep = known.iter().map(|known| !known);
        self.advice.retain(|_| keep.next().unwrap_or(true));
        let mut keep = known.iter().map(|known| !known);
        self.advised.retain(|_| keep.next().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::Analysis;
    use crate::finding::Tier;
    use crate::world::Supposed;
    use reflex_tables::Node;

    /// Every severity and, for findings that fix their decision, every decision.
    fn findings() -> Vec<Finding> {
        let of = |(index, (severity, fixed)): (usize, (Severity, Option<Worth>))| Finding {
            id: format!("test/{index}"),
            severity,
            confidence: 50,
            tier: Tier::Recommended,
            fixed,
            ..Finding::default()
        };
        let actions = [None, Some(Worth::Warn), Some(Worth::Ask), Some(Worth::Deny)];
        let pairs = Severity::ALL.iter().flat_map(|(severity, _)| actions.map(|action| (*severity, action)));
        pairs.enumerate().map(of).collect()
    }

    #[test]
    fn adding_a_finding_never_loosens_a_verdict() {
        let (event, analysis, world) = (Event::default(), Analysis::default(), Supposed::default());
        let facts = Facts::new(&event, &analysis, Node::NIL, &world);
        let worths =
            serde_json::json!({"info": "pass", "low": "pass", "medium": "warn", "high": "ask", "critical": "block"});
        let tables = serde_json::json!({"policies": {"test": worths}});
        let blob = reflex_tables::compile::encode(&tables).unwrap().leak();
        let policy = Policy::named(reflex_tables::root(blob), "test").unwrap();
        let all = findings();
        for one in &all {
            for other in &all {
                let alone = decide(&policy, &facts, vec![one.clone()]);
                let both = decide(&policy, &facts, vec![one.clone(), other.clone()]);
                let turned = decide(&policy, &facts, vec![other.clone(), one.clone()]);
                assert!(both.decision >= alone.decision && both.risk >= alone.risk, "{} {}", one.id, other.id);
                assert_eq!((both.decision, both.risk), (turned.decision, turned.risk), "{} {}", one.id, other.id);
            }
        }
    }
}
