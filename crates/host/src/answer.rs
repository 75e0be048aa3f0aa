//! The path of one call: bytes in, answer out.

use crate::config::judge::{judged, judged_further, unjudged};
use crate::config::{self, Loaded, Mode, There};
use crate::ending::Duty;
use crate::git::project_root;
use crate::memory::{self, Heard};
use crate::record::{self, Spent, Told};
use crate::reflexes::{Detector, Reflexes};
use crate::store::Store;
use crate::store::approvals::{Grant, Pending};
use crate::store::canary::CANARY;
use crate::store::clean::Scribe;
use crate::store::life::{Alarm, Subject};
use crate::store::session::{History, Whose};
use crate::system::clock;
use crate::system::folders::Folders;
use crate::world::{LocalWorld, canonical};
use reflex_agents::{Agent, BadEvent, Delivery, Payload, Reply, deliver};
use reflex_engine::{
    AgentPath, Authority, Decision, Event, Finding, Fingerprint, Judgement, Moment, NONE, Policy, Severity, Verdict,
    World, Worth, conclude, is_within,
};
use serde_json::json;
use std::io;
use std::path::Path;
use std::time::Instant;

/// This machine, as the guard sees it.
pub struct Host {
    folders: Folders,
    mode: Mode,
    /// Told before something takes as many seconds that a person configured.
    patience: fn(u64),
}

impl Host {
    /// The host of this process and its environment.
    pub fn new(mode: Mode) -> Host {
        Host { folders: Folders::of_user(), mode, patience: |_| () }
    }

    /// The same, telling `patience` before it runs what takes so many seconds.
    pub fn patient(self, patience: fn(u64)) -> Host {
        Host { patience, ..self }
    }

