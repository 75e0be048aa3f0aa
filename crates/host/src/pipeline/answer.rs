//! The path of one call: bytes in, answer out.

use super::auto_pilot::{Allowed, Consulted, Sight};
use super::broker::{self, Asked};
use super::client_files;
use super::host::{Host, judged_with};
use super::mcp_verdicts;
use super::memory;
use super::modes;
use super::reply::{unrecorded, warn_if_unrecorded};
use super::starts;
use super::stop::StopCheck;
use crate::audit::record::{self, CallRef, RecordContext, Timings};
use crate::audit::skills;
use crate::config::judge::judged;
use crate::config::{self, Loaded};
use crate::reflexes::Detector;
use crate::store::Store;
use crate::store::alarm::{Alarm, Subject};
use crate::store::approvals::{Grant, Pending};
use crate::store::canary::CANARY;
use crate::store::modes::AUTO_PILOT;
use crate::store::redact::Redactor;
use crate::store::session::{History, session_key};
use crate::system::{clock, random};
use crate::world::LocalWorld;
use reflex_agents::{Agent, BadEvent, Delivery, Payload, Reply, deliver};
use reflex_engine::{
    Advice, Decision, Engine, Event, Finding, Fingerprint, Judgement, Moment, Policy, PolicyAction, Reason, Severity,
    Verdict,
};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::time::Instant;

impl Host {
    /// Answers one payload of an agent.
    pub fn answer(&self, agent: &Agent, payload: &Payload<'_>) -> Reply {
        match mcp_verdicts::is_judged(&self.store(), agent, payload) {
            true => Reply::default(),
            false => self.answer_as(agent, payload, None),
        }
    }

    /// The answer after a person or a model has decided. The call is judged again, and its losses are backed up again.
    fn answer_again(
        &self,
        agent: &Agent,
        payload: &Payload<'_>,
        (id, allowed): (String, Option<Allowed>),
        kept: Option<&str>,
    ) -> Reply {
        kept.into_iter().for_each(|kept| self.backups().discard(kept));
        self.answer_as(agent, payload, Some(Again { id, allowed }))
    }

    /// The same. With `again`, a prompt about the call was just answered: the call is judged again in the current
    /// state, under the id of its record, and does not wait again.
    fn answer_as(&self, agent: &Agent, payload: &Payload<'_>, again: Option<Again>) -> Reply {
        let begun = Instant::now();
        let event = match self.read(agent, payload) {
            Ok(event) => event,
            Err(problem) => return self.unread(agent, payload.event_name, &problem, payload.fields.is_empty()),
        };
        let store = self.store();
        store.beat(&event);
        if let Some(duty) = StopCheck::from_event(&event) {
            return self.end(agent, &event, duty);
        }
        if event.moment == Moment::AfterTool {
            return self.after(agent, &event, &store, payload);
        }
        let read = nanos(begun);
        let (loaded, present) = config::load_with_presence(&self.folders, Path::new(&event.workspace), &store);
        let (mode, policy) = self.policy_of(&event, &store, &loaded);
        let world = self.world(&event, &loaded).in_session(&store, session_key(&event)).at(&event);
        let reflexes = self.reflexes(&event, present, &store);
        let all = || store.history(session_key(&event));
        let detector = reflexes.as_ref().map(|list| Detector::new(list, &world, &all, payload.fields.clone().into()));
        let about = (&event, policy.as_ref(), &world);
        let (mut judgement, passed) = modes::judged(mode, about, detector.as_ref());
        let scene = Scene { policy: policy.as_ref(), world: &world, loaded: &loaded };
        self.advise(agent, &event, &scene, &mut judgement);
        let redactor = Redactor::of_call(&store, &event, &judgement);
        redactor.silence(&mut judgement.verdict);
        let (id, fingerprint) = (Again::id(again.as_ref(), &event), judgement.fingerprint.clone());
        let call = CallRef { id: &id, event: &event, fingerprint: &fingerprint };
        let kept = self.keep_first(call, &mut judgement, &redactor);
        let sight = Sight { mode, loaded: &loaded, about, kept: kept.as_deref() };
        let mut asking = Asking { agent, call, again: again.as_ref(), passed, sight, judge: None };
        let released = match self.release_or_ask(&mut asking, &mut judgement, &redactor) {
            Released::Answered(allowed) => return self.answer_again(agent, payload, (id, allowed), kept.as_deref()),
            Released::By(grant) => grant,
            Released::Waits(_) | Released::No => None,
        };
        note_canary(&store, &event, &judgement.verdict);
        memory::recall_steps(|| world.history(), &mut judgement.verdict);
        let delivery = agent.deliver(payload, &event, &judgement.verdict);
        let context = RecordContext {
            delivery: &delivery,
            policy: mode.policy_name(policy.as_ref()),
            layers: &loaded,
            grant: released.as_deref(),
            kept: kept.as_deref(),
            judge: asking.judge,
            reflexes: detector.as_ref().map(Detector::reports).unwrap_or_default(),
            latency: Timings { read, judged: &judgement.latency, total: nanos(begun) },
            probe: false,
        };
        let needed = policy.as_ref().is_some_and(|policy| event.moment.is_before_execution() && policy.needs_record());
        let record = record::call(&redactor, call, &judgement, &context);
        let times = (record::is_durable(&judgement), needed || released.is_some());
        let recorded = starts::record(&store, &event, record, times);
        if let (Err(error), true) = (&recorded, needed) {
            return unrecorded(agent, &event, error);
        }
        let remembered = remembered(&redactor, call, &judgement, (&delivery, released.is_some()));
        warn_if_unrecorded((agent.write)(&event, &judgement.verdict, &delivery), recorded, remembered)
    }

