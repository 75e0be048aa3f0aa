//! Hexadecimal digits.

/// Encodes each byte as two lower-case digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Decodes digits; `None` if one is not hexadecimal or their number is odd.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits.filter(|digits| digits.len() % 2 == 0)?;
    pairs
        .chunks_exact(2)
        .map(|pair| pair.iter().try_fold(0_u8, |byte, digit| Some(byte << 4 | u8::try_from(*digit).ok()?)))
        .collect()
}