    pub(crate) fn wait_for(&self, seconds: u64) {
        (self.patience)(seconds);
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Answers one payload of an agent.
    pub fn answer(&self, agent: &Agent, payload: &Payload<'_>) -> Reply {
        let begun = Instant::now();
        let event = match (agent.read)(payload) {
            // A proof of the hook, and nobody's work that ends.
            Ok(event) if event.moment == Moment::Stop && payload.fields.is_empty() => {
                let problem =
                    BadEvent { field: String::new(), problem: "it is empty".into(), moment: Some(Moment::Stop) };
                return self.unreadable(agent, payload.told, &problem);
            }
            Ok(event) => self.settled(self.store().named(event)),
            Err(problem) => return self.unreadable(agent, payload.told, &problem),
        };
        let store = self.store();
        store.beat(&event);
        if let Some(duty) = Duty::of(&event) {
            return self.end(agent, &event, duty);
        }
        if event.moment == Moment::AfterTool {
            return self.after(agent, &event, &store, payload);
        }
        let read = nanos(begun);
        let (loaded, there) = config::load_there(&self.folders, Path::new(&event.workspace), &store);
        let policy = self.mode.policy(&loaded);
        let world = LocalWorld::new(&event.workspace, self.guard_with(&loaded)).in_session(&store, whose(&event));
        let world = if event.moment == Moment::BeforeTool { world.counting() } else { world };
        let reflexes = self.reflexes(&event, there, &store);
        let all = || store.history(whose(&event));
        let detector = reflexes.as_ref().map(|own| Detector::new(own, &world, &all, payload.fields.clone().into()));
        let mut judgement = judged_with(&event, policy.as_ref(), &world, detector.as_ref());
        judgement.verdict.advise_once(|id| world.history().told(id, &judgement.fingerprint.exact));
        remind_of_alarms(&store, || world.history(), &mut judgement.verdict);
        let scribe = Scribe::of_call(&store, &event, &judgement);
        scribe.silence(&mut judgement.verdict);
        let (id, fingerprint) = (clock::uuid(), judgement.fingerprint.clone());
        let heard = Heard { id: &id, event: &event, fingerprint: &fingerprint };
        let released = self.release(heard, &mut judgement, &scribe);
        if judgement.verdict.findings.iter().any(|finding| finding.id == CANARY) {
            store.canary_seen(&event, judgement.verdict.decision);
        }
        let delivery = agent.deliver(payload, &event, &judgement.verdict);
        let latency = Spent { read, judged: &judgement.latency, whole: nanos(begun) };
        let told = Told {
            delivery: &delivery,
            policy: policy.as_ref().map_or(self.mode.name(), |policy| policy.name()),
            layers: &loaded,
            grant: released.as_deref(),
            reflexes: detector.as_ref().map(Detector::reports).unwrap_or_default(),
            latency,
        };
        let record = record::call(&scribe, heard, &judgement, &told);
        let recorded = store.record(&record, record::is_durable(&judgement));
        if let Err(error) = &recorded
            && event.moment.is_before_execution()
            && policy.as_ref().is_some_and(Policy::needs_record)
        {
            return unrecorded(agent, &event, error);
        }
        let call = memory::call(heard, &judgement, released.is_some());
        let remembered = store.remember_by(&scribe, whose(&event), &call);
        let remembered = remembered.and(keep(&scribe, &event, &judgement));
        told_if_lost((agent.write)(&event, &judgement.verdict, &delivery), recorded, remembered)
    }

    /// Lets a call pass that a person has said yes to, or while a person has switched the guard off; else keeps it so
    /// that a person can. Gives what let it pass.
    fn release(&self, heard: Heard<'_>, judgement: &mut Judgement, scribe: &Scribe<'_>) -> Option<String> {
        if judgement.verdict.decision == Decision::Pass {
            return None;
        }
        let store = self.store();
        let pending = memory::pending(heard, judgement, scribe);
        let by = match store.pause().filter(|pause| pause.holds_in(&heard.event.workspace)) {
            Some(pause) => {
                Some(("off".to_owned(), format!("the guard is switched off by {} ({})", pause.by, pause.reason)))
            }
            None => self.said_yes(&pending, heard, judgement, scribe)?,
        };
        let Some((id, why)) = by else {
            // Who cannot keep it still refuses it; the person then runs it in their own terminal.
            judgement.verdict.pending = store.keep_pending(&pending).ok();
            return None;
        };
        judgement.verdict.decision = Decision::Pass;
        judgement.verdict.rewrite = None;
        judgement.verdict.reasons.clear();
        judgement.verdict.chain.push(why);
        Some(id)
    }

    /// The yes that covers a call, if there is one. `None` if there is and something stands behind it: that is what the
    /// call is judged by now, and it is kept under an id of its own.
    #[expect(clippy::option_option, reason = "the outer one ends the question, the inner one answers it")]
    fn said_yes(
        &self,
        pending: &Pending,
        heard: Heard<'_>,
        judgement: &mut Judgement,
        scribe: &Scribe<'_>,
    ) -> Option<Option<(String, String)>> {
        let store = self.store();
        let grant = |pending: &Pending| store.use_grant(pending).unwrap_or(None);
        let told = |grant: &Grant| (grant.id.clone(), yes(grant));
        if judgement.verdict.behind.is_some()
            && let Some(both) = grant(&behind(pending.clone()))
        {
            return Some(Some(told(&both)));
        }
        let Some(first) = grant(pending) else { return Some(None) };
        let Some(further) = judgement.verdict.behind.take() else { return Some(Some(told(&first))) };
        judgement.verdict.chain.push(yes(&first));
        judgement.verdict.decision = further.decision;
        judgement.verdict.reasons = further.reasons;
        judgement.verdict.findings.extend(further.findings);
        let pending = behind(memory::pending(heard, judgement, scribe));
        judgement.verdict.pending = store.keep_pending(&pending).ok();
        None
    }

    /// What became of a call: matched with what was said about it before.
    fn after(&self, agent: &Agent, event: &Event, store: &Store, payload: &Payload<'_>) -> Reply {
        let (loaded, there) = config::load_there(&self.folders, Path::new(&event.workspace), store);
        let world = LocalWorld::new(&event.workspace, self.guard_with(&loaded)).in_session(store, whose(event));
        // What it did is done; what it brought is told of.
        let reflexes = self.reflexes(event, there, store);
        let all = || store.history(whose(event));
        let detector = reflexes.as_ref().map(|own| Detector::new(own, &world, &all, payload.fields.clone().into()));
        let mut judgement = judged_with(event, self.mode.policy(&loaded).as_ref(), &world, detector.as_ref());
        let reports = detector.as_ref().map(Detector::reports).unwrap_or_default();
        let before = world.history().before(&judgement.fingerprint.exact);
        if before.is_none() {
            let world = LocalWorld::new(&event.workspace, self.guard_with(&loaded)).in_session(store, whose(event));
            self.look_back(event, &loaded, &world.that_ran(), &mut judgement);
        }
        let fingerprint = &judgement.fingerprint.clone();
        let (scribe, id) = (Scribe::of_call(store, event, &judgement), clock::uuid());
        scribe.silence(&mut judgement.verdict);
        let ran_anyway = before.as_ref().is_some_and(|before| before.end == "deny" && !before.approved);
        let heard = Heard { id: &id, event, fingerprint };
        let call = memory::call(heard, &judgement, false);
        let told = (&judgement.verdict, call.files.as_slice(), reports.as_slice());
        let record = record::outcome(&scribe, heard, before.as_ref(), told);
        let mut recorded = store.record(&record, ran_anyway);
        if ran_anyway {
            let text = format!("{} ran a call that was refused: {}", event.client, record::shown(&scribe, event));
            recorded =
                recorded.and(store.raise(&Alarm { record: id.clone(), time: clock::now(), text, of: Subject::Call }));
        }
        let remembered = store.remember_by(&scribe, whose(event), &call);
        let remembered = remembered.and(keep(&scribe, event, &judgement));
        let delivery = deliver(event, &judgement.verdict, agent.abilities(event));
        told_if_lost((agent.write)(event, &judgement.verdict, &delivery), recorded, remembered)
    }

    /// A call that nobody asked about before it ran: what would have been asked or refused is told now.
    fn look_back(&self, event: &Event, loaded: &[Loaded], world: &LocalWorld<'_>, judgement: &mut Judgement) {
        let Some(policy) = self.mode.policy(loaded) else { return };
        let call = Event { moment: Moment::BeforeTool, outcome: None, ..event.clone() };
        let before = judged(&call, Some(&policy), world).verdict;
        if before.decision == Decision::Pass {
            return;
        }
        let mut findings = std::mem::take(&mut judgement.verdict.findings);
        let told = before.findings.into_iter().filter(|finding| finding.severity >= Severity::High);
        findings.extend(told.map(|finding| Finding {
            fixed: Some(Worth::Warn),
            message: format!("This ran, and nobody was asked before. {}", finding.message),
            action: None,
            effect: None,
            ..finding
        }));
        judgement.verdict = conclude(event, &policy, reflex_library::tables(), world, findings);
    }

    /// The file that a call makes which gives up after a tool, and what stands in it. The next call puts it into the log.
    pub fn overdue(&self, agent: &str) -> (std::path::PathBuf, String) {
        self.store().overdue(agent)
    }

    /// What the guard remembers.
    pub fn store(&self) -> Store {
        Store::of(&self.folders)
    }

    /// The one place that knows what is said when an event cannot be read: before a tool runs, it does not. `told` is
    /// the moment that the command line names.
    pub fn unreadable(&self, agent: &Agent, told: Option<&str>, problem: &BadEvent) -> Reply {
        let (word, moment) = (told.unwrap_or(""), told.map(agent.moment).or(problem.moment).unwrap_or_default());
        let reason = format!("Blocked: Reflex cannot read this event ({problem}), so it does not run.");
        let event = Event { client: agent.name.into(), moment, ..Event::default() };
        let denied = if moment.is_before_execution() { Decision::Deny } else { Decision::Pass };
        let store = self.store();
        let delivery = Delivery::Say { decision: denied, reason: reason.clone() };
        let id = clock::uuid();
        let heard = Heard { id: &id, event: &event, fingerprint: &Fingerprint::default() };
        let judgement = unjudged(denied);
        let latency = Spent::none(&judgement.latency);
        let (layers, reflexes) = (&[], Vec::new());
        let told = Told { delivery: &delivery, policy: self.mode.name(), layers, grant: None, reflexes, latency };
        let record = record::call(&Scribe::new(&store), heard, &judgement, &told);
        let recorded = store.record(&record, denied == Decision::Deny);
        told_if_lost((agent.refuse)(word, moment, &reason), recorded, Ok(()))
    }

    /// The event with what its payload leaves open: working directory, project, home.
    pub fn placed(&self, mut event: Event) -> Event {
        for folder in [&mut event.cwd, &mut event.workspace, &mut event.home] {
            *folder = AgentPath::new(folder.as_str()).with_slashes();
        }
        if !reflex_engine::is_absolute(&event.cwd) {
            let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
            event.cwd = shown(&here.join(&event.cwd));
        }
        if event.home.is_empty() {
            event.home = shown(&self.folders.home);
        }
        if event.workspace.is_empty() {
            let variable = reflex_agents::find(&event.client).and_then(|agent| agent.project_variable);
            let project = variable.and_then(|name| std::env::var(name).ok()).filter(|path| path.starts_with('/'));
            event.workspace = project.unwrap_or_else(|| event.cwd.clone());
            event.workspace = project_root(&event.workspace, &event.home);
        }
        // Links are followed once, here: what is compared with these folders has its links followed too.
        let cwd = canonical(Path::new(&event.cwd)).map_or_else(|_| event.cwd.clone(), |path| shown(&path));
        let real = |folder: &str| match folder {
            _ if folder == event.cwd => cwd.clone(),
            // Where no link leads to the folder, none leads to those above it.
            _ if cwd == event.cwd && is_within(&cwd, folder) => folder.to_owned(),
            _ => canonical(Path::new(folder)).map_or_else(|_| folder.to_owned(), |path| shown(&path)),
        };
        (event.workspace, event.home) = (real(&event.workspace), real(&event.home));
        event.cwd = cwd;
        event.declared = self.store().declared(&event);
        event
    }

    /// The same for a call that is judged: the root, the home and what lies above it are no project, whoever names them.
    /// Else all in them would count as the project's own.
    pub fn settled(&self, event: Event) -> Event {
        let mut event = self.placed(event);
        if is_too_wide(&event.workspace, &event.home) {
            let below = project_root(&event.cwd, &event.home);
            event.workspace = if is_too_wide(&below, &event.home) { NOWHERE.into() } else { below };
            event.declared = self.store().declared(&event);
        }
        event
    }

    /// Judges an event on this machine. Only what has not run yet is judged by its effects.
    pub fn judge(&self, event: &Event) -> Judgement {
        let store = self.store();
        let (loaded, there) = config::load_there(&self.folders, Path::new(&event.workspace), &store);
        let world = LocalWorld::new(&event.workspace, self.guard_with(&loaded));
        let reflexes = self.reflexes(event, there, &store);
        let raw = || json!({"tool_name": event.tool, "cwd": event.cwd});
        let detector = reflexes.as_ref().map(|own| Detector::new(own, &world, &History::default, raw()));
        judged_with(event, self.mode.policy(&loaded).as_ref(), &world, detector.as_ref())
    }

    /// The reflexes for a call; nothing where no folder names any.
    fn reflexes(&self, event: &Event, there: There, store: &Store) -> Option<Reflexes> {
        Reflexes::load(&self.folders, (Path::new(&event.workspace), Path::new(&event.cwd)), there, store)
    }

    /// The name of the policy under which an event is judged.
    pub fn policy_name(&self, event: &Event) -> &'static str {
        self.mode.policy(&self.layers(&event.workspace)).map_or(self.mode.name(), |policy| policy.name())
    }

