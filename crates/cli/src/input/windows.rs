//! Windows: the standard library's reads of standard input always block.

use std::io::{self, ErrorKind, StdinLock};

/// Fails: there is nothing to wait for.
pub(super) fn wait(_input: &StdinLock<'_>) -> io::Result<()> {
    Err(ErrorKind::WouldBlock.into())
}
