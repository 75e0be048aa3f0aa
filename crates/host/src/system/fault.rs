//! The side that has to change something before a failed request can succeed.

/// The side at fault. Exit statuses and those of HTTP are chosen by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request is not valid, whatever the state: an unknown word, a missing option.
    Request,
    /// The request is valid and cannot be granted: no such call, a wrong passphrase, a declined question.
    State,
    /// This machine failed: a full disk, a missing permission, a damaged file.
    Machine,
}
