//! What is kept of a call beside its record: for a person who may say yes, and for the calls that follow.

use super::appeal;
use super::bound;
use crate::audit::record::{self, CallRef};
use crate::store::approvals::{Pending, short_id};
use crate::store::clean::{Redactor, subject};
use crate::store::session::{Call, History};
use crate::system::digest::digest;
use crate::system::{clock, hex};
use crate::world::LocalWorld;
use reflex_agents::{Delivery, MAX_REASONS};
use reflex_engine::{Action, Advice, Decision, EffectKind, Event, Judgement, Moment, Tier, Verdict, World};
use sha2::{Digest, Sha256};

/// Of a refused call, so many bytes are kept for a person to see. Of one that is longer not all can be seen, and what
/// was not seen nobody can say yes to.
const MAX_SEEN: usize = 256 * 1024;

/// What of a call is kept for a person, without secrets.
struct Seen<'a> {
    scribe: &'a Redactor<'a>,
    left: usize,
    whole: bool,
}

impl Seen<'_> {
    fn text(&mut self, text: &str) -> String {
        let shown = String::from(self.scribe.cleaned(text, self.left));
        self.whole &= text.len() <= self.left;
        self.left = self.left.saturating_sub(text.len());
        shown
    }
}

/// A refused call as a person will be asked about it.
pub(crate) fn pending(heard: CallRef<'_>, judgement: &Judgement, scribe: &Redactor<'_>) -> Pending {
    let event = heard.event;
    let verdict = &judgement.verdict;
    let commands = judgement.analysis.readings.iter().flat_map(|reading| &reading.commands);
    let mut seen = Seen { scribe, left: MAX_SEEN, whole: true };
    let text = whole_text(&mut seen, event);
    let words = |command: &reflex_engine::shell::Command| {
        seen.text(&command.words.iter().map(|word| as_one_word(word.shown())).collect::<Vec<_>>().join(" "))
    };
    let parts = commands.map(words).collect();
    let effects = judgement.analysis.effects.iter().map(|effect| {
        let targets: Vec<String> = effect.targets.iter().map(|target| target.shown()).collect();
        seen.text(format!("{} {}", effect.kind.name(), targets.join(" ")).trim_end())
    });
    let effects = effects.collect();
    let world = LocalWorld::new(&event.workspace, Vec::new());
    let binding = bound::binding(event, judgement, &world, scribe);
    Pending {
        id: short_id(),
        record: heard.id.into(),
        time: clock::now(),
        decision: record::decision(verdict.decision).into(),
        client: scribe.name(&event.client).into(),
        session: scribe.name(&event.session).into(),
        // A yes for a task holds for what a person declared; a call may name any task.
        task: event.declared.as_ref().map(|task| scribe.name(&task.id).into()).unwrap_or_default(),
        workspace: scribe.clean(&event.workspace).into(),
        cwd: scribe.clean(&event.cwd).into(),
        text,
        parts,
        effects,
        whole: seen.whole,
        reasons: verdict.reasons.iter().map(|reason| scribe.clean(&reason.brief()).into()).collect(),
        guilty: verdict.findings.iter().map(|finding| scribe.clean(&finding.command).into()).collect(),
        until: 0,
        findings: verdict.findings.iter().map(|finding| finding.id.clone()).collect(),
        core: verdict.decision == Decision::Deny && verdict.findings.iter().any(|one| one.tier == Tier::Core),
        exact: same_call(heard, judgement, &world, [&binding.keys, &binding.once]),
        lasting: same_call(heard, judgement, &world, [&binding.keys, &binding.lasting]),
        bound: binding.shown,
        call: scribe.name(&event.call).into(),
        again: if seen.whole { appeal::call(event, scribe) } else { None },
        appeals: Vec::new(),
    }
}

/// In quotes if it would look like several words.
fn as_one_word(word: String) -> String {
    let plain = !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || "'\"\\".contains(letter));
    if plain { word } else { reflex_engine::shell::quoted(&word) }
}

/// The call with what it would write: a yes covers that too.
fn whole_text(seen: &mut Seen<'_>, event: &Event) -> String {
    let one = |action: &Action| {
        let (kind, _, text) = subject(action);
        let text = seen.text(text);
        if matches!(action, Action::Shell { .. }) { text } else { format!("{kind} {text}") }
    };
    let calls: Vec<String> = event.actions.iter().map(one).collect();
    let contents: Vec<String> =
        event.actions.iter().filter_map(Action::content).map(|content| seen.text(content)).collect();
    [calls, contents].concat().join("\n")
}

