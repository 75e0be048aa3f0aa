//! The universal event and verdict: the format of scripts, scorers and `eval`.

use super::{claude, codex, copilot, cursor, gemini, opencode, qwen, windsurf};
use crate::form::arguments;
use crate::json::{BadEvent, optional, required, texts};
use crate::model::abilities::{HookCapabilities, Line};
use crate::model::agent::Agent;
use crate::model::delivery::Delivery;
use crate::model::payload::Payload;
use crate::model::reply::Reply;
use crate::tools;
use reflex_engine::shell::Language;
use reflex_engine::{
    Action, AgentPath, Decision, Event, FakeWorld, Finding, Moment, Outcome, PolicyAction, Purpose, Reason,
    RemnantKind, Rewrite, SupposedGit, Taint, Task, Verdict, Vouched,
};
use serde_json::{Map, Value, json};

/// The adapter for the universal event.
pub const AGENT: Agent = Agent {
    name: "universal",
    aliases: &["json"],
    title: "the universal event",
    project_variable: None,
    // Used for payloads that no agent claims.
    is_caller: |_| false,
    runs_hooks_of: &[],
    read: read_payload,
    moment,
    says: &CAPABILITIES,
    write,
    refuse,
    settings: None,
    limits: &[],
};

const ALL: HookCapabilities = HookCapabilities { rewrite: true, ..HookCapabilities::DENY_ASK_ADVISE };

const WHY: &str = "our own event: who sends it reads the whole verdict";

const CAPABILITIES: [Line; 9] = [
    Line::new(Moment::BeforeTool, ALL, WHY),
    Line::new(Moment::AfterTool, ALL, WHY),
    Line::new(Moment::PermissionRequest, ALL, WHY),
    Line::new(Moment::Prompt, ALL, WHY),
    Line::new(Moment::SessionStart, ALL, WHY),
    Line::new(Moment::SessionEnd, ALL, WHY),
    Line::new(Moment::Stop, ALL, WHY),
    Line::new(Moment::Subagent, ALL, WHY),
    Line::new(Moment::Other, ALL, WHY),
];

/// Event names, including aliases, with the kind of event that each denotes.
const EVENTS: [(&str, Kind); 37] = [
    ("pre-command", Kind::Command(Moment::BeforeTool)),
    ("bash_command", Kind::Command(Moment::BeforeTool)),
    ("post-command", Kind::Command(Moment::AfterTool)),
    ("pre-write", Kind::Write(Moment::BeforeTool)),
    ("file_write", Kind::Write(Moment::BeforeTool)),
    ("post-write", Kind::Write(Moment::AfterTool)),
    ("pre-edit", Kind::Edit(Moment::BeforeTool)),
    ("file_edit", Kind::Edit(Moment::BeforeTool)),
    ("post-edit", Kind::Edit(Moment::AfterTool)),
    ("pre-delete", Kind::Delete),
    ("file_delete", Kind::Delete),
    ("pre-read", Kind::Read(Moment::BeforeTool)),
    ("post-read", Kind::Read(Moment::AfterTool)),
    ("pre-fetch", Kind::Fetch),
    ("pre-tool", Kind::Tool(Moment::BeforeTool)),
    ("tool_call", Kind::Tool(Moment::BeforeTool)),
    ("onToolCall", Kind::Tool(Moment::BeforeTool)),
    ("pre-tool-use", Kind::Tool(Moment::BeforeTool)),
    ("post-tool", Kind::Tool(Moment::AfterTool)),
    ("post_tool", Kind::Tool(Moment::AfterTool)),
    ("onToolResult", Kind::Tool(Moment::AfterTool)),
    ("post-tool-use", Kind::Tool(Moment::AfterTool)),
    ("prompt-submit", Kind::Prompt),
    ("prompt_submit", Kind::Prompt),
    ("session-start", Kind::Bare(Moment::SessionStart)),
    ("session_start", Kind::Bare(Moment::SessionStart)),
    ("session-end", Kind::Bare(Moment::SessionEnd)),
    ("session_end", Kind::Bare(Moment::SessionEnd)),
    ("stop", Kind::Bare(Moment::Stop)),
    ("session_stop", Kind::Bare(Moment::Stop)),
    ("permission-request", Kind::Tool(Moment::PermissionRequest)),
    ("permission_request", Kind::Tool(Moment::PermissionRequest)),
    ("skill-compliance", Kind::Bare(Moment::Other)),
    ("skill_compliance", Kind::Bare(Moment::Other)),
    ("final-verify", Kind::Bare(Moment::Other)),
    ("final_verify", Kind::Bare(Moment::Other)),
    ("verify-result", Kind::Bare(Moment::Other)),
];

