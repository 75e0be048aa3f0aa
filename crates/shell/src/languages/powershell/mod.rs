//! PowerShell, evaluated in the same pass as it is read: statements, pipelines, expressions, and script blocks.
//!
//! A script block is a value: its text in braces. It is read when it is run, so a text is read at most as often as its
//! blocks nest. The nesting depth, the number of statements and the number of bytes read are limited.

mod arguments;
mod command;
mod expression;
mod methods;
mod operators;
mod reader;
mod scan;
mod statement;
mod strings;

use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::model::value::Value;
use reader::Reader;

/// Evaluates a script and returns its output, with the commands that print it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, script: SourceText<'_>, stdin: &Stream) -> Stream {
    let value = Value::text(script.text, script.origin);
    let mut reader = Reader::new(interpreter, script.text, script.origin);
    reader.set("_", reader.of_stream(stdin).values);
    let block = scan::inside_braces(script.text.trim()).is_some();
    let items = if block { reader.walk(&value, &[]) } else { reader.statements() };
    items.stream()
}