    /// Adds what is to be said about the client's files, alarms and approvals.
    fn advise(&self, agent: &Agent, event: &Event, scene: &Scene<'_>, judgement: &mut Judgement) {
        let store = self.store();
        let of_files = self.of_client_files(agent, event, scene.loaded);
        if let Some(policy) = scene.policy.filter(|_| !of_files.is_empty()) {
            add(judgement, of_files, (event, policy, scene.world));
        }
        advise_once(judgement, scene.world);
        let approvals = remind_of_alarms(&store, || scene.world.history(), &mut judgement.verdict);
        broker::report_approval(&store, (agent, event), &approvals, &mut judgement.verdict);
    }

    /// The event of a payload, placed on this machine.
    fn read(&self, agent: &Agent, payload: &Payload<'_>) -> Result<Event, BadEvent> {
        let event = (agent.read)(payload)?;
        if event.moment == Moment::Stop && payload.fields.is_empty() {
            // An empty payload tests the hook; no turn ends.
            let problem = "it is empty".to_owned();
            return Err(BadEvent { field: String::new(), problem, moment: Some(Moment::Stop) });
        }
        let mut event = self.settled(self.store().named(event));
        client_files::with_shell_lines(agent, &mut event);
        Ok(event)
    }

    /// The same as `release`. The first time a call comes here, a person is asked if it still waits then.
    fn release_or_ask(&self, asking: &mut Asking<'_>, judgement: &mut Judgement, redactor: &Redactor<'_>) -> Released {
        self.listen(asking.sight.mode, asking.call.event, redactor);
        if let Some(why) = asking.passed.take() {
            return let_run(judgement, (None, why));
        }
        match self.release(asking, judgement, redactor) {
            Released::Waits(call) if asking.again.is_none() => {
                match self.ask((asking.agent, asking.call.event), asking.sight.loaded, &mut judgement.verdict, &call) {
                    Asked::Answered => Released::Answered(None),
                    Asked::Unchanged => Released::No,
                }
            }
            released @ (Released::By(_) | Released::Waits(_) | Released::Answered(_) | Released::No) => released,
        }
    }

    /// Lets a call pass that a person has approved, or while a person has switched the guard off. Otherwise keeps it so
    /// that a person can approve it.
    fn release(&self, asking: &mut Asking<'_>, judgement: &mut Judgement, redactor: &Redactor<'_>) -> Released {
        let call = asking.call;
        if judgement.verdict.decision == Decision::Pass {
            return Released::No;
        }
        let store = self.store();
        let pending = memory::pending(call, judgement, redactor, (self.guard(), asking.sight.kept));
        let by = match store.pause().filter(|pause| pause.holds_in(&call.event.workspace)) {
            Some(pause) => {
                Some(("off".to_owned(), format!("the guard is switched off by {} ({})", pause.by, pause.reason)))
            }
            None => match self.approval(&pending, call, judgement, redactor) {
                Some(by) => by.or_else(|| self.approved_above(call.event, judgement)),
                None => return Released::No,
            },
        };
        match by {
            Some((grant, why)) => let_run(judgement, (Some(grant), why)),
            None => self.keep_waiting(pending, asking, judgement, redactor),
        }
    }

