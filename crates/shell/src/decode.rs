//! What text tools make of a known text: escapes, encodings, simple filters.

/// The bytes that a backslash escape of `$'…'`, `echo -e` and `printf` stands for, and how many bytes behind the
/// backslash it takes. What is no escape keeps its backslash.
pub(crate) fn escape(rest: &[u8]) -> (Vec<u8>, usize) {
    let Some(first) = rest.first().copied() else { return (vec![b'\\'], 0) };
    let simple = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => first,
        b'x' => return number(rest, 1, 2, 16),
        b'u' => return number(rest, 1, 4, 16),
        b'U' => return number(rest, 1, 8, 16),
        b'0'..=b'7' => return number(rest, 0, if first == b'0' { 4 } else { 3 }, 8),
        _ => return (vec![b'\\', first], 1),
    };
    (vec![simple], 1)
}

fn number(rest: &[u8], skip: usize, most: usize, radix: u32) -> (Vec<u8>, usize) {
    let digits = rest.get(skip..).unwrap_or(&[]);
    let count = digits.iter().take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    if count == 0 {
        return (vec![b'\\', rest.first().copied().unwrap_or(b'x')], 1);
    }
    let text = digits.get(..count).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or("0");
    let code = u32::from_str_radix(text, radix).unwrap_or(0);
    let bytes = match (rest.first(), char::from_u32(code)) {
        (Some(b'u' | b'U'), Some(letter)) => letter.to_string().into_bytes(),
        _ => vec![(code & 0xff) as u8],
    };
    (bytes, skip + count)
}

/// The text with all backslash escapes decoded.
pub(crate) fn escapes(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == b'\\' {
            let (escaped, length) = escape(bytes.get(at..).unwrap_or(&[]));
            decoded.extend(escaped);
            at += length;
        } else {
            decoded.push(*byte);
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Base64, standard or URL alphabet, blanks and padding ignored. `None` if it is not base64 or not text.
pub(crate) fn base64(text: &str) -> Option<String> {
    let mut bits = 0u32;
    let mut filled = 0;
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            decoded.push((bits >> filled) as u8);
        }
    }
    String::from_utf8(decoded).ok()
}

/// Pairs of hexadecimal digits, everything else ignored. `None` if what comes out is not text.
pub(crate) fn hexadecimal(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.chars().filter_map(|letter| letter.to_digit(16)).map(|digit| digit as u8).collect();
    let bytes = digits.chunks_exact(2).map(|pair| pair.iter().fold(0u8, |byte, digit| byte << 4 | digit)).collect();
    String::from_utf8(bytes).ok()
}

/// `printf` with a known format and known arguments: `%s`, `%b`, `%d`, `%x`, `%c`, `%%` and escapes. The format is used
/// again while arguments are left. `None` for widths and conversions that are not followed, and for what is too long.
pub(crate) fn printf(format: &str, arguments: &[String]) -> Option<String> {
    const LONGEST: usize = 1 << 20;
    let mut printed = String::new();
    let mut rest = arguments.iter();
    loop {
        let before = rest.len();
        printf_once(format, &mut rest, &mut printed)?;
        if rest.len() == 0 || rest.len() == before {
            return Some(printed);
        }
        if printed.len() > LONGEST {
            return None;
        }
    }
}

fn printf_once<'a>(format: &str, arguments: &mut impl Iterator<Item = &'a String>, printed: &mut String) -> Option<()> {
    // Escapes may make a percent sign, which then begins no conversion.
    let mut conversions = format.split('%');
    printed.push_str(&escapes(conversions.next().unwrap_or("")));
    while let Some(conversion) = conversions.next() {
        let Some(kind) = conversion.chars().next() else {
            // `%%`: what follows stands as it is.
            printed.push('%');
            printed.push_str(&escapes(conversions.next().unwrap_or("")));
            continue;
        };
        let argument = arguments.next().map_or("", String::as_str);
        match kind {
            's' => printed.push_str(argument),
            'b' => printed.push_str(&escapes(argument)),
            'c' => printed.extend(argument.chars().next()),
            'd' | 'i' => printed.push_str(&whole_number(argument)?.to_string()),
            'x' => printed.push_str(&format!("{:x}", whole_number(argument)?)),
            'o' => printed.push_str(&format!("{:o}", whole_number(argument)?)),
            _ => return None,
        }
        printed.push_str(&escapes(conversion.get(1..).unwrap_or("")));
    }
    Some(())
}

fn whole_number(text: &str) -> Option<i64> {
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// `tr FROM TO` and, with an empty `to`, `tr -d FROM`; ranges and escapes are understood, classes are not.
pub(crate) fn translate(text: &str, from: &str, to: &str) -> Option<String> {
    if from.contains("[:") || to.contains("[:") {
        return None;
    }
    let (from, to) = (characters(from)?, characters(to)?);
    let map = |letter: char| match from.iter().position(|known| *known == letter) {
        None => Some(letter),
        Some(index) => to.get(index).or(to.last()).copied(),
    };
    Some(text.chars().filter_map(map).collect())
}

fn characters(set: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = escapes(set).chars().collect();
    let mut expanded = Vec::new();
    let mut at = 0;
    while let Some(first) = letters.get(at) {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(last)) => {
                expanded.extend(*first..=*last);
                at += 3;
            }
            _ => {
                expanded.push(*first);
                at += 1;
            }
        }
    }
    (expanded.len() <= 4096).then_some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_bash() {
        assert_eq!(escapes(r"\x72m\t\055\u0072\101\q"), "rm\t-rA\\q");
        assert_eq!(escapes(r"\0162m"), "rm");
    }

    #[test]
    fn encodings_are_decoded_to_text_only() {
        assert_eq!(base64("cm0gLXJmIC8K").as_deref(), Some("rm -rf /\n"));
        assert_eq!(base64("not base64!"), None);
        assert_eq!(hexadecimal("72 6d").as_deref(), Some("rm"));
    }

    #[test]
    fn printf_and_tr_do_what_they_do() {
        assert_eq!(printf("%s %s\\n", &["a".into(), "b".into(), "c\\n".into()]).as_deref(), Some("a b\nc\\n \n"));
        assert_eq!(printf("%%s%b", &["\\x41".into()]).as_deref(), Some("%sA"));
        assert_eq!(printf("%5s", &["a".into()]), None);
        assert_eq!(translate("ez", "a-z", "b-za").as_deref(), Some("fa"));
        assert_eq!(translate("r_m", "_", "").as_deref(), Some("rm"));
    }
}
