//! What modules can import besides their own files.

use reflex_types::Compiled;

/// What is built in, by the names under which it is imported.
#[expect(unsafe_code, reason = "its code is made by the build script and is part of the program")]
const BUILT_IN: &[(&str, Compiled)] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// What differs where another compiler made the interpreter's code: code of one is not for another.
pub const PRINT: u64 = include!(concat!(env!("OUT_DIR"), "/print.rs"));

/// The name under which something is built in, if it is.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    BUILT_IN.iter().map(|(known, _)| *known).find(|known| *known == bare)
}

/// Its code.
pub(crate) fn code(name: &str) -> Option<Compiled> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}
