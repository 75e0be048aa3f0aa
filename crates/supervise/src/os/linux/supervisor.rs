//! The supervisor: starts the tree, answers each start in it, and passes on the changes to files.
#![expect(unsafe_code, reason = "the filter is installed between fork and exec")]

use super::filter::{self, Listener, Notification};
use super::image::{self, Expected, Found, Image};
use super::memory::Memory;
use super::tracer::{self, Stop};
use super::watcher::Watcher;
use super::{notice, socket};
use crate::scope::Scope;
use crate::start::{Answer, Judge, Stage, Start};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Number of starts that are judged at once. Others wait in the kernel.
const WORKERS: usize = 4;

/// Maximum number of workers, with those that wait for a person.
const MAX_WORKERS: usize = 256;

/// Interval at which calls are looked for that wait too long.
const LOOKED_AFTER_EACH: Duration = Duration::from_secs(2);

/// Time for which a worker may keep the turn while it answers one call.
const MAX_TURN: Duration = Duration::from_secs(1);

/// Number of refusals that are remembered: a shell tries every folder of its search path again.
const REMEMBERED: usize = 64;

/// Interval at which orphaned processes of the tree are reaped, in milliseconds.
const REAPED_EACH: libc::c_int = 5000;

/// A supervised process tree.
#[derive(Debug)]
pub struct Supervision {
    /// Becomes readable when the first process ends.
    end: OwnedFd,
    /// Disconnected when the whole tree has ended.
    tree: Mutex<Receiver<()>>,
}

impl Supervision {
    /// Starts a program, and hands over what the scope covers of it and its descendants. The program itself is the first
    /// start.
    ///
    /// # Errors
    /// The program cannot be started, or the filter cannot be installed.
    pub fn start(command: &mut Command, scope: Scope) -> io::Result<(Supervision, Child)> {
        Supervision::start_as(command, scope, true)
    }

    /// The same. Without following, a start runs as soon as it is allowed, whatever became of its arguments.
    pub(super) fn start_as(command: &mut Command, scope: Scope, follows: bool) -> io::Result<(Supervision, Child)> {
        let (ours, theirs) = UnixStream::pair()?;
        let (alive, tree) = mpsc::channel();
        let (socket, filter) = (theirs.as_raw_fd(), filter::compile(&scope));
        let install = move || {
            set(libc::PR_SET_DUMPABLE, 1)?;
            let listener = filter::install(&filter)?;
            socket::send(socket, listener.as_raw_fd())
        };
        // SAFETY: the closure allocates nothing and makes only system calls that are allowed after a fork.
        unsafe { command.pre_exec(install) };
        // Processes of the same user must not read or change this one, nor take its descriptors.
        set(libc::PR_SET_DUMPABLE, 0)?;
        // Orphans stay below this process, where they may be followed and their memory may be read.
        set(libc::PR_SET_CHILD_SUBREAPER, 1)?;
        // The child's own start is notified, so the workers are there first.
        thread::Builder::new().name("starts".into()).spawn(move || {
            if let Ok(descriptor) = socket::receive(&ours) {
                let shared = Arc::new(Shared::new(Listener::new(descriptor), scope, follows, alive));
                (0..WORKERS).for_each(|_| work(&shared));
                let weak = Arc::downgrade(&shared);
                drop(shared);
                look_after(&weak);
            }
        })?;
        let child = command.spawn()?;
        drop(theirs);
        let end = notice::process(child.id()).ok_or_else(io::Error::last_os_error)?;
        Ok((Supervision { end, tree: Mutex::new(tree) }, child))
    }

    /// Waits for the first process of the tree, which is `child`, to end.
    ///
    /// `Child::wait` would take the stops of a program that is being followed.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        loop {
            let mut poll = libc::pollfd { fd: self.end.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure, which lives through the call.
            if unsafe { libc::poll(&raw mut poll, 1, REAPED_EACH) } > 0 {
                return child.wait();
            }
            reap(child.id());
        }
    }

    /// Waits for the whole tree to end, with what its first process has left in the background; returns whether it has
    /// ended within the time. Without its supervisor a process of the tree cannot start programs, or change files.
    pub fn tree_ends_within(&self, time: Duration) -> bool {
        let (tree, begun) = (self.tree.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        loop {
            // No process of the tree is a child that someone waits for any more.
            reap(0);
            let step = time.saturating_sub(begun.elapsed()).min(LOOKED_AFTER_EACH);
            // The other end never sends: it is dropped with the last process.
            match tree.recv_timeout(step) {
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < time => {}
                ended => return ended != Err(RecvTimeoutError::Timeout),
            }
        }
    }
}

