//! Interprets a text without running it: walks its tree with the state that a shell would have.
//!
//! `interpreter` holds the state, `walk` traverses the tree, `simple` handles one command and `wrapped` the commands
//! that it runs in turn. The methods of `Interpreter` are in the file of their subject.

mod builtins;
mod call_stack;
mod calls;
mod choices;
mod conditions;
pub(crate) mod draft;
mod expand;
mod file_contents;
mod files;
mod flow;
mod folders;
mod found;
mod globs;
mod holes;
pub(crate) mod interpreter;
mod narrowed;
mod output;
mod placeholders;
mod process;
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
