//! Builds the record of a call: its structure, its redacted text, the findings, the decision and the reply.

use crate::config::{self, Loaded};
use crate::store::note::beginning;
use crate::store::redact::{Clean, Kept, Record, Redactor, subject};
use crate::store::session::{Call, CallEnd};
use crate::system::digest::digest;
use reflex_agents::Delivery;
use reflex_engine::{
    Action, Analysis, Decision, Effect, EffectKind, Event, Finding, Fingerprint, Judgement, Latency, Moment, Severity,
    Started, Verdict,
};
use serde_json::{Map, Value, json};

/// Maximum number of bytes kept of a failed call's output, counted from its end.
const MAX_ERROR: usize = 400;

/// Maximum number of effects and programs listed.
const MAX_NAMED: usize = 20;

/// A call as received.
#[derive(Clone, Copy)]
pub(crate) struct CallRef<'a> {
    /// The id of its record.
    pub(crate) id: &'a str,
    /// The event.
    pub(crate) event: &'a Event,
    /// The fingerprint that identifies equal calls.
    pub(crate) fingerprint: &'a Fingerprint,
}

impl Redactor<'_> {
    /// Records one action: its kind and its target; contents only by size and digest. `content_digest` is the digest of
    /// the written content if it is already known, else empty.
    fn action(&self, action: &Action, content_digest: &str) -> Kept {
        let (kind, field, text) = subject(action);
        let mut object = Record::default();
        object.word("kind", kind);
        if !self.structure_only() && !text.is_empty() {
            object.text(field, &self.clean(text));
        }
        if let Action::Write { content, .. } | Action::Edit { content, .. } = action {
            object.number("bytes", content.len() as u64);
            let known = content_digest.get(..16).map(str::to_owned);
            object.made("sha256", &known.unwrap_or_else(|| digest(content)));
        }
        object.finish()
    }

    /// Redacts a step of the verdict. The rule id at its beginning is a literal of the rules: `secret/read: critical`
    /// contains no secret.
    fn step(&self, step: &str, findings: &[Finding]) -> String {
        match step.split_once(": ").filter(|(id, _)| findings.iter().any(|finding| finding.id == *id)) {
            Some((id, rest)) => format!("{id}: {}", &*self.clean(rest)),
            None => (*self.clean(step)).to_owned(),
        }
    }

    pub(crate) fn finding(&self, finding: &Finding) -> Value {
        let mut object = json!({
            "id": finding.id, "detector": finding.detector.name(), "category": finding.category,
            "severity": finding.severity.name(), "confidence": finding.confidence, "tier": finding.tier.name(),
        });
        if let (Some(object), Some(would)) = (object.as_object_mut(), finding.would) {
            object.insert("would".into(), would.name().into());
        }
        if let Some(object) = object.as_object_mut().filter(|_| !self.structure_only()) {
            object.insert("command".into(), self.clean(&finding.command).into());
            object.insert("message".into(), self.clean(&finding.message).into());
        }
        object
    }

    /// The reports of the reflexes. Printed lines and failure messages may quote a call, so they are redacted.
    pub(crate) fn reflexes(&self, reports: &[Value]) -> Value {
        let clean = |report: &Value| {
            let mut report = report.as_object().cloned().unwrap_or_default();
            if let Some(failed) = report.get("failed").and_then(Value::as_str).map(|failed| self.clean(failed)) {
                report.insert("failed".into(), failed.into());
            }
            let printed = report.get("printed").and_then(Value::as_array).cloned();
            if let Some(printed) = printed {
                let lines = printed.iter().filter_map(Value::as_str).map(|line| self.clean(line));
                report.insert(
                    "printed".into(),
                    if self.structure_only() { json!(lines.count()) } else { lines.collect() },
                );
            }
            if let Some(missed) = report.get("missed").and_then(Value::as_array).cloned() {
                let words = missed.iter().filter_map(Value::as_str).map(|word| self.clean(word));
                report.insert("missed".into(), words.collect());
            }
            Value::Object(report)
        };
        reports.iter().map(clean).collect()
    }

    /// The effects with their targets. A path in the workspace is shown relative to it, because the record names the
    /// workspace.
    fn effects(&self, effects: &[Effect], workspace: &str) -> Vec<Clean> {
        let short = |target: String| {
            let below = target.strip_prefix(workspace).and_then(|below| below.strip_prefix('/'));
            below.filter(|_| !workspace.is_empty()).map_or_else(|| target.clone(), |below| format!("./{below}"))
        };
        let shown = |effect: &Effect| {
            let targets: Vec<String> = effect.targets.iter().take(4).map(|target| short(target.shown())).collect();
            // The kind is a literal of this program, and most targets cannot contain a secret.
            let targets = targets.join(" ");
            self.clean(format!("{} {targets}", effect.kind.name()).trim_end())
        };
        let named = |effect: &Effect| self.clean(effect.kind.name());
        let effects = effects.iter().take(MAX_NAMED);
        if self.structure_only() { effects.map(named).collect() } else { effects.map(shown).collect() }
    }
}

