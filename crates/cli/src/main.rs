//! The `reflex` command.

mod arena;
mod commands;
mod exit_code;
mod foreground;
mod hook;
mod input;
mod lifeline;
mod terminal;

use reflex_engine::shell::work;
use reflex_host::choose_home;
use std::process::ExitCode;

fn main() -> ExitCode {
    work::measure_memory(arena::used);
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // The hook runs before every tool call, so it bypasses the parser of all other commands.
    let words = match arguments.as_slice() {
        [option, home, rest @ ..] if option == "--home" && choose_home(home).is_ok() => rest,
        all => all,
    };
    match words.split_first() {
        Some((first, rest)) if first == "hook" && !matches!(rest, [help] if help == "--help" || help == "-h") => {
            hook::run(rest)
        }
        Some((first, rest)) if first == "git-hook" && !matches!(rest, [help] if help == "--help" || help == "-h") => {
            hook::git(rest)
        }
        None => hook::bare().unwrap_or_else(|| ExitCode::from(commands::run())),
        _ => ExitCode::from(commands::run()),
    }
}
