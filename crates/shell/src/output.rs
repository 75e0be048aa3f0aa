//! What a command prints, as far as that follows from the text.

use crate::decode;
use crate::interpret::{Interpreter, Stream};
use crate::invocation::Invocation;
use crate::program::Selector;
use crate::value::{Origin, Piece, Printed, Value};

/// The output of a command: known text, a kind of text, or the unknown output of a program.
pub(crate) fn of(
    interpreter: &mut Interpreter<'_>,
    words: &[Value],
    invocation: Option<&Invocation>,
    stdin: &Stream,
) -> Value {
    let Some(first) = words.first() else { return Value::default() };
    let origin = first.origin();
    let name = first.literal().map(|name| name.rsplit('/').next().unwrap_or("").to_owned()).unwrap_or_default();
    let arguments = words.get(1..).unwrap_or(&[]);
    if let Some(printed) = printed_text(&name, arguments, origin) {
        return printed;
    }
    if let Some(decoded) = filtered(&name, arguments, stdin) {
        return match decoded {
            Filtered::Same(value) => value,
            Filtered::By(step, text) => {
                let from = stdin.text.origin();
                let derivation = interpreter.derive(step, &text, from);
                Value::text(text, Origin { span: from.span, derivation })
            }
        };
    }
    if invocation.and_then(Invocation::grammar).is_some_and(|grammar| grammar.prints() == "working-directory") {
        // Where the shell stands now, wherever it goes later.
        return interpreter.state.folder_value(origin);
    }
    by_kind(&name, words, invocation, origin)
}

fn by_kind(name: &str, words: &[Value], invocation: Option<&Invocation>, origin: Origin) -> Value {
    let kind = invocation.and_then(Invocation::grammar).map_or("", |grammar| grammar.prints());
    let printed = match kind {
        "temporary" => Printed::Temporary,
        "git-root" => Printed::GitRoot,
        "user" => Printed::User,
        "nothing" => return Value::default(),
        _ => match (kind.strip_prefix("paths "), invocation) {
            (Some(selector), Some(invocation)) => return one_of(&Selector(selector).values(invocation, words), origin),
            _ => Printed::Program(name.into()),
        },
    };
    Value::piece(Piece::Output(printed), origin)
}

/// One value that stands for any of the paths, if one can; else they are not known.
fn one_of(paths: &[Value], origin: Origin) -> Value {
    match paths {
        [path] => path.clone(),
        _ => Value::piece(Piece::Output(Printed::Program("paths".into())), origin),
    }
}

fn printed_text(name: &str, arguments: &[Value], origin: Origin) -> Option<Value> {
    match name {
        "echo" => Some(echo(arguments, origin)),
        "printf" => printf(arguments, origin),
        "true" | ":" | "false" | "test" | "[" => Some(Value::default()),
        _ => None,
    }
}

fn echo(arguments: &[Value], origin: Origin) -> Value {
    let is_option = |word: &&Value| {
        word.literal().is_some_and(|text| {
            text.len() > 1 && text.starts_with('-') && text.bytes().skip(1).all(|b| b"neE".contains(&b))
        })
    };
    let options = arguments.iter().take_while(is_option).count();
    let flags: String = arguments.iter().take(options).filter_map(Value::literal).collect();
    let mut value = Value::default();
    for (index, word) in arguments.iter().skip(options).enumerate() {
        if index > 0 {
            value.push_text(" ", word.origin());
        }
        value.push(word.clone());
    }
    if flags.contains('e') {
        for (piece, _) in &mut value.pieces {
            if let Piece::Text(text) = piece {
                *text = decode::escapes(text);
            }
        }
    }
    if !flags.contains('n') {
        value.push_text("\n", value.pieces.last().map_or(origin, |(_, origin)| *origin));
    }
    value
}

fn printf(arguments: &[Value], origin: Origin) -> Option<Value> {
    let format = arguments.first()?;
    let rest = arguments.get(1..).unwrap_or(&[]);
    let known: Option<Vec<String>> = rest.iter().map(|word| word.literal().map(|text| text.into_owned())).collect();
    match (format.literal(), known) {
        (Some(format), Some(known)) => {
            let place = arguments.iter().map(Value::span).reduce(crate::Span::join).unwrap_or(origin.span);
            let derivation = arguments.iter().find_map(|word| word.origin().derivation);
            Some(Value::text(decode::printf(&format, &known)?, Origin { span: place, derivation }))
        }
        // `printf '%s\n' "$x"` prints its arguments.
        (Some(format), None) if format.starts_with("%s") => Some(echo(rest, origin)),
        _ => None,
    }
}

enum Filtered {
    Same(Value),
    By(&'static str, String),
}

/// Programs that pass on what they read, changed in a known way.
fn filtered(name: &str, arguments: &[Value], stdin: &Stream) -> Option<Filtered> {
    if !stdin.present {
        return None;
    }
    let flag = |wanted: &[&str]| arguments.iter().filter_map(Value::literal).any(|text| wanted.contains(&&*text));
    let operands: Vec<_> = arguments.iter().filter(|word| !word.prefix().starts_with('-')).collect();
    if matches!(name, "cat" | "tee" | "sort" | "uniq" | "head" | "tail") && (operands.is_empty() || name == "tee") {
        return Some(Filtered::Same(stdin.text.clone()));
    }
    if name == "grep" && !stdin.text.pieces.is_empty() && stdin.text.literal().is_none() && operands.len() == 1 {
        // Some of the lines: of the same kind.
        return Some(Filtered::Same(stdin.text.clone()));
    }
    let text = stdin.text.literal()?;
    let decoded = match name {
        "base64" if flag(&["-d", "-D", "--decode", "-di"]) => ("base64", decode::base64(&text)),
        "xxd" if flag(&["-r", "-rp", "-ps", "-p"]) && flag(&["-r", "-rp"]) => {
            ("hexadecimal", decode::hexadecimal(&text))
        }
        "rev" => ("rev", Some(text.lines().map(reversed).collect())),
        "tr" => {
            let set = |index: usize| operands.get(index).and_then(|word| word.literal());
            let deletes = flag(&["-d"]);
            let to = if deletes { Default::default() } else { set(1)? };
            ("tr", decode::translate(&text, &set(0)?, &to))
        }
        _ => return None,
    };
    Some(Filtered::By(decoded.0, decoded.1?))
}

fn reversed(line: &str) -> String {
    line.chars().rev().chain(['\n']).collect()
}
