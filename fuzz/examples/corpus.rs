//! `corpus unpack` writes the inputs that are kept into `work/TARGET/`, where the fuzzer wants them; `corpus pack` takes
//! those that are there back, shortest first, as far as they fit.

use reflex_fuzz::{TARGETS, corpus};
use std::path::Path;

/// Bytes of a target's file: the smallest inputs find most, and every test reads them all.
const MOST_BYTES: usize = 96 * 1024;

fn main() -> std::io::Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (target, _) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("work").join(target);
        match wanted.as_str() {
            "unpack" => unpack(target, &folder)?,
            "pack" => pack(target, &folder)?,
            _ => return Err(std::io::Error::other("usage: corpus pack | unpack")),
        }
    }
    Ok(())
}

fn unpack(target: &str, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (index, bytes) in corpus::inputs(target).iter().enumerate() {
        std::fs::write(folder.join(format!("kept-{index:04}")), bytes)?;
    }
    Ok(())
}

fn pack(target: &str, folder: &Path) -> std::io::Result<()> {
    let mut inputs = Vec::new();
    for file in std::fs::read_dir(folder)? {
        inputs.push(std::fs::read(file?.path())?);
    }
    inputs.sort_by_key(|bytes| (bytes.len(), bytes.clone()));
    inputs.dedup();
    let mut text = String::new();
    for line in inputs.iter().map(|bytes| corpus::line(bytes)) {
        if text.len() + line.len() < MOST_BYTES {
            text.push_str(&line);
            text.push('\n');
        }
    }
    std::fs::write(corpus::file(target), text)
}
