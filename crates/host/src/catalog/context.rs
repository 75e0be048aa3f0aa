//! The context of a call for a reflex: the fields of the agentreflex specification, and further facts under `reflex`.

use reflex_engine::loopbreaker::{Step, StepKind};
use reflex_engine::shell::{Command, Reading};
use reflex_engine::{
    Action, Analysis, Effect, Event, Files, Git, Moment, Severity, Target, Untracked, Usage, World, absolute, is_within,
};
use serde_json::{Map, Value, json};

/// Maximum number of files in a list of git's.
const MAX_FILES: usize = 100;

/// Maximum number of commands and effects of a call, and of targets of an effect.
const MAX_ITEMS: usize = 1000;

/// The facts about a call besides the event.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The effects of the call.
    pub(crate) analysis: &'a Analysis,
    /// The machine.
    pub(crate) world: &'a dyn World,
    /// Earlier calls of the session, oldest first.
    pub(crate) past: &'a [Step],
    /// The highest severity found so far.
    pub(crate) risk: Severity,
    /// The time in RFC 3339.
    pub(crate) time: &'a str,
    /// The agent's payload.
    pub(crate) raw: &'a Value,
}

/// The grant pattern for a path: relative to the project, `~/` for the home, or absolute.
pub(crate) fn as_pattern(path: &str, workspace: &str, home: &str) -> String {
    let full = absolute(path, workspace);
    let below = |folder: &str| Some(full.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
    below(workspace).or_else(|| Some(format!("~/{}", below(home)?))).unwrap_or(full.clone())
}

/// The full context. Each module receives only the fields that it declares.
pub(crate) fn context(event: &Event, seen: Seen<'_>) -> Value {
    let mut context = base(event, seen);
    let mut view = known(event, seen);
    if let (Value::Object(context), Value::Object(fields)) = (&mut context, &mut view) {
        fields.remove("__lazy");
        fields.insert("history".into(), seen.past.iter().map(past).collect());
        fields.extend(git(event, seen.world).map(|git| ("git".to_owned(), git)));
        context.insert("paths".into(), paths(event, seen).into());
        context.insert("reflex".into(), view);
    }
    context
}

/// The context without `paths` and `reflex`, which are expensive.
pub(crate) fn base(event: &Event, seen: Seen<'_>) -> Value {
    let command = event.actions.iter().find_map(|action| {
        let Action::Shell { command, .. } = action else { return None };
        Some(command.as_str())
    });
    let name = if event.moment == Moment::AfterTool { "onToolResult" } else { "onToolCall" };
    let mut context = json!({
        "event": name, "agent": event.client, "tool": tool(event), "cwd": event.cwd, "raw": seen.raw,
    });
    if let (Some(command), Value::Object(context)) = (command, &mut context) {
        context.insert("command".into(), command.into());
    }
    context
}

/// The name of the tool, the same for every agent.
fn tool(event: &Event) -> String {
    // An unknown tool has the action `Other` first, then the actions for its meaning.
    let known = event.actions.iter().find(|action| !matches!(action, Action::Other { .. }));
    let word = match known {
        Some(Action::Shell { .. } | Action::Input { .. }) => "Bash",
        Some(Action::Read { .. }) => "Read",
        Some(Action::Write { .. }) => "Write",
        Some(Action::Edit { .. }) => "Edit",
        Some(Action::Delete { .. }) => "Delete",
        Some(Action::Search { .. }) => "Search",
        Some(Action::Fetch { .. }) => "WebFetch",
        Some(Action::SpawnAgent { .. }) => "Task",
        Some(Action::Skill { .. }) => "Skill",
        Some(Action::McpCall { .. } | Action::Prompt { .. } | Action::Other { .. }) | None => {
            return event.tool.clone();
        }
    };
    word.to_owned()
}

/// The paths that the call would touch, with symlinks resolved.
pub(crate) fn paths(event: &Event, seen: Seen<'_>) -> Vec<String> {
    let acted = event.actions.iter().filter_map(path_of).map(|path| absolute(&path, &event.cwd));
    let targets = effects(seen.analysis).flat_map(|effect| &effect.targets);
    let touched = targets.filter_map(|target| target.path().map(str::to_owned));
    let mut paths: Vec<String> = Vec::new();
    for path in acted.chain(touched).take(MAX_ITEMS) {
        let real = seen.world.real(&path, true).path;
        if !paths.contains(&real) {
            paths.push(real);
        }
    }
    paths
}

fn path_of(action: &Action) -> Option<String> {
    action.path().map(reflex_engine::AgentPath::with_slashes)
}

/// The effects of the call itself. Effects of a script that it only writes happen later, when the script runs.
fn effects(analysis: &Analysis) -> impl Iterator<Item = &Effect> {
    let runs = |effect: &&Effect| {
        let script = effect.script.and_then(|script| analysis.scripts.get(script));
        script.is_none_or(|script| script.usage != Usage::Written)
    };
    analysis.effects.iter().filter(runs).take(MAX_ITEMS)
}

/// The readings whose commands would run, each with the index of its script and the number of commands in the readings
/// before it.
fn readings(analysis: &Analysis) -> Vec<(&Reading, Option<usize>, usize)> {
    let direct = analysis.readings.iter().map(|reading| (reading, None));
    let scripts = analysis.scripts.iter().enumerate().filter(|(_, script)| script.usage != Usage::Written);
    let mut before = 0;
    let mut all = Vec::new();
    for (reading, script) in direct.chain(scripts.map(|(index, script)| (&script.reading, Some(index)))) {
        all.push((reading, script, before));
        before += reading.commands.len();
    }
    all
}

/// The facts about the call without `git` and `history`, which are loaded on request, as `__lazy` declares.
pub(crate) fn known(event: &Event, seen: Seen<'_>) -> Value {
    let readings = readings(seen.analysis);
    let commands = readings.iter().flat_map(|(reading, ..)| &reading.commands).take(MAX_ITEMS);
    let commands: Vec<Value> = commands.map(|one| command(one, event)).collect();
    let of_effect = |effect: &Effect| {
        let reading = seen.analysis.reading(effect)?;
        let (_, _, before) = readings.iter().find(|(other, ..)| std::ptr::eq(*other, reading))?;
        Some(before + effect.command?)
    };
    let effects = effects(seen.analysis).map(|one| effect(one, of_effect(one), event, seen.world));
    let mut view = Map::new();
    let mut put = |key: &str, value: Value| drop(view.insert(key.to_owned(), value));
    put("workspace", event.workspace.as_str().into());
    put("home", event.home.as_str().into());
    put("session", event.session.as_str().into());
    put("time", seen.time.into());
    put("actions", event.actions.iter().map(|one| action(one, event)).collect());
    put("effects", effects.collect());
    put("commands", commands.into());
    put("__lazy", json!(["git", "history"]));
    put("risk", seen.risk.risk().into());
    for (key, value) in [("role", &event.role), ("task", &event.task), ("mode", &event.mode)] {
        if let Some(value) = value {
            put(key, value.as_str().into());
        }
    }
    if let Some(outcome) = &event.outcome {
        put("outcome", json!({"output": outcome.output, "exitCode": outcome.exit_code, "failed": outcome.failed}));
    }
    Value::Object(view)
}

fn action(action: &Action, event: &Event) -> Value {
    let (kind, text) = match action {
        Action::Shell { command, .. } => ("shell", command.as_str()),
        Action::Read { .. } => ("read", ""),
        Action::Write { content, .. } => ("write", content.as_str()),
        Action::Edit { content, .. } => ("edit", content.as_str()),
        Action::Delete { .. } => ("delete", ""),
        Action::Search { .. } => ("search", ""),
        Action::Fetch { url } => ("fetch", url.as_str()),
        Action::McpCall { arguments, .. } => ("mcp", arguments.as_str()),
        Action::Prompt { text } => ("prompt", text.as_str()),
        Action::SpawnAgent { prompt } => ("spawn", prompt.as_str()),
        Action::Skill { name } => ("skill", name.as_str()),
        Action::Input { text } => ("input", text.as_str()),
        Action::Other { arguments } => ("other", arguments.as_str()),
    };
    let mut shown = json!({"kind": kind, "text": text});
    if let (Some(path), Value::Object(shown)) = (path_of(action), &mut shown) {
        shown.insert("path".into(), absolute(&path, &event.cwd).into());
    }
    shown
}

fn command(command: &Command, event: &Event) -> Value {
    let words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
    let known = command.words.iter().all(|word| !word.is_unknown());
    let subcommands = command.invocation.as_ref().map(|invocation| invocation.path.clone()).unwrap_or_default();
    let env: Map<String, Value> =
        command.assignments.iter().map(|(name, value)| (name.clone(), value.shown().into())).collect();
    let folder = command.folder.as_ref().and_then(|folder| folder.literal());
    let folder = folder.map(|folder| absolute(&folder, &event.cwd));
    json!({
        "name": command.name, "argv": words, "known": known, "subcommands": subcommands, "cwd": folder, "env": env,
        "site": command.site.name(),
    })
}

fn effect(effect: &Effect, command: Option<usize>, event: &Event, files: &dyn Files) -> Value {
    let targets = effect.targets.iter().take(MAX_ITEMS).map(|one| target(one, event, files));
    json!({
        "kind": effect.kind.name(), "targets": targets.collect::<Vec<_>>(), "flags": effect.flags,
        "argument": effect.argument.as_ref().map(reflex_engine::shell::Value::shown), "command": command,
        "site": effect.site.name(),
    })
}

fn target(target: &Target, event: &Event, files: &dyn Files) -> Value {
    let Some(path) = target.path() else { return json!({"text": target.value.shown(), "inside": false}) };
    let real = files.real(path, false);
    let inside = is_within(&real.path, &event.workspace);
    json!({"text": target.value.shown(), "path": real.path, "inside": inside, "exists": real.exists})
}

pub(crate) fn past(step: &Step) -> Value {
    let kind = match step.kind {
        StepKind::Look => "look",
        StepKind::Change => "change",
        StepKind::Run => "run",
        StepKind::Opaque => "opaque",
    };
    let changes: Vec<&str> = step.changes.iter().map(|(path, _)| path.as_str()).collect();
    json!({
        "text": step.text, "deed": kind, "changes": changes, "refused": step.refused,
        "failed": step.end.as_ref().map(|end| end.failed),
    })
}

/// The repository of the call's working directory, as far as it can be read.
pub(crate) fn git(event: &Event, git: &dyn Git) -> Option<Value> {
    let root = git.work_tree(&event.cwd)?;
    let branch = git.branch(&event.cwd)?;
    let first = |names: reflex_engine::Affected<reflex_engine::Names>| -> Vec<String> {
        names.known().map(|names| names.names.into_iter().take(MAX_FILES).collect()).unwrap_or_default()
    };
    Some(json!({
        "root": root, "branch": branch, "protected": git.protected(&event.cwd),
        "dirty": first(git.uncommitted(&root)), "untracked": first(git.untracked(&root, Untracked::Ordinary)),
    }))
}
