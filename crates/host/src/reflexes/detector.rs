//! Runs the chain of reflexes as one detector: its answers about a call become findings.

use super::load::{Missing, ReflexFolder, Reflexes, Untrusted};
use super::machine::LocalMachine;
use crate::catalog::{MANIFEST, context};
use crate::store::session::History;
use crate::system::clock;
use reflex_engine::{
    Action, Authority, DetectorName, Event, Finding, Moment, PolicyAction, Rewrite, Seen, Severity, Tier, World,
    plain_path, quotation, redacted,
};
use reflex_script::{
    Call, Chain, Handler, Limit, Limits, Missed, Module, ModuleDecision, OnError, Outcome, Problem, Report,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;

/// Maximum number of characters of a reason.
const MAX_REASON: usize = 600;

/// A reflex changes the call in a way that the call does not allow.
#[derive(Debug, thiserror::Error)]
enum NoRewrite {
    /// The call lacks this field, or the new value is not a text.
    #[error("It changes {}, which this call has not", quotation(.0))]
    Field(String),
    /// The reflex names no field.
    #[error("It changes no field")]
    Unchanged,
}

/// The reflexes of a call.
pub(crate) struct Detector<'a> {
    reflexes: &'a Reflexes,
    chain: Chain,
    world: &'a dyn World,
    history: &'a dyn Fn() -> History,
    raw: Value,
    /// Indexes of the reflexes that have rewritten the call: they are not asked about their own rewrite.
    spoke: RefCell<Vec<usize>>,
    /// The fields that reflexes have changed, with their new texts.
    changed: RefCell<Vec<(String, String)>>,
    reports: RefCell<Vec<Value>>,
}

