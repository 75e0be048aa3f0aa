//! One adapter per coding agent: parses payloads into events and renders verdicts as answers.

pub mod claude;
pub mod codex;
mod codex_trust;
pub mod copilot;
pub mod cursor;
pub mod gemini;
pub mod git;
pub mod mcp;
pub mod opencode;
pub mod qwen;
pub mod stranger;
pub mod supervisor;
pub mod universal;
pub mod windsurf;
