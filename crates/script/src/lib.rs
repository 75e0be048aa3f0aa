//! Reflex modules in JavaScript: runs a chain of them on a call, each in its own sandbox with counted limits.
//!
//! ```
//! use reflex_script::{Call, Chain, Limits, Module, ModuleDecision};
//! use serde_json::json;
//!
//! let source = r#"
//!     import { deny, pass } from "@agentreflex/core";
//!     export default { name: "no-curl", onToolCall: (ctx) => ctx.command?.startsWith("curl") ? deny("no") : pass() };
//! "#;
//! let module = Module::single("no-curl", source);
//! let chain = Chain::new(vec![module], Limits::default());
//! let outcome = chain.run(Call::tool_call(json!({"tool": "Bash", "command": "curl x"})));
//! assert_eq!(outcome.decision, ModuleDecision::Deny { reason: "no".into() });
//! ```
//!
//! This crate reads no disk, clock or environment: granted resources are requested from a [`Machine`].

mod chain;
mod imports;
mod model;
mod natives;
pub mod official;
mod sandbox;
pub mod schema;

pub use chain::{Chain, Outcome};
pub use imports::built_in::{PRINT, is_built_in};
pub use imports::loader::ENTRY;
pub use model::answer::{Limit, Missed, ModuleDecision, Problem, Report};
pub use model::call::{Call, Handler, Machine, Nothing, WorkedOut};
pub use model::error::MachineError;
pub use model::limits::Limits;
pub use model::manifest::{Capabilities, Manifest};
pub use model::module::{Module, OnError};
pub use natives::urls::host_of;
pub use reflex_types::{Code, TypesError, javascript};
