//! SHA-1 and MD5. They offer no protection against forgery and are only for comparisons: git's object names, caches.

/// Returns the SHA-1 digest.
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded(bytes, u64::to_be_bytes).chunks_exact(64) {
        let mut words: Vec<u32> = block.chunks_exact(4).map(|four| word(four, u32::from_be_bytes)).collect();
        for at in 16..80 {
            let before = |back: usize| words.get(at - back).copied().unwrap_or(0);
            words.push((before(3) ^ before(8) ^ before(14) ^ before(16)).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.into_iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6u32),
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        state.iter_mut().zip([a, b, c, d, e]).for_each(|(old, new)| *old = old.wrapping_add(new));
    }
    joined(&state, u32::to_be_bytes)
}

/// Returns the MD5 digest.
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(bytes, u64::to_le_bytes).chunks_exact(64) {
        let words: Vec<u32> = block.chunks_exact(4).map(|four| word(four, u32::from_le_bytes)).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for at in 0..64usize {
            let (mixed, place) = match at / 16 {
                0 => ((b & c) | (!b & d), at),
                1 => ((d & b) | (!d & c), 5 * at + 1),
                2 => (b ^ c ^ d, 3 * at + 5),
                _ => (c ^ (b | !d), 7 * at),
            };
            let turn = TURNS.get(at / 16).and_then(|row| row.get(at % 4)).copied().unwrap_or(0);
            // The constants of MD5 are derived from sines.
            let constant = (((at + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum =
                a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words.get(place % 16).copied().unwrap_or(0));
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(turn)));
        }
        state.iter_mut().zip([a, b, c, d]).for_each(|(old, new)| *old = old.wrapping_add(new));
    }
    joined(&state, u32::to_le_bytes)
}

/// Pads the bytes to complete blocks and appends their length.
fn padded(bytes: &[u8], ordered: fn(u64) -> [u8; 8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend(ordered((bytes.len() as u64).wrapping_mul(8)));
    padded
}

fn word(four: &[u8], ordered: fn([u8; 4]) -> u32) -> u32 {
    four.try_into().map_or(0, ordered)
}

fn joined<const N: usize>(state: &[u32], ordered: fn(u32) -> [u8; 4]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.iter_mut().zip(state.iter().flat_map(|word| ordered(*word))).for_each(|(to, from)| *to = from);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_their_standards() {
        assert_eq!(shown(&sha1(b"")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(shown(&sha1(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(shown(&md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(shown(&md5(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
        let long = "a".repeat(1000);
        assert_eq!(shown(&sha1(long.as_bytes())), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
        assert_eq!(shown(&md5(long.as_bytes())), "cabe45dcc9ae5b66ba86600cca6b8ba8");
        // Lengths just below, at and above a block boundary.
        for (length, digest) in [
            (55, "ef1772b6dff9a122358552954ad0df65"),
            (56, "3b0c8ac703f828b04c6c197006d17218"),
            (57, "652b906d60af96844ebd21b674f35e93"),
            (63, "b06521f39153d618550606be297466d5"),
            (64, "014842d480b571495a4a0363793f7367"),
        ] {
            assert_eq!(shown(&md5("a".repeat(length).as_bytes())), digest, "{length}");
        }
    }
}
