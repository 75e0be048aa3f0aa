//! Runs a program in the foreground of the terminal until it ends, like a shell.

mod starter;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) use starter::{Wait, plainly};
#[cfg(unix)]
pub(crate) use unix::{let_signals_end_this, through};
#[cfg(windows)]
pub(crate) use windows::{let_signals_end_this, through};
