//! Random bytes and identifiers.

use super::clock::now;
use super::{hex, os};

/// A UUID of version 7 (RFC 9562): the time in milliseconds, then random bits.
pub(crate) fn uuid() -> String {
    let mut bytes = [0_u8; 16];
    fill(&mut bytes);
    let time = now().to_be_bytes();
    for (to, from) in bytes.iter_mut().zip(time.iter().skip(2)) {
        *to = *from;
    }
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = *version & 0x0f | 0x70;
    *variant = *variant & 0x3f | 0x80;
    let text = hex::encode(&bytes);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Fills a slice with random bytes from the operating system.
pub(crate) fn fill(bytes: &mut [u8]) {
    os::fill_random(bytes);
}

/// A random, unpredictable word of this length, in digits and lower-case ASCII without characters that look alike.
pub fn token(chars: usize) -> String {
    const ALPHABET: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz_";
    let mut word = String::with_capacity(chars);
    while word.len() < chars {
        let mut bytes = [0_u8; 64];
        fill(&mut bytes);
        // The last of the 32 entries is rejected, so that the other 31 are equally likely.
        let drawn = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32)).filter(|ch| **ch != b'_'));
        word.extend(drawn.take(chars - word.len()).map(|ch| char::from(*ch)));
    }
    word
}

#[cfg(test)]
mod tests {
    use super::{token, uuid};

    #[test]
    fn words_are_as_long_as_asked_for_and_differ() {
        let (one, other) = (token(32), token(32));
        assert!(one.len() == 32 && one != other && !one.contains('_'), "{one}");
    }

    #[test]
    fn identifiers_are_of_version_7_and_differ() {
        let (one, other) = (uuid(), uuid());
        assert_ne!(one, other);
        assert_eq!((one.len(), one.get(14..15)), (36, Some("7")));
        assert!(matches!(one.get(19..20), Some("8" | "9" | "a" | "b")), "{one}");
    }
}
