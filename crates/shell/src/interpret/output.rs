//! The output of commands, as far as the text determines it.

use super::draft::program_name;
use super::interpreter::Interpreter;
use super::narrowed;
use super::streams::Stream;
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::selector::Selector;
use crate::model::value::{Origin, Piece, Printed, Span, Value};
use crate::text_tools::awk;
use crate::text_tools::decode;
use crate::text_tools::filter;

/// Returns the output of a command: known text, a kind of text, or the unknown output of a program.
pub(crate) fn printed(
    interpreter: &mut Interpreter<'_>,
    words: &[Value],
    invocation: Option<&Invocation>,
    stdin: &Stream,
) -> Value {
    let Some(first) = words.first() else { return Value::default() };
    let origin = first.origin();
    let name = program_name(first, interpreter.language.is_windows());
    let arguments = words.get(1..).unwrap_or(&[]);
    if let Some(printed) = printed_text(&name, arguments, origin) {
        return printed;
    }
    if let Some(printed) = filtered(interpreter, &name, arguments, stdin) {
        return printed;
    }
    if invocation.is_some_and(|invocation| invocation.prints() == "working-directory") {
        // The current working directory, which the shell may leave later.
        let folder = interpreter.state.folder_value(origin);
        let is_physical = invocation.is_some_and(|invocation| invocation.has("physical"));
        return if is_physical { folder.resolved() } else { folder };
    }
    by_kind(&name, words, invocation, origin)
}

fn by_kind(name: &str, words: &[Value], invocation: Option<&Invocation>, origin: Origin) -> Value {
    let kind = invocation.map_or("", Invocation::prints);
    let printed = match kind {
        "temporary" => Printed::Temporary,
        "git-root" => Printed::GitRoot,
        "user" => Printed::User,
        "nothing" => return Value::default(),
        _ => match (kind.strip_prefix("paths "), invocation) {
            (None, Some(invocation)) if kind.starts_with("program ") => {
                return program_of(kind, invocation, words, origin);
            }
            (None, Some(invocation)) if kind.starts_with("path ") => return place(kind, invocation, words, origin),
            (Some(selector), Some(invocation)) => {
                let (selector, option) = selector.split_once(" if ").unwrap_or((selector, ""));
                let is_meant = option.is_empty() || invocation.has(option);
                let paths = if is_meant { Selector(selector).values(invocation, words) } else { Vec::new() };
                if !paths.is_empty() {
                    return lines_of(&paths);
                }
                Printed::Program(name.into())
            }
            _ => Printed::Program(name.into()),
        },
    };
    Value::piece(Piece::Output(printed), origin)
}

/// `path ~/x`, `path .git option:KEY`: returns a fixed path, or the selected names below it.
fn place(kind: &str, invocation: &Invocation, words: &[Value], origin: Origin) -> Value {
    let mut parts = kind.split(' ').skip(1);
    let folder = parts.next().unwrap_or("");
    let mut path = match folder.strip_prefix('~') {
        Some(below) => {
            let mut home = Value::piece(Piece::Home(String::new()), origin);
            home.push_text(below, origin);
            home
        }
        None => Value::text(folder, origin),
    };
    let named = parts.next().map(|selector| Selector(selector).values(invocation, words)).unwrap_or_default();
    for name in named {
        path.push_text("/", origin);
        path.push(name);
    }
    path
}

/// Returns the path of a program, with an unknown folder and a known name.
fn program_of(kind: &str, invocation: &Invocation, words: &[Value], origin: Origin) -> Value {
    let program = words.first().map(Value::shown).unwrap_or_default();
    let mut path = Value::piece(Piece::Output(Printed::Program(program)), origin);
    let selector = Selector(kind.strip_prefix("program ").unwrap_or(""));
    if let [name] = selector.values(invocation, words).as_slice() {
        path.push_text("/", origin);
        path.push_text(name.shown().rsplit('/').next().unwrap_or(""), origin);
    }
    path
}

