//! The name of the policy under which calls are judged.

use super::loaded::Loaded;
use crate::system::clock;
use reflex_engine::Policy;

/// The variable in which a hook finds the mode of its session alone. It only tightens: an agent may set it too.
pub const SESSION_MODE: &str = "REFLEX_MODE";

/// What counts for a session whose mode nobody knows.
const UNKNOWN: &str = "strict";

/// The name of the policy under which calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    name: &'static str,
    /// Whether a person asked for it just now; else people's policies may name another.
    insisted: bool,
    /// The mode of this session alone, which only tightens.
    of_session: Option<&'static str>,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode { name: "balanced", insisted: false, of_session: None }
    }
}

impl Mode {
    /// The mode of this name, if the library has such a policy.
    pub fn named(name: &str) -> Option<Mode> {
        Policy::named(reflex_library::tables(), name).map(|policy| Mode {
            name: policy.name(),
            insisted: true,
            of_session: None,
        })
    }

    /// The usual mode, with what the variable of the session says.
    pub fn of_session(said: Option<&str>) -> Mode {
        let named = said.map(|name| Mode::named(name).map_or(UNKNOWN, Mode::name));
        Mode { of_session: named, ..Mode::default() }
    }

    /// The names of all modes.
    pub fn names() -> Vec<&'static str> {
        reflex_library::tables().get("policies").entries().map(|(name, _)| name).collect()
    }

    /// The name of its policy.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What a severity is worth in this mode, with people's layers.
    pub fn policy(self, loaded: &[Loaded]) -> Option<Policy> {
        policy(self.name, self.insisted, loaded).map(|policy| policy.tightened_by(self.of_session))
    }
}

/// The policy of this name with the layers of a workspace. `insisted` keeps the name whatever the layers prefer.
fn policy(name: &str, insisted: bool, loaded: &[Loaded]) -> Option<Policy> {
    let layers = loaded.iter().map(|one| one.layer.clone()).collect();
    let minute = u32::try_from(clock::now() / 60_000).unwrap_or(u32::MAX);
    Policy::named(reflex_library::tables(), name).map(|policy| policy.with_layers(layers, minute, insisted))
}