    /// People's rules and policies that are in force in a workspace.
    pub fn layers(&self, workspace: &str) -> Vec<Loaded> {
        config::load(&self.folders, Path::new(workspace), &self.store())
    }

    /// The event with what its calls of unknown tools mean, as it is judged.
    pub fn unfolded(&self, event: Event) -> Event {
        reflex_engine::unfolded(&event, reflex_library::tables()).into_owned()
    }

    /// Judges an event in another world, by the library alone.
    pub fn judge_in(&self, event: &Event, world: &dyn World) -> Judgement {
        self.judge_with(event, world, &[])
    }

    /// Judges an event in another world and by these layers.
    pub fn judge_with(&self, event: &Event, world: &dyn World, loaded: &[Loaded]) -> Judgement {
        judged(event, self.mode.policy(loaded).as_ref(), world)
    }

    /// The guard's own folders, and those that the environment would make it use: both stay protected.
    pub(crate) fn guard(&self) -> Vec<String> {
        let own = [&self.folders.config, &self.folders.state, &self.folders.cache];
        own.into_iter().chain(&self.folders.elsewhere).map(|path| shown(path)).collect()
    }

    /// The same with further folders of the user's rules.
    pub(crate) fn guard_with(&self, loaded: &[Loaded]) -> Vec<String> {
        let further = loaded.iter().filter(|one| one.layer.authority != Authority::Project);
        self.guard().into_iter().chain(further.map(|one| shown(&one.place.folder))).collect()
    }

