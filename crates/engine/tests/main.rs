//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on shall stop"
)]

mod agent_settings;
#[path = "../../shell/tests/grammar/mod.rs"]
#[allow(dead_code, reason = "the oracle and the fuzzer use the rest")]
mod grammar;
#[path = "../../../fuzz/src/library.rs"]
#[allow(unreachable_pub, dead_code, reason = "the fuzzer's crate uses the rest")]
mod library;
mod properties;
mod secrets;
#[path = "../../../fuzz/src/wrappers.rs"]
#[allow(dead_code, reason = "the fuzzer's crate uses the rest")]
mod wrappers;
