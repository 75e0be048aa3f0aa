//! How long the parts of a judgement took, by the clock of the world: the engine has none of its own.

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
