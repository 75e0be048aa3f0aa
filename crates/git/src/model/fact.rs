//! A fact about a repository, or the reason why it is unknown.

/// The reason why a fact is unknown (too many files, unsupported format, unreadable …).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub &'static str);

/// Reasons for which a path does not belong to the repository at all.
const ELSEWHERE: [Unknown; 5] = [NO_WORK_TREE, IN_GIT_FOLDER, BEYOND_LINK, UNRESOLVED, OUTSIDE];

pub(crate) const NO_WORK_TREE: Unknown = Unknown("the repository has no work tree");
pub(crate) const IN_GIT_FOLDER: Unknown = Unknown("the path lies in the git folder");
pub(crate) const BEYOND_LINK: Unknown = Unknown("the path is below a link or in another repository");
pub(crate) const UNRESOLVED: Unknown = Unknown("the path cannot be resolved");
pub(crate) const OUTSIDE: Unknown = Unknown("the path is outside the work tree");

impl Unknown {
    /// Whether the path does not belong to the repository, so that the repository cannot hide any loss there.
    pub fn is_elsewhere(&self) -> bool {
        ELSEWHERE.contains(self)
    }
}

/// A fact, or the reason why it is unknown.
pub type Fact<T> = Result<T, Unknown>;
