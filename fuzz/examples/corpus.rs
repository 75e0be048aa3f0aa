//! `corpus unpack` writes the inputs that are kept into `work/TARGET/`, where the fuzzer wants them; `corpus pack` takes
//! those that are there back: all, or of all sizes so many as fit.

use reflex_fuzz::{TARGETS, corpus};
use std::path::Path;

/// Bytes of a target's file, nearly: every test run reads them all.
const MAX_BYTES: usize = 64 * 1024;

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
    let lines: Vec<String> = inputs.iter().map(|bytes| corpus::line(bytes) + "\n").collect();
    let size: usize = lines.iter().map(String::len).sum();
    let text: String = lines.into_iter().step_by(size.div_ceil(MAX_BYTES).max(1)).collect();
    std::fs::write(corpus::file(target), text)
}