/// Facts about a call besides its event and judgement.
pub(crate) struct RecordContext<'a> {
    /// The reply to the agent.
    pub(crate) delivery: &'a Delivery,
    /// The name of the policy.
    pub(crate) policy: &'a str,
    /// The configuration files that were in force.
    pub(crate) layers: &'a [Loaded],
    /// The id of the approval that was used.
    pub(crate) grant: Option<&'a str>,
    /// The id of the backup of the files that the call would lose.
    pub(crate) kept: Option<&'a str>,
    /// The model's answer in auto-pilot.
    pub(crate) judge: Option<&'a Value>,
    /// A report for every reflex that ran.
    pub(crate) reflexes: &'a [Value],
    /// The time that each part took.
    pub(crate) latency: Timings<'a>,
    /// Whether the event is empty, as in the probes of `doctor` and `verify`.
    pub(crate) is_probe: bool,
    /// Set for the result of a call.
    pub(crate) ran: Option<Ran<'a>>,
}

impl<'a> RecordContext<'a> {
    /// The context of a call that nothing but its judgement decides about.
    pub(crate) fn of(delivery: &'a Delivery, judgement: &'a Judgement) -> RecordContext<'a> {
        RecordContext {
            delivery,
            policy: "",
            layers: &[],
            grant: None,
            kept: None,
            judge: None,
            reflexes: &[],
            latency: Timings { read: 0, judged: &judgement.latency, total: 0 },
            is_probe: false,
            ran: None,
        }
    }
}

/// Facts about a call that has run.
#[derive(Clone, Copy)]
pub(crate) struct Ran<'a> {
    /// The call as it was judged before it ran; `None` if it was not.
    pub(crate) before: Option<&'a Call>,
    /// The files that the call has written, each with the digest of its content.
    pub(crate) changed: &'a [(String, String)],
}

/// The durations until the record is built, in nanoseconds.
pub(crate) struct Timings<'a> {
    /// The time until the event was read.
    pub(crate) read: u64,
    /// The stages of the judgement.
    pub(crate) judged: &'a Latency,
    /// The total, including the lookups of the session and of approvals.
    pub(crate) total: u64,
}

/// Duration in microseconds above which a call is marked as slow.
const SLOW: u64 = 50_000;

impl Timings<'_> {
    /// Durations by part, in microseconds; parts below one microsecond are omitted.
    fn json(&self) -> Kept {
        let parts = [("read", self.read)].into_iter().chain(self.judged.stages()).chain([("whole", self.total)]);
        let mut object = Record::default();
        for (part, nanos) in parts.filter(|(_, nanos)| *nanos >= 1000) {
            object.number(part, nanos / 1000);
        }
        object.finish()
    }
}

/// The record of an event: of a call before it runs, or of its result.
pub(crate) fn build(
    redactor: &Redactor<'_>,
    call: CallRef<'_>,
    judgement: &Judgement,
    context: &RecordContext<'_>,
) -> Kept {
    match &context.ran {
        Some(ran) => outcome(redactor, call, judgement, context.reflexes, *ran),
        None => before(redactor, call, judgement, context),
    }
}

