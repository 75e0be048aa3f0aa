//! Decompresses gzip files up to a limit.

/// Maximum size of the decompressed data, in bytes. A small archive may expand to far more than is needed.
const MAX_UNPACKED: usize = 64 * 1024 * 1024;

/// Data cannot be decompressed.
#[derive(Debug, thiserror::Error)]
pub enum GzipError {
    /// They do not begin as a gzip file.
    #[error("this is not a gzip file")]
    NotGzip,
    /// They are damaged, or have more than this number of MiB once they are decompressed.
    #[error("this is not a gzip file of at most {0} MiB")]
    NotSmallGzip(usize),
}

/// Decompresses the first member of a gzip file.
pub(crate) fn inflate(bytes: &[u8]) -> Result<Vec<u8>, GzipError> {
    const HEADER: usize = 10;
    let flags = match bytes {
        [0x1f, 0x8b, 8, flags, ..] => *flags,
        _ => return Err(GzipError::NotGzip),
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
        .map_err(|_| GzipError::NotSmallGzip(MAX_UNPACKED / 1024 / 1024))
}
