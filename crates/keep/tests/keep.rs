//! What is kept comes back as it was; what cannot be kept is refused as a whole, and nobody who is killed leaves a half.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

#[path = "keep/adopt.rs"]
mod adopt;

use reflex_keep::{About, BackupStore, Bounds, Plan, Refused, Request, State};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Ground {
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Ground { _folder: folder, root }
    }

    fn store(&self, bounds: Bounds) -> BackupStore {
        BackupStore::new(self.root.join("kept"), bounds)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

fn keep(store: &BackupStore, roots: &[&Path]) -> Result<String, Refused> {
    let roots = roots.iter().map(|root| root.to_path_buf()).collect();
    store.keep(&Request { roots, ..Request::default() }, &About::default())
}

fn length(mut content: reflex_keep::Content) -> u64 {
    std::io::copy(&mut content, &mut std::io::sink()).unwrap()
}

/// The bytes that the store takes on the disk, a file with several names once.
fn taken(folder: &Path) -> u64 {
    let mut seen = std::collections::HashSet::new();
    let mut left = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(path) = left.pop() {
        let data = path.symlink_metadata().unwrap();
        if data.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if seen.insert(data.ino()) {
            bytes += data.len();
        }
    }
    bytes
}

fn restore(store: &BackupStore, id: &str) -> Plan {
    let backup = store.backup(id).unwrap();
    let plan = backup.plan(&[], None);
    store.restore(&backup, &plan, &About::default()).unwrap();
    plan
}

#[test]
fn names_and_contents_of_any_bytes_come_back() {
    use std::os::unix::ffi::OsStrExt;
    let ground = Ground::new();
    let odd = ground.root.join(std::ffi::OsStr::from_bytes(b"a\xff\n\"b"));
    fs::write(&odd, [0, 255, 10, 13]).unwrap();
    symlink(std::ffi::OsStr::from_bytes(b"\xfe"), ground.root.join("link")).unwrap();
    let store = ground.store(Bounds::default());
    let id = keep(&store, &[&odd, &ground.root.join("link")]).unwrap();
    fs::remove_file(&odd).unwrap();
    fs::remove_file(ground.root.join("link")).unwrap();
    restore(&store, &id);
    assert_eq!(fs::read(&odd).unwrap(), [0, 255, 10, 13]);
    assert_eq!(fs::read_link(ground.root.join("link")).unwrap().as_os_str().as_bytes(), b"\xfe");
}

#[test]
fn modes_times_and_attributes_come_back() {
    let ground = Ground::new();
    let file = ground.write("file", "text");
    let attribute = rustix::fs::setxattr(&file, "user.colour", b"blue", rustix::fs::XattrFlags::empty());
    let time = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789));
    fs::File::options().write(true).open(&file).unwrap().set_times(time).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
    let store = ground.store(Bounds::default());
    let id = keep(&store, &[&file]).unwrap();
    fs::remove_file(&file).unwrap();
    restore(&store, &id);
    let data = file.metadata().unwrap();
    assert_eq!((data.mode() & 0o7777, data.mtime(), data.mtime_nsec()), (0o440, 1_000_000_000, 123_456_789));
    if attribute.is_ok() {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(&file, "user.colour", &mut value).unwrap();
        assert_eq!(&value[..length], b"blue");
    }
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let ground = Ground::new();
    let file = ground.write(".env", "TOKEN=x");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = ground.store(Bounds::default());
    keep(&store, &[&file]).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    let backup = fs::read_dir(store.folder()).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(store.folder()), mode(&backup), mode(&backup.join("0"))), (0o700, 0o700, 0o600));
}

#[test]
fn what_is_too_much_is_refused_before_anything_is_copied() {
    let ground = Ground::new();
    let (large, other) = (ground.write("large", "0123456789"), ground.write("other", "x"));
    let few = Bounds { bytes: 9, shared_bytes: 9, files: 1, ..Bounds::default() };
    let store = ground.store(few);
    assert!(matches!(keep(&store, &[&large]), Err(Refused::TooLarge(10))));
    assert!(matches!(keep(&store, &[&other, &large]), Err(Refused::TooMany(2))));
    assert!(matches!(keep(&store, &[&ground.root.join("none")]), Err(Refused::Missing(_))));
    assert!(!store.folder().exists());
}