#[derive(Clone, Copy)]
enum Kind {
    Command(Moment),
    Write(Moment),
    Edit(Moment),
    Delete,
    Read(Moment),
    Fetch,
    Tool(Moment),
    Prompt,
    Bare(Moment),
}

impl Kind {
    fn moment(self) -> Moment {
        match self {
            Kind::Command(moment) | Kind::Write(moment) | Kind::Edit(moment) | Kind::Read(moment) => moment,
            Kind::Tool(moment) | Kind::Bare(moment) => moment,
            Kind::Delete | Kind::Fetch => Moment::BeforeTool,
            Kind::Prompt => Moment::Prompt,
        }
    }
}

fn kind(event: &str) -> Option<Kind> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, kind)| *kind)
}

fn moment(event: &str) -> Moment {
    kind(event).map_or(Moment::BeforeTool, Kind::moment)
}

fn read_payload(payload: &Payload<'_>) -> Result<Event, BadEvent> {
    match payload.event_name {
        Some(event_name) if !payload.has("event") => {
            let mut fields = payload.fields.clone();
            fields.insert("event".into(), event_name.into());
            read(&fields)
        }
        Some(_) | None => read(payload.fields),
    }
}

/// Reads one universal event.
///
/// # Errors
/// Returns an error that names the field if a subject is missing, a field has the wrong type, or the event is unknown.
pub fn read(object: &Map<String, Value>) -> Result<Event, BadEvent> {
    let name = required(object, "event")?;
    let kind = kind(name).ok_or_else(|| BadEvent::new("event", format!("is `{name}`, which is not known")))?;
    let cwd = optional(object, "cwd")?;
    let workspace = optional(object, "workspace")?;
    let mut event = Event {
        session: optional(object, "session")?.unwrap_or("").into(),
        client: client(optional(object, "engine")?).into(),
        version: None,
        word: name.into(),
        role: optional(object, "agent")?.map(str::to_owned),
        subagent: optional(object, "agentId")?.map(str::to_owned),
        task: optional(object, "taskId")?.map(str::to_owned),
        claimed: purpose(object)?,
        declared: None,
        mode: optional(object, "mode")?.map(str::to_owned),
        cwd: cwd.or(workspace).unwrap_or("").into(),
        workspace: workspace.unwrap_or("").into(),
        home: optional(object, "home")?.unwrap_or("").into(),
        moment: kind.moment(),
        tool: tool_name(object)?.unwrap_or("").into(),
        actions: Vec::new(),
        call: String::new(),
        outcome: None,
        goes_on: object.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
        is_done: false,
        started: None,
    };
    let moment = event.moment;
    event.actions = actions(kind, object).map_err(|problem| BadEvent { moment: Some(moment), ..problem })?;
    if event.moment == Moment::AfterTool {
        let outcome = outcome(object).map_err(|problem| BadEvent { moment: Some(moment), ..problem })?;
        event.outcome = Some(outcome);
    }
    Ok(event)
}

/// Reads `intent` and `scope`.
fn purpose(object: &Map<String, Value>) -> Result<Purpose, BadEvent> {
    Ok(Purpose { intent: optional(object, "intent")?.unwrap_or("").into(), scope: texts(object, "scope")? })
}

