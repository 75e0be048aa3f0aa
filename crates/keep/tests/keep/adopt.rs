//! Folders of copies become backups, and renames are taken back.

use reflex_keep::{About, BackupStore, Bounds, Item, ItemKind, Left};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Ground {
        let ground = Ground { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(ground.project()).unwrap();
        fs::create_dir(ground.folder.path().join("kept")).unwrap();
        ground
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    fn store(&self, bounds: Bounds) -> BackupStore {
        BackupStore::new(self.folder.path().canonicalize().unwrap().join("kept"), bounds)
    }
}

/// Restores a backup of renames, and takes the restore back.
#[track_caller]
fn check_moves(before: &str, call: &str, moved: &[(&str, &str)]) {
    let ground = Ground::new();
    let root = ground.project();
    let sh =
        |line: &str| assert!(Command::new("sh").args(["-ec", line]).current_dir(&root).status().unwrap().success());
    let seen = || {
        let line = "find . -type f -exec grep -H '' {} + | sort";
        let found = Command::new("sh").args(["-c", line]).current_dir(&root).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    };
    sh(before);
    let then = seen();
    sh(call);
    let now = seen();
    let items = moved.iter().map(|(from, at)| Item::of_unchanged(root.join(from), root.join(at)).unwrap()).collect();
    let store = ground.store(Bounds::default());
    let folder = store.place_for_copies().unwrap();
    fs::create_dir(&folder).unwrap();
    let id = store.adopt(&folder, items, &About::default()).unwrap();
    let backup = store.backup(&id).unwrap();
    let undo = store.restore(&backup, &backup.plan(&[], None), &About::default()).unwrap().unwrap();
    assert_eq!(seen(), then, "{call}");
    let again = store.backup(&undo).unwrap();
    store.restore(&again, &again.plan(&[], None), &About::default()).unwrap();
    assert_eq!(seen(), now, "{call}, taken back");
}

#[test]
fn renames_are_taken_back_and_made_again() {
    let files = "mkdir -p d/e; echo a > a; echo b > b; echo c > d/c; echo f > d/e/f";
    check_moves(files, "mv a x", &[("a", "x")]);
    check_moves(files, "mv d x", &[("d", "x")]);
    check_moves(files, "mv a t; mv b a; mv t b", &[("a", "b"), ("b", "a")]);
    check_moves(files, "mv a t; mv b a; mv d/c b; mv t d/c", &[("a", "d/c"), ("b", "a"), ("d/c", "b")]);
    check_moves(files, "mv d/e e; mv d e/d", &[("d/e", "e"), ("d", "e/d")]);
    check_moves(files, "mv d t; mkdir d; mv t d/inner", &[("d", "d/inner")]);
    check_moves(files, "mv d/c y; mv d z; mv z/e w", &[("d/c", "y"), ("d", "z"), ("d/e", "w")]);
    check_moves(files, "mv a x; echo new > a", &[("a", "x")]);
}

#[test]
fn what_was_renamed_and_is_gone_is_left_out() {
    let ground = Ground::new();
    let root = ground.project();
    fs::write(root.join("x"), "a").unwrap();
    let item = Item::of_unchanged(root.join("a"), root.join("x")).unwrap();
    let store = ground.store(Bounds::default());
    let folder = store.place_for_copies().unwrap();
    fs::create_dir(&folder).unwrap();
    assert_eq!((store.copies_to_adopt(), store.listed().len()), (vec![folder.clone()], 0));
    let id = store.adopt(&folder, vec![item], &About::default()).unwrap();
    fs::remove_file(root.join("x")).unwrap();
    let plan = store.backup(&id).unwrap().plan(&[], None);
    assert_eq!((plan.impossible().count(), plan.is_done()), (1, true));
}

#[test]
fn the_copies_of_a_run_become_a_backup() {
    let ground = Ground::new();
    let root = ground.project();
    let (kept, lives_on, created) = (root.join("kept"), root.join("lives-on"), root.join("created"));
    fs::write(&kept, "changed").unwrap();
    fs::write(&lives_on, "one").unwrap();
    fs::write(&created, "new").unwrap();
    let store = ground.store(Bounds::default());
    let folder = store.place_for_copies().unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("0"), "before").unwrap();
    fs::hard_link(&lives_on, folder.join("1")).unwrap();
    fs::write(folder.join("2"), "not needed").unwrap();
    let file = |path: &Path, copy| {
        let kind = ItemKind::File { copy, size: 0, unchanging: false, place: None };
        Item { mode: 0o640, left: Left::of(path), ..Item::bare(path.into(), kind) }
    };
    let missed = Item::bare(root.join("missed"), ItemKind::Missed { why: "too large".into() });
    let items = vec![file(&kept, 0), file(&lives_on, 1), Item::bare(created.clone(), ItemKind::Created), missed];
    let id = store.adopt(&folder, items.clone(), &About::default()).unwrap();
    fs::write(&lives_on, "two").unwrap();
    let backup = store.backup(&id).unwrap();
    assert_eq!((backup.bytes, backup.items.len(), store.copies_to_adopt().len()), (9, 4, 0));
    assert!(backup.items.iter().zip(&items).all(|(one, other)| one.left == other.left && one.mode == other.mode));
    let plan = backup.plan(&[], None);
    let changed: Vec<_> = plan.steps.iter().map(reflex_keep::Step::has_changed_since).collect();
    assert_eq!(changed, [Some(false), Some(true), None, None]);
    store.restore(&backup, &plan, &About::default()).unwrap();
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    assert_eq!((read(&kept), read(&lives_on), read(&created)), ("before".into(), "one".into(), "new".into()));
    let plan = store.backup(&id).unwrap().plan(&[], None).without_created();
    store.restore(&backup, &plan, &About::default()).unwrap();
    assert!(!created.exists());
}
