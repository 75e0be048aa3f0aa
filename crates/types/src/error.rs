//! The reasons why a module cannot be prepared.

use std::error::Error;

/// The types of a file cannot be taken away.
#[derive(Debug, thiserror::Error)]
pub enum TypesError {
    /// The file is too large.
    #[error("{path}: it is larger than {} KiB", max_bytes / 1024)]
    TooLarge {
        /// Its path.
        path: String,
        /// The maximum size.
        max_bytes: usize,
    },
    /// Its brackets are nested too deeply.
    #[error("{0}: it is nested too deeply")]
    TooDeep(String),
    /// The file is not valid TypeScript.
    #[error("{path}: {source}")]
    Syntax {
        /// Its path.
        path: String,
        /// The first error of the parser.
        source: Box<dyn Error + Send + Sync>,
    },
    /// It uses syntax with runtime behavior.
    #[error("{path}:{line}: {syntax} is more than a type and cannot be taken away; compile it first")]
    MoreThanType {
        /// Its path.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The name of the syntax.
        syntax: &'static str,
    },
}

/// A module cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {source}")]
pub struct CompileError {
    /// Its name.
    pub name: String,
    /// The error of the interpreter.
    pub source: rquickjs::Error,
}