#[test]
fn what_is_young_makes_no_room_for_another() {
    let ground = Ground::new();
    let file = ground.write("file", "0123456789");
    let store = ground.store(Bounds { total: 15, ..Bounds::default() });
    let first = keep(&store, &[&file]).unwrap();
    assert!(matches!(keep(&store, &[&file]), Err(Refused::Full)));
    assert!(store.backup(&first).is_ok());
    let hasty = ground.store(Bounds { total: 15, safe: 0, ..Bounds::default() });
    let second = keep(&hasty, &[&file]).unwrap();
    assert!(hasty.backup(&first).is_err() && hasty.backup(&second).is_ok());
    let of_session = ground.store(Bounds { of_session: 15, ..Bounds::default() });
    assert!(matches!(keep(&of_session, &[&file]), Err(Refused::SessionFull)));
}

#[test]
fn what_is_old_goes_and_what_somebody_left_behind_too() {
    let ground = Ground::new();
    let file = ground.write("file", "text");
    let store = ground.store(Bounds { lifetime: 0, ..Bounds::default() });
    keep(&store, &[&file]).unwrap();
    let making = store.folder().join(".making-KABCD");
    fs::create_dir(&making).unwrap();
    assert_eq!(store.sweep().unwrap().removed, 1);
    // Somebody may still be at it.
    assert!(making.exists() && store.listed().is_empty());
    let long_ago = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    fs::File::open(&making).unwrap().set_times(long_ago).unwrap();
    store.sweep().unwrap();
    assert!(!making.exists());
}

#[test]
fn what_has_rested_is_packed_once_and_comes_back() {
    let ground = Ground::new();
    let text = "a line of text that comes again\n".repeat(3000);
    let file = ground.write("d/file", &text);
    ground.write("d/empty", "");
    let noise: Vec<u8> = (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(ground.root.join("d/noise"), &noise).unwrap();
    let store = ground.store(Bounds { rest: 0, ..Bounds::default() });
    let ids: Vec<String> = (0..3).map(|_| keep(&store, &[&ground.root.join("d")]).unwrap()).collect();
    let before = taken(store.folder());
    assert!(store.pack().unwrap() > 200_000);
    assert!(taken(store.folder()) * 5 < before, "{} of {before}", taken(store.folder()));
    assert_eq!(store.pack().unwrap(), 0);
    for id in &ids {
        fs::write(&file, "other").unwrap();
        fs::remove_file(ground.root.join("d/noise")).unwrap();
        restore(&store, id);
        assert!(fs::read_to_string(&file).unwrap() == text && fs::read(ground.root.join("d/noise")).unwrap() == noise);
        assert!(store.backup(id).unwrap().plan(&[], None).is_done());
    }
}

#[test]
fn a_packed_content_goes_with_its_last_backup() {
    let ground = Ground::new();
    let file = ground.write("file", &"text ".repeat(4000));
    let store = ground.store(Bounds { rest: 0, ..Bounds::default() });
    keep(&store, &[&file]).unwrap();
    keep(&store, &[&file]).unwrap();
    store.pack().unwrap();
    let packed = fs::read_dir(store.folder().join(".packed")).unwrap().next().unwrap().unwrap().path();
    let long_ago = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    fs::File::open(&packed).unwrap().set_times(long_ago).unwrap();
    store.sweep().unwrap();
    assert!(packed.exists());
    ground.store(Bounds { lifetime: 0, ..Bounds::default() }).sweep().unwrap();
    assert!(!packed.exists() && store.listed().is_empty());
}

#[test]
fn what_was_packed_and_damaged_is_not_restored() {
    let ground = Ground::new();
    let text = "text ".repeat(4000);
    let file = ground.write("file", &text);
    fs::hard_link(&file, ground.root.join("other")).unwrap();
    let store = ground.store(Bounds { rest: 0, ..Bounds::default() });
    let id = keep(&store, &[&file]).unwrap();
    store.pack().unwrap();
    let packed = fs::read_dir(store.folder().join(".packed")).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&packed).unwrap();
    fs::write(&file, "mine").unwrap();
    for end in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&packed, &bytes[..end]).unwrap();
        let backup = store.backup(&id).unwrap();
        let plan = backup.plan(&[], None);
        assert!(store.restore(&backup, &plan, &About::default()).is_err(), "{end}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
    fs::write(&packed, &bytes).unwrap();
    restore(&store, &id);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn what_is_too_old_goes_when_something_new_is_kept() {
    let ground = Ground::new();
    let file = ground.write("file", "text");
    let first = keep(&ground.store(Bounds::default()), &[&file]).unwrap();
    let store = ground.store(Bounds { lifetime: 0, ..Bounds::default() });
    let second = keep(&store, &[&file]).unwrap();
    assert!(store.backup(&first).is_err() && store.backup(&second).is_ok());
}

#[test]
fn what_is_damaged_is_not_offered_or_not_restored() {
    let ground = Ground::new();
    let file = ground.write("file", "text");
    let store = ground.store(Bounds::default());
    let id = keep(&store, &[&file]).unwrap();
    let folder = fs::read_dir(store.folder()).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&file).unwrap();
    fs::write(folder.join("0"), "te").unwrap();
    let backup = store.backup(&id).unwrap();
    let plan = backup.plan(&[], None);
    assert!(store.restore(&backup, &plan, &About::default()).is_err() && !file.exists());
    let manifest = fs::read(folder.join("manifest")).unwrap();
    fs::write(folder.join("manifest"), &manifest[..manifest.len() / 2]).unwrap();
    assert!(store.backup(&id).is_err());
}

