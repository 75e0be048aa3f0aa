//! What is written about a call: its structure, its text without secrets, what was found, decided and said.

use crate::clock;
use crate::layers::{self, Loaded};
use crate::memory::Heard;
use crate::store::session::Call;
use crate::store::{SCHEMA, Store};
use reflex_agents::Delivery;
use reflex_engine::{
    Action, Analysis, Decision, Effect, EffectKind, Event, Finding, Judgement, Latency, Moment, Severity, Verdict,
    find_secrets, redact, unescaped,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Of each text of a call, so many bytes are kept.
const MOST_TEXT: usize = 4096;

/// Stands behind a text that was too long, with its length.
const CUT: &str = "… (";

/// Whether a text of a record is not all of it.
pub(crate) fn is_cut(text: &str) -> bool {
    text.ends_with(" bytes)") && text.contains(CUT)
}

/// Of what a failed call printed, so many bytes at its end are kept.
const MOST_ERROR: usize = 400;

/// So many effects and commands are named.
const MOST_NAMED: usize = 20;

/// Turns secrets into tags before anything is written.
pub(crate) struct Scribe<'a> {
    store: &'a Store,
    key: OnceCell<Vec<u8>>,
    /// Whether texts are left out.
    structure_only: bool,
    /// The secrets of the call: what is told of a part of it may show one without what told that it is one.
    known: Vec<String>,
}

impl<'a> Scribe<'a> {
    pub(crate) fn new(store: &'a Store) -> Scribe<'a> {
        Scribe { store, key: OnceCell::new(), structure_only: store.structure_only(), known: Vec::new() }
    }

    /// One for what is written about this call.
    pub(crate) fn of_call(store: &'a Store, event: &Event, analysis: &Analysis) -> Scribe<'a> {
        let exposes = analysis.effects.iter().any(|effect| effect.kind == EffectKind::ExposeSecret);
        let actions = event.actions.iter().filter(|_| exposes);
        let texts = actions.flat_map(|action| [subject(action).2, action.content().unwrap_or_default()]);
        let known = texts.flat_map(|text| {
            let plain = Some(unescaped(text)).filter(|plain| matches!(plain, Cow::Owned(_)));
            let readings = std::iter::once(Cow::Borrowed(text)).chain(plain);
            readings.flat_map(|text| {
                let found = find_secrets(&text, reflex_library::tables()).into_iter();
                found.filter_map(|secret| text.get(secret.span).map(str::to_owned)).collect::<Vec<_>>()
            })
        });
        Scribe { known: known.collect(), ..Scribe::new(store) }
    }

    /// The text without secrets; equal secrets get equal tags on this machine.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.cleaned(text, MOST_TEXT)
    }

    /// The same with so many bytes; of a longer text it says how long it is.
    pub(crate) fn cleaned(&self, text: &str, most: usize) -> String {
        // A secret that is cut in two would not be known for one.
        const BEYOND: usize = 1024;
        if text.len() <= most {
            return self.redacted(text);
        }
        let redacted = self.redacted(cut(text, most + BEYOND));
        let kept = cut(&redacted, most.min(redacted.len().saturating_sub(BEYOND)));
        format!("{kept}{CUT}{} bytes)", text.len())
    }

    fn redacted(&self, text: &str) -> String {
        let mut clean = redact(text, reflex_library::tables(), &|secret| self.mark(secret));
        for secret in &self.known {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), &format!("[secret{}]", self.mark(secret)));
            }
        }
        clean
    }

    /// What is the same for equal secrets of this machine.
    fn mark(&self, secret: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(self.key.get_or_init(|| self.store.key()));
        digest.update(secret.as_bytes());
        let mark = clock::hexadecimal(&digest.finalize());
        format!(":{}", mark.get(..6).unwrap_or(""))
    }

    /// One action: what it is and on what, contents only by size and digest.
    /// `content_digest` is that of what it writes, if it was worked out already.
    fn action(&self, action: &Action, content_digest: &str) -> String {
        let (kind, field, text) = subject(action);
        let mut object = Record::default();
        object.text("kind", kind);
        if !self.structure_only && !text.is_empty() {
            object.text(field, &self.clean(text));
        }
        if let Action::Write { content, .. } | Action::Edit { content, .. } = action {
            object.json("bytes", &content.len().to_string());
            let known = content_digest.get(..16).map(str::to_owned);
            object.text("sha256", &known.unwrap_or_else(|| digest(content)));
        }
        object.finish()
    }

    pub(crate) fn finding(&self, finding: &Finding) -> Value {
        let mut object = json!({
            "id": finding.id, "detector": finding.detector, "category": finding.category,
            "severity": finding.severity.name(), "confidence": finding.confidence, "tier": finding.tier.name(),
        });
        if let (Some(object), Some(would)) = (object.as_object_mut(), finding.would) {
            object.insert("would".into(), would.name().into());
        }
        if let Some(object) = object.as_object_mut().filter(|_| !self.structure_only) {
            object.insert("command".into(), self.clean(&finding.command).into());
            object.insert("message".into(), self.clean(&finding.message).into());
        }
        object
    }

    /// What became of reflexes; what they printed and why they failed may quote a call.
    pub(crate) fn reflexes(&self, reports: &[Value]) -> Value {
        let clean = |report: &Value| {
            let mut report = report.as_object().cloned().unwrap_or_default();
            if let Some(failed) = report.get("failed").and_then(Value::as_str).map(|failed| self.clean(failed)) {
                report.insert("failed".into(), failed.into());
            }
            let printed = report.get("printed").and_then(Value::as_array).cloned();
            if let Some(printed) = printed {
                let lines = printed.iter().filter_map(Value::as_str).map(|line| self.clean(line));
                report
                    .insert("printed".into(), if self.structure_only { json!(lines.count()) } else { lines.collect() });
            }
            Value::Object(report)
        };
        reports.iter().map(clean).collect()
    }

    /// What is done to what; a path in the workspace is shown from there on, for the record names the workspace.
    fn effects(&self, effects: &[Effect], workspace: &str) -> Vec<String> {
        let short = |target: String| {
            let below = target.strip_prefix(workspace).and_then(|below| below.strip_prefix('/'));
            below.filter(|_| !workspace.is_empty()).map_or_else(|| target.clone(), |below| format!("./{below}"))
        };
        let shown = |effect: &Effect| {
            let targets: Vec<String> = effect.targets.iter().take(4).map(|target| short(target.shown())).collect();
            self.clean(format!("{} {}", effect.kind.name(), targets.join(" ")).trim_end())
        };
        let named = |effect: &Effect| effect.kind.name().to_owned();
        let effects = effects.iter().take(MOST_NAMED);
        if self.structure_only { effects.map(named).collect() } else { effects.map(shown).collect() }
    }
}

