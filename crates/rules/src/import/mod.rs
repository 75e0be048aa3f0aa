//! What people wrote for other guards and agents, as rules and allowances of ours: every line with what became of it.

mod claude;
mod codex;
mod gemini;
mod hookify;
mod other_guards;
mod reader;
mod report;
mod source;

pub use report::{Fate, Import, ImportedLine};
pub use source::Source;

use reader::Reader;

/// Reads a file of another guard.
///
/// # Errors
/// It is not what it should be as a whole; then nothing of it is taken.
pub fn import(source: Source, file: &str, text: &str) -> Result<Import, String> {
    let mut reader = Reader::new(source, file, text);
    match source {
        Source::Claude => claude::read(&mut reader),
        Source::Codex => codex::read(&mut reader),
        Source::Gemini => gemini::read(&mut reader),
        Source::Hookify => hookify::read(&mut reader),
        Source::SafetyNet => other_guards::safety_net(&mut reader),
        Source::Dcg => other_guards::dcg(&mut reader),
    }
    .map_err(|problem| format!("{file}: {problem}"))?;
    reader.settle();
    Ok(reader.import)
}
