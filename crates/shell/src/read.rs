//! Dispatches a text to the reader of its language. The interpreter gets the same function for texts nested in texts.

use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::languages::{awk, cmd, powershell, scripts, sed};
use crate::model::language::Language;
use crate::model::value::{Origin, Span};
use crate::reading::Reading;
use crate::surroundings::Surroundings;
use crate::syntax::parser::Placement;
use crate::text_tools::{decode, patch};

/// Returns the commands that a shell would run for `text`.
pub fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    read_as(Language::Shell, text, surroundings)
}

/// Returns the commands that an interpreter of `language` would run for `text`.
pub fn read_as(language: Language, text: &str, surroundings: &Surroundings<'_>) -> Reading {
    let mut interpreter = Interpreter::new(surroundings, language, read_text);
    let stdin = surroundings.input.stdin.clone().map_or_else(Stream::default, |text| Stream::new(text, Vec::new()));
    if language == Language::Shell {
        interpreter.text(text, Placement::At { start: 0, derivation: None }, &stdin);
    } else {
        let span = Span { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        let origin = Origin { span, derivation: None };
        interpreter.in_language(SourceText { language, text, origin }, &stdin);
    }
    interpreter.finish()
}

/// Walks a text with the reader of its language.
fn read_text(interpreter: &mut Interpreter<'_>, source: SourceText<'_>, stdin: &Stream) -> Stream {
    let SourceText { language, text, origin } = source;
    match language {
        Language::Shell => interpreter.text(text, Placement::From(origin), stdin),
        Language::Makefile => interpreter.texts(&decode::makefile(text), origin),
        Language::Crontab => interpreter.texts(&decode::crontab(text), origin),
        Language::Patch => interpreter.texts(&patch::commands(text), origin),
        Language::Awk => awk::run(interpreter, text, origin, stdin),
        Language::Sed => sed::run(interpreter, text, origin, stdin),
        Language::Python
        | Language::JavaScript
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Lua
        | Language::AppleScript => scripts::read(interpreter, source, stdin),
        Language::PowerShell => powershell::read(interpreter, source, stdin),
        Language::Cmd => cmd::read(interpreter, source, stdin),
        Language::Other => Stream::default(),
    }
}