/// What is told about a call beside its event and judgement.
pub(crate) struct Told<'a> {
    /// What is said to the agent.
    pub(crate) delivery: &'a Delivery,
    /// The name of the policy.
    pub(crate) policy: &'a str,
    /// People's files that were in force.
    pub(crate) layers: &'a [Loaded],
    /// The id of the person's yes that was used.
    pub(crate) grant: Option<&'a str>,
    /// What became of every reflex that was asked.
    pub(crate) reflexes: Vec<Value>,
    /// How long it took.
    pub(crate) latency: Spent<'a>,
}

/// How long a call took until its record was made, in nanoseconds.
pub(crate) struct Spent<'a> {
    /// Until the event was read.
    pub(crate) read: u64,
    /// The parts of its judgement.
    pub(crate) judged: &'a Latency,
    /// All of it, with what the session and a person's yes were asked.
    pub(crate) whole: u64,
}

/// A call that took longer than this is marked in the log.
const SLOW: u64 = 50_000;

impl Spent<'_> {
    /// For what was not judged.
    pub(crate) fn none(judged: &Latency) -> Spent<'_> {
        Spent { read: 0, judged, whole: 0 }
    }

    /// By part, in microseconds, without those that took none.
    fn json(&self) -> String {
        let parts = [("read", self.read)].into_iter().chain(self.judged.stages()).chain([("whole", self.whole)]);
        let mut object = Record::default();
        for (part, nanos) in parts.filter(|(_, nanos)| *nanos >= 1000) {
            object.json(part, &(nanos / 1000).to_string());
        }
        object.finish()
    }
}

/// The text of a record as it grows, field by field. What is not there has its usual value: nothing, or what nearly all
/// calls have; a log holds millions of them.
#[derive(Default)]
pub(crate) struct Record(String);

impl Record {
    /// A field and its value, which is JSON.
    fn json(&mut self, key: &str, value: &str) {
        self.key(key);
        self.0.push_str(value);
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        quote(&mut self.0, value);
    }

    /// A list of texts, unless it is empty.
    fn texts<'t>(&mut self, key: &str, values: impl Iterator<Item = &'t str>) {
        let mut begun = false;
        for value in values {
            if begun {
                self.0.push(',');
            } else {
                self.key(key);
                self.0.push('[');
                begun = true;
            }
            quote(&mut self.0, value);
        }
        self.0.push_str(if begun { "]" } else { "" });
    }

    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        quote(&mut self.0, key);
        self.0.push(':');
    }

    /// The JSON of the whole object.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0
    }
}

/// A text as JSON. Few hold a letter that must be escaped.
fn quote(into: &mut String, text: &str) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        into.push_str(&Value::from(text).to_string());
        return;
    }
    into.push('"');
    into.push_str(text);
    into.push('"');
}