/// Returns the task under `facts` in the event, to be treated as declared by a person:
/// `{"task": {"id": …, "intent": …, "scope": […]}}`.
///
/// # Errors
/// Returns an error that names the field if it has the wrong type.
pub fn declared(object: &Map<String, Value>, root: &str) -> Result<Option<Task>, BadEvent> {
    match object.get("facts").and_then(|facts| facts.get("task")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(task)) => {
            let id = optional(task, "id")?.unwrap_or("task").to_owned();
            Ok(Some(Task { id, root: root.into(), purpose: purpose(task)?, vouched: Vouched::APPROVED }))
        }
        Some(_) => Err(BadEvent::new("facts.task", "is not an object")),
    }
}

/// The agents whose events may also come in this format: all others.
pub(crate) static ENGINES: [Agent; 8] = [
    claude::AGENT,
    codex::AGENT,
    copilot::AGENT,
    gemini::AGENT,
    qwen::AGENT,
    opencode::AGENT,
    cursor::AGENT,
    windsurf::AGENT,
];

/// Returns the adapter's name for an engine, resolving aliases.
fn client(engine: Option<&str>) -> &str {
    let engine = engine.unwrap_or(AGENT.name);
    let is_it = |agent: &&Agent| agent.name == engine || agent.aliases.contains(&engine);
    let known = ENGINES.iter().find(is_it).or(Some(&AGENT).filter(is_it));
    known.map_or(engine.strip_suffix("-cli").unwrap_or(engine), |agent| agent.name)
}

fn outcome(object: &Map<String, Value>) -> Result<Outcome, BadEvent> {
    let output = optional(object, "output")?.unwrap_or_default().to_owned();
    let exit_code = match object.get("exit_code") {
        None | Some(Value::Null) => None,
        Some(Value::Number(code)) => code.as_i64(),
        Some(_) => return Err(BadEvent::new("exit_code", "is not a number")),
    };
    Ok(Outcome { output, exit_code, failed: exit_code.is_some_and(|code| code != 0) })
}

/// Returns the shell language named by the field `shell`, as a name or path. All Unix shells are one language.
fn language(object: &Map<String, Value>) -> Result<Language, BadEvent> {
    let shell = optional(object, "shell")?.unwrap_or("").to_lowercase();
    let name = shell.rsplit(['/', '\\']).next().unwrap_or("");
    Ok(match name.strip_suffix(".exe").unwrap_or(name) {
        "pwsh" | "pwsh-preview" => Language::PowerShell,
        name => Language::named(name).filter(|language| language.is_windows()).unwrap_or_default(),
    })
}

fn actions(kind: Kind, object: &Map<String, Value>) -> Result<Vec<Action>, BadEvent> {
    let after = kind.moment() == Moment::AfterTool;
    match kind {
        Kind::Bare(_) => Ok(Vec::new()),
        Kind::Prompt => {
            let text = optional(object, "prompt")?.or(optional(object, "user_prompt")?);
            let text = text.ok_or_else(|| BadEvent::new("prompt", "is missing"))?;
            Ok(vec![Action::Prompt { text: text.into() }])
        }
        Kind::Command(_) => match optional(object, "command")? {
            Some(command) => Ok(vec![Action::Shell { command: command.into(), language: language(object)? }]),
            None if after => Ok(Vec::new()),
            None => Err(BadEvent::new("command", "is missing")),
        },
        Kind::Fetch => {
            let url = optional(object, "url")?.map(str::to_owned).or(optional(object, "content")?.map(str::to_owned));
            let url = url.or(texts(object, "files")?.into_iter().next());
            Ok(vec![Action::Fetch { url: url.ok_or_else(|| BadEvent::new("url", "is missing"))? }])
        }
        Kind::Tool(_) => tool(object, after),
        Kind::Write(_) | Kind::Edit(_) | Kind::Delete | Kind::Read(_) => {
            let files = files(object)?;
            if files.is_empty() && !after {
                return Err(BadEvent::new("files", "is missing"));
            }
            let content = optional(object, "content")?.or(optional(object, "new_string")?).unwrap_or("").to_owned();
            let removed = optional(object, "old_string")?.unwrap_or("");
            Ok(files.into_iter().map(|file| file_action(kind, file, [content.as_str(), removed])).collect())
        }
    }
}

