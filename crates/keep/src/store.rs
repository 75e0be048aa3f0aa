//! The folder of all backups: makes one, lists them, lets old ones go.

use crate::manifest;
use crate::model::{About, Backup, Bounds, Item, ItemKind, Refused, Request};
use crate::os::{self, Kind, Stat};
use crate::walk::{Found, Walk, walk};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is being made, and what is going: neither is ever offered.
const MAKING: &str = ".making-";
const GOING: &str = ".going-";

/// Whoever makes or removes a backup is done after this time or was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// So many backups that are too old go when a new one is made; `sweep` removes all of them.
const MAX_EXPIRED: usize = 8;

/// Of so few files each is on the disk before the call runs; of more the system is trusted to bring them there.
const MAX_SYNCED: usize = 8;

/// Files up to this size are read in one go.
const SHORT: u64 = 256 * 1024;

/// No letters and digits that look alike.
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

/// A backup by what its folder's name tells: nothing has to be opened to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// The size of what it holds.
    pub bytes: u64,
    /// The space that it takes once it is packed.
    stored: Option<u64>,
    session: String,
    folder: PathBuf,
}

impl Listed {
    /// What it was made for.
    pub fn about(&self) -> Option<About> {
        manifest::about(&self.folder)
    }

    /// The space that it takes, in bytes.
    pub fn stored(&self) -> u64 {
        self.stored.unwrap_or(self.bytes)
    }

    /// Whether it was never packed.
    pub(crate) fn is_plain(&self) -> bool {
        self.stored.is_none()
    }
}

/// What went when the store was tidied up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Backups that were too old.
    pub removed: usize,
    /// Their size.
    pub bytes: u64,
}

impl BackupStore {
    /// The store in a folder, which need not be there.
    pub fn new(folder: PathBuf, bounds: Bounds) -> BackupStore {
        BackupStore { folder, bounds }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How much it may hold.
    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Keeps all that a request names, or nothing of it; the id of the new backup.
    ///
    /// # Errors
    /// Why not all of it could be kept.
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

    fn fill(&self, walk: Walk, syncs: bool, mut backup: Backup) -> Result<(), Refused> {
        let making = backup.folder.clone();
        let failed = |error| Refused::Failed(making.clone(), error);
        os::create_folder(&making).map_err(failed)?;
        backup.items = Copier::new(&making, &walk, syncs, &self.bounds).copy(walk.found)?;
        let path = making.join(manifest::NAME);
        let written = os::create(&path).and_then(|mut file| {
            file.write_all(manifest::text(&backup).as_bytes())?;
            if syncs { file.sync_data() } else { Ok(()) }
        });
        written.and_then(|()| if syncs { sync(&making) } else { Ok(()) }).map_err(failed)
    }

    /// Lets go what is old until there is room.
    fn make_room(&self, bytes: u64, session: &str) -> Result<(), Refused> {
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
            // The newest stands first.
            let oldest = listed.pop().filter(|oldest| age(oldest.time) >= self.bounds.safe).ok_or(Refused::Full)?;
            self.remove(&oldest).map_err(|error| Refused::Failed(oldest.folder.clone(), error))?;
            total = total.saturating_sub(oldest.stored());
        }
        Ok(())
    }

    fn fresh_id(&self) -> Result<String, Refused> {
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
            if !taken.iter().any(|known| known.id == id) && !self.folder.join(format!("{MAKING}{id}")).exists() {
                return Ok(id);
            }
        }
    }

    /// Every backup that is whole, the newest first.
    pub fn listed(&self) -> Vec<Listed> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut listed: Vec<Listed> = entries.filter_map(|entry| listed(&entry.path())).collect();
        listed.sort_by(|one, other| (other.time, &other.id).cmp(&(one.time, &one.id)));
        listed
    }

    /// The backup of this id; letters of any case will do.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn backup(&self, id: &str) -> io::Result<Backup> {
        let listed = self.listed().into_iter().find(|known| known.id.eq_ignore_ascii_case(id));
        manifest::read(&listed.ok_or(io::ErrorKind::NotFound)?.folder)
    }

    /// Removes a backup that is not needed after all, if it is there.
    pub fn discard(&self, id: &str) {
        if let Some(listed) = self.listed().iter().find(|known| known.id == id) {
            // What stays goes when it is too old.
            let _ = self.remove(listed);
        }
    }

    /// Number of backups past their lifetime, by the clock of this machine.
    pub fn expired(&self) -> usize {
        self.listed().iter().filter(|known| age(known.time) >= self.bounds.lifetime).count()
    }

    /// Removes what is too old, and what somebody left behind who was killed.
    ///
    /// # Errors
    /// Something could not be removed.
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

    /// Whether something could be kept now.
    ///
    /// # Errors
    /// The store cannot be written to, or is full of what is too young to go.
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

    /// From its first moment on, a backup that goes is not offered.
    fn remove(&self, listed: &Listed) -> io::Result<()> {
        let going = self.folder.join(format!("{GOING}{}", listed.id));
        fs::rename(&listed.folder, &going)?;
        fs::remove_dir_all(going)
    }
}

/// Names the space that a backup takes now that it is packed. Somebody else may have done so already, or let it go.
pub(crate) fn restamp(listed: &Listed, stored: u64) -> io::Result<()> {
    let Listed { id, time, bytes, session, folder, .. } = listed;
    match fs::rename(folder, folder.with_file_name(format!("{id}-{time}-{bytes}-{session}-{stored}"))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Whether nobody has worked on it for so long that whoever did was killed.
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

/// Copies what was found into a folder that nobody sees yet.
struct Copier<'a> {
    folder: &'a Path,
    /// Whether the file system must share what it holds, for it is too much to be copied.
    must_share: bool,
    /// Whether sharing is worth another try.
    shares: bool,
    /// Whether each copy is brought to the disk.
    syncs: bool,
    /// The copies of files that have several names.
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
            let nothing = (0, (0, 0), [(0, 0); 2]);
            let (mode, owner, times) = nothing;
            return Ok(Item { path, kind: ItemKind::Absent, mode, owner, times, attributes: Vec::new() });
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
        Ok(Item { kind, mode: stat.mode, owner: stat.owner, times: stat.times, attributes, path })
    }

    /// One more name of a file that never changes, which holds it when the other name goes.
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
        // What is short is read and written faster than the system is asked to share it.
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

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn age(time: u64) -> u64 {
    now().saturating_sub(time)
}

/// A short mark of a session's name that may stand in a file's name (FNV-1a).
fn mark(session: &str) -> String {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", session.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
}
