//! Plain data that the rooms above share: what happens, what it would do, what is said about it, and the machine as
//! facts to be asked.

pub(crate) mod analysis;
pub(crate) mod effect;
pub(crate) mod event;
pub(crate) mod fake_world;
pub(crate) mod finding;
pub(crate) mod guard;
pub(crate) mod latency;
pub(crate) mod mounts;
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
