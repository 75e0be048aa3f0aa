//! Where people's rules and policies lie, and whether what lies there may be believed.

use crate::clock;
use crate::folders::Folders;
use reflex_engine::Authority;
use reflex_library::{DIGEST, RECOMMENDED};
use reflex_rules::{MOST_BYTES, SourceFile, Variables, rule_files};
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The administrator's folder.
const MANAGED: &str = "/etc/reflex";

/// A file that changed less long ago is known by its content: the clock of the file system may not tell two changes apart.
const FRESH_SECONDS: u64 = 3;

/// A folder of rules and perhaps a policy.
#[derive(Debug, Clone)]
pub struct Place {
    /// Whose it is.
    pub authority: Authority,
    /// The folder that holds `policy.yaml` and `rules/`; for further folders of rules the folder itself.
    pub folder: PathBuf,
    /// The workspace for which it counts.
    pub workspace: PathBuf,
    /// Whether the folder holds rules only.
    rules_only: bool,
    /// Whether it is what ships and no folder at all.
    ships: bool,
    /// Why the environment's word for this folder is not believed.
    moved: Option<String>,
}

/// The places that there are, the least authority first.
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
        let moved = folders.moved_config().then(|| {
            "the environment names another folder than the password database, so it may only tighten".to_owned()
        });
        places.push(place(Authority::User, folders.config.clone(), moved));
    }
    let managed = PathBuf::from(MANAGED);
    if managed.is_dir() {
        places.push(place(Authority::Managed, managed, None));
    }
    places
}

/// All files of one place together are at most so large; what goes beyond is not read.
const MOST_TOGETHER: u64 = 4 << 20;

/// A file of a place, with what the system says of it.
pub struct File {
    path: PathBuf,
    metadata: Metadata,
    is_policy: bool,
    /// Why it is not read; then its last good form holds.
    why: Option<String>,
}

/// What lies in a place.
pub struct Found {
    /// The files.
    pub files: Vec<File>,
    /// What cannot be read or believed.
    pub problems: Vec<String>,
    /// Why the place may only tighten.
    pub why_tight: Option<String>,
    /// What ships, where the place is no folder.
    pub shipped: Option<&'static str>,
    /// How large its files are together.
    bytes: u64,
}

impl Place {
    /// A folder that counts as the user's.
    pub(super) fn user(folder: PathBuf) -> Place {
        let workspace = folder.clone();
        Place { authority: Authority::User, workspace, folder, rules_only: true, ships: false, moved: None }
    }

    /// What ships, with the authority of this place.
    pub(super) fn shipped(&self) -> Place {
        Place { folder: PathBuf::from("recommended"), rules_only: true, ships: true, ..self.clone() }
    }

    /// A folder or file that the policy of this place builds on. A folder without a policy and without `rules` holds
    /// rules only.
    pub(super) fn base(&self, path: &str) -> Place {
        let place = self.further(path);
        let holds = |name: &str| place.folder.join(name).symlink_metadata().is_ok();
        let whole = ["policy.yaml", "policy.yml", "policy.json", "rules"].into_iter().any(holds);
        Place { rules_only: !whole, ..place }
    }

