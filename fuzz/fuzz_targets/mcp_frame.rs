//! Lines between an MCP client and its server.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::mcp_frame(bytes));
