//! The judgement: an event becomes an analysis, the detectors' findings on it, and one verdict. Pure: what the machine
//! knows is asked of a [`World`].

mod aftercare;
pub mod agent_settings;
mod analysis;
mod budget;
mod condition;
mod facts;
mod field;
mod further;
mod gatekeeper;
pub mod injection;
mod layers;
pub mod loopbreaker;
mod model;
mod points;
mod quote;
mod raised;
mod remnant;
mod rewrite;
mod rules;
mod secrets;
mod sentinel;
mod switches;
mod task;
mod text;
mod too_much;
mod weight;

pub use analysis::analyze;
pub use analysis::fingerprint::Fingerprint;
pub use analysis::orders::{How, MOST_ORDERS, Order, orders};
pub use analysis::tool_call::unfolded;
pub use condition::OPERATORS;
pub use facts::Facts;
pub use field::{FIELD_OPERATORS, MOST_PATTERN};
pub use further::{Further, NONE, Seen};
pub use gatekeeper::way_on;
pub use layers::{Authority, Layer, Policy};
pub use model::analysis::{Analysis, Script, Usage};
pub use model::effect::{Effect, EffectKind, Sort, Target, TargetPath};
pub use model::event::{Action, AgentPath, Event, Flavour, Moment, Outcome, Purpose, Task};
pub use model::fake_world::{Supposed, SupposedGit};
pub use model::finding::{At, Decision, Finding, Rewrite, Severity, Tier, Worth};
pub use model::latency::{Latency, Tick};
pub use model::path::{Folders, Place, absolute, is_absolute, is_below, is_within, parent};
pub use model::rule_trace::Weighed;
pub use model::session::{Remnant, RemnantKind, Spent};
pub use model::truth::Truth;
pub use model::verdict::{Behind, Precaution, Verdict};
pub use model::vouched::Vouched;
pub use model::world::{
    Age, Known, Look, MAX_LISTED, MOST_CONTENT, Names, NamesOf, Real, Unreadable, Untracked, World,
};
pub use raised::{RULE_EVENTS, RULE_FIELDS, Raised};
pub use reflex_shell as shell;
pub use remnant::written_by;
pub use rules::{Answer, ask};
pub use secrets::disguises::unescaped;
pub use secrets::passwords::passwords;
pub use secrets::redaction::{redact, redact_known, redacted};
pub use secrets::scan::{Secret, find as find_secrets};
pub use text::excerpt::{plain_path, quotation, told_by_stranger};
pub use text::glob::fits;

use model::session::Step;
use model::stopwatch::Stopwatch;
use reflex_shell::{Command, Program, work};
use reflex_tables::Node;

/// Everything that was worked out about one call.
#[derive(Debug)]
pub struct Judgement {
    /// What it would do.
    pub analysis: Analysis,
    /// What is said about it.
    pub verdict: Verdict,
    /// What was asked of the machine, with the answers.
    pub asked: Vec<String>,
    /// The rules that were looked at, by effect.
    pub weighed: Vec<Weighed>,
    /// What makes the call the same as another.
    pub fingerprint: Fingerprint,
    /// The call as a step of its session.
    pub step: Step,
    /// How long it took.
    pub latency: Latency,
    /// What the call leaves behind for those after it, if it runs.
    pub left: Vec<Remnant>,
}

/// Judges one event before it runs: analysis, detectors, gatekeeper.
pub fn judge(event: &Event, policy: &Policy, tables: Node<'static>, world: &dyn World) -> Judgement {
    judge_with(event, policy, tables, world, NONE)
}

/// The same with a detector from outside. Of a call that would run in place of another it is asked too.
pub fn judge_with(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    further: Further<'_>,
) -> Judgement {
    work::within(too_much::most(event), || judge_within(event, policy, tables, world, further))
}

fn judge_within(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    further: Further<'_>,
) -> Judgement {
    let event = &*analysis::tool_call::unfolded(event, tables);
    let mut judgement = judge_once(event, policy, tables, world, further);
    if judgement.verdict.rewrite.is_some() {
        let again = |event: &Event| judge_once(event, policy, tables, world, further).verdict;
        rewrite::judge_again(event, &mut judgement.verdict, &again);
    }
    judgement
}

