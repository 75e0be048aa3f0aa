//! The folder of all backups: creates, lists and expires them.

use crate::manifest;
use crate::model::{About, Backup, Bounds, Item, ItemKind, Left, Moved, Refused, Request};
use crate::os::{self, Kind, Stat};
use crate::walk::{Found, Walk, walk};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Prefixes of incomplete backups, while they are created and removed. They are never listed.
const MAKING: &str = ".making-";
const GOING: &str = ".going-";

/// Prefix of a folder in which another keeps the files of a running program.
pub(crate) const WATCHING: &str = ".watching-";

/// An incomplete backup of this age belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Maximum number of expired backups that are removed per new backup; `sweep` removes all.
const MAX_EXPIRED: usize = 8;

/// Up to this number of files each one is synced to disk before the call runs.
const MAX_SYNCED: usize = 8;

/// Files up to this size, in bytes, are read at once.
const SHORT: u64 = 256 * 1024;

/// Characters of an id, without those that look alike.
const LETTERS: [char; 32] = [
    '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'L', 'M', 'N', 'P', 'Q',
    'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z',
];

/// All backups of one user.
#[derive(Debug, Clone)]
pub struct BackupStore {
    folder: PathBuf,
    bounds: Bounds,
}

/// A backup as its folder's name describes it, so that counting opens no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Creation time in milliseconds since 1970.
    pub time: u64,
    /// Total size of its files in bytes.
    pub bytes: u64,
    /// Size on disk in bytes, once it is packed.
    stored: Option<u64>,
    session: String,
    folder: PathBuf,
}

impl Listed {
    /// The call for which it was made; `None` if the manifest cannot be read.
    pub fn about(&self) -> Option<About> {
        manifest::about(&self.folder)
    }

    /// Size on disk in bytes.
    pub fn stored(&self) -> u64 {
        self.stored.unwrap_or(self.bytes)
    }

    /// Whether it is not packed yet.
    pub(crate) fn is_plain(&self) -> bool {
        self.stored.is_none()
    }
}

/// The result of [`BackupStore::sweep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Number of expired backups.
    pub removed: usize,
    /// Their size on disk in bytes.
    pub bytes: u64,
}

impl BackupStore {
    /// The store in a folder, which is created with the first backup.
    pub fn new(folder: PathBuf, bounds: Bounds) -> BackupStore {
        BackupStore { folder, bounds }
    }

    /// The store's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its limits.
    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Backs up the whole request, or fails; returns the id of the new backup.
    ///
    /// # Errors
    /// The reason why the request cannot be backed up as a whole.
    pub fn keep(&self, request: &Request, about: &About) -> Result<String, Refused> {
        let walk = walk(request, &self.bounds)?;
        let syncs = !request.is_lazy;
        let session = mark(&about.session);
        self.make_room(walk.bytes, &session)?;
        let id = self.fresh_id()?;
        let making = self.folder.join(format!("{MAKING}{id}"));
        let time = now();
        let name = format!("{id}-{time}-{}-{session}", walk.bytes);
        let (bytes, about, items) = (walk.bytes, about.clone(), Vec::new());
        let kept = self.fill(walk, syncs, Backup { id: id.clone(), time, bytes, about, items, folder: making.clone() });
        let kept = kept.and_then(|()| {
            let named = fs::rename(&making, self.folder.join(name))
                .and_then(|()| if syncs { sync(&self.folder) } else { Ok(()) });
            named.map_err(|error| Refused::Failed(self.folder.clone(), error))
        });
        if let Err(refused) = kept {
            let _ = fs::remove_dir_all(&making);
            return Err(refused);
        }
        Ok(id)
    }

