//! The reasons why a file of another guard cannot be imported.

use crate::problem::Problem;

/// A file is not in the format of its source.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct ImportError {
    /// Its name as given by the caller.
    pub file: String,
    /// The error.
    pub source: FormatError,
}

/// An error in the format of a file.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The text is not JSON.
    #[error("invalid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is not TOML.
    #[error("invalid TOML: {}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// The front matter is missing.
    #[error("the file does not start with `---`")]
    NoFrontMatter,
    /// The front matter is not closed.
    #[error("the front matter has no closing `---`")]
    OpenFrontMatter,
    /// The front matter holds no rule.
    #[error("the front matter is empty")]
    EmptyFrontMatter,
    /// The front matter is not YAML.
    #[error("{}", .0.message)]
    FrontMatter(Box<Problem>),
    /// A call of Codex's rules is not understood.
    #[error("line {line}: {flaw}")]
    Call {
        /// Its line, from 1.
        line: usize,
        /// The reason.
        flaw: CallFlaw,
    },
}

/// The reason why a call of Codex's rules is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFlaw {
    /// It does not begin with the name of a function.
    #[error("a call such as `prefix_rule(…)` is expected")]
    NoFunction,
    /// A name is not followed by arguments.
    #[error("only calls are read, no variables, loops or loads")]
    NoArguments,
    /// The closing parenthesis is missing.
    #[error("a call is not ended")]
    Open,
    /// The name of an argument is not followed by its value.
    #[error("`{0} = …` is expected")]
    NoValue(String),
    /// The value of an argument is of another kind.
    #[error("a text or a list of texts is expected")]
    NoText,
    /// The closing quote is missing.
    #[error("a text is not ended")]
    OpenText,
}

impl CallFlaw {
    /// The error of a call with this flaw.
    pub(super) fn at(self, line: usize) -> FormatError {
        FormatError::Call { line, flaw: self }
    }
}
