//! Texts in languages other than that of the shell: each call that the library knows becomes a command.
//!
//! A call is a command whose program is `LANGUAGE:dotted.name`; its named arguments come first as `--key=value`, then
//! `--`, then the positional ones. Its effects are declared in `library/programs`, as for any program. One lexer and
//! one walker read most of these languages (`scripts`): a dialect describes the syntax of each, and `library/languages`
//! the names that compute a value. awk, sed, cmd and PowerShell have their own readers.

mod applescript;
pub(crate) mod awk;
mod bindings;
mod calls;
pub(crate) mod cmd;
mod datum;
mod dialect;
mod expression;
mod fold;
mod functions;
mod lexer;
mod methods;
mod modules;
mod options;
mod php;
pub(crate) mod powershell;
mod scopes;
pub(crate) mod scripts;
pub(crate) mod sed;
mod statements;
mod token;
mod vocabulary;
mod walker;
mod windows;
