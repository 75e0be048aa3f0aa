//! The seccomp filter and its listener. `seccompiler` lacks the action that notifies, so the filter is assembled here.
//! Numbers are from `linux/seccomp.h` and `linux/audit.h`.
#![expect(unsafe_code, reason = "seccomp has no safe interface")]

use super::turn::Turn;
use crate::loss::Watch;
use crate::scope::Scope;
use crate::start::Judge;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// The architecture whose system call numbers the filter knows, as in `linux/audit.h`.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// From this number on, system calls of x86_64 are those of x32, which would bypass the comparison of numbers.
const FIRST_OF_X32: u32 = 0x4000_0000;

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`, which `libc` lacks.
const SYNC_WAKE_UP: u64 = 1;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;

const ARGUMENTS: u32 = 16;

/// `fchmodat2`, `asm-generic/unistd.h`; `libc` has it for some targets only.
pub(super) const FCHMODAT2: libc::c_long = 452;

/// System calls that start a program.
const STARTS: [libc::c_long; 2] = [libc::SYS_execve, libc::SYS_execveat];

/// System calls by which a file is lost or gets another name, mode or owner. The flags of `openat2` are in memory, which
/// a filter cannot read.
const CHANGES: [libc::c_long; 8] = [
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_truncate,
    libc::SYS_openat2,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
];

/// Their older forms, which only this architecture has.
#[cfg(target_arch = "x86_64")]
const OLD_CHANGES: [libc::c_long; 10] = [
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_creat,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(target_arch = "aarch64")]
const OLD_CHANGES: [libc::c_long; 0] = [];

/// System calls that open a file, with the index of their flags.
#[cfg(target_arch = "x86_64")]
const OPENINGS: [Opening; 2] =
    [Opening { number: libc::SYS_openat, flags: 2 }, Opening { number: libc::SYS_open, flags: 1 }];
#[cfg(target_arch = "aarch64")]
const OPENINGS: [Opening; 1] = [Opening { number: libc::SYS_openat, flags: 2 }];

/// Flags of openings that may write or truncate.
const WRITES: libc::c_int = libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC;

/// Flags of openings that lose nothing: a handle, and a file without a name.
const LOSES_NOTHING: libc::c_int = libc::O_PATH | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// Flags that together fail if the file exists.
const EXCLUSIVE: libc::c_int = libc::O_CREAT | libc::O_EXCL;

/// System calls that go around it: requests in a ring are not filtered.
const RINGS: [libc::c_long; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Memory of another process could be changed after the arguments of a start were read. Of a change, this only keeps
/// another file.
const FOREIGN_MEMORY: [libc::c_long; 1] = [libc::SYS_process_vm_writev];

struct Opening {
    number: libc::c_long,
    flags: u32,
}

/// Whether openings with these flags are handed over, as the filter decides.
pub(super) fn may_lose(flags: libc::c_int) -> bool {
    flags & WRITES != 0 && flags & LOSES_NOTHING == 0 && flags & EXCLUSIVE != EXCLUSIVE
}

impl Scope {
    /// The judge of starts.
    pub(super) fn judge(&self) -> Option<&Arc<dyn Judge>> {
        match self {
            Scope::Starts(judge) | Scope::Both { judge, .. } => Some(judge),
            Scope::Files(_) => None,
        }
    }

    /// The watch that answers changes.
    pub(super) fn watch(&self) -> Option<&Arc<dyn Watch>> {
        match self {
            Scope::Files(watch) | Scope::Both { watch, .. } => Some(watch),
            Scope::Starts(_) => None,
        }
    }
}

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Skips `jt` instructions if the comparison holds, `jf` otherwise.
const fn jump(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | code | libc::BPF_K) as u16, jt, jf, k }
}

const fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

const fn answer(action: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, action)
}

fn failure(errno: libc::c_int) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.unsigned_abs()
}

/// Answers these system calls, whatever their arguments.
fn known(numbers: &[libc::c_long], action: u32) -> Vec<libc::sock_filter> {
    let numbers = numbers.iter().filter_map(|number| u32::try_from(*number).ok());
    numbers.flat_map(|number| [jump(libc::BPF_JEQ, number, 0, 1), answer(action)]).collect()
}

/// Hands over the openings for which [`may_lose`] holds, and allows the others.
fn opening(opening: &Opening) -> [libc::sock_filter; 10] {
    let allow = answer(libc::SECCOMP_RET_ALLOW);
    // Both architectures are little-endian, so the low half of an argument comes first.
    let flags = load(ARGUMENTS + 8 * opening.flags);
    [
        jump(libc::BPF_JEQ, opening.number as u32, 0, 9),
        flags,
        jump(libc::BPF_JSET, WRITES.unsigned_abs(), 1, 0),
        allow,
        jump(libc::BPF_JSET, LOSES_NOTHING.unsigned_abs(), 0, 1),
        allow,
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, EXCLUSIVE.unsigned_abs()),
        jump(libc::BPF_JEQ, EXCLUSIVE.unsigned_abs(), 0, 1),
        allow,
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// Hands over setting the times of a path. Without a path it is a descriptor, as after writing a file.
fn times() -> [libc::sock_filter; 7] {
    let path = ARGUMENTS + 8;
    [
        jump(libc::BPF_JEQ, libc::SYS_utimensat as u32, 0, 6),
        load(path),
        jump(libc::BPF_JEQ, 0, 0, 3),
        load(path + 4),
        jump(libc::BPF_JEQ, 0, 0, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// The filter for a scope, ready for [`install`].
pub(super) fn compile(scope: &Scope) -> Vec<libc::sock_filter> {
    let foreign = answer(failure(libc::ENOSYS));
    let mut program = vec![load(ARCH), jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0), foreign, load(NUMBER)];
    program.extend([jump(libc::BPF_JGE, FIRST_OF_X32, 0, 1), foreign]);
    if scope.watch().is_some() {
        program.extend(OPENINGS.iter().flat_map(opening));
        program.extend(known(&CHANGES, libc::SECCOMP_RET_USER_NOTIF));
        program.extend(known(&OLD_CHANGES, libc::SECCOMP_RET_USER_NOTIF));
        program.extend(times());
    }
    if scope.judge().is_some() {
        program.extend(known(&STARTS, libc::SECCOMP_RET_USER_NOTIF));
        program.extend(known(&FOREIGN_MEMORY, failure(libc::EPERM)));
    }
    program.extend(known(&RINGS, failure(libc::EPERM)));
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

/// Installs the filter in this thread and what it starts. Returns the descriptor of its listener.
///
/// Allocates nothing if `program` was made before, so it may run between `fork` and `exec`.
pub(super) fn install(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let set = |flags: libc::c_ulong| {
        // SAFETY: the program lives through the call, which only reads it.
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) }
    };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let privileged = set(flags);
    let descriptor = if privileged >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EACCES) {
        privileged
    } else {
        // An ordinary user may install a filter only in processes that can gain no rights.
        // SAFETY: takes numbers only.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        set(flags)
    };
    let descriptor = libc::c_int::try_from(descriptor).map_err(|_| io::ErrorKind::InvalidData)?;
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened this descriptor for us; it is closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// A system call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notification {
    pub(super) id: u64,
    /// The calling thread.
    pub(super) thread: libc::pid_t,
    pub(super) number: libc::c_long,
    pub(super) arguments: [u64; 6],
}

/// Receives the notified system calls.
#[derive(Debug)]
pub(super) struct Listener {
    descriptor: OwnedFd,
    turn: Arc<Turn>,
}

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Listener {
        // The caller and its supervisor take turns, so one processor serves both. Kernels before 6.6 refuse.
        // SAFETY: takes numbers only.
        unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
        Listener { descriptor, turn: Arc::default() }
    }

    /// Waits for the next system call. `None` once no process has the filter any more. The turn stays with this thread.
    pub(super) fn receive(&self) -> Option<Notification> {
        self.turn.take();
        let received = self.receive_alone();
        self.turn.begin_call();
        received
    }

    /// The turn to receive.
    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    fn receive_alone(&self) -> Option<Notification> {
        loop {
            let mut poll = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure, which lives through the call.
            let ready = unsafe { libc::poll(&raw mut poll, 1, -1) };
            if ready > 0 && poll.revents & libc::POLLIN == 0 {
                return None;
            }
            if ready <= 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
            // SAFETY: all zeroes are a value of this structure, and the kernel demands them.
            let mut found: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the kernel writes one such structure, which lives through the call.
            let received =
                unsafe { libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut found) };
            if received == 0 {
                return Some(Notification {
                    id: found.id,
                    thread: libc::pid_t::try_from(found.pid).unwrap_or(0),
                    number: libc::c_long::from(found.data.nr),
                    arguments: found.data.args,
                });
            }
            // Another thread took it, or its process died; everything else ends the supervision.
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR | libc::ENOENT | libc::EAGAIN) => {}
                _ => return None,
            }
        }
    }

    /// Whether the caller still waits. If not, its id may belong to another process by now.
    pub(super) fn is_valid(&self, id: u64) -> bool {
        // SAFETY: the kernel reads one number, which lives through the call.
        unsafe { libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
    }

    /// Lets the system call go on.
    pub(super) fn go_on(&self, id: u64) {
        self.send(id, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Makes the system call fail with this error number.
    pub(super) fn fail(&self, id: u64, errno: libc::c_int) {
        self.send(id, errno.wrapping_neg(), 0);
    }

    fn send(&self, id: u64, error: libc::c_int, flags: u32) {
        let response = libc::seccomp_notif_resp { id, val: 0, error, flags };
        // A caller that died meanwhile needs no answer.
        // SAFETY: the kernel reads one such structure, which lives through the call.
        unsafe { libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    }
}
