//! Selects the agents of a command, and finds the settings files that contain the hook.

use crate::exit_code;
use crate::terminal::output::complain;
use crate::terminal::visible::visible;
use reflex_agents::{AGENTS, Agent};
use reflex_host::{Context, Wiring};
use std::path::Path;

/// Reports which agents have known settings.
pub(in crate::commands) fn unknown(asked: Option<&str>) -> u8 {
    let known = agents(|agent| agent.settings.is_some());
    complain(&format!("no settings are known for the agent `{}`; known: {known}", visible(asked.unwrap_or(""))));
    exit_code::USAGE
}

/// Returns the settings of the requested agent, else of all agents that are used here, else of the first known agent.
pub(in crate::commands) fn chosen(context: &Context, asked: Option<&str>) -> Vec<Wiring> {
    let all = Wiring::all(context);
    if let Some(name) = asked {
        return all.into_iter().filter(|wiring| wiring.is_for(name)).collect();
    }
    let is_used = |wiring: &Wiring| wiring.is_installed() || wiring.file().exists();
    let used = all.iter().any(is_used);
    let first = all.first().map(Wiring::agent);
    all.into_iter().filter(|wiring| if used { is_used(wiring) } else { Some(wiring.agent()) == first }).collect()
}

/// Returns the settings of the project around a folder, for the agents whose settings would be chosen.
pub(in crate::commands) fn chosen_in_project(context: &Context, folder: &Path, asked: Option<&str>) -> Vec<Wiring> {
    let of_user = chosen(context, asked);
    let is_chosen = |wiring: &Wiring| of_user.iter().any(|chosen| chosen.agent() == wiring.agent());
    Wiring::of_project_around(context, folder).into_iter().filter(is_chosen).collect()
}

/// Returns the settings files with the guard's hook of the project around the working directory.
pub(in crate::commands) fn wired_in_project(context: &Context) -> Vec<Wiring> {
    let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
    Wiring::of_project_around(context, &here).into_iter().filter(has_hook).collect()
}

/// Whether the file contains a hook of the guard, whichever binary it starts.
pub(in crate::commands) fn has_hook(wiring: &Wiring) -> bool {
    !wiring.hooks().is_empty()
}

/// Returns the names of agents as a comma-separated list.
pub(in crate::commands) fn agents(listed: impl Fn(&Agent) -> bool) -> String {
    let names: Vec<&str> = AGENTS.iter().filter(|agent| listed(agent)).map(|agent| agent.name).collect();
    names.join(", ")
}
