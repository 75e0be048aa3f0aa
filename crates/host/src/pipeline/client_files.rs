//! Files of a client that act without a tool call: settings that keep its hooks from running, and command files whose
//! shell lines no hook sees.

use super::host::Host;
use crate::config::Loaded;
use crate::install::switches::{Places, Silencer, silencers};
use crate::world::command_files::{ShellLine, shell_lines, shell_lines_of};
use reflex_agents::{Agent, CommandFiles, Judged, is_older};
use reflex_engine::shell::Language;
use reflex_engine::{
    Action, Decision, DetectorName, Event, Finding, Moment, PolicyAction, Severity, Tier, plain_path, quotation,
};
use std::path::{Path, PathBuf};

/// The rule about settings that switch hooks off; here its finding comes from a file instead of a call.
const HOOKS_OFF: &str = "guard/hooks-off";

/// Maximum number of shell lines that are reported at the start of a session.
const MAX_REPORTED: usize = 3;

/// A shell line of a command file that would be stopped as a call of a tool, and that the client shows to no hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnseenLine {
    /// The file.
    pub file: PathBuf,
    /// Number of its line, from 1.
    pub number: usize,
    /// The shell line itself.
    pub text: String,
    /// The harm, in a sentence.
    pub harm: String,
}

impl Host {
    /// Returns the dangerous shell lines in command files of a client that shows them to no hook, in the project around
    /// the event's workspace.
    pub fn unseen_lines(&self, agent: &Agent, event: &Event, loaded: &[Loaded]) -> Vec<UnseenLine> {
        let Some(files) = agent.settings.and_then(|settings| settings.command_files) else { return Vec::new() };
        if files.judged != Judged::Never {
            return Vec::new();
        }
        let (project, home) = (Path::new(&event.workspace), Path::new(&event.home));
        let lines = shell_lines(files, project, home).into_iter();
        lines.filter_map(|line| self.unseen(event, line, loaded)).collect()
    }

    fn unseen(&self, event: &Event, line: ShellLine, loaded: &[Loaded]) -> Option<UnseenLine> {
        let call = Event {
            moment: Moment::BeforeTool,
            actions: vec![shell(&line)],
            cwd: event.workspace.clone(),
            ..event.clone()
        };
        let verdict = self.judge_in(&call, &self.world(&call, loaded), loaded).verdict;
        if verdict.decision == Decision::Pass {
            return None;
        }
        let worst = verdict.findings.into_iter().max_by_key(|finding| finding.severity)?;
        let ShellLine { file, number, text } = line;
        Some(UnseenLine { file, number, text, harm: worst.message })
    }

    /// Returns the findings about a client's files at this event: changed settings that would silence its hooks, and at
    /// the start of a session shell lines that no hook will see.
    pub(super) fn of_client_files(&self, agent: &Agent, event: &Event, loaded: &[Loaded]) -> Vec<Finding> {
        match event.moment {
            Moment::SettingsChange => silencing_change(agent, event),
            Moment::SessionStart => {
                let unseen = self.unseen_lines(agent, event, loaded);
                unseen.iter().take(MAX_REPORTED).map(|line| unseen_finding(agent, line)).collect()
            }
            Moment::BeforeTool
            | Moment::AfterTool
            | Moment::PermissionRequest
            | Moment::Prompt
            | Moment::SessionEnd
            | Moment::Stop
            | Moment::Subagent
            | Moment::Other => Vec::new(),
        }
    }
}

/// Appends the shell lines of a named command or skill to its call, for a client that shows no hook each of them.
pub(super) fn with_shell_lines(agent: &Agent, event: &mut Event) {
    let Some(files) = agent.settings.and_then(|settings| settings.command_files) else { return };
    if event.moment != Moment::BeforeTool || shows_each_line(files, event) {
        return;
    }
    let (project, home) = (Path::new(&event.workspace), Path::new(&event.home));
    let names = event.actions.iter().filter_map(|action| match action {
        Action::Skill { name } => Some(name),
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Delete { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::McpCall { .. }
        | Action::Prompt { .. }
        | Action::SpawnAgent { .. }
        | Action::Input { .. }
        | Action::Other { .. } => None,
    });
    let lines = names.flat_map(|name| shell_lines_of(files, name, project, home));
    let calls: Vec<Action> = lines.map(|line| shell(&line)).collect();
    event.actions.extend(calls);
}

fn shows_each_line(files: &CommandFiles, event: &Event) -> bool {
    let since = match files.judged {
        Judged::Since(version) => version,
        Judged::Never => return false,
    };
    event.version.as_deref().is_some_and(|version| !is_older(version, since))
}

fn shell(line: &ShellLine) -> Action {
    Action::Shell { command: line.text.clone(), language: Language::Shell }
}

/// Returns the finding about settings of a project that changed while the client runs, if they silence its hooks.
fn silencing_change(agent: &Agent, event: &Event) -> Vec<Finding> {
    let changed: Vec<PathBuf> =
        event.actions.iter().filter_map(Action::path).map(|path| PathBuf::from(path.with_slashes())).collect();
    let silencers = silencers_of(agent, event).into_iter().filter(|silencer| changed.contains(&silencer.file));
    silencers
        .map(|silencer| hooks_off(format!("It would apply a setting that switches the guard off: {silencer}.")))
        .collect()
}

/// Returns the finding about settings with which the client runs no hook from now on, after a call that may have made
/// them. The call's own hook still runs.
pub(super) fn silenced_since(agent: &Agent, event: &Event) -> Vec<Finding> {
    let silencers = silencers_of(agent, event).into_iter();
    silencers
        .map(|silencer| Finding {
            fixed: Some(PolicyAction::Warn),
            ..hooks_off(format!("From now on {} may run without the guard: {silencer}.", agent.title))
        })
        .collect()
}

/// Returns the settings of the event's project with which the client runs no hook.
fn silencers_of(agent: &Agent, event: &Event) -> Vec<Silencer> {
    let (project, cwd) = (PathBuf::from(&event.workspace), PathBuf::from(&event.cwd));
    let folders = if cwd.starts_with(&project) && cwd != project { vec![project, cwd] } else { vec![project] };
    silencers(agent, Places { home: Path::new(&event.home), user: None, project: &folders })
}

fn hooks_off(message: String) -> Finding {
    Finding {
        id: HOOKS_OFF.into(),
        detector: DetectorName::Tripwire,
        category: "self-protection".into(),
        severity: Severity::Critical,
        confidence: 95,
        tier: Tier::Core,
        message,
        remedy: "Take the setting out again; only the user turns hooks off.".into(),
        ..Finding::default()
    }
}

/// Returns the finding about a shell line that no hook will see.
fn unseen_finding(agent: &Agent, line: &UnseenLine) -> Finding {
    let place = format!("{}:{}", line.file.display(), line.number);
    Finding {
        id: "guard/unseen-command".into(),
        detector: DetectorName::Tripwire,
        category: "self-protection".into(),
        severity: Severity::High,
        confidence: 80,
        fixed: Some(PolicyAction::Warn),
        message: format!(
            "{} {} runs it as a shell line of {}, without asking the guard: {}.",
            line.harm,
            agent.title,
            plain_path(&place),
            quotation(&line.text)
        ),
        remedy: "Do not use that command; tell the user.".into(),
        ..Finding::default()
    }
}
