//! Cost of querying git about a large repository, compared with `git status` there, in turns.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::ground::Ground;
use super::measure::{CLAUDE, Hook, median};
use super::payloads;

const ROUNDS: usize = 15;

/// Number of files in the large repository.
const FILES: usize = 30_000;

/// Number of paths in the longest call.
const PATHS: usize = 2_048;

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "git is asked more than once";

/// The measured commands, as named on the page of results. The limit for each is 1.5 times the time of `git status`.
pub(crate) const COMMANDS: [&str; 4] = ["git reset --hard", "git checkout .", "git clean -fd", "rm of 2,048 paths"];

/// Median times, in hundredths of that of `git status`, one for each of [`COMMANDS`].
pub(crate) fn measure(binary: &std::path::Path) -> Result<Vec<u32>> {
    let ground = Ground::large(FILES)?;
    // The first `git status` refreshes the index; later ones show the usual time.
    status(&ground)?;
    let payload = |command: &str| payloads::shell(command, &ground.repo);
    let paths = (0..PATHS).map(|index| Ground::name(index % FILES)).collect::<Vec<_>>().join(" ");
    let texts =
        COMMANDS.map(|command| if command.starts_with("rm ") { format!("rm -f {paths}") } else { command.to_owned() });
    let hooks: Vec<Hook<'_>> =
        texts.iter().map(|text| Hook { caller: CLAUDE, binary, ground: &ground, payload: payload(text) }).collect();
    let mut times = vec![Vec::new(); hooks.len() + 1];
    for round in 0..=ROUNDS {
        for (turn, times) in times.iter_mut().enumerate() {
            let time = match hooks.get(turn) {
                Some(hook) => hook.time()?,
                None => status(&ground)?,
            };
            if round > 0 {
                times.push(time);
            }
        }
    }
    let mut medians: Vec<f64> = times.into_iter().map(median).collect();
    let status = medians.pop().unwrap_or_default();
    Ok(medians.iter().map(|median| (median / status * 100.0).round() as u32).collect())
}

fn status(ground: &Ground) -> Result<Duration> {
    let mut git = Command::new("git");
    git.arg("status").current_dir(&ground.repo).env("HOME", &ground.home).env("GIT_CONFIG_NOSYSTEM", "1");
    git.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = git.status().context("`git status`")?;
    ensure!(status.success(), "`git status` fails");
    Ok(start.elapsed())
}
