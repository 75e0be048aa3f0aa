//! Runs a program in the foreground of the terminal until it ends, like a shell.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::through;
#[cfg(windows)]
pub(crate) use windows::through;
