//! The reasons why data at stake cannot be kept.

/// The reason why not all of the data that a call would lose can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// None of the data exists yet.
    #[error("what would be lost is not there yet")]
    Absent,
    /// A part lies on another system.
    #[error("it lies on another system")]
    Elsewhere,
    /// The text of a script determines the loss.
    #[error("a script decides what is lost")]
    Script,
    /// An earlier part of the call may create or change arbitrary files.
    #[error("an earlier part of the call may change what is lost")]
    EarlierPart,
    /// More files than are copied for one call, at least this number.
    #[error("at least {0} files would be lost")]
    TooManyFiles(usize),
    /// More files of a work tree than are listed, at least this number.
    #[error("at least {0} files would be lost, more than are kept")]
    TooManyListed(usize),
    /// The targets, or their state, are unknown.
    #[error("which files would be lost is unknown")]
    UnknownFiles,
    /// The files that the call moves are unknown.
    #[error("which files would be moved is unknown")]
    UnknownMoves,
    /// The work that git would discard is unknown.
    #[error("what git would throw away is unknown")]
    UnknownWork,
    /// A git command changes another work tree than that of its folder.
    #[error("it reaches into another work tree")]
    OtherWorkTree,
    /// The heads of several work trees may move.
    #[error("other commits would be checked out in several repositories")]
    SeveralHeads,
    /// The lossy form of a name is another, nonexistent path.
    #[error("a file name is not valid UTF-8")]
    NotUtf8,
}