fn files(object: &Map<String, Value>) -> Result<Vec<String>, BadEvent> {
    let mut files = texts(object, "files")?;
    for alias in ["file_path", "path"] {
        files.extend(optional(object, alias)?.map(str::to_owned));
    }
    Ok(files)
}

fn file_action(kind: Kind, file: String, [content, removed]: [&str; 2]) -> Action {
    let path = AgentPath::new(file);
    match kind {
        Kind::Write(_) => Action::Write { path, content: content.to_owned() },
        Kind::Edit(_) => {
            Action::Edit { path, content: content.to_owned(), removed: removed.to_owned(), parts: Vec::new() }
        }
        Kind::Delete => Action::Delete { path },
        Kind::Read(_) | Kind::Command(_) | Kind::Fetch | Kind::Tool(_) | Kind::Prompt | Kind::Bare(_) => {
            Action::Read { path }
        }
    }
}

/// Returns the actions of a tool call, from its subject if it has one, else from the tool's own arguments.
fn tool(object: &Map<String, Value>, after: bool) -> Result<Vec<Action>, BadEvent> {
    if let Some(command) = optional(object, "command")? {
        return Ok(vec![Action::Shell { command: command.into(), language: language(object)? }]);
    }
    let content = optional(object, "content")?;
    let files = files(object)?;
    if !files.is_empty() {
        let kind = if content.is_some() { Kind::Write(Moment::BeforeTool) } else { Kind::Read(Moment::BeforeTool) };
        return Ok(files.into_iter().map(|file| file_action(kind, file, [content.unwrap_or(""), ""])).collect());
    }
    let Some(tool) = tool_name(object)? else {
        let input = INPUTS.iter().find_map(|key| object.get(*key));
        return match (input, content) {
            (None, None) if after => Ok(Vec::new()),
            (None, None) => Err(BadEvent::new("tool", "is missing")),
            (Some(input), _) => Ok(vec![Action::Other { arguments: input.to_string() }]),
            (None, content) => Ok(vec![Action::Other { arguments: content.unwrap_or("").into() }]),
        };
    };
    called(tool, object, content)
}

/// Keys that may hold a call's arguments.
const INPUTS: [&str; 8] = ["tool_input", "arguments", "args", "input", "parameters", "params", "toolInput", "toolArgs"];

/// Keys of an event that are not arguments of its tool.
const KNOWN_KEYS: [&str; 30] = [
    "event",
    "cwd",
    "workspace",
    "session",
    "engine",
    "agent",
    "agentId",
    "taskId",
    "intent",
    "scope",
    "mode",
    "home",
    "tool",
    "tool_name",
    "toolName",
    "stop_hook_active",
    "output",
    "exit_code",
    "facts",
    "id",
    "shell",
    "files",
    "content",
    "command",
    "file_path",
    "path",
    "version",
    "schema",
    "timestamp",
    "label",
];

/// Returns the tool's name, under any of the keys that senders use.
fn tool_name(object: &Map<String, Value>) -> Result<Option<&str>, BadEvent> {
    Ok(optional(object, "tool")?.or(optional(object, "tool_name")?).or(optional(object, "toolName")?))
}

/// Returns the actions of a tool call by its arguments. Without a key for them, the arguments are the event's own
/// fields.
fn called(tool: &str, object: &Map<String, Value>, content: Option<&str>) -> Result<Vec<Action>, BadEvent> {
    let input = INPUTS.iter().find_map(|key| object.get(*key).filter(|value| !value.is_null()));
    if let Some(fields) = input.and_then(arguments::written) {
        return Ok(vec![claude::action(tool, &fields)?]);
    }
    match (input, content) {
        (Some(Value::Object(input)), _) => Ok(vec![claude::action(tool, input)?]),
        (Some(input), _) => Ok(vec![Action::Other { arguments: input.to_string() }]),
        (None, Some(content)) => Ok(vec![Action::Other { arguments: content.into() }]),
        (None, None) => {
            let rest = object.iter().filter(|(key, _)| !KNOWN_KEYS.contains(&key.as_str()));
            let rest: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
            Ok(vec![tools::mcp_named(tool, &rest).unwrap_or_else(|| tools::other(&rest))])
        }
    }
}

