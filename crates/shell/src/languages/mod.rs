//! Texts in other languages than the shell's: each call that the library knows becomes a command.
//!
//! A call is a command whose program is `LANGUAGE:dotted.name`; its named arguments come first as `--key=value`, then
//! `--`, then the positional ones. What it does or runs stands in `library/programs` as for any program. One lexer and
//! one walker read all of these languages; a dialect says how each is written, a file of its own what its names mean.

mod applescript;
pub(crate) mod awk;
mod bindings;
mod calls;
mod cmd;
mod datum;
mod dialect;
mod expression;
mod fold;
mod javascript;
mod lexer;
mod lua;
mod methods;
mod perl;
mod php;
mod powershell;
mod python;
mod ruby;
pub(crate) mod sed;
mod statements;
mod vocabulary;
mod walker;
pub(crate) mod windows;

use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::model::language::Language;
use vocabulary::Vocabulary;
use walker::Walker;

/// Walks a text; what it prints and who prints it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, script: SourceText<'_>, stdin: &Stream) -> Stream {
    let SourceText { language, text, origin } = script;
    if language == Language::PowerShell {
        return powershell::read(interpreter, script, stdin);
    }
    if language == Language::Cmd {
        return cmd::read(interpreter, script, stdin);
    }
    let Some(vocabulary) = vocabulary(language) else { return Stream::default() };
    let first = interpreter.reading.commands.len();
    let mut walker = Walker::new(interpreter, vocabulary, origin, stdin);
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
    Stream::of(printed, (first..last).collect())
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
