//! Reads the entries of an index that concern one path, without decoding the others: an edit asks about one file, and a
//! repository may have tens of thousands.
//!
//! The format is that of git's `Documentation/gitformat-index.txt`, versions 2 and 3.

use std::io::{self, Read};

/// Number of bytes read at once. Reading all of a large index would touch thousands of pages.
const BLOCK: usize = 64 * 1024;

const HEADER: usize = 12;

/// Length of an entry before its object id: times, device, inode, mode, owner, size.
const BEFORE_ID: usize = 40;

/// Length of the longest entry that is read here, with an object id of 32 bytes.
const LONGEST: usize = BEFORE_ID + 32 + 4 + NAME_LENGTH as usize + 8;

/// Bits of an entry's flags.
const NAME_LENGTH: u16 = 0xfff;
const EXTENDED: u16 = 0x4000;

/// Extensions that change the meaning of the entries.
const MEANINGFUL: [&[u8]; 2] = [b"link", b"sdir"];

const ATTRIBUTES: &[u8] = b".gitattributes";

/// Returns an index with the entries at, above and below the path and those of attributes files. `None` if the format
/// has to be decoded as a whole or is damaged. `length` is the length of the file, `id` that of an object id, in bytes.
pub(super) fn excerpt(file: impl Read, length: u64, id: usize, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut input = Input { file, block: Vec::with_capacity(LONGEST + BLOCK), at: 0, consumed: 0 };
    let Some([b'D', b'I', b'R', b'C', 0, 0, 0, version @ 2..=3, a, b, c, d]) = input.next(HEADER)?.and_then(fixed)
    else {
        return Ok(None);
    };
    let (mut found, mut count) = (vec![b'D', b'I', b'R', b'C', 0, 0, 0, *version, 0, 0, 0, 0], 0_u32);
    let mut left = u32::from_be_bytes([*a, *b, *c, *d]);
    while left > 0 {
        let block = input.unread();
        let mut rest = block;
        while left > 0
            && let Some(entry) = entry(rest, id)
        {
            rest = rest.get(entry.bytes.len()..).unwrap_or_default();
            left -= 1;
            if concerns(entry.name, path) {
                found.extend(entry.bytes);
                count += 1;
            }
        }
        let read = block.len() - rest.len();
        input.skip(read);
        if left > 0 && !input.read_on()? {
            return Ok(None);
        }
    }
    if !has_plain_extensions(&mut input, length.saturating_sub(id as u64))? {
        return Ok(None);
    }
    found.iter_mut().skip(8).zip(count.to_be_bytes()).for_each(|(place, byte)| *place = byte);
    found.resize(found.len() + id, 0);
    Ok(Some(found))
}

/// An entry and the name in it.
struct Entry<'b> {
    bytes: &'b [u8],
    name: &'b [u8],
}

/// The first entry of these bytes. `None` if they end before it does, or only the decoder can read it.
fn entry(bytes: &[u8], id: usize) -> Option<Entry<'_>> {
    let flags = u16::from_be_bytes(*bytes.get(BEFORE_ID + id..)?.first_chunk()?);
    let start = BEFORE_ID + id + 2 + if flags & EXTENDED != 0 { 2 } else { 0 };
    let length = flags & NAME_LENGTH;
    // A longer name ends at the first zero byte, which only the decoder looks for.
    if length == NAME_LENGTH {
        return None;
    }
    let end = start + usize::from(length);
    // Between one and eight zero bytes follow.
    let bytes = bytes.get(..(end + 8) & !7)?;
    bytes.get(start..end).map(|name| Entry { bytes, name })
}

/// Whether an entry is at, above or below the path, or an attributes file.
fn concerns(name: &[u8], path: &[u8]) -> bool {
    let at_or_below = || matches!(name.get(path.len()), None | Some(b'/')) && name.starts_with(path);
    // Only a submodule has an entry above a path.
    let above = || path.get(name.len()) == Some(&b'/') && path.starts_with(name);
    // Four bytes are compared without a call; hardly another name has them.
    at_or_below() || above() || (name.last_chunk() == ATTRIBUTES.last_chunk::<4>() && name.ends_with(ATTRIBUTES))
}

