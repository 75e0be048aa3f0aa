//! The files that a person is asked to accept.

use super::trust::Trust;
use crate::system::clock;
use reflex_rules::SourceFile;

/// The files of a workspace, or of the user, that a person is asked to accept.
pub struct Offer {
    /// The files with their current content.
    pub files: Vec<SourceFile>,
    /// The files accepted before, if any.
    pub before: Option<Trust>,
    /// Whether exactly these files are accepted already.
    pub accepted: bool,
    digest: String,
    repository: String,
}

impl Offer {
    /// Files to accept under a name, with those accepted under it before.
    pub(crate) fn new(files: Vec<SourceFile>, before: Option<Trust>, digest: String, repository: String) -> Offer {
        let accepted = before.as_ref().is_some_and(|trust| trust.digest == digest);
        Offer { files, before, accepted, digest, repository }
    }

    /// The name under which the files are accepted.
    pub fn subject(&self) -> &str {
        &self.repository
    }

    /// The approval of exactly the files that were shown.
    pub fn approval(&self, by: &str, reason: &str) -> Trust {
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