    /// Where the guard keeps its files.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }
}

/// The same call once a first question about it was answered with yes.
fn behind(pending: Pending) -> Pending {
    Pending { exact: format!("{}+", pending.exact), lasting: format!("{}+", pending.lasting), ..pending }
}

/// Whose memory a call belongs to.
pub(crate) fn whose(event: &Event) -> Whose<'_> {
    Whose {
        client: &event.client,
        session: &event.session,
        role: event.role.as_deref(),
        subagent: event.subagent.as_deref(),
        call: &event.call,
        word: &event.word,
    }
}

/// What the call leaves behind, unless it does not run.
fn keep(scribe: &Scribe<'_>, event: &Event, judgement: &Judgement) -> io::Result<()> {
    if judgement.left.is_empty() || judgement.verdict.decision == Decision::Deny {
        return Ok(());
    }
    scribe.store().keep_remnants_by(scribe, whose(event), &judgement.left)
}

fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn yes(grant: &Grant) -> String {
    let reason = if grant.reason.is_empty() { String::new() } else { format!(" ({})", grant.reason) };
    format!("{} said yes to this with `reflex approve {}`{reason}", grant.by, grant.id)
}

/// An alarm that no person has seen is told once in every session.
fn remind_of_alarms<'h>(store: &Store, history: impl FnOnce() -> &'h History, verdict: &mut Verdict) {
    let mut alarms = store.alarms();
    store.record_overdue(&mut alarms);
    if alarms.is_empty() {
        return;
    }
    let history = history();
    for (subject, _) in Subject::ALL {
        let (id, what) = match subject {
            Subject::Log => ("guard/log-cut", "records of Reflex are gone that no person took away"),
            Subject::Yes => ("guard/unsigned-yes", "an approval was found that no person gave"),
            Subject::Call => ("guard/ran-anyway", "Reflex refused a call and it ran all the same"),
        };
        let newest = alarms.iter().rposition(|alarm| alarm.of == subject).map(|at| alarms.remove(at));
        let Some(alarm) = newest.filter(|_| !history.told(id, "")) else { continue };
        let text = alarm.text;
        verdict.advised.push(id.into());
        verdict.advice.push(format!("Warning: {what}. {text}. A person sees it with `reflex status`."));
    }
}

