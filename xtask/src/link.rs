//! Links the release a second time, without compiling it again, once the functions that a call runs are known.
//!
//! Cargo uses `xtask` as the linker, which keeps the inputs of the link. Optimization across all crates takes minutes
//! and is part of the link step; linking the kept inputs takes a second.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::steps::succeed;

/// Variable for the folder of the kept inputs. A process started with it acts as the linker.
const FOLDER: &str = "REFLEX_KEEP_LINK";

/// Linker flag that strips symbols.
const STRIP: &str = "-Wl,--strip-all";

/// The kept inputs of a link.
pub(crate) struct Link {
    folder: PathBuf,
}

impl Link {
    /// The inputs kept in this folder.
    pub(crate) fn kept_in(folder: PathBuf) -> Link {
        Link { folder }
    }

    /// Makes cargo use this program as the linker, so that the inputs are kept.
    pub(crate) fn keep_by(&self, cargo: &mut Command, target: &str) -> Result<(), String> {
        let xtask = env::current_exe().map_err(|error| format!("the path of xtask cannot be found: {error}"))?;
        let variable = format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase());
        cargo.env(variable, xtask).env(FOLDER, &self.folder);
        Ok(())
    }

    /// The file with the arguments of the last link; it is newer than the output of an earlier one.
    pub(crate) fn words(&self) -> PathBuf {
        self.folder.join("words")
    }

    /// Links the program to another file, stripped, with additional arguments.
    pub(crate) fn again(&self, binary: &Path, more: &[OsString]) -> Result<(), String> {
        let file = self.words();
        let words = fs::read_to_string(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        let mut linker = Command::new("cc");
        let mut is_output = false;
        for word in words.lines() {
            linker.arg(if is_output { binary.as_os_str() } else { OsStr::new(word) });
            is_output = word == "-o";
        }
        succeed(linker.arg(STRIP).args(more)).map(drop)
    }
}

/// Acts as the linker if this process was started as one.
pub(crate) fn as_linker() -> Option<ExitCode> {
    let folder = PathBuf::from(env::var_os(FOLDER)?);
    let words: Vec<String> = env::args().skip(1).collect();
    let status = linked(&folder, &words).unwrap_or_else(|error| {
        eprintln!("xtask as a linker: {error}");
        1
    });
    Some(ExitCode::from(status))
}

fn linked(folder: &Path, words: &[String]) -> io::Result<u8> {
    let output = words.iter().skip_while(|word| *word != "-o").nth(1);
    let is_program = output.is_some_and(|file| file.rsplit('/').next().unwrap_or("").starts_with("reflex-"));
    if is_program {
        keep(folder, words)?;
    }
    // The symbols are needed to profile the program; the second link strips them.
    let words = words.iter().filter(|word| !is_program || *word != STRIP);
    let status = Command::new("cc").args(words).status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Copies the inputs, because objects and libraries reduced to their C parts are deleted after the link.
fn keep(folder: &Path, words: &[String]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut kept = String::new();
    for (index, word) in words.iter().enumerate() {
        let ending = [".o", ".rlib"].into_iter().find(|ending| word.ends_with(ending) && Path::new(word).is_file());
        if let Some(ending) = ending {
            let copy = folder.join(format!("{index}{ending}"));
            fs::copy(word, &copy)?;
            kept.push_str(&copy.to_string_lossy());
        } else {
            kept.push_str(word);
        }
        kept.push('\n');
    }
    fs::write(folder.join("words"), kept)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn a_program_is_linked_again_from_objects_that_are_gone() {
        let folder = env::temp_dir().join(format!("xtask-link-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
        fs::write(file("main.c"), "int marked(void) { return 7; }\nint main(void) { return marked(); }\n").unwrap();
        succeed(Command::new("cc").args(["-O0", "-c", &file("main.c"), "-o", &file("main.o")])).unwrap();
        let words = [file("main.o"), "-o".into(), file("reflex-1"), STRIP.into()];
        assert_eq!(linked(&folder.join("kept"), &words).unwrap(), 0);
        fs::remove_file(file("main.o")).unwrap();
        Link::kept_in(folder.join("kept")).again(&folder.join("again"), &[]).unwrap();
        let is_named = |program: &str| fs::read(file(program)).unwrap().windows(6).any(|bytes| bytes == b"marked");
        let status = |program: &str| Command::new(file(program)).status().unwrap().code();
        assert_eq!((is_named("reflex-1"), status("reflex-1")), (true, Some(7)));
        assert_eq!((is_named("again"), status("again")), (false, Some(7)));
        fs::remove_dir_all(&folder).unwrap();
    }
}
