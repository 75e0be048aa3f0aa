//! Reader for the languages that share a lexer and a walker.

use super::php;
use super::vocabulary::Vocabulary;
use super::walker::ExprInterpreter;
use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::model::language::Language;

/// Evaluates a script and returns its output, with the commands that print it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, source: SourceText<'_>, stdin: &Stream) -> Stream {
    let SourceText { language, text, origin } = source;
    let Some(vocabulary) = Vocabulary::new(language, interpreter.surroundings.programs) else {
        return Stream::default();
    };
    let first = interpreter.reading.commands.len();
    let mut walker = ExprInterpreter::new(interpreter, vocabulary, origin, stdin);
    if language == Language::AppleScript {
        walker.applescript(text);
    } else if language == Language::Php && text.contains("<?") {
        if !text.trim_start().starts_with("<?") {
            walker.text(text);
        }
        walker.text(&php::tagged(text));
    } else {
        walker.text(text);
    }
    let printed = walker.finish();
    let last = interpreter.reading.commands.len();
    Stream::new(printed, (first..last).collect())
}