#[test]
fn a_link_that_took_a_folders_place_leads_nothing_elsewhere() {
    let ground = Ground::new();
    let file = ground.write("notes/a", "mine");
    let store = ground.store(Bounds::default());
    let id = keep(&store, &[&file]).unwrap();
    fs::remove_dir_all(ground.root.join("notes")).unwrap();
    let other = ground.write("other/a", "somebody else's");
    symlink("other", ground.root.join("notes")).unwrap();
    let backup = store.backup(&id).unwrap();
    let plan = backup.plan(&[], None);
    assert_eq!(plan.steps[0].state, State::Elsewhere);
    assert!(store.restore(&backup, &plan, &About::default()).is_err());
    assert_eq!(fs::read_to_string(other).unwrap(), "somebody else's");
}

#[test]
fn what_lies_behind_a_link_is_not_kept_under_the_links_name() {
    let ground = Ground::new();
    let key = ground.write("keys/id", "somebody's key");
    symlink("keys", ground.root.join("notes")).unwrap();
    let store = ground.store(Bounds::default());
    assert!(matches!(keep(&store, &[&ground.root.join("notes/id")]), Err(Refused::Failed(..))));
    assert!(store.listed().is_empty());
    // The link itself is what lies there.
    let id = keep(&store, &[&ground.root.join("notes")]).unwrap();
    assert_eq!(store.backup(&id).unwrap().items.len(), 1);
    assert_eq!(fs::read_to_string(key).unwrap(), "somebody's key");
}

#[test]
fn what_cannot_be_read_whole_is_not_kept_in_part() {
    let ground = Ground::new();
    ground.write("work/a", "text");
    let _socket = std::os::unix::net::UnixListener::bind(ground.root.join("work/socket")).unwrap();
    let store = ground.store(Bounds::default());
    assert!(matches!(keep(&store, &[&ground.root.join("work")]), Err(Refused::Special(_))));
    let closed = ground.write("closed/a", "text");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    let is_root = fs::read(&closed).is_ok();
    assert!(is_root || matches!(keep(&store, &[&ground.root.join("closed")]), Err(Refused::Failed(..))));
    fs::write(ground.root.join("blocked"), "").unwrap();
    let nowhere = BackupStore::new(ground.root.join("blocked/kept"), Bounds::default());
    assert!(matches!(keep(&nowhere, &[&closed]), Err(Refused::Failed(..))));
    assert!(store.listed().is_empty());
}

