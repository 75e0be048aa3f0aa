//! The `reflex` command: arguments in, words out.

mod arena;
mod commands;
mod hook;
mod lifeline;
mod paint;
mod visible;

use reflex_engine::shell::work;
use reflex_host::choose_home;
use std::process::ExitCode;

/// Exit statuses that scripts rely on.
pub(crate) mod status {
    /// Allowed, or done.
    pub(crate) const OK: u8 = 0;
    /// A check found something.
    pub(crate) const FOUND: u8 = 1;
    /// Blocked.
    pub(crate) const BLOCK: u8 = 2;
    /// A person has to decide.
    pub(crate) const ASK: u8 = 3;
    /// The command line is wrong.
    pub(crate) const USAGE: u8 = 64;
    /// Reflex itself failed.
    pub(crate) const INTERNAL: u8 = 70;
}

fn main() -> ExitCode {
    work::measure_memory(arena::used);
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // The hook is called before every tool: it does not wait for the parser of all other commands.
    let words = match arguments.as_slice() {
        [option, home, rest @ ..] if option == "--home" && choose_home(home).is_ok() => rest,
        all => all,
    };
    match words.split_first() {
        Some((first, rest)) if first == "hook" && !matches!(rest, [help] if help == "--help" || help == "-h") => {
            hook::run(rest)
        }
        None => hook::bare().unwrap_or_else(|| ExitCode::from(commands::run())),
        _ => ExitCode::from(commands::run()),
    }
}
