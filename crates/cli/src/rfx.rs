//! `rfx`: the short name of `reflex`, which is in the folder of its file.

mod exec;

use std::process::{Command, ExitCode};

/// Exit status for an internal failure.
const INTERNAL: u8 = 70;

fn main() -> ExitCode {
    // A link to `rfx` may be beside another program named `reflex`.
    let beside = std::env::current_exe().and_then(|path| path.canonicalize()).map(|path| path.with_file_name("reflex"));
    let problem = match beside {
        Ok(reflex) => exec::replace(Command::new(reflex).args(std::env::args_os().skip(1))),
        Err(problem) => problem,
    };
    // Callers of a hook treat 2 as a refusal; any other status could let the call run.
    let hook = std::env::args_os().nth(1).is_some_and(|word| word == "hook");
    let _ =
        std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("rfx: reflex cannot be started: {problem}\n"));
    ExitCode::from(if hook { 2 } else { INTERNAL })
}
