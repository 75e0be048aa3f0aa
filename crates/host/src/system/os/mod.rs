//! All code specific to an operating system, under one interface: one file per system, and one for the parts that Linux
//! and macOS share. The rest of this crate names no system.
//!
//! An operation that a system lacks returns an error, or the answer that makes the guard stricter.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod model;
#[cfg(not(target_os = "linux"))]
mod polling;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as own;
#[cfg(target_os = "macos")]
use macos as own;
#[cfg(not(target_os = "linux"))]
use polling as watching;
#[cfg(unix)]
use unix as shared;
#[cfg(target_os = "linux")]
use watch as watching;
#[cfg(windows)]
use windows::{self as own, self as shared};

pub(crate) use model::{Kind, Pid, Purpose, Stat, Woken};
pub(crate) use own::{
    FOLDS_CASE, Process, adopt_strays, boot, booted, browser, created, desktop_notice, desktop_obstacle, fill_random,
    hide_memory, home_of_user, leave_network, running,
};
pub(crate) use shared::{
    End, Folder, end, end_group, is_no_link, is_writable, link, make_private_folder, mode_of, open, parent, read_at,
    set_mode, shell, stat, stat_following_links, stat_of, terminal_of_input, uptime, user, write_at,
};
pub use shared::{in_new_process_group, options_with_mode, terminal};
pub(crate) use watching::Watch;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_seen_with_its_words_its_program_and_who_started_it() {
        let current = std::process::id();
        let found = running().into_iter().find(|(process, _)| *process == current);
        let process = Process::of(current);
        assert!(process.as_ref().is_some_and(|process| !process.words(1).is_empty() && !process.program().is_empty()));
        assert_eq!(found.map(|(_, parent)| parent), process.and_then(|process| process.parent()));
        assert!(Process::of(u32::MAX).is_none());
    }

    #[test]
    fn a_link_was_created_after_the_file_that_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(1);
        std::fs::write(&file, "text").expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        // Not every file system keeps it.
        let Some((file, link)) = created(&file).zip(created(&link)) else { return };
        assert!(before < file && file <= link);
        assert!(created(folder.path().join("none").as_path()).is_none());
    }

    #[test]
    fn the_machine_was_started_before_now() {
        assert!(boot().is_some_and(|name| boot() == Some(name)) && uptime().is_some_and(|length| length > 0));
        let current = Process::of(std::process::id());
        assert!(current.is_some_and(|process| process.started().is_some()));
        assert!(booted().is_some_and(|booted| booted < std::time::SystemTime::now()));
    }
}
