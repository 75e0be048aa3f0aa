//! Judges every program that a process tree starts, before the program's first instruction. Linux, without root.
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
//! Only starts of programs are seen: not what a program that runs deletes itself, nor code that it loads.

mod os;
mod start;

pub use os::{Supervision, is_below_supervisor, occupied, parent, probe, program, since};
pub use start::{Answer, Judge, Stage, Start};
