//! Packs older backups: equal contents are stored once and compressed with zstd (RFC 8878).
//!
//! A packed content is a file named by its digest, in a folder of its own. Every copy of it is a hard link to that
//! file, so
//! its link count shows whether a backup still needs it. The plain copy is removed once its packed form has been read
//! back, so a killed process leaves at least one of the two.

use crate::manifest::hex;
use crate::model::{Backup, Bounds, ItemKind};
use crate::os;
use crate::store::{self, BackupStore, Listed};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The folder of packed contents.
const PACKED: &str = ".packed";

/// The extension of a packed copy.
const END: &str = "zst";

/// The prefix of unfinished files.
const DRAFT: &str = "draft";

/// The content of a copy, packed or not.
#[derive(Debug)]
pub struct Content(Form);

enum Form {
    Plain(File),
    Packed(Box<StreamingDecoder<BufReader<File>, FrameDecoder>>),
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Form::Plain(_)) { "Plain" } else { "Packed" })
    }
}

impl Content {
    /// The plain file, if it is not packed.
    pub(crate) fn plain(&self) -> Option<&File> {
        match &self.0 {
            Form::Plain(file) => Some(file),
            Form::Packed(_) => None,
        }
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Form::Plain(file) => file.read(buffer),
            Form::Packed(decoder) => decoder.read(buffer),
        }
    }
}

/// Opens a copy by the path of its plain form.
pub(crate) fn open(copy: &Path) -> io::Result<Content> {
    match os::open_source(copy) {
        Ok(file) => Ok(Content(Form::Plain(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => unpacked(&copy.with_extension(END)),
        Err(error) => Err(error),
    }
}

fn unpacked(packed: &Path) -> io::Result<Content> {
    let file = BufReader::new(os::open_source(packed)?);
    let decoder = StreamingDecoder::new(file).map_err(io::Error::other)?;
    Ok(Content(Form::Packed(Box::new(decoder))))
}

impl BackupStore {
    /// Packs the backups older than [`Bounds::rest`](crate::Bounds::rest); returns the number of bytes freed.
    ///
    /// # Errors
    /// A file could not be read or written. Backups that were packed before stay packed.
    pub fn pack(&self) -> io::Result<u64> {
        let mut freed = 0;
        for listed in self.listed().iter().filter(|known| known.is_plain() && self.has_rested(known)) {
            let Ok(backup) = self.backup(&listed.id) else { continue };
            let stored = self.pack_backup(&backup)?;
            store::restamp(listed, stored)?;
            freed += listed.bytes.saturating_sub(stored);
        }
        Ok(freed)
    }

    fn has_rested(&self, listed: &Listed) -> bool {
        store::age(listed.time) >= self.bounds().rest
    }

    /// Packs the copies of one backup; returns the bytes that no other backup shares.
    fn pack_backup(&self, backup: &Backup) -> io::Result<u64> {
        let mut copies = BTreeSet::new();
        for item in &backup.items {
            if let ItemKind::File { copy, size, unchanging: false, .. } = item.kind {
                copies.insert((copy, size));
            }
        }
        let mut stored = 0;
        for (copy, size) in copies {
            let plain = backup.copy_of(copy);
            // A copy that shares its blocks with the original takes no space until it is packed.
            if size > Bounds::default().bytes || size == 0 {
                stored += size;
            } else if plain.symlink_metadata().is_ok() {
                stored += self.pack_copy(&plain)?;
            }
        }
        Ok(stored)
    }

    /// Packs one copy; returns its size unless another copy holds the same content.
    fn pack_copy(&self, plain: &Path) -> io::Result<u64> {
        let mut content = Vec::new();
        os::open_source(plain)?.read_to_end(&mut content)?;
        let digest = digest(&content);
        let folder = self.folder().join(PACKED);
        os::create_folder(&folder)?;
        let packed = folder.join(format!("{digest}.{END}"));
        let is_new = packed.symlink_metadata().is_err();
        if is_new {
            let draft = folder.join(format!("{digest}.{}.{DRAFT}", std::process::id()));
            write(&draft, &compress_to_vec(content.as_slice(), CompressionLevel::Fastest))?;
            fs::rename(&draft, &packed)?;
        }
        drop(content);
        if digest_of(unpacked(&packed)?)? != digest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what was packed cannot be read back"));
        }
        let target = plain.with_extension(END);
        match fs::remove_file(&target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::hard_link(&packed, &target)?,
        }
        plain.parent().map_or(Ok(()), store::sync)?;
        fs::remove_file(plain)?;
        Ok(if is_new { os::stat(&packed)?.size } else { 0 })
    }

    /// Removes contents without a backup, and abandoned drafts.
    pub(crate) fn drop_unused(&self) -> io::Result<()> {
        let entries = fs::read_dir(self.folder().join(PACKED)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let is_unused = os::stat(&path).is_ok_and(|file| file.names == 1);
            // A process that is packing has not linked it yet.
            let is_old = store::is_abandoned(&path);
            if is_unused && is_old {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = os::create(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn digest_of(mut content: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

impl Backup {
    /// The content of an item; `None` if it is not a file.
    ///
    /// # Errors
    /// Its copy cannot be opened.
    pub fn content(&self, item: &crate::model::Item) -> Option<io::Result<Content>> {
        match item.kind {
            ItemKind::File { copy, .. } => Some(open(&self.copy_of(copy))),
            ItemKind::Folder
            | ItemKind::Link { .. }
            | ItemKind::Pipe
            | ItemKind::Absent
            | ItemKind::Unchanged { .. }
            | ItemKind::Created
            | ItemKind::Missed { .. } => None,
        }
    }

    /// The path of the plain copy of this number.
    pub(crate) fn copy_of(&self, copy: u64) -> PathBuf {
        self.folder.join(copy.to_string())
    }
}