    /// Keeps a call without an approval, unless a person has denied it or a model lets it run.
    fn keep_waiting(
        &self,
        pending: Pending,
        asking: &mut Asking<'_>,
        judgement: &mut Judgement,
        redactor: &Redactor<'_>,
    ) -> Released {
        let store = self.store();
        if let Some(no) = store.no_to(&pending) {
            broker::refuse(&mut judgement.verdict, &no);
            return Released::No;
        }
        let consulted = match asking.again {
            Some(Again { allowed: Some(allowed), .. }) => allowed.still_holds(&pending, judgement),
            Some(Again { allowed: None, .. }) => Consulted::Person(None),
            None => self.consult(asking.sight, asking.call, judgement, redactor),
        };
        let is_refused = matches!(consulted, Consulted::Refused(_));
        match consulted {
            Consulted::Allowed(judge) => return Released::Answered(Some(Allowed::now(&pending, judge))),
            Consulted::Runs(judge) => {
                asking.judge = Some(judge);
                return let_run(
                    judgement,
                    (None, format!("{AUTO_PILOT}: the model is sure that it belongs to the work")),
                );
            }
            Consulted::Refused(judge) => asking.judge = Some(judge),
            Consulted::Person(judge) => asking.judge = judge,
        }
        // A call that cannot be kept is still refused; the person then runs it in their own terminal.
        let Ok(kept) = store.keep_pending(&pending) else { return Released::No };
        judgement.verdict.pending = Some(kept.id.clone());
        if is_refused {
            return Released::No;
        }
        if let Some(other) = store.approval_of_another(&pending) {
            judgement.verdict.asked = broker::almost(&other);
            return Released::No;
        }
        Released::Waits(Box::new(kept))
    }

    /// The approval that covers a call, if any. `None` if it covers only the first of two decisions: the second one
    /// then decides, and the call is kept under an id of its own.
    #[expect(clippy::option_option, reason = "the outer one ends the question, the inner one answers it")]
    fn approval(
        &self,
        pending: &Pending,
        call: CallRef<'_>,
        judgement: &mut Judgement,
        redactor: &Redactor<'_>,
    ) -> Option<Option<(String, String)>> {
        let store = self.store();
        let grant = |pending: &Pending| store.use_grant(pending).unwrap_or(None);
        let context = |grant: &Grant| (grant.id.clone(), describe(grant));
        if judgement.verdict.after.is_some()
            && let Some(both) = grant(&after(pending.clone()))
        {
            return Some(Some(context(&both)));
        }
        let Some(first) = grant(pending) else { return Some(None) };
        let Some(further) = judgement.verdict.after.take() else { return Some(Some(context(&first))) };
        judgement.verdict.chain.push(describe(&first));
        judgement.verdict.decision = further.decision;
        judgement.verdict.reasons = further.reasons;
        judgement.verdict.findings.extend(further.findings);
        let pending = after(memory::pending(call, judgement, redactor, (self.guard(), None)));
        judgement.verdict.pending = store.keep_pending(&pending).ok().map(|kept| kept.id);
        None
    }

