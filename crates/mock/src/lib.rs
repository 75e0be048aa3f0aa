//! A scripted model on loopback, in the languages that agents' clients speak with theirs. It decides nothing.

mod http;
mod model;
mod told;

pub use model::{Call, Model};
pub use told::{Conversation, ToolResult};
