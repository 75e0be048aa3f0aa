//! The guard in front of an MCP server: `reflex mcp`.

mod frame;
mod proxy;

pub use proxy::Proxy;
