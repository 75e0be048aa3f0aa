//! The guard's own folder, and the copy of the program in it that hook entries name: package runners clean the folders
//! that they run programs from, and installers of other packages write programs of their own choice into a `bin` folder.

use super::namesakes::{Namesake, has_same_bytes, on_path, with_suffix};
use crate::system::folders::Folders;
use crate::system::os;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Cache folders on Linux and macOS, and that of `npx`.
const CACHES: [&str; 3] = [".cache", "Caches", "_npx"];

/// Folders of programs whose names the packages choose: those of users, of Python environments and of cargo.
const SHARED: [&str; 2] = ["bin", "Scripts"];

/// The programs in the guard's folder. `rfx` starts the `reflex` beside it.
const PROGRAMS: [&str; 2] = ["reflex", "rfx"];

/// Permissions of the copy. Without write permission, `cp` through a link in `~/.local/bin` does not change it.
const READ_ONLY: u32 = 0o555;

/// A reason against naming a program in hook entries where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// A package runner cleans its folder.
    Cache,
    /// Installers of other packages may replace it.
    Shared,
}

/// The outcome of [`settle`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The copy that was written, and why it was necessary.
    pub copied: Option<(PathBuf, Unfit)>,
    /// The names in `~/.local/bin` that other programs have, which keep them.
    pub taken: Vec<(PathBuf, Namesake)>,
}