/// The record of a call before it runs.
pub(crate) fn call(scribe: &Scribe<'_>, heard: Heard<'_>, judgement: &Judgement, told: &Told<'_>) -> String {
    let verdict = &judgement.verdict;
    let mut record = head(scribe, "call", heard);
    record.text("policy", told.policy);
    record.text("library", reflex_library::DIGEST);
    if !told.layers.is_empty() {
        record.json("layers", &layers::record(told.layers).to_string());
    }
    if !told.reflexes.is_empty() {
        record.json("reflexes", &scribe.reflexes(&told.reflexes).to_string());
    }
    record.text("decision", decision(verdict.decision));
    record.text("risk", verdict.risk.risk());
    if let Some(said) = said(scribe, verdict, told.delivery) {
        record.json("said", &said.to_string());
    }
    record.json("analysis", &analysis(scribe, heard.event, &judgement.analysis));
    if !verdict.findings.is_empty() {
        let findings: Value = verdict.findings.iter().map(|finding| scribe.finding(finding)).collect();
        record.json("findings", &findings.to_string());
        let chain: Value = verdict.chain.iter().map(|step| scribe.clean(step)).collect();
        record.json("chain", &chain.to_string());
    }
    record.json("fingerprint", &fingerprint(heard));
    if let Some(id) = &verdict.pending {
        record.text("pending", id);
    }
    if let Some(grant) = told.grant {
        record.text("grant", grant);
    }
    record.json("micros", &told.latency.json());
    if judgement.analysis.effects.iter().any(|effect| effect.kind == EffectKind::Unjudged) {
        record.json("unjudged", "true");
    }
    if told.latency.whole / 1000 > SLOW {
        record.json("slow", "true");
    }
    record.finish()
}

/// What a call would do, in short.
fn analysis(scribe: &Scribe<'_>, event: &Event, analysis: &Analysis) -> String {
    let mut object = Record::default();
    let commands = analysis.readings.iter().flat_map(|reading| &reading.commands);
    object.texts("programs", commands.map(|command| command.name.as_str()).take(MOST_NAMED));
    object.texts("effects", scribe.effects(&analysis.effects, &event.workspace).iter().map(String::as_str));
    let gaps: usize = analysis.readings.iter().map(|reading| reading.gaps.len()).sum();
    if gaps > 0 {
        object.json("gaps", &gaps.to_string());
    }
    object.finish()
}

fn fingerprint(heard: Heard<'_>) -> String {
    let mut object = Record::default();
    object.text("exact", &heard.fingerprint.exact);
    object.finish()
}

/// What the agent is told, where that is more than the decision.
fn said(scribe: &Scribe<'_>, verdict: &Verdict, delivery: &Delivery) -> Option<Value> {
    let (told, reason) = delivery.said();
    match (delivery, &verdict.rewrite) {
        (Delivery::Replace { .. }, Some(rewrite)) => {
            let fields = rewrite.fields.iter().map(|(field, text)| (field.clone(), Value::from(scribe.clean(text))));
            let instead: Map<String, Value> = fields.filter(|_| !scribe.structure_only).collect();
            Some(json!({"decision": "replace", "reason": scribe.clean(reason), "instead": instead}))
        }
        _ if told == verdict.decision && reason.is_empty() => None,
        _ => Some(json!({"decision": decision(told), "reason": scribe.clean(reason)})),
    }
}

/// The record of what became of a call.
pub(crate) fn outcome(
    scribe: &Scribe<'_>,
    heard: Heard<'_>,
    before: Option<&Call>,
    (verdict, changed, reflexes): (&Verdict, &[(String, String)], &[Value]),
) -> String {
    let mut record = head(scribe, "outcome", heard);
    record.json("fingerprint", &fingerprint(heard));
    if let Some(before) = before {
        record.text("of", &before.id);
        record.text("answered", answered(before));
        record.text("decision", &before.end);
    }
    if let Some(outcome) = &heard.event.outcome {
        let text = json!({
            "failed": outcome.failed, "exit_code": outcome.exit_code, "bytes": outcome.output.len(),
            "sha256": digest(&outcome.output),
        });
        record.json("outcome", &text.to_string());
        if outcome.failed && !scribe.structure_only {
            record.text("error", end_of(&scribe.clean(end_of(&outcome.output, MOST_TEXT)), MOST_ERROR));
        }
    }
    if !changed.is_empty() && heard.event.outcome.as_ref().is_some_and(|outcome| !outcome.failed) {
        let paths: Value = changed.iter().map(|(path, _)| scribe.clean(path)).collect();
        record.json("changed", &paths.to_string());
    }
    if !verdict.findings.is_empty() {
        let findings: Value = verdict.findings.iter().map(|finding| scribe.finding(finding)).collect();
        record.json("findings", &findings.to_string());
    }
    if !reflexes.is_empty() {
        record.json("reflexes", &scribe.reflexes(reflexes).to_string());
    }
    record.finish()
}

