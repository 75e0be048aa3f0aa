//! PowerShell, walked as it is read: statements, pipelines, expressions, and the script blocks that they run.
//!
//! A script block is a value like others: its text in braces. It is read where it is run, so a text is read at most as
//! often as its blocks nest; how deep that may be, how many statements are walked and how many bytes are read in all
//! is counted.

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

/// Walks a text; what it prints and who prints it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, script: SourceText<'_>, stdin: &Stream) -> Stream {
    let whole = Value::text(script.text, script.origin);
    let mut reader = Reader::new(interpreter, script.text, script.origin);
    reader.set("_", reader.of_stream(stdin).values);
    let block = scan::inside_braces(script.text.trim()).is_some();
    let items = if block { reader.walk(&whole, &[]) } else { reader.statements() };
    items.stream()
}
