//! The mode `allow-all`: only core rules stop a call, and calls that were not judged completely. Its losses are backed
//! up first.

use super::host::Host;
use crate::config::judge::judge;
use crate::config::{self, Loaded, Mode};
use crate::reflexes::Detector;
use crate::store::Store;
use crate::store::modes::{ALLOW_ALL, PASSED_BY_MODE};
use crate::store::session::{History, SessionKey, session_key};
use crate::system::person::no_agent_above;
use reflex_engine::{
    Action, Decision, Engine, Event, Finding, JudgeOptions, Judgement, Policy, PolicyAction, Seen, Tier, Verdict, World,
};
use serde_json::{Value, json};
use std::path::Path;

impl Host {
    /// The mode of a call, including modes that a person has set for some time, and its policy.
    pub(super) fn policy_of(&self, event: &Event, store: &Store, loaded: &[Loaded]) -> (Mode, Option<Policy>) {
        let mode = self.mode.set_to(&store.modes_in(&event.workspace), loaded);
        (mode, mode.policy(loaded))
    }

    /// Judges an event on this machine. Only a call that has not run is judged by its effects. Reflexes see the payload
    /// that its agent sent, or without one a payload in the form of Claude Code's.
    pub fn judge(&self, event: &Event, sent: Option<&Value>) -> Judgement {
        let store = self.store();
        let (loaded, present) = config::load_with_presence(self.folders(), Path::new(&event.workspace), &store);
        // A call without a session is judged as the first call of a new one.
        let first = SessionKey { session: "reflex check", ..session_key(event) };
        let session = if event.session.is_empty() { first } else { session_key(event) };
        let world = self.world(event, &loaded).in_session(&store, session);
        let reflexes = self.reflexes(event, present, &store);
        let payload = sent.cloned().unwrap_or_else(|| payload_of(event));
        let detector = reflexes.as_ref().map(|list| Detector::new(list, &world, &History::default, payload.clone()));
        let (mode, policy) = self.policy_for_reader(event, &store, &loaded);
        let ruling = Ruling { mode, policy: policy.as_ref(), world: &world };
        let (mut judgement, passed) = judge_in_mode(ruling, event, detector.as_ref());
        if passed.is_some() && !judgement.verdict.is_kept_first() {
            judgement.verdict.decision = Decision::Pass;
            judgement.verdict.reasons.clear();
        }
        judgement
    }

    /// The name of the policy under which an event is judged.
    pub fn policy_name(&self, event: &Event) -> &'static str {
        let (mode, policy) = self.policy_for_reader(event, &self.store(), &self.layers(&event.workspace));
        mode.policy_name(policy.as_ref())
    }

    /// The policy in force in a project, without modes.
    pub fn policy_in(&self, workspace: &str) -> Option<Policy> {
        self.mode.policy(&self.layers(workspace))
    }

    /// The mode and policy for a question about a call. Modes are hidden from an agent that asks.
    pub(super) fn policy_for_reader(&self, event: &Event, store: &Store, loaded: &[Loaded]) -> (Mode, Option<Policy>) {
        if store.modes().is_empty() || no_agent_above().is_err() {
            return (self.mode, self.mode.policy(loaded));
        }
        self.policy_of(event, store, loaded)
    }
}

/// The event in the form of Claude Code's payload.
fn payload_of(event: &Event) -> Value {
    let command = event.actions.iter().find_map(|action| {
        let Action::Shell { command, .. } = action else { return None };
        Some(json!({"command": command}))
    });
    let input = command.unwrap_or_else(|| json!({}));
    json!({"tool_name": event.tool, "tool_input": input, "cwd": event.cwd})
}

/// Findings that a part of a call was not judged. A core rule might be about that part, so they stay.
const UNJUDGED: [&str; 2] = ["judgement/too-much", "code/too-large"];

/// Mode, policy and facts for a judgement.
#[derive(Clone, Copy)]
pub(super) struct Ruling<'a> {
    pub(super) mode: Mode,
    /// `None` if the guard only records.
    pub(super) policy: Option<&'a Policy>,
    pub(super) world: &'a dyn World,
}

impl Ruling<'_> {
    /// Judges an event with the reflexes that are in force.
    pub(super) fn judge(self, event: &Event, detector: Option<&Detector<'_>>) -> Judgement {
        let Some(detector) = detector else { return judge(event, self.policy, self.world) };
        let ask = |seen: &Seen<'_>| detector.inspect(seen);
        judge(event, self.policy, JudgeOptions { world: self.world, further: &ask })
    }
}

/// Judges a call in a mode. Returns the reason if the call runs because of the mode alone.
pub(super) fn judge_in_mode(
    ruling: Ruling<'_>,
    event: &Event,
    detector: Option<&Detector<'_>>,
) -> (Judgement, Option<String>) {
    let mut judgement = ruling.judge(event, detector);
    let passed = set_aside(ruling, event, &mut judgement);
    (judgement, passed)
}

/// Reduces a verdict to its core rules. If they do not stop the call and other rules do, the call runs: its verdict
/// becomes that of [`ALLOW_ALL`], under which losses are backed up. Returns the reason why it runs.
fn set_aside(ruling: Ruling<'_>, event: &Event, judgement: &mut Judgement) -> Option<String> {
    let Ruling { mode, policy, world } = ruling;
    let policy = policy.filter(|_| mode.allows_all() && judgement.verdict.decision != Decision::Pass)?;
    let tables = reflex_library::tables();
    let stays = |finding: &Finding| finding.tier == Tier::Core || UNJUDGED.contains(&finding.id.as_str());
    let (core, others): (Vec<Finding>, Vec<Finding>) = judgement.verdict.findings.clone().into_iter().partition(stays);
    let passed: Vec<String> = others.iter().map(|finding| finding.id.clone()).collect();
    let why = format!("{PASSED_BY_MODE} {ALLOW_ALL}: {}", passed.join(", "));
    let stopped = Engine::new(tables, policy).weigh(event, world, &judgement.analysis, core);
    if stopped.decision != Decision::Pass {
        judgement.verdict = stopped;
        judgement.verdict.chain.push(why);
        return None;
    }
    // A person's own rule may block a call whose losses can be backed up.
    let asked =
        |finding: Finding| Finding { fixed: finding.fixed.map(|fixed| fixed.min(PolicyAction::Ask)), ..finding };
    let all = stopped.findings.into_iter().chain(others.into_iter().map(asked)).collect();
    let loose = Policy::named(tables, ALLOW_ALL)?;
    let chain = std::mem::take(&mut judgement.verdict.chain);
    let verdict = Engine::new(tables, &loose).weigh(event, world, &judgement.analysis, all);
    judgement.verdict = Verdict { chain, ..verdict };
    Some(why)
}
