//! Cost of rules that cannot apply: the same binary with a part of its rules and with all of them.
//!
//! The library's blob is position-independent data in the binary, so a shorter one can replace it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result};
use reflex_tables::compile::{Kind, Sources, list};

use super::ground::Ground;
use super::measure::Check;
use super::payloads::PIPELINE;

/// Maximum number of rules in the smaller library.
const FEW: usize = 150;

/// The commands to judge: name on the page, and text.
pub(crate) const TEXTS: [(&str, &str); 3] =
    [("git status", "git status"), ("pipeline", PIPELINE), ("rm -rf of two build folders", "rm -rf node_modules dist")];

/// Instructions of the calls with a given number of rules.
pub(crate) struct Dispatch {
    /// Number of rules.
    pub(crate) rules: usize,
    /// Thousands of instructions, one for each of [`TEXTS`].
    pub(crate) instructions: Vec<u32>,
}

/// Measures with a part of the rules and with all.
pub(crate) fn measure(root: &Path, binary: &Path, ground: &Ground) -> Result<Vec<Dispatch>> {
    let (complete, all) = blob(root, usize::MAX)?;
    let (part, few) = blob(root, FEW)?;
    let smaller = with_other_library(binary, ground, &complete, &part)?;
    [(few, smaller.as_path()), (all, binary)]
        .into_iter()
        .map(|(rules, binary)| {
            let count = |(_, text): &(&str, &str)| Check { binary, ground, text }.instructions();
            Ok(Dispatch { rules, instructions: TEXTS.iter().map(count).collect::<Result<_, _>>()? })
        })
        .collect()
}

/// Compiles the library with at most `most` rules and returns it with the number of rules. Every n-th rule is taken, so
/// that each effect loses some.
fn blob(root: &Path, limit: usize) -> Result<(Vec<u8>, usize)> {
    let mut sources = Sources::default();
    let (mut seen, mut taken) = (0, 0);
    let all = count(root)?;
    for (kind, folder) in Kind::ALL {
        for file in files(&root.join("library").join(folder))? {
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
            // A rule contains the name of its file, which must be the same as in the build, or the bytes differ.
            let name = format!("{folder}/{}", file.file_name().unwrap_or_default().to_string_lossy());
            if kind != Kind::Rules || limit >= all {
                sources.add(kind, &name, &text).map_err(Error::msg)?;
                continue;
            }
            let mut entries = list(&text).map_err(Error::msg).with_context(|| name.clone())?;
            entries.retain(|_| {
                seen += 1;
                let keeps = seen * limit / all > taken;
                taken += usize::from(keeps);
                keeps
            });
            let text = serde_json::to_string(&entries).with_context(|| name.clone())?;
            sources.add(kind, &name, &text).map_err(Error::msg)?;
        }
    }
    Ok((sources.blob().map_err(Error::msg)?, all.min(limit)))
}

fn count(root: &Path) -> Result<usize> {
    let mut count = 0;
    for file in files(&root.join("library/rules"))? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        count += list(&text).map_err(Error::msg).with_context(|| file.display().to_string())?.len();
    }
    Ok(count)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    Ok(files)
}

/// Offset of the root's record: the root's word follows the first eight bytes, with the tag in its low three bits.
fn root(blob: &[u8]) -> usize {
    let word = blob.get(8..12).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes);
    word as usize >> 3
}

/// Copies the binary with `part` in place of `whole`.
fn with_other_library(binary: &Path, ground: &Ground, complete: &[u8], part: &[u8]) -> Result<PathBuf> {
    let mut bytes = fs::read(binary).with_context(|| format!("cannot read `{}`", binary.display()))?;
    let start = complete.get(..64).unwrap_or(complete);
    let at = bytes.windows(start.len()).position(|window| window == start);
    let place = at.and_then(|at| bytes.get_mut(at..at + complete.len())).filter(|place| *place == complete);
    let place = place.context("the binary does not hold this library: build it again")?;
    place.fill(0);
    place.get_mut(..part.len()).context("the smaller library is not smaller")?.copy_from_slice(part);
    // The compiler has inlined the offset of the root's record, which is the last one, so it is moved to that offset.
    let record = part.get(root(part)..).unwrap_or_default();
    let old = root(complete);
    let room = place.get_mut(old..old + record.len()).filter(|_| old >= part.len());
    room.context("the smaller library is hardly smaller")?.copy_from_slice(record);
    if let (Some(word), Some(before)) = (place.get_mut(8..12), complete.get(8..12)) {
        word.copy_from_slice(before);
    }
    let copy = ground.folder.join("reflex-few");
    fs::write(&copy, bytes).with_context(|| format!("cannot write `{}`", copy.display()))?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make `{}` executable", copy.display()))?;
    Ok(copy)
}