/// Returns the simulated machine state that an event's `facts` describe.
///
/// # Errors
/// Returns an error that names the field if a fact has the wrong type.
pub fn supposed(object: &Map<String, Value>, event: &Event) -> Result<FakeWorld, BadEvent> {
    // A home below `/Users/` indicates macOS, where file names are case-insensitive.
    let folds_case = event.home.starts_with("/Users/");
    let mut world = FakeWorld { workspace: event.workspace.clone(), folds_case, ..FakeWorld::default() };
    let facts = match object.get("facts") {
        None | Some(Value::Null) => return Ok(world),
        Some(Value::Object(facts)) => facts,
        Some(_) => return Err(BadEvent::new("facts", "is not an object")),
    };
    let pairs = |field: &str| -> Result<Vec<(String, String)>, BadEvent> {
        match facts.get(field) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(map)) => map
                .iter()
                .map(|(key, value)| {
                    Ok((
                        key.clone(),
                        value.as_str().ok_or_else(|| BadEvent::new(field, "holds something else than texts"))?.into(),
                    ))
                })
                .collect(),
            Some(_) => Err(BadEvent::new(field, "is not an object")),
        }
    };
    world.variables = pairs("env")?.into_iter().collect();
    world.links = pairs("symlinks")?.into_iter().collect();
    world.aliases = pairs("aliases")?.into_iter().collect();
    world.missing = texts(facts, "missing")?;
    world.waiting = texts(facts, "waiting")?;
    world.remnants = remnants(facts, event)?;
    world.files = pairs("files")?.into_iter().collect();
    world.folds_case = facts.get("folds_case").and_then(Value::as_bool).unwrap_or(folds_case);
    world.git = match facts.get("git") {
        None | Some(Value::Null) => None,
        Some(Value::Object(git)) => Some(supposed_git(git)?),
        Some(_) => return Err(BadEvent::new("git", "is not an object")),
    };
    Ok(world)
}

/// Parses `left`, the remnants of the session's earlier calls: `copies` and `fetched` (path: source), `seen` (paths)
/// and `orders` (findings).
fn remnants(facts: &Map<String, Value>, event: &Event) -> Result<Vec<Taint>, BadEvent> {
    let left = match facts.get("left") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(left)) => left,
        Some(_) => return Err(BadEvent::new("left", "is not an object")),
    };
    let file = |path: &str| match path.strip_prefix("~/") {
        Some(below) => format!("{}/{below}", event.home),
        None => reflex_engine::absolute(path, &event.cwd),
    };
    let mut remnants = Vec::new();
    for (field, kind) in [("copies", RemnantKind::Copy), ("fetched", RemnantKind::Fetched)] {
        for (path, from) in left.get(field).and_then(Value::as_object).into_iter().flatten() {
            let from = from.as_str().ok_or_else(|| BadEvent::new(field, "holds something else than texts"))?;
            let from = if kind == RemnantKind::Copy { file(from) } else { from.to_owned() };
            remnants.push(Taint { kind, path: file(path), from });
        }
    }
    let seen = texts(left, "seen")?.into_iter();
    remnants.extend(seen.map(|path| Taint { kind: RemnantKind::Seen, path: file(&path), from: String::new() }));
    let orders = texts(left, "orders")?.into_iter();
    remnants.extend(orders.map(|from| Taint { kind: RemnantKind::Orders, path: String::new(), from }));
    Ok(remnants)
}

