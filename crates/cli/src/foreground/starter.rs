//! Ways of starting the program.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// Waits for a process to end.
pub(crate) type Wait = Box<dyn FnOnce(&mut Child) -> io::Result<ExitStatus>>;

/// Starts a program; returns it with the function that waits for it.
pub(crate) type Starter<'a> = &'a dyn Fn(&mut Command) -> io::Result<(Child, Wait)>;

/// Starts a program as it is.
pub(crate) fn plainly(command: &mut Command) -> io::Result<(Child, Wait)> {
    Ok((command.spawn()?, Box::new(Child::wait)))
}
