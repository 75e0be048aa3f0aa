//! Decoders and small readers for known texts: escapes, encodings, `printf`, regular expressions, crontabs and
//! makefiles.

/// Decodes one backslash escape of `$'…'`, `echo -e` or `printf`. `rest` begins after the backslash. Returns the bytes
/// and the number of bytes consumed; an unknown escape keeps its backslash.
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

fn number(rest: &[u8], skip: usize, max: usize, radix: u32) -> (Vec<u8>, usize) {
    let digits = rest.get(skip..).unwrap_or(&[]);
    let count = digits.iter().take(max).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    if count == 0 {
        return (vec![b'\\', rest.first().copied().unwrap_or(b'x')], 1);
    }
    let text = digits.get(..count).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or("0");
    let code = u32::from_str_radix(text, radix).unwrap_or(0);
    let bytes = match (rest.first(), char::from_u32(code)) {
        (Some(b'u' | b'U'), Some(ch)) => ch.to_string().into_bytes(),
        _ => vec![(code & 0xff) as u8],
    };
    (bytes, skip + count)
}

/// Decodes all backslash escapes of a text.
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

/// Decodes base64 in the standard or URL alphabet; ignores blanks and padding. Returns `None` if the text is not
/// base64.
pub fn base64(text: &str) -> Option<String> {
    let digit = |byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    digits(text, 6, digit)
}

/// Decodes base64 to bytes.
pub(crate) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    base64(text).map(|decoded| bytes_of(&decoded))
}

/// Decodes UTF-16, little-endian, as PowerShell encodes its commands.
pub(crate) fn utf16(bytes: &[u8]) -> Option<String> {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| pair.iter().rev().fold(0, |unit, byte| unit << 8 | u16::from(*byte)))
        .collect();
    String::from_utf16(&units).ok().filter(|_| bytes.len().is_multiple_of(2))
}

/// Decodes base32 as in RFC 4648; ignores blanks and padding.
pub(crate) fn base32(text: &str) -> Option<String> {
    let digit = |byte: u8| match byte.to_ascii_uppercase() {
        byte @ b'A'..=b'Z' => Some(byte - b'A'),
        byte @ b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    };
    digits(text, 5, digit)
}

/// Decodes digits of `bits_of_digit` bits each.
fn digits(text: &str, bits_of_digit: u32, digit: impl Fn(u8) -> Option<u8>) -> Option<String> {
    let mut bits = 0u32;
    let mut filled = 0;
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = bits << bits_of_digit | u32::from(digit(byte)?);
        filled += bits_of_digit;
        if filled >= 8 {
            filled -= 8;
            decoded.push((bits >> filled) as u8);
        }
    }
    Some(text_of(&decoded))
}

/// Decodes pairs of hexadecimal digits; ignores all other characters.
pub(crate) fn hexadecimal(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.chars().filter_map(|ch| ch.to_digit(16)).map(|digit| digit as u8).collect();
    let bytes = digits.chunks_exact(2).map(|pair| pair.iter().fold(0u8, |byte, digit| byte << 4 | digit));
    Some(text_of(&bytes.collect::<Vec<u8>>()))
}

/// Decompresses gzip data, up to a length that no command reaches. Returns `None` if the data is damaged.
pub(crate) fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    const MAX_BYTES: usize = 1 << 20;
    let flags = bytes.get(3).copied().filter(|_| bytes.starts_with(&[0x1f, 0x8b, 8]))?;
    let mut rest = bytes.get(10..)?;
    if flags & 4 != 0 {
        let length = usize::from(*rest.first()?) | usize::from(*rest.get(1)?) << 8;
        rest = rest.get(2 + length..)?;
    }
    // The file name and the comment, each terminated by a zero byte.
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        let end = rest.iter().position(|byte| *byte == 0)?;
        rest = rest.get(end + 1..)?;
    }
    rest = rest.get(usize::from(flags & 2)..)?;
    miniz_oxide::inflate::decompress_to_vec_with_limit(rest, MAX_BYTES).ok()
}

/// Applies ROT13: moves each character of the ASCII alphabet by 13 positions.
pub(crate) fn rot13(text: &str) -> String {
    let rotated = |ch: char| match ch {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(ch) + 13).unwrap_or(ch),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(ch) - 13).unwrap_or(ch),
        ch => ch,
    };
    text.chars().map(rotated).collect()
}

