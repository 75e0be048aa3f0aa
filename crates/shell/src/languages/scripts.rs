//! Reader for the languages that share a lexer and a walker.

use super::vocabulary::Vocabulary;
use super::walker::ExprInterpreter;
use super::{applescript, javascript, lua, perl, php, python, ruby};
use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::model::language::Language;

/// Evaluates a script and returns its output, with the commands that print it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, source: SourceText<'_>, stdin: &Stream) -> Stream {
    let SourceText { language, text, origin } = source;
    let Some(vocabulary) = vocabulary(language) else { return Stream::default() };
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

fn vocabulary(language: Language) -> Option<&'static Vocabulary> {
    match language {
        Language::Shell
        | Language::PowerShell
        | Language::Cmd
        | Language::Awk
        | Language::Sed
        | Language::Makefile
        | Language::Crontab
        | Language::Patch
        | Language::Other => None,
        Language::Python => Some(&python::VOCABULARY),
        Language::JavaScript => Some(&javascript::VOCABULARY),
        Language::Perl => Some(&perl::VOCABULARY),
        Language::Ruby => Some(&ruby::VOCABULARY),
        Language::Php => Some(&php::VOCABULARY),
        Language::Lua => Some(&lua::VOCABULARY),
        Language::AppleScript => Some(&applescript::VOCABULARY),
    }
}
