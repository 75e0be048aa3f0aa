//! Operations that differ between operating systems: attributes, times, clones.

mod model;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;

pub(crate) use model::{Kind, Stat};