/// Decodes the lines between `begin` and `end` in the format of `uuencode`.
pub(crate) fn uudecode(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("begin"));
    if lines.next()?.starts_with("begin-base64") {
        return base64(&lines.take_while(|line| !line.starts_with("====")).collect::<String>());
    }
    let mut decoded = Vec::new();
    for line in lines.take_while(|line| *line != "end") {
        let value = |byte: &u8| u32::from(byte.wrapping_sub(b' ') & 0x3f);
        let length = line.as_bytes().first().map(value)? as usize;
        let start = decoded.len();
        for group in line.as_bytes().get(1..)?.chunks(4) {
            let bits = group.iter().map(value).chain([0; 4]).take(4).fold(0, |bits, digit| bits << 6 | digit);
            decoded.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
        }
        decoded.truncate(start + length);
    }
    Some(text_of(&decoded))
}

/// Translates a pattern of `grep` or `sed` to the syntax of the regex crate.
pub(crate) fn regex(pattern: &str, extended: bool) -> String {
    if extended {
        return pattern.to_owned();
    }
    let mut written = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut in_set = false;
    while let Some(ch) = chars.next() {
        match ch {
            '\\' if !in_set => match chars.next() {
                // In basic syntax, the escaped character is the operator and the plain one is literal.
                Some(next @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => written.push(next),
                Some(next) => written.extend(['\\', next]),
                None => written.push_str(r"\\"),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' if !in_set => written.extend(['\\', ch]),
            '*' if written.is_empty() || written.ends_with("^") => written.push_str(r"\*"),
            '[' if !in_set => {
                in_set = true;
                written.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    written.push('^');
                }
                if chars.next_if_eq(&']').is_some() {
                    written.push_str(r"\]");
                }
            }
            ']' if in_set => {
                in_set = false;
                written.push(']');
            }
            '\\' => written.push_str(r"\\"),
            ch => written.push(ch),
        }
    }
    written
}

/// Compiles a pattern; `None` if it is invalid or too large.
pub(crate) fn compiled(pattern: &str, any_case: bool) -> Option<regex_lite::Regex> {
    regex_lite::RegexBuilder::new(pattern).case_insensitive(any_case).size_limit(1 << 16).build().ok()
}

/// Returns the commands of a crontab: the text after the five time fields, or after `@daily` and similar words.
pub(crate) fn crontab(text: &str) -> Vec<String> {
    let command = |line: &str| {
        let line = line.trim_start();
        let fields = if line.starts_with('@') { 1 } else { 5 };
        if line.starts_with('#') {
            return None;
        }
        let mut rest = line;
        for _ in 0..fields {
            rest = rest.split_once([' ', '\t'])?.1.trim_start();
        }
        Some(rest.to_owned())
    };
    text.lines().filter_map(command).collect()
}

/// Returns the recipes of a makefile and the commands of `$(shell …)` and `!=`. `$$` is a literal dollar sign.
pub(crate) fn makefile(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let mut commands = Vec::new();
    for line in text.lines() {
        let recipe = match line.strip_prefix('\t') {
            Some(recipe) => Some(recipe),
            None if line.starts_with('#') => None,
            None => line
                .split_once("!=")
                .map(|(_, command)| command)
                .or_else(|| line.split_once(';').filter(|(rule, _)| rule.contains(':')).map(|(_, recipe)| recipe)),
        };
        if let Some(recipe) = recipe {
            commands.push(recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$"));
        }
        let shell = |call: &str| call.rsplit_once(')').map(|(inside, _)| inside.replace("$$", "$"));
        commands.extend(line.split("$(shell ").skip(1).filter_map(shell));
    }
    commands
}

/// First code point for bytes that are not UTF-8: byte `b` is stored in a text as this private-use code point plus `b`.
const FIRST_BYTE: u32 = 0x10_f700;

/// Converts bytes to a text; invalid UTF-8 is kept byte by byte.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(FIRST_BYTE + u32::from(*byte))));
    }
    text
}