/// Somebody puts a link to a key in the place of the folder that is kept, again and again.
#[test]
fn a_link_that_takes_a_folders_place_in_between_brings_nothing_else_in() {
    let ground = Ground::new();
    ground.write("keys/a", "key!");
    ground.write("work/a", "mine");
    symlink("keys", ground.root.join("link")).unwrap();
    let (work, aside, link) = (ground.root.join("work"), ground.root.join("aside"), ground.root.join("link"));
    let store = ground.store(Bounds::default());
    let ends = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&work, &aside).unwrap();
                fs::rename(&link, &work).unwrap();
                fs::rename(&work, &link).unwrap();
                fs::rename(&aside, &work).unwrap();
            }
        });
        for _ in 0..300 {
            let _ = keep(&store, &[&work.join("a")]);
        }
        ends.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    for known in store.listed() {
        let backup = store.backup(&known.id).unwrap();
        for content in backup.items.iter().filter_map(|item| backup.content(item)) {
            assert_eq!(std::io::read_to_string(content.unwrap()).unwrap(), "mine");
        }
    }
}

#[test]
fn some_of_it_comes_back_and_elsewhere_too() {
    let ground = Ground::new();
    let (one, other) = (ground.write("d/one", "1"), ground.write("d/e/other", "2"));
    let store = ground.store(Bounds::default());
    let id = keep(&store, &[&ground.root.join("d")]).unwrap();
    fs::remove_dir_all(ground.root.join("d")).unwrap();
    let backup = store.backup(&id).unwrap();
    store.restore(&backup, &backup.plan(std::slice::from_ref(&other), None), &About::default()).unwrap();
    assert!(other.exists() && !one.exists());
    let below = ground.root.join("elsewhere");
    assert!(store.restore(&backup, &backup.plan(&[], Some(&below)), &About::default()).unwrap().is_none());
    assert_eq!(fs::read_to_string(below.join("d/one")).unwrap(), "1");
}

/// Run as a process of its own: keeps and restores until it is killed.
#[test]
fn keeps_until_it_is_killed() {
    let Some(root) = std::env::var_os("KEEP_UNTIL_KILLED").map(PathBuf::from) else { return };
    let store = BackupStore::new(root.join("kept"), Bounds { rest: 0, ..Bounds::default() });
    loop {
        let id = keep(&store, &[&root.join("work")]).unwrap();
        store.pack().unwrap();
        fs::remove_dir_all(root.join("work")).unwrap();
        restore(&store, &id);
    }
}

#[test]
fn whoever_is_killed_leaves_nothing_half_and_loses_nothing() {
    let ground = Ground::new();
    for number in 0..12 {
        ground.write(&format!("work/{number}/file"), &"text ".repeat(number * 400));
    }
    let first = keep(&ground.store(Bounds::default()), &[&ground.root.join("work")]).unwrap();
    for round in 0..100_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["keeps_until_it_is_killed", "--exact"])
            .env("KEEP_UNTIL_KILLED", &ground.root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Another moment each time, spread over several turns of its loop.
        std::thread::sleep(Duration::from_micros(5_000 + round * 7_919 % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = ground.store(Bounds::default());
        let is_complete = |backup: &reflex_keep::Backup| {
            let size = |item| backup.content(item).map_or(0, |content| length(content.unwrap()));
            backup.items.iter().map(size).sum::<u64>() == backup.bytes
        };
        let listed = store.listed();
        assert!(listed.iter().all(|known| is_complete(&store.backup(&known.id).unwrap())), "round {round}");
        restore(&store, &first);
        for number in 0..12 {
            let file = ground.root.join(format!("work/{number}/file"));
            assert_eq!(fs::read_to_string(file).unwrap(), "text ".repeat(number * 400), "round {round}");
        }
        // What this round made is of no further use.
        let of_round = fs::read_dir(store.folder()).unwrap().map(|entry| entry.unwrap().path());
        let is_first = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&first);
        of_round.filter(|path| !is_first(path)).for_each(|path| fs::remove_dir_all(path).unwrap());
    }
}
