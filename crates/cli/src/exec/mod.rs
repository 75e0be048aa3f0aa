//! Replaces this process by another program.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::replace;
#[cfg(windows)]
pub(crate) use windows::replace;
