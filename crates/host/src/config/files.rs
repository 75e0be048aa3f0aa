//! The folders of people's rules and policies, and the checks that decide how far to trust the files in them.

use crate::system::clock;
use crate::system::digest::of_parts;
use crate::system::folders::Folders;
use crate::system::os::{self, Kind, Stat};
use reflex_engine::Authority;
use reflex_library::{DIGEST, RECOMMENDED};
use reflex_rules::{MAX_BYTES, SourceFile, Variables, rule_files};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

/// The administrator's folder.
const MANAGED: &str = "/etc/reflex";

/// Minimum age, in seconds, of a file that is identified by its metadata. A younger one is identified by its content,
/// since the file system's clock may not separate two changes.
const FRESH_SECONDS: u64 = 3;

/// A folder of rules and perhaps a policy.
#[derive(Debug, Clone)]
pub struct Place {
    /// The layer to which the files belong.
    pub authority: Authority,
    /// The folder that holds `policy.yaml` and `rules/`; for further folders of rules the folder itself.
    pub folder: PathBuf,
    /// The workspace to which it applies.
    pub workspace: PathBuf,
    /// Whether the folder holds rules only.
    rules_only: bool,
    /// Whether this is the shipped rule set, which has no folder on disk.
    ships: bool,
    /// The reason why this folder, which only the environment names, may not loosen; `None` if it may.
    moved: Option<String>,
}

/// The places that exist, in ascending order of authority.
pub(super) fn places(folders: &Folders, workspace: &Path) -> Vec<Place> {
    let place = |authority, folder: PathBuf, moved| Place {
        authority,
        folder,
        workspace: workspace.to_owned(),
        rules_only: false,
        ships: false,
        moved,
    };
    let mut places = Vec::new();
    let project = workspace.join(".reflex");
    if project.is_dir() && project != folders.config {
        places.push(place(Authority::Project, project, None));
    }
    if folders.config.is_dir() {
        let moved = folders.may_only_tighten().then(|| {
            "only the environment names this home, so it may only tighten; name it with `--home` in the hook's entry".to_owned()
        });
        places.push(place(Authority::User, folders.config.clone(), moved));
    }
    let managed = PathBuf::from(MANAGED);
    if managed.is_dir() {
        places.push(place(Authority::Managed, managed, None));
    }
    places
}

/// Maximum total size, in bytes, of the files of one place. Files beyond it are not read.
const MAX_TOGETHER: u64 = 4 << 20;

/// A file of a place, with its metadata.
pub struct File {
    /// The folder that was listed, and the file's path relative to it.
    folder: Rc<Path>,
    name: PathBuf,
    stat: Stat,
    is_policy: bool,
    /// The reason for not reading the file, if any; its last good version then stays in force.
    why: Option<String>,
}

impl File {
    fn path(&self) -> PathBuf {
        path_of(&self.folder, &self.name)
    }
}

/// The path of a file; `name` is empty if the file was given directly instead of found in a folder.
fn path_of(folder: &Path, name: &Path) -> PathBuf {
    if name.as_os_str().is_empty() { folder.to_owned() } else { folder.join(name) }
}

/// The files found in a place, and the problems with them.
pub struct Found {
    /// The files.
    pub files: Vec<File>,
    /// Files that cannot be read or trusted, each with the reason.
    pub problems: Vec<String>,
    /// The reason why the place may only tighten; `None` if it may loosen.
    pub why_tight: Option<String>,
    /// The text of the shipped rules, if the place is not a folder.
    pub shipped: Option<&'static str>,
    /// Total size of its files, in bytes.
    bytes: u64,
}

impl Place {
    /// A folder of rules with the user's authority.
    pub(super) fn user(folder: PathBuf) -> Place {
        let workspace = folder.clone();
        Place { authority: Authority::User, workspace, folder, rules_only: true, ships: false, moved: None }
    }

    /// The place of the user's policy and rules.
    pub(super) fn of_user(folders: &Folders) -> Place {
        Place { rules_only: false, ..Place::user(folders.config.clone()) }
    }

    /// The shipped rules, with the authority of this place.
    pub(super) fn shipped(&self) -> Place {
        Place { folder: PathBuf::from("recommended"), rules_only: true, ships: true, ..self.clone() }
    }

    /// A folder or file that the policy of this place extends. A folder with neither a policy nor a `rules` folder
    /// holds rules only.
    pub(super) fn base(&self, path: &str, home: &Path) -> Place {
        let place = self.further(path, home);
        let holds = |name: &str| place.folder.join(name).symlink_metadata().is_ok();
        let is_complete = ["policy.yaml", "policy.yml", "policy.json", "rules"].into_iter().any(holds);
        Place { rules_only: !is_complete, ..place }
    }

