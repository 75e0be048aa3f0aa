//! Decompresses gzip files up to a limit.

/// Maximum size of the decompressed data, in bytes. A small archive may expand to far more than is needed.
const MAX_UNPACKED: usize = 64 * 1024 * 1024;

/// Decompresses the first member of a gzip file.
pub(crate) fn inflate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    const HEADER: usize = 10;
    let flags = match bytes {
        [0x1f, 0x8b, 8, flags, ..] => *flags,
        _ => return Err("this is not a gzip file".into()),
    };
    let mut rest = bytes.get(HEADER..).unwrap_or(&[]);
    if flags & 4 != 0 {
        let length = match rest {
            [low, high, ..] => usize::from(u16::from_le_bytes([*low, *high])),
            _ => 0,
        };
        rest = rest.get(2 + length..).unwrap_or(&[]);
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0).map_or(rest.len(), |at| at + 1);
            rest = rest.get(end..).unwrap_or(&[]);
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..).unwrap_or(&[]);
    }
    miniz_oxide::inflate::decompress_to_vec_with_limit(rest, MAX_UNPACKED)
        .map_err(|_| format!("this is not a gzip file of at most {} MiB", MAX_UNPACKED / 1024 / 1024))
}
