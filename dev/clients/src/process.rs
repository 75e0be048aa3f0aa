//! Runs a command to completion, or kills it with all its child processes after a time limit.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const GRACE: Duration = Duration::from_secs(2);

/// Result of a command that exited in time.
pub(super) struct Finished {
    /// Whether its exit code was 0.
    pub(super) success: bool,
    /// Its standard output, invalid UTF-8 replaced.
    pub(super) stdout: String,
    /// Its standard error, invalid UTF-8 replaced.
    pub(super) stderr: String,
}

/// Runs `command` with no input; its output goes to `<log>.out` and `<log>.err`.
///
/// Files are used instead of pipes, because a grandchild may keep a pipe open.
pub(super) fn finish(command: &mut Command, log: &Path, deadline: Duration) -> Result<Finished> {
    let (out, err) = (log.with_extension("out"), log.with_extension("err"));
    let program = command.get_program().to_string_lossy().into_owned();
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write `{}`", path.display()));
    command.stdin(Stdio::null()).stdout(create(&out)?).stderr(create(&err)?).process_group(0);
    let mut child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
    let status = wait(&mut child, deadline).with_context(|| format!("cannot wait for `{program}`"))?;
    let Some(status) = status else {
        bail!("`{program}` did not end within {} s", deadline.as_secs());
    };
    Ok(Finished { success: status.success(), stdout: text(&out)?, stderr: text(&err)? })
}

fn wait(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let ended = poll(child, deadline)?;
    if ended.is_none() {
        end_group(child)?;
    }
    Ok(ended)
}

fn poll(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > patience {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends SIGTERM first, because only the client can reach hooks that it has started in sessions of their own.
fn end_group(child: &mut Child) -> io::Result<()> {
    signal_group(child, "-TERM")?;
    poll(child, GRACE)?;
    signal_group(child, "-KILL")?;
    child.wait().map(drop)
}

fn signal_group(child: &Child, signal: &str) -> io::Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status().map(drop)
}

fn text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_killed_with_its_children() {
        let log = std::env::temp_dir().join(format!("reflex-clients-{}", std::process::id()));
        let mut hanging = Command::new("/bin/sh");
        hanging.args(["-c", "sleep 60 & echo $!; wait"]);
        let outcome = finish(&mut hanging, &log, Duration::from_millis(300));
        let child = fs::read_to_string(log.with_extension("out")).unwrap();
        let state = Command::new("ps").args(["-o", "stat=", "-p", child.trim()]).output().unwrap().stdout;
        let [out, err] = ["out", "err"].map(|extension| fs::remove_file(log.with_extension(extension)));
        assert!(outcome.is_err_and(|error| error.to_string().contains("did not end")));
        assert!((state.is_empty() || state.starts_with(b"Z")) && out.is_ok() && err.is_ok());
    }
}