/// Returns the paths, one per line. A single path has no newline at the end, as it is the file that `$(…)` names.
fn lines_of(paths: &[Value]) -> Value {
    let mut lines = Value::default();
    for path in paths {
        if !lines.pieces.is_empty() {
            lines.push_text("\n", path.origin());
        }
        lines.push(path.clone());
    }
    lines
}

fn printed_text(name: &str, arguments: &[Value], origin: Origin) -> Option<Value> {
    match name {
        "echo" => Some(echo(arguments, origin)),
        "printf" => printf(arguments, origin),
        "dirname" | "basename" | "realpath" | "readlink" | "grealpath" | "greadlink" => part_of_path(name, arguments),
        "true" | ":" | "false" | "test" | "[" => Some(Value::default()),
        _ => None,
    }
}

/// Returns the directory or the name in a path, or the path itself, marked as resolved.
fn part_of_path(name: &str, arguments: &[Value]) -> Option<Value> {
    let is_option = |word: &&Value| word.prefix().starts_with('-');
    let mut operands = arguments.iter().filter(|word| !is_option(word));
    let mut value = operands.next()?.clone();
    if matches!(name, "dirname" | "basename") {
        value.pieces.retain(|(piece, _)| *piece != Piece::Resolved);
    }
    let options: Vec<String> = arguments.iter().filter(is_option).filter_map(Value::literal).map(Into::into).collect();
    let has_value = |option: &String| ["-s", "--suffix", "--relative-to", "--relative-base"].contains(&option.as_str());
    if options.iter().any(|option| has_value(option) || option.contains('=')) {
        return None;
    }
    let suffix = operands.next().map(|word| word.literal().map(std::borrow::Cow::into_owned));
    match (name, suffix) {
        // The target of a symlink is unknown.
        ("readlink" | "greadlink", _)
            if !options.iter().any(|o| o.starts_with("--canon") || o.contains(['f', 'e', 'm'])) =>
        {
            None
        }
        ("realpath" | "grealpath" | "readlink" | "greadlink", None) => Some(value.resolved()),
        ("dirname", None)
            if value.literal().is_some_and(|text| !text.is_empty() && !text.trim_end_matches('/').contains('/')) =>
        {
            let folder = if value.prefix().starts_with('/') { "/" } else { "." };
            Some(Value::text(folder, value.origin()))
        }
        ("dirname", None) => match value.pieces.last_mut() {
            Some((Piece::Text(text), _)) if text.trim_end_matches('/').contains('/') => {
                let text_end = text.trim_end_matches('/');
                let folder = text_end.get(..text_end.rfind('/')?)?.trim_end_matches('/').to_owned();
                *text = folder;
                let is_root =
                    value.pieces.iter().all(|(piece, _)| matches!(piece, Piece::Text(text) if text.is_empty()));
                if is_root {
                    value.push_text("/", value.origin());
                }
                Some(value)
            }
            _ => None,
        },
        ("basename", suffix) => {
            let Some((Piece::Text(text), origin)) = value.pieces.last() else { return None };
            let path = text.trim_end_matches('/');
            let last = match path.rfind('/') {
                Some(slash) => path.get(slash + 1..)?,
                None if value.pieces.len() == 1 => path,
                None => return None,
            };
            let suffix = match suffix {
                Some(known) => known?,
                None => String::new(),
            };
            let shorter = last.strip_suffix(suffix.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(last);
            Some(Value::text(shorter, *origin))
        }
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
            let place = arguments.iter().map(Value::span).reduce(Span::join).unwrap_or(origin.span);
            let derivation = arguments.iter().find_map(|word| word.origin().derivation);
            Some(Value::text(decode::printf(&format, &known)?, Origin { span: place, derivation }))
        }
        // `printf %s "$x"` prints its arguments, one after the other.
        (Some(format), None) if matches!(&*format, "%s" | "%s\\n" | "%s ") => {
            let after = decode::escapes(format.get(2..).unwrap_or(""));
            let mut value = Value::default();
            for word in rest {
                value.push(word.clone());
                if !after.is_empty() {
                    value.push_text(&after, word.origin());
                }
            }
            Some(value)
        }
        (Some(format), None) if format.starts_with("%s") => Some(echo(rest, origin)),
        _ => None,
    }
}

