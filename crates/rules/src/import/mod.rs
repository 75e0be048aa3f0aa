//! Imports rules and allowances of other guards and agents. Every line of the source is reported with its outcome.

mod claude;
mod codex;
mod error;
mod gemini;
mod hookify;
mod other_guards;
mod reader;
mod report;
mod source;

pub use error::{CallFlaw, FormatError, ImportError};
pub use report::{Fate, Import, ImportedLine};
pub use source::Source;

use reader::Reader;

/// Reads a file of another guard.
///
/// # Errors
/// The file is not in the source's format; then no line is imported.
pub fn import(source: Source, file: &str, text: &str) -> Result<Import, ImportError> {
    let mut reader = Reader::new(source, file, text);
    match source {
        Source::Claude => claude::read(&mut reader),
        Source::Codex => codex::read(&mut reader),
        Source::Gemini => gemini::read(&mut reader),
        Source::Hookify => hookify::read(&mut reader),
        Source::SafetyNet => other_guards::safety_net(&mut reader),
        Source::Dcg => other_guards::dcg(&mut reader),
    }
    .map_err(|source| ImportError { file: file.into(), source })?;
    reader.settle();
    Ok(reader.import)
}
