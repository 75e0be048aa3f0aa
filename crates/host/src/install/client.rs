//! Whether an agent's installed client fails open. Reads files only; starts no program.

use super::client_version::installed_version;
use super::trouble::Trouble;
use super::wiring::Wiring;
use reflex_agents::{Agent, is_older};

/// Reports a client that runs calls if the guard is missing or crashes, by the version of its program on the `PATH`.
pub fn fails_open(wiring: &Wiring) -> Option<Trouble> {
    fails_open_at(wiring.adapter(), &installed_version(wiring.settings())?)
}

/// As [`fails_open`], for a version that the client itself reported. `None` if it blocks such calls.
pub fn fails_open_at(agent: &Agent, version: &str) -> Option<Trouble> {
    let since = agent.settings?.fails_closed_since.filter(|since| is_older(version, since))?;
    let title = agent.title;
    Some(Trouble {
        what: format!("{title} {version} runs a call unjudged if the hook is missing or crashes"),
        fix: format!("update {title} to {since} or newer"),
    })
}
