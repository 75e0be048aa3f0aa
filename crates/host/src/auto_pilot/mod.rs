//! Asks a model whether a call may run: one question and one answer of a closed form, for every protocol.

mod provider;
mod question;
mod reply;

pub use question::{Question, TooLong, VERSION};
pub use reply::{Choice, Failure, Reply, SURE};

use crate::config::JudgeConfig;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(400);

/// Minimum remaining time for a further attempt.
const LEAST: Duration = Duration::from_millis(500);

/// Asks the model of the configuration. An attempt that failed for a temporary reason is repeated while time remains.
/// `scratch` is a folder for unnamed files.
pub fn ask(config: &JudgeConfig, question: &Question, scratch: &Path) -> Reply {
    let begun = Instant::now();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let left = config.timeout.saturating_sub(begun.elapsed());
        let response = provider::ask(config, question, left, scratch);
        let again = matches!(&response, Err(failure) if failure.passes)
            && config.timeout.saturating_sub(begun.elapsed()) > PAUSE + LEAST;
        if !again {
            return Reply::new(config, response, begun.elapsed(), attempts);
        }
        std::thread::sleep(PAUSE);
    }
}