/// Whether the extensions up to `end` leave the meaning of the entries as it is.
fn has_plain_extensions<R: Read>(input: &mut Input<R>, end: u64) -> io::Result<bool> {
    while input.consumed < end {
        let Some([a, b, c, d, sizes @ ..]) = input.next(8)?.and_then(fixed::<8>) else { return Ok(false) };
        if MEANINGFUL.contains(&[*a, *b, *c, *d].as_slice()) {
            return Ok(false);
        }
        let mut left = u32::from_be_bytes(*sizes) as usize;
        while left > 0 {
            let part = left.min(BLOCK);
            if input.next(part)?.is_none() {
                return Ok(false);
            }
            left -= part;
        }
    }
    Ok(input.consumed == end)
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<&[u8; N]> {
    bytes.try_into().ok()
}

/// A file that is read in blocks.
struct Input<R> {
    file: R,
    block: Vec<u8>,
    /// Position in the block.
    at: usize,
    /// Number of bytes consumed so far.
    consumed: u64,
}

impl<R: Read> Input<R> {
    /// Consumes the next `count` bytes; `None` if the file ends before.
    fn next(&mut self, count: usize) -> io::Result<Option<&[u8]>> {
        if self.unread().len() < count && self.fill(count.max(BLOCK))? < count {
            return Ok(None);
        }
        let start = self.at;
        self.skip(count);
        Ok(self.block.get(start..self.at))
    }

    /// The bytes of the block that are not consumed yet.
    fn unread(&self) -> &[u8] {
        self.block.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
        self.consumed += count as u64;
    }

    /// Adds a block to the bytes that are not consumed. Returns `false` at the end of the file, or if these bytes are
    /// longer than an entry that is read here.
    fn read_on(&mut self) -> io::Result<bool> {
        let before = self.unread().len();
        Ok(before <= LONGEST && self.fill(before + BLOCK)? > before)
    }

    /// Reads until `count` bytes are not consumed or the file ends. Returns the number of bytes that are not consumed.
    fn fill(&mut self, count: usize) -> io::Result<usize> {
        self.block.drain(..self.at);
        self.at = 0;
        let missing = count.saturating_sub(self.block.len());
        self.file.by_ref().take(missing as u64).read_to_end(&mut self.block)?;
        Ok(self.block.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    const ID: usize = 20;

    /// An index of version 2 with these names, extensions and a checksum of zeros.
    fn index(names: &[&str], extensions: &[(&[u8; 4], usize)]) -> Vec<u8> {
        let mut bytes = [b"DIRC".as_slice(), &2_u32.to_be_bytes(), &(names.len() as u32).to_be_bytes()].concat();
        for name in names {
            let start = bytes.len();
            bytes.extend([7; BEFORE_ID + ID]);
            bytes.extend((name.len() as u16).to_be_bytes());
            bytes.extend(name.as_bytes());
            bytes.resize(start + ((BEFORE_ID + ID + 2 + name.len() + 8) & !7), 0);
        }
        for (name, size) in extensions {
            bytes.extend(*name);
            bytes.extend((*size as u32).to_be_bytes());
            bytes.resize(bytes.len() + size, 1);
        }
        bytes.resize(bytes.len() + ID, 0);
        bytes
    }

    fn read(bytes: &[u8], path: &str) -> Option<Vec<u8>> {
        excerpt(bytes, bytes.len() as u64, ID, path.as_bytes()).unwrap()
    }

    #[test]
    fn the_entries_of_a_path_and_the_attributes_remain() {
        let all = index(&["a/.gitattributes", "a/b", "a/b/c", "a/bc", "d"], &[(b"TREE", 100_000), (b"FSMN", 3)]);
        assert_eq!(read(&all, "a/b").unwrap(), index(&["a/.gitattributes", "a/b", "a/b/c"], &[]));
        assert_eq!(read(&all, "d").unwrap(), index(&["a/.gitattributes", "d"], &[]));
        assert_eq!(read(&all, "d/e").unwrap(), index(&["a/.gitattributes", "d"], &[]));
        assert_eq!(read(&all, "e").unwrap(), index(&["a/.gitattributes"], &[]));
    }

    #[test]
    fn an_index_of_many_blocks_is_read() {
        let names: Vec<String> = (0..5_000).map(|number| format!("folder/file-{number:05}.txt")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(read(&index(&names, &[]), "folder/file-04321.txt").unwrap(), index(&["folder/file-04321.txt"], &[]));
    }

    #[test]
    fn what_needs_the_decoder_is_left_to_it() {
        for extension in MEANINGFUL {
            assert_eq!(read(&index(&["a"], &[(extension.try_into().unwrap(), 4)]), "a"), None);
        }
        let whole = index(&["a", "b"], &[(b"TREE", 9)]);
        let entries_and_id = index(&["a", "b"], &[]).len();
        for end in (0..whole.len()).filter(|end| *end != entries_and_id) {
            assert_eq!(read(&whole[..end], "a"), None, "{end} bytes");
        }
        let mut version = whole.clone();
        version[7] = 4;
        assert_eq!(read(&version, "a"), None);
    }
}