    /// Checks whether [`BackupStore::keep`] would accept a request of this session, without copying. It does not detect
    /// unreadable files, nor files that change meanwhile.
    ///
    /// # Errors
    /// The reason why the request cannot be backed up as a whole.
    pub fn try_keep(&self, request: &Request, session: &str) -> Result<(), Refused> {
        let walk = walk(request, &self.bounds)?;
        let mut listed = self.listed();
        listed.retain(|known| age(known.time) < self.bounds.lifetime);
        let of_session: u64 = listed.iter().filter(|known| known.session == mark(session)).map(Listed::stored).sum();
        if of_session.saturating_add(walk.bytes) > self.bounds.of_session {
            return Err(Refused::SessionFull);
        }
        let safe = listed.iter().filter(|known| age(known.time) < self.bounds.safe);
        if safe.map(Listed::stored).sum::<u64>().saturating_add(walk.bytes) > self.bounds.total {
            return Err(Refused::Full);
        }
        let is_shared = |found: &Found| {
            let probe = self.folder.join(format!("{MAKING}{}", self.fresh_id().ok()?));
            let source = os::open_original(&found.path).ok()?;
            let shared = os::create(&probe).and_then(|target| os::share(&target, &source)).is_ok();
            fs::remove_file(&probe).ok()?;
            Some(shared)
        };
        let largest = walk.found.iter().filter(|found| found.stat.as_ref().is_some_and(|stat| stat.kind == Kind::File));
        let largest = largest.max_by_key(|found| found.stat.as_ref().map_or(0, |stat| stat.size));
        match walk.bytes > self.bounds.bytes && largest.and_then(is_shared) != Some(true) {
            true => Err(Refused::TooLarge(walk.bytes)),
            false => Ok(()),
        }
    }

    fn fill(&self, walk: Walk, syncs: bool, mut backup: Backup) -> Result<(), Refused> {
        let making = backup.folder.clone();
        let failed = |error| Refused::Failed(making.clone(), error);
        os::create_folder(&making).map_err(failed)?;
        let moved: Result<Vec<Item>, Refused> = walk.moved.iter().map(Moved::item).collect();
        backup.items = Copier::new(&making, &walk, syncs, &self.bounds).copy(walk.found)?;
        backup.items.extend(moved?);
        (if syncs { manifest::write_through(&backup) } else { manifest::write(&backup) }).map_err(failed)
    }

    /// Removes the oldest backups until there is room.
    pub(crate) fn make_room(&self, bytes: u64, session: &str) -> Result<(), Refused> {
        let mut listed = self.listed();
        for _ in 0..MAX_EXPIRED {
            let Some(old) = listed.pop_if(|oldest| age(oldest.time) >= self.bounds.lifetime) else { break };
            self.remove(&old).map_err(|error| Refused::Failed(old.folder.clone(), error))?;
        }
        let mut total: u64 = listed.iter().map(Listed::stored).sum::<u64>().saturating_add(bytes);
        let of_session: u64 = listed.iter().filter(|known| known.session == session).map(Listed::stored).sum();
        if of_session.saturating_add(bytes) > self.bounds.of_session {
            return Err(Refused::SessionFull);
        }
        while total > self.bounds.total || listed.len() >= self.bounds.backups {
            // The newest comes first.
            let oldest = listed.pop().filter(|oldest| age(oldest.time) >= self.bounds.safe).ok_or(Refused::Full)?;
            self.remove(&oldest).map_err(|error| Refused::Failed(oldest.folder.clone(), error))?;
            total = total.saturating_sub(oldest.stored());
        }
        Ok(())
    }

    pub(crate) fn fresh_id(&self) -> Result<String, Refused> {
        let failed = |error| Refused::Failed(self.folder.clone(), error);
        os::create_folder(&self.folder).map_err(failed)?;
        let taken = self.listed();
        loop {
            let mut number = os::random().map_err(failed)?;
            let mut id = String::from("K");
            for _ in 0..4 {
                id.extend(LETTERS.get((number % 32) as usize));
                number /= 32;
            }
            if !taken.iter().any(|known| known.id == id)
                && [MAKING, WATCHING].iter().all(|prefix| !self.folder.join(format!("{prefix}{id}")).exists())
            {
                return Ok(id);
            }
        }
    }

