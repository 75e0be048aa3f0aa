//! What is written about a call: its structure, its text without secrets, what was found, decided and said.

use crate::clock;
use crate::layers::{self, Loaded};
use crate::memory::Heard;
use crate::store::session::Call;
use crate::store::{SCHEMA, Store};
use reflex_agents::Delivery;
use reflex_engine::{Action, Decision, Effect, Event, Finding, Judgement, Latency, Moment, Severity, Verdict, redact};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;

/// Of each text of a call, so many bytes are kept.
const MOST_TEXT: usize = 4096;

/// So many effects and commands are named.
const MOST_NAMED: usize = 20;

/// Turns secrets into tags before anything is written.
pub(crate) struct Scribe<'a> {
    store: &'a Store,
    key: OnceCell<Vec<u8>>,
    /// Whether texts are left out.
    structure_only: bool,
}

impl<'a> Scribe<'a> {
    pub(crate) fn new(store: &'a Store) -> Scribe<'a> {
        Scribe { store, key: OnceCell::new(), structure_only: store.structure_only() }
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
        format!("{kept}… ({} bytes)", text.len())
    }

    fn redacted(&self, text: &str) -> String {
        redact(text, reflex_library::tables(), &|secret| {
            let mut digest = Sha256::new();
            digest.update(self.key.get_or_init(|| self.store.key()));
            digest.update(secret.as_bytes());
            let mark = clock::hexadecimal(&digest.finalize());
            format!(":{}", mark.get(..6).unwrap_or(""))
        })
    }

    fn all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.clean(text)).collect()
    }

    /// One action: what it is and on what, contents only by size and digest.
    /// `content_digest` is that of what it writes, if it was worked out already.
    fn action(&self, action: &Action, content_digest: &str) -> Value {
        let (kind, field, text) = subject(action);
        let mut object = Map::new();
        object.insert("kind".into(), kind.into());
        if !self.structure_only && !text.is_empty() {
            object.insert(field.into(), self.clean(text).into());
        }
        if let Action::Write { content, .. } | Action::Edit { content, .. } = action {
            object.insert("bytes".into(), content.len().into());
            let known = content_digest.get(..16).map(str::to_owned);
            object.insert("sha256".into(), known.unwrap_or_else(|| digest(content)).into());
        }
        Value::Object(object)
    }

    fn finding(&self, finding: &Finding) -> Value {
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

    fn effects(&self, effects: &[Effect]) -> Vec<String> {
        let shown = |effect: &Effect| {
            let targets: Vec<String> = effect.targets.iter().take(4).map(|target| target.shown()).collect();
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

    /// By part, in microseconds.
    fn json(&self) -> Map<String, Value> {
        let parts = [("read", self.read)].into_iter().chain(self.judged.stages()).chain([("whole", self.whole)]);
        parts.map(|(part, nanos)| (part.to_owned(), (nanos / 1000).into())).collect()
    }
}

/// The record of a call before it runs.
pub(crate) fn call(
    scribe: &Scribe<'_>,
    heard: Heard<'_>,
    judgement: &Judgement,
    told: &Told<'_>,
) -> Map<String, Value> {
    let verdict = &judgement.verdict;
    let mut record = head(scribe, "call", heard);
    let mut put = |key: &str, value: Value| drop(record.insert(key.into(), value));
    put("policy", told.policy.into());
    put("library", reflex_library::DIGEST.into());
    if !told.layers.is_empty() {
        put("layers", layers::record(told.layers));
    }
    put("decision", decision(verdict.decision).into());
    put("risk", verdict.risk.risk().into());
    if let Some(said) = said(scribe, verdict, told.delivery) {
        put("said", said);
    }
    let programs: Vec<&str> = judgement
        .analysis
        .readings
        .iter()
        .flat_map(|reading| &reading.commands)
        .map(|command| command.name.as_str())
        .collect();
    let gaps: usize = judgement.analysis.readings.iter().map(|reading| reading.gaps.len()).sum();
    let programs: Vec<&str> = programs.into_iter().take(MOST_NAMED).collect();
    put(
        "analysis",
        json!({"programs": programs, "effects": scribe.effects(&judgement.analysis.effects), "gaps": gaps}),
    );
    if !verdict.findings.is_empty() {
        put("findings", verdict.findings.iter().map(|finding| scribe.finding(finding)).collect());
        put("chain", scribe.all(&verdict.chain).into());
    }
    let fingerprint = heard.fingerprint;
    put("fingerprint", json!({"exact": fingerprint.exact, "shape": fingerprint.shape, "goal": fingerprint.goal}));
    if let Some(id) = &verdict.pending {
        put("pending", id.as_str().into());
    }
    if let Some(grant) = told.grant {
        put("grant", grant.into());
    }
    put("micros", told.latency.json().into());
    if told.latency.whole / 1000 > SLOW {
        put("slow", true.into());
    }
    record
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
    verdict: &Verdict,
) -> Map<String, Value> {
    let Heard { event, fingerprint, .. } = heard;
    let mut record = head(scribe, "outcome", heard);
    let mut put = |key: &str, value: Value| drop(record.insert(key.into(), value));
    put("fingerprint", json!({"exact": fingerprint.exact}));
    if let Some(before) = before {
        put("of", before.id.as_str().into());
        put("answered", answered(before).into());
        put("decision", before.end.as_str().into());
    }
    if let Some(outcome) = &event.outcome {
        let text = json!({
            "failed": outcome.failed, "exit_code": outcome.exit_code, "bytes": outcome.output.len(),
            "sha256": digest(&outcome.output),
        });
        put("outcome", text);
    }
    if !verdict.findings.is_empty() {
        put("findings", verdict.findings.iter().map(|finding| scribe.finding(finding)).collect());
    }
    record
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
pub(crate) fn note(store: &Store, kind: &str, fields: Value) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("schema".into(), SCHEMA.into());
    record.insert("kind".into(), kind.into());
    record.insert("id".into(), clock::uuid().into());
    record.insert("time".into(), clock::timestamp(clock::now()).into());
    record.insert("host".into(), store.host().into());
    if let Value::Object(fields) = fields {
        record.extend(fields);
    }
    record
}

fn head(scribe: &Scribe<'_>, kind: &str, heard: Heard<'_>) -> Map<String, Value> {
    let Heard { event, id, .. } = heard;
    let mut record = note(scribe.store, kind, Value::Null);
    record.insert("id".into(), id.into());
    let mut put = |key: &str, value: Value| drop(record.insert(key.into(), value));
    put("reflex", env!("CARGO_PKG_VERSION").into());
    put("agent", event.client.as_str().into());
    put("session", event.session.as_str().into());
    let task = event.task_name().map(str::to_owned);
    for (key, value) in [("role", &event.role), ("subagent", &event.subagent), ("task", &task), ("mode", &event.mode)] {
        if let Some(value) = value {
            put(key, value.as_str().into());
        }
    }
    put("moment", moment(event.moment).into());
    put("tool", event.tool.as_str().into());
    put("workspace", event.workspace.as_str().into());
    if event.cwd != event.workspace {
        put("cwd", event.cwd.as_str().into());
    }
    let digests = heard.fingerprint.contents.iter().map(String::as_str).chain(std::iter::repeat(""));
    put("actions", event.actions.iter().zip(digests).map(|(action, digest)| scribe.action(action, digest)).collect());
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
