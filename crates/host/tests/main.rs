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
mod two_guards;
mod undo;
mod unreadable;
mod world;

use reflex_host::{Context, Host, LocalWorld, Mode};
use std::path::Path;
use std::sync::LazyLock;

/// A guard whose home does not exist, so that the settings of whoever runs this do not count.
static NOBODY: LazyLock<Context> = LazyLock::new(|| Context::at_home("/nonexistent").unwrap());

/// A guard without a home.
fn guard_of_nobody() -> Host {
    NOBODY.host(Mode::default())
}

/// This machine around a workspace, for a user without a home.
fn world_of_nobody(workspace: &Path) -> LocalWorld<'static> {
    LocalWorld::new(&NOBODY, workspace.to_str().unwrap(), Vec::new())
}
