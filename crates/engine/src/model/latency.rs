//! Durations of the parts of a judgement, by the clock of the world: the engine has no clock of its own.

/// A reading of a world's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Nanoseconds since an arbitrary fixed moment; never decreases.
    pub now: u64,
    /// Nanoseconds of them that the world spent on its own answers.
    pub answering: u64,
}

/// Nanoseconds per stage of the work. Every moment belongs to exactly one stage: queries to the machine count as
/// `facts` and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency(Vec<(&'static str, u64)>);

impl Latency {
    /// Returns the stages in the order in which they began.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().copied()
    }

    /// Adds nanoseconds to a stage.
    pub fn add(&mut self, stage: &'static str, nanos: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, sum)) => *sum += nanos,
            None => self.0.push((stage, nanos)),
        }
    }
}
