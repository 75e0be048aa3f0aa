//! A cache of the compiled code of people's modules, so that their source need not be parsed at every call.
//!
//! The interpreter trusts the code that it loads: an attacker who could write it would run inside the guard. It is
//! therefore stored with the log and the grants, where only the guard writes and where write access would already allow
//! forging approvals, and only if the hook's entry or the user database names the home: the environment cannot direct
//! the guard to code. A file is named after the digest of the module's files and after the compiler version.
#![expect(unsafe_code, reason = "the interpreter believes the code that it loads")]

use crate::config::Cache;
use crate::system::folders::Folders;
use reflex_script::{Code, PRINT};

/// The cache.
pub(super) struct Kept(Cache);

impl Kept {
    /// Opens the cache; `None` if only the environment names the folder.
    pub(super) fn open(folders: &Folders) -> Option<Kept> {
        (!folders.may_only_tighten()).then(|| Kept(Cache::at(folders.state.join("code"))))
    }

    /// The code of the module with this digest, if it is intact.
    pub(super) fn code(&self, digest: &str) -> Option<Code> {
        let bytes = self.0.bytes(&name(digest))?;
        // SAFETY: only `keep` writes there, and code of another compiler has another name.
        unsafe { Code::unpacked(bytes.leak()) }
    }

    /// Stores code. If that fails, the next call compiles the module again.
    pub(super) fn keep(&self, digest: &str, code: &[u8]) {
        self.0.put_bytes(&name(digest), code);
    }
}

fn name(digest: &str) -> String {
    format!("{}-{PRINT:016x}", digest.trim_start_matches("sha256:"))
}
