//! Cost of a backup before a call deletes files, compared with `cp -a` of the same files, in turns.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use super::ground::Ground;
use super::measure::{CLAUDE, Hook};
use super::payloads;

const ROUNDS: usize = 9;

/// The backups: name on the page, number of files, and size of a file in bytes.
pub(crate) const CASES: [(&str, usize, usize); 2] =
    [("1,500 files of 10 kB", 1500, 10_000), ("60 files of 1 MB", 60, 1_000_000)];

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "each kept file is also digested and listed, and the list is synced to the disk";

/// Shortest times, in hundredths of that of `cp -a`, one for each of [`CASES`].
pub(crate) fn measure(binary: &Path) -> Result<Vec<u32>> {
    CASES.iter().enumerate().map(|(number, (_, files, bytes))| of(binary, (90_000 + number, *files, *bytes))).collect()
}

fn of(binary: &Path, (name, files, bytes): (usize, usize, usize)) -> Result<u32> {
    let ground = Ground::with_rules(name, &[])?;
    let transcript = || format!("cannot prepare `{}`", ground.folder.display());
    write(&ground.repo.join("work"), files, bytes).with_context(transcript)?;
    let hook = Hook { caller: CLAUDE, binary, ground: &ground, payload: payloads::shell("rm -rf work", &ground.repo) };
    let answer = hook.answer()?;
    if !answer.shown().contains("reflex undo") {
        bail!("the files are not kept: {}", answer.shown());
    }
    let (mut kept, mut copied) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        kept.push(hook.time()?);
        copied.push(copy(&ground)?);
    }
    // Both occasionally wait for the disk because of the other's writes, so the fastest rounds are compared.
    let least = |times: Vec<Duration>| times.into_iter().min().unwrap_or_default().as_secs_f64();
    Ok((least(kept) / least(copied) * 100.0).round() as u32)
}

/// Writes files that are older than the session.
fn write(folder: &Path, files: usize, bytes: usize) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for index in 0..files {
        let mut file = File::create(folder.join(format!("{index}.txt")))?;
        file.write_all(&vec![b'a' + (index % 26) as u8; bytes])?;
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000))?;
    }
    Ok(())
}

/// Copies all blocks, even if the file system could share them.
fn copy(ground: &Ground) -> Result<Duration> {
    let to = ground.folder.join("copy");
    let _ = fs::remove_dir_all(&to);
    let mut cp = Command::new("cp");
    cp.args(["-a", "--reflink=never"]).arg(ground.repo.join("work")).arg(&to);
    let start = Instant::now();
    let status = cp.status().context("`cp -a`")?;
    ensure!(status.success(), "`cp -a` fails");
    Ok(start.elapsed())
}