fn supposed_git(git: &Map<String, Value>) -> Result<SupposedGit, BadEvent> {
    let count = |field: &str| match git.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(count) => match count.as_u64() {
            Some(count) => Ok(Some(usize::try_from(count).unwrap_or(usize::MAX))),
            None => Err(BadEvent::new(field, "is not a count")),
        },
    };
    Ok(SupposedGit {
        branch: optional(git, "branch")?.map(str::to_owned),
        dirty: texts(git, "dirty")?,
        untracked: texts(git, "untracked")?,
        ignored: texts(git, "ignored")?,
        protected: texts(git, "protected")?,
        unpushed: count("unpushed")?,
        stashes: count("stashes")?,
        unreadable: optional(git, "unreadable")?.map(str::to_owned),
    })
}

/// Renders the verdict in the universal format.
pub fn verdict(verdict: &Verdict) -> Map<String, Value> {
    let decision = match verdict.decision {
        Decision::Deny => "block",
        Decision::Ask => "require_approval",
        Decision::Pass if verdict.advice.is_empty() => "allow",
        Decision::Pass => "warn",
    };
    let mut object = Map::new();
    object.insert("schema".into(), "reflex/verdict-v1".into());
    object.insert("decision".into(), decision.into());
    object.insert("risk".into(), verdict.risk.risk().into());
    object.insert("confidence".into(), percent(verdict.confidence));
    let advice = || verdict.advice.iter().map(|advice| Value::from(advice.reason.full.as_str()));
    let of_pass = advice().filter(|_| verdict.decision == Decision::Pass);
    object.insert(
        "reasons".into(),
        verdict.reasons.iter().map(|reason| Value::from(reason.full.as_str())).chain(of_pass).collect(),
    );
    object.insert("findings".into(), verdict.findings.iter().map(finding).collect());
    object.insert("advice".into(), advice().collect());
    object.insert("rewrite".into(), verdict.rewrite.as_ref().map_or(Value::Null, rewrite));
    object
}

fn percent(percent: u32) -> Value {
    json!(f64::from(percent) / 100.0)
}

fn rewrite(rewrite: &Rewrite) -> Value {
    rewrite.fields.iter().map(|(field, text)| (field.clone(), Value::from(text.as_str()))).collect()
}

fn finding(finding: &Finding) -> Value {
    let mut at = Map::new();
    at.insert("in".into(), finding.at.within.as_str().into());
    at.insert("span".into(), json!([finding.at.span.start, finding.at.span.end]));
    if !finding.at.derived.is_empty() {
        let derived = finding.at.derived.iter();
        let step = |step: &reflex_engine::shell::Derivation| json!({"step": step.step, "text": step.text});
        at.insert("derived".into(), derived.map(step).collect());
    }
    json!({
        "id": finding.id,
        "detector": finding.detector.name(),
        "category": finding.category,
        "severity": finding.severity.name(),
        "confidence": percent(finding.confidence),
        "tier": finding.tier.name(),
        "action": finding.fixed.map(|fixed| match fixed {
            PolicyAction::Record => "log",
            PolicyAction::Warn => "warn",
            PolicyAction::Ask => "require_approval",
            PolicyAction::Deny => "block",
        }),
        "message": finding.message,
        "remedy": finding.remedy,
        "command": finding.command,
        "at": at,
    })
}

/// Returns the verdict on an unreadable event.
pub fn unreadable(problem: &BadEvent) -> Map<String, Value> {
    let reason = format!("Blocked: the event cannot be read: {problem}");
    let mut object = refused(&reason);
    object.insert("error".into(), problem.to_string().into());
    object
}

fn refused(reason: &str) -> Map<String, Value> {
    let reasons = vec![Reason::plain(reason)];
    verdict(&Verdict { decision: Decision::Deny, confidence: 100, reasons, ..Verdict::default() })
}

fn write(_event: &Event, judged: &Verdict, _delivery: &Delivery) -> Reply {
    Reply { stdout: format!("{}\n", Value::Object(verdict(judged))), ..Reply::default() }
}

fn refuse(_word: &str, _moment: Moment, reason: &str) -> Reply {
    let mut object = refused(reason);
    object.insert("error".into(), reason.into());
    Reply { stdout: format!("{}\n", Value::Object(object)), stderr: format!("{reason}\n"), code: 2 }
}
