//! The metadata of a file.

use crate::model::ItemKind;

/// The metadata of a file; a link at the end of the path is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) times: [(i64, i64); 2],
    /// Change time of the inode, in seconds and nanoseconds.
    pub(crate) changed: (i64, i64),
    pub(crate) size: u64,
    /// Device and inode.
    pub(crate) place: (u64, u64),
    pub(crate) names: u64,
}

/// The type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Other,
}

impl Stat {
    /// Whether the file has the type of an item.
    pub(crate) fn is_a(&self, item: &ItemKind) -> bool {
        match item {
            ItemKind::File { .. } => self.kind == Kind::File,
            ItemKind::Folder => self.kind == Kind::Folder,
            ItemKind::Link { .. } => self.kind == Kind::Link,
            ItemKind::Pipe => self.kind == Kind::Pipe,
            ItemKind::Unchanged { place, .. } => self.place == *place,
            ItemKind::Absent | ItemKind::Created | ItemKind::Missed { .. } => false,
        }
    }
}
