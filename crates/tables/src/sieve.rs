//! Finds the positions in a text at which one of many words may begin: a set of three-byte sequences, queried once per
//! byte.
//!
//! The set fits into the processor's cache, and a query costs one multiplication. The set has false positives, about
//! one in thirty queries for the library that ships, but no false negatives. The candidates that begin with a sequence
//! are in one of [`BUCKETS`] lists, which is found without a search.

/// Number of slots of the set.
pub const SLOTS: usize = 1 << 15;

/// Each byte of the set holds four slots in its low bits, on top of this character, so that the set is a valid text of
/// the blob.
const FIRST: u8 = b'@';

/// A set of three-byte sequences, as stored in a blob.
#[derive(Debug, Clone, Copy)]
pub struct Sieve<'a>(&'a [u8]);

impl<'a> Sieve<'a> {
    /// Reads a set from its text, as written by [`encode`]. An empty text is the empty set.
    pub fn new(text: &'a [u8]) -> Sieve<'a> {
        Sieve(text)
    }

    /// Whether the set may contain the low three bytes of `three`, most significant byte first.
    #[inline]
    pub fn holds(self, three: u32) -> bool {
        let slot = slot(three);
        self.0.get(slot >> 2).is_some_and(|four| four >> (slot & 3) & 1 == 1)
    }
}

/// Number of lists that the candidates are divided into.
pub const BUCKETS: usize = 1 << 11;

/// Index of the list for candidates that begin with the low three bytes of `three`.
#[inline]
pub fn bucket(three: u32) -> usize {
    slot(three) >> 4
}

/// The set of all bytes: any byte may follow.
pub const ANY: u32 = (1 << LETTERS) - 1;

/// Number of bits of a number in a blob. Bytes that map to the same bit are not distinguished.
const LETTERS: u32 = 29;

/// The set of one byte, ignoring case.
#[inline]
pub fn only(ch: u8) -> u32 {
    1 << (u32::from(ch | 0x20) % LETTERS)
}

#[inline]
fn slot(three: u32) -> usize {
    (three.wrapping_mul(0x9E37_79B1) >> 17) as usize
}

/// Encodes the set of these sequences as a text.
pub fn encode(sequences: impl IntoIterator<Item = [u8; 3]>) -> String {
    let mut fours = vec![FIRST; SLOTS / 4];
    for [first, second, third] in sequences {
        let slot = slot(u32::from_be_bytes([0, first, second, third]));
        if let Some(four) = fours.get_mut(slot >> 2) {
            *four |= 1 << (slot & 3);
        }
    }
    fours.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{ANY, Sieve, encode, only};

    #[test]
    fn what_was_put_in_is_held_and_little_else() {
        let text = encode([*b"ghp", *b"xox"]);
        let sieve = Sieve::new(text.as_bytes());
        let number = |three: &[u8; 3]| u32::from_be_bytes([0, three[0], three[1], three[2]]);
        assert!(sieve.holds(number(b"ghp")) && sieve.holds(number(b"xox")));
        assert!(!sieve.holds(number(b"abc")) && !Sieve::new(b"").holds(number(b"ghp")));
    }

    #[test]
    fn a_letter_is_in_its_set_in_both_cases() {
        for ch in 0..=255u8 {
            assert_eq!(only(ch), only(ch.to_ascii_lowercase()));
            assert_eq!(only(ch) & ANY, only(ch));
        }
        assert_ne!(only(b'o'), only(b'.'));
    }
}