    /// All complete backups, newest first.
    pub fn listed(&self) -> Vec<Listed> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut listed: Vec<Listed> = entries.filter_map(|entry| listed(&entry.path())).collect();
        listed.sort_by(|one, other| (other.time, &other.id).cmp(&(one.time, &one.id)));
        listed
    }

    /// The backup of this id, in upper or lower case.
    ///
    /// # Errors
    /// `NotFound` if the backup does not exist, `InvalidData` if it is damaged.
    pub fn backup(&self, id: &str) -> io::Result<Backup> {
        let listed = self.listed().into_iter().find(|known| known.id.eq_ignore_ascii_case(id));
        manifest::read(&listed.ok_or(io::ErrorKind::NotFound)?.folder)
    }

    /// Removes a backup, if it exists.
    pub fn discard(&self, id: &str) {
        if let Some(listed) = self.listed().iter().find(|known| known.id == id) {
            // If that fails, the backup expires later.
            let _ = self.remove(listed);
        }
    }

    /// Number of backups past their lifetime, by the clock of this machine.
    pub fn expired(&self) -> usize {
        self.listed().iter().filter(|known| age(known.time) >= self.bounds.lifetime).count()
    }

    /// Removes expired backups, and incomplete ones of killed processes.
    ///
    /// # Errors
    /// A backup could not be removed.
    pub fn sweep(&self) -> io::Result<Swept> {
        let mut swept = Swept::default();
        for old in self.listed().iter().filter(|known| age(known.time) >= self.bounds.lifetime) {
            self.remove(old)?;
            swept = Swept { removed: swept.removed + 1, bytes: swept.bytes + old.stored() };
        }
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_ours = name.to_str().is_some_and(|name| name.starts_with(MAKING) || name.starts_with(GOING));
            if is_ours && is_abandoned(&entry.path()) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        self.drop_unused()?;
        Ok(swept)
    }

    /// Checks that the store accepts a new backup.
    ///
    /// # Errors
    /// The store cannot be written, or is full of backups that must not be removed yet.
    pub fn check(&self) -> Result<(), Refused> {
        let failed = |error| Refused::Failed(self.folder.clone(), error);
        let id = self.fresh_id()?;
        let probe = self.folder.join(format!("{MAKING}{id}"));
        let written = os::create(&probe).and_then(|mut file| file.write_all(id.as_bytes()));
        written.and_then(|()| fs::remove_file(&probe)).map_err(failed)?;
        let listed = self.listed();
        let is_full =
            listed.iter().map(Listed::stored).sum::<u64>() >= self.bounds.total || listed.len() >= self.bounds.backups;
        let is_young = listed.last().is_some_and(|oldest| age(oldest.time) < self.bounds.safe);
        if is_full && is_young { Err(Refused::Full) } else { Ok(()) }
    }

    /// Renames first, so that a backup is never listed while it is removed.
    fn remove(&self, listed: &Listed) -> io::Result<()> {
        let going = self.folder.join(format!("{GOING}{}", listed.id));
        fs::rename(&listed.folder, &going)?;
        fs::remove_dir_all(going)
    }
}

/// Puts the packed size into the folder's name. Another process may have renamed or removed it meanwhile.
pub(crate) fn restamp(listed: &Listed, stored: u64) -> io::Result<()> {
    let Listed { id, time, bytes, session, folder, .. } = listed;
    match fs::rename(folder, folder.with_file_name(format!("{id}-{time}-{bytes}-{session}-{stored}"))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Whether it has not changed for so long that its process must have been killed.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    let touched = path.symlink_metadata().and_then(|data| data.modified());
    touched.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= ABANDONED))
}

fn listed(folder: &Path) -> Option<Listed> {
    let name = folder.file_name()?.to_str()?;
    let mut parts = name.split('-');
    let (id, time, bytes, session) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(Listed {
        id: Some(id).filter(|id| !id.is_empty() && !id.starts_with('.'))?.to_owned(),
        time: time.parse().ok()?,
        bytes: bytes.parse().ok()?,
        stored: parts.next().and_then(|stored| stored.parse().ok()),
        session: session.to_owned(),
        folder: folder.to_owned(),
    })
}

/// Copies files into the folder of an incomplete backup.
struct Copier<'a> {
    folder: &'a Path,
    /// Whether the request is too large to be copied, so that the file system must share blocks.
    must_share: bool,
    /// Whether sharing blocks has not failed yet.
    shares: bool,
    /// Whether each copy is synced to disk.
    syncs: bool,
    /// The copies of files with several hard links, by device and inode.
    copies: HashMap<(u64, u64), u64>,
    next: u64,
    buffer: Vec<u8>,
}