/// The program cannot be copied to its permanent path.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The system does not say which file this program is.
    #[error("the path of reflex cannot be found: {0}")]
    Unknown(io::Error),
    /// The copy cannot be written.
    #[error("{}: {error}", file.display())]
    Unwritten {
        /// The file.
        file: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// The path for hook entries: that of this program, or of its copy in the guard's own folder if others clean or write the
/// one it is in.
pub(crate) fn lasting(folders: &Folders) -> Result<PathBuf, SettleError> {
    let program = running_program()?;
    let own = own_program(folders);
    if is_own(&program, &own) || must_be_copied(&program, &own).is_some() {
        return Ok(own);
    }
    Ok(installed_path(&program))
}

/// Copies the running program to the guard's own folder if hook entries cannot name the one it is in, and links its names
/// in `~/.local/bin` to the copy, for people. A name that another program has stays as it is.
///
/// # Errors
/// The copy cannot be written.
pub fn settle(folders: &Folders) -> Result<Settled, SettleError> {
    let (program, own) = (running_program()?, own_program(folders));
    let unfit = must_be_copied(&program, &own);
    if unfit.is_none() && !is_own(&program, &own) {
        return Ok(Settled::default());
    }
    let missing = unfit.filter(|_| !has_same_bytes(&program, &own));
    if missing.is_some() {
        let names = PROGRAMS.map(with_suffix);
        names.iter().try_for_each(|name| copy(&program.with_file_name(name), &own.with_file_name(name)))?;
    }
    Ok(Settled { copied: missing.map(|unfit| (own.clone(), unfit)), taken: link_names(&folders.home, &own) })
}

/// The copy in the guard's own folder, if [`settle`] would replace it by another program.
pub fn outdated_copy(folders: &Folders) -> Option<PathBuf> {
    let (program, own) = (running_program().ok()?, own_program(folders));
    let differs = must_be_copied(&program, &own).is_some() && own.exists() && !has_same_bytes(&program, &own);
    differs.then_some(own)
}

/// The program in the guard's own folder, which need not exist.
pub fn own_program(folders: &Folders) -> PathBuf {
    folders.program.join(with_suffix("reflex"))
}

/// The file of this process. On some systems it is named by the link that started it.
pub(crate) fn running_program() -> Result<PathBuf, SettleError> {
    let program = std::env::current_exe().map_err(SettleError::Unknown)?;
    if program.is_symlink() { program.canonicalize().map_err(SettleError::Unknown) } else { Ok(program) }
}

/// The link on the `PATH` that leads to this program, or its file: a package manager moves the file with each version and
/// keeps the link.
fn installed_path(program: &Path) -> PathBuf {
    let file = program.canonicalize().ok();
    let leads_here = |link: &PathBuf| link.is_absolute() && link.is_symlink() && link.canonicalize().ok() == file;
    on_path("reflex").into_iter().find(leads_here).unwrap_or_else(|| program.to_owned())
}

fn is_own(program: &Path, own: &Path) -> bool {
    own.canonicalize().is_ok_and(|own| own == program)
}

fn must_be_copied(program: &Path, own: &Path) -> Option<Unfit> {
    if is_own(program, own) {
        return None;
    }
    unfit(program).or_else(|| unfit(&installed_path(program)))
}

fn unfit(program: &Path) -> Option<Unfit> {
    let folder = program.parent()?;
    let has = |names: &[&str]| folder.components().any(|part| names.iter().any(|name| part.as_os_str() == *name));
    if has(&CACHES) || program.starts_with("/tmp") || program.starts_with(std::env::temp_dir()) {
        return Some(Unfit::Cache);
    }
    let is_shared = SHARED.iter().any(|name| folder.ends_with(name)) && !has(&["node_modules"]);
    (is_shared && os::is_writable(folder)).then_some(Unfit::Shared)
}

fn copy(program: &Path, own: &Path) -> Result<(), SettleError> {
    let failed = |error: io::Error| SettleError::Unwritten { file: own.to_owned(), error };
    if !program.is_file() {
        return Ok(());
    }
    fs::create_dir_all(own.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    let draft = own.with_extension("new");
    // A draft of an interrupted copy cannot be written again.
    let _ = fs::remove_file(&draft);
    fs::copy(program, &draft).and_then(|_| os::set_mode(&draft, READ_ONLY)).map_err(failed)?;
    // The rename is atomic, so that a concurrent call never starts an incomplete program.
    fs::rename(&draft, own).map_err(failed)
}

/// Links free names below the home to the guard's programs and returns those that other programs have.
fn link_names(home: &Path, own: &Path) -> Vec<(PathBuf, Namesake)> {
    let programs = PROGRAMS.into_iter().map(|name| own.with_file_name(with_suffix(name)));
    programs.filter(|program| program.exists()).filter_map(|program| link_name(home, &program)).collect()
}

fn link_name(home: &Path, program: &Path) -> Option<(PathBuf, Namesake)> {
    let name = program.file_name()?;
    let folder = home.join(".local/bin");
    let link = folder.join(name);
    if link.symlink_metadata().is_err() {
        if !is_reachable(program) {
            // People can type the whole path of a program without a link.
            let _ = fs::create_dir_all(&folder).and_then(|()| os::link(program, &link));
        }
        return None;
    }
    let namesake = Namesake::of(&link, program);
    (namesake != Namesake::Guard).then_some((link, namesake))
}

/// Whether the `PATH` leads to a copy of this program that stays.
fn is_reachable(program: &Path) -> bool {
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    let stays = |file: &PathBuf| unfit(file) != Some(Unfit::Cache) && has_same_bytes(file, program);
    on_path(&name).iter().any(stays)
}

#[cfg(test)]
mod tests {
    use super::{Unfit, unfit};
    use std::path::Path;

    #[track_caller]
    fn check(program: &str, expected: Option<Unfit>) {
        assert_eq!(unfit(Path::new(program)), expected, "{program}");
    }

    #[test]
    fn what_package_runners_clean_is_a_cache() {
        check("/home/me/.npm/_npx/1a2b/node_modules/@reflex-guard/linux-x64/bin/reflex", Some(Unfit::Cache));
        check("/home/me/.cache/uv/archive-v0/1a2b/bin/reflex", Some(Unfit::Cache));
        check("/Users/me/Library/Caches/uv/archive-v0/1a2b/bin/reflex", Some(Unfit::Cache));
        check("/tmp/bunx-1000-reflex-guard/node_modules/@reflex-guard/linux-x64/bin/reflex", Some(Unfit::Cache));
        check("/home/me/.local/share/reflex-guard/reflex", None);
        check("/usr/lib/node_modules/@reflex-guard/linux-x64/bin/reflex", None);
    }

    #[test]
    fn a_folder_of_programs_that_the_user_may_write_is_shared() {
        // Below the target folder, because the temporary folder counts as a cache.
        let this = std::env::current_exe().expect("a program");
        let root = tempfile::tempdir_in(this.parent().expect("a folder")).expect("a folder");
        let check = |folder: &str, expected| {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).expect("a folder");
            assert_eq!(unfit(&folder.join("reflex")), expected, "{}", folder.display());
        };
        check(".local/bin", Some(Unfit::Shared));
        check("venv/bin", Some(Unfit::Shared));
        check("target/release", None);
        check("lib/node_modules/@reflex-guard/linux-x64/bin", None);
    }
}
