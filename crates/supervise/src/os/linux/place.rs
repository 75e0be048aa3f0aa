//! Looks up a path of another process as the kernel will, and holds on to what is found.

use super::calls::{Last, Name};
use super::image::{Identity, identity};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2, readlinkat};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Maximum number of links that a path may lead through, as in the kernel.
const MAX_LINKS: usize = 40;

/// The file that a path leads to.
#[derive(Debug)]
pub(super) struct Place {
    /// Its real path.
    pub(super) path: PathBuf,
    /// A descriptor of it that neither reads nor writes; `None` for a path without a file.
    pub(super) file: Option<File>,
}

/// A process as `/proc` names it: the paths of the calling thread, which may have a working directory of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    pub(super) process: u32,
    pub(super) thread: libc::pid_t,
}

impl Caller {
    fn of(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.thread))
    }

    /// The path with the links replaced that would lead to this process instead of the caller.
    fn translate(self, path: &Path) -> Option<PathBuf> {
        if !path.starts_with("/proc") && !path.starts_with("/dev") {
            return None;
        }
        let to_process = PathBuf::from(format!("/proc/{}", self.process));
        let links = [
            ("/proc/self", to_process),
            ("/proc/thread-self", self.of("")),
            ("/dev/fd", self.of("fd")),
            ("/dev/stdin", self.of("fd/0")),
            ("/dev/stdout", self.of("fd/1")),
            ("/dev/stderr", self.of("fd/2")),
        ];
        links.into_iter().find_map(|(from, to)| {
            let rest = path.strip_prefix(from).ok()?;
            Some(if rest.as_os_str().is_empty() { to } else { to.join(rest) })
        })
    }

    /// Looks up a name in a call. `None` if the call will fail because the path leads nowhere.
    ///
    /// # Errors
    /// The path cannot be looked up from here.
    pub(super) fn find(self, name: &Name) -> io::Result<Option<Place>> {
        let found = self.look_up(name, 0);
        match found.as_ref().map_err(io::Error::raw_os_error) {
            Err(Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::ENAMETOOLONG | libc::EBADF)) => Ok(None),
            _ => found.map(Some),
        }
    }

    /// Looks a name up after following this number of dangling links.
    fn look_up(self, name: &Name, links: usize) -> io::Result<Place> {
        let given = Path::new(&name.path);
        let translated = self.translate(given);
        let path = translated.as_deref().unwrap_or(given);
        let base = self.base(name.base, path, translated.is_some())?;
        let follows = if name.last == Last::Itself { OFlags::NOFOLLOW } else { OFlags::empty() };
        let file = match base.open(path, follows) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(file) = file {
            return Ok(Place { path: path_of(&file)?, file: Some(file) });
        }
        let (folder, last) = split(path.as_os_str()).ok_or(io::ErrorKind::NotFound)?;
        let folder = base.open(Path::new(folder), OFlags::DIRECTORY)?;
        let path = path_of(&folder)?.join(last);
        // A file created through a dangling link appears at the link's target.
        let target = (name.last == Last::Followed).then(|| readlinkat(&folder, last, Vec::new()).ok()).flatten();
        match target {
            Some(target) if links < MAX_LINKS => {
                let path = folder_of(&path).join(OsStr::from_bytes(target.as_bytes()));
                self.look_up(&Name { path: path.into(), base: libc::AT_FDCWD, last: name.last }, links + 1)
            }
            Some(_) => Err(io::Error::from_raw_os_error(libc::ELOOP)),
            None => Ok(Place { path, file: None }),
        }
    }

    fn base(self, descriptor: i32, path: &Path, is_translated: bool) -> io::Result<Base> {
        if is_translated {
            return Ok(Base::Own);
        }
        if path.is_absolute() {
            let root = open(&self.of("root"))?;
            let is_own = identity(&root.metadata()?) == own_root();
            return Ok(if is_own { Base::Own } else { Base::Root(root) });
        }
        let folder = if descriptor == libc::AT_FDCWD { "cwd".into() } else { format!("fd/{descriptor}") };
        open(&self.of(&folder)).map(Base::Folder)
    }
}

/// The start of a look-up.
enum Base {
    /// The root of this process, which is also that of the caller.
    Own,
    /// Another root, within which absolute links stay.
    Root(File),
    /// A folder of a relative path.
    Folder(File),
}

impl Base {
    fn open(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
        let opened = match self {
            Base::Own => openat(CWD, path, flags, Mode::empty()),
            Base::Folder(folder) => openat(folder, path, flags, Mode::empty()),
            Base::Root(root) => openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT),
        };
        Ok(opened?.into())
    }
}

fn open(path: &Path) -> io::Result<File> {
    Ok(openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?.into())
}

fn own_root() -> Identity {
    static OWN: OnceLock<Identity> = OnceLock::new();
    *OWN.get_or_init(|| fs::metadata("/").map(|data| identity(&data)).unwrap_or_default())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// The real path of a descriptor.
fn path_of(file: &File) -> io::Result<PathBuf> {
    fs::read_link(link_of(file))
}

/// The name under which this process finds its own descriptor.
pub(super) fn link_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The folder and the last part of a path. `None` if the last part names no file.
fn split(path: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/')? + 1;
    let start = bytes.iter().take(end).rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, last) = (bytes.get(..start)?, bytes.get(start..end)?);
    let folder = if folder.is_empty() { b".".as_slice() } else { folder };
    let is_name = last != b"." && last != b"..";
    is_name.then_some((OsStr::from_bytes(folder), OsStr::from_bytes(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(folder, last)| (OsStr::new(folder), OsStr::new(last)));
        assert_eq!(split(OsStr::new(path)), expected, "{path}");
    }

    #[test]
    fn a_path_is_split_before_its_last_part() {
        check("a", Some((".", "a")));
        check("a/b", Some(("a/", "b")));
        check("/b//", Some(("/", "b")));
        check("a/..", None);
        check("/", None);
        check("", None);
    }
}