    /// Answers the result of a call, matched with the earlier verdict about it.
    fn after(&self, agent: &Agent, event: &Event, store: &Store, payload: &Payload<'_>) -> Reply {
        let (loaded, present) = config::load_with_presence(&self.folders, Path::new(&event.workspace), store);
        let world = self.world(event, &loaded).in_session(store, session_key(event));
        // The effects have happened; only the content is reported.
        let reflexes = self.reflexes(event, present, store);
        let all = || store.history(session_key(event));
        let detector = reflexes.as_ref().map(|list| Detector::new(list, &world, &all, payload.fields.clone().into()));
        let mut judgement = judged_with(event, self.mode.policy(&loaded).as_ref(), &world, detector.as_ref());
        let reports = detector.as_ref().map(Detector::reports).unwrap_or_default();
        let before = world.history().before(&judgement.fingerprint.exact);
        if before.is_none() {
            let world = self.world(event, &loaded).in_session(store, session_key(event));
            self.look_back(event, &loaded, &world.that_ran(), &mut judgement);
        }
        let silencing = client_files::silenced_since(agent, event);
        let is_silenced = silencing.iter().any(|finding| !world.history().has_reported(&finding.id));
        let mut further = skills::comply_after(event, store);
        further.extend(silencing.into_iter().filter(|_| is_silenced));
        if let Some(policy) = self.mode.policy(&loaded).filter(|_| !further.is_empty()) {
            add(&mut judgement, further, (event, &policy, &world));
        }
        let fingerprint = &judgement.fingerprint.clone();
        let (redactor, id) = (Redactor::of_call(store, event, &judgement), random::uuid());
        redactor.silence(&mut judgement.verdict);
        let ran_anyway = before.as_ref().is_some_and(|before| before.end == "deny" && !before.approved);
        let call_ref = CallRef { id: &id, event, fingerprint };
        let call = memory::call(call_ref, &judgement, false);
        let context = (&judgement.verdict, call.files.as_slice(), reports.as_slice());
        let record = record::outcome(&redactor, call_ref, before.as_ref(), context);
        let mut recorded = store.record(&record, ran_anyway);
        if ran_anyway {
            let text = format!("{} ran a call that was refused: {}", event.client, record::shown(&redactor, event));
            recorded =
                recorded.and(store.raise(&Alarm { record: id.clone(), time: clock::now(), text, of: Subject::Call }));
        }
        if is_silenced {
            let text =
                format!("settings of {} switch off its hooks: `reflex status` there names them", event.workspace);
            recorded =
                recorded.and(store.raise(&Alarm { record: id.clone(), time: clock::now(), text, of: Subject::Hooks }));
        }
        let remembered = store.remember_by(&redactor, session_key(event), &call);
        let remembered = remembered.and(keep(&redactor, event, &judgement));
        let delivery = deliver(event, &judgement.verdict, agent.abilities(event));
        warn_if_unrecorded((agent.write)(event, &judgement.verdict, &delivery), recorded, remembered)
    }

    /// Warns about a call that was not judged before it ran, where it would have been asked about or refused.
    fn look_back(&self, event: &Event, loaded: &[Loaded], world: &LocalWorld<'_>, judgement: &mut Judgement) {
        let Some(policy) = self.mode.policy(loaded) else { return };
        let call = Event { moment: Moment::BeforeTool, outcome: None, ..event.clone() };
        let before = judged(&call, Some(&policy), world).verdict;
        if before.decision == Decision::Pass {
            return;
        }
        let context = before.findings.into_iter().filter(|finding| finding.severity >= Severity::High);
        let context = context.map(|finding| Finding {
            fixed: Some(PolicyAction::Warn),
            message: format!("This call ran without being judged first. {}", finding.message),
            action: None,
            effect: None,
            ..finding
        });
        add(judgement, context.collect(), (event, &policy, world));
    }

    /// The answer to an event that cannot be read, built in this one place. Before a tool runs, the tool is blocked.
    /// The command line may name the moment of the event.
    pub fn unreadable(&self, agent: &Agent, context: Option<&str>, problem: &BadEvent) -> Reply {
        self.unread(agent, context, problem, false)
    }

    fn unread(&self, agent: &Agent, context: Option<&str>, problem: &BadEvent, probe: bool) -> Reply {
        let (word, moment) = (context.unwrap_or(""), context.map(agent.moment).or(problem.moment).unwrap_or_default());
        let reason = match moment.is_before_execution() {
            true => format!("Blocked: Reflex cannot read this event ({problem}), so it does not run."),
            false => format!("Warning: Reflex cannot read this event ({problem}), so it was not judged."),
        };
        let event = Event { client: agent.name.into(), moment, ..Event::default() };
        let denied = if moment.is_before_execution() { Decision::Deny } else { Decision::Pass };
        let store = self.store();
        let delivery = Delivery::Reply { decision: denied, reason: reason.clone() };
        let id = random::uuid();
        let call = CallRef { id: &id, event: &event, fingerprint: &Fingerprint::default() };
        let judgement = Judgement::unjudged(denied);
        let latency = Timings::none(&judgement.latency);
        let (layers, reflexes) = (&[], Vec::new());
        let context = RecordContext {
            delivery: &delivery,
            policy: self.mode.name(),
            layers,
            grant: None,
            kept: None,
            judge: None,
            reflexes,
            latency,
            probe,
        };
        let record = record::call(&Redactor::new(&store), call, &judgement, &context);
        let recorded = store.record(&record, denied == Decision::Deny);
        warn_if_unrecorded((agent.refuse)(word, moment, &reason), recorded, Ok(()))
    }
}

