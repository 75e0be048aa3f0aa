//! The command lines that `xargs` and `parallel` build from their input.

use super::draft::Draft;
use super::placeholders::fill;
use super::streams::Stream;
use crate::cli_grammar::invocation::Invocation;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::text_tools::{decode, quoting};

/// Returns the command lines that `xargs` builds from its input.
pub(super) fn xargs(words: Vec<Value>, invocation: &Invocation, draft: &Draft, stdin: &Stream) -> Vec<Vec<Value>> {
    let placeholders = ["replace", "replace-default"].map(|key| invocation.values(key, &draft.words)).concat();
    let placeholder = match placeholders.first().and_then(Value::literal).filter(|text| !text.is_empty()) {
        Some(placeholder) => Some(placeholder.into_owned()),
        None => (invocation.has("replace") || invocation.has("replace-default")).then(|| "{}".to_owned()),
    };
    let Some(text) = stdin.text.literal().filter(|_| stdin.present) else {
        let read = unread_words(stdin, draft.origin);
        return vec![match placeholder {
            Some(placeholder) => fill(words, &placeholder, &read),
            None => [words, read].concat(),
        }];
    };
    let number = |key: &str| invocation.values(key, &draft.words).first().and_then(Value::literal)?.parse().ok();
    let groups = match delimiter(invocation, draft) {
        Some(delimiter) => delimited(&text, delimiter),
        None if placeholder.is_some() => complete_lines(&text),
        None => by_lines(&text, number("max-lines")),
    };
    let origin = stdin.text.origin();
    let values = |texts: &[String]| texts.iter().map(|text| Value::text(text.clone(), origin)).collect::<Vec<_>>();
    if let Some(placeholder) = placeholder {
        let mut items: Vec<String> = groups.concat();
        if invocation.has("max-args") {
            // Versions differ in which of the two options takes effect.
            items.extend(by_lines(&text, None).concat());
        }
        return items.iter().map(|item| replaced(&words, &placeholder, item, origin)).collect();
    }
    let limit = number("max-args").unwrap_or(usize::MAX).max(1);
    let batches = groups.iter().flat_map(|group| group.chunks(limit));
    let mut lines: Vec<Vec<Value>> = batches.map(|batch| [words.clone(), values(batch)].concat()).collect();
    if lines.is_empty() && !invocation.has("no-run-if-empty") {
        lines.push(words);
    }
    lines
}

fn delimiter(invocation: &Invocation, draft: &Draft) -> Option<char> {
    if invocation.has("zero") {
        return Some('\0');
    }
    let text = invocation.values("delimiter", &draft.words).first()?.literal().map(|text| decode::escapes(&text))?;
    text.chars().next()
}

fn delimited(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let text = text.strip_suffix(delimiter).unwrap_or(text);
    if text.is_empty() { Vec::new() } else { vec![text.split(delimiter).map(str::to_owned).collect()] }
}

/// With a placeholder, each line is one argument.
fn complete_lines(text: &str) -> Vec<Vec<String>> {
    let unquoted = |line: &str| arguments(&line.trim_start().replace(' ', "\\ ")).into_iter().next();
    vec![text.lines().filter_map(unquoted).collect()]
}

/// Returns all arguments, in groups of `most` lines each if that is given.
fn by_lines(text: &str, limit: Option<usize>) -> Vec<Vec<String>> {
    let Some(limit) = limit else { return Some(arguments(text)).filter(|all| !all.is_empty()).into_iter().collect() };
    let lines: Vec<Vec<String>> = text.lines().map(arguments).filter(|line| !line.is_empty()).collect();
    lines.chunks(limit.max(1)).map(<[_]>::concat).collect()
}

/// Splits a text at whitespace; quotes and backslashes protect it.
fn arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut argument: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        match (ch, quote) {
            (ch, Some(open)) if ch == open => quote = None,
            (ch, Some(_)) => argument.get_or_insert_default().push(ch),
            ('\'' | '"', None) => {
                quote = Some(ch);
                argument.get_or_insert_default();
            }
            ('\\', None) => argument.get_or_insert_default().extend(chars.next()),
            (ch, None) if ch.is_ascii_whitespace() => arguments.extend(argument.take()),
            (ch, None) => argument.get_or_insert_default().push(ch),
        }
    }
    arguments.extend(argument);
    arguments
}

/// Splits a text as a program that does not use a shell: at blanks, with quotes and backslashes.
pub(super) fn words_of(text: &Value) -> Vec<Value> {
    match text.literal() {
        Some(known) => arguments(&known).into_iter().map(|word| Value::text(word, text.origin())).collect(),
        None => text.split(&[' ', '\t', '\n']),
    }
}

/// Maximum number of argument sources; more count as one unknown source.
const MAX_SOURCES: usize = 8;

