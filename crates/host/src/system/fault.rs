//! The side that has to change something before a failed request can succeed.

use std::io::{self, ErrorKind};

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

impl Fault {
    /// The side at fault if a file that a person names cannot be read.
    pub fn of_named_file(error: &io::Error) -> Fault {
        let is_absent =
            [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::IsADirectory].contains(&error.kind());
        match (is_absent, error.kind() == ErrorKind::InvalidData) {
            (true, _) => Fault::Request,
            (false, true) => Fault::State,
            (false, false) => Fault::Machine,
        }
    }
}
