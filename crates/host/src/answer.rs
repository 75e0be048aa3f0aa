//! The path of one call: bytes in, answer out.

use crate::record::{self, Folders};
use crate::world::LocalWorld;
use reflex_agents::{Agent, BadEvent, Reply, deliver};
use reflex_engine::{Decision, Event, Judgement, Policy, Verdict, World, judge};
use std::path::Path;

/// This machine, as the guard sees it.
pub struct Host {
    folders: Folders,
    mode: Mode,
}

/// The name of the policy under which calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(&'static str);

impl Default for Mode {
    fn default() -> Mode {
        Mode("balanced")
    }
}

impl Mode {
    /// The mode of this name, if the library has such a policy.
    pub fn named(name: &str) -> Option<Mode> {
        Policy::named(reflex_library::tables(), name).map(|policy| Mode(policy.name))
    }

    /// The names of all modes.
    pub fn names() -> Vec<&'static str> {
        reflex_library::tables().get("policies").entries().map(|(name, _)| name).collect()
    }

    /// What a severity is worth in this mode.
    pub fn policy(self) -> Option<Policy> {
        Policy::named(reflex_library::tables(), self.0)
    }
}

impl Host {
    /// The host of this process and its environment.
    pub fn new(mode: Mode) -> Host {
        Host { folders: Folders::of_environment(), mode }
    }

    /// Answers one payload of an agent. `told` is the agent's word for the moment, as the command line gives it.
    pub fn answer(&self, agent: &Agent, bytes: &[u8], told: Option<&str>) -> Reply {
        let event = match (agent.read)(bytes, told) {
            Ok(event) => self.placed(event),
            Err(problem) => return self.unreadable(agent, told, &problem),
        };
        let judgement = self.judge(&event);
        let delivery = deliver(&event, &judgement.verdict, (agent.abilities)(event.moment));
        let recorded = record::append(&self.folders, &event, &judgement);
        told_if_lost((agent.write)(&event, &judgement.verdict, &delivery), recorded)
    }

    /// The one place that knows what is said when an event cannot be read: before a tool runs, it does not. `told` is
    /// the moment that the command line names.
    pub fn unreadable(&self, agent: &Agent, told: Option<&str>, problem: &BadEvent) -> Reply {
        let moment = told.map(agent.moment).or(problem.moment).unwrap_or_default();
        let reason = format!("Blocked: Reflex cannot read this event ({problem}), so it does not run.");
        let event = Event { client: agent.name.into(), moment, ..Event::default() };
        let denied = if moment.is_before_execution() { Decision::Deny } else { Decision::Pass };
        let recorded = record::append(&self.folders, &event, &unjudged(denied));
        told_if_lost((agent.refuse)(moment, &reason), recorded)
    }

    /// The event with what its payload leaves open: working directory, project, home.
    pub fn placed(&self, mut event: Event) -> Event {
        if !event.cwd.starts_with('/') {
            let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
            event.cwd = shown(&here.join(&event.cwd));
        }
        if event.home.is_empty() {
            event.home = shown(&self.folders.home);
        }
        if event.workspace.is_empty() {
            let variable = reflex_agents::find(&event.client).and_then(|agent| agent.project_variable);
            let project = variable.and_then(|name| std::env::var(name).ok()).filter(|path| path.starts_with('/'));
            event.workspace = project.unwrap_or_else(|| event.cwd.clone());
            event.workspace = project_root(&event.workspace, &event.home);
        }
        // Links are followed once, here: what is compared with these folders has its links followed too.
        let real =
            |folder: &str| Path::new(folder).canonicalize().map_or_else(|_| folder.to_owned(), |path| shown(&path));
        let cwd = real(&event.cwd);
        event.workspace = if event.workspace == event.cwd { cwd.clone() } else { real(&event.workspace) };
        event.home = real(&event.home);
        event.cwd = cwd;
        event
    }

    /// Judges an event on this machine. Only what has not run yet is judged by its effects.
    pub fn judge(&self, event: &Event) -> Judgement {
        let world = LocalWorld::new(&event.workspace, self.guard());
        self.judge_in(event, &world)
    }

    /// Judges an event in another world.
    pub fn judge_in(&self, event: &Event, world: &dyn World) -> Judgement {
        let tables = reflex_library::tables();
        match self.mode.policy() {
            Some(policy) if event.moment.is_before_execution() => judge(event, policy, tables, world),
            _ => unjudged(Decision::Pass),
        }
    }

    fn guard(&self) -> Vec<String> {
        let binary = std::env::current_exe().ok();
        let own = [&self.folders.config, &self.folders.state, &self.folders.cache];
        binary.iter().chain(own).map(|path| shown(path)).collect()
    }

    /// Where the guard keeps its files.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }
}

/// A decision that no judgement stands behind.
fn unjudged(decision: Decision) -> Judgement {
    let verdict = Verdict { decision, confidence: 100, ..Verdict::default() };
    Judgement { analysis: Default::default(), verdict, asked: Vec::new() }
}

/// A decision that could not be recorded still stands, with a word about it.
fn told_if_lost(mut reply: Reply, recorded: std::io::Result<()>) -> Reply {
    if let Err(error) = recorded {
        reply.stderr.push_str(&format!("reflex: this decision is not in the audit log: {error}\n"));
    }
    reply
}

/// The nearest folder upward that git manages, else the folder itself. A repository in the home or above it is no
/// project: whoever makes one there would make everything in it part of the workspace.
fn project_root(folder: &str, home: &str) -> String {
    let is_root = |path: &&Path| path.join(".git").symlink_metadata().is_ok() && !Path::new(home).starts_with(path);
    Path::new(folder).ancestors().find(is_root).map_or_else(|| folder.to_owned(), shown)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
