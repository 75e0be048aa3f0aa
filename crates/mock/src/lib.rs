//! A scripted model on loopback that speaks the protocols of the agents' clients. It makes no decisions.

mod conversation;
mod http;
mod model;

pub use conversation::{Conversation, ToolResult, Unanswered};
pub use model::{Call, Model};
