//! Other programs that have the guard's name, such as the command of the Python web framework Reflex.

use memchr::memmem;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Texts in the executables `reflex` and `rfx` of every version, by which an old copy is recognized without starting it.
/// `packaging/install.sh` looks for them too.
const SIGNATURES: [&[u8]; 2] =
    [b"reflex-guard: the guard between coding agents and this machine", b"rfx: reflex cannot be started"];

/// A kind of program that has the name of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namesake {
    /// This program: a copy of it, or the launcher of its npm package.
    Guard,
    /// The guard in another version.
    OtherVersion,
    /// The command of the Python web framework.
    WebFramework,
    /// Anything else.
    Unknown,
}

impl Namesake {
    /// Compares a file with the guard's program. A file that cannot be read is unknown.
    pub fn of(file: &Path, guard: &Path) -> Namesake {
        let launcher = Path::new("node_modules/reflex-guard/bin/reflex.js");
        if has_same_bytes(file, guard) || file.canonicalize().is_ok_and(|file| file.ends_with(launcher)) {
            return Namesake::Guard;
        }
        let bytes = fs::read(file).unwrap_or_default();
        let has = |text: &[u8]| memmem::find(&bytes, text).is_some();
        // The scripts that pip, pipx and uv write for the entry point `reflex.reflex:cli`.
        if bytes.starts_with(b"#!") && has(b"from reflex.reflex import ") {
            Namesake::WebFramework
        } else if SIGNATURES.into_iter().any(has) {
            Namesake::OtherVersion
        } else {
            Namesake::Unknown
        }
    }
}

impl fmt::Display for Namesake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Namesake::Guard => "a copy of this program",
            Namesake::OtherVersion => "another version of the guard",
            Namesake::WebFramework => "the command of the Python web framework Reflex",
            Namesake::Unknown => "another program",
        })
    }
}

/// Finds the programs with a name on the `PATH`, in its order.
pub(crate) fn on_path(name: &str) -> Vec<PathBuf> {
    let (path, name) = (std::env::var_os("PATH").unwrap_or_default(), with_suffix(name));
    std::env::split_paths(&path).map(|folder| folder.join(&name)).filter(|file| file.is_file()).collect()
}

/// The file name of a program on this system.
pub(crate) fn with_suffix(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

pub(crate) fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).ok().map(|data| data.len());
    size(one).is_some() && size(one) == size(other) && fs::read(one).ok() == fs::read(other).ok()
}

#[cfg(test)]
mod tests {
    use super::{Namesake, SIGNATURES};
    use std::fs;

    #[track_caller]
    fn check(bytes: &[u8], expected: Namesake) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, guard) = (folder.path().join("reflex"), folder.path().join("guard"));
        fs::write(&file, bytes).expect("a file");
        fs::write(&guard, "\x7fELF 1").expect("a file");
        assert_eq!(Namesake::of(&file, &guard), expected);
    }

    #[test]
    fn a_program_with_the_name_of_the_guard_is_told_by_its_bytes() {
        check(b"\x7fELF 1", Namesake::Guard);
        for text in SIGNATURES {
            check(&[b"\x7fELF 2", text].concat(), Namesake::OtherVersion);
        }
        check(b"#!/usr/bin/python3\nimport sys\nfrom reflex.reflex import cli\n", Namesake::WebFramework);
        check(b"#!/bin/sh\nexit 0\n", Namesake::Unknown);
    }

    #[test]
    fn every_program_of_the_guard_has_the_signature() {
        let this = std::env::current_exe().expect("a program");
        assert_eq!(Namesake::of(&this, std::path::Path::new("/nowhere")), Namesake::OtherVersion);
    }
}
