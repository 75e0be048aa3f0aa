//! What modules can import besides their own files.

use reflex_types::Compiled;

/// What is built in, by the names under which it is imported.
#[expect(unsafe_code, reason = "its code is made by the build script and is part of the program")]
const BUILT_IN: &[(&str, Compiled)] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// What differs where another compiler made the interpreter's code: code of one is not for another.
pub const PRINT: u64 = include!(concat!(env!("OUT_DIR"), "/print.rs"));

/// What gives an interpreter the names that modules find there without importing anything.
#[expect(unsafe_code, reason = "its code is made by the build script and is part of the program")]
const PARTS: &[(&str, Compiled)] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// What node has besides and modules cannot have, and what there is in its place.
const ABSENT: [(&[&str], &str); 4] = [
    (
        &["http", "https", "http2", "net", "tls", "dgram", "dns", "dns/promises"],
        "a reflex reaches the network by `fetch` alone, where `capabilities.network` was granted",
    ),
    (
        &["worker_threads", "cluster", "vm", "v8", "inspector", "repl", "wasi", "async_hooks"],
        "a reflex is one module in one interpreter",
    ),
    (
        &["stream", "stream/promises", "zlib", "readline", "readline/promises", "path/win32"],
        "it is not built in; bundle what you need of it into the module",
    ),
    (&["sqlite", "test", "sea", "ffi"], "it is not built in"),
];

/// Why something of node is not there, if it is something of node.
pub(crate) fn absent(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    ABSENT.iter().find(|(names, _)| names.contains(&bare)).map(|(_, why)| *why)
}

/// The code of a part of what every module finds.
pub(crate) fn part(name: &str) -> Option<Compiled> {
    let is_it = |known: &str| known.strip_prefix("reflex part ").is_some_and(|known| known == name);
    PARTS.iter().find(|(known, _)| is_it(known)).map(|(_, code)| *code)
}

/// The name under which something is built in, if it is.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    BUILT_IN.iter().map(|(known, _)| *known).find(|known| *known == bare)
}

/// Whether modules find something of this name without bringing it, or are told why they cannot have it.
pub fn is_built_in(name: &str) -> bool {
    named(name).is_some() || absent(name).is_some() || name.starts_with("node:")
}

/// Its code.
pub(crate) fn code(name: &str) -> Option<Compiled> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}
