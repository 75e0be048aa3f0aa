//! Runs a suite as a user whose home would change every verdict, and fails if a test reads or writes that home.
//!
//! `reflex` finds its state through the user database, so a test without `--home` uses the files of the current user,
//! regardless of `HOME`. In the suite, that home is full of alarms, pins, grants and a policy that blocks everything.

mod home;

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::project::{Project, TOOLS_HOME, XDG};
use crate::steps::succeed;

/// Variable for the hostile home, set for the processes that run in it.
const HOSTILE_HOME: &str = "REFLEX_HOSTILE_HOME";

/// The command that `play` starts in the namespace.
pub const ENCLOSED: &str = "enclosed";

/// Maximum number of files listed if a home was touched.
const LISTED: usize = 20;

/// Mounts the home and the user database; this program does the rest in the new namespace.
const MOUNT: &str = "\
    mount --make-rprivate / &&
    mount -t tmpfs -o strictatime,mode=755 tmpfs \"$1\" &&
    mount --bind \"$2\" /etc/passwd &&
    shift 2 && exec \"$@\"";

/// Mounts only the user database.
pub const BIND: &str = "\
    mount --make-rprivate / &&
    mount --bind \"$1\" /etc/passwd &&
    shift && exec \"$@\"";

/// Runs `cargo xtask WORDS…` in a hostile home. Returns `false` if this process is already in one, or if this machine
/// does not support it.
///
/// `reflex` fills the home. Build the suite's dependencies first: the time limit of a suite does not allow for that.
///
/// # Errors
/// The suite fails, or a process read or wrote the home.
pub fn play(project: &Project, reflex: &Path, words: &[&str]) -> Result<bool> {
    if env::var_os(HOSTILE_HOME).is_some() {
        return Ok(false);
    }
    let folder = project.target.join("hostile");
    let (home, passwd) = (folder.join("home"), folder.join("passwd"));
    let unwritten = || format!("cannot write `{}`", folder.display());
    fs::create_dir_all(&home).and_then(|()| fs::write(&passwd, user_database(&home))).with_context(unwritten)?;
    let Some(unshare) = unshare() else {
        println!("skip  a hostile home: this machine allows no mount namespace, so the suite runs in yours");
        return Ok(false);
    };
    let program = env::current_exe().context("cannot find xtask")?;
    let mut child = Command::new("unshare");
    child.args(unshare).args(["sh", "-c", MOUNT, "sh"]).arg(&home).arg(&passwd);
    child.arg(program).arg(ENCLOSED).arg(reflex).args(words);
    child.env(HOSTILE_HOME, &home).env("HOME", &home).stdin(Stdio::null());
    child.envs(env::var_os("HOME").map(|home| (TOOLS_HOME, home)));
    child.envs(XDG.map(|variable| (variable, home.join("xdg"))));
    let status = child.status().context("`unshare` cannot be started")?;
    ensure!(status.success(), "in a hostile home: {status}");
    Ok(true)
}

/// Arguments for `unshare` that create a mount namespace for this user.
pub fn unshare() -> Option<&'static [&'static str]> {
    let forms: [&[&str]; 2] = [&["--mount"], &["--user", "--map-current-user", "--keep-caps", "--mount"]];
    let works = |form: &&[&str]| {
        let mut tried = Command::new("unshare");
        tried.args(*form).args(["mount", "-t", "tmpfs", "tmpfs", "/tmp"]);
        succeed(&mut tried).is_ok()
    };
    forms.into_iter().find(works)
}

/// The user database with another home for this user.
pub fn user_database(home: &Path) -> String {
    let user = fs::metadata("/proc/self").map(|data| data.uid()).unwrap_or_default().to_string();
    let database = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let others = database.lines().filter(|line| line.split(':').nth(2) != Some(&user));
    let entry = format!("user:x:{user}:{user}::{}:/bin/sh", home.display());
    [entry.as_str()].into_iter().chain(others).map(|line| format!("{line}\n")).collect()
}

/// Inside the namespace: fills the home, runs the suite, and checks for files that it touched.
///
/// # Errors
/// The home does not change the verdict, the suite fails, or it touched the home.
pub fn enclosed(reflex: &str, words: &[&str]) -> Result<()> {
    let home = PathBuf::from(env::var_os(HOSTILE_HOME).context("this command is for `cargo xtask` itself")?);
    // Filling the home turns the guard off and pins it, which must never happen in a real home.
    if fs::read_to_string("/etc/passwd").unwrap_or_default() != user_database(&home) {
        bail!("`{}` is not the home in this user database", home.display());
    }
    home::fill(&home, Path::new(reflex))?;
    let before = home::files(&home)?;
    let program = env::current_exe().context("cannot find xtask")?;
    let status = Command::new(program).args(words).status().context("cannot start xtask")?;
    let touched = home::touched(&before, &home::files(&home)?);
    if !touched.is_empty() {
        let list: Vec<String> = touched.iter().take(LISTED).map(|path| path.display().to_string()).collect();
        bail!("the suite touched {} files of the user's home:\n{}", touched.len(), list.join("\n"));
    }
    ensure!(status.success(), "{status}");
    Ok(())
}