/// Marks advice that this session has received already.
fn advise_once(judgement: &mut Judgement, world: &LocalWorld<'_>) {
    let exact = &judgement.fingerprint.exact;
    judgement.verdict.advise_once(|advice| memory::was_shown(world.history(), advice, exact));
}

/// Lets a call run by a person's grant, or by a mode, for this reason.
fn let_run(judgement: &mut Judgement, (grant, why): (Option<String>, String)) -> Released {
    judgement.verdict.decision = Decision::Pass;
    judgement.verdict.rewrite = None;
    judgement.verdict.reasons.clear();
    judgement.verdict.chain.push(why);
    Released::By(grant)
}

/// Adds findings from outside of the judgement to its verdict.
fn add(judgement: &mut Judgement, further: Vec<Finding>, (event, policy, world): (&Event, &Policy, &LocalWorld<'_>)) {
    let mut findings = std::mem::take(&mut judgement.verdict.findings);
    findings.extend(further);
    judgement.verdict = Engine::new(reflex_library::tables(), policy).conclude(event, world, findings);
}

/// Records that a canary has reached the hook, which proves that the hook works.
fn note_canary(store: &Store, event: &Event, verdict: &Verdict) {
    if verdict.findings.iter().any(|finding| finding.id == CANARY) {
        store.canary_seen(event, verdict.decision);
    }
}

/// Policy and facts of a judgement.
struct Scene<'a> {
    /// `None` if the guard only records.
    policy: Option<&'a Policy>,
    world: &'a LocalWorld<'a>,
    loaded: &'a [Loaded],
}

/// A call that is judged again after an answer.
struct Again {
    /// The id of its record.
    id: String,
    /// The model's allowance, if a model answered.
    allowed: Option<Allowed>,
}

impl Again {
    /// The id of the record, or a new one for a call that is judged for the first time.
    fn id(again: Option<&Again>, event: &Event) -> String {
        let known = again.map(|again| &again.id).or(event.started.as_ref().map(|started| &started.id));
        known.map_or_else(random::uuid, Clone::clone)
    }
}

/// A call being answered, with its context.
struct Asking<'a> {
    agent: &'a Agent,
    call: CallRef<'a>,
    /// Set once a prompt about it was answered.
    again: Option<&'a Again>,
    /// The chain step of a call that runs because of a mode alone.
    passed: Option<String>,
    sight: Sight<'a>,
    /// The model's answer, for the record.
    judge: Option<Value>,
}

/// The outcome for a call that was stopped.
enum Released {
    /// It passes, by the grant of this id or by a mode.
    By(Option<String>),
    /// It waits for a person.
    Waits(Box<Pending>),
    /// A person or a model has just answered.
    Answered(Option<Allowed>),
    /// It does not pass, and this hook does not wait for an answer.
    No,
}

/// The same call after the first of two decisions about it was approved.
fn after(pending: Pending) -> Pending {
    Pending { exact: format!("{}+", pending.exact), lasting: format!("{}+", pending.lasting), ..pending }
}

/// Remembers a call in its session, with its traces for later calls and for a proxy.
fn remembered(
    redactor: &Redactor<'_>,
    call: CallRef<'_>,
    judgement: &Judgement,
    (delivery, is_granted): (&Delivery, bool),
) -> io::Result<()> {
    let (store, event) = (redactor.store(), call.event);
    if event.started.is_some() {
        return Ok(());
    }
    let call = memory::delivered(memory::call(call, judgement, is_granted), delivery);
    let left = keep(redactor, event, judgement).and(mcp_verdicts::leave(store, event, delivery));
    store.remember_by(redactor, session_key(event), &call).and(left)
}

/// Keeps the remnants of a call, unless it does not run.
fn keep(redactor: &Redactor<'_>, event: &Event, judgement: &Judgement) -> io::Result<()> {
    if judgement.left.is_empty() || judgement.verdict.decision == Decision::Deny {
        return Ok(());
    }
    redactor.store().keep_remnants(redactor, session_key(event), &judgement.left)
}

fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn describe(grant: &Grant) -> String {
    let reason = if grant.reason.is_empty() { String::new() } else { format!(" ({})", grant.reason) };
    format!("{} said yes to this with `reflex approve {}`{reason}", grant.by, grant.id)
}

/// Reports the newest unseen alarm of each subject, once per session. Returns the ids of approvals that no agent was
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
