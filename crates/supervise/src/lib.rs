//! Judges every program that a process tree starts, before the program's first instruction, and keeps the files that the
//! tree deletes, replaces or opens for writing, before it does. Linux, without root.
//!
//! A seccomp filter in the tree hands each `execve` and `execveat` to this process. The arguments are read and judged
//! while the caller waits. What is read there can still be changed by another thread, so an allowed start is followed:
//! the one calling thread is seized with `ptrace`, runs to the kernel's exec stop, and what the kernel has loaded is
//! compared with what was judged. If it differs, it is judged again before its first instruction. Between two starts no
//! process is traced.
//!
//! The filter also refuses `io_uring`, `process_vm_writev` and the system calls of other architectures, which would go
//! around it. It stays in every process below; once this process has ended, `execve` there fails with `ENOSYS`.
//!
//! With [`Scope::Files`], the same filter hands over the system calls by which the content of a file is lost: it removes
//! a name, renames over it, truncates, or opens for writing (the filter reads the flags; opening for reading and
//! exclusive creation are not handed over). A [`Watch`] answers before the call goes on; [`Keeper`] is one that keeps the
//! victims. Everything that changes a file through a descriptor (`write`, `ftruncate`, `fallocate`,
//! `copy_file_range`, `mmap`, `fchmod`) needs one that was opened for writing, so it is seen by that opening.
//!
//! Not seen: what is written through descriptors that were opened before the filter or come from outside of the tree,
//! times and modes that are set through a descriptor for reading, `open_by_handle_at` (which needs a capability), and
//! what another process does for the tree (a container daemon, `at`, `systemd-run`). Code that a program loads is not
//! judged.
//!
//! If this process ends, calls that wait and all later ones of these kinds fail with `ENOSYS`: no process hangs, and no
//! file is lost that was not kept.

mod error;
mod kept;
mod loss;
mod os;
mod scope;
mod start;

pub use error::ProbeError;
pub use kept::{Before, KeeperOptions, Limits, Missed, Record, Skip, Status, Tally, WhenFull};
pub use loss::{Fate, Loss, Operation, Watch};
pub use os::{Keeper, Supervision, is_below_supervisor, occupied, parent, pass_turn, probe, program, records, since};
pub use scope::Scope;
pub use start::{Answer, Judge, Stage, Start};
