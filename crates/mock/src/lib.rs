//! A scripted model on loopback that speaks the protocols of the agents' clients. It makes no decisions.

mod http;
mod model;
mod told;

pub use model::{Call, Model};
pub use told::{Conversation, ToolResult};
