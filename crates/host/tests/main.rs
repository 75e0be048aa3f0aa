//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on shall stop"
)]

mod agent_places;
mod answers;
mod consequence;
mod corpus;
mod examples;
mod git_synopses;
mod hostile_git;
mod inner_repositories;
mod judge;
mod library;
mod limits;
mod orders;
mod reflexes;
mod renamed;
mod started;
#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, dead_code, reason = "the fuzzer's crate uses the rest")]
mod targets;
mod undo;
mod unreadable;
mod world;

use reflex_host::{Context, Host, Mode};

/// A guard with a home that does not exist, so that nobody's settings count.
fn guard_of_nobody() -> Host {
    Context::at_home("/nonexistent").unwrap().host(Mode::default())
}
