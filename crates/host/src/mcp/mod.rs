//! The guard in front of an MCP server: `reflex mcp`.

mod frame;
mod hooks;
mod proxy;

pub use frame::{Ambiguous, Message, Response, call, read_line, strings};
pub use proxy::Proxy;

/// The id of the process that started this one; for the proxy, the client.
pub fn parent() -> Option<u32> {
    crate::system::os::parent().ok().flatten()
}