/// Maximum number of texts; beyond it, the argument of a text is unknown.
const MAX_TEXTS: usize = 64;

/// Returns the shell texts that GNU parallel builds from `COMMAND ::: ARGUMENT…`, or from its input.
pub(super) fn parallel(words: Vec<Value>, invocation: &Invocation, draft: &Draft) -> Vec<Value> {
    let separates = |word: &Value| matches!(word.literal().as_deref(), Some(":::" | ":::+" | "::::" | "::::+"));
    let end = words.iter().position(separates).unwrap_or(words.len());
    let (command, sources) = words.split_at(end);
    let mut choices: Vec<Vec<Value>> = vec![Vec::new()];
    if sources.is_empty() {
        choices = lines_of(&draft.stdin, draft.origin).into_iter().map(|line| vec![line]).collect();
    }
    if sources.iter().filter(|word| separates(word)).count() > MAX_SOURCES {
        let unknown = Value::piece(Piece::Unknown(UnknownReason::Limit), draft.origin);
        return vec![parallel_text(command, &[unknown], "{}")];
    }
    for source in sources.split(separates).skip(1).zip(sources.iter().filter(|word| separates(word))) {
        let (arguments, separator) = source;
        let files = separator.prefix().starts_with("::::");
        let unknown = [Value::piece(Piece::Unknown(UnknownReason::Input), draft.origin)];
        let arguments = if files || arguments.len() * choices.len() > MAX_TEXTS { &unknown } else { arguments };
        let with = |choice: &Vec<Value>| {
            let each = arguments.iter().map(|argument| [choice.as_slice(), std::slice::from_ref(argument)].concat());
            each.collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    let mark =
        invocation.values("replace", &draft.words).first().and_then(Value::literal).map(|mark| mark.into_owned());
    choices.iter().map(|choice| parallel_text(command, choice, mark.as_deref().unwrap_or("{}"))).collect()
}

/// Builds one text: the arguments replace their placeholders, or else follow the command. Without a command, they are
/// the text.
fn parallel_text(command: &[Value], arguments: &[Value], mark: &str) -> Value {
    const MARKS: [&str; 5] = ["{.}", "{/}", "{//}", "{/.}", "{+}"];
    let mut text = Value::default();
    let space = |text: &mut Value, origin| {
        if !text.pieces.is_empty() {
            text.push_text(" ", origin)
        }
    };
    let mut all = Value::default();
    for argument in arguments {
        space(&mut all, argument.origin());
        all.push(if command.is_empty() { argument.clone() } else { quoted(argument) });
    }
    let mut placed = false;
    for word in command {
        let mut words = vec![word.clone()];
        for mark in MARKS.into_iter().chain([mark]) {
            placed |= words.iter().any(|word| word.prefix().contains(mark));
            words = fill(words, mark, std::slice::from_ref(&all));
        }
        for (index, argument) in arguments.iter().enumerate() {
            let mark = format!("{{{}}}", index + 1);
            placed |= words.iter().any(|word| word.prefix().contains(&mark));
            words = fill(words, &mark, &[quoted(argument)]);
        }
        words.into_iter().for_each(|word| {
            space(&mut text, word.origin());
            text.push(word);
        });
    }
    if !placed {
        space(&mut text, all.origin());
        text.push(all);
    }
    text
}

/// Quotes an argument that a shell would otherwise split or expand.
fn quoted(argument: &Value) -> Value {
    let is_plain = |ch: char| ch.is_alphanumeric() || "/._-+:=@%,".contains(ch);
    match argument.literal().filter(|text| !text.chars().all(is_plain)) {
        Some(text) => Value::text(quoting::quoted(&text), argument.origin()),
        None => argument.clone(),
    }
}

/// Returns the lines of a stream; one unknown value represents any number of unknown lines.
fn lines_of(stream: &Stream, origin: Origin) -> Vec<Value> {
    let Some(text) = stream.text.literal().filter(|_| stream.present) else { return unread_words(stream, origin) };
    if text.lines().count() > MAX_TEXTS {
        return vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
    }
    text.lines().map(|line| Value::text(line, stream.text.origin())).collect()
}

fn replaced(words: &[Value], placeholder: &str, item: &str, origin: Origin) -> Vec<Value> {
    let fill = |word: &Value| match word.literal() {
        Some(text) if text.contains(placeholder) => Value::text(text.replace(placeholder, item), origin),
        _ => word.clone(),
    };
    words.iter().map(fill).collect()
}

/// Returns the words of a partly unknown stream; one unknown value if it has no known part.
fn unread_words(stream: &Stream, origin: Origin) -> Vec<Value> {
    if !stream.present || stream.text.pieces.is_empty() {
        return vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
    }
    stream.text.split(&[' ', '\t', '\n', '\0'])
}