impl<'a> Copier<'a> {
    fn new(folder: &'a Path, walk: &Walk, syncs: bool, bounds: &Bounds) -> Copier<'a> {
        Copier {
            folder,
            must_share: walk.bytes > bounds.bytes,
            shares: true,
            syncs: syncs && walk.found.len() <= MAX_SYNCED,
            copies: HashMap::new(),
            next: 0,
            buffer: Vec::new(),
        }
    }

    fn copy(&mut self, found: Vec<Found>) -> Result<Vec<Item>, Refused> {
        found.into_iter().map(|found| self.item(found)).collect()
    }

    fn item(&mut self, Found { path, stat, unchanging }: Found) -> Result<Item, Refused> {
        let Some(stat) = stat else {
            return Ok(Item::bare(path, ItemKind::Absent));
        };
        let failed = |error| Refused::Failed(path.clone(), error);
        let mut attributes = Vec::new();
        let kind = match stat.kind {
            Kind::File if unchanging => self.linked(&path, &stat).map_err(failed)?,
            Kind::File => self.file(&path, &stat, &mut attributes)?,
            Kind::Folder => ItemKind::Folder,
            Kind::Link => ItemKind::Link { to: fs::read_link(&path).map_err(failed)? },
            Kind::Pipe => ItemKind::Pipe,
            Kind::Other => return Err(Refused::Special(path)),
        };
        if matches!(stat.kind, Kind::Folder | Kind::Link) {
            attributes = os::attributes(&path).map_err(failed)?;
        }
        let left = Left::Unknown;
        Ok(Item { kind, mode: stat.mode, owner: stat.owner, times: stat.times, attributes, path, left })
    }

    /// Backs up an immutable file by a hard link.
    fn linked(&mut self, path: &Path, stat: &Stat) -> io::Result<ItemKind> {
        let (copy, to) = self.fresh();
        if fs::hard_link(path, &to).is_err() {
            let (from, to) = (os::open_original(path)?, os::create(&to)?);
            os::share(&to, &from)?;
        }
        Ok(ItemKind::File { copy, size: stat.size, unchanging: true, place: None })
    }

    fn file(
        &mut self,
        path: &Path,
        stat: &Stat,
        attributes: &mut Vec<(Vec<u8>, Vec<u8>)>,
    ) -> Result<ItemKind, Refused> {
        let failed = |error| Refused::Failed(path.to_owned(), error);
        let mut source = os::open_original(path).map_err(failed)?;
        *attributes = os::attributes_of(&source, path).map_err(failed)?;
        let place = Some(stat.place).filter(|_| stat.names > 1);
        if let Some(copy) = place.and_then(|place| self.copies.get(&place).copied()) {
            return Ok(ItemKind::File { copy, size: stat.size, unchanging: false, place });
        }
        let (copy, to) = self.fresh();
        let mut target = os::create(&to).map_err(failed)?;
        self.content(&mut source, &mut target, stat.size).map_err(failed)??;
        if self.syncs {
            target.sync_data().map_err(failed)?;
        }
        let after = source.metadata().map(|data| os::stat_of(&data)).map_err(failed)?;
        let of = |stat: &Stat| (stat.kind, stat.size, stat.place, stat.changed);
        if of(&after) != of(stat) {
            return Err(Refused::Changing(path.to_owned()));
        }
        self.copies.extend(place.map(|place| (place, copy)));
        Ok(ItemKind::File { copy, size: stat.size, unchanging: false, place })
    }

    fn content(&mut self, source: &mut File, target: &mut File, size: u64) -> io::Result<Result<(), Refused>> {
        // Copying a short file is faster than asking the system to share it.
        if self.shares && (size > SHORT || self.must_share) {
            if os::share(target, source).is_ok() {
                return Ok(Ok(()));
            }
            self.shares = false;
        }
        if self.must_share && !self.shares {
            return Ok(Err(Refused::TooLarge(size)));
        }
        if size > SHORT {
            return io::copy(source, target).map(|_| Ok(()));
        }
        self.buffer.clear();
        source.take(SHORT + 1).read_to_end(&mut self.buffer)?;
        target.write_all(&self.buffer).map(Ok)
    }

    fn fresh(&mut self) -> (u64, PathBuf) {
        let copy = self.next;
        self.next += 1;
        (copy, self.folder.join(copy.to_string()))
    }
}

pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_data()
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn age(time: u64) -> u64 {
    now().saturating_sub(time)
}

/// A hash of a session's name that is valid in a file name (FNV-1a, 64 bits).
pub(crate) fn mark(session: &str) -> String {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", session.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
}
