//! Access of a reflex to this machine within its grants: files by pattern, hosts by name.

use crate::catalog::as_pattern;
use crate::system::http::{self, Bounds, Request};
use reflex_engine::{absolute, fits};
use reflex_script::Machine;
use std::fs;
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
    fn granted(&self, path: &str, granted: &[String]) -> Result<PathBuf, String> {
        let full = PathBuf::from(absolute(path, &self.workspace));
        let existing = full.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("/"));
        let below = full.strip_prefix(existing).unwrap_or(Path::new(""));
        let real = existing.canonicalize().map_err(|error| format!("{path}: {error}"))?;
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
        if fits_one { Ok(real) } else { Err(format!("{path}: this was not granted")) }
    }
}

impl Machine for LocalMachine {
    fn ungranted(&self, path: &str, granted: &[String]) -> Option<String> {
        self.granted(path, granted).is_err().then(|| as_pattern(path, &self.workspace, &self.home))
    }

    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, String> {
        let real = self.granted(path, granted)?;
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let metadata = fs::metadata(&real).map_err(failed)?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return Err(format!("{path}: it is not a file of at most {} MiB", MAX_BYTES >> 20));
        }
        fs::read(&real).map_err(failed)
    }

    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), String> {
        let real = self.granted(path, granted)?;
        let failed = |error: std::io::Error| format!("{path}: {error}");
        if let Some(folder) = real.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&real, bytes).map_err(failed)
    }

    fn make_folder(&self, path: &str, granted: &[String]) -> Result<(), String> {
        let real = self.granted(path, granted)?;
        fs::create_dir_all(&real).map_err(|error| format!("{path}: {error}"))
    }

    fn list(&self, path: &str, granted: &[String]) -> Result<Vec<String>, String> {
        let real = self.granted(path, granted)?;
        let entries = fs::read_dir(real).map_err(|error| format!("{path}: {error}"))?;
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
    fn fetch(&self, url: &str, (method, body): (&str, &str), granted: &[String]) -> Result<(u16, String), String> {
        // Both URL parsers must agree on the host, or the client could be led to another one.
        let host = reflex_script::host_of(url).filter(|host| http::host_of(url).as_ref() == Some(host));
        let host = host.ok_or_else(|| format!("`{url}` is not an http or https URL"))?;
        if !granted.contains(&host) {
            return Err(format!("{host}: this host was not granted"));
        }
        if !method.chars().all(|ch| ch.is_ascii_uppercase()) {
            return Err(format!("`{method}` is not an HTTP method"));
        }
        let sends = !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&method);
        let body = sends.then_some(("application/x-www-form-urlencoded", body));
        let answer = http::send(Request { method, url, headers: &[], body }, FETCH)
            .map_err(|problem| format!("{host}: {problem}"))?;
        Ok((answer.status, answer.text))
    }
}
