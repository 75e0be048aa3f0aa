//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on shall stop"
)]

mod cases;
#[allow(dead_code, reason = "the fuzzer uses the rest")]
mod grammar;
mod languages;
#[path = "../../../fuzz/src/library.rs"]
#[allow(unreachable_pub, dead_code, reason = "the fuzzer's crate uses the rest")]
mod library;
mod limits;
mod names;
mod oracle;
#[path = "../../../fuzz/src/print.rs"]
mod print;
mod properties;
mod reading;
mod support;
mod windows;
mod wrappers;
