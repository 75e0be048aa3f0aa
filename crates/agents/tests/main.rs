//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on shall stop"
)]

mod claude;
mod mcp_servers;
mod replay;
