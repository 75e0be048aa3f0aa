//! The mode: the name of the policy under which calls are judged.

use super::loaded::Loaded;
use crate::store::modes::{ALLOW_ALL, AUTO_PILOT, SessionMode};
use crate::system::clock;
use reflex_engine::{Authority, Policy};

/// The variable that holds the mode of a single session. It only tightens, because an agent can set it too.
pub const SESSION_MODE: &str = "REFLEX_MODE";

/// The modes that a person may set for some time, in ascending order of strictness.
const STRICTER: [&str; 9] =
    [ALLOW_ALL, "observe", "quiet", AUTO_PILOT, "balanced", "unattended", "never-ask", "read-only", "strict"];

/// The mode of a session whose variable names an unknown mode.
const UNKNOWN: &str = "strict";

/// The name of the policy under which calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    name: &'static str,
    /// Whether a person named it explicitly; otherwise people's policies may name another.
    insisted: bool,
    /// The mode of this session alone, which only tightens.
    of_session: Option<&'static str>,
    /// Whether a person lets every call pass that no core rule stops.
    allows_all: bool,
    /// Whether a model may answer questions about losses that can be undone.
    is_auto_pilot: bool,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { name: "balanced", insisted: false, of_session: None, allows_all: false, is_auto_pilot: false }
    }
}

impl Mode {
    /// The mode of this name, if the library has a policy with it.
    pub fn named(name: &str) -> Option<Mode> {
        Policy::named(reflex_library::tables(), name).map(|policy| Mode {
            name: policy.name(),
            insisted: true,
            ..Mode::default()
        })
    }

    /// The default mode, tightened by the value of the session's variable.
    pub fn of_session(value: Option<&str>) -> Mode {
        let named = value.map(|name| Mode::named(name).map_or(UNKNOWN, Mode::name));
        Mode { of_session: named, ..Mode::default() }
    }

    /// Applies the strictest of these modes, which a person has set for some time. If a managed policy exists, they
    /// only tighten.
    #[must_use]
    pub fn set_to(self, modes: &[SessionMode], loaded: &[Loaded]) -> Mode {
        if self.insisted {
            return self;
        }
        let place = |mode: &&SessionMode| STRICTER.iter().position(|name| *name == mode.name);
        let Some(strictest) = modes.iter().filter(|mode| place(mode).is_some()).max_by_key(place) else { return self };
        let Some(named) = Mode::named(&strictest.name) else { return self };
        let managed = || loaded.iter().filter(|one| one.layer.authority == Authority::Managed);
        if named.name == AUTO_PILOT {
            // An administrator who chooses a model permits auto-pilot.
            let chosen = |one: &Loaded| !one.layer.tables.policy().judge().provider().is_empty();
            let is_auto_pilot = managed().next().is_none() || managed().any(chosen);
            return Mode { is_auto_pilot, ..self };
        }
        if managed().next().is_some() {
            return Mode { of_session: self.of_session.or(Some(named.name)), ..self };
        }
        if named.name == ALLOW_ALL {
            return Mode { allows_all: true, ..self };
        }
        Mode { name: named.name, insisted: true, ..self }
    }

    /// Whether a person lets every call pass that no core rule stops.
    pub(crate) fn allows_all(self) -> bool {
        self.allows_all
    }

    /// Whether a model may answer questions about losses that can be undone.
    pub(crate) fn is_auto_pilot(self) -> bool {
        self.is_auto_pilot
    }

    /// The policy name recorded for a call that was judged by this policy.
    pub(crate) fn policy_name(self, policy: Option<&Policy>) -> &'static str {
        match policy {
            _ if self.allows_all => ALLOW_ALL,
            Some(policy) => policy.name(),
            None => self.name,
        }
    }

    /// The purpose of a mode, from the library; empty for an unknown name.
    pub fn about(name: &str) -> &'static str {
        reflex_library::tables().library().policies().get(name).about()
    }

    /// The names of all modes.
    pub fn names() -> Vec<&'static str> {
        reflex_library::tables().library().policies().keys().collect()
    }

    /// The name of the mode's policy.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The policy of this mode with people's layers, which maps severities to actions.
    pub fn policy(self, loaded: &[Loaded]) -> Option<Policy> {
        policy(self.name, self.insisted, loaded).map(|policy| policy.tightened_by(self.of_session))
    }
}

/// The policy of this name with the layers of a workspace. `insisted` keeps this policy even if a layer prefers
/// another.
fn policy(name: &str, insisted: bool, loaded: &[Loaded]) -> Option<Policy> {
    let layers = loaded.iter().map(|one| one.layer.clone()).collect();
    let minute = u32::try_from(clock::now() / 60_000).unwrap_or(u32::MAX);
    Policy::named(reflex_library::tables(), name).map(|policy| policy.with_layers(layers, minute, insisted))
}
