//! Prints the reason why a command did not do what it was asked to.

use super::output::complain;
use super::visible::visible;
use crate::error::Error;

impl Error {
    /// Prints it to standard error, and returns the exit status.
    pub(crate) fn report(&self) -> u8 {
        complain(&visible(&self.to_string()));
        self.exit_code()
    }
}