/// Judges an event with the reflexes that are in force.
fn judged_with(
    event: &Event,
    policy: Option<&Policy>,
    world: &dyn World,
    detector: Option<&Detector<'_>>,
) -> Judgement {
    let ask = |seen: &reflex_engine::Seen<'_>| detector.map(|detector| detector.inspect(seen)).unwrap_or_default();
    let further: reflex_engine::Further<'_> = if detector.is_some() { &ask } else { NONE };
    judged_further(event, policy, world, further)
}

/// What is said where a policy lets nothing run that is not in the audit log.
fn unrecorded(agent: &Agent, event: &Event, error: &io::Error) -> Reply {
    let reason = format!(
        "Blocked: this call cannot be written into the audit log ({error}), and the policy in force lets nothing run that \
         is not there. A person makes room for the log, or chooses another policy."
    );
    let judgement = unjudged(Decision::Deny);
    (agent.write)(event, &judgement.verdict, &Delivery::Say { decision: Decision::Deny, reason })
}

/// A decision that could not be recorded still stands, with a word about it.
pub(crate) fn told_if_lost(mut reply: Reply, recorded: io::Result<()>, remembered: io::Result<()>) -> Reply {
    let lost = match (recorded, remembered) {
        (Err(error), _) => format!("reflex: this decision is not in the audit log: {error}\n"),
        (Ok(()), Err(error)) => format!("reflex: this call is not in the session's memory: {error}\n"),
        (Ok(()), Ok(())) => String::new(),
    };
    reply.stderr.push_str(&lost);
    reply
}

/// The workspace of a call that has none: all is judged as outside of it.
const NOWHERE: &str = "/nonexistent";

/// Whether a folder holds everything, or the home.
fn is_too_wide(folder: &str, home: &str) -> bool {
    ["/", "/home", "/Users"].contains(&folder) || is_within(home, folder)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
