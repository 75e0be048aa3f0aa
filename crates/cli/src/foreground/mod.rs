//! A program that has the terminal to itself until it ends, as a shell runs one.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::through;
#[cfg(windows)]
pub(crate) use windows::through;
