//! What one module may take for one call.

use std::time::Duration;

/// What one module may take for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the interpreter's counter may run out: ten thousand steps each, in regular expressions too.
    pub ticks: u64,
    /// Bytes of memory, besides what the interpreter needs itself.
    pub memory: usize,
    /// Bytes of the interpreter's stack.
    pub stack: usize,
    /// Bytes of a decision.
    pub output: usize,
    /// Real time: what no counter sees is cut here.
    pub watchdog: Duration,
    /// Whether interpreters are left as they are, for the process is about to end: taking one apart takes as long as
    /// asking it. A little of each is then lost until the end.
    pub leave: bool,
}

/// A module with more text than this gets more room, as all of it has to be read first: measured with bundles of 5 MiB,
/// which take up to 18 bytes for each of the text.
const PLAIN: usize = 1 << 20;

impl Limits {
    /// What holds for modules of which the largest has so many bytes of text.
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