fn before(redactor: &Redactor<'_>, call: CallRef<'_>, judgement: &Judgement, context: &RecordContext<'_>) -> Kept {
    let verdict = &judgement.verdict;
    let mut record = head(redactor, "call", call);
    record.text("policy", &redactor.name(context.policy));
    record.made("library", reflex_library::DIGEST);
    if !context.layers.is_empty() {
        record.part("layers", &redactor.kept(&config::record(context.layers)));
    }
    if !context.reflexes.is_empty() {
        record.part("reflexes", &redactor.kept(&redactor.reflexes(context.reflexes)));
    }
    record.word("decision", decision(verdict.decision));
    record.word("risk", verdict.risk.risk());
    if let Some(reply) = reply(redactor, verdict, context.delivery) {
        record.part("said", &redactor.kept(&reply));
    }
    record.part("analysis", &analysis(redactor, call.event, &judgement.analysis));
    if !verdict.findings.is_empty() {
        let findings: Value = verdict.findings.iter().map(|finding| redactor.finding(finding)).collect();
        record.part("findings", &redactor.kept(&findings));
        let chain: Value = verdict.chain.iter().map(|step| redactor.step(step, &verdict.findings)).collect();
        record.part("chain", &redactor.kept(&chain));
    }
    record.part("fingerprint", &fingerprint(call));
    if let Some(id) = &verdict.pending {
        record.made("pending", id);
    }
    if let Some(grant) = context.grant {
        record.made("grant", grant);
    }
    if let Some(id) = context.kept {
        record.made("kept", id);
    }
    if let Some(judge) = context.judge {
        record.part("judge", &redactor.kept(judge));
    }
    record.part("micros", &context.latency.json());
    if judgement.analysis.effects.iter().any(|effect| effect.kind == EffectKind::Unjudged) {
        record.flag("unjudged");
    }
    if context.latency.total / 1000 > SLOW {
        record.flag("slow");
    }
    if context.is_probe {
        record.flag("probe");
    }
    record.finish()
}

/// The programs and effects of a call, in short.
fn analysis(redactor: &Redactor<'_>, event: &Event, analysis: &Analysis) -> Kept {
    let mut object = Record::default();
    let commands = analysis.readings.iter().flat_map(|reading| &reading.commands);
    object.texts("programs", commands.map(|command| redactor.clean(&command.name)).take(MAX_NAMED));
    object.texts("effects", redactor.effects(&analysis.effects, &event.workspace).into_iter());
    let gaps: usize = analysis.readings.iter().map(|reading| reading.gaps.len()).sum();
    if gaps > 0 {
        object.number("gaps", gaps as u64);
    }
    object.finish()
}

fn fingerprint(call: CallRef<'_>) -> Kept {
    let mut object = Record::default();
    object.made("exact", &call.fingerprint.exact);
    object.finish()
}

/// The reply to the agent, if it is more than the decision.
fn reply(redactor: &Redactor<'_>, verdict: &Verdict, delivery: &Delivery) -> Option<Value> {
    let (context, reason) = delivery.reply();
    match (delivery, &verdict.rewrite) {
        (Delivery::Replace { .. }, Some(rewrite)) => {
            let fields = rewrite.fields.iter().map(|(field, text)| (field.clone(), Value::from(redactor.clean(text))));
            let instead: Map<String, Value> = fields.filter(|_| !redactor.structure_only()).collect();
            Some(json!({"decision": "replace", "reason": &*redactor.clean(reason), "instead": instead}))
        }
        _ if context == verdict.decision && reason.is_empty() => None,
        _ => Some(json!({"decision": decision(context), "reason": &*redactor.clean(reason)})),
    }
}

fn outcome(
    redactor: &Redactor<'_>,
    call: CallRef<'_>,
    judgement: &Judgement,
    reflexes: &[Value],
    ran: Ran<'_>,
) -> Kept {
    let (Ran { before, changed }, verdict) = (ran, &judgement.verdict);
    let mut record = head(redactor, "outcome", call);
    record.part("fingerprint", &fingerprint(call));
    if let Some(before) = before {
        record.made("of", &before.id);
        record.word("answered", answered(before));
        record.word("decision", before.end.name());
    }
    if let Some(outcome) = &call.event.outcome {
        let text = json!({
            "failed": outcome.failed, "exit_code": outcome.exit_code, "bytes": outcome.output.len(),
            "sha256": digest(&outcome.output),
        });
        record.part("outcome", &redactor.kept(&text));
        if outcome.failed && !redactor.structure_only() {
            record.text("error", &redactor.cleaned_end(&outcome.output, MAX_ERROR));
        }
    }
    if !changed.is_empty() && call.event.outcome.as_ref().is_some_and(|outcome| !outcome.failed) {
        let paths: Value = changed.iter().map(|(path, _)| redactor.clean(path)).collect();
        record.part("changed", &redactor.kept(&paths));
    }
    if !verdict.findings.is_empty() {
        let findings: Value = verdict.findings.iter().map(|finding| redactor.finding(finding)).collect();
        record.part("findings", &redactor.kept(&findings));
    }
    if !reflexes.is_empty() {
        record.part("reflexes", &redactor.kept(&redactor.reflexes(reflexes)));
    }
    record.finish()
}

/// The person or prompt that let a call run.
fn answered(before: &Call) -> &'static str {
    match (before.end, before.approved) {
        (_, true) => "a person's approval",
        (CallEnd::Ask, false) => "a person at the agent's prompt",
        (CallEnd::Deny, false) => "nobody: it was refused, and it ran",
        (CallEnd::Pass | CallEnd::Ok | CallEnd::Failed, false) => "nobody was asked",
    }
}

