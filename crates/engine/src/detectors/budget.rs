//! Findings for the budgets that a person set for a session: calls, minutes, started agents, nesting of agents.

use crate::facts::cache::Facts;
use crate::model::event::Action;
use crate::model::finding::{DetectorName, Finding, Severity};
use crate::policy::Policy;
use reflex_tables::View;

/// Share of a budget, in percent, from which on the agent is warned.
const REPORTED_FROM: u64 = 80;

/// Share of a budget, in percent, above which every call is denied. Above 100 percent a person is prompted.
const STOPPED_FROM: u64 = 125;

/// Category of a finding that ends the turn, if the agent supports that.
pub(crate) const CATEGORY: &str = "budget";

/// Returns a finding for each budget that is nearly or completely used up. Usage is only counted if a budget is set.
pub(crate) fn inspect(policy: &Policy, facts: &Facts<'_>) -> Vec<Finding> {
    let budgets = || policy.layers().iter().map(|layer| layer.tables.policy().budgets());
    if budgets().all(|budget| budget.node().is_empty()) {
        return Vec::new();
    }
    let spent = facts.call.world.spent(facts.event, &mut started(facts));
    // The lowest limit of all layers applies: a layer cannot raise another one's budget.
    let lowest = |limits: &mut dyn Iterator<Item = u32>| limits.filter(|limit| *limit > 0).min().map(u64::from);
    let counts = [
        ("calls", spent.calls, lowest(&mut budgets().map(|budget| budget.calls()))),
        ("minutes", spent.minutes, lowest(&mut budgets().map(|budget| budget.minutes()))),
        ("agents", spent.agents, lowest(&mut budgets().map(|budget| budget.agents()))),
        ("depth", spent.depth, lowest(&mut budgets().map(|budget| budget.depth()))),
    ];
    counts.into_iter().filter_map(|(name, used, limit)| finding(name, used, limit?)).collect()
}

/// Names of the programs that the call runs. An agent started by a tool is included with an empty name.
fn started<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f str> {
    let spawned = facts.event.actions.iter().filter(|action| matches!(action, Action::SpawnAgent { .. })).map(|_| "");
    let commands = facts.analysis.readings.iter().flat_map(|reading| &reading.commands);
    spawned.chain(commands.map(|command| command.name.as_str()))
}

fn finding(name: &str, used: u64, limit: u64) -> Option<Finding> {
    let share = used.saturating_mul(100) / limit;
    // Reaching the maximum depth exactly is allowed and gives no warning.
    let warned_from = if name == "depth" { 101 } else { REPORTED_FROM };
    let severity = match share {
        _ if share < warned_from => return None,
        _ if share > STOPPED_FROM => Severity::Critical,
        _ if share > 100 => Severity::High,
        _ => Severity::Medium,
    };
    let what = match name {
        "depth" => "agents within agents",
        "agents" => "agents that are started",
        other => other,
    };
    let remedy = if severity == Severity::Medium {
        "finish what matters most, and say what stays open"
    } else {
        "end the turn now: tell the user what is done, what is open and what it would take"
    };
    Some(Finding {
        id: format!("budget/{name}"),
        detector: DetectorName::Loopbreaker,
        category: CATEGORY.into(),
        severity,
        confidence: 100,
        message: format!("This is {used} of {limit} {what} that a person gave this session."),
        remedy: remedy.into(),
        command: name.into(),
        ..Finding::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_warns_then_asks_then_blocks() {
        let of = |name, used| finding(name, used, 100).map(|finding| finding.severity);
        assert_eq!(
            (of("calls", 79), of("calls", 80), of("calls", 100)),
            (None, Some(Severity::Medium), Some(Severity::Medium))
        );
        assert_eq!((of("calls", 101), of("calls", 125)), (Some(Severity::High), Some(Severity::High)));
        assert_eq!((of("calls", 126), of("depth", 100)), (Some(Severity::Critical), None));
        assert_eq!(finding("depth", 3, 2).map(|finding| finding.severity), Some(Severity::Critical));
    }
}
