//! Asks a model whether a call may run: one question, one answer of a closed form, whatever the protocol.

mod provider;
mod question;
mod reply;

pub use question::{Question, TooLong, VERSION};
pub use reply::{Choice, Failure, Reply, SURE};

use crate::config::JudgeConfig;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(400);

/// With less time left, no further attempt begins.
const LEAST: Duration = Duration::from_millis(500);

/// Asks the model of the configuration. An attempt that failed for a passing reason is repeated while there is time.
/// `scratch` is a folder for files without a name.
pub fn ask(config: &JudgeConfig, question: &Question, scratch: &Path) -> Reply {
    let begun = Instant::now();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let left = config.timeout.saturating_sub(begun.elapsed());
        let said = provider::ask(config, question, left, scratch);
        let again = matches!(&said, Err(failure) if failure.passes)
            && config.timeout.saturating_sub(begun.elapsed()) > PAUSE + LEAST;
        if !again {
            return Reply::new(config, said, begun.elapsed(), attempts);
        }
        std::thread::sleep(PAUSE);
    }
}