fn head(redactor: &Redactor<'_>, kind: &'static str, call: CallRef<'_>) -> Record {
    let CallRef { event, id, .. } = call;
    let mut record = beginning(redactor.store(), kind, id);
    record.word("reflex", env!("CARGO_PKG_VERSION"));
    record.text("agent", &redactor.name(&event.client));
    record.text("session", &redactor.name(&event.session));
    let task = event.task_name().map(str::to_owned);
    for (key, value) in [("role", &event.role), ("subagent", &event.subagent), ("task", &task), ("mode", &event.mode)] {
        if let Some(value) = value {
            record.text(key, &redactor.name(value));
        }
    }
    record.word("moment", moment(event.moment));
    if let Some(started) = &event.started {
        record.part("start", &self::started(started));
        record.word("assurance", "supervised");
    }
    record.text("tool", &redactor.tool(&event.tool));
    record.text("workspace", &redactor.clean(&event.workspace));
    if event.cwd != event.workspace {
        record.text("cwd", &redactor.clean(&event.cwd));
    }
    let digests = call.fingerprint.contents.iter().map(String::as_str).chain(std::iter::repeat(""));
    let actions: Vec<Kept> =
        event.actions.iter().zip(digests).map(|(action, digest)| redactor.action(action, digest)).collect();
    record.parts("actions", &actions);
    record
}

/// The place of a start among the others of its run.
fn started(started: &Started) -> Kept {
    let mut object = Record::default();
    if let Some(by) = started.causes.first() {
        object.made("by", by);
    }
    object.number("process", started.process);
    object.finish()
}

/// The call as shown to a person in a prompt: one line per action, without secrets.
pub(crate) fn shown(redactor: &Redactor<'_>, event: &Event) -> String {
    let one = |action: &Action| {
        let (kind, _, text) = subject(action);
        let text = redactor.clean(text);
        if matches!(action, Action::Shell { .. }) { text.into() } else { format!("{kind} {text}") }
    };
    event.actions.iter().map(one).collect::<Vec<String>>().join("\n")
}

pub(crate) fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::BeforeTool => "before-tool",
        Moment::AfterTool => "after-tool",
        Moment::PermissionRequest => "permission-request",
        Moment::Prompt => "prompt",
        Moment::SessionStart => "session-start",
        Moment::SessionEnd => "session-end",
        Moment::Stop => "stop",
        Moment::Subagent => "subagent",
        Moment::SettingsChange => "settings-change",
        Moment::Other => "other",
    }
}

