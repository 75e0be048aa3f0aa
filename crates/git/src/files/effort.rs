//! The cost of pattern matching: with several `**`, time grows with a power of the path's depth.

use crate::files::read::Budget;
use crate::model::fact::{Fact, Unknown};

const MAXIMUM_DOUBLE_STARS: usize = 8;
const BYTES_PER_STEP: u64 = 32;

/// Number of steps for one match against all loaded patterns, by their number of `**`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Effort([u64; MAXIMUM_DOUBLE_STARS]);

impl Effort {
    /// Adds the patterns in a file of ignore rules or attributes.
    pub(crate) fn add(&mut self, content: &[u8]) -> Fact<()> {
        for line in content.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#")) {
            let steps = self.0.get_mut(double_stars(line)).ok_or(Unknown("a pattern is too complex"))?;
            *steps = steps.saturating_add(1 + line.len() as u64 / BYTES_PER_STEP);
        }
        Ok(())
    }

    /// Charges one match of `path` against all patterns.
    pub(crate) fn spend(&self, path: &[u8], budget: &Budget) -> Fact<()> {
        let depth = 1 + path.iter().filter(|byte| **byte == b'/').count() as u64;
        let of_one_kind = |(stars, steps): (u32, &u64)| steps.saturating_mul(depth.saturating_pow(stars));
        let steps = (0..).zip(&self.0).map(of_one_kind).fold(0, u64::saturating_add);
        budget.match_patterns(steps)
    }
}

/// Number of `**` in a pattern.
pub(crate) fn double_stars(pattern: &[u8]) -> usize {
    pattern.windows(2).filter(|pair| *pair == b"**").count()
}