/// Returns the output of programs that pass on their input, changed in a known way or in part.
fn filtered(interpreter: &mut Interpreter<'_>, name: &str, arguments: &[Value], stdin: &Stream) -> Option<Value> {
    let passes_all =
        matches!(name, "cat" | "tee" | "pv" | "sponge" | "strings" | "expand" | "col" | "bat" | "less" | "more" | "dd");
    if !passes_all && name != "shuf" && !filter::knows(name) {
        return None;
    }
    let (input, arguments) = input_of(interpreter, name, arguments, stdin)?;
    if passes_all {
        return Some(input);
    }
    if let Some(text) = input.literal() {
        let from = input.origin();
        let room = interpreter.charge(&input);
        if let Some((step, text)) = filter::apply(name, &arguments, &text).filter(|_| room) {
            let derivation = interpreter.derive(step, &text, from);
            return Some(Value::text(text, Origin { span: from.span, derivation }));
        }
    }
    // A selection or another order of the lines is of the same kind.
    if input.pieces.is_empty() {
        return None;
    }
    if matches!(name, "grep" | "egrep") {
        return Some(narrowed::by_search(input, &arguments));
    }
    let passes = matches!(name, "sort" | "uniq" | "head" | "tail" | "fgrep" | "shuf" | "nl");
    let passes = passes || (name == "xargs" && arguments.is_empty());
    let keeps = || filter::keeps_names(name, &arguments) && narrowed::is_paths(&input);
    (passes || keeps()).then_some(input)
}

/// Returns the input of a tool, and its arguments without files. The input is the content of files that the text has
/// written, or else the standard input.
fn input_of(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    arguments: &[Value],
    stdin: &Stream,
) -> Option<(Value, Vec<Value>)> {
    let is_operand = |word: &&Value| !word.prefix().starts_with('-');
    let max_operands = match name {
        "tr" => 2,
        "openssl" | "xargs" | "base64" | "dd" | "tee" | "sponge" => usize::MAX,
        "sed" | "awk" | "gawk" | "mawk" | "grep" | "egrep" | "fgrep" | "jq" => 1,
        _ => 0,
    };
    let writes = matches!(name, "tee" | "sponge");
    let mut input: Option<Value> = None;
    let mut rest = Vec::new();
    for word in arguments {
        match interpreter.content(word).filter(|_| is_operand(&word) && !writes) {
            Some(content) if !interpreter.charge(&content.text) => return None,
            Some(content) => input.get_or_insert_default().push(content.text),
            None if matches!(word.literal().as_deref(), Some("-" | "/dev/stdin")) => {}
            None => rest.push(word.clone()),
        }
    }
    if let Some(mut input) = input {
        // The word may be a pattern that equals a file name: the tool then reads its standard input.
        if stdin.present && interpreter.charge(&stdin.text) {
            input.push(stdin.text.clone());
        }
        return Some((input, rest));
    }
    let valued = |word: &Value| word.literal().is_some_and(|text| text.len() == 2 && text.starts_with('-'));
    let mut operands = rest.iter().enumerate().filter(|(index, word)| {
        let is_value = index.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(valued);
        is_operand(word) && !is_value
    });
    let is_awk = matches!(name, "awk" | "gawk" | "mawk");
    if is_awk && rest.iter().any(|word| word.literal().is_some_and(|text| awk::reads_nothing(&text))) {
        return Some((Value::default(), rest));
    }
    (stdin.present && operands.by_ref().count() <= max_operands).then(|| (stdin.text.clone(), rest.clone()))
}
