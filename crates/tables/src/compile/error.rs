//! The reasons why sources cannot be compiled.

use super::check::Mismatch;

/// A tree of values cannot be written as a blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A number is negative, has a fraction, or is too large.
    #[error("the number `{0}` is not a whole number below 2^29")]
    Number(serde_json::Number),
    /// The offsets of a blob do not reach further.
    #[error("the compiled tables are larger than 512 MiB")]
    TooLarge,
}

/// The entries of a file, or of all files together, cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The text is not YAML of this kind.
    #[error(transparent)]
    Yaml(#[from] Box<serde_saphyr::Error>),
    /// Two entries have this name.
    #[error("`{0}` is defined twice")]
    Twice(String),
    /// An entry contains an error.
    #[error("{entry}: {source}")]
    Entry {
        /// Its name.
        entry: String,
        /// The error.
        source: EntryError,
    },
    /// The maximum number of meanings, which is exceeded.
    #[error("more than {0} meanings")]
    TooManyMeanings(usize),
    /// The readers of the tree do not know this part of it.
    #[error(transparent)]
    Unread(#[from] Mismatch),
    /// The tree of all entries cannot be written.
    #[error(transparent)]
    Blob(#[from] EncodeError),
}

impl SourceError {
    /// An error in the entry of this name.
    pub(super) fn in_entry(entry: &str, source: impl Into<EntryError>) -> SourceError {
        SourceError::Entry { entry: entry.into(), source: source.into() }
    }
}

/// An error in an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// It has several keys that exclude each other, or none of them; the keys, as a list.
    #[error("one of {0}")]
    OneOf(&'static str),
    /// A cue begins with a word that has a star.
    #[error("a first word is written out")]
    OpenFirstWord,
    /// A cue names a meaning that no word has.
    #[error("no word of `library/injection-lexicon` means `{0}`")]
    UnknownMeaning(String),
    /// A list contains a word twice.
    #[error("duplicate word `{0}`")]
    DuplicateWord(String),
    /// A subcommand contains an error.
    #[error("{names}: {source}")]
    Subcommand {
        /// Its names, separated by blanks.
        names: String,
        /// The error.
        source: Box<EntryError>,
    },
    /// An option has an empty spelling.
    #[error("option `{0}` has no spelling")]
    NoSpelling(String),
    /// The spelling of an option only describes its value.
    #[error("option `{key}` has no name in `{spelling}`")]
    NoOptionName {
        /// The key of the option.
        key: String,
        /// Its spelling.
        spelling: String,
    },
    /// Two options have this name.
    #[error("option name `{0}` is used twice")]
    OptionNameTwice(String),
    /// An operation names no words by which it is found.
    #[error("the operation has no words")]
    NoWords,
    /// An operation has no equivalent command line.
    #[error("the operation has no line")]
    NoLine,
    /// A piece of a line has an open brace.
    #[error("`{0}` has no end")]
    OpenPiece(String),
    /// A piece of a line names no argument key in its braces.
    #[error("`{0}` names no key")]
    NoKey(String),
    /// Names need a meaning and have none, or have one and need none.
    #[error("`means` is for calls, constants and members alone")]
    NoMeaning,
    /// A function that opens a file needs the index of its mode, and no other name has one.
    #[error("`mode` is for functions that open a file")]
    NoMode,
    /// A word has fewer than three characters, or others than ASCII.
    #[error("`{0}` is too short")]
    ShortWord(String),
    /// A pattern cannot be taken apart.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// A pattern of a secret cannot be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` {flaw}")]
pub struct PatternError {
    /// The pattern, or that with one choice of its alternatives.
    pub pattern: String,
    /// The reason.
    pub flaw: PatternFlaw,
}

/// The reason why a pattern cannot be taken apart, after its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternFlaw {
    /// It has other characters than ASCII.
    #[error("is not ASCII")]
    NotAscii,
    /// A group is not closed.
    #[error("has an open group")]
    OpenGroup,
    /// A set is not closed.
    #[error("has an open set")]
    OpenSet,
    /// A quantifier is not closed.
    #[error("has an open `{{`")]
    OpenQuantifier,
    /// The text of a quantifier in place of a number.
    #[error("has no number in `{{{0}}}`")]
    NoNumber(String),
    /// Its last character is an escape.
    #[error("ends with a backslash")]
    Backslash,
    /// It only has runs.
    #[error("has no fixed characters")]
    NoFixed,
    /// Its longest fixed text has fewer than three characters, and so have the texts that may follow.
    #[error("has no three characters to look for")]
    NoStart,
    /// The set of a run that may take the characters after it, which would need backtracking.
    #[error("has a run of `{0}` that may take what follows it")]
    Greedy(String),
}

impl PatternFlaw {
    /// The error of a pattern with this flaw.
    pub(super) fn of(self, pattern: &str) -> PatternError {
        PatternError { pattern: pattern.into(), flaw: self }
    }
}
