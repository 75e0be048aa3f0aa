//! Converts a call to a step of its session.

use super::signature::{self, chars, error_signature};
use crate::analysis::fingerprint::{self, Fingerprint};
use crate::detectors::retry;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::{Action, Event, Outcome};
use crate::model::rule_trace::RuleTrace;
use crate::model::session::{End, PASSES, RepeatAllowance, Step, StepKind};
use crate::model::words::WordList;
use reflex_shell::{Command, Value};
use reflex_tables::Tables;

/// Maximum number of characters of a command or path that are kept.
const MAX_CHARS: usize = 200;

/// Maximum number of words that are searched for a subcommand.
const MAX_BEFORE: usize = 4;

/// Programs that wait before a repetition.
const WAITING: [&str; 6] = ["sleep", "wait", "watch", "timeout", "Start-Sleep", "inotifywait"];

/// Returns the step of a call. Written content is kept as a digest, and the text is redacted.
pub(crate) fn step(event: &Event, analysis: &Analysis, fingerprint: &Fingerprint, tables: Tables) -> Step {
    Step {
        exact: fingerprint.exact.clone(),
        goals: Vec::new(),
        text: text(event, tables),
        kind: kind(tables, event, analysis),
        pace: pace(tables, event, analysis),
        refused: false,
        changes: event.actions.iter().filter_map(change).collect(),
        end: None,
    }
}

fn pace(tables: Tables, event: &Event, analysis: &Analysis) -> RepeatAllowance {
    let commands = || analysis.readings.iter().flat_map(|reading| &reading.commands);
    match () {
        () if commands().any(|command| WAITING.contains(&command.name.as_str()) || moves_on(command)) => {
            RepeatAllowance::Waits
        }
        () if commands().any(|command| asks(tables, command)) || polls(tables, event) => RepeatAllowance::Asks,
        () => RepeatAllowance::Straight,
    }
}

/// Whether an opaque tool polls something that runs in the background: `BashOutput`.
fn polls(tables: Tables, event: &Event) -> bool {
    let tools = WordList::PollingTools.read(tables);
    let is_opaque = |action: &Action| matches!(action, Action::Other { .. } | Action::McpCall { .. });
    event.actions.iter().all(is_opaque) && tools.fit(&event.tool.to_lowercase())
}

/// Whether a command advances a sequence of commits: `git bisect good`, `git rebase --continue`.
fn moves_on(command: &Command) -> bool {
    let has = |name: &str| command.words.iter().skip(1).filter_map(Value::literal).any(|word| word == name);
    command.name == "git" && (has("bisect") || has("--continue") || has("--skip"))
}

/// Whether a command only polls the state of something that runs in the background.
fn asks(tables: Tables, command: &Command) -> bool {
    let has = |names: &[&str]| {
        command.words.iter().skip(1).take(MAX_BEFORE).filter_map(Value::literal).any(|word| names.contains(&&*word))
    };
    match command.name.as_str() {
        name if WordList::PollingPrograms.read(tables).has(name) => true,
        "curl" | "wget" | "http" | "xh" | "redis-cli" => {
            let sending = WordList::SendingOptions.read(tables);
            !command.words.iter().filter_map(Value::literal).any(|word| sending.fit(&word))
        }
        "gh" => has(&["run", "pr", "workflow"]) && has(&["view", "list", "status", "checks", "watch"]),
        "glab" => has(&["ci", "mr", "pipeline"]) && has(&["view", "list", "status", "get"]),
        "kubectl" | "oc" => has(&["get", "describe", "logs", "rollout", "top"]),
        "docker" | "podman" | "nerdctl" => has(&["ps", "logs", "inspect", "stats", "top", "events"]),
        "systemctl" | "service" | "helm" | "supervisorctl" => has(&["status", "is-active", "show", "list"]),
        _ => false,
    }
}

