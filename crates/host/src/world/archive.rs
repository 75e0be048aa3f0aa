//! The names in a folder or an archive, within bounds: the files that unpacking or copying it would write.

use super::gzip::inflate;
use reflex_engine::MAX_LISTED;
use reflex_engine::shell::work;
use std::fs;
use std::path::Path;

/// Maximum size of an archive, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Cost of a folder entry, in units of [`work`], and cost of an unpacked byte, in instructions.
pub(crate) const ENTRY: u64 = 2;
const INFLATED: u64 = 4;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 64;

/// The names of the files and links below a folder; `None` if there are more than [`MAX_LISTED`].
pub(crate) fn names_in_folder(folder: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    list(folder, "", &mut names, MAX_DEPTH)?;
    Some(names)
}

fn list(folder: &Path, above: &str, names: &mut Vec<String>, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        if !work::spend(ENTRY) {
            return None;
        }
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.file_type().ok()?.is_dir() {
            list(&entry.path(), &format!("{name}/"), names, depth)?;
        } else if names.len() < MAX_LISTED {
            names.push(name);
        } else {
            return None;
        }
    }
    Some(())
}

/// The names of the members of a tar, zip or cpio archive; tar and cpio may be compressed with gzip. `None` for other
/// formats.
pub(crate) fn names_in_archive(path: &Path) -> Option<Vec<String>> {
    let bytes = reflex_git::regular_file(path, MAX_BYTES)?;
    if !work::spend_bytes(bytes.len(), 1) {
        return None;
    }
    let names = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            let plain = inflate(&bytes).ok()?;
            work::spend_bytes(plain.len(), INFLATED).then(|| of_plain(&plain))?
        }
        [b'P', b'K', ..] => of_zip(&bytes),
        plain => of_plain(plain),
    }?;
    (names.len() <= MAX_LISTED).then_some(names)
}

fn of_plain(bytes: &[u8]) -> Option<Vec<String>> {
    if bytes.starts_with(b"070701") || bytes.starts_with(b"070702") { of_cpio(bytes) } else { of_tar(bytes) }
}

fn of_tar(bytes: &[u8]) -> Option<Vec<String>> {
    const MAGIC: std::ops::Range<usize> = 257..262;
    if bytes.get(MAGIC) != Some(b"ustar".as_slice()) {
        return None;
    }
    let mut archive = tar::Archive::new(bytes);
    let mut names = Vec::new();
    for entry in archive.entries().ok()?.take(MAX_LISTED + 1) {
        let entry = entry.ok()?;
        if !entry.header().entry_type().is_dir() {
            names.push(entry.path().ok()?.to_string_lossy().into_owned());
        }
    }
    Some(names)
}

/// The names in the central directory of a zip archive (APPNOTE.TXT 4.3.12). Multi-disk and zip64 archives are not
/// read.
fn of_zip(bytes: &[u8]) -> Option<Vec<String>> {
    const END: &[u8] = b"PK\x05\x06";
    const ENTRY: &[u8] = b"PK\x01\x02";
    const ENTRY_LENGTH: usize = 46;
    let end = bytes.windows(END.len()).rposition(|window| window == END)?;
    let count = number(bytes, end + 10, 2)?;
    let mut at = number(bytes, end + 16, 4)?;
    let mut names = Vec::new();
    for _ in 0..count.min(MAX_LISTED + 1) {
        if bytes.get(at..at.checked_add(4)?)? != ENTRY {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| number(bytes, at + field, 2));
        let (name, start) = (name?, at + ENTRY_LENGTH);
        let text = String::from_utf8_lossy(bytes.get(start..start + name)?).into_owned();
        names.extend((!text.ends_with('/')).then_some(text));
        at = start + name + extra? + comment?;
    }
    Some(names)
}

/// A little-endian number of `length` bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The names in the headers of the new portable cpio format (cpio(5), `newc`).
fn of_cpio(bytes: &[u8]) -> Option<Vec<String>> {
    const HEADER: usize = 110;
    const FOLDER: usize = 0o040_000;
    let field = |at: usize, index: usize| {
        let start = at + 6 + index * 8;
        usize::from_str_radix(std::str::from_utf8(bytes.get(start..start + 8)?).ok()?, 16).ok()
    };
    let padded = |length: usize| length.checked_next_multiple_of(4);
    let (mut at, mut names) = (0, Vec::new());
    loop {
        let (mode, size, name) = (field(at, 1)?, field(at, 6)?, field(at, 11)?);
        let text = bytes.get(at + HEADER..(at + HEADER).checked_add(name.checked_sub(1)?)?)?;
        if text == b"TRAILER!!!" {
            return Some(names);
        }
        if names.len() > MAX_LISTED {
            return None;
        }
        let is_folder = mode & 0o170_000 == FOLDER;
        names.extend((!is_folder).then(|| String::from_utf8_lossy(text).into_owned()));
        at = padded(padded(at + HEADER + name)?.checked_add(size)?)?;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

    use super::*;

    fn cpio(names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names.iter().chain(&["TRAILER!!!"]) {
            let fields = [1, 0o100_644, 0, 0, 1, 0, 2, 0, 0, 0, 0, name.len() + 1, 0];
            let fields = fields.map(|field| format!("{field:08X}")).concat();
            bytes.extend(format!("070701{fields}{name}\0").bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes.extend(b"xy\0\0");
        }
        bytes
    }

    #[test]
    fn the_names_in_archives_are_those_that_were_packed() {
        let folder = std::env::temp_dir().join(format!("reflex-archive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut packed = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(1);
        header.set_cksum();
        packed.append_data(&mut header, "a/b c", [1].as_slice()).unwrap();
        fs::write(folder.join("x.tar"), packed.into_inner().unwrap()).unwrap();
        fs::write(folder.join("x.cpio"), cpio(&["one", "two/three"])).unwrap();
        assert_eq!(names_in_archive(&folder.join("x.tar")), Some(vec!["a/b c".to_owned()]));
        assert_eq!(names_in_archive(&folder.join("x.cpio")), Some(vec!["one".to_owned(), "two/three".to_owned()]));
        for text in ["", "PK", "070701", "PK\x05\x06aaaaaaaaaaaaaaaaaaaaaa", "no archive"] {
            fs::write(folder.join("broken"), text).unwrap();
            assert_eq!(names_in_archive(&folder.join("broken")), None, "{text:?}");
        }
        let mut listed = names_in_folder(&folder).unwrap();
        listed.sort();
        assert_eq!(listed, ["broken", "x.cpio", "x.tar"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_central_directory_of_a_zip_is_read() {
        let mut bytes = b"PK\x03\x04local".to_vec();
        let start = bytes.len();
        for name in ["a/", "a/b"] {
            let mut entry = [0; 46];
            entry[..4].copy_from_slice(b"PK\x01\x02");
            entry[28] = u8::try_from(name.len()).unwrap();
            bytes.extend(entry);
            bytes.extend(name.bytes());
        }
        let mut end = [0; 22];
        end[..4].copy_from_slice(b"PK\x05\x06");
        (end[10], end[16]) = (2, u8::try_from(start).unwrap());
        bytes.extend(end);
        assert_eq!(of_zip(&bytes), Some(vec!["a/b".to_owned()]));
    }
}
