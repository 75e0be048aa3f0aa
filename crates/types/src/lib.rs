//! A module before it runs: its types taken away, what it names of what an interpreter has, and its code.

mod compiled;
mod needs;
mod strip_types;

pub use compiled::{Code, Compiled, compile, written};
pub use needs::Needs;
pub use strip_types::javascript;
