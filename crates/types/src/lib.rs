//! Prepares a module: strips its types, finds the features that it needs, and compiles it.

mod compiled;
mod error;
mod needs;
mod strip_types;

pub use compiled::{Code, Compiled, compile, written};
pub use error::{CompileError, TypesError};
pub use needs::Needs;
pub use strip_types::javascript;