fn judge_once(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    further: Further<'_>,
) -> Judgement {
    let mut watch = Stopwatch::new(world);
    let analysis = analyze(event, tables, world);
    work::reserve(too_much::most(event) / too_much::RESERVE);
    watch.stop("analyze");
    let facts = Facts::new(event, &analysis, tables, world).with_roots(policy.roots());
    let (mut findings, weighed) = sentinel::inspect(&facts, &|_| true, &mut watch);
    let left = remnant::left_by(&facts, &findings);
    let fingerprint = analysis::fingerprint::of(event, &analysis);
    let goals = loopbreaker::step::goals(&analysis, &weighed);
    let step = Step { goals, ..loopbreaker::step::of(event, &analysis, &fingerprint, tables) };
    findings.extend(loopbreaker::before(&step, &world.past(&step)).iter().map(|circle| circle.finding(&step)));
    watch.stop("loopbreaker");
    findings.extend(rules::inspect(policy, &facts));
    findings.extend(layers::broken(policy, &facts));
    findings.extend(budget::inspect(policy, &facts));
    findings.extend(passed_on(&facts));
    findings.extend(task::inspect(policy, &facts));
    findings.extend(too_much::finding(event));
    watch.stop("rules");
    let verdict = concluded(policy, &facts, findings, further, &mut watch);
    let asked = facts.asked();
    Judgement { analysis, verdict, asked, weighed, fingerprint, step, latency: watch.latency(), left }
}

/// The verdict on what all detectors found; those from outside are asked last and see what the others have found.
fn concluded(
    policy: &Policy,
    facts: &Facts<'_>,
    mut findings: Vec<Finding>,
    further: Further<'_>,
    watch: &mut Stopwatch<'_>,
) -> Verdict {
    let more = further(&Seen { event: facts.event, analysis: facts.analysis, facts, findings: &findings });
    findings.extend(more);
    watch.stop_if_long("reflexes");
    let verdict = gatekeeper::decide(policy, facts, findings);
    watch.stop("gatekeeper");
    verdict
}

/// Judges what comes to an agent: a prompt, what a tool gave back, the begin and end of a session. What is done is done,
/// so by itself it is never stopped; the agent and the person are told that it gives orders, or that the session goes
/// round in circles, and what people's rules and a detector from outside say.
pub fn overhear(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    further: Further<'_>,
) -> Judgement {
    work::within(too_much::most(event), || overhear_within(event, policy, tables, world, further))
}

fn overhear_within(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    further: Further<'_>,
) -> Judgement {
    let mut watch = Stopwatch::new(world);
    let event = &*analysis::tool_call::unfolded(event, tables);
    let analysis = analyze(event, tables, world);
    work::reserve(too_much::most(event) / too_much::RESERVE);
    watch.stop("analyze");
    let facts = Facts::new(event, &analysis, tables, world).with_roots(policy.roots());
    let fingerprint = analysis::fingerprint::of(event, &analysis);
    let mut findings: Vec<Finding> =
        heard(event).flat_map(|(place, text)| injection::findings::findings(text, place, tables)).collect();
    watch.stop("tripwire");
    // What was done is done: of the effects only what was brought is looked at.
    let is_brought = |effect: &Effect| {
        effect.kind == EffectKind::ExposeSecret && effect.flags.iter().any(|flag| BROUGHT.contains(flag))
    };
    findings.extend(sentinel::inspect(&facts, &is_brought, &mut watch).0);
    let mut step = loopbreaker::step::of(event, &analysis, &fingerprint, tables);
    step.end = event.outcome.as_ref().map(loopbreaker::step::end_of);
    if step.end.is_some() {
        let mut past = world.past(&step);
        loopbreaker::finish(&mut past, step.clone());
        findings.extend(loopbreaker::after(&past).iter().map(|circle| circle.finding(&step)));
        findings.extend(aftercare::inspect(event, &step, &past));
    }
    watch.stop("loopbreaker");
    findings.extend(rules::inspect(policy, &facts));
    findings.extend(too_much::finding(event));
    watch.stop("rules");
    let left = remnant::left_by_orders(&findings);
    let verdict = concluded(policy, &facts, findings, further, &mut watch);
    let latency = watch.latency();
    let (asked, weighed) = (Vec::new(), Vec::new());
    Judgement { analysis, verdict, asked, weighed, fingerprint, step, latency, left }
}

/// The verdict on findings that others made about an event, such as what is held at the end of the work.
pub fn conclude(
    event: &Event,
    policy: &Policy,
    tables: Node<'static>,
    world: &dyn World,
    findings: Vec<Finding>,
) -> Verdict {
    let analysis = Analysis::default();
    gatekeeper::decide(policy, &Facts::new(event, &analysis, tables, world), findings)
}

