//! Resource limits of one module for one call.

use std::time::Duration;

/// Resource limits of one module for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of times that the interpreter's counter may run out: ten thousand steps each, regular expressions
    /// included.
    pub ticks: u64,
    /// Bytes of memory, in addition to the interpreter's own.
    pub memory: usize,
    /// Bytes of the interpreter's stack.
    pub stack: usize,
    /// Maximum size of a decision in bytes.
    pub output: usize,
    /// Wall-clock limit for work that no counter covers.
    pub watchdog: Duration,
    /// Whether to leak interpreters because the process is about to exit: freeing one takes as long as running it. A
    /// small amount of memory per interpreter is then lost until the exit.
    pub leave: bool,
}

/// Bytes of text above which a module gets more memory and time, as all of it has to be parsed first. Measured with
/// bundles of 5 MiB, which take up to 18 bytes of memory per byte of text.
const PLAIN: usize = 1 << 20;

impl Limits {
    /// Returns the limits for modules of which the largest has `bytes` bytes of text.
    #[must_use]
    pub(crate) fn for_text(self, bytes: usize) -> Limits {
        let above = bytes.saturating_sub(PLAIN);
        let millis = u64::try_from(above / (1 << 20)).unwrap_or(0) * 150;
        let watchdog = if above == 0 { self.watchdog } else { self.watchdog + Duration::from_millis(millis + 150) };
        Limits { memory: self.memory.saturating_add(above.saturating_mul(24)), watchdog, ..self }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            ticks: 1000,
            memory: 32 << 20,
            stack: 256 << 10,
            output: 64 << 10,
            watchdog: Duration::from_millis(600),
            leave: false,
        }
    }
}