/// Whether the record must be synced to disk: a refusal must survive a power failure.
pub(crate) fn is_durable(judgement: &Judgement) -> bool {
    judgement.verdict.decision != Decision::Pass || judgement.verdict.risk >= Severity::High
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

    use super::*;
    use crate::store::Store;
    use crate::system::folders::Folders;
    use crate::system::random;
    use reflex_agents::Delivery;
    use reflex_engine::shell::Language;
    use reflex_engine::{AgentPath, Engine, FakeWorld, Outcome, Policy};

    fn store() -> Store {
        Store::new(&Folders::below(std::env::temp_dir().join(random::uuid())))
    }

    fn event(actions: Vec<Action>) -> Event {
        let [cwd, workspace, home] = ["/repo/sub", "/repo", "/home/me"].map(str::to_owned);
        let [client, session, tool] = ["claude", "s-1", "Bash"].map(str::to_owned);
        Event { cwd, workspace, home, client, session, tool, actions, ..Event::default() }
    }

    fn shell(command: &str) -> Event {
        event(vec![Action::Shell { command: command.into(), language: Language::Shell }])
    }

    fn judged(event: &Event) -> Judgement {
        let policy = Policy::named(reflex_library::tables(), "balanced").unwrap();
        let world = FakeWorld { workspace: "/repo".into(), ..FakeWorld::default() };
        Engine::new(reflex_library::tables(), &policy).judge(event, &world)
    }

    /// The record of a call that is answered with what was decided.
    fn recorded(store: &Store, event: &Event) -> Value {
        let judgement = judged(event);
        let delivery = Delivery::Reply { decision: judgement.verdict.decision, reason: String::new() };
        let latency = Timings { read: 999, judged: &judgement.latency, total: 60_000_000 };
        let context = RecordContext { policy: "default", latency, ..RecordContext::of(&delivery, &judgement) };
        let made = CallRef { id: "0a1b2c3d", event, fingerprint: &judgement.fingerprint };
        serde_json::from_str(build(&Redactor::new(store), made, &judgement, &context).text()).unwrap()
    }

    #[test]
    fn a_record_says_which_call_it_is_about_and_what_was_decided() {
        let record = recorded(&store(), &shell("rm -rf ~ && ls /repo/a"));
        assert_eq!(
            (&record["kind"], &record["id"], &record["decision"]),
            (&json!("call"), &json!("0a1b2c3d"), &json!("deny"))
        );
    }

    #[test]
    fn a_harmless_call_has_no_findings_and_what_took_no_time_is_left_out() {
        let record = recorded(&store(), &shell("true"));
        assert_eq!(
            (&record["decision"], &record["risk"], &record["findings"]),
            (&json!("pass"), &json!("none"), &Value::Null)
        );
        assert_eq!(
            (&record["micros"]["read"], &record["micros"]["whole"], &record["slow"]),
            (&Value::Null, &json!(60_000), &json!(true))
        );
    }

    #[test]
    fn no_record_contains_secrets_or_contents() {
        let event = event(vec![
            Action::Write { path: AgentPath::new("a"), content: "the content".into() },
            Action::Shell { command: "MYSQL_PWD=Bluebird2291! mysql".into(), language: Language::Shell },
        ]);
        let record = recorded(&store(), &event);
        let text = record.to_string();
        assert!(!text.contains("the content") && !text.contains("Bluebird"), "{text}");
        assert_eq!(
            (&record["actions"][0]["bytes"], &record["actions"][0]["sha256"]),
            (&json!(11), &json!(digest("the content")))
        );
    }

    #[test]
    fn of_structure_alone_no_text_is_kept() {
        let store = store();
        keep_structure_only(&store);
        let record = recorded(&store, &shell("rm -rf /srv/customers"));
        assert!(!record.to_string().contains("customers"), "{record}");
        assert!(record["analysis"]["effects"].as_array().unwrap().contains(&json!("delete")), "{record}");
    }

    fn keep_structure_only(store: &Store) {
        let mark = store.state().join("audit/structure-only");
        std::fs::create_dir_all(mark.parent().unwrap()).unwrap();
        std::fs::write(mark, "").unwrap();
    }

    #[test]
    fn an_outcome_names_who_let_the_call_run() {
        let before = |end, approved| Call { end, approved, ..Call::default() };
        assert_eq!(answered(&before(CallEnd::Deny, false)), "nobody: it was refused, and it ran");
        assert_eq!(answered(&before(CallEnd::Deny, true)), "a person's approval");
        assert_eq!(answered(&before(CallEnd::Ask, false)), "a person at the agent's prompt");
        assert_eq!(answered(&before(CallEnd::Pass, false)), "nobody was asked");
    }

    #[test]
    fn what_changed_is_recorded_only_where_the_call_succeeded() {
        let store = store();
        let outcome = |failed: bool| {
            let output = "no such file".to_owned();
            let event = Event {
                outcome: Some(Outcome { output, exit_code: Some(1), failed }),
                moment: Moment::AfterTool,
                ..shell("make")
            };
            let judgement = judged(&event);
            let call = CallRef { id: "0a1b2c3d", event: &event, fingerprint: &judgement.fingerprint };
            let changed = [("/repo/a".to_owned(), String::new())];
            let delivery = Delivery::Reply { decision: Decision::Pass, reason: String::new() };
            let ran = Some(Ran { before: None, changed: &changed });
            let context = RecordContext { ran, ..RecordContext::of(&delivery, &judgement) };
            let kept = build(&Redactor::new(&store), call, &judgement, &context);
            serde_json::from_str::<Value>(kept.text()).unwrap()
        };
        let (failed, succeeded) = (outcome(true), outcome(false));
        assert_eq!((&failed["error"], &failed["changed"]), (&json!("no such file"), &Value::Null));
        assert_eq!((&succeeded["error"], &succeeded["changed"]), (&Value::Null, &json!(["/repo/a"])));
    }

    #[test]
    fn the_disk_is_waited_for_where_a_refusal_could_be_lost() {
        assert!(is_durable(&judged(&shell("rm -rf ~"))));
        assert!(!is_durable(&judged(&shell("true"))));
    }

    #[test]
    fn a_person_is_shown_each_action_in_a_line_of_its_own() {
        let store = store();
        let event = event(vec![
            Action::Shell { command: "make".into(), language: Language::Shell },
            Action::Delete { path: AgentPath::new("a") },
        ]);
        assert_eq!(shown(&Redactor::new(&store), &event), "make\ndelete a");
    }
}