/// Orders in what a call would hand on: to a server's tool, to another agent, to whoever reads what is published.
fn passed_on(facts: &Facts<'_>) -> Vec<Finding> {
    let texts = facts.event.actions.iter().filter_map(|action| {
        if let Action::SpawnAgent { prompt } = action {
            return Some(("arg:prompt", prompt));
        }
        let Action::McpCall { arguments, .. } = action else { return None };
        Some(("arg:arguments", arguments))
    });
    let found = texts.flat_map(|(place, text)| injection::findings::findings(text, place, facts.tables));
    found.chain(said(facts)).chain(said_by_files(facts)).collect()
}

/// Options by which a program takes what it says from a file.
const FROM_FILE: [&str; 4] = ["-F", "--file", "--body-file", "--notes-file"];

/// Orders in files whose text a command says to others: the body of an issue, a commit's message.
fn said_by_files<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Finding> + 'f {
    let programs = facts.tables.get("programs");
    let speaks = move |command: &&Command| {
        command.words.iter().any(|word| word.literal().is_some_and(|word| option_of(&word).is_some()))
            && Program::find(programs, &command.name).is_some_and(|program| is_said(program, command))
    };
    let spoken = facts.analysis.readings.iter().flat_map(|reading| &reading.commands).filter(speaks);
    spoken.flat_map(files_of).flat_map(|name| {
        let path = model::path::absolute(&name, &facts.event.cwd);
        let text = facts.world.content(&path).unwrap_or_default();
        injection::findings::findings(&text, &format!("file:{name}"), facts.tables)
    })
}

/// The option that a word is or begins with, and what stands in the same word.
fn option_of(word: &str) -> Option<&str> {
    let word = Some(word).filter(|word| word.starts_with('-'))?;
    let option = FROM_FILE.iter().find(|option| word.starts_with(**option))?;
    let rest = word.get(option.len()..)?;
    (rest.is_empty() || rest.starts_with('=') || !option.starts_with("--")).then(|| rest.trim_start_matches('='))
}

/// The files of a command's options, in the same word or in the next one; `name=@FILE` is one too.
fn files_of(command: &Command) -> Vec<String> {
    let words: Vec<_> = command.words.iter().map(|word| word.literal().unwrap_or_default()).collect();
    let mut files = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(rest) = option_of(word) else { continue };
        let value = if rest.is_empty() { words.get(at + 1).map(AsRef::as_ref).unwrap_or_default() } else { rest };
        let file = value.split_once("=@").map_or(value, |(_, file)| file);
        files.extend((!file.is_empty() && file != "-").then(|| file.to_owned()));
    }
    files
}

/// Whether the words of this command reach others.
fn is_said(program: Program, command: &Command) -> bool {
    let stands = |name: &str| {
        command.words.iter().skip(1).take(MOST_BEFORE).any(|word| word.literal().is_some_and(|word| word == name))
    };
    program.speaks().any(|name| name == "*" || stands(name))
}

/// A subcommand stands among the first of a command's words.
const MOST_BEFORE: usize = 4;

/// A shorter word gives no orders.
const LEAST_SAID: usize = 16;

/// Orders in the words that commands say to others: a comment, a message, what is sent with a request.
fn said<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Finding> + 'f {
    let sent = facts.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::SendText);
    let sent = sent.filter_map(|effect| facts.analysis.command(effect));
    let programs = facts.tables.get("programs");
    let speaks = move |command: &&Command| {
        command.words.iter().any(|word| word.span().end - word.span().start >= LEAST_SAID as u32)
            && Program::find(programs, &command.name).is_some_and(|program| is_said(program, command))
    };
    let spoken = facts.analysis.readings.iter().flat_map(|reading| &reading.commands).filter(speaks);
    let words = sent.chain(spoken).flat_map(|command| command.words.iter().skip(1));
    words.flat_map(|word| {
        let text = word.literal().filter(|text| text.len() >= LEAST_SAID);
        let found =
            text.map(|text| injection::findings::findings(&text, injection::findings::IN_COMMAND, facts.tables));
        // Where it stands in the command, not in the word.
        let placed = |found: Finding| Finding { at: At { span: word.span(), ..found.at }, ..found };
        found.unwrap_or_default().into_iter().map(placed).collect::<Vec<_>>()
    })
}

/// Flags of effects that are about a text which an event brings.
const BROUGHT: [&str; 2] = ["output", "prompt"];

/// The texts that an event brings, each with the place it stands in.
fn heard(event: &Event) -> impl Iterator<Item = (&'static str, &str)> {
    let prompts = event.actions.iter().filter_map(|action| {
        let Action::Prompt { text } = action else { return None };
        Some(("prompt", text.as_str()))
    });
    prompts.chain(event.outcome.iter().map(|outcome| ("output", outcome.output.as_str())))
}