/// What a retry must share with a call to be covered by the same yes: the text and its effects, the commands it comes
/// to, what was found, where its targets really lie, so that no link leads an approved call elsewhere, and what stands
/// in the files and settings that it takes its orders from, and in what it would destroy.
fn same_call(heard: CallRef<'_>, judgement: &Judgement, world: &LocalWorld<'_>, bound: [&[String]; 2]) -> String {
    let analysis = &judgement.analysis;
    let commands = analysis.readings.iter().flat_map(|reading| &reading.commands);
    let commands = commands.map(|command| {
        let words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
        words.join("\u{1f}")
    });
    let paths = analysis.effects.iter().flat_map(|effect| &effect.targets).filter_map(|target| target.path());
    let places = paths.map(|path| world.real(before_pattern(path), true).path);
    // A retry is a repetition; the yes covers that too.
    let found = judgement.verdict.findings.iter().filter(|finding| finding.detector != "loopbreaker");
    let found = found.map(|finding| finding.id.clone());
    let parts = [heard.fingerprint.exact.clone()].into_iter().chain(found).chain(places).chain(commands);
    let parts: Vec<String> = parts.chain(bound.into_iter().flatten().cloned()).collect();
    hex::encode(&Sha256::digest(parts.join("\0"))).get(..32).unwrap_or("").to_owned()
}

/// The folder in which a pattern begins, or the path itself.
fn before_pattern(path: &str) -> &str {
    match path.find(['*', '?', '[']).and_then(|at| path.get(..at)) {
        Some(before) => before.rsplit_once('/').map_or("/", |(folder, _)| folder),
        None => path,
    }
}

/// What the session remembers of this call.
pub(crate) fn call(heard: CallRef<'_>, judgement: &Judgement, approved: bool) -> Call {
    let CallRef { event, fingerprint, id } = heard;
    let after = event.moment == Moment::AfterTool;
    let failed = event.outcome.as_ref().is_some_and(|outcome| outcome.failed);
    let end = match (after, failed) {
        (true, true) => "failed",
        (true, false) => "ok",
        (false, _) => record::decision(judgement.verdict.decision),
    };
    let verdict = &judgement.verdict;
    let mut found: Vec<String> = verdict.findings.iter().map(|finding| finding.id.clone()).collect();
    for advice in verdict.advice.iter().filter(|_| end == "pass") {
        if !found.contains(&advice.finding) {
            found.push(advice.finding.clone());
        }
    }
    // What an agent does not get to read it was not told.
    let said = verdict.advice.iter().filter(|advice| !advice.is_known).take(MAX_REASONS);
    let told = said.filter(|_| end == "pass").map(mark).collect();
    Call {
        time: clock::now(),
        id: id.into(),
        after,
        end: end.into(),
        tool: event.tool.clone(),
        exact: fingerprint.exact.clone(),
        approved,
        taint: if after { taint(event, judgement) } else { Vec::new() },
        findings: found,
        told,
        files: if after { files(event, judgement) } else { Vec::new() },
        output: judgement.step.end.as_ref().map(|end| end.output.clone()).unwrap_or_default(),
        step: judgement.step.clone(),
        call: event.call.clone(),
        word: event.word.clone(),
    }
}

/// Whether the agent was warned of this in this session already; that a call is repeated, of this call.
pub(crate) fn was_told(history: &History, advice: &Advice, exact: &str) -> bool {
    history.told(&advice.finding, &mark(advice), exact)
}

/// The mark of the sentence about how a person lets a refused call run.
const STEPS: &str = "steps";

/// The call with that sentence, if the agent gets to read it with this answer.
pub(crate) fn delivered(mut call: Call, delivery: &Delivery) -> Call {
    call.told.extend((delivery.said().0 == Decision::Deny).then(|| STEPS.to_owned()));
    call
}

/// Looks up whether the agent has read that sentence in this session.
pub(crate) fn recall_steps<'h>(history: impl FnOnce() -> &'h History, verdict: &mut Verdict) {
    verdict.knows_steps = verdict.decision != Decision::Pass && history().told(STEPS, STEPS, "");
}

/// What is the same for the same warning about the same thing.
fn mark(advice: &Advice) -> String {
    digest(&format!("{}\0{}", advice.finding, advice.about))
}

/// What came in from outside with this call.
fn taint(event: &Event, judgement: &Judgement) -> Vec<String> {
    let web = event.actions.iter().any(|action| matches!(action, Action::Fetch { .. }));
    let mcp = event.actions.iter().any(|action| matches!(action, Action::McpCall { .. }));
    let download = judgement.analysis.effects.iter().any(|effect| effect.kind == EffectKind::Fetch && !web);
    let orders = judgement.verdict.findings.iter().any(|finding| finding.category == "injection");
    let named = [(web, "web"), (mcp, "mcp"), (download, "download"), (orders, "injection")];
    named.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect()
}

/// Files that this call wrote, with the digest of what was written where that stands in the call.
fn files(event: &Event, judgement: &Judgement) -> Vec<(String, String)> {
    let written = |kind| matches!(kind, EffectKind::Overwrite | EffectKind::Append | EffectKind::Edit);
    let effects = judgement.analysis.effects.iter().filter(|effect| written(effect.kind));
    let digest_of = |action: usize| match event.actions.get(action) {
        Some(Action::Write { content, .. }) => digest(content),
        _ => String::new(),
    };
    effects
        .flat_map(|effect| effect.targets.iter().filter_map(|target| target.path()).map(|path| (path, effect.action)))
        .map(|(path, action)| (path.to_owned(), digest_of(action)))
        .collect()
}