/// Converts a text back to the bytes that it represents.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for ch in text.chars() {
        match u32::from(ch).checked_sub(FIRST_BYTE).and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(ch.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// Whether the text contains bytes that are not UTF-8.
pub(crate) fn is_binary(text: &str) -> bool {
    text.chars().any(|ch| (FIRST_BYTE..FIRST_BYTE + 0x100).contains(&u32::from(ch)))
}

/// Evaluates `printf` with a known format and known arguments: `%s`, `%b`, `%d`, `%x`, `%o`, `%c`, `%%`, widths and
/// escapes. The format is reused while arguments are left. Returns `None` for unsupported conversions and for output
/// that is too long.
pub(crate) fn printf(format: &str, arguments: &[String]) -> Option<String> {
    const MAX_BYTES: usize = 1 << 20;
    let mut printed = String::new();
    let mut rest = arguments.iter();
    loop {
        let before = rest.len();
        printf_once(format, &mut rest, &mut printed)?;
        if rest.len() == 0 || rest.len() == before {
            return Some(printed);
        }
        if printed.len() > MAX_BYTES {
            return None;
        }
    }
}

fn printf_once<'a>(format: &str, arguments: &mut impl Iterator<Item = &'a String>, printed: &mut String) -> Option<()> {
    // A percent sign that an escape produces does not begin a conversion.
    let mut conversions = format.split('%');
    printed.push_str(&escapes(conversions.next().unwrap_or("")));
    while let Some(conversion) = conversions.next() {
        if conversion.is_empty() {
            // `%%`: the text that follows is literal.
            printed.push('%');
            printed.push_str(&escapes(conversions.next().unwrap_or("")));
            continue;
        }
        let width = conversion.trim_start_matches(['-', '+', '#', ' ', '0']);
        let flags = conversion.get(..conversion.len() - width.len()).unwrap_or("");
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (width, rest) = width.split_at(digits(width));
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(after) => {
                let (precision, rest) = after.split_at(digits(after));
                (Some(precision.parse().unwrap_or(0)), rest)
            }
            None => (None, rest),
        };
        let kind = rest.chars().next()?;
        let shape = Shape { flags, width: width.parse().unwrap_or(0), precision };
        let argument = arguments.next().map_or("", String::as_str);
        printed.push_str(&shape.printed(kind, argument)?);
        printed.push_str(&escapes(rest.get(1..).unwrap_or("")));
    }
    Some(())
}

/// Flags, width and precision of a conversion.
struct Shape<'f> {
    flags: &'f str,
    width: usize,
    precision: Option<usize>,
}

impl Shape<'_> {
    fn printed(&self, kind: char, argument: &str) -> Option<String> {
        let cut = |text: &str| text.chars().take(self.precision.unwrap_or(usize::MAX)).collect::<String>();
        let text = match kind {
            's' => cut(argument),
            'b' => cut(&escapes(argument)),
            'c' => argument.chars().take(1).collect(),
            'd' | 'i' | 'u' => integer(argument)?.to_string(),
            'x' => format!("{:x}", integer(argument)?),
            'X' => format!("{:X}", integer(argument)?),
            'o' => format!("{:o}", integer(argument)?),
            _ => return None,
        };
        let number = !matches!(kind, 's' | 'b' | 'c');
        let least = if number { self.width.max(self.precision.unwrap_or(0)) } else { self.width };
        if least > MAX_PADDING {
            return None;
        }
        let padding = least.saturating_sub(text.chars().count());
        let zeros = number && (self.flags.contains('0') || self.precision.is_some());
        Some(match (self.flags.contains('-'), zeros) {
            (true, _) => text + &" ".repeat(padding),
            (false, true) => "0".repeat(padding) + &text,
            (false, false) => " ".repeat(padding) + &text,
        })
    }
}

/// Maximum width of a column.
const MAX_PADDING: usize = 4096;

/// Parses a number as `printf` does: decimal, `0x` hexadecimal, `0` octal, or a quote and the character whose code is
/// meant.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(ch) = text.strip_prefix(['\'', '"']) {
        return ch.chars().next().map(|ch| i64::from(u32::from(ch)));
    }
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('0').filter(|digits| !digits.is_empty()) {
        Some(digits) => i64::from_str_radix(digits, 8).ok(),
        None if text.is_empty() => Some(0),
        None => text.parse().ok(),
    }
}

/// Returns the characters of a `tr` set: ranges, escapes, classes.
pub(crate) fn characters(set: &str) -> Option<Vec<char>> {
    const CLASSES: [(&str, &str); 7] = [
        ("[:upper:]", "A-Z"),
        ("[:lower:]", "a-z"),
        ("[:digit:]", "0-9"),
        ("[:alpha:]", "A-Za-z"),
        ("[:alnum:]", "0-9A-Za-z"),
        ("[:space:]", "\\t-\\r "),
        ("[:blank:]", " \\t"),
    ];
    let set = CLASSES.iter().fold(set.to_owned(), |set, (class, chars)| set.replace(class, chars));
    if set.contains("[:") || set.contains("[=") {
        return None;
    }
    let chars: Vec<char> = escapes(&set).chars().collect();
    let mut expanded = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
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
    fn printf_does_what_it_does() {
        assert_eq!(printf("%s %s\\n", &["a".into(), "b".into(), "c\\n".into()]).as_deref(), Some("a b\nc\\n \n"));
        assert_eq!(printf("%%s%b", &["\\x41".into()]).as_deref(), Some("%sA"));
        assert_eq!(
            printf("%3s|%-2s|%.1s|%02d", &["a".into(), "b".into(), "cd".into(), "7".into()]).as_deref(),
            Some("  a|b |c|07")
        );
        assert_eq!(printf("%o %d", &["0x72".into(), "'r".into()]).as_deref(), Some("162 114"));
        assert_eq!(printf("%*s", &["1".into()]), None);
    }
}
