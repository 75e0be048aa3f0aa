//! The reasons why a system cannot supervise.

use std::io;

/// This system cannot supervise. Each reason is a part of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A process may not follow the programs below it.
    #[error(
        "this system does not let a process follow the programs below it (`kernel.yama.ptrace_scope` above 1, or the profile of a container)"
    )]
    NotFollowed,
    /// Another filter has a listener.
    #[error("another program supervises the starts here already")]
    Occupied,
    /// The kernel lacks the filter or one of its flags.
    #[error("the kernel is older than 5.19, or built without seccomp")]
    OldKernel,
    /// This process has no permission.
    #[error("this system forbids seccomp filters to this process")]
    Forbidden,
    /// Another reason why the filter cannot be installed.
    #[error("no filter can be installed: {0}")]
    Filter(io::Error),
    /// This is another operating system or architecture.
    #[error("only Linux on x86_64 and aarch64 can hand the start of a program to an ordinary user's process")]
    System,
}