/// The last words of an output: why something failed stands there in nearly every case.
fn end_of(output: &str, most: usize) -> &str {
    let output = output.trim_end();
    let from = (output.len().saturating_sub(most)..=output.len()).find(|at| output.is_char_boundary(*at));
    output.get(from.unwrap_or(0)..).unwrap_or("")
}

/// Who let a call run.
fn answered(before: &Call) -> &'static str {
    match (before.end.as_str(), before.approved) {
        (_, true) => "a person's approval",
        ("ask", _) => "a person at the agent's prompt",
        ("deny", _) => "nobody: it was refused, and it ran",
        _ => "nobody was asked",
    }
}

/// The record of something that is no call: an approval, an attempt, an alarm.
pub(crate) fn note(store: &Store, kind: &str, fields: Value) -> String {
    let mut record = beginning(store, kind, &clock::uuid());
    if let Value::Object(mut fields) = fields {
        // The words of whoever did it; all else is ours.
        if let Some(reason) = fields.get_mut("reason") {
            *reason = store.clean(reason.as_str().unwrap_or("")).into();
        }
        fields.iter().for_each(|(key, value)| record.json(key, &value.to_string()));
    }
    record.finish()
}

fn beginning(store: &Store, kind: &str, id: &str) -> Record {
    let mut record = Record(String::with_capacity(2048));
    record.text("schema", SCHEMA);
    record.text("kind", kind);
    record.text("id", id);
    record.text("time", &clock::timestamp(clock::now()));
    record.text("host", &store.host());
    record
}

fn head(scribe: &Scribe<'_>, kind: &str, heard: Heard<'_>) -> Record {
    let Heard { event, id, .. } = heard;
    let mut record = beginning(scribe.store, kind, id);
    record.text("reflex", env!("CARGO_PKG_VERSION"));
    record.text("agent", &event.client);
    record.text("session", &event.session);
    let task = event.task_name().map(str::to_owned);
    for (key, value) in [("role", &event.role), ("subagent", &event.subagent), ("task", &task), ("mode", &event.mode)] {
        if let Some(value) = value {
            record.text(key, value);
        }
    }
    record.text("moment", moment(event.moment));
    record.text("tool", &event.tool);
    record.text("workspace", &event.workspace);
    if event.cwd != event.workspace {
        record.text("cwd", &event.cwd);
    }
    let digests = heard.fingerprint.contents.iter().map(String::as_str).chain(std::iter::repeat(""));
    let actions: Vec<String> =
        event.actions.iter().zip(digests).map(|(action, digest)| scribe.action(action, digest)).collect();
    record.json("actions", &format!("[{}]", actions.join(",")));
    record
}

/// The kind of an action, the name of its text and the text.
pub(crate) fn subject(action: &Action) -> (&'static str, &'static str, &str) {
    match action {
        Action::Shell { command, .. } => ("shell", "command", command),
        Action::Read { path } => ("read", "path", &path.text),
        Action::Write { path, .. } => ("write", "path", &path.text),
        Action::Edit { path, .. } => ("edit", "path", &path.text),
        Action::Delete { path } => ("delete", "path", &path.text),
        Action::Search { path } => ("search", "path", &path.text),
        Action::Fetch { url } => ("fetch", "url", url),
        Action::McpCall { arguments, .. } => ("mcp", "arguments", arguments),
        Action::Prompt { text } => ("prompt", "text", text),
        Action::SpawnAgent { prompt } => ("spawn", "prompt", prompt),
        Action::Skill { name } => ("skill", "name", name),
        Action::Input { text } => ("input", "text", text),
        Action::Other { arguments } => ("other", "arguments", arguments),
    }
}

/// The call in one line, without secrets, as a person is asked about it.
pub(crate) fn shown(scribe: &Scribe<'_>, event: &Event) -> String {
    let one = |action: &Action| {
        let (kind, _, text) = subject(action);
        let text = scribe.clean(text);
        if matches!(action, Action::Shell { .. }) { text } else { format!("{kind} {text}") }
    };
    event.actions.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The first 16 digits of the SHA-256.
pub(crate) fn digest(text: &str) -> String {
    clock::hexadecimal(&Sha256::digest(text.as_bytes())).get(..16).unwrap_or("").to_owned()
}

/// The beginning of a text, at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or("")
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
        Moment::Other => "other",
    }
}

/// Whether the disk is waited for: a refusal must not be lost with the power.
pub(crate) fn is_durable(judgement: &Judgement) -> bool {
    judgement.verdict.decision != Decision::Pass || judgement.verdict.risk >= Severity::High
}
