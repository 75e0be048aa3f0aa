//! Interprets a text without running it: walks its tree with the state that a shell would have.
//!
//! This is one recursive module, as `interp` and `expand` of mvdan/sh are together: a command has words, a word may
//! contain a command substitution, and that is a script of commands again. Each file has a construct of the language as
//! its subject and holds the methods of `Interpreter` for it, or the data that they work on. The files call each other in
//! circles, because the constructs contain each other.
//!
//! Begin with `interpreter` (the state and limits of the walk) and `walk` (scripts, lists, pipelines, subshells), which
//! sends each kind of node to its file:
//!
//! - `simple`: a command with its assignments; `draft` is the command before it is recorded;
//! - `redirections`, `process`, `streams`: descriptors, process substitutions, and the data that flows through them;
//! - `flow`, `conditions`, `choices`: branches and loops, the results of tests, and states that branches left open;
//! - `calls`, `call_stack`: functions and aliases;
//! - `expand`: words, parameters, arithmetic, braces and fields;
//! - `builtins`, `read_builtin`, `folders`, `settings`: commands that change the shell itself;
//! - `wrapped`, `xargs`, `placeholders`, `sites`, `found`, `globs`: commands that run other commands;
//! - `output`, `files`, `file_contents`, `narrowed`, `holes`: texts that become known during the walk.

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