/// Digests of the effects on which a rule fired: kind and targets, independent of the spelling of the command.
pub(crate) fn goals(analysis: &Analysis, weighed: &[RuleTrace]) -> Vec<String> {
    /// Maximum number of digests that are kept.
    const MAX_GOALS: usize = 8;
    let guilty =
        weighed.iter().filter(|weighed| weighed.fires).filter_map(|weighed| analysis.effects.get(weighed.effect));
    let digest = |effect: &Effect| {
        let word = |target: &Target| target.path().map_or_else(|| branch(target.shown()), str::to_owned);
        let targets = effect.targets.iter().map(word);
        let parts: Vec<String> = [effect.kind.name().to_owned()].into_iter().chain(targets).collect();
        let digest = fingerprint::digest(parts.iter().map(String::as_str));
        digest.get(..16).unwrap_or_default().to_owned()
    };
    let mut goals: Vec<String> = guilty.map(digest).collect();
    goals.sort();
    goals.dedup();
    goals.truncate(MAX_GOALS);
    goals
}

/// Shortens the full name of a branch.
fn branch(shown: String) -> String {
    shown.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(shown)
}

/// Returns the end of a call as digests. A failure that only differs in its duration is the same failure.
pub(crate) fn end_of(tables: Tables, outcome: &Outcome) -> End {
    let output = outcome.output.trim();
    let mark = if outcome.failed && retry::passes(tables, output) { String::from(PASSES) } else { String::new() };
    End {
        failed: outcome.failed,
        output: if outcome.failed { text_hash(&signature::without_times(output)) } else { text_hash(output) },
        error: if outcome.failed { mark + &error_signature(tables, output) } else { String::new() },
        chars: chars(output),
    }
}

/// Hash that distinguishes long texts which are compared with few others: 64-bit FNV-1a by Fowler, Noll and Vo. A
/// deliberate collision only causes a false report of a loop.
fn text_hash(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn text(event: &Event, tables: Tables) -> String {
    // The tool name of a command is omitted.
    let named = |action: &Action| usize::from(matches!(action, Action::Shell { .. }));
    let texts = |action| fingerprint::action_texts(action).take(2).skip(named(action));
    let words: Vec<&str> = event.actions.iter().flat_map(texts).collect();
    let text = words.join(" ");
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    crate::secrets::redaction::redacted(text.get(..end).unwrap_or_default(), tables).replace(['\n', '\t', '\r'], " ")
}

fn change(action: &Action) -> Option<(String, String)> {
    let is_deleted = matches!(action, Action::Delete { .. });
    let state = if is_deleted { "-".to_owned() } else { text_hash(action.content()?) };
    Some((action.path()?.text.clone(), state))
}

fn kind(tables: Tables, event: &Event, analysis: &Analysis) -> StepKind {
    let one = |action: &Action| match action {
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } => StepKind::Look,
        Action::Write { .. } | Action::Edit { .. } | Action::Delete { .. } => StepKind::Change,
        Action::Shell { .. } => shell(tables, analysis),
        Action::McpCall { .. }
        | Action::Prompt { .. }
        | Action::SpawnAgent { .. }
        | Action::Skill { .. }
        | Action::Input { .. }
        | Action::Other { .. } => StepKind::Opaque,
    };
    let deeds: Vec<StepKind> = event.actions.iter().map(one).collect();
    let order = [StepKind::Change, StepKind::Opaque, StepKind::Run];
    order.into_iter().find(|kind| deeds.contains(kind)).unwrap_or(if deeds.is_empty() {
        StepKind::Opaque
    } else {
        StepKind::Look
    })
}

/// A command is a change if it has such an effect, and a look if all its programs only look. Otherwise it is a run.
fn shell(tables: Tables, analysis: &Analysis) -> StepKind {
    let is_silent = |kind| {
        matches!(
            kind,
            EffectKind::Read | EffectKind::PathArgument | EffectKind::GuardReference | EffectKind::RunUnknown
        )
    };
    let commands = || analysis.readings.iter().flat_map(|reading| &reading.commands);
    match () {
        () if analysis.effects.iter().any(|effect| !is_silent(effect.kind)) => StepKind::Change,
        () if commands().next().is_some() && commands().all(|command| looks(tables, command)) => StepKind::Look,
        () => StepKind::Run,
    }
}

/// Whether a command only shows files, unless an effect contradicts that.
fn looks(tables: Tables, command: &Command) -> bool {
    let shows = ["show", "diff", "log", "blame", "status"];
    match command.name.as_str() {
        "git" => command.words.get(1).and_then(Value::literal).is_some_and(|word| shows.contains(&&*word)),
        name => WordList::LookingPrograms.read(tables).has(name),
    }
}
