//! Parser and interpreter of shell texts: finds the commands that a text would run with their arguments, the data that
//! flows between them, and the parts that are unknown.
//!
//! ```
//! use reflex_shell::{Programs, Surroundings, read};
//!
//! let surroundings = Surroundings::new(Programs::NONE);
//! let reading = read("tool=rm; $tool -rf ~", &surroundings);
//! let words: Vec<String> = reading.commands[0].words.iter().map(|word| word.shown()).collect();
//! assert_eq!(reading.commands[0].name, "rm");
//! assert_eq!(words, ["rm", "-rf", "~"]);
//! ```
//!
//! Pure and usable on its own: [`read()`] takes a text and the table of programs and returns a [`Reading`]. It does not
//! judge danger, does not access the disk, the clock or the environment, and never fails: a part that it does not
//! understand becomes a [`Gap`].
//!
//! The modules, each importing only from those before it: `model` (values, languages), `text_tools` (functions on
//! texts), `cli_grammar` (the role of each word of a command), `reading` (the result) and `surroundings` (facts known
//! in advance), `syntax` (the tree of a shell text), `interpret` (walks the tree and expands its words), `languages` (the
//! readers of all other languages), `read` (selects the reader of a text).

mod cli_grammar;
mod interpret;
mod languages;
mod model;
mod read;
mod reading;
mod surroundings;
mod syntax;
mod text_tools;

pub use cli_grammar::entry::{applies, narrow};
pub use cli_grammar::invocation::{Argument, Invocation};
pub use cli_grammar::program::{Program, Programs};
pub use cli_grammar::selector::Selector;
pub use model::language::Language;
pub use model::value::{Derivation, DerivationId, Origin, Piece, Printed, Span, UnknownReason, Value};
pub use read::{read, read_as};
pub use reading::{
    Access, Change, ChangeKind, Code, Command, CommandId, ENTIRE_ENVIRONMENT, ExecTarget, Gap, Reading, Redirection,
    Setting, Stdin, Words,
};
pub use reflex_work as work;
pub use surroundings::{CallInput, LoadModule, Module, ModuleName, Source, Surroundings};
pub use syntax::names::is_name;
pub use syntax::outline::outline;
pub use syntax::written::{Written, written};
pub use text_tools::decode::base64;
pub use text_tools::patch;
pub use text_tools::quoting::{as_word, is_plain, quoted};