    /// A further folder of rules that the policy of this place names.
    pub(super) fn further(&self, folder: &str) -> Place {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let folder = match folder.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => self.folder.join(folder),
        };
        Place { folder, rules_only: true, ..self.clone() }
    }

    /// Its files in a fixed order.
    pub fn list(&self) -> Found {
        let why_tight = self.moved.clone();
        let mut found = Found { files: Vec::new(), problems: Vec::new(), why_tight, shipped: None, bytes: 0 };
        if self.ships {
            found.shipped = Some(RECOMMENDED);
            return found;
        }
        if self.folder.is_file() {
            let is_policy = self.folder.file_stem().is_some_and(|name| name == "policy");
            self.add(self.folder.clone(), is_policy, &mut found);
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
            policies.into_iter().take(1).for_each(|path| self.add(path, true, &mut found));
        }
        let rules = if self.rules_only { self.folder.clone() } else { self.folder.join("rules") };
        let leads_out = rules.is_symlink() && self.leads_out(&rules);
        if leads_out && self.authority == Authority::Project {
            found.problems.push(format!("{}: it leads out of the folder, so it does not count", rules.display()));
        } else if rules.is_dir() {
            match rule_files(&rules) {
                Ok(files) => files.into_iter().for_each(|path| self.add(path, false, &mut found)),
                Err(error) => found.problems.push(format!("{}: {error}", rules.display())),
            }
        }
        found
    }

    fn add(&self, path: PathBuf, is_policy: bool, found: &mut Found) {
        let shown = path.display();
        // Only a link can lead elsewhere; most files are none, and there may be many.
        let of_itself = path.symlink_metadata();
        let is_link = of_itself.as_ref().is_ok_and(Metadata::is_symlink);
        let outside = is_link && self.leads_out(&path);
        match if is_link { fs::metadata(&path) } else { of_itself } {
            Ok(metadata) => {
                let why = match () {
                    () if !metadata.is_file() => Some("it is no file".to_owned()),
                    () if metadata.len() > MOST_BYTES => Some(format!("it is larger than {} KiB", MOST_BYTES / 1024)),
                    () if found.bytes + metadata.len() > MOST_TOGETHER => {
                        Some(format!("the files of this folder are larger than {} MiB", MOST_TOGETHER >> 20))
                    }
                    () => None,
                };
                if outside && self.authority == Authority::Project {
                    found.problems.push(format!("{shown}: it leads out of the folder, so it does not count"));
                } else {
                    self.take(File { path, metadata, is_policy, why }, found);
                }
            }
            Err(error) => found.problems.push(format!("{shown}: {error}")),
        }
    }

    fn leads_out(&self, path: &Path) -> bool {
        let (real, root) = (path.canonicalize(), self.folder.canonicalize());
        !matches!((real, root), (Ok(real), Ok(root)) if real.starts_with(&root))
    }

    /// The administrator's files count only if nobody else could have written them; a user's then only tighten.
    fn take(&self, file: File, found: &mut Found) {
        if let Some(why) = self.not_believed(&file.metadata) {
            let shown = file.path.display();
            if self.authority == Authority::Managed {
                found.problems.push(format!("{shown}: {why}, so it does not count"));
                return;
            }
            found.why_tight = Some(format!("{shown}: {why}"));
        }
        found.bytes += if file.why.is_none() { file.metadata.len() } else { 0 };
        found.files.push(file);
    }

    fn not_believed(&self, metadata: &Metadata) -> Option<String> {
        let own = own_user();
        let loose = metadata.mode() & 0o022 != 0;
        match self.authority {
            Authority::Project => None,
            Authority::User if metadata.uid() != own && metadata.uid() != 0 => {
                Some("it belongs to another user".into())
            }
            Authority::User if metadata.mode() & 0o002 != 0 => Some("everybody may write it".into()),
            Authority::User => None,
            Authority::Managed if metadata.uid() != 0 => Some("it does not belong to root".into()),
            Authority::Managed if loose => Some("others than root may write it".into()),
            Authority::Managed => None,
        }
    }
}

/// Asked once: there may be many files.
fn own_user() -> u32 {
    static OWN: OnceLock<u32> = OnceLock::new();
    *OWN.get_or_init(|| rustix::process::getuid().as_raw())
}

impl Found {
    /// What the compiled form is kept for: it changes with every change of a file, of Reflex, or of the variables. Who
    /// changes a file and sets its size and times back has moved the time of its last change of state, which only the
    /// clock sets; and a file that may have been changed twice by the same clock is known by its content.
    pub(super) fn identity(&self, variables: &Variables) -> Vec<u8> {
        const EACH: usize = 160;
        let mut identity = Vec::with_capacity(EACH * (self.files.len() + 2));
        identity.extend(concat!("layer-2 ", env!("CARGO_PKG_VERSION"), " ").bytes());
        identity.extend(DIGEST.bytes());
        identity.extend(format!("{variables:?}").bytes());
        identity.extend(self.shipped.unwrap_or("").bytes());
        let now = clock::now() / 1000;
        for File { path, metadata, is_policy, why } in &self.files {
            identity.extend(path.as_os_str().as_encoded_bytes());
            let fresh = u64::try_from(metadata.ctime()).unwrap_or(0) + FRESH_SECONDS > now && why.is_none();
            identity.extend([0, u8::from(*is_policy), u8::from(why.is_some()), u8::from(fresh)]);
            if fresh {
                identity.extend(Sha256::digest(fs::read(path).unwrap_or_default()));
                continue;
            }
            for number in [metadata.dev(), metadata.ino(), metadata.size(), u64::from(metadata.mode())] {
                identity.extend(number.to_le_bytes());
            }
            for number in [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()] {
                identity.extend(number.to_le_bytes());
            }
        }
        identity
    }

    /// The texts; of what cannot be read the reason.
    pub fn read(&self) -> Vec<SourceFile> {
        let text = |path: &PathBuf| {
            let bytes = fs::read(path).map_err(|error| error.to_string())?;
            String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())
        };
        let read = |file: &File| {
            let text = file.why.clone().map_or_else(|| text(&file.path), Err);
            let (text, unread) = text.map_or_else(|why| (String::new(), Some(why)), |text| (text, None));
            SourceFile { name: file.path.display().to_string(), text, is_policy: file.is_policy, unread }
        };
        let shipped = self.shipped.map(|text| SourceFile {
            name: "library/recommended/recommended.yaml".into(),
            text: text.into(),
            is_policy: false,
            unread: None,
        });
        self.files.iter().map(read).chain(shipped).collect()
    }
}

/// The digest of the contents, wherever the files lie.
pub(super) fn digest(files: &[SourceFile]) -> String {
    let mut digest = Sha256::new();
    for file in files {
        let name = Path::new(&file.name).file_name().unwrap_or_default();
        for part in [name.as_encoded_bytes(), file.text.as_bytes()] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    clock::hexadecimal(&digest.finalize())
}