fn set(option: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    // SAFETY: these options take numbers only.
    if unsafe { libc::prctl(option, value, 0, 0, 0) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reaps ended processes of the tree that have lost their parent, but not its first process.
fn reap(first: u32) {
    loop {
        // SAFETY: all zeroes are a value of this structure, and the kernel writes one.
        let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the structure lives through the call.
        let status = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut found, options) };
        // SAFETY: `waitid` has filled in the fields of a child, or left zeroes.
        let process = if status == 0 { unsafe { found.si_pid() } } else { 0 };
        // A process that is being followed shows up here as well; its stop is left alone.
        let has_ended = matches!(found.si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED);
        if process <= 0 || !has_ended || u32::try_from(process) == Ok(first) || !is_filtered(process) {
            return;
        }
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG) };
    }
}

/// Whether a process has a filter, as all of a tree have, and other children of this process have not.
fn is_filtered(process: libc::pid_t) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.split_once(':').is_some_and(|(key, mode)| key == "Seccomp" && mode.trim() == "2"))
}

/// Lets calls go on that wait too long for the watch, until the tree has ended.
fn look_after(shared: &Weak<Shared>) {
    loop {
        thread::sleep(LOOKED_AFTER_EACH);
        let Some(shared) = shared.upgrade() else { return };
        let Some(watcher) = &shared.watcher else { return };
        shared.listener.turn().pass_if_busy_for(MAX_TURN);
        for _ in 0..watcher.release(&shared.listener) {
            // The worker that is late ends once it comes back.
            if shared.workers.load(Ordering::Relaxed) < MAX_WORKERS {
                work(&shared);
            }
        }
    }
}

/// State shared by all workers.
struct Shared {
    listener: Listener,
    judge: Option<Arc<dyn Judge>>,
    watcher: Option<Watcher>,
    follows: bool,
    workers: AtomicUsize,
    refused: Mutex<VecDeque<Start>>,
    /// Dropped with the last worker.
    _alive: Sender<()>,
}

thread_local! {
    /// The state shared by workers; `None` in other threads.
    static OF_WORKER: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
    /// Whether this worker ends after the current start, because another has taken its place.
    static IS_REPLACED: Cell<bool> = const { Cell::new(false) };
}

/// Announces that the judgement of the current start may take minutes, because a person is asked. Another worker takes
/// over the place of this one. Has no effect outside of [`Judge::judge`].
pub fn occupied() {
    OF_WORKER.with_borrow(|shared| {
        if let Some(shared) = shared
            && !IS_REPLACED.get()
            && shared.workers.load(Ordering::Relaxed) < MAX_WORKERS
        {
            IS_REPLACED.set(true);
            work(shared);
        }
    });
}

