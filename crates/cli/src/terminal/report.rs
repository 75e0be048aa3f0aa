//! Prints the reason why a command did not do what it was asked to.

use super::output::complain;
use super::visible::visible;
use crate::error::{Error, RulesError};

impl Error {
    /// Prints it to standard error, and returns the exit status.
    pub(crate) fn report(&self) -> u8 {
        if let Error::Rules(RulesError::Candidate(problems)) = self {
            problems.iter().for_each(|problem| complain(&visible(problem)));
        } else {
            complain(&visible(&self.to_string()));
        }
        self.exit_code()
    }
}