    /// A further folder of rules that the policy of this place names in `rule_dirs`; `~/` is the home.
    pub(super) fn further(&self, folder: &str, home: &Path) -> Place {
        let folder = match folder.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => self.folder.join(folder),
        };
        Place { folder, rules_only: true, ..self.clone() }
    }

    /// Lists its files in directory order, unsorted; [`Found::read`] sorts them.
    pub fn list(&self) -> Found {
        let why_tight = self.moved.clone();
        let mut found = Found { files: Vec::new(), problems: Vec::new(), why_tight, shipped: None, bytes: 0 };
        if self.ships {
            found.shipped = Some(RECOMMENDED);
            return found;
        }
        if self.folder.is_file() {
            let is_policy = self.folder.file_stem().is_some_and(|name| name == "policy");
            let one = (self.folder.as_path().into(), PathBuf::new());
            self.add(one, os::stat(&self.folder), is_policy, &mut found);
            return found;
        }
        if !self.rules_only {
            let names = ["policy.yaml", "policy.yml", "policy.json"];
            let policies: Vec<PathBuf> = names
                .iter()
                .map(|name| self.folder.join(name))
                .filter(|path| path.symlink_metadata().is_ok())
                .collect();
            if let [first, second, ..] = policies.as_slice() {
                let (first, second) = (first.display(), second.display());
                found.problems.push(format!("{second}: there is {first} already, so this file does not count"));
            }
            if let Some(path) = policies.into_iter().next() {
                let stat = os::stat(&path);
                self.add((path.into(), PathBuf::new()), stat, true, &mut found);
            }
        }
        let rules = if self.rules_only { self.folder.clone() } else { self.folder.join("rules") };
        let leads_out = rules.is_symlink() && self.leads_out(&rules);
        if leads_out && self.authority == Authority::Project {
            found.problems.push(format!("{}: it leads out of the folder, so it does not count", rules.display()));
        } else if rules.is_dir() {
            if let Err(error) = self.add_all(&rules, &mut found) {
                found.problems.push(format!("{}: {error}", rules.display()));
            }
        } else if rules.symlink_metadata().is_ok() {
            found.problems.push(format!("{}: it is not a folder", rules.display()));
        }
        found
    }

    /// Adds all files of a folder. Each is looked up relative to the open folder, so that the kernel does not resolve
    /// the full path each time.
    fn add_all(&self, rules: &Path, found: &mut Found) -> io::Result<()> {
        let rules = rules.canonicalize()?;
        let folder = os::Folder::open(&rules)?;
        let names = rule_files(&rules)?;
        let rules: Rc<Path> = rules.into();
        for name in names {
            let stat = folder.stat(&name);
            self.add((rules.clone(), name), stat, false, found);
        }
        Ok(())
    }

    fn add(
        &self,
        (folder, name): (Rc<Path>, PathBuf),
        of_itself: io::Result<Stat>,
        is_policy: bool,
        found: &mut Found,
    ) {
        let path = || path_of(&folder, &name);
        // Only a symlink can lead elsewhere, and most files are not symlinks. There may be many files.
        let is_link = of_itself.as_ref().is_ok_and(|stat| stat.kind == Kind::Link);
        let outside = is_link && self.leads_out(&path());
        match if is_link { os::stat_following_links(&path()) } else { of_itself } {
            Ok(stat) => {
                let why = match () {
                    () if stat.kind == Kind::Folder => {
                        Some("the folder is not read: it is reached through a link or is nested too deeply".to_owned())
                    }
                    () if stat.kind != Kind::File => Some("it is not a file".to_owned()),
                    () if stat.size > MAX_BYTES => Some(format!("it is larger than {} KiB", MAX_BYTES / 1024)),
                    () if found.bytes + stat.size > MAX_TOGETHER => {
                        Some(format!("the files of this folder are larger than {} MiB", MAX_TOGETHER >> 20))
                    }
                    () => None,
                };
                if outside && self.authority == Authority::Project {
                    let shown = path();
                    let shown = shown.display();
                    found.problems.push(format!("{shown}: it leads out of the folder, so it does not count"));
                } else {
                    self.take(File { folder, name, stat, is_policy, why }, found);
                }
            }
            Err(error) => found.problems.push(format!("{}: {error}", path().display())),
        }
    }

    fn leads_out(&self, path: &Path) -> bool {
        let (real, root) = (path.canonicalize(), self.folder.canonicalize());
        !matches!((real, root), (Ok(real), Ok(root)) if real.starts_with(&root))
    }

    /// Adds a file. A managed file that others than root could have written is dropped; a user's file that others could
    /// have written makes its layer tighten only.
    fn take(&self, file: File, found: &mut Found) {
        if let Some(why) = self.not_believed(&file.stat) {
            let shown = file.path();
            let shown = shown.display();
            if self.authority == Authority::Managed {
                found.problems.push(format!("{shown}: {why}, so it does not count"));
                return;
            }
            found.why_tight = Some(format!("{shown}: {why}"));
        }
        found.bytes += if file.why.is_none() { file.stat.size } else { 0 };
        found.files.push(file);
    }

    fn not_believed(&self, stat: &Stat) -> Option<String> {
        match self.authority {
            Authority::Project => None,
            Authority::User if !stat.is_of(own_user()) && !stat.is_of_root() => {
                Some("it belongs to another user".into())
            }
            Authority::User if stat.everybody_may_write() => Some("everybody may write it".into()),
            Authority::User => None,
            Authority::Managed if !stat.is_of_root() => Some("it does not belong to root".into()),
            Authority::Managed if stat.others_may_write() => Some("others than root may write it".into()),
            Authority::Managed => None,
        }
    }
}