/// Starts a worker. Without one the starts wait, so a failure is closed.
fn work(shared: &Arc<Shared>) {
    shared.workers.fetch_add(1, Ordering::Relaxed);
    let of_worker = Arc::clone(shared);
    let worker = move || {
        OF_WORKER.set(Some(Arc::clone(&of_worker)));
        while !IS_REPLACED.get()
            && let Some(notification) = of_worker.listener.receive()
        {
            of_worker.serve(&notification);
        }
        of_worker.listener.turn().pass();
        of_worker.workers.fetch_sub(1, Ordering::Relaxed);
    };
    if thread::Builder::new().name("start".into()).spawn(worker).is_err() {
        shared.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The arguments of `execve` or `execveat`.
struct Call {
    /// Folder descriptor; `None` is the working directory.
    descriptor: Option<i32>,
    path: OsString,
    argv: Vec<OsString>,
    environment: Vec<OsString>,
}

impl Call {
    fn read(notification: &Notification) -> io::Result<Call> {
        let [first, second, third, fourth, ..] = notification.arguments;
        let (descriptor, path, argv, environment) = match notification.number {
            libc::SYS_execveat => {
                // The kernel reads the low half of the register.
                let descriptor = first as u32 as i32;
                (Some(descriptor).filter(|descriptor| *descriptor != libc::AT_FDCWD), second, third, fourth)
            }
            _ => (None, first, second, third),
        };
        let mut memory = Memory::of(notification.thread);
        Ok(Call {
            descriptor,
            path: memory.string(path)?,
            argv: memory.strings(argv)?,
            environment: memory.strings(environment)?,
        })
    }

    /// The arguments that the kernel gives to the last interpreter of a script; otherwise empty.
    fn interpreted(&self, interpreters: Vec<OsString>) -> Vec<OsString> {
        let mut words = interpreters;
        if !words.is_empty() {
            words.push(self.path.clone());
            words.extend(self.argv.iter().skip(1).cloned());
        }
        words
    }
}

impl Shared {
    fn new(listener: Listener, scope: Scope, follows: bool, alive: Sender<()>) -> Shared {
        let (judge, watcher) = (scope.judge().cloned(), scope.watch().cloned().map(Watcher::new));
        let (workers, refused) = (AtomicUsize::new(0), Mutex::default());
        Shared { listener, judge, watcher, follows, workers, refused, _alive: alive }
    }

    fn serve(&self, call: &Notification) {
        match (&self.judge, &self.watcher) {
            (Some(judge), _) if matches!(call.number, libc::SYS_execve | libc::SYS_execveat) => {
                self.listener.turn().pass();
                self.answer(call, judge.as_ref());
                judge.done();
            }
            (_, Some(watcher)) => {
                if watcher.answer(&self.listener, call) {
                    IS_REPLACED.set(true);
                }
            }
            // The filter hands over nothing else.
            (_, None) => self.listener.go_on(call.id),
        }
    }

    fn answer(&self, notification: &Notification, judge: &dyn Judge) {
        let id = notification.id;
        let Some(process) = image::process_of(notification.thread) else { return };
        let call = match Call::read(notification) {
            Ok(call) => call,
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => return self.listener.fail(id, libc::EFAULT),
            Err(error) => return self.refuse(id, process, &format!("the arguments cannot be read: {error}")),
        };
        let (file, path, interpreters, program) = match image::find(process, call.descriptor, &call.path) {
            Found::File { identity, path, interpreters, program } => (Some(identity), path, interpreters, program),
            Found::Missing => return self.listener.fail(id, libc::ENOENT),
            Found::Unknown => (None, Default::default(), Vec::new(), None),
        };
        let interpreted = call.interpreted(interpreters);
        let (parent, since) = image::origin(process);
        let start = Start {
            process,
            since,
            parent,
            path: if call.descriptor.is_none() { PathBuf::from(&call.path) } else { path.clone() },
            file: path,
            interpreted,
            cwd: image::cwd(process),
            stage: Stage::Requested,
            argv: call.argv,
            environment: call.environment,
        };
        // The kernel puts an empty name in for an empty list.
        let unnamed = [OsString::new()];
        let (file, argv) = match (start.interpreted.as_slice(), start.argv.as_slice()) {
            ([], []) => (file, unnamed.as_slice()),
            ([], given) => (file, given),
            (interpreted, _) => (program, interpreted),
        };
        let expected = Expected { file, argv, environment: &start.environment, cwd: &start.cwd };
        // If the caller is gone, another process may have its id, and the arguments are another's.
        if !self.listener.is_valid(id) {
            return;
        }
        if self.was_refused(&start) {
            return self.listener.fail(id, libc::EPERM);
        }
        let followed = Followed { notification, process, expected, judge };
        match judge.judge(&start) {
            Answer::Run if !self.follows => self.listener.go_on(id),
            Answer::Run => self.follow(followed, Ok(())),
            Answer::End(why) => self.follow(followed, Err(Ended::Judged(why))),
            Answer::Refuse(why) => {
                self.remember_refused(start);
                self.refuse(id, process, &why);
            }
        }
    }

    /// Lets a start happen up to the first instruction. Ends the process there if the start was refused, or if another
    /// image was loaded and is refused.
    fn follow(&self, followed: Followed<'_>, judged: Result<(), Ended>) {
        let Followed { notification, process, .. } = followed;
        if let Err(error) = tracer::seize(notification.thread) {
            if error.raw_os_error() != Some(libc::ESRCH) {
                let why = "this start cannot be followed, for example because a debugger follows it";
                self.refuse(notification.id, process, &format!("{why}: {error}"));
            }
            return;
        }
        self.listener.go_on(notification.id);
        match tracer::stopped() {
            Stop::Loaded(thread) => match judged.and_then(|()| followed.compare()) {
                Ok(()) => tracer::detach(thread, 0),
                Err(why) => {
                    notice::write(process, &why.to_string());
                    tracer::kill(thread);
                }
            },
            Stop::Failed(thread, signal) => tracer::detach(thread, signal),
            Stop::Gone => {}
        }
    }

    fn refuse(&self, id: u64, process: u32, why: &str) {
        notice::write(process, why);
        self.listener.fail(id, libc::EPERM);
    }

    /// Whether the same process was refused the same program just before: some shells go on with the next folder of
    /// the search path, which may lead to the same file.
    fn was_refused(&self, start: &Start) -> bool {
        let elsewhere = |refused: &Start| Start { path: start.path.clone(), ..refused.clone() } == *start;
        let is_same = |refused: &Start| refused.process == start.process && elsewhere(refused);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_same)
    }

    fn remember_refused(&self, start: Start) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REMEMBERED {
            refused.pop_front();
        }
        refused.push_back(start);
    }
}

/// The reason why a loaded program is killed before its first instruction.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("the program cannot be looked at: {0}")]
    Unseen(io::Error),
    /// In the words of the judge.
    #[error("{0}")]
    Judged(String),
}

/// A start that is followed to its first instruction.
#[derive(Clone, Copy)]
struct Followed<'s> {
    notification: &'s Notification,
    process: u32,
    expected: Expected<'s>,
    judge: &'s dyn Judge,
}

impl Followed<'_> {
    /// Judges what was loaded if it is not what was judged before.
    fn compare(&self) -> Result<(), Ended> {
        let loaded = Image::loaded(self.process).map_err(Ended::Unseen)?;
        if loaded.is(self.expected) {
            return Ok(());
        }
        match self.judge.judge(&loaded.as_start(self.process)) {
            Answer::Run => Ok(()),
            Answer::Refuse(why) | Answer::End(why) => Err(Ended::Judged(why)),
        }
    }
}
