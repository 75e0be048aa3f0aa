//! Judges a received event.

use super::broker;
use super::client_files;
use super::memory;
use super::modes::{self, Ruling};
use super::stages::{Course, Judged, Received, Scene};
use crate::audit::skills;
use crate::config;
use crate::reflexes::Detector;
use crate::store::Store;
use crate::store::alarm::Subject;
use crate::store::redact::Redactor;
use crate::store::session::{History, session_key};
use reflex_engine::{
    Advice, Decision, Engine, Event, Finding, Judgement, Moment, PolicyAction, Reason, Severity, Verdict,
};
use std::path::Path;

impl<'a> Scene<'a> {
    pub(super) fn of(received: &'a Received<'a>) -> Scene<'a> {
        let (host, store, event) = (received.incoming.host, received.incoming.store, &received.event);
        let (loaded, present) = config::load_with_presence(host.folders(), Path::new(&event.workspace), store);
        let (mode, policy) = match received.course() {
            Course::Before => host.policy_of(event, store, &loaded),
            Course::Ran | Course::Ends(_) => (host.mode, host.mode.policy(&loaded)),
        };
        let world = host.world(event, &loaded).in_session(store, session_key(event));
        let world = if received.course() == Course::Before { world.at(event) } else { world };
        let reflexes = match received.course() {
            Course::Before | Course::Ran => host.reflexes(event, present, store),
            Course::Ends(_) => None,
        };
        Scene { loaded, mode, policy, world, reflexes }
    }

    pub(super) fn ruling(&self) -> Ruling<'_> {
        Ruling { mode: self.mode, policy: self.policy.as_ref(), world: &self.world }
    }

    /// Adds findings from outside of the judgement to its verdict.
    fn add(&self, event: &Event, judgement: &mut Judgement, further: Vec<Finding>) {
        let Some(policy) = self.policy.as_ref().filter(|_| !further.is_empty()) else { return };
        let mut findings = std::mem::take(&mut judgement.verdict.findings);
        findings.extend(further);
        judgement.verdict = Engine::new(reflex_library::tables(), policy).conclude(event, &self.world, findings);
    }
}

impl<'a> Received<'a> {
    pub(super) fn judge(&'a self, scene: &'a Scene<'a>) -> Judged<'a> {
        let (store, event) = (self.incoming.store, &self.event);
        let all = || store.history(session_key(event));
        let fields = self.incoming.payload.fields;
        let reflexes = scene.reflexes.as_ref();
        let detector = reflexes.map(|list| Detector::new(list, &scene.world, &all, fields.clone().into()));
        let (mut judgement, passed) = match self.course() {
            Course::Before => modes::judge_in_mode(scene.ruling(), event, detector.as_ref()),
            Course::Ran | Course::Ends(_) => (scene.ruling().judge(event, detector.as_ref()), None),
        };
        let mut is_silenced = false;
        match self.course() {
            Course::Before => self.advise(scene, &mut judgement),
            Course::Ran => is_silenced = self.look_back(scene, &mut judgement),
            Course::Ends(check) => self.check_end(check, scene, &mut judgement),
        }
        let redactor = Redactor::of_call(store, event, &judgement);
        redactor.silence(&mut judgement.verdict);
        let reports = detector.as_ref().map(Detector::reports).unwrap_or_default();
        Judged { received: self, scene, judgement, redactor, passed, reports, is_silenced }
    }

    /// Adds what is to be said about the client's files, alarms and approvals.
    fn advise(&self, scene: &Scene<'_>, judgement: &mut Judgement) {
        let (incoming, event) = (self.incoming, &self.event);
        let of_files = incoming.host.of_client_files(incoming.agent, event, &scene.loaded);
        scene.add(event, judgement, of_files);
        let exact = &judgement.fingerprint.exact;
        judgement.verdict.advise_once(|advice| memory::was_shown(scene.world.history(), advice, exact));
        let approvals = remind_of_alarms(incoming.store, || scene.world.history(), &mut judgement.verdict);
        broker::report_approval(incoming.store, (incoming.agent, event), &approvals, &mut judgement.verdict);
    }

    /// Adds what the result of a call shows about the call: that it ran without being judged, that it has silenced the
    /// agent's hooks, and skills that it passed over. Returns whether hooks were silenced, if that is new.
    fn look_back(&self, scene: &Scene<'_>, judgement: &mut Judgement) -> bool {
        let (incoming, event) = (self.incoming, &self.event);
        if scene.world.history().before(&judgement.fingerprint.exact).is_none() {
            scene.add(event, judgement, self.warn_of_unjudged(scene));
        }
        let silencing = client_files::silenced_since(incoming.agent, event);
        let is_silenced = silencing.iter().any(|finding| !scene.world.history().has_reported(&finding.id));
        let mut further = skills::comply_after(event, incoming.store);
        further.extend(silencing.into_iter().filter(|_| is_silenced));
        scene.add(event, judgement, further);
        is_silenced
    }

    /// Warnings about a call that was not judged before it ran, where it would have been asked about or refused.
    fn warn_of_unjudged(&self, scene: &Scene<'_>) -> Vec<Finding> {
        let (host, store) = (self.incoming.host, self.incoming.store);
        let call = Event { moment: Moment::BeforeTool, outcome: None, ..self.event.clone() };
        let world = host.world(&call, &scene.loaded).in_session(store, session_key(&self.event)).that_ran();
        let before = Ruling { world: &world, ..scene.ruling() }.judge(&call, None).verdict;
        if before.decision == Decision::Pass {
            return Vec::new();
        }
        let severe = before.findings.into_iter().filter(|finding| finding.severity >= Severity::High);
        severe.map(warn_afterwards).collect()
    }
}

fn warn_afterwards(finding: Finding) -> Finding {
    Finding {
        fixed: Some(PolicyAction::Warn),
        message: format!("This call ran without being judged first. {}", finding.message),
        action: None,
        effect: None,
        ..finding
    }
}

/// Reports the newest unseen alarm of each subject, once per session. Returns the approvals that no agent was
/// informed of.
fn remind_of_alarms<'h>(store: &Store, history: impl FnOnce() -> &'h History, verdict: &mut Verdict) -> Vec<String> {
    let (mut alarms, approvals) = store.alarms_and_approvals();
    store.record_overdue(&mut alarms);
    if alarms.is_empty() {
        return approvals;
    }
    let history = history();
    for (subject, _) in Subject::ALL {
        let (id, what) = match subject {
            Subject::Log => ("guard/log-cut", "records of Reflex are gone that no person took away"),
            Subject::Approval => ("guard/unsigned-yes", "an approval was found that no person gave"),
            Subject::Hooks => ("guard/hooks-off", "settings of a project keep an agent from running its hooks"),
            Subject::Call => ("guard/ran-anyway", "Reflex refused a call and it ran all the same"),
        };
        let newest = alarms.iter().rposition(|alarm| alarm.of == subject).map(|at| alarms.remove(at));
        let Some(alarm) = newest.filter(|_| !history.has_found(id)) else { continue };
        let text = alarm.text;
        let text = format!("Warning: {what}. {text}. A person sees it with `reflex status`.");
        verdict.advice.push(Advice { reason: Reason::plain(text), finding: id.into(), ..Advice::default() });
    }
    approvals
}
