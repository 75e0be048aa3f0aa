//! Asks an agent's own program to trust the guard's hook.

use super::error::TrustError;
use reflex_agents::{Step, Trust};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time for an answer. The program usually answers within a second, but may start slowly on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether to only check the trust, or to establish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Look,
    Have,
}

/// Runs the protocol to its end.
///
/// # Errors
/// The program is missing, refuses, or does not answer in time.
pub(crate) fn ask(trust: &Trust, home: &Path, wish: Wish) -> Result<(), TrustError> {
    let [program, arguments @ ..] = trust.program else { return Err(TrustError::Unasked) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|source| match source.kind() == ErrorKind::NotFound {
        true => TrustError::NotFound(program),
        false => TrustError::NotStarted { program, source },
    })?;
    let done = converse(trust, &mut child, (&home.to_string_lossy(), wish));
    let _ = child.kill();
    let _ = child.wait();
    done
}

fn converse(trust: &Trust, child: &mut Child, (folder, wish): (&str, Wish)) -> Result<(), TrustError> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(TrustError::Unasked);
    };
    let call = lines(output);
    // A program that closed its input may have printed the reason.
    let mut send = |lines: Vec<String>| drop(lines.iter().try_for_each(|line| writeln!(input, "{line}")));
    send((trust.begin)(folder));
    let begun = Instant::now();
    loop {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        let line = call.recv_timeout(left).map_err(|end| match end {
            RecvTimeoutError::Timeout => TrustError::Late(PATIENCE),
            RecvTimeoutError::Disconnected => TrustError::Ended,
        })?;
        match (trust.next)(&line, folder) {
            Step::Wait => {}
            Step::Store(_) if wish == Wish::Look => return Err(TrustError::Untrusted),
            Step::Send(lines) | Step::Store(lines) => send(lines),
            Step::Trusted => return Ok(()),
            Step::Failed(why) => return Err(TrustError::Refused(why)),
        }
    }
}

fn lines(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    receive
}
