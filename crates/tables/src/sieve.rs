//! Where in a text one of many words may begin: a set of three-byte sequences that is asked once for each byte.
//!
//! The set is small enough to stay in the processor's cache, and asking costs a multiplication. A sequence that is not
//! in the set may be said to be in it, about once in thirty times for the library that ships; the other way round never.
//! What begins with a sequence stands in one of a number of lists, which is found without a search.

/// How many sequences it can tell from each other.
pub const SLOTS: usize = 1 << 15;

/// Four slots stand in each byte, above this letter: the set is a text of the blob.
const FIRST: u8 = b'@';

/// A set of three-byte sequences, as it stands in a blob.
#[derive(Debug, Clone, Copy)]
pub struct Sieve<'a>(&'a [u8]);

impl<'a> Sieve<'a> {
    /// The set of this text; of any other text nothing is held.
    pub fn new(text: &'a [u8]) -> Sieve<'a> {
        Sieve(text)
    }

    /// Whether the last three bytes of a number, the first of them the highest, may be in the set.
    #[inline]
    pub fn holds(self, three: u32) -> bool {
        let slot = slot(three);
        self.0.get(slot >> 2).is_some_and(|four| four >> (slot & 3) & 1 == 1)
    }
}

/// How many lists what begins with the sequences is divided into.
pub const BUCKETS: usize = 1 << 11;

/// In which list that stands which begins with the last three bytes of a number.
#[inline]
pub fn bucket(three: u32) -> usize {
    slot(three) >> 4
}

/// The set of all letters: what may follow where nothing more is known.
pub const ANY: u32 = (1 << LETTERS) - 1;

/// A number in a blob has so many bits: letters that have the same are not told apart.
const LETTERS: u32 = 29;

/// The set of one letter, whatever its case.
#[inline]
pub fn only(letter: u8) -> u32 {
    1 << (u32::from(letter | 0x20) % LETTERS)
}

#[inline]
fn slot(three: u32) -> usize {
    (three.wrapping_mul(0x9E37_79B1) >> 17) as usize
}

/// The text of the set that holds these sequences.
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
        for letter in 0..=255u8 {
            assert_eq!(only(letter), only(letter.to_ascii_lowercase()));
            assert_eq!(only(letter) & ANY, only(letter));
        }
        assert_ne!(only(b'o'), only(b'.'));
    }
}
