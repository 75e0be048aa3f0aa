//! Built-in modules, importable in addition to a module's own files.

use reflex_types::Compiled;

/// The built-in modules, by import name.
#[expect(unsafe_code, reason = "its code is made by the build script and is part of the program")]
const BUILT_IN: &[(&str, Compiled)] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// Fingerprint of the built-in modules' bytecode. It differs if another compiler produced the interpreter, as bytecode
/// of one compiler is not valid for another.
pub const PRINT: u64 = include!(concat!(env!("OUT_DIR"), "/print.rs"));

/// Bytecode that defines the interpreter's globals.
#[expect(unsafe_code, reason = "its code is made by the build script and is part of the program")]
const PARTS: &[(&str, Compiled)] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// Node modules that are not available, with the reason or the alternative.
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

/// Returns the reason why a module of Node is not available; `None` for other names.
pub(crate) fn absent(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    ABSENT.iter().find(|(names, _)| names.contains(&bare)).map(|(_, why)| *why)
}

/// Returns the bytecode of a part of the globals.
pub(crate) fn part(name: &str) -> Option<Compiled> {
    let is_it = |known: &str| known.strip_prefix("reflex part ").is_some_and(|known| known == name);
    PARTS.iter().find(|(known, _)| is_it(known)).map(|(_, code)| *code)
}

/// Returns the canonical name of a built-in module.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    BUILT_IN.iter().map(|(known, _)| *known).find(|known| *known == bare)
}

/// Returns whether a module need not be bundled: it is built in, or its import fails with an explanation.
pub fn is_built_in(name: &str) -> bool {
    named(name).is_some() || absent(name).is_some() || name.starts_with("node:")
}

/// Returns the bytecode of a built-in module.
pub(crate) fn code(name: &str) -> Option<Compiled> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}
