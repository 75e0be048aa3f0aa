//! Texts in other languages than the shell's: each call that the library knows becomes a command.
//!
//! A call is a command whose program is `LANGUAGE:dotted.name`; its named arguments come first as `--key=value`, then
//! `--`, then the positional ones. What it does or runs stands in `library/programs` as for any program.

use crate::interpret::{Draft, Interpreter, Stream};
use crate::language::Language;
use crate::program::Program;
use crate::value::{Origin, Value};

/// Walks a text of `language`; what it prints.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, language: Language, text: &str, origin: Origin) -> Stream {
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let (before, inside) = (rest.get(..at).unwrap_or(""), rest.get(at + 1..).unwrap_or(""));
        let start =
            before.rfind(|letter: char| !letter.is_alphanumeric() && !"._".contains(letter)).map_or(0, |at| at + 1);
        let name = format!("{}:{}", language.name(), before.get(start..).unwrap_or(""));
        let argument = inside.split(['\'', '"']).nth(1).unwrap_or("");
        if Program::find(interpreter.surroundings.programs, &name).is_some() {
            let words = [name.as_str(), "--", argument].map(|word| Value::text(word, origin)).to_vec();
            call(interpreter, words, origin);
        }
        rest = inside;
    }
    Stream::default()
}

/// Adds a call as a command.
pub(crate) fn call(interpreter: &mut Interpreter<'_>, words: Vec<Value>, origin: Origin) -> Stream {
    interpreter.command(Draft {
        words,
        assignments: Vec::new(),
        redirects: Vec::new(),
        stdin: Stream::default(),
        expanded: 0..0,
        origin,
        by_program: true,
    })
}
