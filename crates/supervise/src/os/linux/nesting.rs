//! A supervisor above this process.

use std::fs;
use std::path::Path;

/// Maximum number of processes between this one and the supervisor.
const MAX_ABOVE: usize = 256;

/// Whether a process above this one was started with `--supervise`. The kernel allows one listener per process tree, so
/// a supervisor inside of another cannot start; the outer one judges its starts as well. The supervisor's executable
/// cannot be looked at, because it hides itself from processes of the same user.
pub fn is_below_supervisor() -> bool {
    let supervises = |process: &u32| {
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).take_while(|word| *word != b"--").any(|word| word == b"--supervise")
    };
    let above = std::iter::successors(parent("self"), |process| parent(&process.to_string()));
    above.take(MAX_ABOVE).any(|process| supervises(&process))
}

fn parent(process: &str) -> Option<u32> {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("status")).ok()?;
    let parent: u32 = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent > 0).then_some(parent)
}
