//! Exit statuses that scripts rely on.

/// Allowed, or done.
pub(crate) const OK: u8 = 0;
/// A check found something, or the request is not possible as things are: no such call, a declined question.
pub(crate) const FOUND: u8 = 1;
/// Blocked.
pub(crate) const BLOCK: u8 = 2;
/// A person has to decide.
pub(crate) const ASK: u8 = 3;
/// The command line is wrong.
pub(crate) const USAGE: u8 = 64;
/// The machine failed: a full disk, a missing permission, a damaged file.
pub(crate) const INTERNAL: u8 = 70;
