//! The reasons why an import fails.

/// A name in an import or a `require` means no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImportError {
    /// A module of Node that is not available; the reason or the alternative.
    #[error("{0}")]
    Absent(&'static str),
    /// Neither a path nor a built-in module.
    #[error("only the module's own files and what is built in can be imported; bundle the rest into it")]
    Package,
    /// A built-in module imports a path.
    #[error("what is built in imports no files")]
    FromBuiltIn,
    /// A path outside the module's folder.
    #[error("it leads out of the module's folder")]
    Outside,
    /// A path without a file.
    #[error("the module has no such file")]
    Missing,
}
