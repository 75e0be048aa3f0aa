//! The code of people's modules, kept so that their text need not be read at every call.
//!
//! The interpreter believes the code that it loads: whoever could put it there would run inside the guard. So it lies with
//! the log and the grants, where nobody but the guard writes and whose writer could say yes to everything anyway, and only
//! where the hook's entry or the user database names the home: an environment leads the guard to no code.
//! It is named after the digest of the files that it was made of, and after the compiler that made it.
#![expect(unsafe_code, reason = "the interpreter believes the code that it loads")]

use crate::config::Cache;
use crate::system::folders::Folders;
use reflex_script::{Code, PRINT};

/// Where it is kept.
pub(super) struct Kept(Cache);

impl Kept {
    /// Nothing where only the environment names the folder.
    pub(super) fn open(folders: &Folders) -> Option<Kept> {
        (!folders.may_only_tighten()).then(|| Kept(Cache::at(folders.state.join("code"))))
    }

    /// The code of the module with this digest, if it is whole.
    pub(super) fn code(&self, digest: &str) -> Option<Code> {
        let bytes = self.0.bytes(&name(digest))?;
        // SAFETY: only `keep` writes there, and what this compiler did not make has another name.
        unsafe { Code::unpacked(bytes.leak()) }
    }

    /// Keeps it. What cannot be kept is made again by the next call.
    pub(super) fn keep(&self, digest: &str, code: &[u8]) {
        self.0.put_bytes(&name(digest), code);
    }
}

fn name(digest: &str) -> String {
    format!("{}-{PRINT:016x}", digest.trim_start_matches("sha256:"))
}
