//! The files that a person is asked to accept.

use super::trust::Trust;
use crate::system::clock;
use reflex_rules::SourceFile;

/// What a person is asked to accept of a workspace.
pub struct Offer {
    /// The files as they are.
    pub files: Vec<SourceFile>,
    /// What was accepted before.
    pub before: Option<Trust>,
    /// Whether exactly this is accepted already.
    pub accepted: bool,
    digest: String,
    repository: String,
}

impl Offer {
    /// Files that a person may accept under a name, with what was accepted under it before.
    pub(crate) fn new(files: Vec<SourceFile>, before: Option<Trust>, digest: String, repository: String) -> Offer {
        let accepted = before.as_ref().is_some_and(|trust| trust.digest == digest);
        Offer { files, before, accepted, digest, repository }
    }

    /// The name under which it is accepted.
    pub fn subject(&self) -> &str {
        &self.repository
    }

    /// A person's yes to exactly what was shown.
    pub fn yes(&self, by: &str, reason: &str) -> Trust {
        let texts = self.files.iter().map(|file| (file.name.clone(), file.text.clone())).collect();
        Trust {
            repository: self.repository.clone(),
            digest: self.digest.clone(),
            by: by.into(),
            time: clock::now(),
            reason: reason.into(),
            texts,
        }
    }
}
