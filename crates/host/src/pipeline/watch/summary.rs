//! The numbers and names of what a run has changed.

use crate::pipeline::host::Host;
use reflex_keep::{About, Item, ItemKind, Left};
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of names of each kind in a record.
const MAX_NAMES: usize = 20;

/// The changes of a run, over all of its parts.
#[derive(Debug, Clone, Default)]
pub struct RunChanges {
    /// Numbers of changed files.
    pub counts: Counts,
    /// Ids of the backups, the oldest first.
    pub kept: Vec<String>,
    /// Number of changes that could not be looked at, or were not kept.
    pub missed: u64,
    /// The reasons for which a part could not be made a backup. Its folder stays.
    pub problems: Vec<String>,
}

/// Numbers of changed files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that were there before and are gone.
    pub deleted: usize,
    /// Files with another content, mode or owner.
    pub replaced: usize,
    /// Files that were there before, with another name now.
    pub renamed: usize,
    /// New files that are still there.
    pub created: usize,
    /// Lost files of which no copy exists.
    pub missed: usize,
}

/// The changes of one part of a run.
#[derive(Debug)]
pub(super) struct PartChanges {
    about: About,
    counts: Counts,
    names: Vec<(&'static str, Vec<PathBuf>)>,
    pub(super) kept: Option<String>,
}

/// The kind of a change to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    Deleted,
    Replaced,
    Renamed,
    Created,
    Missed,
}

impl Changed {
    const ALL: [(Changed, &'static str); 5] = [
        (Changed::Deleted, "deleted"),
        (Changed::Replaced, "replaced"),
        (Changed::Renamed, "renamed"),
        (Changed::Created, "created"),
        (Changed::Missed, "missed"),
    ];

    fn of(item: &Item) -> Changed {
        match &item.kind {
            ItemKind::Created => Changed::Created,
            ItemKind::Missed { .. } => Changed::Missed,
            ItemKind::Unchanged { at, .. } if *at != item.path => Changed::Renamed,
            ItemKind::File { .. }
            | ItemKind::Folder
            | ItemKind::Link { .. }
            | ItemKind::Pipe
            | ItemKind::Absent
            | ItemKind::Unchanged { .. } => match item.left {
                Left::Gone => Changed::Deleted,
                Left::As { .. } | Left::Unknown => Changed::Replaced,
            },
        }
    }
}

impl PartChanges {
    pub(super) fn of(items: &[Item], about: About) -> PartChanges {
        // Folders are restored, but do not count.
        let files = || items.iter().filter(|item| item.kind != ItemKind::Folder);
        let of = |kind: Changed| files().filter(move |item| Changed::of(item) == kind);
        let count = |kind| of(kind).count();
        let counts = Counts {
            deleted: count(Changed::Deleted),
            replaced: count(Changed::Replaced),
            renamed: count(Changed::Renamed),
            created: count(Changed::Created),
            missed: count(Changed::Missed),
        };
        let names =
            Changed::ALL.map(|(kind, word)| (word, of(kind).map(|item| item.path.clone()).take(MAX_NAMES).collect()));
        PartChanges { about, counts, names: names.into(), kept: None }
    }
}

impl RunChanges {
    pub(super) fn add(&mut self, part: PartChanges) {
        let Counts { deleted, replaced, renamed, created, missed } = part.counts;
        self.counts.deleted += deleted;
        self.counts.replaced += replaced;
        self.counts.renamed += renamed;
        self.counts.created += created;
        self.counts.missed += missed;
        self.kept.extend(part.kept);
    }
}

impl Host {
    /// Records what a part of a run has changed, under the call that caused it.
    pub(super) fn note_changes(&self, changes: &PartChanges) -> io::Result<()> {
        let PartChanges { about, counts, names, kept } = changes;
        if *counts == Counts::default() {
            return Ok(());
        }
        let store = self.store();
        let clean = |path: &PathBuf| store.clean(&Path::new(path).to_string_lossy());
        let texts = |paths: &[PathBuf]| paths.iter().map(clean).collect::<Vec<String>>();
        let names: Map<String, Value> =
            names.iter().map(|(word, paths)| ((*word).to_owned(), texts(paths).into())).collect();
        let fields = json!({
            "of": about.record, "agent": about.client, "session": about.session, "workspace": about.workspace,
            "call": about.what, "deleted": counts.deleted, "replaced": counts.replaced, "renamed": counts.renamed,
            "created": counts.created, "missed": counts.missed, "kept": kept, "names": names,
        });
        store.note("changes", fields)
    }
}