impl<'a> Detector<'a> {
    pub(crate) fn new(
        reflexes: &'a Reflexes,
        world: &'a dyn World,
        history: &'a dyn Fn() -> History,
        raw: Value,
    ) -> Detector<'a> {
        let modules = reflexes
            .reflex_folders
            .iter()
            .flat_map(|reflex_folders| reflex_folders.modules.iter().map(|(module, _)| module.clone()));
        let chain = Chain::new(modules.collect(), Limits { leave: true, ..Limits::default() });
        let (spoke, changed, reports) = Default::default();
        Detector { reflexes, chain, world, history, raw, spoke, changed, reports }
    }

    /// A report about every reflex that ran, for the record.
    pub(crate) fn reports(&self) -> Vec<Value> {
        self.reports.borrow().clone()
    }

    /// Runs the chain on a call.
    pub(crate) fn inspect(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let handler = match seen.event.moment {
            Moment::BeforeTool | Moment::PermissionRequest => Handler::ToolCall,
            Moment::AfterTool => Handler::ToolResult,
            Moment::Prompt
            | Moment::SessionStart
            | Moment::SessionEnd
            | Moment::Stop
            | Moment::Subagent
            | Moment::SettingsChange
            | Moment::Other => return Vec::new(),
        };
        let acts = seen.event.moment.is_before_execution() && !seen.event.actions.iter().all(Action::only_looks);
        let mut findings: Vec<Finding> = Vec::new();
        if handler == Handler::ToolCall {
            findings.extend(
                self.reflexes.reflex_folders.iter().flat_map(|reflex_folders| not_in_force(reflex_folders, acts, seen)),
            );
        }
        for action in shells(seen.event) {
            let outcome = self.ask(seen, (handler, acts, action));
            findings.extend(self.findings(&outcome, seen, action.unwrap_or(0)));
        }
        findings
    }

    fn ask(&self, seen: &Seen<'_>, (handler, acts, action): (Handler, bool, Option<usize>)) -> Outcome {
        let time = clock::timestamp(clock::now());
        let known = context::Seen {
            analysis: seen.analysis,
            world: self.world,
            past: &[],
            risk: seen.risk(),
            time: &time,
            raw: &Value::Null,
        };
        let mut context = context::base(seen.event, known);
        let mut put = |key: &str, value: Value| context.as_object_mut().map(|fields| fields.insert(key.into(), value));
        put("raw", self.raw.clone());
        if let Some(Action::Shell { command, .. }) = action.and_then(|action| seen.event.actions.get(action)) {
            put("command", command.as_str().into());
        }
        let call = Call {
            handler,
            context,
            lazy: &["paths", "reflex"],
            acts,
            spoke: self.spoke.borrow().clone(),
            tables: reflex_library::tables(),
            home: seen.event.home.clone(),
            worked_out: Arc::default(),
            machine: Arc::new(LocalMachine { workspace: seen.event.workspace.clone(), home: seen.event.home.clone() }),
        };
        let lazily = |field: &str| match field {
            "paths" => context::paths(seen.event, known).into(),
            "reflex" => context::known(seen.event, known),
            "reflex.git" => context::git(seen.event, self.world).unwrap_or(Value::Null),
            "reflex.history" => (self.history)().all().iter().map(context::past).collect(),
            _ => Value::Null,
        };
        self.chain.run_with(call, &lazily)
    }

    fn findings(&self, outcome: &Outcome, seen: &Seen<'_>, action: usize) -> Vec<Finding> {
        let mut findings = Vec::new();
        for report in &outcome.reports {
            let Some(module) = self.chain.modules().get(report.index) else { continue };
            self.note(report);
            findings.extend(self.missed(report, module, (seen, action)));
            let follows = outcome.failed.iter().find(|(index, _)| *index == report.index);
            match (&report.decision, follows) {
                (Some(Err(_)), Some((_, decision))) if outcome.by != Some(report.index) => {
                    findings.push(self.finding(report.index, module, decision, (seen, action)));
                }
                (Some(Err(problem)), None) => {
                    let found = failed(module, problem, seen, action);
                    findings.push(self.quoted(report.index, module, found));
                }
                _ => {}
            }
        }
        let Some(by) = outcome.by else { return findings };
        let Some(module) = self.chain.modules().get(by) else { return findings };
        let mut first = self.finding(by, module, &outcome.decision, (seen, action));
        if let ModuleDecision::Modify { args, .. } = &outcome.decision {
            self.spoke.borrow_mut().push(by);
            match self.rewrite(args) {
                Ok(rewrite) => first.rewrite = Some(rewrite),
                Err(problem) => first.message = format!("{} {problem}.", first.message),
            }
        }
        if let Some((at, decision)) = &outcome.after
            && let Some(module) = self.chain.modules().get(*at)
            && first.rewrite.is_none()
        {
            let mut later = self.finding(*at, module, decision, (seen, action));
            later.after = Some(first.id.clone());
            findings.push(later);
        }
        findings.push(first);
        findings
    }

    fn finding(
        &self,
        index: usize,
        module: &Module,
        decision: &ModuleDecision,
        (seen, action): (&Seen<'_>, usize),
    ) -> Finding {
        self.quoted(index, module, finding(&module.name, decision, seen, action))
    }

    /// A warning about a module that tried to access something outside its grants and went on without it.
    fn missed(&self, report: &Report, module: &Module, (seen, action): (&Seen<'_>, usize)) -> Option<Finding> {
        // A module without any machine grant has its own warning already.
        let is_granted = |missed: &&Missed| {
            let asked = module.manifest.as_ref().map(|manifest| &manifest.capabilities);
            asked.is_none_or(|asked| !asked.asks_of_the_machine() || module.granted.asks_of_the_machine())
                || matches!(missed, Missed::Field(_))
        };
        let missed: Vec<&Missed> = report.missed.iter().filter(is_granted).collect();
        let first = missed.first()?;
        let words: Vec<String> = missed.iter().map(|one| format!("`{}`", plain_path(one.word()))).collect();
        let does = if matches!(first, Missed::File { writes: true, .. }) { "write" } else { "see" };
        let name = &module.name;
        let message = format!("The reflex `{name}` may not {does} {} and went on without.", words.join(", "));
        let reflex_folders = self.reflex_folders(report.index)?;
        let accept = match reflex_folders.authority {
            Authority::Project => "the user runs `reflex trust`".to_owned(),
            Authority::User | Authority::Managed => format!("the user runs `reflex reflexes add --user {name}`"),
        };
        let entry = format!("\"{}\": [\"{}\"]", first.capability(), plain_path(first.word()));
        let remedy = match module.manifest {
            Some(_) => format!("Add `{entry}` to `capabilities` in its `{MANIFEST}`, then {accept}."),
            None => format!("Give it a `{MANIFEST}` with `{entry}` in `capabilities`, then {accept}."),
        };
        let id = format!("reflex/{name}");
        let found = Finding { remedy, severity: Severity::Low, ..of_session(blank(name, seen, action)) };
        Some(Finding { id: format!("{id}/missed"), message, fixed: Some(PolicyAction::Warn), ..found })
    }

    /// Quotes the message if a stranger's list configures the reflex. Modules of strangers do not run, but the messages
    /// of built-in reflexes may contain options from such a list.
    fn quoted(&self, index: usize, module: &Module, found: Finding) -> Finding {
        let has_words = module.options.as_object().is_some_and(|options| !options.is_empty());
        let reflex_folders = self.reflex_folders(index).filter(|reflex_folders| has_words && reflex_folders.strange);
        let Some(reflex_folders) = reflex_folders else { return found };
        let who = format!("The reflex `{}`, with the options", module.name);
        Finding { message: reflex_folders.attributed(&who, &found.message), ..found }
    }

    /// The list that names a module of the chain.
    fn reflex_folders(&self, index: usize) -> Option<&ReflexFolder> {
        let mut before = 0;
        self.reflexes.reflex_folders.iter().find(|reflex_folders| {
            before += reflex_folders.modules.len();
            index < before
        })
    }

    /// The call with all changes made so far.
    fn rewrite(&self, args: &serde_json::Map<String, Value>) -> Result<Rewrite, NoRewrite> {
        let mut changed = self.changed.borrow_mut();
        for (field, value) in args {
            let field = match field.as_str() {
                "new_string" | "newText" => "content",
                "path" | "filePath" => "file_path",
                known @ ("command" | "content" | "url" | "prompt" | "file_path") => known,
                other => return Err(NoRewrite::Field(other.to_owned())),
            };
            let text = value.as_str().ok_or_else(|| NoRewrite::Field(field.to_owned()))?;
            changed.retain(|(known, _)| known != field);
            changed.push((field.to_owned(), text.to_owned()));
        }
        if changed.is_empty() { Err(NoRewrite::Unchanged) } else { Ok(Rewrite { fields: changed.clone() }) }
    }

    fn note(&self, report: &Report) {
        let mut all = self.reflexes.reflex_folders.iter().flat_map(|reflex_folders| &reflex_folders.modules);
        let digest = all.nth(report.index).map_or("", |(_, digest)| digest.as_str());
        if let (Some(kept), Some(code)) = (&self.reflexes.kept, &report.code) {
            kept.keep(digest, code);
        }
        let digest = digest.trim_start_matches("sha256:").get(..16).unwrap_or("");
        let result = match &report.decision {
            None => return,
            Some(Ok(decision)) => ("says".to_owned(), Value::from(decision.name())),
            Some(Err(problem)) => ("failed".to_owned(), Value::from(problem.to_string())),
        };
        let missed: Vec<&str> = report.missed.iter().map(Missed::word).collect();
        let missed = (!missed.is_empty()).then(|| ("missed".to_owned(), json!(missed)));
        let printed = (!report.printed.is_empty()).then(|| ("printed".to_owned(), json!(report.printed)));
        let named = [("name".to_owned(), json!(report.module)), ("digest".to_owned(), json!(digest)), result];
        self.reports.borrow_mut().push(Value::Object(named.into_iter().chain(printed).chain(missed).collect()));
    }
}

/// The indexes of the call's shell actions, each inspected separately; a single `None` for a call without any.
fn shells(event: &Event) -> Vec<Option<usize>> {
    let is_shell = |(index, action): (usize, &Action)| matches!(action, Action::Shell { .. }).then_some(Some(index));
    let shells: Vec<Option<usize>> = event.actions.iter().enumerate().filter_map(is_shell).collect();
    if shells.is_empty() { vec![None] } else { shells }
}

fn finding(name: &str, decision: &ModuleDecision, seen: &Seen<'_>, action: usize) -> Finding {
    let (worth, reason) = match decision {
        ModuleDecision::Pass => (PolicyAction::Record, String::new()),
        ModuleDecision::Ask { reason } => (PolicyAction::Ask, reason.clone()),
        ModuleDecision::Deny { reason } => (PolicyAction::Deny, reason.clone()),
        ModuleDecision::Modify { args, reason } => {
            let instead = args.get("command").and_then(Value::as_str).unwrap_or("");
            let instead = if instead.is_empty() { String::new() } else { format!(" Run `{instead}` instead.") };
            (PolicyAction::Deny, format!("{}{instead}", reason.trim_end()))
        }
    };
    let reason: String = redacted(reason.trim(), reflex_library::tables()).chars().take(MAX_REASON).collect();
    let message = if reason.is_empty() { format!("The reflex `{name}` objects to this call.") } else { reason };
    Finding { message, fixed: Some(worth), severity: Severity::High, ..blank(name, seen, action) }
}

fn blank(name: &str, seen: &Seen<'_>, action: usize) -> Finding {
    Finding {
        id: format!("reflex/{name}"),
        detector: DetectorName::Reflexes,
        category: "reflex".into(),
        confidence: 100,
        tier: Tier::Custom,
        command: seen.part(action),
        action: (!seen.event.actions.is_empty()).then_some(action),
        otherwise: reflex_engine::Decision::Deny,
        ..Finding::default()
    }
}

/// Detaches a finding from any part of the call, so that a session is warned once, whatever it calls.
fn of_session(finding: Finding) -> Finding {
    Finding { command: String::new(), action: None, ..finding }
}

/// A finding that reports a failed reflex, even if the failure does not affect the decision.
fn failed(module: &Module, problem: &Problem, seen: &Seen<'_>, action: usize) -> Finding {
    let cut = matches!(problem, Problem::Cut(Limit::Watchdog));
    let (worth, severity) =
        if cut { (PolicyAction::Warn, Severity::Medium) } else { (PolicyAction::Record, Severity::Info) };
    let message = format!("The reflex `{}` could not answer: {problem}.", module.name);
    Finding { message, fixed: Some(worth), severity, ..blank(&module.name, seen, action) }
}

/// Findings about a list, or listed reflexes, that are not in force.
fn not_in_force(reflex_folders: &ReflexFolder, acts: bool, seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((message, remedy)) = reflex_folders.problem().filter(|_| acts) {
        let (id, worth) = match reflex_folders.untrusted {
            Some(Untrusted::Never) => ("guard/untrusted-reflexes", PolicyAction::Warn),
            Some(Untrusted::Changed) => ("guard/changed-reflexes", PolicyAction::Ask),
            None if reflex_folders.broken.is_some() => ("guard/broken-reflexes", PolicyAction::Ask),
            None => ("guard/ungranted-reflexes", PolicyAction::Warn),
        };
        findings.push(Finding { remedy, ..guard(id, message, worth, seen) });
    }
    for Missing { name, problem, on_error, is_absent } in &reflex_folders.missing {
        let worth = match on_error {
            OnError::Deny => PolicyAction::Deny,
            OnError::Skip => PolicyAction::Record,
            OnError::Ask => PolicyAction::Ask,
            // A package that is not installed yet must not cause a prompt for every call.
            OnError::Default if acts && *is_absent => PolicyAction::Warn,
            OnError::Default if acts => PolicyAction::Ask,
            OnError::Default => PolicyAction::Record,
        };
        let name = name.trim_start_matches('.');
        let problem = format!("The reflex `{name}` could not answer: {problem}.");
        let message = reflex_folders.attributed("The list", &problem);
        let severity = if worth == PolicyAction::Warn { Severity::Medium } else { Severity::High };
        let (fixed, by_stranger) = (Some(worth), reflex_folders.strange);
        findings.push(Finding { message, fixed, severity, by_stranger, ..of_session(blank(name, seen, 0)) });
    }
    findings
}

fn guard(id: &str, message: String, worth: PolicyAction, seen: &Seen<'_>) -> Finding {
    Finding {
        id: id.into(),
        category: "self-protection".into(),
        severity: if worth == PolicyAction::Ask { Severity::High } else { Severity::Medium },
        fixed: Some(worth),
        tier: Tier::Core,
        message,
        ..of_session(blank("", seen, 0))
    }
}
