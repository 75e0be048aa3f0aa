//! Interprets a text without running it: walks its tree with the state that a shell would have.

mod builtins;
mod call_stack;
mod calls;
mod choices;
mod conditions;
pub(crate) mod draft;
mod file_contents;
mod files;
mod flow;
pub(crate) mod folders;
mod globs;
mod holes;
pub(crate) mod interpreter;
mod output;
mod placeholders;
pub(crate) mod process;
mod read_builtin;
mod redirections;
mod settings;
mod simple;
mod sites;
pub(crate) mod state;
pub(crate) mod streams;
mod walk;
mod wrapped;
mod xargs;