/// The user id of this process, queried once because there may be many files.
fn own_user() -> Option<u32> {
    static OWN: OnceLock<Option<u32>> = OnceLock::new();
    *OWN.get_or_init(os::user)
}

impl Found {
    /// The cache key of the compiled form. It changes with every change of a file, of Reflex or of the variables.
    /// Resetting a file's size and times does not hide a change: the change time (ctime) comes from the clock alone. A
    /// file young enough to have changed twice within one tick is identified by its content.
    pub(super) fn identity(&self, variables: &Variables) -> Vec<u8> {
        self.identity_at(clock::now() / 1000, variables)
    }

    /// The same, with the current time given in seconds since 1970.
    fn identity_at(&self, now: u64, variables: &Variables) -> Vec<u8> {
        const EACH: usize = 160;
        let mut identity = Vec::with_capacity(EACH * (self.files.len() + 2));
        identity.extend(concat!("layer-2 ", env!("CARGO_PKG_VERSION"), " ").bytes());
        identity.extend(DIGEST.bytes());
        identity.extend(format!("{variables:?}").bytes());
        identity.extend(self.shipped.unwrap_or("").bytes());
        let mut listed: Option<&Rc<Path>> = None;
        for File { folder, name, stat, is_policy, why } in &self.files {
            if !listed.is_some_and(|one| Rc::ptr_eq(one, folder)) {
                identity.extend(folder.as_os_str().as_encoded_bytes());
                identity.push(0);
                listed = Some(folder);
            }
            identity.extend(name.as_os_str().as_encoded_bytes());
            let changed = u64::try_from(stat.changed.0).unwrap_or(0);
            // If the system has no inode numbers, only the content identifies a file.
            let fresh = why.is_none() && (stat.place.is_none() || changed + FRESH_SECONDS > now);
            identity.extend([0, u8::from(*is_policy), u8::from(why.is_some()), u8::from(fresh)]);
            if fresh {
                identity.extend(Sha256::digest(fs::read(path_of(folder, name)).unwrap_or_default()));
                continue;
            }
            let (device, number) = stat.place.unwrap_or_default();
            let (modified, changed) = (stat.modified, stat.changed);
            let times = [modified.0, modified.1, changed.0, changed.1].map(i64::cast_unsigned);
            let numbers = [device, number, stat.size, stat.mode.into()];
            numbers.iter().chain(&times).for_each(|number| identity.extend(number.to_le_bytes()));
        }
        identity
    }

    /// The texts, policy first, then sorted by name. A file that cannot be read has the reason instead.
    pub fn read(&self) -> Vec<SourceFile> {
        let text = |path: &PathBuf| {
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            String::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())
        };
        let read = |file: &File| {
            let text = file.why.clone().map_or_else(|| text(&file.path()), Err);
            let (text, unread) = text.map_or_else(|why| (String::new(), Some(why)), |text| (text, None));
            SourceFile { name: file.path().display().to_string(), text, is_policy: file.is_policy, unread }
        };
        let shipped = self.shipped.map(|text| SourceFile {
            name: "library/recommended/recommended.yaml".into(),
            text: text.into(),
            is_policy: false,
            unread: None,
        });
        let mut files: Vec<&File> = self.files.iter().collect();
        files.sort_unstable_by(|one, other| (!one.is_policy, &one.name).cmp(&(!other.is_policy, &other.name)));
        files.into_iter().map(read).chain(shipped).collect()
    }
}

/// The digest of the files' names and contents, independent of their folders.
pub(super) fn digest(files: &[SourceFile]) -> String {
    of_parts(files.iter().flat_map(|file| [base_name(file), file.text.as_bytes()]))
}

fn base_name(file: &SourceFile) -> &[u8] {
    Path::new(&file.name).file_name().unwrap_or_default().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn of_a_file_that_is_not_fresh_a_change_is_noticed_whatever_its_times_are_set_to() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        let write = |text: &str| {
            fs::write(&file, text).unwrap();
            let long_ago = UNIX_EPOCH + Duration::from_secs(1_577_836_800);
            fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
            os::stat(&file).unwrap().changed
        };
        // Late enough that no content is read.
        let later = clock::now() / 1000 + 3600;
        let known = |now| Place::user(folder.path().to_owned()).list().identity_at(now, &Variables::new());
        let changed = write("one");
        let (first, fresh) = (known(later), known(later - 3600));
        assert_eq!(known(later), first);
        // A file system's clock may not advance for some milliseconds, which is why a fresh file is read.
        while write("two") == changed {
            assert_ne!(known(later - 3600), fresh);
        }
        assert_ne!(known(later), first);
    }
}
