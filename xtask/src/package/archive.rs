//! Reproducible archives: no times, no owners, entries in the given order.

use std::io::Write;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

/// A file in an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    /// Path with slashes.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether it is executable.
    pub(crate) runs: bool,
}

impl Entry {
    pub(crate) fn file(path: &str, bytes: Vec<u8>) -> Entry {
        Entry { path: path.to_owned(), bytes, runs: false }
    }

    pub(crate) fn program(path: &str, bytes: Vec<u8>) -> Entry {
        Entry { path: path.to_owned(), bytes, runs: true }
    }

    /// The same file in a folder.
    pub(crate) fn below(&self, folder: &str) -> Entry {
        Entry { path: format!("{folder}/{}", self.path), ..self.clone() }
    }

    fn mode(&self) -> u32 {
        if self.runs { 0o755 } else { 0o644 }
    }
}

pub(crate) fn tar_gz(entries: &[Entry]) -> Result<Vec<u8>> {
    // With `mtime(0)` and an unknown system the header does not depend on the machine.
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for entry in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.mode());
        header.set_mtime(0);
        tar.append_data(&mut header, &entry.path, entry.bytes.as_slice()).context("cannot make an archive")?;
    }
    tar.into_inner().and_then(|gzip| gzip.finish()).context("cannot make an archive")
}

pub(crate) fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for entry in entries {
        let options =
            SimpleFileOptions::default().last_modified_time(DateTime::default()).unix_permissions(entry.mode());
        zip.start_file(&entry.path, options).context("cannot make a wheel")?;
        zip.write_all(&entry.bytes).context("cannot make a wheel")?;
    }
    let cursor = zip.finish().context("cannot make a wheel")?;
    Ok(cursor.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_depends_on_its_contents_alone() {
        let entries = [Entry::program("a/b", b"x".to_vec()), Entry::file("a/c", b"y".to_vec())];
        let once = (tar_gz(&entries).unwrap(), zip(&entries).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(2100));
        assert!(once == (tar_gz(&entries).unwrap(), zip(&entries).unwrap()));
    }
}
