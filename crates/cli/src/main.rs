//! The `reflex` command.

mod arena;
mod commands;
mod error;
mod exit_code;
mod foreground;
mod hook;
mod input;
mod lifeline;
mod terminal;

use reflex_engine::shell::work;
use reflex_host::Context;
use std::process::ExitCode;

fn main() -> ExitCode {
    work::measure_memory(arena::used);
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // The hook runs before every tool call, so it bypasses the parser of all other commands.
    let (words, chosen) = match arguments.as_slice() {
        all @ [option, home, rest @ ..] if option == "--home" => match Context::at_home(home) {
            Ok(context) => (rest, Some(context)),
            Err(_) => (all, None),
        },
        all => (all, None),
    };
    match words.split_first() {
        Some((first, rest)) if first == "hook" && !matches!(rest, [help] if help == "--help" || help == "-h") => {
            hook::run(rest, chosen)
        }
        Some((first, rest)) if first == "git-hook" && !matches!(rest, [help] if help == "--help" || help == "-h") => {
            hook::git(rest, chosen)
        }
        None => hook::bare(chosen).unwrap_or_else(|| ExitCode::from(commands::run())),
        _ => ExitCode::from(commands::run()),
    }
}
