//! Effects of sed scripts: `e`, `s///e` and `w`.

use crate::interpret::interpreter::Interpreter;
use crate::interpret::streams::Stream;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::{Access, Redirection};
use crate::text_tools::sed::{Action, Part, Substitute, parse};

/// Maximum number of input lines that are run individually.
const MAX_LINES: usize = 64;

/// Maximum number of commands; the rest of a longer script is not read.
const MAX_COMMANDS: usize = 512;

/// Runs the commands of the script (`e`, `s///e`) and opens the files that it writes (`w`).
pub(crate) fn run(interpreter: &mut Interpreter<'_>, script: &str, origin: Origin, stdin: &Stream) -> Stream {
    let commands = parse(script);
    if commands.len() > MAX_COMMANDS {
        interpreter.gap(origin, UnknownReason::Limit);
    }
    for command in commands.into_iter().take(MAX_COMMANDS) {
        match command.action {
            Action::Execute(text) if text.is_empty() => {
                for line in lines_of(stdin, origin) {
                    interpreter.shell_text(&line);
                }
            }
            Action::Execute(text) => drop(interpreter.shell_text(&Value::text(text, origin))),
            Action::Substitute(substitute) => {
                if substitute.flags.contains('e') {
                    for text in texts(&substitute, stdin, origin) {
                        interpreter.shell_text(&text);
                    }
                }
                if let Some(file) = substitute.file {
                    writes(interpreter, &file, origin);
                }
            }
            Action::Write(file) => writes(interpreter, &file, origin),
            Action::Translate(..)
            | Action::Delete
            | Action::Print
            | Action::Quit
            | Action::Insert(_)
            | Action::Append(_)
            | Action::Change(_)
            | Action::Nothing
            | Action::Other => {}
        }
    }
    Stream::default()
}

fn writes(interpreter: &mut Interpreter<'_>, file: &str, origin: Origin) {
    let target = Value::text(file, origin);
    let redirects = vec![Redirection { access: Access::Overwrite, descriptor: 1, target }];
    interpreter.redirected_group(redirects, origin, &mut Stream::default());
}

fn lines_of(stdin: &Stream, origin: Origin) -> Vec<Value> {
    match stdin.text.literal().filter(|_| stdin.present) {
        Some(text) => text.lines().take(MAX_LINES).map(|line| Value::text(line, stdin.text.origin())).collect(),
        None => vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)],
    }
}

/// Returns the texts that `s///e` runs: the changed lines, or the replacement with its unknown parts.
fn texts(substitute: &Substitute, stdin: &Stream, origin: Origin) -> Vec<Value> {
    if let Some(text) = stdin.text.literal().filter(|_| stdin.present) {
        let changed = |line: &str| [true, false].into_iter().find_map(|extended| substitute.apply(line, extended)?);
        return text.lines().take(MAX_LINES).filter_map(changed).map(|line| Value::text(line, origin)).collect();
    }
    let mut value = Value::default();
    for part in substitute.parts().unwrap_or_default() {
        match part {
            Part::Text(text) => value.push_text(&text, origin),
            Part::Group(_) => value.pieces.push((Piece::Unknown(UnknownReason::Input), origin)),
        }
    }
    vec![value]
}
