//! Settings that silence agents' hooks, in files that a clone, checkout or merge has just brought.

use crate::install::switches::{Places, silencers};
use crate::system::folders::Folders;
use reflex_agents::AGENTS;
use std::path::Path;

/// Returns a line for each setting in this work tree with which an agent would run none of the user's hooks.
pub fn silenced_agents(folders: &Folders, work_tree: &Path) -> Vec<String> {
    let project = [work_tree.to_owned()];
    let places = Places { home: &folders.home_of_agents, user: None, project: &project };
    let lines = |agent| {
        let found = silencers(agent, places).into_iter();
        found.map(move |silencer| format!("{} would run here without the guard: {silencer}", agent.title))
    };
    AGENTS.iter().flat_map(lines).collect()
}
