//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "a test that cannot go on shall stop"
)]

mod alike;
mod as_in_node;
mod bridge;
mod bundles;
#[path = "../../../fuzz/src/bridge.rs"]
#[allow(unreachable_pub, reason = "the fuzzer's crate uses it")]
mod contexts;
mod hostile;
mod hostile_modules;
mod node;
mod ours;
mod published;
mod published_files;
