//! A permanent path for the program: `npx`, `uvx` and similar tools run it from a cache that they clean.

use crate::system::folders::home_of_agents;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Cache folders on Linux and macOS, and that of `npx`.
const CACHES: [&str; 3] = [".cache", "Caches", "_npx"];

/// The path for hook entries: `program`, or the copy in the home if `program` is in a cache.
pub(crate) fn lasting(program: PathBuf) -> PathBuf {
    if is_cached(&program) { place() } else { program }
}

/// Copies the running program to its permanent path. `None` if it has one already.
///
/// # Errors
/// The copy cannot be written, or a link of a package manager is in its place.
pub fn settle() -> Result<Option<PathBuf>, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of reflex cannot be found: {error}"))?;
    let place = place();
    let failed = |error: io::Error| format!("{}: {error}", place.display());
    if !is_cached(&program) || has_same_bytes(&program, &place) {
        return Ok(None);
    }
    if place.is_symlink() {
        return Err(format!("{} is a link of another installation: run that one, or remove it", place.display()));
    }
    fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    // The rename is atomic, so that a concurrent call never starts an incomplete program.
    let draft = place.with_extension("new");
    fs::copy(&program, &draft).and_then(|_| fs::rename(&draft, &place)).map_err(failed)?;
    Ok(Some(place))
}

fn place() -> PathBuf {
    home_of_agents().join(".local/bin/reflex")
}

fn is_cached(program: &Path) -> bool {
    let is_cache = |part: &std::ffi::OsStr| CACHES.iter().any(|cache| part == *cache);
    program.parent().is_some_and(|folder| folder.components().any(|part| is_cache(part.as_os_str())))
        || program.starts_with("/tmp")
        || program.starts_with(std::env::temp_dir())
}

fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).ok().map(|data| data.len());
    size(one) == size(other) && fs::read(one).ok() == fs::read(other).ok()
}

#[cfg(test)]
mod tests {
    use super::is_cached;
    use std::path::Path;

    #[test]
    fn what_package_runners_clean_is_a_cache() {
        for program in [
            "/home/me/.npm/_npx/1a2b/node_modules/@reflex-guard/linux-x64/bin/reflex",
            "/home/me/.cache/uv/archive-v0/1a2b/bin/reflex",
            "/Users/me/Library/Caches/uv/archive-v0/1a2b/bin/reflex",
            "/tmp/bunx-1000-reflex-guard/node_modules/@reflex-guard/linux-x64/bin/reflex",
        ] {
            assert!(is_cached(Path::new(program)), "{program}");
        }
        for program in ["/home/me/.local/bin/reflex", "/usr/lib/node_modules/@reflex-guard/linux-x64/bin/reflex"] {
            assert!(!is_cached(Path::new(program)), "{program}");
        }
    }
}
