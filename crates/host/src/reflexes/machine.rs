//! Access of a reflex to this machine within its grants: files by pattern, hosts by name.

use crate::catalog::as_pattern;
use crate::system::http::{self, Bounds, Request};
use reflex_engine::{absolute, fits};
use reflex_script::{Machine, MachineError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum size of a file or a response, in bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Bounds of a request to a host, short because the call waits for it.
const FETCH: Bounds =
    Bounds { within: Duration::from_millis(500), bytes: MAX_BYTES, redirects: 0, is_local: false, is_encrypted: false };

/// This machine, for one call.
pub(crate) struct LocalMachine {
    pub(crate) workspace: String,
    pub(crate) home: String,
}

impl LocalMachine {
    /// The resolved path, if it was granted. Symlinks are resolved first; for a missing path, those of its nearest
    /// existing ancestor.
    fn granted(&self, path: &str, granted: &[String]) -> Result<PathBuf, MachineError> {
        let full = PathBuf::from(absolute(path, &self.workspace));
        let existing = full.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("/"));
        let below = full.strip_prefix(existing).unwrap_or(Path::new(""));
        let real = existing.canonicalize().map_err(file_error(path))?;
        let real = if below.as_os_str().is_empty() { real } else { real.join(below) };
        let shown = real.to_string_lossy().into_owned();
        // The folder of a `/**` pattern is granted as well, for operations on the folder itself.
        let fits_one = granted.iter().any(|pattern| {
            let pattern = match pattern.strip_prefix("~/") {
                Some(rest) => absolute(rest, &self.home),
                None => absolute(pattern, &self.workspace),
            };
            let is_folder = pattern.strip_suffix("/**").is_some_and(|folder| folder == shown);
            is_folder || fits(&pattern, &shown, &self.home)
        });
        if fits_one { Ok(real) } else { Err(MachineError::NotGranted(path.into())) }
    }
}

impl Machine for LocalMachine {
    fn ungranted(&self, path: &str, granted: &[String]) -> Option<String> {
        self.granted(path, granted).is_err().then(|| as_pattern(path, &self.workspace, &self.home))
    }

    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError> {
        let real = self.granted(path, granted)?;
        let metadata = fs::metadata(&real).map_err(file_error(path))?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return Err(MachineError::NoFileToRead { path: path.into(), max_bytes: MAX_BYTES });
        }
        fs::read(&real).map_err(file_error(path))
    }

    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        let real = self.granted(path, granted)?;
        if let Some(folder) = real.parent() {
            fs::create_dir_all(folder).map_err(file_error(path))?;
        }
        fs::write(&real, bytes).map_err(file_error(path))
    }

    fn make_folder(&self, path: &str, granted: &[String]) -> Result<(), MachineError> {
        let real = self.granted(path, granted)?;
        fs::create_dir_all(&real).map_err(file_error(path))
    }

    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, MachineError> {
        let real = self.granted(path, granted)?;
        let entries = fs::read_dir(real).map_err(file_error(path))?;
        let mut names: Vec<String> =
            entries.flatten().take(10_000).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        let metadata = fs::metadata(self.granted(path, granted).ok()?).ok()?;
        Some(if metadata.is_dir() { "folder" } else { "file" })
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    /// Redirects are not followed, because they could lead to a host that was not granted.
    fn fetch(
        &self,
        url: &str,
        (method, body): (&str, &str),
        granted: &[String],
    ) -> Result<(u16, String), MachineError> {
        // Both URL parsers must agree on the host, or the client could be led to another one.
        let host = reflex_script::host_of(url).filter(|host| http::host_of(url).as_ref() == Some(host));
        let host = host.ok_or_else(|| MachineError::NotUrl(url.into()))?;
        if !granted.contains(&host) {
            return Err(MachineError::HostNotGranted(host));
        }
        if !method.chars().all(|ch| ch.is_ascii_uppercase()) {
            return Err(MachineError::NotMethod(method.into()));
        }
        let sends = !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&method);
        let body = sends.then_some(("application/x-www-form-urlencoded", body));
        let answer = http::send(Request { method, url, headers: &[], body }, FETCH)
            .map_err(|problem| MachineError::Host { host, source: problem.into() })?;
        Ok((answer.status, answer.text))
    }
}

fn file_error(path: &str) -> impl Fn(io::Error) -> MachineError + use<'_> {
    move |source| MachineError::File { path: path.into(), source }
}
