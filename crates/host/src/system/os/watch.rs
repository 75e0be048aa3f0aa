//! Linux: a wait on inotify and on a clock that also runs while the machine sleeps. The number of watches per user is
//! limited (often 128); without one the wait polls once a second.

use super::model::Woken;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::{Errno, read};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// A wait for changes of folders and for the closing of a file, with a time limit.
pub(crate) struct Watch {
    /// The inotify instance; `None` if the user has no watch left.
    changes: Option<OwnedFd>,
    end: OwnedFd,
    /// The process that waits for the answer, if it is not this one.
    waiting: Option<OwnedFd>,
}

impl Watch {
    /// Starts the watch: entries that are created, moved or deleted in these folders, and the closing of `closed` after
    /// writing.
    ///
    /// # Errors
    /// The system provides no timer.
    pub(crate) fn begin(folders: &[&Path], closed: &Path, limit: Duration) -> io::Result<Watch> {
        let changes = changes(folders, closed).ok();
        let end = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let once = Itimerspec { it_interval: Timespec::default(), it_value: time(limit) };
        timerfd_settime(&end, TimerfdTimerFlags::empty(), &once)?;
        Ok(Watch { changes, end, waiting: None })
    }

    /// The same wait, which also ends with this process, if there is one.
    pub(crate) fn on_behalf_of(self, process: Option<u64>) -> Watch {
        let process = process.and_then(|process| Pid::from_raw(i32::try_from(process).ok()?));
        let waiting = process.and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
        Watch { waiting, ..self }
    }

    /// Waits for the next change or the end. The end takes precedence: a later change is too late.
    pub(crate) fn wait(&self) -> Woken {
        let output = io::stdout();
        let changes = self.changes.as_ref().unwrap_or(&self.end);
        let mut all = [
            PollFd::new(changes, PollFlags::IN),
            PollFd::new(&self.end, PollFlags::IN),
            PollFd::new(&output, PollFlags::empty()),
            PollFd::new(self.waiting.as_ref().unwrap_or(&self.end), PollFlags::IN),
        ];
        let pause = self.changes.is_none().then_some(&PAUSE);
        let Ok(count) = rustix::io::retry_on_intr(|| poll(&mut all, pause)) else { return Woken::Over };
        if count == 0 {
            return Woken::Changed;
        }
        let [changed, end, output, gone] = all.map(|one| !one.revents().is_empty());
        if end || output || gone || !changed {
            return Woken::Over;
        }
        // The events only signal a change; the caller looks up the new state.
        let mut events = [0_u8; 4096];
        while read(changes, &mut events[..]).is_ok_and(|count| count > 0) {}
        Woken::Changed
    }
}

/// Pause between two polls without inotify.
const PAUSE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// An inotify instance for changes in these folders and for the closing of the file.
fn changes(folders: &[&Path], closed: &Path) -> Result<OwnedFd, Errno> {
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let entries = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::DELETE;
    for folder in folders {
        inotify::add_watch(&changes, *folder, entries | WatchFlags::ONLYDIR)?;
    }
    // The kernel also closes the files of a killed process.
    match inotify::add_watch(&changes, closed, WatchFlags::CLOSE_WRITE) {
        Ok(_) | Err(Errno::NOENT) => Ok(changes),
        Err(error) => Err(error),
    }
}

/// The value of a timer, with at least one nanosecond: a zero value would disarm it.
fn time(limit: Duration) -> Timespec {
    let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: i64::from(limit.subsec_nanos()).max(1) as _ }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;
    use std::fs;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_wait_ends_with_a_new_file_a_file_that_goes_and_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let watch = Watch::begin(&[folder.path()], &folder.path().join("none"), LONG).unwrap();
        fs::write(&file, "x").unwrap();
        assert_eq!(watch.wait(), Woken::Changed);
        fs::remove_file(&file).unwrap();
        assert_eq!(watch.wait(), Woken::Changed);
        let brief = Watch::begin(&[folder.path()], &file, Duration::from_millis(5)).unwrap();
        assert_eq!(brief.wait(), Woken::Over);
        fs::write(&file, "x").unwrap();
        assert_eq!(brief.wait(), Woken::Over, "what comes after the end came too late");
    }

    #[test]
    fn a_wait_for_another_process_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let watch = Watch::begin(&[folder.path()], folder.path(), LONG).unwrap();
        let watch = watch.on_behalf_of(Some(process.id().into()));
        fs::write(folder.path().join("a"), "x").unwrap();
        assert_eq!(watch.wait(), Woken::Changed);
        process.kill().unwrap();
        assert_eq!(watch.wait(), Woken::Over);
        process.wait().unwrap();
    }

    #[test]
    fn who_gets_no_watch_looks_again_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone");
        let watch = Watch::begin(&[&missing], &missing, Duration::from_millis(1300)).unwrap();
        assert_eq!([watch.wait(), watch.wait()], [Woken::Changed, Woken::Over]);
    }

    #[test]
    fn a_wait_ends_when_a_writer_closes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("open");
        let open = fs::File::create(&file).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let watch = Watch::begin(&[elsewhere.path()], &file, LONG).unwrap();
        drop(open);
        assert_eq!(watch.wait(), Woken::Changed);
    }
}
