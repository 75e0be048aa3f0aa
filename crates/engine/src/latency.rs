//! How long the parts of a judgement took, by the clock of the world: the engine has none of its own.

use crate::world::World;

/// A reading of a world's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Nanoseconds since any fixed moment; never less than before.
    pub now: u64,
    /// How many of them went into the world's own answers.
    pub answering: u64,
}

/// How many nanoseconds each part of the work took. Every moment belongs to one part: what the machine was asked is
/// `facts` and of no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency(Vec<(&'static str, u64)>);

impl Latency {
    /// The parts in the order in which they began.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().copied()
    }

    /// Counts nanoseconds to a part.
    pub fn add(&mut self, stage: &'static str, nanos: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, sum)) => *sum += nanos,
            None => self.0.push((stage, nanos)),
        }
    }
}

/// Measures part after part.
pub(crate) struct Stopwatch<'w> {
    world: &'w dyn World,
    last: Tick,
    latency: Latency,
}

impl<'w> Stopwatch<'w> {
    pub(crate) fn new(world: &'w dyn World) -> Stopwatch<'w> {
        Stopwatch { world, last: world.clock(), latency: Latency::default() }
    }

    /// The same if it was long enough to be told: of what may do nothing nothing is said then.
    pub(crate) fn stop_if_long(&mut self, stage: &'static str) {
        const LONG: u64 = 20_000;
        if self.world.clock().now.saturating_sub(self.last.now) >= LONG {
            self.stop(stage);
        }
    }

    /// What went by since the last stop was this part's.
    pub(crate) fn stop(&mut self, stage: &'static str) {
        let tick = self.world.clock();
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
