//! Keeps what the programs of a run lose, whatever the programs, and makes backups of it.
//!
//! The keeper writes into a folder of the backup store. When a part of the run is over, its list of changes becomes the
//! items of a backup, and the folder becomes that backup: no content is copied twice. A part ends when a hook reports
//! the next call, so that each call has a backup of its own, or when nothing has changed for a while. A folder whose
//! watcher was killed is taken over by the next command that needs the store.

mod items;
mod place;
mod rebuilt;
mod running;
mod summary;

pub use summary::{Counts, RunChanges};

use super::causes::Calls;
use super::host::Host;
use super::naming::line;
use super::undo::MAX_DESCRIPTION;
use crate::config::watch::when_full;
use crate::store::LogEnd;
use crate::system::random;
use place::Folder;
use rebuilt::RebuiltFolders;
use reflex_engine::Event;
use reflex_keep::About;
use reflex_supervise::{Fate, Keeper, KeeperOptions, Limits, Loss, Watch, WhenFull, pass_turn, program};
use running::RunMark;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Time without a change after which the next one begins a new part.
const PAUSE: Duration = Duration::from_secs(30);

/// Watches one run.
pub struct WatchedRun {
    host: Host,
    workspace: String,
    about: About,
    /// The calls that the agent's hooks report; `None` for a single command, which is one part.
    calls: Option<Calls>,
    when_full: WhenFull,
    part: RwLock<Option<Part>>,
    /// Number of changes that went on without a part, because its folder could not be made.
    unwatched: AtomicU64,
    changes: Mutex<RunChanges>,
    /// Lets hooks below know. Without it they ask as always.
    _mark: Option<RunMark>,
}

/// The changes of one call.
struct Part {
    keeper: Keeper,
    folder: Folder,
    /// The record of the call; empty if none was reported yet.
    record: String,
    latest: Mutex<Latest>,
}

/// The latest change of a part.
struct Latest {
    time: Instant,
    /// The end of the log then.
    end: LogEnd,
}

impl WatchedRun {
    /// Watches a command that a person starts in this folder. With an agent, each of its calls has a backup of its own.
    pub fn new(host: Host, agent: Option<&'static str>, folder: &str, command: &[String]) -> WatchedRun {
        let event = host.settled(Event { cwd: folder.into(), ..Event::default() });
        let store = host.store();
        let about = About {
            client: agent.unwrap_or_default().to_owned(),
            session: random::uuid(),
            workspace: store.clean(&event.workspace),
            what: store.clean(&line(command.iter().map(OsStr::new))).chars().take(MAX_DESCRIPTION).collect(),
            ..About::default()
        };
        WatchedRun {
            about,
            calls: agent.map(Calls::of),
            when_full: when_full(&host.layers(&event.workspace)),
            part: RwLock::default(),
            unwatched: AtomicU64::new(0),
            changes: Mutex::default(),
            _mark: RunMark::create(&host.folders().state).ok(),
            workspace: event.workspace,
            host,
        }
    }

    /// Ends the run; returns what it has changed.
    pub fn finish(&self) -> RunChanges {
        let part = self.part.write().unwrap_or_else(PoisonError::into_inner).take();
        self.close(part);
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        changes.missed += self.unwatched.load(Ordering::Relaxed);
        changes
    }

    /// Whether a change belongs to a part.
    fn fits(&self, part: &Part) -> bool {
        let Some(calls) = &self.calls else { return true };
        let mut latest = part.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.time.elapsed() > PAUSE {
            return false;
        }
        let now = Latest { time: Instant::now(), end: self.host.store().log().end() };
        let is_same = now.end == latest.end || calls.latest(&self.host).unwrap_or_default().0 == part.record;
        // Otherwise the next change would fit.
        if is_same {
            *latest = now;
        }
        is_same
    }

    /// Ends a part and begins the next one.
    fn turn(&self) -> io::Result<()> {
        pass_turn();
        let mut part = self.part.write().unwrap_or_else(PoisonError::into_inner);
        if part.as_ref().is_some_and(|part| self.fits(part)) {
            return Ok(());
        }
        self.close(part.take());
        *part = Some(self.begin()?);
        Ok(())
    }

    fn begin(&self) -> io::Result<Part> {
        let end = self.host.store().log().end();
        let mut about = self.about.clone();
        if let Some((record, what)) = self.calls.as_ref().and_then(|calls| calls.latest(&self.host)) {
            about.record = record;
            about.what = what.chars().take(MAX_DESCRIPTION).collect();
        }
        let rebuilt = RebuiltFolders::new(self.host.context(), &self.workspace);
        let skip = Arc::new(move |path: &Path| rebuilt.holds(path));
        let options = KeeperOptions { limits: Limits::default(), when_full: self.when_full, skip: Some(skip) };
        let record = about.record.clone();
        let (folder, keeper) = Folder::create(&self.host.backups(), about, options)?;
        Ok(Part { keeper, folder, record, latest: Mutex::new(Latest { time: Instant::now(), end }) })
    }

    fn close(&self, part: Option<Part>) {
        let Some(Part { keeper, folder, .. }) = part else { return };
        let tally = keeper.tally();
        let closed = self.host.take_over(folder);
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.missed += tally.unresolved;
        match closed {
            Ok(part) => changes.add(part),
            Err(problem) => changes.problems.push(problem.to_string()),
        }
    }

    /// Whether a process runs Reflex: the installed program, or one in the folder of this one, which may have been
    /// replaced meanwhile.
    fn is_reflex(&self, process: u32) -> bool {
        let program = program(process);
        let own = std::env::current_exe().unwrap_or_default();
        let installed = self.host.folders().program.canonicalize().unwrap_or_default();
        let folders = [Some(installed.as_path()), own.parent()];
        let is_named = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("reflex"));
        is_named && folders.into_iter().flatten().any(|folder| program.parent() == Some(folder))
    }

    fn is_own(&self, path: &Path) -> bool {
        let folders = self.host.folders();
        [&folders.state, &folders.cache].into_iter().any(|own| path.starts_with(own))
    }
}

impl Watch for WatchedRun {
    fn before(&self, loss: &Loss) -> Fate {
        let paths = [&loss.path, &loss.source];
        if paths.iter().any(|path| self.is_own(path)) {
            // Hooks below write there. A program that changes its own text meanwhile may still get through.
            return if self.is_reflex(loss.process) { Fate::Continue } else { Fate::Fail(NOT_PERMITTED) };
        }
        loop {
            if let Some(part) = &*self.part.read().unwrap_or_else(PoisonError::into_inner)
                && self.fits(part)
            {
                return part.keeper.before(loss);
            }
            if self.turn().is_err() {
                self.unwatched.fetch_add(1, Ordering::Relaxed);
                return match self.when_full {
                    WhenFull::Continue => Fate::Continue,
                    WhenFull::Refuse => Fate::Fail(NO_SPACE),
                };
            }
        }
    }

    fn report_unresolved(&self, process: u32, why: &io::Error) {
        match &*self.part.read().unwrap_or_else(PoisonError::into_inner) {
            Some(part) => part.keeper.report_unresolved(process, why),
            None => drop(self.unwatched.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// `EPERM`, as in `asm-generic/errno-base.h`.
const NOT_PERMITTED: i32 = 1;

/// `ENOSPC`, as in `asm-generic/errno-base.h`.
const NO_SPACE: i32 = 28;
