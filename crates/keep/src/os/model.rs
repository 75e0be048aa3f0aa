//! What the system says of a file.

use crate::model::ItemKind;

/// What the system says of a file, without following a link at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) times: [(i64, i64); 2],
    /// When anything of it last changed.
    pub(crate) changed: (i64, i64),
    pub(crate) size: u64,
    /// Device and number: what two names of one file share.
    pub(crate) place: (u64, u64),
    pub(crate) names: u64,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Other,
}

impl Stat {
    /// Whether what stands here is of the item's kind.
    pub(crate) fn is_a(&self, item: &ItemKind) -> bool {
        match item {
            ItemKind::File { .. } => self.kind == Kind::File,
            ItemKind::Folder => self.kind == Kind::Folder,
            ItemKind::Link { .. } => self.kind == Kind::Link,
            ItemKind::Pipe => self.kind == Kind::Pipe,
            ItemKind::Absent => false,
        }
    }
}
