//! Whether an agent's installed client fails open. Reads files only; starts no program.

use super::client_version::installed_version;
use super::trouble::Trouble;
use super::wiring::Wiring;
use crate::store::heartbeat::last_version;
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

/// The client's version, as it last reported or else by its installed files.
pub fn client_version(wiring: &Wiring) -> Option<String> {
    last_version(wiring.state(), wiring.agent()).or_else(|| installed_version(wiring.settings()))
}

/// Reports that the program of the hooks is not there, and what the client does with its calls then.
pub(crate) fn program_missing(wiring: &Wiring, program: &str) -> String {
    let (title, settings) = (wiring.adapter().title, wiring.settings());
    // Whether older versions run the call has been tried with some clients only.
    let runs = if settings.fails_closed_since.is_some() { "runs" } else { "may run" };
    let outcome = match (settings.blocks_missing_since, client_version(wiring)) {
        (None, _) => format!("{title} blocks every call"),
        (Some(since), Some(version)) if is_older(&version, since) => {
            format!("{title} {version} {runs} every call unjudged")
        }
        (Some(_), Some(version)) => format!("{title} {version} blocks every call"),
        (Some(since), None) => format!("{title} blocks every call, before {since} it {runs} them unjudged"),
    };
    format!("the hook in {} starts {program}, which is not there; {outcome}", wiring.file().display())
}
