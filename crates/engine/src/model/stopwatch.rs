//! Measures the stages of a judgement by the clock of the machine.

use crate::model::latency::{Latency, Tick};
use crate::model::world::Environment;

/// A timer for consecutive stages.
pub(crate) struct Stopwatch<'w> {
    machine: &'w dyn Environment,
    last: Tick,
    latency: Latency,
}

impl<'w> Stopwatch<'w> {
    pub(crate) fn new(machine: &'w dyn Environment) -> Stopwatch<'w> {
        Stopwatch { machine, last: machine.clock(), latency: Latency::default() }
    }

    /// Stops like [`Stopwatch::stop`] if the stage took at least 20 µs, so that stages which often have no work are not
    /// reported.
    pub(crate) fn stop_if_long(&mut self, stage: &'static str) {
        const LONG: u64 = 20_000;
        if self.machine.clock().now.saturating_sub(self.last.now) >= LONG {
            self.stop(stage);
        }
    }

    /// Adds the time since the last stop to this stage, except the time of the world's answers.
    pub(crate) fn stop(&mut self, stage: &'static str) {
        let tick = self.machine.clock();
        let asked = tick.answering.saturating_sub(self.last.answering);
        self.latency.add(stage, tick.now.saturating_sub(self.last.now).saturating_sub(asked));
        if asked > 0 {
            self.latency.add("facts", asked);
        }
        self.last = tick;
    }

    pub(crate) fn latency(self) -> Latency {
        self.latency
    }
}
