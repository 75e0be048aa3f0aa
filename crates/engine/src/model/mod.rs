//! Plain data shared by the other modules: events, effects, verdicts, and the machine as facts.

pub(crate) mod affected;
pub(crate) mod analysis;
pub(crate) mod effect;
pub(crate) mod event;
pub(crate) mod fake_world;
pub(crate) mod finding;
pub(crate) mod guard;
pub(crate) mod latency;
pub(crate) mod mounts;
pub(crate) mod obstacle;
pub(crate) mod path;
pub(crate) mod reason;
pub(crate) mod rule_trace;
pub(crate) mod session;
pub(crate) mod stopwatch;
pub(crate) mod truth;
pub(crate) mod verdict;
pub(crate) mod vouched;
pub(crate) mod words;
pub(crate) mod world;
