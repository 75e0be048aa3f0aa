//! Compiled layers on disk. What is damaged, or lies where others could have put it, is compiled again.

use crate::clock;
use crate::folders::Folders;
use reflex_tables::compile::encode;
use reflex_tables::{Node, root};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// More compiled layers than these are not kept; the oldest go.
const MOST_KEPT: usize = 128;

/// The length of the checksum before a blob.
const CHECKSUM: usize = 32;

pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn of(folders: &Folders) -> Cache {
        Cache { folder: folders.cache.join("rules") }
    }

    /// The texts of this name.
    pub(super) fn named(folders: &Folders, name: &str) -> Cache {
        Cache { folder: folders.cache.join(name) }
    }

    /// The text of this key, if it is whole.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.is_own().then_some(())?;
        let text = fs::read_to_string(self.folder.join(key)).ok()?;
        let (checksum, text) = text.split_once('\n')?;
        (clock::hexadecimal(&Sha256::digest(text)) == checksum).then(|| text.to_owned())
    }

    /// Keeps a text. What cannot be kept is made anew by the next call.
    pub(crate) fn put_text(&self, key: &str, text: &str) {
        if self.make().is_some() {
            let checksum = clock::hexadecimal(&Sha256::digest(text));
            self.replace(&self.folder.join(key), format!("{checksum}\n{text}").as_bytes());
            self.prune();
        }
    }

    /// The compiled layer of this key, if it is whole. It lives as long as the process.
    pub(super) fn get(&self, key: &str) -> Option<Node<'static>> {
        self.is_own().then_some(())?;
        let bytes = fs::read(self.folder.join(key)).ok()?;
        let (checksum, blob) = bytes.split_at_checked(CHECKSUM)?;
        if Sha256::digest(blob).as_slice() != checksum {
            return None;
        }
        let node = root(Box::leak(blob.into()));
        (!node.is_nil()).then_some(node)
    }

    /// Keeps a tree and gives it back. What cannot be kept is compiled anew by the next call.
    pub(super) fn put(&self, key: &str, tree: &Value) -> Node<'static> {
        let Ok(blob) = encode(tree) else { return Node::NIL };
        let mut bytes = Sha256::digest(&blob).to_vec();
        bytes.extend_from_slice(&blob);
        if self.make().is_some() {
            self.replace(&self.folder.join(key), &bytes);
            self.prune();
        }
        root(Box::leak(blob.into_boxed_slice()))
    }

    /// Remembers the text of a file that could be compiled.
    pub(super) fn keep_good(&self, name: &str, text: &str) {
        let path = self.good(name);
        if self.make().is_some() && fs::read_to_string(&path).ok().as_deref() != Some(text) {
            self.replace(&path, text.as_bytes());
        }
    }

    /// The text with which the file was compiled the last time.
    pub(super) fn last_good(&self, name: &str) -> Option<String> {
        self.is_own().then_some(())?;
        fs::read_to_string(self.good(name)).ok()
    }

    fn good(&self, name: &str) -> PathBuf {
        self.folder.join("good").join(clock::hexadecimal(&Sha256::digest(name.as_bytes())))
    }

    fn make(&self) -> Option<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(self.folder.join("good")).ok()?;
        self.is_own().then_some(())
    }

    /// Whether nobody else can write here.
    fn is_own(&self) -> bool {
        let own = rustix::process::getuid().as_raw();
        fs::symlink_metadata(&self.folder)
            .is_ok_and(|folder| folder.is_dir() && folder.uid() == own && folder.mode() & 0o022 == 0)
    }

    /// Whole or not at all.
    fn replace(&self, path: &Path, bytes: &[u8]) {
        let draft = self.folder.join(format!(".{}", clock::uuid()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&draft, path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
    }

    fn prune(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut kept: Vec<_> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?, entry.path())))
            .filter(|(metadata, _)| metadata.is_file())
            .map(|(metadata, path)| (metadata.mtime(), path))
            .collect();
        kept.sort();
        let over = kept.len().saturating_sub(MOST_KEPT);
        for (_, path) in kept.into_iter().take(over) {
            let _ = fs::remove_file(path);
        }
    }
}
